"""Contacts of one step in memory that stays where it is: what detection writes, a solve reads and answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Packed
from recursive_dyn.contact.contacts import Contacts, FreeBodies

NOBODY = FreeBodies.none()  # where no other world's bodies take part
_NAMELESS: Sequence[str] = ()


class ContactTable(NamedTuple):
    """Arrays of as many rows as there is room for, of which the first size[0] are contacts; as in ``Contacts``.

    a, b, keys (capacity,); points (capacity, 2, 3): on A and on B; normals (capacity, 3) from B to A; gaps (capacity,);
    frictions (capacity, 5): sticking, sliding, rolling, spinning, restitution; drift (capacity, 3); gliding
    (capacity,): 1 where an ellipsoid touches, all around which a contact glides and never jumps; balls (capacity, 2):
    radii of A and of B where they are balls, m, else 0. The solve writes impulses and moments (capacity, 3) on A, world
    axes, into gaps what is left of them at the step's end, into points and normals of what presses where both bodies
    move where the impulse acts (``meeting``); for the next one arms (capacity, 2, 3) of A and of B from their centres
    of mass, levels (capacity,) of what is known (``lasting``), debts (capacity,), J, of contacts that last
    (``turning``), and ways (capacity,), m, by which they went on along their bodies. felt (capacity, 3): the impulses
    of all parts of a step so far.
    """

    size: Integers
    a: Integers
    b: Integers
    keys: Integers
    points: Annotated[np.ndarray, float, 2, 3]
    normals: Annotated[np.ndarray, float, 3]
    gaps: Floats
    frictions: Annotated[np.ndarray, float, 5]
    drift: Annotated[np.ndarray, float, 3]
    gliding: Integers
    balls: Annotated[np.ndarray, float, 2]
    impulses: Annotated[np.ndarray, float, 3]
    moments: Annotated[np.ndarray, float, 3]
    felt: Annotated[np.ndarray, float, 3]
    arms: Annotated[np.ndarray, float, 2, 3]
    levels: Integers
    debts: Floats
    ways: Floats


@compiled
def copy_contacts(source: ContactTable, target: ContactTable, n: int) -> None:
    """Target, which has room for them, becomes a copy of the first n contacts."""
    target.size[0] = n
    target.a[:n] = source.a[:n]
    target.b[:n] = source.b[:n]
    target.keys[:n] = source.keys[:n]
    target.points[:n] = source.points[:n]
    target.normals[:n] = source.normals[:n]
    target.gaps[:n] = source.gaps[:n]
    target.frictions[:n] = source.frictions[:n]
    target.drift[:n] = source.drift[:n]
    target.gliding[:n] = source.gliding[:n]
    target.balls[:n] = source.balls[:n]
    target.impulses[:n] = source.impulses[:n]
    target.moments[:n] = source.moments[:n]
    target.felt[:n] = source.felt[:n]
    target.arms[:n] = source.arms[:n]
    target.levels[:n] = source.levels[:n]
    target.debts[:n] = source.debts[:n]
    target.ways[:n] = source.ways[:n]


def _table(capacity: int) -> ContactTable:
    a, b, keys, gliding, levels = np.zeros((5, capacity), dtype=np.int64)
    points, arms = np.zeros((2, capacity, 2, 3))
    normals, drift, impulses, moments, felt = np.zeros((5, capacity, 3))
    size, frictions, (gaps, debts, ways) = np.zeros(1, dtype=np.int64), np.zeros((capacity, 5)), np.zeros((3, capacity))
    balls = np.zeros((capacity, 2))
    return ContactTable(
        size, a, b, keys, points, normals, gaps, frictions, drift, gliding, balls, impulses, moments, felt, arms,
        levels, debts, ways,
    )  # fmt: skip


class ContactBuffer:
    """``table``: the arrays; version: counts up when ``grow`` replaced them, so that whoever holds addresses asks anew.

    free, free_names: the bodies of another world that take part, numbered after the simulation's own, as in
    ``Contacts``; whoever detects sets them.
    """

    def __init__(self, capacity: int = 64) -> None:
        self.table, self.version = _table(capacity), 0
        self.free, self.free_names = NOBODY, _NAMELESS
        self._packed: Packed | None = None

    @property
    def packed(self) -> Packed:
        """The table, for several compiled functions."""
        if self._packed is None or self._packed.value is not self.table:
            self._packed = Packed(self.table)
        return self._packed

    @property
    def capacity(self) -> int:
        """How many contacts there is room for."""
        return len(self.table.gaps)

    @property
    def count(self) -> int:
        """How many contacts there are."""
        return int(self.table.size[0])

    def __len__(self) -> int:
        return self.count

    def grow(self, capacity: int) -> None:
        """Make room for at least ``capacity`` contacts; those there are stay."""
        if capacity <= self.capacity:
            return
        old, n = self.table, self.count
        self.table = _table(max(capacity, 2 * self.capacity))
        self.version += 1
        self.table.size[0] = n
        for source, target in zip(old[1:], self.table[1:], strict=True):
            target[:n] = source[:n]

    def clear(self) -> None:
        """Nothing touches."""
        self.table.size[0] = 0
        self.free, self.free_names = NOBODY, _NAMELESS

    def fill(self, contacts: Contacts) -> None:
        """Hold these contacts, without impulses, and no others."""
        n = len(contacts)
        self.table.size[0] = 0
        self.grow(n)
        table = self.table
        table.size[0] = n
        self.free, self.free_names = contacts.free if len(contacts.free) else NOBODY, contacts.free_names
        table.a[:n], table.b[:n], table.keys[:n] = contacts.a, contacts.b, contacts.key
        table.points[:n, 0], table.points[:n, 1] = contacts.point_a, contacts.point_b
        table.normals[:n], table.gaps[:n] = contacts.normal, contacts.distance
        table.frictions[:n], table.drift[:n] = contacts.friction, contacts.drift
        table.gliding[:n], table.balls[:n] = contacts.gliding, contacts.balls
        table.impulses[:n], table.moments[:n], table.felt[:n] = 0.0, 0.0, 0.0
        table.arms[:n], table.levels[:n], table.debts[:n], table.ways[:n] = 0.0, 0, 0.0, 0.0

    def copy(self) -> ContactBuffer:
        """The same contacts in other arrays."""
        result = ContactBuffer(0)
        result.become(self)
        return result

    def become(self, other: ContactBuffer) -> None:
        """Hold what ``other`` does."""
        self.table.size[0] = 0
        self.add(other, slice(other.count), other.count)
        self.free, self.free_names = other.free, other.free_names

    def add(self, other: ContactBuffer, rows: np.ndarray | slice, count: int) -> slice:
        """Hold so many contacts of another one, too, by their rows there; which ones they are here."""
        added = slice(self.count, self.count + count)
        self.grow(added.stop)
        self.table.size[0] = added.stop
        for source, target in zip(other.table[1:], self.table[1:], strict=True):
            target[added] = source[rows]
        return added

    def rename(self, keys: Callable[[np.ndarray], np.ndarray]) -> None:
        """Pairs of surfaces have other keys."""
        own = self.table.keys[: self.count]
        own[:] = keys(own)

    def pushed_bodies(self) -> set[int]:
        """Numbers of bodies that contacts push."""
        table, n = self.table, self.count
        there = table.impulses[:n].any(axis=1)
        return {*table.a[:n][there].tolist(), *table.b[:n][there].tolist()}

    def contacts(self) -> Contacts:
        """A copy of them, with their impulses."""
        table, n = self.table, self.count
        result = Contacts(
            table.a[:n].copy(), table.b[:n].copy(), table.points[:n, 0].copy(), table.points[:n, 1].copy(),
            table.normals[:n].copy(), table.gaps[:n].copy(), table.frictions[:n].copy(), table.keys[:n].copy(),
            free=self.free, drift=table.drift[:n].copy(), free_names=self.free_names, gliding=table.gliding[:n].copy(),
            balls=table.balls[:n].copy(), trusted=True,
        )  # fmt: skip
        result.impulse[:], result.moment[:] = table.impulses[:n], table.moments[:n]
        return result
