"""Factors of J . A J', what momenta of links that move along chords gain by where they end (``chord_momenta``).

It is no symmetric matrix; it is eliminated coordinate by coordinate from the tips inward, as M in ``articulated``, in
O(n), shared coordinates as ports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, is_constant
from recursive_dyn.model.elimination_order import Elimination
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.chords.chord_momenta import Chords, columns_inward, moved_inward
from recursive_dyn.recursion.equations.unsymmetric_handles import Handle, OpenPivot
from recursive_dyn.recursion.kinematics import zeros
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.spaces import Rotation


class _Handle(Handle):
    """A (6, 6) of a twist; columns and rows (6,) of open ports: rows about the tree's point, columns about the link's
    place here."""

    def cross(self, slot: int, left: np.ndarray, right: np.ndarray) -> None:
        """Let the handle move along ``right`` with a coordinate whose row is along ``left``."""
        column, row = self.A @ right, left @ self.A
        own = dot(left, column)
        for other, Z in list(self.columns.items()):
            self.add(slot, other, dot(left, Z))
        for other, Z in list(self.rows.items()):
            self.add(other, slot, dot(Z, right))
        self.add(slot, slot, own)
        self.open(slot, column, row)

    def eliminate(self, event: Elimination, diagonal: Scalar, prescribed: bool, still: int | None) -> OpenPivot:
        """still: component of what the handle asks for that the coordinate alone gives way to, so that it asks for none
        of it from here on."""
        pivot = self.eliminated(event.slot, diagonal, prescribed)
        if still is not None:
            for asked in (self.A, *[self.columns[a] for a in event.ports]):
                asked[still] = 0.0
        return pivot

    def inward(self, arm: np.ndarray) -> _Handle:
        """The same about the parent's place."""
        columns = {slot: moved_inward(Z, arm) for slot, Z in self.columns.items()}
        return _Handle(columns_inward(self.A, arm), columns, self.rows, self.D)


class ChordFactors:
    """The factors of J . A J' + ``diagonal`` (nv,).

    right: a right side that is solved for at once, as what a link needs is used while it is at hand; ``first``: x.
    """

    def __init__(self, chords: Chords, diagonal: Sequence[Scalar], right: Sequence[Scalar] | None = None) -> None:
        self._diagonal, tree = diagonal, chords.tree
        self._tree, (self._left, self._right) = tree, chords.ends
        order, self._prescribed = tree.model.elimination, tree.model.prescribed
        self._here, self._moved = chords.here, Counter(slot for k in tree.links for slot in k.link.slots)
        self._turned = self._in_world_axes(chords)
        self._events: list[list[int | OpenPivot]] = [[] for _ in tree.links]
        handles: dict[int, _Handle] = {}  # made link by link: programs keep fewer numbers at a time
        world = _Handle(array(np.zeros((6, 6))))
        passed = None if right is None else self._begun(right, chords.wrenches)
        for i in reversed(range(len(tree.links))):
            own = _Handle(chords.inertia(i))
            if i in handles:
                own.take(handles[i])
            for event in order.links[i]:
                if isinstance(event, Elimination):
                    self._events[i].append(self._eliminate(own, event, self._left[i]))
                else:
                    own.cross(event.slot, self._left[i][event.slot], self._right[i][event.slot])
                    self._events[i].append(event.slot)
            if passed is not None:
                self._pass(i, *passed)
            parent, moved = tree.links[i].link.parent, own.inward(chords.here[i].arm)
            if parent == WORLD:
                world.take(moved)
            elif parent in handles:
                handles[parent].take(moved)
            else:
                handles[parent] = moved
        self._root = [self._eliminate(world, event) for event in order.world]
        self.first = [] if passed is None else self._expanded(passed[0])

    def _in_world_axes(self, chords: Chords) -> list[tuple[slice, np.ndarray, np.ndarray]]:
        """Have balls turn about the world's axes, by screws that have zeros: slots, and their axes here and there."""
        turned: list[tuple[slice, np.ndarray, np.ndarray]] = []
        for i, factor, _, first in self._tree.model.owners:
            if factor.space != Rotation() or not self._alone(i, range(first, first + 3)):
                continue
            axes: list[np.ndarray] = []
            for screws, place in ((self._left[i], zeros(3)), (self._right[i], chords.there[i].place)):
                axes.append(np.stack([screws[first + k][:3] for k in range(3)], axis=1))
                for k, e in enumerate(array(np.eye(3))):
                    screws[first + k] = np.concatenate([e, cross(place, e)])
            turned.append((slice(first, first + 3), axes[0], axes[1]))
        return turned

    def _alone(self, i: int, slots: Sequence[int]) -> bool:
        """Whether a link turns about its own place by these slots, moved by nothing else, with nothing on them."""
        columns = self._tree.links[i].columns
        own: list[Sequence[Scalar]] = [[self._diagonal[s] for s in slots], *(list(s[3:]) for _, s in columns)]
        prescribed = any(s in self._prescribed for s in slots)
        still = all(_nothing(x) for part in own for x in part)
        return [slot for slot, _ in columns] == list(slots) and still and not prescribed

    def _eliminate(self, handle: _Handle, event: Elimination, left: dict[int, np.ndarray] | None = None) -> OpenPivot:
        """left: rows of the link that is held, by slot."""
        slot, still = event.slot, None
        diagonal, prescribed = self._diagonal[slot], slot in self._prescribed
        if left is not None and self._moved[slot] == 1 and not prescribed and _nothing(diagonal):
            still = _component(left[slot])
        return handle.eliminate(event, diagonal, prescribed, still)

    def solve(self, right: Sequence[Scalar], wrenches: Sequence[np.ndarray] | None = None) -> list[Scalar]:
        """x (nv,) of a right side (nv,), and of J . ``wrenches`` (6,) of every link about its place here besides."""
        c, z = self._begun(right, wrenches)
        for i in reversed(range(len(self._tree.links))):
            self._pass(i, c, z)
        return self._expanded(c)

    def _begun(
        self, right: Sequence[Scalar], wrenches: Sequence[np.ndarray] | None
    ) -> tuple[list[Scalar], list[np.ndarray]]:
        """What is left of a right side (nv,), and wrenches (6,) of links, before any is passed."""
        c = list(right)
        for slots, here, _ in self._turned:
            c[slots] = list(here @ array(c[slots]))
        return c, [zeros(6) for _ in self._tree.links] if wrenches is None else [-N for N in wrenches]

    def _pass(self, i: int, c: list[Scalar], z: list[np.ndarray]) -> None:
        """Pass link i, whose children have been passed."""
        for event in self._events[i]:
            if isinstance(event, int):
                c[event] = c[event] - dot(self._left[i][event], z[i])
            else:
                z[i] = z[i] + event.column * c[event.slot]
                event.reduce(c)
        parent = self._tree.links[i].link.parent
        if parent != WORLD:
            z[parent] = z[parent] + moved_inward(z[i], self._here[i].arm)

    def _expanded(self, c: list[Scalar]) -> list[Scalar]:
        """x (nv,), where all links have been passed."""
        for pivot in self._root:
            pivot.reduce(c)
        tree = self._tree
        x: list[Scalar] = [0.0] * tree.model.nv
        still = zeros(6)
        for pivot in reversed(self._root):
            pivot.expand(c, x, still)
        twists: list[np.ndarray] = []
        for i, k in enumerate(tree.links):
            twist = still if k.link.parent == WORLD else twists[k.link.parent]
            for event in reversed(self._events[i]):
                if isinstance(event, int):
                    twist = twist + self._right[i][event] * x[event]
                else:
                    event.expand(c, x, twist)
            twists.append(twist)
        for slots, _, there in self._turned:
            x[slots] = list(there.T @ array(x[slots]))
        return x


def _nothing(x: Scalar) -> bool:
    return is_constant(x) and x == 0.0


def _component(row: np.ndarray) -> int | None:
    """The one that a row (6,) takes, if it is a row of the identity."""
    if not all(map(is_constant, row)):
        return None
    found = np.flatnonzero(row)
    return int(found[0]) if len(found) == 1 and row[found[0]] == 1.0 else None
