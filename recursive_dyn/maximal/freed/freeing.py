"""The scene's bodies set free: the same specifications, every moving body on a free joint of the world."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, array
from recursive_dyn.joint import joint_program
from recursive_dyn.joint.coordinate import TIME, Coordinate
from recursive_dyn.joint.drive import names_in
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.maximal.freed.lent_masses import lacking, with_lent_masses
from recursive_dyn.model.assemble import build_model
from recursive_dyn.model.constraint import rate_name
from recursive_dyn.model.force_element import ElementSpec
from recursive_dyn.model.model import Model
from recursive_dyn.model.specification import BodySpec
from recursive_dyn.model.with_motions import with_motions
from recursive_dyn.spatial.spaces import RigidMotion

_COORDINATES = tuple(Coordinate(name) for name in ("wx", "wy", "wz", "vx", "vy", "vz"))


@cache
def free_joint() -> JointProgram:
    """Any rigid motion."""
    graph, space = Graph(), RigidMotion()
    return joint_program.build(graph, [(space, space.pose(graph.inputs("q", space.size)))])


def free_model(graph: Graph, specs: Sequence[BodySpec], reduced: Model, forces: Sequence[ElementSpec] = ()) -> Model:
    """The model of the same bodies in which every one that a joint moves is free: a forest of single links.

    Link i is link i of ``reduced``, in the frame of the body that its joint moves; places 7 i to 7 i + 6 of q are its
    position and quaternion, slots 6 i to 6 i + 5 of v its twist. What is fixed to another body stays so. Of ``forces``
    it has those between bodies. Where anything depends on time, that is its last coordinate.
    """
    joints = {n for c in reduced.coordinates if c is not TIME for n in (c.name, rate_name(c.name))}
    between = [e for e in forces if joints.isdisjoint(names_in(e.scalars))]  # those of joints: see joint_elements
    freed: dict[BodySpec | None, BodySpec | None] = {None: None}
    weak = lacking(reduced)
    for spec, body in zip(specs, reduced.bodies, strict=True):
        free = (free_joint(), _COORDINATES) if body.jointed else (spec.joint, spec.coordinates)
        bare = body.jointed and body.link in weak  # nothing moves without mass: it has its own again below
        freed[spec] = BodySpec(
            name=spec.name,
            parent=None if body.jointed else freed[spec.parent],
            placement=array(np.eye(4)) if body.jointed else spec.placement,
            joint=free[0],
            coordinates=free[1],
            mass=1.0 if bare else spec.mass,
            center=spec.center,
            inertia=array(np.eye(3)) if bare else spec.inertia,
        )
    try:
        own = [spec for spec in freed.values() if spec is not None]
        model = build_model(graph, own, reduced.gravity, reduced.common_parameters, (), (), between)
    except ModelError as error:
        raise ModelError(f"maximal coordinates: {error}") from None
    model = with_lent_masses(model, reduced, weak) if weak else model
    model = model if reduced.clock is None else with_motions(model, {})
    return model.changed(parameters=reduced.parameters) if reduced.charted else model
