"""What a step in several parts starts from, to go back to where one of them fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.contact.contact_buffer import ContactTable, copy_contacts
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.kept.events import Events
from recursive_dyn.simulation.kept.memory import KeptArrays, Memory
from recursive_dyn.simulation.kept.momentum import remembered
from recursive_dyn.simulation.state import State


def warm_up() -> None:
    """Compile or load what the first step in parts takes."""
    _copied.warm()


class Noting(Protocol):
    """What knows something that a part of a step changes."""

    def noted(self) -> Any:
        """What is known."""
        ...

    def back(self, noted: Any) -> None:
        """Know what was noted."""
        ...


class StepStart:
    """State, memory, who touches whom, what is counted and what others know, as they were when they were noted."""

    def __init__(
        self, state: State, memory: Memory, events: Events, flight: Flight, noted: np.ndarray, others: Sequence[Noting]
    ) -> None:  # fmt: skip
        self._state, self._memory, self._events, self._flight, self._noted = state, memory, events, flight, noted
        self._others, self._kept = others, memory.copy()
        self._copy: Bound | None = None
        self._versions = -1, -1

    def note(self) -> None:
        """A step starts from what is now."""
        state, memory, kept = self._state, self._memory, self._kept
        self._q, self._v, self._touches = state.q.copy(), state.v.copy(), self._events.copied()
        self._counted = self._flight.tally.copy(), self._noted.copy()
        self._known = [other.noted() for other in self._others]
        kept.contacts.grow(memory.contacts.capacity)
        versions = memory.contacts.version, kept.contacts.version
        if self._copy is None or self._versions != versions:
            given = memory.arrays, memory.contacts.table, kept.arrays, kept.contacts.table
            self._copy, self._versions = _copied.bind(*given), versions
        self._copy()
        kept.ended.become(memory.ended)
        kept.tell_as(memory)

    def restore(self) -> None:
        """All is what it was."""
        self._state.q[:], self._state.v[:] = self._q, self._v
        self._memory.become(self._kept)
        self._events.touches = self._touches
        self._touches = self._events.copied()  # parts that are taken from here may fail, too
        self._flight.tally[:], self._noted[:] = self._counted
        for other, known in zip(self._others, self._known, strict=True):
            other.back(known)


@compiled
def _copied(source: KeptArrays, contacts: ContactTable, target: KeptArrays, room: ContactTable) -> None:
    """Numbers of a memory in the arrays of another one, which has room for its contacts."""
    copy_contacts(contacts, room, contacts.size[0])
    target.rows[:] = source.rows
    target.totals[:] = source.totals
    target.counts[:] = source.counts
    target.told[:] = source.told
    target.numbers[:] = source.numbers
    target.facts[:] = source.facts
    target.tolerance[:] = source.tolerance
    remembered(target.momentum, source.momentum)
    target.pressed[:] = source.pressed
    target.acted[:] = source.acted
    target.steady[:] = source.steady
    target.borne[:] = source.borne
    target.pressing[:] = source.pressing
    target.slept.rested[:] = source.slept.rested
    target.slept.q[:] = source.slept.q
    target.slept.parameters[:] = source.slept.parameters
    target.slept.step[:] = source.slept.step
    target.slept.contacts[:] = source.slept.contacts
    target.times[:] = source.times
    target.parts[:] = source.parts
    target.cut[:] = source.cut
    target.steps[:] = source.steps
    target.joints[:] = source.joints
    target.felt[:] = source.felt
