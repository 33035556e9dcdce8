"""Lowering: bodies as a person wrote them become the plain specifications that the model is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recursive_dyn.dynamics.constraint_check import independent
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, evaluate
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.model.assemble import build_model
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.model.specification import BodySpec
from scene.body import Body
from scene.constraint_group import DROP, ConstraintGroup
from scene.joints.relative_curvature import check_contact
from scene.mass_properties import MassProperties
from scene.number_checks import is_symbolic, positive
from scene.parameter import to_scalars


def lower(
    bodies: Sequence[Body],
    gravity: np.ndarray,
    parameters: Mapping[str, float],
    shared: Sequence[Coordinate] = (),
    constraints: Sequence[ConstraintGroup] = (),
) -> Model:
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
        spec = BodySpec(
            name=body.name,
            parent=place.get(id(body.parent), WORLD),
            placement=to_scalars(body.placement, graph, known, f"the placement of {what}"),
            joint=joint.program,
            coordinates=joint.coordinates,
            mass=to_scalars([body.mass], graph, known, f"the mass of {what}")[0],
            center=to_scalars(body.center_of_mass, graph, known, f"the centre of mass of {what}"),
            inertia=to_scalars(body.inertia, graph, known, f"the inertia of {what}"),
            coupling=joint.coupling,
            drive=joint.drive,
        )
        if any(map(is_symbolic, (body.mass, *body.center_of_mass, *body.inertia.flat))):
            _check_values(spec, parameters)
        specs.append(spec)
        check_contact(joint, body.name, parameters)
    rows = [row for c in constraints for row in zip(c.row_names, c.rows, strict=True)]
    model = build_model(graph, specs, gravity, list(parameters.items()), shared, rows)
    droppable = {name for c in constraints if c.redundant == DROP for name in c.row_names}
    return independent(model, droppable) if rows else model


def _check_values(spec: BodySpec, parameters: Mapping[str, float]) -> None:
    """Refuse mass properties that no body has at the parameters' initial values."""
    scalars = [spec.mass, *spec.center, *spec.inertia.flat]
    values = np.array(evaluate(scalars, {("parameter", n): x for n, x in parameters.items()}), dtype=float)
    positive(f"body '{spec.name}'", "mass at the parameters' values", values[0])
    MassProperties(values[0], values[1:4], values[4:].reshape(3, 3)).check(spec.name)
