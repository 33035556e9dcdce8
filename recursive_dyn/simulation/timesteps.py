"""One timestep: fly, look, solve, settle, tell.

The integrator flies as if nothing touched and no coordinate had limits. Contacts are looked for where that leads, so
that nothing is met too late; the impulses that forbid it are solved for, and change the velocity there, and move
positions by the time for which each would have acted. The state settles on its constraints and on the momentum that it
is owed. What surrounds the simulation is told.

Where nothing can be touched, and until a step would end beyond a limit, many steps are flown at once, in machine code.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.problem import ImpulseResult, earlier_contacts
from recursive_dyn.contact.settings import Settings
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import settled
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.simulation.coordinate_rows import CoordinateRows
from recursive_dyn.simulation.events import Events
from recursive_dyn.simulation.flight import Flight
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.motors import Motors
from recursive_dyn.simulation.outcome import (
    NO_CONTACTS,
    NOTHING_FOUND,
    NOTHING_KEPT,
    Found,
    Memory,
    solution,
    whole_step,
)
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.surroundings import DirectSurroundings, PlainDetector, Surrounded, Surroundings

if TYPE_CHECKING:
    from recursive_dyn.simulation.impulses import Impulses
    from recursive_dyn.simulation.momentum import Momentum, Pushes

_NOTHING, _NOWHERE = np.zeros((0, 6)), np.zeros((0, 4, 4))


@dataclass(frozen=True, eq=False)
class _Start:
    """What is known at a step's start: velocity (nv,), the bodies' twists (nb, 6), and the momenta."""

    v: np.ndarray
    twists: np.ndarray
    momentum: Momentum | None


@dataclass(frozen=True, eq=False)
class _Solved:
    """What a solve found: its result, None if there was nothing to solve, impulses by row, and what contacts push."""

    result: ImpulseResult | None = None
    coordinates: dict[str, float] = field(default_factory=dict)
    pushes: Pushes | None = None


class Timesteps:
    """The timesteps of one simulation's state.

    surroundings: what may be touched; settings, motors: as set by the user; memory, found: of the last step; step_size:
    length of the step, or part of one, that is being taken, s.
    """

    def __init__(self, dynamics: Dynamics, integrator: str, state: State) -> None:
        self._dynamics, self._state = dynamics, state
        self._flight, rule = Flight(dynamics, integrator), registry.find(integrator)
        self.position_share, self._implicit_share = rule.share, rule.implicit
        self._rows = CoordinateRows(dynamics.model)
        self._constrained = bool(dynamics.model.constraints)
        self._impulses: Impulses | None = None
        self._prepared = False
        self._kept: Contacts | None = None  # contacts found earlier in this call, for detection once a frame
        self._present, self._buffer = Present(dynamics), ContactBuffer()
        self.surroundings: Surroundings | None = None
        self.settings, self.motors = Settings(), Motors(dynamics.model)
        self.events, self.memory, self.found = Events(), NOTHING_KEPT, NOTHING_FOUND
        self.step_size = 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Of a copy or a pickle: surroundings are of this process, unless they are a plain function."""
        travelling = self.surroundings if isinstance(self.surroundings, PlainDetector) else None
        return self.__dict__ | {
            "surroundings": travelling,
            "_impulses": None,
            "_buffer": ContactBuffer(),
            "_prepared": False,
        }

    def at_present(self) -> Present:
        """Where the bodies are at the present state."""
        self._present.update(self._state.q, self._state.v)
        return self._present

    def begin(self) -> None:
        """A call of ``step`` or ``advance`` starts: contacts are detected anew, events counted anew."""
        self._kept = None
        self.events.begin()

    def recall(self, memory: Memory) -> None:
        """Go on from a memory, as with another state."""
        self.memory, self._kept = memory, None

    def run(self, simulation: Surrounded, tau: np.ndarray, h: float, count: int) -> None:
        """``count`` timesteps of length h; where one fails the state is that of the last one that did not."""
        while count:
            if self.surroundings is None and not self.motors and not self._rows.has_friction:
                count -= self._fly_on(tau, h, count)
            if count:
                self._timestep(simulation, tau, h)
                count -= 1

    def _fly_on(self, tau: np.ndarray, h: float, count: int) -> int:
        """Up to ``count`` timesteps that touch nothing and end within the limits; their number."""
        state, start, done, stopped = self._state, self._state.time, 0, False
        constrained = self._constrained
        while done < count and not stopped:
            q, v = (state.q.copy(), state.v.copy()) if constrained else (state.q, state.v)
            most = 1 if constrained else count - done
            flown, stopped = self._flight.advance(q, v, tau, h, most, state.time, limits=True)
            if constrained and flown:
                q, v = self._landed(q, v)
                state.q[:] = q
                state.v[:] = v
            # state and time are written with no call in between: Python serves interrupts at calls, and finds both
            done += flown
            state.time = start + done * h
        if done:
            self.memory, self.found = NOTHING_KEPT, NOTHING_FOUND
        return done

    def _timestep(self, simulation: Surrounded, tau: np.ndarray, h: float) -> None:
        """One timestep in as many parts as fast bodies need, whole or not at all."""
        state = self._state
        before = state.q.copy(), state.v.copy(), state.time, self.memory, self._kept
        # what is compiled in the first step takes its time, in which Ctrl-C ends it
        with Held() if self._prepared else nullcontext():
            try:
                parts = self._parts(simulation, h)
                with self._together(parts):
                    taken = [self._part(simulation, tau, h / parts) for _ in range(parts)]
                state.time += h
            except BaseException:
                state.q[:], state.v[:], state.time, self.memory, self._kept = before
                raise
            finally:
                self.step_size = h
            self.found = whole_step(taken)
            for part in taken:
                self.events.note(part.contacts, self._dynamics.bodies)
            self._prepared = True

    def _part(self, simulation: Surrounded, tau: np.ndarray, h: float) -> Found:
        """The step, or a part of it: fly, look, solve, settle, tell."""
        self.step_size = h
        start = self._start(simulation)
        clock = [perf_counter()]
        self._fly(tau, h)
        clock.append(perf_counter())
        contacts = self._look(simulation)
        clock.append(perf_counter())
        solved = self._solve(simulation, start, contacts, h)
        momentum = self._settle(start, solved, tau, h)
        self._tell(simulation, contacts, solved, momentum, h)
        clock.append(perf_counter())
        return Found(contacts, solved.coordinates, solution(solved.result, self.settings, clock))

    def _start(self, simulation: Surrounded) -> _Start:
        state, momenta = self._state, self._solver.momenta
        momentum = momenta.at(self._dynamics, state.q, state.v, self.memory.momentum) if momenta else None
        twists = _NOTHING
        if self.surroundings is not None:
            self._present.begin(state.q, state.v)
            twists = self._present.start_twists
        return _Start(state.v.copy(), twists, momentum)

    def _fly(self, tau: np.ndarray, h: float) -> None:
        """Move on as if nothing touched and no coordinate had limits."""
        state = self._state
        self._flight.advance(state.q, state.v, tau, h, 1, state.time, limits=False)

    def _look(self, simulation: Surrounded) -> Contacts:
        """Contacts where that led: found anew, or those kept, moved along with their bodies."""
        if self.surroundings is None:
            return Contacts.none()
        if self._kept is not None and self.settings.detect == "frame" and not len(self._kept.free):
            contacts = self._kept.moved(self.at_present().poses)
        else:
            contacts = self._detected(simulation, self.surroundings)
            if not isinstance(contacts, Contacts):
                raise StateError(f"a simulation's detect returns Contacts, not {type(contacts).__name__}")
            if not contacts.trusted:
                contacts.check(len(self._dynamics.bodies))
            if self.settings.detect == "frame":
                contacts.located(self.at_present().poses)
        self._kept = contacts
        return contacts

    def _detected(self, simulation: Surrounded, surroundings: Surroundings) -> Contacts:
        if not isinstance(surroundings, DirectSurroundings):
            return surroundings.detect(simulation)
        self._buffer.clear()
        surroundings.detect_into(simulation, self._buffer)
        return self._buffer.contacts()

    def _solve(self, simulation: Surrounded, start: _Start, contacts: Contacts, h: float) -> _Solved:
        """The impulses that forbid what contacts, limits, motors, friction and constraints forbid, and what they do."""
        state, dynamics, memory, solver = self._state, self._dynamics, self.memory, self._solver
        names, rows = self._rows.active(dynamics, state.q, state.v, self.motors.arrays(), h, memory.coordinates)
        needed = len(contacts) > 0 or len(names) > len(dynamics.model.constraints)
        if not needed and self._prepared:
            return _Solved()
        poses = self.at_present().poses if self.surroundings is not None else _NOWHERE
        result = solver.solve(state, start.v, contacts, (poses, start.twists), rows, memory.contacts, self.settings, h)
        if not needed:  # it was solved to be compiled
            return _Solved()
        pushes = solver.pushes(state, contacts) if solver.momenta else None
        solver.move(state, contacts, result)
        return _Solved(result, dict(zip(names, result.changes.row_impulses.tolist(), strict=True)), pushes)

    def _settle(self, start: _Start, solved: _Solved, tau: np.ndarray, h: float) -> Momentum | None:
        """Bring the state onto its constraints, or to the momentum that it is owed, which is carried on."""
        state = self._state
        momentum = None
        if start.momentum is not None:
            momentum = self._solver.momenta.settle(
                self._dynamics, state.q, state.v, tau, h, start.momentum, solved.pushes
            )
        if not (np.isfinite(state.q).all() and np.isfinite(state.v).all()):
            raise StateError(
                f"simulation at t = {state.time:.6g} s: contacts led to a state that is not finite; use a smaller"
                " timestep. The last good state is kept"
            )
        self._land()
        return momentum

    def _land(self) -> None:
        """Bring the state onto the constraints."""
        if self._constrained:
            state = self._state
            state.q[:], state.v[:] = self._landed(state.q, state.v)

    def _landed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            return settled(self._dynamics, q, v)
        except StateError as error:
            raise StateError(f"simulation at t = {self._state.time:.6g} s: {error}") from None

    def _tell(
        self, simulation: Surrounded, contacts: Contacts, solved: _Solved, momentum: Momentum | None, h: float
    ) -> None:
        """Let the surroundings move what is theirs, and the next step start from what this one found."""
        if self.surroundings is not None:
            self.surroundings.advance(simulation, contacts, h)
        earlier = NO_CONTACTS if solved.result is None else earlier_contacts(self._solver.buffer.table)
        self.memory = Memory(earlier, solved.coordinates, momentum)

    @property
    def _solver(self) -> Impulses:
        """The impulse solver, imported and compiled when first needed."""
        if self._impulses is None:
            from recursive_dyn.simulation.impulses import Impulses  # brings numba

            self._impulses = Impulses(self._dynamics, self.position_share, self._implicit_share)
            self._impulses.prepare()
        return self._impulses

    def _parts(self, simulation: Surrounded, h: float) -> int:
        if self.surroundings is None or self.settings.substeps == 1:
            return 1
        return min(max(1, self.surroundings.substeps(simulation, h)), self.settings.substeps)

    def _together(self, parts: int) -> AbstractContextManager[None]:
        return nullcontext() if self.surroundings is None or parts == 1 else self.surroundings.atomic()
