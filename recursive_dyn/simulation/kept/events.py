"""Contact events for games: which pairs of bodies began to touch, still touch, or parted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.codegen.loops.calling import Packed
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.simulation.edits.edit import GONE, Edit
from recursive_dyn.simulation.kept.touches import Touches, begun, copied, entered, fresh, place, recalled, room

BEGIN, STAY, END = _KINDS = "begin", "stay", "end"
_BEGAN, _STAYED, _ENDED = range(3)  # their places
WORLD = "world"  # what events call all that does not move


@dataclass(frozen=True)
class ContactEvent:
    """A pair of bodies that began to touch, stayed in touch or parted during a call of ``step`` or ``advance``.

    They come in the order of time, also within a step that was taken in parts, so that the last one of a pair says
    whether it touches now: a begin and an end of what bounced, an end and a begin of what went and came back.
    body_a, body_b: names, "world" for what does not move, as in the detector's contacts; impulse: sum of the normal
    impulses during the call, N s; point: where the strongest of them acted, world axes.
    """

    kind: str
    body_a: str
    body_b: str
    impulse: float = 0.0
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Events:
    """Pairs of bodies in touch after the last step, and what happened since ``begin``; names: of the bodies.

    touches: the numbers, which a step counts in.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._bodies = list(names), len(names)
        self.touches = room(16, 0)
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
        old, self.touches = self.touches, room(pairs, free)
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
        for loop in (begun, place, fresh, entered, copied, recalled):
            loop.warm()

    def recall(self, pairs: Sequence[tuple[str, str]]) -> None:
        """These are in touch, and nothing has happened yet."""
        names = dict.fromkeys(name for pair in pairs for name in pair if name != WORLD)
        self._names += [name for name in names if name not in self._names]
        at = [[STATIC if name == WORLD else self._names.index(name) for name in pair] for pair in pairs]
        self.expect(len(at), self._names[self._bodies :])
        recalled(self.touches, np.array(at, dtype=np.int64).reshape(-1, 2))
        self.begin()

    def numbers(self) -> tuple[np.ndarray, list[str]]:
        """Numbers (n, 2) of who is in touch after the last step, and names of those behind the scene's bodies."""
        t, n = self.touches, int(self.touches.size[0])
        pairs = np.stack([t.a[:n], t.b[:n]], axis=1)[t.before[:n]]
        return pairs, self._names[self._bodies :] if pairs.max(initial=-1) >= self._bodies else []

    def expect(self, pairs: int, names: Sequence[str]) -> None:
        """Room for so many pairs in touch, of the scene's bodies and of these behind them."""
        if pairs > len(self.touches.a):
            self._grow(2 * pairs, len(self.touches.free))
        self._names[self._bodies :], self._pairs = names, (b"", frozenset())

    def told(self) -> tuple[ContactEvent, ...]:
        """Events since ``begin``, in the order of time; of one time begins first, then who stays, then ends.

        The last one of a pair says whether it touches now. Of a pair that did more than that, its first begin or end,
        its last one, and where these are alike the last of the others are told.
        """
        t = self.touches
        if t.fresh[0]:
            return ()
        n = int(t.size[0])
        order, found = t.order[:n].tolist(), [(*event, p) for p in range(n) for event in self._happened(p)]
        found.sort(key=lambda event: (*event[:2], order[event[2]] < 0, order[event[2]]))
        return tuple(self._event(_KINDS[kind], p) for _, kind, p in found)

    def _happened(self, p: int) -> set[tuple[int, int]]:
        """When a pair did what, by its place among _KINDS."""
        t = self.touches
        if not t.first[p]:
            return {(int(t.clock[0]), _STAYED)} if t.order[p] >= 0 else set()
        first, last = (_BEGAN if t.first[p] > 0 else _ENDED), (_BEGAN if t.before[p] else _ENDED)
        then, now = sorted((int(t.began[p]), int(t.ended[p])))
        between = {(then, _BEGAN + _ENDED - last)} if first == last and then else set()
        return {(abs(int(t.first[p])), first), (now, last)} | between

    def renumber(self, edit: Edit) -> None:
        """Bodies have other numbers; those that went keep their names until their contacts have ended."""
        t, n, names = self.touches, int(self.touches.size[0]), self._names
        now = np.full(len(names), GONE)
        now[: len(edit.bodies)] = edit.bodies
        ends = np.concatenate([t.a[:n], t.b[:n]])
        bodies = ends >= 0
        met = np.zeros(len(names), dtype=bool)
        met[ends[bodies]] = True
        others = (met & (now == GONE)).nonzero()[0].tolist()  # that went, or are of another world
        now[others] = len(edit.names) + np.arange(len(others))
        ends[bodies] = now[ends[bodies]]
        t.a[:n], t.b[:n] = ends[:n], ends[n:]
        self._names, self._bodies = [*edit.names, *(names[k] for k in others)], len(edit.names)
        if len(others) > len(t.free):
            self._grow(len(t.a), len(others))
        entered(self.touches)

    def _event(self, kind: str, p: int) -> ContactEvent:
        a, b = self._pair(p)
        x, y, z = self.touches.points[p].tolist()
        return ContactEvent(kind, a, b, float(self.touches.impulses[p]), (x, y, z))

    def _pair(self, p: int) -> tuple[str, str]:
        return self._name(int(self.touches.a[p])), self._name(int(self.touches.b[p]))

    def _name(self, number: int) -> str:
        return WORLD if number == STATIC else self._names[number]
