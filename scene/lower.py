"""Lowering: bodies as a person wrote them become the plain specifications that the model is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recursive_dyn.assemble import BodySpec, build_model
from recursive_dyn.errors import ModelError
from recursive_dyn.expression import Graph
from recursive_dyn.model import WORLD, Model
from scene.body import Body
from scene.parameter import to_scalars


def lower(bodies: Sequence[Body], gravity: np.ndarray, parameters: Mapping[str, float]) -> Model:
    """The model of bodies given parents first; ModelError names what is wrong."""
    graph = Graph()
    known = frozenset(parameters)
    place = {id(body): i for i, body in enumerate(bodies)}
    specs = []
    for body in bodies:
        joint = body.joint
        if joint is None:
            raise ModelError(f"body '{body.name}' has no joint; attach it")
        what = f"body '{body.name}'"
        specs.append(
            BodySpec(
                name=body.name,
                parent=place.get(id(body.parent), WORLD),
                placement=to_scalars(body.placement, graph, known, f"the placement of {what}"),
                joint=joint.program,
                coordinates=joint.coordinates,
                mass=to_scalars([body.mass], graph, known, f"the mass of {what}")[0],
                center=to_scalars(body.center_of_mass, graph, known, f"the centre of mass of {what}"),
                inertia=to_scalars(body.inertia, graph, known, f"the inertia of {what}"),
                coupling=joint.coupling,
            )
        )
    return build_model(graph, specs, gravity, list(parameters.items()))
