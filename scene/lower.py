"""Lowering: bodies as a person wrote them become the plain specifications that the model is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from operator import attrgetter, not_
from typing import Any, NamedTuple, cast

import numpy as np

from recursive_dyn.dynamics.constraint_check import independent
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression, Graph, array
from recursive_dyn.graph.recent import Recent
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.coordinate import CLOCK, Coordinate
from recursive_dyn.maximal.freed.freeing import free_model
from recursive_dyn.model.assemble import build_model, known_part
from recursive_dyn.model.composition import composed
from recursive_dyn.model.constrained import constrained
from recursive_dyn.model.model import Model
from recursive_dyn.model.model_parts import altered
from recursive_dyn.model.specification import BodySpec
from scene.body import Body, Node, World
from scene.charted_springs import own_coordinates, springs_on_charts
from scene.constraint_group import DROP
from scene.content import SceneContent
from scene.joints.coordinate_settings import with_torsion
from scene.joints.parametric_joint import Joint
from scene.joints.surfaces.relative_curvature import check_contact
from scene.joints_in_use import joints_in_use, without_charts
from scene.mass_properties import MassProperties
from scene.number_checks import positive
from scene.scalars import carried, names_of
from scene.shapes import HeightField, Plane
from scene.standing_alone import Lone, StandingAlone

_LOWERED, _PARENT = attrgetter("lowered"), attrgetter("parent")


def lower(scene: SceneContent, bodies: Sequence[Body]) -> Model:
    """The model of bodies given parents first, with all else that a scene has; ModelError names what is wrong."""
    graph = Graph()
    joints = joints_in_use(scene, bodies)
    return _model(scene, graph, _specifications(bodies, joints, graph, scene.parameters), joints)


def lone_bodies(scene: SceneContent) -> StandingAlone | None:
    """What is known of every body, if each of them stands alone and the scene says nothing of several; else None."""
    if scene.constraints or scene.forces or scene.coordinates or scene.gravity_scalars().dtype != float:
        return None
    world, parameters = scene.world, scene.parameters
    found = StandingAlone.among(world.children, world.changes, world.alone, lambda body: _lone(body, parameters))
    world.alone = found or world.alone
    return found


def lower_alone(scene: SceneContent, bodies: StandingAlone) -> Model:
    """The model of all bodies of a scene, each of which stands alone."""
    return composed(bodies.facts, None, scene.gravity_scalars(), list(scene.parameters.items()))


def _lone(body: Body, parameters: Mapping[str, float]) -> Lone | None:
    if body.children or body.strength is not None or body.charted:
        return None
    spec: BodySpec = body.lowered or _lowered(body, body.joint, None, Graph(), frozenset(parameters), parameters)
    if not spec.plain or (facts := known_part(spec, [spec]).facts) is None:
        return None
    body.keep(spec)
    body.lone = Lone(facts, body.act)
    return body.lone


def lower_free(scene: SceneContent, bodies: Sequence[Body]) -> tuple[Model, Model]:
    """The same model, and that of the same bodies set free."""
    graph = Graph()
    joints = joints_in_use(scene, bodies)
    specs = _specifications(bodies, joints, graph, scene.parameters)
    model = _model(scene, graph, specs, joints)
    return model, free_model(graph, specs, model, scene.forces)


def _specifications(
    bodies: Sequence[Body], joints: Mapping[Body, Joint], graph: Graph, parameters: Mapping[str, float]
) -> list[BodySpec]:
    """What is said of bodies, of which those that stayed what they are, and hang on what did, are known."""
    kept: list[BodySpec | None] = [*map(_LOWERED, bodies)]
    for k, (body, spec) in enumerate(zip(bodies, kept, strict=True)) if joints else ():
        if spec is not None and body in joints and spec.joint is not joints[body].program:
            kept[k] = None
    known, specs = frozenset(parameters), dict[Node | None, BodySpec]()
    if None in kept:  # those on which nothing hangs yet, and that hang on the world, need to know of no others
        for k in [*compress(range(len(kept)), map(not_, kept))]:
            if isinstance((body := bodies[k]).parent, World):
                kept[k] = own = _lowered(body, joints.get(body, body.joint), None, graph, known, parameters)
                if own.plain:
                    body.keep(own)
    if None not in kept and not any(map(_PARENT, kept)):
        return cast(list[BodySpec], kept)
    for body, spec in zip(bodies, kept, strict=True):
        parent = specs.get(body.parent)
        own = (
            spec
            if spec is not None and spec.parent is parent
            else _lowered(body, joints.get(body, body.joint), parent, graph, known, parameters)
        )
        if own is not spec and own.plain:
            body.keep(own)
        specs[body] = own
    return list(specs.values())


def _model(scene: SceneContent, graph: Graph, specs: Sequence[BodySpec], joints: Mapping[Body, Joint]) -> Model:
    parameters, constraints = scene.parameters, scene.constraints
    rows = [row for c in constraints for row in zip(c.row_names, without_charts(c.rows, joints), strict=True)]
    down = _scalars(scene.gravity_scalars(), graph, frozenset(parameters), "gravity")
    shared = list(scene.coordinates.values())
    forces = [*scene.forces, *springs_on_charts(joints.items())]
    model = build_model(graph, specs, down, list(parameters.items()), shared, rows, forces)
    droppable = {name for c in constraints if c.redundant == DROP for name in c.row_names}
    if not rows:
        return model
    held = constrained(model, specs)
    alone = None if held is specs else build_model(graph, held, down, list(parameters.items()), (), rows)
    return independent(model, droppable, alone)


def _lowered(
    body: Body, joint: Joint | None, parent: BodySpec | None, graph: Graph, known: frozenset[str],
    parameters: Mapping[str, float],
) -> BodySpec:  # fmt: skip
    place = body.place
    key = None if joint is None or place.dtype != float else (joint.program, id(joint.coordinates), body.properties)
    like = _LIKE.get(key)
    if like is not None:
        return altered(like.spec, name=body.name, parent=parent, placement=array(place))
    what = f"body '{body.name}'"
    if joint is None:
        raise ModelError(f"{what} has no joint; attach it")
    ground = next((s for s in body.shapes if s.collision and isinstance(s, Plane | HeightField)), None)
    if ground is not None and joint.program.nv:
        raise ModelError(f"{what}: a {ground.label} cannot move with a body; put it into scene.world.shapes")
    spec = BodySpec(
        name=body.name,
        parent=parent,
        placement=_scalars(place, graph, known, f"the placement of {what}"),
        joint=joint.program,
        coordinates=own_coordinates(joint, with_torsion(joint.program, joint.coordinates)),
        mass=_scalars(body.properties.mass, graph, known, f"the mass of {what}").item(),
        center=_scalars(body.properties.center_of_mass, graph, known, f"the centre of mass of {what}"),
        inertia=_scalars(body.properties.inertia, graph, known, f"the inertia of {what}"),
        drive=joint.coupling or joint.drive,
    )
    if Expression in map(type, (spec.mass, *spec.center, *spec.inertia.flat)):
        _check_values(spec, parameters)
    check_contact(joint, body.name, parameters)
    if key is not None and spec.plain and spec.drive is None and joint.contact is None:
        _ = spec.likeness
        _LIKE.keep(key, _Like(altered(spec, parent=None), joint.coordinates))
    return spec


class _Like(NamedTuple):
    """What was said of a body with these coordinates, of whose joint and mass properties there are more bodies."""

    spec: BodySpec
    coordinates: Sequence[Coordinate]


_LIKE = Recent[_Like](256)  # by program, coordinates and mass properties, of which each is itself and no other


def _scalars(values: Any, graph: Graph, known: frozenset[str], what: str) -> np.ndarray:
    """Scalars over parameters in the model's graph, in their shape; ModelError names ``what`` and an unknown name."""
    if type(values) is np.ndarray and values.dtype == float:
        return array(values)
    source = np.asarray(values, dtype=object)
    for name in names_of(source.flat):
        if name == CLOCK:
            raise ModelError(
                f"{what} uses scene.time, which may stand in joints, constraints and forces only: what moves with time"
                " is a transform, joints.Joint(transform, ()), of a body that others hang on"
            )
        if name not in known:
            raise ModelError(f"{what} uses the symbol '{name}'; declare it with scene.parameter('{name}', value)")
    return carried(source.flat, graph).reshape(source.shape)


def _check_values(spec: BodySpec, parameters: Mapping[str, float]) -> None:
    """Refuse mass properties that no body has at the parameters' initial values."""
    scalars = [spec.mass, *spec.center, *spec.inertia.flat]
    values = np.array(evaluate(scalars, {("parameter", n): x for n, x in parameters.items()}), dtype=float)
    positive(f"body '{spec.name}'", "mass at the parameters' values", values[0])
    MassProperties(values[0], values[1:4], values[4:].reshape(3, 3)).check(spec.name)
