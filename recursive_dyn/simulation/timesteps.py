"""One timestep: fly, look, solve, settle, tell.

The integrator flies as if nothing touched and no coordinate had limits. Contacts are looked for where that leads, so
that nothing is met too late; the impulses that forbid it are solved for, and change the velocity there, and move
positions by the time for which each would have acted. The state settles on its constraints and on the momentum that it
is owed. What surrounds the simulation is told.

Where nothing can be touched, and until a step would end beyond a limit, many steps are flown at once, in machine code.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.codegen.progress import waiting
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.settings import Settings, Solution
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import settled
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.model.limits import rubbing
from recursive_dyn.simulation.coordinate_rows import row_names
from recursive_dyn.simulation.events import Events
from recursive_dyn.simulation.flight import DONE, LOST, Flight
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.memory import Memory
from recursive_dyn.simulation.motors import Motors
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.surroundings import DirectSurroundings, PlainDetector, Surrounded, Surroundings

if TYPE_CHECKING:
    from recursive_dyn.simulation.step_machine import StepMachine

_NONE = Contacts.none()


class Timesteps:
    """The timesteps of one simulation's state.

    surroundings: what may be touched; settings, motors: as set by the user; memory: what the last step left; step_size:
    length of the step, or part of one, that is being taken, s.
    """

    def __init__(self, dynamics: Dynamics, integrator: str, state: State) -> None:
        self._dynamics, self._integrator, self._state = dynamics, integrator, state
        self._flight = Flight(dynamics, integrator)
        self.position_share = registry.find(integrator).share
        self._rubbing = len(rubbing(dynamics.model).slots) > 0
        self._constrained = bool(dynamics.model.constraints)
        self._machine: StepMachine | None = None
        self._present: Present | None = None
        self._within = False  # a step, whose frames are those of its machine
        self._looked = Contacts.none()  # what surroundings that find Contacts found last
        self._kept: Contacts | None = None  # contacts found earlier in this call, for detection once a frame
        self._surroundings: Surroundings | None = None
        self._direct: DirectSurroundings | None = None
        self.settings, self.motors = Settings(), Motors(dynamics.model)
        self.events, self.memory = Events(dynamics.bodies), Memory(dynamics)
        self.step_size = 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Of a copy or a pickle: surroundings are of this process, unless they are a plain function."""
        travelling = self._surroundings if isinstance(self._surroundings, PlainDetector) else None
        own = {"_surroundings": travelling, "_direct": None, "_machine": None, "_present": None, "_within": False}
        return self.__dict__ | own

    @property
    def surroundings(self) -> Surroundings | None:
        """What may be touched."""
        return self._surroundings

    @surroundings.setter
    def surroundings(self, surroundings: Surroundings | None) -> None:
        self._surroundings = surroundings
        self._direct = surroundings if isinstance(surroundings, DirectSurroundings) else None

    def at_present(self) -> Present:
        """Where the bodies are at the present state."""
        if self._present is None:
            self._present = Present(self._dynamics)
        if not self._within:
            self._present.update(self._state.q, self._state.v)
        return self._present

    def begin(self) -> None:
        """A call of ``step`` or ``advance`` starts: contacts are detected anew, events counted anew."""
        self._kept = None
        self.events.begin()

    def recall(self, memory: Memory, touching: Sequence[tuple[str, str]]) -> None:
        """Go on from a memory, as with another state, in which these pairs of bodies touch."""
        self.memory.become(memory)
        self.events.recall(touching)
        self._kept = None

    def solution(self) -> Solution:
        """What the solve of the last step did."""
        return self.memory.solution()

    def coordinates(self) -> dict[str, float]:
        """Impulses of the last step by row."""
        return self.memory.coordinates(row_names(self._dynamics.model))

    def forget(self, simulation: Surrounded) -> None:
        """Let the surroundings remember nothing, as a snapshot does not hold it."""
        if self.surroundings is not None:
            self.surroundings.forget(simulation)

    def run(self, simulation: Surrounded, tau: np.ndarray, h: float, count: int) -> None:
        """``count`` timesteps of length h; where one fails the state is that of the last one that did not."""
        while count:
            free = self._surroundings is None and not self.motors and not self._rubbing
            if free:
                count -= self._fly_on(tau, h, count)
            if count:
                machine = self.ready()  # what is compiled takes its time, in which Ctrl-C ends it
                with Held() as held:
                    for _ in range(1 if free else count):
                        held.serve()
                        self._timestep(machine, simulation, tau, h)
                        count -= 1

    def ready(self) -> StepMachine:
        """The machine code of a timestep among these surroundings."""
        machine = self._machine
        if machine is None or (machine.present is None) is not (self._surroundings is None):
            from recursive_dyn.simulation.step_machine import StepMachine  # brings the solver of impulses

            present = None if self._surroundings is None else self.at_present()
            machine = self._machine = StepMachine(
                self._dynamics, self._integrator, self._flight, self._state, self.motors, self.memory, present
            )
        return machine

    def warm_up(self) -> None:
        """Have all that timesteps need."""
        with waiting("preparing the steps of a simulation"):
            self.ready().warm_up(self.events)
            if self._constrained:
                self._dynamics.kernel("project")

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
            self.memory.forget()
        return done

    def _timestep(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float) -> None:
        """One timestep in as many parts as fast bodies need, whole or not at all."""
        time, kept, parts = self._state.time, self._kept, self._parts(simulation, h)
        try:
            if parts == 1:
                self._part(machine, simulation, tau, h)
            else:
                self._in_parts(machine, simulation, tau, h, parts)
            self._state.time = time + h
        except BaseException:
            machine.undo()
            self._state.time, self._kept = time, kept
            raise
        finally:
            self.step_size, self._within = h, False

    def _in_parts(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float, parts: int) -> None:
        """A timestep in several parts, whole or not at all."""
        state, whole = self._state, machine.arrays.whole
        q, v, memory = state.q.copy(), state.v.copy(), self.memory.copy()
        totals, touched = dict[str, float](), []
        whole[0] = 0
        try:
            with self._together():
                for _ in range(parts):
                    self._part(machine, simulation, tau, h / parts)
                    touched.append(self.memory.contacts.copy())
                    for name, impulse in self.coordinates().items():
                        totals[name] = totals.get(name, 0.0) + impulse
        except BaseException:
            machine.flown = False
            state.q[:], state.v[:] = q, v
            self.memory.become(memory)
            raise
        finally:
            whole[0] = 1
        self.memory.sum_up(parts, totals)
        for contacts in touched:
            self.events.note(contacts)

    def _part(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float) -> None:
        """The step, or a part of it: fly, look, solve and settle, tell."""
        self.step_size = h
        machine.begin(tau, h, self.settings)
        start = perf_counter()
        self._fly(machine, tau, h)
        flown = perf_counter()
        self._look(machine, simulation)
        looked = perf_counter()
        self._solve_and_settle(machine)
        self._tell(machine, simulation, h)
        self.memory.note((start, flown, looked, perf_counter()), self.settings.tolerance)

    def _fly(self, machine: StepMachine, tau: np.ndarray, h: float) -> None:
        """Move on as if nothing touched and no coordinate had limits."""
        code = machine.fly()
        if code != DONE:
            state = self._state
            if code == LOST and np.isfinite(state.q).all() and np.isfinite(state.v).all():
                machine.explain()
            self._flight.advance(state.q, state.v, tau, h, 1, state.time, limits=False)  # says why, or takes more care
            if machine.present is not None:
                machine.present.update(state.q, state.v)
        self._within = True

    def _look(self, machine: StepMachine, simulation: Surrounded) -> None:
        """Contacts where that led: found anew, or those kept, moved along with their bodies."""
        buffer, once = machine.buffer, self.settings.detect == "frame"
        if self._surroundings is None:
            buffer.clear()
        elif once and self._kept is not None and not len(self._kept.free):
            self._looked = self._kept = self._kept.moved(self.at_present().poses)
            buffer.fill(self._kept)
        elif self._direct is not None:
            buffer.clear()
            self._direct.detect_into(simulation, buffer)
            self._kept = buffer.contacts().located(self.at_present().poses) if once else None
        else:
            contacts = self._surroundings.detect(simulation)
            if not isinstance(contacts, Contacts):
                raise StateError(f"a simulation's detect returns Contacts, not {type(contacts).__name__}")
            if not contacts.trusted:
                contacts.check(len(self._dynamics.bodies))
            self._looked = contacts
            self._kept = contacts.located(self.at_present().poses) if once else None
            buffer.fill(contacts)

    def _solve_and_settle(self, machine: StepMachine) -> None:
        """The impulses that forbid what contacts, limits, motors, friction and constraints forbid, and what they do.

        The state is brought onto its constraints, or to the momentum that it is owed.
        """
        if machine.solve() != DONE:
            machine.explain()
            raise StateError(
                f"simulation at t = {self._state.time:.6g} s: contacts led to a state that is not finite; use a smaller"
                " timestep. The last good state is kept"
            )
        self._within = False
        if self._constrained:
            state = self._state
            state.q[:], state.v[:] = self._landed(state.q, state.v)

    def _landed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state brought onto the constraints."""
        try:
            return settled(self._dynamics, q, v)
        except StateError as error:
            raise StateError(f"simulation at t = {self._state.time:.6g} s: {error}") from None

    def _tell(self, machine: StepMachine, simulation: Surrounded, h: float) -> None:
        """Let the surroundings move what is theirs, and the next step start from what this one found."""
        buffer = machine.buffer
        if self._direct is not None:
            contacts = buffer.contacts() if len(buffer.free) else _NONE
            self._direct.advance(simulation, contacts, h)
        elif self._surroundings is not None:
            table, n = buffer.table, buffer.count
            self._looked.impulse[:], self._looked.moment[:] = table.impulses[:n], table.moments[:n]
            self._looked.distance[:] = table.gaps[:n]
            self._surroundings.advance(simulation, self._looked, h)
        machine.keep(self.events)

    def _parts(self, simulation: Surrounded, h: float) -> int:
        if self._surroundings is None or self.settings.substeps == 1:
            return 1
        return min(max(1, self._surroundings.substeps(simulation, h)), self.settings.substeps)

    def _together(self) -> AbstractContextManager[None]:
        return nullcontext() if self._surroundings is None else self._surroundings.atomic()
