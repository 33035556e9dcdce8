"""Contact events for games: which pairs of bodies began to touch, still touch, or parted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Packed
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.simulation.edits import GONE, Edit

BEGIN, STAY, END = "begin", "stay", "end"
WORLD = "world"  # what events call all that does not move


@dataclass(frozen=True)
class ContactEvent:
    """A pair of bodies that began to touch, stayed in touch or parted during a call of ``step`` or ``advance``.

    body_a, body_b: names, "world" for what does not move, as in the detector's contacts; impulse: sum of the normal
    impulses during the call, N s; point: where the strongest of them acted, world axes.
    """

    kind: str
    body_a: str
    body_b: str
    impulse: float = 0.0
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Touches(NamedTuple):
    """Pairs of bodies that touched when a call began, or touched in it, the first size[0] of each array.

    a, b: as in Contacts, but free bodies keep a number; now, before: whether they touch, and did in the step before;
    began, ended: whether they did that during the call; order: in which they touched in it, -1 if they did not.
    impulses: sums of normal impulses; strongest, points (n, 3): the greatest, and where. places: of each pair by the
    hash of its bodies, -1 for none. free: numbers of the free bodies, less the number of all others. fresh (1,): 1
    where a new call begins, before whose first step what happened in the last one is to be forgotten.
    """

    size: Integers
    a: Integers
    b: Integers
    now: Flags
    before: Flags
    began: Flags
    ended: Flags
    order: Integers
    impulses: Floats
    strongest: Floats
    points: Annotated[np.ndarray, float, 3]
    places: Integers
    free: Integers
    fresh: Integers


class Events:
    """Pairs of bodies in touch after the last step, and what happened since ``begin``; names: of the bodies.

    touches: the numbers, which a step counts in.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._bodies = list(names), len(names)
        self.touches = _room(16, 0)
        self._packed = Packed(self.touches)
        self._pairs: tuple[bytes, frozenset[tuple[str, str]]] = b"", frozenset()

    @property
    def packed(self) -> Packed:
        """The touches, for several compiled functions."""
        if self._packed.value is not self.touches:
            self._packed = Packed(self.touches)
        return self._packed

    def begin(self) -> None:
        """Forget the last call's events, keep who is in touch."""
        self.touches.fresh[0] = 1

    def copied(self) -> Touches:
        """The numbers in other arrays."""
        return Touches(*(numbers.copy() for numbers in self.touches))

    def make_room(self, more: int) -> None:
        """Room for so many more pairs, in other arrays if need be."""
        pairs = int(self.touches.size[0]) + more
        if pairs > len(self.touches.a):
            self._grow(2 * pairs, len(self.touches.free))

    def number(self, free_names: Sequence[str]) -> None:
        """Number the free bodies of the next step that is counted."""
        if len(free_names) > len(self.touches.free):
            self._grow(len(self.touches.a), 2 * len(free_names))
        for k, name in enumerate(free_names):
            if name not in self._names[self._bodies :]:
                self._names.append(name)
            self.touches.free[k] = self._names.index(name, self._bodies) - self._bodies

    def _grow(self, pairs: int, free: int) -> None:
        old, self.touches = self.touches, _room(pairs, free)
        copied(old, self.touches)

    def touching(self) -> tuple[tuple[str, str], ...]:
        """Pairs of names of who is in touch after the last step."""
        t = self.touches
        return tuple(self._pair(p) for p in range(int(t.size[0])) if t.before[p])

    def pairs(self) -> frozenset[tuple[str, str]]:
        """The same in no order; the same object while they are the same."""
        t, n = self.touches, int(self.touches.size[0])
        rows = t.before[:n]
        known = t.a[:n][rows].tobytes() + t.b[:n][rows].tobytes()
        if known != self._pairs[0]:
            pairs = frozenset(self.touching())
            self._pairs = known, self._pairs[1] if pairs == self._pairs[1] else pairs
        return self._pairs[1]

    def warm_up(self) -> None:
        """Compile or load what events are kept by."""
        for loop in (_begun, _place, _fresh, _entered, copied):
            loop.warm()

    def recall(self, pairs: Sequence[tuple[str, str]]) -> None:
        """These are in touch, and nothing has happened yet."""
        self.touches = _room(max(16, 2 * len(pairs)), len(self.touches.free))
        self.begin()
        for pair in pairs:
            self._names += [name for name in pair if name != WORLD and name not in self._names]
            a, b = (STATIC if name == WORLD else self._names.index(name) for name in pair)
            _fresh(self.touches, _place(self.touches, a, b), a, b, True)

    def told(self) -> tuple[ContactEvent, ...]:
        """Events since ``begin``."""
        t = self.touches
        if t.fresh[0]:
            return ()
        n = int(t.size[0])
        order = sorted(range(n), key=lambda p: (t.order[p] < 0, t.order[p]))
        result = [self._event(BEGIN, p) for p in order if t.began[p]]
        result += [self._event(STAY, p) for p in order if t.order[p] >= 0 and not t.began[p] and not t.ended[p]]
        return tuple(result + [self._event(END, p) for p in order if t.ended[p]])

    def renumber(self, edit: Edit) -> None:
        """Bodies have other numbers; those that went keep their names until their contacts have ended."""
        t, n, names = self.touches, int(self.touches.size[0]), self._names
        now = np.append(edit.bodies, np.full(len(names) - len(edit.bodies), GONE))
        met = np.zeros(len(names), dtype=bool)
        for numbers in (t.a[:n], t.b[:n]):
            met[numbers[numbers >= 0]] = True
        others = (met & (now == GONE)).nonzero()[0].tolist()  # that went, or are of another world
        now[others] = len(edit.names) + np.arange(len(others))
        for numbers in (t.a[:n], t.b[:n]):
            numbers[:] = np.where(numbers < 0, numbers, now[numbers])
        self._pairs = b"", frozenset()
        self._names, self._bodies = [*edit.names, *(names[k] for k in others)], len(edit.names)
        if len(others) > len(t.free):
            self._grow(len(t.a), len(others))
        _entered.bind(self.packed)()

    def _event(self, kind: str, p: int) -> ContactEvent:
        a, b = self._pair(p)
        x, y, z = self.touches.points[p].tolist()
        return ContactEvent(kind, a, b, float(self.touches.impulses[p]), (x, y, z))

    def _pair(self, p: int) -> tuple[str, str]:
        return self._name(int(self.touches.a[p])), self._name(int(self.touches.b[p]))

    def _name(self, number: int) -> str:
        return WORLD if number == STATIC else self._names[number]


def _room(pairs: int, free: int) -> Touches:
    """Room for so many pairs, and numbers of free bodies."""
    a, b, order = np.zeros((3, pairs), dtype=np.int64)
    now, before, began, ended = np.zeros((4, pairs), dtype=bool)
    impulses, strongest = np.zeros((2, pairs))
    places = np.full(1 << (2 * pairs).bit_length(), -1)
    return Touches(
        np.zeros(1, dtype=np.int64), a, b, now, before, began, ended, order, impulses, strongest, np.zeros((pairs, 3)),
        places, np.zeros(free, dtype=np.int64), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@compiled
def note(contacts: ContactTable, t: Touches, bodies: int) -> None:
    """Count what touches after a step: what pushes, or overlaps. Free bodies are numbered from ``bodies`` on."""
    if t.fresh[0]:
        _begun(t)
    count = 0
    for p in range(t.size[0]):
        t.now[p] = False
        count = max(count, t.order[p] + 1)
    for c in range(contacts.size[0]):
        normal = 0.0
        for k in range(3):
            normal += contacts.impulses[c, k] * contacts.normals[c, k]
        if not (normal > 0.0 or contacts.gaps[c] <= 0.0):
            continue
        a, b = contacts.a[c], contacts.b[c]
        p = _place(
            t, a if a < bodies else bodies + t.free[a - bodies], b if b < bodies else bodies + t.free[b - bodies]
        )
        t.now[p] = True
        if t.order[p] < 0:
            t.order[p] = count
            count += 1
        t.impulses[p] += normal
        if normal >= t.strongest[p]:
            t.strongest[p], t.points[p] = normal, contacts.points[c, 1]
    for p in range(t.size[0]):
        if t.now[p] != t.before[p]:
            if t.now[p]:
                t.began[p] = True
            else:
                t.ended[p] = True
            t.before[p] = t.now[p]


@compiled
def _place(t: Touches, a: int, b: int) -> int:
    """Where a pair is, which is entered if it was not there."""
    mask = len(t.places) - 1
    at = _first_place(a, b, mask)
    while t.places[at] >= 0:
        p = t.places[at]
        if t.a[p] == a and t.b[p] == b:
            return p
        at = (at + 1) & mask
    p = t.size[0]
    t.places[at], t.size[0] = p, p + 1
    _fresh(t, p, a, b, False)
    return p


@compiled
def _entered(t: Touches) -> None:
    """Enter the pairs at their places, whose bodies have other numbers."""
    t.places[:] = -1
    mask = len(t.places) - 1
    for p in range(t.size[0]):
        at = _first_place(t.a[p], t.b[p], mask)
        while t.places[at] >= 0:
            at = (at + 1) & mask
        t.places[at] = p


@compiled
def _first_place(a: int, b: int, mask: int) -> int:
    """Where a pair is, or one of the places after that."""
    return ((a + 1) * 1000003 + (b + 1) * 8191) & mask


@compiled
def _fresh(t: Touches, p: int, a: int, b: int, before: bool) -> None:
    """A pair of which nothing is known but whether it touched before."""
    t.a[p], t.b[p], t.order[p] = a, b, -1
    t.now[p], t.before[p], t.began[p], t.ended[p] = before, before, False, False
    t.impulses[p], t.strongest[p] = 0.0, 0.0
    t.points[p] = 0.0


@compiled
def _begun(t: Touches) -> None:
    """Keep the pairs that touch, without what happened."""
    n = t.size[0]
    t.size[0], t.fresh[0] = 0, 0
    t.places[:] = -1
    for p in range(n):
        if t.before[p]:
            at = _place(t, t.a[p], t.b[p])
            _fresh(t, at, t.a[p], t.b[p], True)


@compiled
def copied(source: Touches, target: Touches) -> None:
    """The same pairs with more room."""
    target.free[: len(source.free)] = source.free
    target.fresh[:] = source.fresh
    for p in range(source.size[0]):
        at = _place(target, source.a[p], source.b[p])
        target.now[at], target.before[at] = source.now[p], source.before[p]
        target.began[at], target.ended[at] = source.began[p], source.ended[p]
        target.order[at], target.points[at] = source.order[p], source.points[p]
        target.impulses[at], target.strongest[at] = source.impulses[p], source.strongest[p]
