"""Contact events for games: which pairs of bodies began to touch, still touch, or parted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.contact.contacts import STATIC, Contacts

BEGIN, STAY, END = "begin", "stay", "end"


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


@dataclass(eq=False)
class _Touch:
    impulse: float = 0.0
    strongest: float = 0.0
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Events:
    """Pairs in touch after the last step, and what happened since ``begin``."""

    def __init__(self) -> None:
        self._before = Contacts.none()  # of the last step before this call
        self._steps: list[Contacts] = []
        self._names: Sequence[str] = ()

    def begin(self) -> None:
        """Forget the last call's events, keep who is in touch."""
        if self._steps:
            self._before, self._steps = self._steps[-1], []

    def note(self, contacts: Contacts, names: Sequence[str]) -> None:
        """Remember a step's contacts, impulses included; events are made of them when asked for."""
        self._steps.append(contacts)
        self._names = names

    def told(self) -> tuple[ContactEvent, ...]:
        """Events since ``begin``."""
        if not self._steps:
            return ()
        began: dict[tuple[str, str], None] = {}
        ended: dict[tuple[str, str], None] = {}
        touches: dict[tuple[str, str], _Touch] = {}
        now = self._touching(self._before, {})
        for contacts in self._steps:
            touching = self._touching(contacts, touches)
            for pair in touching - now:
                began[pair] = None
            for pair in now - touching:
                ended[pair] = None
            now = touching
        result = [_event(BEGIN, pair, touches) for pair in began]
        result += [_event(STAY, pair, touches) for pair in touches if pair not in began and pair not in ended]
        return tuple(result + [_event(END, pair, touches) for pair in ended])

    def _touching(self, contacts: Contacts, touches: dict[tuple[str, str], _Touch]) -> set[tuple[str, str]]:
        normal = np.einsum("ij,ij->i", contacts.impulse, contacts.normal)
        found = set()
        for c in np.flatnonzero((normal > 0.0) | (contacts.distance <= 0.0)):
            pair = (self._name(int(contacts.a[c]), contacts), self._name(int(contacts.b[c]), contacts))
            found.add(pair)
            touch = touches.setdefault(pair, _Touch())
            touch.impulse += float(normal[c])
            if normal[c] >= touch.strongest:
                x, y, z = contacts.point_b[c].tolist()
                touch.strongest, touch.point = float(normal[c]), (x, y, z)
        return found

    def _name(self, index: int, contacts: Contacts) -> str:
        if index == STATIC:
            return "world"
        if index < len(self._names):
            return self._names[index]
        return contacts.free_names[index - len(self._names)]


def _event(kind: str, pair: tuple[str, str], touches: dict[tuple[str, str], _Touch]) -> ContactEvent:
    touch = touches.get(pair, _Touch())
    return ContactEvent(kind, *pair, touch.impulse, touch.point)
