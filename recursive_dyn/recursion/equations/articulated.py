"""M = L^T D L by articulated inertias, Si & Guenter (2011) eq. 28-35, with coordinates that several joints may share.

Columns are crossed and coordinates eliminated in the model's ``elimination`` order, which for a coordinate that moves
one joint only is Omega^-1 (eq. 28) by its LDL^T factorization. A shared one travels inward as a port: the wrench Z that
its unit acceleration asks of the handle, and its own inertia D. The rest of the tree stays O(n), and
M = Phi^T M_tree Phi never appears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array, is_constant, reciprocal
from recursive_dyn.model.elimination_order import Elimination
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.spatial.algebra import cross, dot, skew
from recursive_dyn.spatial.displacement import Inertia


@dataclass(frozen=True, eq=False)
class Column:
    """A joint column s (6,) of S, crossed on the way inward."""

    slot: int
    s: np.ndarray


@dataclass(frozen=True, eq=False)
class Pivot:
    """One eliminated coordinate: w = Z / omega (eq. 28-33), 1 / omega, and D / omega against the ports still open."""

    slot: int
    w: np.ndarray
    inverse: Scalar
    ports: dict[int, Scalar]


Event = Column | Pivot


@dataclass(eq=False)
class _Handle:
    """What a subtree asks of the link that holds it: f = J a + sum of Z_k q_k'', and D between its open ports."""

    J: Inertia
    Z: dict[int, np.ndarray] = field(default_factory=dict)
    D: dict[tuple[int, int], Scalar] = field(default_factory=dict)

    def between(self, a: int, b: int) -> Scalar:
        return self.D.get((min(a, b), max(a, b)), 0.0)

    def add(self, a: int, b: int, value: Scalar) -> None:
        key = (min(a, b), max(a, b))
        self.D[key] = self.D[key] + value if key in self.D else value

    def cross(self, column: Column) -> None:
        """Let the handle move by s q'' against the next frame inward."""
        slot, s = column.slot, column.s
        u = self.J.times(s)
        own = dot(s, u)
        for other, Z in self.Z.items():
            coupling = dot(s, Z)
            self.add(slot, other, coupling * 2.0 if other == slot else coupling)
        self.add(slot, slot, own)
        self.Z[slot] = self.Z[slot] + u if slot in self.Z else u

    def eliminate(self, event: Elimination, resists: Scalar, prescribed: bool) -> Pivot:
        """Solve the coordinate's row, whose diagonal ``resists``, for its acceleration: none where it is
        ``prescribed``."""
        slot = event.slot
        Z = self.Z.pop(slot)
        inverse = 0.0 if prescribed else reciprocal(resists)
        w = Z * inverse
        rows = {other: self.between(slot, other) for other in event.ports}
        for key in [key for key in self.D if slot in key]:
            del self.D[key]
        scaled = {other: row * inverse for other, row in rows.items()}
        self.J = self.J.minus_outer(Z, w)
        for i, (a, row) in enumerate(rows.items()):
            self.Z[a] = self.Z[a] - w * row
            for b in list(rows)[i:]:
                self.add(a, b, -(row * scaled[b]))
        return Pivot(slot, w, inverse, scaled)

    def take(self, k: LinkKinematics, other: _Handle) -> None:
        """Hold the subtree of the child link ``k`` as well."""
        self.J = self.J + k.displacement.inertia_inward(other.J)
        self.take_ports(k, other)

    def take_ports(self, k: LinkKinematics, other: _Handle) -> None:
        """The child's open ports, seen from this frame."""
        for slot, Z in other.Z.items():
            moved = np.concatenate(k.displacement.wrench_inward(Z[:3], Z[3:]))
            self.Z[slot] = self.Z[slot] + moved if slot in self.Z else moved
        for (a, b), value in other.D.items():
            self.add(a, b, value)


def rigid_inertia(k: LinkKinematics) -> Inertia:
    """The link's own spatial inertia about its origin (eq. 5), from its moments."""
    moments = k.moments
    return Inertia(moments.inertia, skew(moments.first), array(np.eye(3)) * moments.mass)


class Reduction:
    """c = L^-T (tau - bias) (nv,), link by link inward; bias from the wrench (6,) that each link needs (eq. 24, 31 as
    one sum)."""

    def __init__(self, tree: Tree, tau: Sequence[Scalar], wrenches: Sequence[np.ndarray] | None) -> None:
        self.tree = tree
        self.c: list[Scalar] = list(tau)
        self.z = [zeros(6) for _ in tree.links] if wrenches is None else list(wrenches)

    def link(self, i: int, events: Sequence[Event]) -> None:
        """Pass link i, whose children have been passed."""
        k, total = self.tree.links[i], self.z[i]
        for event in events:
            if isinstance(event, Column):
                self.c[event.slot] = self.c[event.slot] - dot(event.s, total)
            else:
                total = total + event.w * self.c[event.slot]
                self._ports(event)
        if k.link.parent != WORLD:
            moved = np.concatenate(k.displacement.wrench_inward(total[:3], total[3:]))
            self.z[k.link.parent] = self.z[k.link.parent] + moved

    def world(self, events: Sequence[Pivot]) -> None:
        """Pass the world, where what is still open is eliminated."""
        for pivot in events:
            self._ports(pivot)

    def _ports(self, pivot: Pivot) -> None:
        """What an eliminated coordinate leaves to the ports that are open."""
        for other, ratio in pivot.ports.items():
            self.c[other] = self.c[other] - ratio * self.c[pivot.slot]


class ArticulatedInertias:
    """The factors of M; ``diagonal`` (nv,) is added to the rotor inertias.

    A ``reduction`` given is taken along: what a link needs is then used while it is at hand.
    """

    def __init__(
        self, tree: Tree, diagonal: Sequence[Scalar] | None = None, reduction: Reduction | None = None
    ) -> None:
        self.tree = tree
        rotors: list[Scalar] = [c.armature for c in tree.model.coordinates]
        self.diagonal = rotors if diagonal is None else [a + d for a, d in zip(rotors, diagonal, strict=True)]
        self.events: list[list[Event]] = [[] for _ in tree.links]
        self.root: list[Pivot] = []
        self.inverse: list[Scalar] = [0.0] * tree.model.nv
        self._factor(reduction)

    def _factor(self, reduction: Reduction | None) -> None:
        """Recursions 3-5 (eq. 24-33) without the forces: from the leaves to the root."""
        tree, order = self.tree, self.tree.model.elimination
        handles = [_Handle(rigid_inertia(k)) for k in tree.links]
        nothing = array(np.zeros((3, 3)))
        world = _Handle(Inertia(nothing, nothing, nothing))
        for i in reversed(range(len(tree.links))):
            k, handle, events = tree.links[i], handles[i], self.events[i]
            columns = dict(k.columns)
            for event in order.links[i]:
                if isinstance(event, Elimination):
                    events.append(self._eliminate(handle, event))
                else:
                    column = Column(event.slot, columns[event.slot])
                    handle.cross(column)
                    events.append(column)
            if reduction:
                reduction.link(i, events)
            if k.link.parent != WORLD:
                handles[k.link.parent].take(k, handle)
            else:
                world.take_ports(k, handle)
        self.root = [self._eliminate(world, event) for event in order.world]
        if reduction:
            reduction.world(self.root)

    def _eliminate(self, handle: _Handle, event: Elimination) -> Pivot:
        model, slot = self.tree.model, event.slot
        prescribed, resists = slot in model.prescribed, handle.between(slot, slot) + self.diagonal[slot]
        if not prescribed and is_constant(resists) and float(resists) == 0.0:
            raise ModelError(
                f"nothing has inertia against coordinate '{model.velocity_names[slot]}': all that it moves has none, or"
                " moves so by another coordinate too; give its body mass and inertia, or weld it"
            )
        pivot = handle.eliminate(event, resists, prescribed)
        self.inverse[event.slot] = pivot.inverse
        return pivot

    def reduce(self, tau: Sequence[Scalar], wrenches: Sequence[np.ndarray] | None = None) -> list[Scalar]:
        """L^-T (tau - bias) (nv,)."""
        reduction = Reduction(self.tree, tau, wrenches)
        for i in reversed(range(len(self.tree.links))):
            reduction.link(i, self.events[i])
        reduction.world(self.root)
        return reduction.c

    def expand(self, c: Sequence[Scalar]) -> list[Scalar]:
        """L^-1 D^-1 c: accelerations (nv,) from the root to the leaves (eq. 34-35)."""
        tree = self.tree
        acceleration: list[Scalar] = [0.0] * tree.model.nv
        still = zeros(6)
        for pivot in reversed(self.root):
            _expand(pivot, c, acceleration, still)
        eta: list[np.ndarray] = []
        for k, events in zip(tree.links, self.events, strict=True):
            total = still
            if k.link.parent != WORLD:
                parent = eta[k.link.parent]
                angular, linear = parent[:3], parent[3:] + cross(parent[:3], k.displacement.p)
                total = np.concatenate([k.displacement.outward(angular), k.displacement.outward(linear)])
            for event in reversed(events):
                total = _expand(event, c, acceleration, total)
            eta.append(total)
        return acceleration


def _expand(event: Event, c: Sequence[Scalar], acceleration: list[Scalar], total: np.ndarray) -> np.ndarray:
    """Undo one event of the inward recursion; the acceleration of the handle, then of the frame outward of it."""
    if isinstance(event, Column):
        return total + event.s * acceleration[event.slot]
    value = c[event.slot] * event.inverse - dot(event.w, total)
    for other, ratio in event.ports.items():
        value = value - ratio * acceleration[other]
    acceleration[event.slot] = value
    return total
