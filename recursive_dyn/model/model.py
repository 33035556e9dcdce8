"""The plain, frozen tree that recursions read: links that move, bodies fixed to them, coordinate slots, parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np

from recursive_dyn.errors import ModelError, listed
from recursive_dyn.graph.expression import Graph, Scalar, array, is_constant
from recursive_dyn.graph.program import content_hash
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.drive import Drive
from recursive_dyn.joint.joint_program import Factor, JointProgram
from recursive_dyn.model.clock import PrescribedMotion
from recursive_dyn.model.constraint import Constraint
from recursive_dyn.model.elimination_order import EliminationOrder, elimination_order
from recursive_dyn.model.force_element import ForceElement
from recursive_dyn.model.model_parts import ModelParts
from recursive_dyn.spatial.algebra import mirrored

WORLD = -1
UNLIMITED = (-np.inf, np.inf)
_ONCE = "@"  # what names begin with of what was found once
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class MassMoments:
    """Zeroth, first (3,) and second (3, 3) moment of a link's mass about its origin: sum of m, m r, m r r^T."""

    mass: Scalar
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, mass: Scalar, center: np.ndarray, inertia: np.ndarray) -> MassMoments:
        """Of a mass with its inertia (3, 3) about its centre: P = (tr I / 2) 1 - I there, moved to the origin."""
        half_trace = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) * 0.5
        first = center * mass
        second = array(np.eye(3)) * half_trace - inertia + np.outer(first, center)
        return cls(mass, first, mirrored(second))

    def equals(self, other: MassMoments) -> bool:
        """Whether all numbers, or expressions, are the same."""
        own, others = ([x.mass, *x.first, *x.second.flat] for x in (self, other))
        return all(a is b or (is_constant(a) and is_constant(b) and a == b) for a, b in zip(own, others, strict=True))

    @property
    def inertia(self) -> np.ndarray:
        """Moment of inertia (3, 3) about the origin, tr(P) 1 - P of the second moment P."""
        P = self.second
        return array(np.eye(3)) * (P[0, 0] + P[1, 1] + P[2, 2]) - P


@dataclass(frozen=True, eq=False)
class Link:
    """A moving rigid assembly; its frame is the child frame of the moving core of its joint."""

    name: str
    parent: int
    placement: np.ndarray
    joint: JointProgram
    places: tuple[int, ...]  # of the coordinates in q that it depends on
    slots: tuple[int, ...]  # of the coordinates in v
    mass: Scalar
    center: np.ndarray
    inertia: np.ndarray
    drive: Drive | None = None  # the joint's coordinates as functions of those at ``places``
    chart: str | None = None  # the parameter that says which chart of the joint is in force
    offset: Scalar = 0.0  # added to the coordinate of a one-coordinate joint
    moments: MassMoments | None = None  # what the recursions carry: see reframe.mass_moments


@dataclass(frozen=True, eq=False)
class BodyFrame:
    """A named body rigidly on a link (WORLD when it does not move): pose X_LB (4, 4), centre of mass in body axes.

    mass, inertia: its own, about the centre of mass in body axes; None for the body that a link moves by, which carries
    all of the link.
    """

    name: str
    parent: int
    link: int
    pose: np.ndarray
    center: np.ndarray
    jointed: bool
    mass: Scalar | None = None
    inertia: np.ndarray | None = None


NO_PARTS: ModelParts[Model] = ModelParts()


@dataclass(frozen=True, eq=False)
class Model:
    """Links parents first, bodies in order of attachment, coordinates in order of attachment.

    ``parts``: what it was put together from, if they know nothing of each other; ``held``: names of the rows that
    whoever steps it may hold its bodies together by, ``held_width``: coefficients of each at most. ``clock``: place in
    q and slot in v of time, where anything depends on it; ``motions``: of the coordinates that are prescribed.
    """

    graph: Graph
    links: tuple[Link, ...]
    bodies: tuple[BodyFrame, ...]
    coordinates: tuple[Coordinate, ...]
    coordinate_names: tuple[str, ...]
    gravity: tuple[Scalar, Scalar, Scalar]
    parameters: tuple[tuple[str, float], ...]
    nq: int
    nv: int
    plain_slots: tuple[tuple[int, int], ...]  # (q place, v slot) where velocity is the coordinate's time derivative
    units: tuple[tuple[int, int], ...] = ()  # (first, end) of the places in q that together have length 1
    constraints: tuple[Constraint, ...] = ()
    forces: tuple[ForceElement, ...] = ()
    assembled: tuple[float, ...] | None = None  # a configuration in which the constraints hold
    parts: ModelParts[Model] = NO_PARTS
    held: tuple[str, ...] = ()
    held_width: int = 12
    clock: tuple[int, int] | None = None
    motions: tuple[PrescribedMotion, ...] = ()

    @cached_property
    def prescribed(self) -> frozenset[int]:
        """Slots of what moves as it does whatever acts on it: time, and coordinates with a motion."""
        own = () if self.clock is None else (self.clock[1],)
        return frozenset((*own, *(motion.slot for motion in self.motions)))

    @cached_property
    def nb(self) -> int:
        """Number of bodies."""
        return len(self.bodies)

    @cached_property
    def nl(self) -> int:
        """Number of links."""
        return len(self.links)

    @cached_property
    def bounded(self) -> bool:
        """Whether any coordinate has limits or dry friction."""
        return any(c.limits != UNLIMITED or c.friction > 0.0 or c.turn is not None for c in self.coordinates)

    @cached_property
    def elastic(self) -> bool:
        """Whether forces of its own are more than springs and dampers of single coordinates."""
        return bool(self.forces) or any(c.torsion for c in self.coordinates)

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return tuple([body.name for body in self.bodies])

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the coordinates of v."""
        return tuple([c.name for c in self.coordinates])

    @cached_property
    def body_sizes(self) -> np.ndarray:
        """How many links, bodies (one), slots and places came with each body, (nb, 4)."""
        sizes, nv, nq = np.zeros((self.nb, 4), dtype=np.int64), 0, 0
        sizes[:, 1] = 1
        for k, body in enumerate(self.bodies):
            if body.jointed and body.link != WORLD:
                link = self.links[body.link]
                slots, places = max((nv, *(s + 1 for s in link.slots))), max((nq, *(p + 1 for p in link.places)))
                sizes[k] = 1, 1, slots - nv, places - nq
                nv, nq = slots, places
        return sizes

    @cached_property
    def packed_sizes(self) -> bytes:
        """``body_sizes``, as they lie in memory."""
        return self.body_sizes.tobytes()

    def changed(self, **others: Any) -> Model:
        """The same but for some fields, and of no parts."""
        own = {field.name: getattr(self, field.name) for field in fields(Model)}
        return Model(**own | {"parts": NO_PARTS} | others)

    def __getstate__(self) -> dict[str, Any]:
        """What was found ``once`` travels with none."""
        return {name: value for name, value in vars(self).items() if not name.startswith(_ONCE)}

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self  # nothing of it changes

    @cached_property
    def key(self) -> str:
        """Content hash of everything that enters generated code: no limits, no initial values of parameters."""
        shape: list[Any] = [[name for name, _ in self.parameters], self.nq, self.nv]
        shape += [(c.damping, c.stiffness, c.rest, c.armature, c.torsion) for c in self.coordinates]
        scalars: list[Scalar] = [*self.gravity]
        for link in self.links:
            shape.append((link.parent, link.joint.key, link.places, link.slots))
            shape.append((link.drive.key if link.drive else None, link.chart))
            scalars += [*link.placement[:3].flat, link.mass, *link.center, *link.inertia.flat, link.offset]
            if link.moments is not None:
                scalars += [link.moments.mass, *link.moments.first, *link.moments.second.flat]
        for body in self.bodies:
            shape.append((body.parent, body.link, body.jointed))
            scalars += [*body.pose[:3].flat, *body.center]
            if body.mass is not None and body.inertia is not None:
                scalars += [body.mass, *body.inertia.flat]
        shape += [constraint.key for constraint in self.constraints]
        shape += [element.key for element in self.forces]
        if self.prescribed:
            shape += [self.clock, *(motion.key for motion in self.motions)]
        return content_hash(repr(shape), scalars)

    def gravity_at(self, values: np.ndarray) -> np.ndarray:
        """Acceleration of gravity (3,) at ``values`` of the parameters, in their order."""
        if all(map(is_constant, self.gravity)):
            return np.array(self.gravity, dtype=float)
        inputs = {("parameter", name): x for (name, _), x in zip(self.parameters, values.tolist(), strict=True)}
        return np.array(evaluate(self.gravity, inputs), dtype=float)

    def chain(self, link: int) -> list[int]:
        """A link and every link towards the world; none for WORLD."""
        found = []
        while link != WORLD:
            found.append(link)
            link = self.links[link].parent
        return found

    @cached_property
    def owners(self) -> tuple[tuple[int, Factor, int, int], ...]:
        """(link, factor, first q place, first v slot) of every factor whose space is not flat."""
        return tuple(
            (i, f, link.places[f.first_q], link.slots[f.first_v])
            for i, link in enumerate(self.links)
            for f in link.joint.factors
            if not f.space.flat
        )

    @cached_property
    def charted(self) -> tuple[Link, ...]:
        """The links whose joints have several charts."""
        return tuple(link for link in self.links if link.chart is not None)

    @property
    def common_parameters(self) -> tuple[tuple[str, float], ...]:
        """Those that are no chart's number, which all trees have; charts' come after them."""
        return self.parameters[: len(self.parameters) - len(self.charted)]

    @cached_property
    def sharing(self) -> tuple[tuple[int, ...], ...]:
        """The links in groups whose joints share coordinates, in their order; a joint of its own coordinates alone."""
        first: dict[int, int] = {}  # the group of each slot's first link
        groups: dict[int, list[int]] = {}
        for i, link in enumerate(self.links):
            joined = sorted({first[slot] for slot in link.slots if slot in first}) or [i]
            own = [*(k for group in joined for k in groups.pop(group, ())), i]
            groups[joined[0]] = own
            first |= {slot: joined[0] for k in own for slot in self.links[k].slots}
        return tuple(tuple(sorted(group)) for group in groups.values())

    @cached_property
    def elimination(self) -> EliminationOrder:
        """The order in which coordinates are eliminated from the leaves to the root."""
        return elimination_order([link.parent for link in self.links], [link.slots for link in self.links], self.nv)

    def body_index(self, body: Any) -> int:
        """Index of a body by its name, or of a scene's Body by its own; ModelError lists the known ones."""
        name = getattr(body, "name", body)
        for i, known in enumerate(self.bodies):
            if known.name == name:
                return i
        raise ModelError(f"unknown body '{name}'; the scene has {listed(self.body_names, name)}")


def once(function: Callable[[Model], Found]) -> Callable[[Model], Found]:
    """A function of models that is asked once of each: what it finds is kept with the model."""
    name = f"{_ONCE}{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(model: Model) -> Found:
        kept = vars(model)
        if name not in kept:
            kept[name] = function(model)
        found: Found = kept[name]
        return found

    return known
