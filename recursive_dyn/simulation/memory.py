"""What a timestep leaves behind: numbers that the next one starts from, and that are told when someone asks."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.settings import Solution
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.simulation.coordinate_rows import renumbered_rows, row_count
from recursive_dyn.simulation.edits import GONE, Edit, moved
from recursive_dyn.simulation.momentum import Momentum, no_momentum

_STAGES = ("flight", "detection", "solve")


class KeptArrays(NamedTuple):
    """rows: impulses of the rows on coordinates by number, see ``row_names``, 0 where there is none. counts (3,): how
    many contacts and rows were solved for, and how many rows are told, motors that needed none with them; numbers: of
    those, in order; facts (5,): as in ImpulseFacts. momentum:
    that is carried."""

    rows: Floats
    counts: Integers
    numbers: Integers
    facts: Floats
    momentum: Momentum


class Memory:
    """The last step's end. ``contacts``: with their impulses; ``arrays``: the rest; both stay where they are.

    times: when its flight, its detection and its solve began, and when all ended, s; parts: how many it was cut into;
    totals: impulses by row over all of them, where they are several.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        count = row_count(dynamics.model)
        self.contacts = ContactBuffer()
        self.arrays = KeptArrays(
            np.zeros(count), np.zeros(3, dtype=np.int64), np.zeros(count, dtype=np.int64), np.zeros(5),
            no_momentum(dynamics),
        )  # fmt: skip
        self.times: tuple[float, ...] = ()
        self.parts = 1
        self.totals: dict[str, float] | None = None
        self._tolerance, self._empty = 0.0, True
        self._contacts: Contacts | None = None  # what was told of this step, once someone had asked
        self._coordinates: dict[str, float] | None = None

    def note(self, times: tuple[float, ...], tolerance: float) -> None:
        """A step ended, whose numbers are in the arrays."""
        self.times, self.parts, self.totals, self._tolerance, self._empty = times, 1, None, tolerance, False
        self._contacts = self._coordinates = None

    def sum_up(self, parts: int, totals: dict[str, float]) -> None:
        """The step that ended was one of several parts."""
        self.parts, self.totals, self._coordinates = parts, totals, None

    def copy(self) -> Memory:
        """The same numbers in other arrays."""
        result = copy.copy(self)
        result.contacts = self.contacts.copy()
        result.arrays = copy.deepcopy(self.arrays)
        return result

    def become(self, other: Memory) -> None:
        """Hold what ``other`` does, in these arrays."""
        self.contacts.become(other.contacts)
        _become(self.arrays, other.arrays)
        self.times, self.parts, self.totals = other.times, other.parts, other.totals
        self._tolerance, self._empty = other._tolerance, other._empty
        self._contacts, self._coordinates = other._contacts, other._coordinates

    def adopt(self, other: Memory, edit: Edit, q: np.ndarray, v: np.ndarray, measured: np.ndarray) -> None:
        """Hold what ``other`` does of what is still there, at the new state q, v; measured: see ``Edit.momentum``."""
        self.contacts.become(other.contacts)
        table, n = self.contacts.table, self.contacts.count
        a, b = edit.owners(table.a[:n]), edit.owners(table.b[:n])
        stay = np.flatnonzero((a != GONE) & (b != GONE))
        table.a[:n], table.b[:n] = a, b
        for numbers in table[1:]:
            numbers[: len(stay)] = numbers[stay]
        table.size[0] = len(stay)
        own = self.arrays
        moved(other.arrays.rows, renumbered_rows(edit), own.rows)
        own.counts[0], own.facts[:] = len(stay), other.arrays.facts
        edit.momentum(other.arrays.momentum, q, v, measured, own.momentum)
        self.times, self.parts, self._tolerance, self._empty = other.times, other.parts, other._tolerance, False

    def forget(self) -> None:
        """Nothing touched, nothing is known."""
        if not self._empty:
            self.contacts.clear()
            a = self.arrays
            a.rows[:], a.counts[:], a.momentum.known[:] = 0.0, 0, 0
            self.times, self.parts, self.totals, self._empty = (), 1, None, True
            self._contacts = self._coordinates = None

    def touching(self) -> Contacts:
        """Contacts with their impulses, the same object until the next step."""
        if self._contacts is None:
            self._contacts = self.contacts.contacts()
        return self._contacts

    def coordinates(self, names: Sequence[str]) -> dict[str, float]:
        """Impulses by row, the same object until the next step."""
        if self._coordinates is None:
            a, totals = self.arrays, self.totals
            own = {names[k]: float(a.rows[k]) for k in a.numbers[: a.counts[2]].tolist()}
            self._coordinates = own if totals is None else totals
        return self._coordinates

    def solution(self) -> Solution:
        """What the solve did."""
        times = {
            stage: end - begin for stage, begin, end in zip(_STAGES, self.times[:-1], self.times[1:], strict=False)
        }
        contacts, rows, _ = self.arrays.counts.tolist()
        if not contacts and not rows:
            return Solution(times=times, substeps=self.parts)
        rows, islands, sweeps, residual, deepest = self.arrays.facts.tolist()
        return Solution(
            contacts=contacts, rows=int(rows), islands=int(islands), iterations=int(sweeps), residual=residual,
            converged=residual <= self._tolerance, penetration=max(0.0, -deepest), substeps=self.parts, times=times,
        )  # fmt: skip

    def wrench(self, index: int, origin: np.ndarray, timestep: float) -> np.ndarray:
        """Mean wrench (6,) of all contacts on a body, over the last part of a step, world axes about ``origin``."""
        table, n, result = self.contacts.table, self.contacts.count, np.zeros(6)
        for side, sign, owners in ((0, 1.0, table.a), (1, -1.0, table.b)):
            own = np.flatnonzero(owners[:n] == index)
            forces = sign * table.impulses[own]
            moments = np.cross(table.points[own, side] - origin, forces) + sign * table.moments[own]
            result[:3] += moments.sum(axis=0)
            result[3:] += forces.sum(axis=0)
        return result * (self.parts / timestep)


def _become(target: tuple[object, ...], source: tuple[object, ...]) -> None:
    for a, b in zip(target, source, strict=True):
        if isinstance(a, np.ndarray):
            a[:] = b
        elif isinstance(a, tuple) and isinstance(b, tuple):
            _become(a, b)
