"""What a timestep leaves behind: numbers that the next one starts from, and that are told when someone asks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.settings import Solution
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.compiled_loop import leading
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.edits.edit import GONE, Edit, moved
from recursive_dyn.simulation.flying.applied_forces import Acted
from recursive_dyn.simulation.joint_laws.coordinate_rows import renumbered_rows, row_count
from recursive_dyn.simulation.kept.momentum import Momentum, carry, no_momentum
from recursive_dyn.simulation.kept.sleeping import Slept, slept
from recursive_dyn.simulation.state import State

_STAGES = ("flight", "detection", "solve")


class KeptArrays(NamedTuple):
    """rows: impulses of the rows on coordinates by number, see ``row_names``, 0 where there is none; cut (1,): into how
    many parts the step was cut of whose last one they are, after a snapshot too. counts (3,): how
    many contacts and rows were solved for, and how many rows there were, motors that needed no solve with them; facts
    (5,): as in ImpulseFacts; tolerance (1,): of the solve, m/s; momentum: that is carried. times (4,), s: when its
    flight, its detection and its solve began, and when that ended. parts (1,): how many the step was cut into, of which
    all this is the last; totals: impulses by number over all parts, told (1,): of how many rows, numbers: of those, in
    order. steps (1,): counts up. joints: in maximal coordinates, joint coordinates where they were found last, which
    the next step starts from, not finite where nobody looked. pressed (nv,): for how many steps trees count as
    pressed, by coordinate; acted, steady (nv,): as in Changes; borne (nv,): forces of motors that may act in the next
    flight (``borne_loads``), N or N m; pressing (nv,): what contacts of the last step, or part of one, did to
    coordinates where there are motors, N s or N m s; rates: what leads a flight on (``compiled_loop.leading``), when a
    snapshot was taken; slept: who sleeps. felt (nb, 6): of a step that was cut, [moment; force] about the bodies'
    origins that contacts gave in all parts, N m s and N s, but those of what sleeps.
    """

    rows: Floats
    cut: Integers
    totals: Floats
    counts: Integers
    told: Integers
    numbers: Integers
    facts: Floats
    tolerance: Floats
    momentum: Momentum
    times: Floats
    parts: Integers
    steps: Integers
    joints: Floats
    pressed: Floats
    acted: Floats
    steady: Floats
    borne: Floats
    pressing: Floats
    rates: Floats
    slept: Slept
    felt: Annotated[np.ndarray, float, 6]


@dataclass
class _Told:
    """What was told of a step, which it is by number, once someone had asked."""

    step: int
    coordinates: dict[str, float] | None = None
    contacts: Contacts | None = None


class Memory:
    """The last step's end. ``contacts``: with their impulses; ``ended``: those that were over before the step's last
    part, of bodies of another world by the contacts' names; ``arrays``: the rest; all stay where they are.

    Machine code writes them, and nothing else happens when a step ends: what was told of an earlier one is told anew
    once steps were counted since. acted: what the user had act, where a sensor is.
    """

    def __init__(self, dynamics: Dynamics, before: Memory | None = None) -> None:
        count = row_count(dynamics.model)
        self.contacts: ContactBuffer = ContactBuffer() if before is None else before.contacts
        self.ended: ContactBuffer = ContactBuffer() if before is None else before.ended
        self.arrays = KeptArrays(
            np.zeros(count), np.ones(1, dtype=np.int64), np.zeros(count), np.zeros(3, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.zeros(count, dtype=np.int64), np.zeros(6), np.zeros(1), no_momentum(dynamics), np.zeros(4),
            np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64),
            np.full(dynamics.jointed.nq if isinstance(dynamics, MaximalDynamics) else 0, np.nan),
            np.zeros(dynamics.nv), np.zeros(dynamics.nv), np.zeros(dynamics.nv), np.zeros(dynamics.nv),
            np.zeros(dynamics.nv),
            np.zeros(leading(dynamics.nv)),
            slept(dynamics.nq, dynamics.nv, len(dynamics.parameters.values_array)), np.zeros((dynamics.model.nb, 6)),
        )  # fmt: skip
        self.acted: Acted | None = None
        self._empty = 0  # how many steps there were when all was forgotten
        self._last = _Told(0)

    def copy(self) -> Memory:
        """The same numbers in other arrays."""
        result = copy.copy(self)
        result.contacts, result.ended = self.contacts.copy(), self.ended.copy()
        result.arrays = copy.deepcopy(self.arrays)
        return result

    def become(self, other: Memory) -> None:
        """Hold what ``other`` does, in these arrays."""
        self.contacts.become(other.contacts)
        self.ended.become(other.ended)
        _become(self.arrays, other.arrays)
        self.tell_as(other)

    def make_room(self, contacts: int) -> None:
        """Room for so many contacts, which come from a snapshot; acted: not known."""
        self.contacts.clear()
        self.ended.clear()
        self.contacts.grow(contacts)
        self.acted = None

    @property
    def version(self) -> tuple[int, int]:
        """Counts up when the tables of contacts are others."""
        return self.contacts.version, self.ended.version

    def grow(self, more: int) -> None:
        """Make room for so many more contacts, and for all there are to end."""
        self.ended.grow(self.ended.count + self.contacts.count)
        self.contacts.grow(self.contacts.count + more)

    def rename(self, keys: Callable[[np.ndarray], np.ndarray]) -> None:
        """Pairs of surfaces have other keys."""
        self.contacts.rename(keys)
        self.ended.rename(keys)

    def take_free(self, buffer: ContactBuffer, bodies: int, goes_on: bool) -> None:
        """Bodies of another world are a buffer's, after so many of the simulation's own; where a step goes on, those of
        contacts before come last."""
        kept, names = self.contacts, list(buffer.free_names)
        if goes_on and len(kept.free_names):
            names += [name for name in kept.free_names if name not in names]
            places = bodies + np.array([names.index(name) for name in kept.free_names])
            for contacts in (kept, self.ended):
                for side in (contacts.table.a[: contacts.count], contacts.table.b[: contacts.count]):
                    free = side >= bodies
                    side[free] = places[side[free] - bodies]
        kept.free, kept.free_names = buffer.free, names

    def tell_nothing(self) -> None:
        """Of the contacts that there are it is not known whose they were."""
        self._last = _Told(self._steps, contacts=Contacts.none())

    def tell_as(self, other: Memory) -> None:
        """Tell what ``other`` does, whose numbers the arrays hold."""
        self.contacts.free, self.contacts.free_names = other.contacts.free, other.contacts.free_names
        self._empty, self._last, self.acted = other._empty, other._last, other.acted

    def adopt(self, other: Memory, edit: Edit, was: State, state: State, measured: np.ndarray | None) -> None:
        """Hold what ``other`` did of what is still there, in a new state; was, measured: see ``momentum.carry``.

        Both have the same contacts.
        """
        for contacts in (self.contacts, self.ended):
            _go_on(contacts, edit)
        own = self.arrays
        rows = renumbered_rows(edit)
        if rows is edit.slots:
            edit.of_slots(other.arrays.rows, own.rows)
        else:
            moved(other.arrays.rows, rows, own.rows)
        own.counts[0], own.facts[:] = self.contacts.count, other.arrays.facts
        own.tolerance[:], own.times[:], own.parts[:] = other.arrays.tolerance, other.arrays.times, other.arrays.parts
        own.steps[0], own.cut[:] = 1, other.arrays.cut
        edit.of_slots(other.arrays.pressed, own.pressed)
        edit.of_slots(other.arrays.acted, own.acted)
        edit.of_slots(other.arrays.steady, own.steady)
        edit.of_slots(other.arrays.borne, own.borne)
        edit.of_slots(other.arrays.pressing, own.pressing)
        edit.of_bodies(other.arrays.felt, own.felt)
        carry(other.arrays.momentum, edit, was, state, measured, own.momentum)

    def forget(self) -> None:
        """Nothing touched, nothing is known."""
        if self._empty != self._steps:
            self.contacts.clear()
            self.ended.clear()
            a = self.arrays
            a.rows[:], a.counts[:], a.told[:], a.momentum.known[:], a.parts[:], a.cut[:] = 0.0, 0, 0, 0, 1, 1
            a.pressed[:], a.acted[:], a.steady[:], a.borne[:], a.pressing[:] = 0, 0, 0, 0, 0
            a.slept.rested[:], a.slept.contacts[:] = 0.0, 0
            a.steps[0] += 1
            self._empty = self._steps

    @property
    def pushed(self) -> bool:
        """Whether contacts, or whoever is known to have pushed, may have pushed bodies in the last step."""
        return self.acted is not None and bool(self.acted.forces or self.contacts.count or self.arrays.parts[0] > 1)

    @property
    def _steps(self) -> int:
        return int(self.arrays.steps[0])

    @property
    def _told(self) -> _Told:
        """What is told of the last step."""
        if self._last.step != self._steps:
            self._last = _Told(self._steps)
        return self._last

    def touching(self) -> Contacts:
        """Contacts with their impulses, the same object until the next step."""
        told = self._told
        if told.contacts is None:
            every = self._all()
            told.contacts = every.contacts()
            told.contacts.impulse[:] = every.table.felt[: every.count]
        return told.contacts

    def _all(self) -> ContactBuffer:
        """Contacts of the last step, those that ended in it last."""
        if not self.ended.count:
            return self.contacts
        result = self.contacts.copy()
        result.add(self.ended, slice(self.ended.count), self.ended.count)
        return result

    def coordinates(self, names: Sequence[str]) -> dict[str, float]:
        """Impulses by row, the same object until the next step."""
        told, a = self._told, self.arrays
        if told.coordinates is None:
            told.coordinates = {names[k]: float(a.totals[k]) for k in a.numbers[: a.told[0]].tolist()}
        return told.coordinates

    def solution(self) -> Solution:
        """What the solve did."""
        a, parts, times = self.arrays, int(self.arrays.parts[0]), dict[str, float]()
        if self._empty != self._steps:
            times = dict(zip(_STAGES, np.diff(a.times).tolist(), strict=True))
        (contacts, rows, _), asleep = a.counts.tolist(), int(a.slept.contacts[0])
        if not contacts and not rows:
            return Solution(times=times, substeps=parts, asleep=asleep)
        rows, islands, sweeps, residual, deepest, _ = a.facts.tolist()
        return Solution(
            contacts=contacts, rows=int(rows), islands=int(islands), iterations=int(sweeps), residual=residual,
            converged=bool(residual <= a.tolerance[0]), penetration=max(0.0, -deepest), substeps=parts, times=times,
            asleep=asleep,
        )  # fmt: skip

    def wrenches(self, origins: np.ndarray, timestep: float) -> np.ndarray:
        """Mean wrenches (nb, 6) of all contacts on bodies over a step, world axes about ``origins`` (nb, 3) of theirs,
        those included that parted within it."""
        table, n, result = self.contacts.table, self.contacts.count, np.zeros((len(origins), 6))
        if self.arrays.parts[0] > 1:
            result[:] = self.arrays.felt
            n = int(self.arrays.slept.contacts[0])  # the first ones, which carry what they do in a whole step
        for side, sign, owners in ((0, 1.0, table.a[:n]), (1, -1.0, table.b[:n])):
            own = np.flatnonzero((owners >= 0) & (owners < len(origins)))
            bodies, forces = owners[own], sign * table.felt[own]
            moments = np.cross(table.points[own, side] - origins[bodies], forces) + sign * table.moments[own]
            np.add.at(result, bodies, np.concatenate([moments, forces], axis=1))
        return result * (1.0 / timestep)


def _go_on(contacts: ContactBuffer, edit: Edit) -> None:
    """Contacts are those of bodies that are still there."""
    table, n = contacts.table, contacts.count
    a, b = edit.owners(np.concatenate([table.a[:n], table.b[:n]])).reshape(2, n)
    stay = ((a != GONE) & (b != GONE)).nonzero()[0]
    table.a[:n], table.b[:n] = a, b
    for numbers in table[1:] if len(stay) < n else ():
        numbers[: len(stay)] = numbers[stay]
    table.size[0] = len(stay)


def _become(target: tuple[object, ...], source: tuple[object, ...]) -> None:
    for a, b in zip(target, source, strict=True):
        if isinstance(a, np.ndarray):
            a[:] = b
        elif isinstance(a, tuple) and isinstance(b, tuple):
            _become(a, b)
