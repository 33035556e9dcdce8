"""The plain, frozen tree that recursions read: links that move, bodies fixed to them, coordinate slots, parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.expression import Graph, Scalar, array
from recursive_dyn.joint import PLAIN, JointProgram
from recursive_dyn.program import content_hash

WORLD = -1


@dataclass(frozen=True)
class Coordinate:
    """One velocity coordinate: limits (low, high), damping and stiffness of its spring to ``rest``, rotor inertia."""

    name: str
    limits: tuple[float, float] = (-np.inf, np.inf)
    damping: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    armature: float = 0.0


@dataclass(frozen=True, eq=False)
class MassMoments:
    """Zeroth, first (3,) and second (3, 3) moment of a link's mass about its origin: sum of m, m r, m r r^T."""

    mass: Scalar
    first: np.ndarray
    second: np.ndarray

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
    first_q: int
    first_v: int
    mass: Scalar
    center: np.ndarray
    inertia: np.ndarray
    coupling: tuple[int, float] | None = None  # leading link, multiplier
    offset: float = 0.0  # added to the coordinate of a one-coordinate joint
    moments: MassMoments | None = None  # what the recursions carry: see reframe.mass_moments

    @property
    def dof(self) -> range:
        """Velocity slots of this link, its leader's when it is coupled."""
        return range(self.first_v, self.first_v + self.joint.nv)


@dataclass(frozen=True, eq=False)
class Body:
    """A named body rigidly on a link (WORLD when it does not move): pose X_LB (4, 4), centre of mass in body axes."""

    name: str
    parent: int
    link: int
    pose: np.ndarray
    center: np.ndarray
    jointed: bool


@dataclass(frozen=True, eq=False)
class Model:
    """Links parents first, bodies in order of attachment, coordinates in order of attachment."""

    graph: Graph
    links: tuple[Link, ...]
    bodies: tuple[Body, ...]
    coordinates: tuple[Coordinate, ...]
    coordinate_names: tuple[str, ...]
    gravity: tuple[float, float, float]
    parameters: tuple[tuple[str, float], ...]
    nq: int
    nv: int
    quaternions: tuple[int, ...] = field(default=())

    @cached_property
    def key(self) -> str:
        """Content hash of everything that enters generated code; parameters' initial values scale the limits' stops."""
        shape: list[Any] = [self.gravity, self.parameters, self.nq, self.nv]
        shape += [(c.damping, c.stiffness, c.rest, c.armature, c.limits) for c in self.coordinates]
        scalars: list[Scalar] = []
        for link in self.links:
            shape.append((link.parent, link.joint.key, link.first_q, link.first_v, link.coupling, link.offset))
            scalars += [*link.placement[:3].flat, link.mass, *link.center, *link.inertia.flat]
        for body in self.bodies:
            shape.append((body.parent, body.link, body.jointed))
            scalars += [*body.pose[:3].flat, *body.center]
        return content_hash(repr(shape), scalars)

    @cached_property
    def ancestors(self) -> tuple[tuple[int, ...], ...]:
        """Per link: itself and every link towards the world."""
        chains: list[tuple[int, ...]] = []
        for i, link in enumerate(self.links):
            chains.append((i, *(chains[link.parent] if link.parent != WORLD else ())))
        return tuple(chains)

    def refuse_couplings(self) -> None:
        """ModelError naming a joint that follows another coordinate, which the O(n) recursion does not express."""
        for link in self.links:
            if link.coupling is not None:
                raise ModelError(
                    f"joint of '{link.name}' follows another coordinate, which method='recursive' does not express;"
                    " compile with method='lagrangian' or 'auto'"
                )

    @cached_property
    def plain_slots(self) -> tuple[tuple[int, int], ...]:
        """(q slot, v slot) of every coordinate whose velocity is its time derivative."""
        return tuple(
            (link.first_q + f.first_q + j, link.first_v + f.first_v + j)
            for link in self.links
            if link.coupling is None
            for f in link.joint.factors
            if f.kind == PLAIN
            for j in range(f.nv)
        )

    def body_index(self, body: Any) -> int:
        """Index of a body by its name, or of a scene's Body by its own; ModelError lists the known ones."""
        name = getattr(body, "name", body)
        for i, known in enumerate(self.bodies):
            if known.name == name:
                return i
        raise ModelError(f"unknown body '{name}'; the scene has {', '.join(b.name for b in self.bodies)}")
