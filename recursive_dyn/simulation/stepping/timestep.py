"""One timestep: fly, look, solve, settle, tell.

The integrator flies as if nothing touched and no coordinate had limits. Contacts are looked for where that leads, so
that nothing is met too late; where that is too far into something, it is flown anew in parts. The impulses that forbid
it are solved for, and change the velocity there, and move positions by the time for which each would have acted. The
state settles on its constraints and on the momentum that it is owed. What surrounds the simulation is told.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.contact.contact_buffer import NOBODY, ContactBuffer
from recursive_dyn.contact.settings import Settings
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.maximal.acting.whirl import MOST
from recursive_dyn.simulation.flying.flight import DONE, LEAPT, LOST, Flight
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.kept.events import Events
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.kept.sleeping import WOKEN
from recursive_dyn.simulation.loads.joint_loads import JointLoads
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.report import CUT, HURRIED
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.bounced_parts import Flown
from recursive_dyn.simulation.stepping.detection import Detection
from recursive_dyn.simulation.stepping.leaps import LEAPS, MOST_LEAPS
from recursive_dyn.simulation.stepping.led_into import INTO
from recursive_dyn.simulation.stepping.looked_after_blows import looked_after_blows
from recursive_dyn.simulation.stepping.looked_into import looked_into
from recursive_dyn.simulation.stepping.parts_of_flight import FINEST, PartTooLong, TooFar, pieces, too_fast
from recursive_dyn.simulation.stepping.slowed_trees import SHORTER, TOO_LONG
from recursive_dyn.simulation.stepping.step_forces import StepForces
from recursive_dyn.simulation.stepping.struck_into import STRUCK
from recursive_dyn.simulation.stepping.wild_steps import WILD, WildSteps
from recursive_dyn.simulation.surroundings import NOT_KNOWN, Lookout, Surrounded

if TYPE_CHECKING:
    from recursive_dyn.simulation.stepping.step_machine import StepMachine


class Timestep:
    """A timestep of a simulation's state, whole or not at all; attributes as of ``Timesteps``."""

    flight: Flight
    settings: Settings
    events: Events
    memory: Memory
    noted: np.ndarray
    buffer: ContactBuffer
    loads: JointLoads | None
    step_size: float
    _dynamics: Dynamics
    _present: Present | None
    _state: State
    _forces: StepForces
    _detection: Detection
    _arrived: Flown  # where the last flight of what is held together ended
    _within: bool  # in a step, whose frames are its machine's
    _native: bool  # after one taken in one go
    _wild: WildSteps
    _integrator: str

    def at_present(self) -> Present:
        """Where the bodies are at the present state."""
        if self._present is None:
            self._present = Present(self._dynamics)
        if not self._within:
            self._present.update(self._state.q, self._state.v)
        return self._present

    def _timestep(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float) -> None:
        """One timestep, whole or not at all: in one go of machine code, or by hand from where that is not enough."""
        self._forces.begin(self._state, h)
        self._native = False
        try:
            done = False
            while not done:
                stage = self._advance(machine, tau, h)
                done = self._native = stage == machine.ALL
                if not done:
                    with Held():
                        done = self._by_hand(machine, simulation, tau, h, stage)
        except BaseException:
            machine.undo()
            raise
        if self._forces.timed:
            self._forces.end(self._state)
        self.step_size = h

    def _lookout(self, machine: StepMachine) -> Lookout | None:
        """What makes a step one go of machine code, if that is possible."""
        if self._forces.singly or self.memory.contacts.free is not NOBODY:
            return None
        return self._detection.lookout(machine.present, machine.buffer, machine.h, self.settings)

    def _advance(self, machine: StepMachine, tau: np.ndarray, h: float) -> int:
        """As much of a step, or part of one, as machine code takes by itself; the stage that said more than DONE."""
        lookout, calm = self._lookout(machine), self._detection.calm and self.loads is None
        if lookout is not None:
            return machine.advance(lookout, self.events, tau, h, self.settings, calm)
        machine.begin(self._forces.forces(self._state, tau, h), h, self.settings, calm)
        machine.times[machine.FLIGHT] = perf_counter()
        machine.said = machine.fly() if self._forces.parts == 1 else DONE
        return machine.FLIGHT

    def _by_hand(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float, stage: int) -> bool:
        """A timestep, whole or not at all, from a stage on that said why that is not enough; or in parts. As _go_on."""
        state, time, kept, done = self._state, self._state.time, self._detection.kept, True
        try:
            self.step_size, self._within = h, True
            try:
                self._hold_back(machine, simulation, h, stage, True)
                done = self._go_on(machine, simulation, h, stage, True)
            except PartTooLong as shorter:
                machine.undo()
                self._detection.kept = kept
                self._in_parts(machine, simulation, tau, h, shorter.times)
            state.time = time + h if done else time
        except BaseException:
            machine.undo()
            state.time, self._detection.kept = time, kept
            raise
        finally:
            self.step_size, self._within = h, False
        return done

    def _hold_back(self, machine: StepMachine, simulation: Surrounded, h: float, stage: int, room: bool) -> None:
        """PartTooLong where a step, or a part of one, is too long for joints, led beyond limits, or, if there is room
        for more parts, too far into something, of which machine code took what comes before a stage."""
        if self._forces.parts > 1:
            raise PartTooLong(self._forces.parts)
        if stage <= machine.HASTE:
            self._flown(machine, h, stage)
            more = machine.said if stage == machine.HASTE else NOT_KNOWN
            parts = int(machine.arrays.part[1])
            self.noted[HURRIED] += self._detection.hurried(simulation, self.settings, h, more, parts, room)

    def _in_parts(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float, parts: int) -> None:
        """A timestep in so many parts, or more as joints, limits or bounces ask for them, whole or not at all."""
        others = (self._forces, self.loads) if self.loads else (self._forces,)
        start, time, kept = machine.start(self.events, others), self._state.time, self._detection.kept
        start.note()
        try:
            while parts:
                if parts > MOST and self._forces.joints is not None:
                    raise too_fast(self._forces.whirling, h, time)
                try:
                    self._one_by_one(machine, simulation, tau, h, parts)
                    parts = 0
                except PartTooLong as shorter:
                    machine.undo()
                    start.restore()
                    parts, self._state.time, self._detection.kept = parts * shorter.times, time, kept
        except BaseException:
            machine.undo()
            start.restore()
            raise
        finally:
            machine.arrays.part[:] = 0, 1
        self.flight.tally[CUT] += 1

    def _one_by_one(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float, parts: int) -> None:
        """A timestep in so many parts, of which those that lead too far into something are halved. What turns is
        thought near by boxes long before: it leaves room to halve the others down to one of as many as there may be."""
        time, left, step = self._state.time, pieces((0, 1), parts), machine.arrays.part
        with self._detection.together():
            while left:
                k, n = step[:] = left.pop()
                self._state.clock[0] = time + k * h / n
                room = min(parts, n) < self.settings.substeps and n < FINEST
                times = self._part(machine, simulation, tau, h / n, room)
                if times > 1:
                    left += pieces((k, n), times)
                    parts += times - 1
        machine.arrays.kept.parts[0] = parts

    def _part(self, machine: StepMachine, simulation: Surrounded, tau: np.ndarray, h: float, room: bool) -> int:
        """A part of a step: fly, look, solve and settle, tell; 1, or into how many it is to be cut as it leads too far
        into something, of which nothing is done then. room: as ``_hold_back`` has it."""
        self.step_size, self._within, done = h, False, False
        kept = self._detection.kept
        try:
            while not done:
                stage = self._advance(machine, tau, h)
                done = stage == machine.ALL
                if not done:
                    self._hold_back(machine, simulation, h, stage, room)
                    done = self._go_on(machine, simulation, h, stage, room)
        except TooFar as shorter:
            machine.undo()
            self._detection.kept = kept
            return shorter.times
        if self.loads:
            self.loads.note(self.at_present(), self.memory, machine.borne(), h, 1 / machine.arrays.part[1])
        return 1

    def _go_on(self, machine: StepMachine, simulation: Surrounded, h: float, stage: int, room: bool) -> bool:
        """The step, or a part of it, that has flown, from a stage on that said more than DONE. False, and back at its
        start, where it touches what slept: that is awake now. room: as ``_hold_back`` has it."""
        times, said, looked = machine.times, machine.said, machine.said if stage == machine.LOOK else None
        if stage < machine.SOLVE:
            self._within = True
            self._detection.look(simulation, machine.buffer, self.settings, looked)
            machine.bounded(self._detection.bounds)
            times[machine.SOLVE] = perf_counter()
            if self._forces.singly:
                self._arrived = self._at_arrival(machine)
            said = machine.solve(self._forces.held(self._state, machine.buffer, h))
            if self._forces.joints is not None and said in (DONE, WILD) and machine.arrays.counts.any():
                after = self._arrived.v + machine.arrays.impulses.changes.v
                self._forces.keep_momenta(self._arrived.q, after, self._state)
        if stage < machine.KEEPING and said == INTO:
            self._within = True
            given = simulation, self.settings, self._state, self.at_present(), h, room
            said = looked_into(self._dynamics, self._detection, machine, *given)
        if stage < machine.KEEPING and said == STRUCK:
            self._within = True
            blows = simulation, self.settings, self._state, self.at_present()
            said = looked_after_blows(self._detection, machine, *blows)
        if stage < machine.KEEPING and said == TOO_LONG:
            raise PartTooLong(SHORTER)
        if stage < machine.KEEPING and said == WOKEN:
            machine.undo()
            self._within, self._detection.kept = False, None
            return False
        if stage < machine.KEEPING:
            self._solved(machine, said)
            self._detection.tell(simulation, machine.buffer, h)
            times[machine.KEEPING] = perf_counter()
        machine.keep(self.events)
        return True

    def _at_arrival(self, machine: StepMachine) -> Flown:
        """Where a flight ended."""
        state, (h, share), poses = self._state, machine.arrays.settings[:2], machine.arrays.frames.poses
        return Flown(state.q.copy(), state.v.copy(), (share - 0.5) * h, poses.copy(), self._forces.given)

    def _flown(self, machine: StepMachine, h: float, stage: int) -> None:
        """What flew as if nothing touched and no coordinate had limits said more than DONE, if that is the stage.
        PartTooLong where it leapt beyond limits, or to no state where there may be limits before."""
        if stage != machine.FLIGHT:
            return
        machine.times[machine.HASTE] = perf_counter()
        if (code := machine.said) == LEAPT:
            raise PartTooLong(LEAPS)
        strained = code == DONE and self.flight.strained(machine.arrays.start_tally)
        if code != DONE or strained:
            machine.arrays.sources.motors.led[:] = 0.0  # in this way nothing is led, or lent
            machine.arrays.lending.lends[:] = 0
            state, start = self._state, machine.arrays
            self.flight.tally[:] = start.start_tally
            if strained:
                state.q[:], state.v[:] = start.start_q, start.start_v
            if code == LOST and np.isfinite(state.q).all() and np.isfinite(state.v).all():
                machine.explain()
            try:  # which tells, or is careful
                self.flight.advance(state.q, state.v, machine.tau, h, 1, state.time, limits=False)
            except StateError:
                if self.flight.limited and start.part[1] < MOST_LEAPS:
                    raise PartTooLong(LEAPS) from None
                raise
            if machine.present is not None:
                machine.present.update(state.q, state.v)

    def _solved(self, machine: StepMachine, code: int) -> None:
        """What solved for the impulses that forbid what contacts, limits, motors, friction and constraints forbid, and
        settled, said this. The state is brought onto its constraints."""
        if code == WILD and not (self._forces.joints is not None and self._forces.motors):
            borne = machine.borne()
            self._wild.weigh(machine.arrays, machine.buffer, self.flight, borne, self._state.time, self._integrator)
        elif code not in (DONE, WILD):
            lost = np.flatnonzero(~np.isfinite(self._state.v))
            if not len(lost):
                machine.explain()
            where = f" at {self._dynamics.label('v', int(lost[0]))}" if len(lost) else ""
            raise StateError(
                f"simulation at t = {self._state.time:.6g} s: contacts led to a state that is not finite{where}; use a"
                " smaller timestep, and give bodies inertia in all ways that they move. The last good state is kept"
            )
        self._within = False
        if self._forces.lands:
            state, it = self._state, machine.arrays
            again = partial(self.flight.retaken, it.start_q, it.start_v, machine.tau, machine.h[0])
            state.q[:], state.v[:] = self._forces.landed(
                state.q, state.v, state.time, None if it.counts.any() else again
            )
            if it.counts[0] and it.impulses.changes.strikes[0] and self._forces.bounced is not None:
                changed, felt = it.impulses.changes, it.kept.felt if it.part[1] > 1 else None
                landed = state.q, state.v
                state.v[:] = self._forces.bounced.kept(self.buffer.table, changed, self._arrived, landed, felt)
