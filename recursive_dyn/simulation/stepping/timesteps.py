"""The timesteps of a simulation, each as ``timestep`` takes it.

Where nothing can be touched, and until a step would end beyond a limit, many steps are flown at once, in machine code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.codegen.making.progress import waiting
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.settings import Settings, Solution
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.model.limits import rubbing
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.flying.passing import flight_of
from recursive_dyn.simulation.joint_laws.coordinate_rows import row_names
from recursive_dyn.simulation.kept.events import Events
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.loads.joint_loads import JointLoads, breakable
from recursive_dyn.simulation.loads.kicks import Kick
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.report import Closed, Landings, Report, damping_spring, keep_name, told
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping import looked_after_blows
from recursive_dyn.simulation.stepping.detection import Detection
from recursive_dyn.simulation.stepping.led_beyond import why_not_led
from recursive_dyn.simulation.stepping.refused import Before
from recursive_dyn.simulation.stepping.sampled_motion import Motions
from recursive_dyn.simulation.stepping.step_forces import StepForces
from recursive_dyn.simulation.stepping.timestep import Timestep
from recursive_dyn.simulation.stepping.tried_step import TriedStep
from recursive_dyn.simulation.stepping.untouched import untouched_steps
from recursive_dyn.simulation.stepping.wild_steps import WildSteps
from recursive_dyn.simulation.surroundings import Surrounded, Surroundings

if TYPE_CHECKING:
    from recursive_dyn.simulation.flying.chart_switching import Charts
    from recursive_dyn.simulation.stepping.step_machine import StepMachine


_NONE = Closed()


class Timesteps(Timestep):
    """The timesteps of one simulation's state; before: those whose events and contacts they take over; closed: what
    joints did before they begin.

    flight: of the integrator; surroundings: what may be touched; settings, motors: as set by the user; memory, noted:
    what steps left, and note for ``report``; buffer: what this one meets; step_size: of it, s; loads: of its joints.
    """

    def __init__(
        self, dynamics: Dynamics, integrator: str, state: State, before: Timesteps | None = None, motions: Motions = (),
        closed: Closed = _NONE,
    ) -> None:  # fmt: skip
        self._forces = StepForces(dynamics, integrator, motions)
        self._dynamics, self._integrator, self._state = dynamics, (integrator := self._forces.rule), state
        self.flight: Flight = flight_of(dynamics, integrator, None if before is None else before.flight.tally)
        self.flight.watch(None if before is None else before.flight.watched)
        self._damping_spring = "" if before is None else before.report().damping_spring
        self._forces.flies(self.flight)
        if before is not None:
            landings = before._forces.landings
            self._forces.begins(state, landings._replace(joints=landings.joints.with_more(closed)))
        keep_name(self.flight.tally)
        self.noted: np.ndarray = np.zeros(3, dtype=np.int64) if before is None else before.noted.copy()
        rule = registry.find(integrator)
        self.position_share, self._goes_on = rule.share, rule.goes_on
        self._rubbing = self._forces.bounded or len(rubbing(dynamics.model).slots) > 0
        self._machine: StepMachine | None = None
        self._before: Before | None = None
        self._arena = None if before is None or before._machine is None else before._machine.arena
        self._present: Present | None = None
        self.buffer: ContactBuffer = ContactBuffer() if before is None else before.buffer
        self._within = self._native = False  # in a step, whose frames are its machine's; after one taken in one go
        self.settings: Settings = Settings() if before is None else before.settings
        self.motors = self._forces.motors
        self.events: Events = Events(dynamics.bodies) if before is None else before.events
        self.memory: Memory = Memory(dynamics, None if before is None else before.memory)
        self._forces.remember(self.memory.arrays.joints)
        self._detection, self.step_size, self._wild = Detection(), 0.0, WildSteps(dynamics)
        self.loads: JointLoads | None = JointLoads(dynamics, self.memory.arrays.joints) if breakable(dynamics) else None

    def __getstate__(self) -> dict[str, Any]:
        """Of a copy or a pickle: addresses are of this process."""
        return self.__dict__ | {"_machine": None, "_arena": None, "_present": None, "_within": False, "_before": None}

    @property
    def surroundings(self) -> Surroundings | None:
        """What may be touched."""
        return self._detection.surroundings

    @surroundings.setter
    def surroundings(self, surroundings: Surroundings | None) -> None:
        self._detection.surround(surroundings)

    def arrived(self) -> Present:
        """The same right after a step, before anyone could write to the state."""
        if self._native and self._present is not None:
            return self._present
        return self.at_present()

    def begin(self) -> None:
        """A call of ``step`` or ``advance`` starts: contacts are detected anew, events counted anew."""
        self._detection.kept, self._native = None, False
        self.events.begin()

    def is_at(self, moved: bool = False) -> None:
        """The state is another one; moved: somebody went back to it, and what is prescribed is to be there, too."""
        self._forces.is_at(self._state, moved)

    def recall(self, memory: Memory, touching: Sequence[tuple[str, str]]) -> None:
        """Go on from a memory, as with another state, in which these pairs of bodies touch."""
        self.memory.become(memory)
        self.events.recall(touching)
        self._detection.kept = None

    def note_rates(self) -> None:
        """Have the memory hold what a flight from the present state begins by."""
        self.memory.arrays.rates[:] = self.flight.rates(self._state.q, self._state.v)

    def take_rates(self, alike: bool = True) -> None:
        """Let a flight from the present state begin by what the memory holds, of steps that were taken alike or not."""
        self.flight.expect(self._state.q, self._state.v, self.memory.arrays.rates, alike)

    def report(self) -> Report:
        """What steps took beyond themselves so far."""
        spring = damping_spring(self._dynamics.model, self.flight.tally, self._damping_spring)
        return told(self.flight.tally, self.flight.parts, self.noted, spring, self._forces.landings)

    @property
    def landed(self) -> tuple[Landings, StatePair | None]:
        """What landings did so far, and the state whose gaps are still to be closed."""
        return self._forces.landings, self._forces.constraints.gaping

    @landed.setter
    def landed(self, value: tuple[Landings, StatePair | None]) -> None:
        self._forces.landings, self._forces.constraints.gaping = value

    @property
    def moved(self) -> bool:
        """Whether since the last step only parameters changed, by which constraints move what they hold."""
        return self._forces.meeting and self._forces.constraints.moved(self._state)

    @moved.setter
    def moved(self, value: bool) -> None:
        self._forces.constraints.stands(self._state, value)

    def solution(self) -> Solution:
        """What the solve of the last step did."""
        return self.memory.solution()

    def meet(self) -> None:
        """Bring what somebody wrote to onto constraints before anyone asks what drives the next step: where motions
        lead something that is when it begins."""
        self._forces.constraints.kicked = None
        self._forces.meets(self._state)

    def kicked(self) -> Kick | None:
        """The plastic impulse of constraints with which the last step began since ``meet``."""
        return self._forces.constraints.kicked

    def borne(self) -> np.ndarray:
        """Forces (nv,) of motors and dry friction that the last step's flight had, N or N m."""
        return self.ready().borne()

    def coordinates(self) -> dict[str, float]:
        """Impulses of the last step by row."""
        return self.memory.coordinates(row_names(self._dynamics.model))

    def forget(self, simulation: Surrounded) -> None:
        """Let the surroundings remember nothing, as a snapshot does not hold it."""
        self._detection.forget(simulation)

    def together(self) -> AbstractContextManager[None]:
        """A context around steps that an exception takes back, as far as the surroundings are concerned."""
        return self._detection.together()

    def tried(self, tau: np.ndarray, pulled: np.ndarray, h: float, body: str, point: np.ndarray) -> TriedStep | None:
        """The next step, of length h, as ``TriedStep`` tries it in maximal coordinates; None in joint coordinates."""
        if not isinstance(self._dynamics, MaximalDynamics):
            return None
        return TriedStep(self._dynamics, self._forces, self.flight, self._state, h, tau, pulled, body, point)

    def run(
        self, simulation: Surrounded, tau: np.ndarray, h: float, count: int, charts: Charts | None = None,
        whole: bool = False,
    ) -> None:  # fmt: skip
        """``count`` timesteps of length h; where one fails the state is that of the last one that did not.

        Charts are improved before each, and tau (nv,) with the state. None: the caller did it, before one step. whole:
        that one is taken in ``whole``.
        """
        if not whole and (self._forces.one_by_one or charts):
            with self.whole(tau) as before:
                self._taken(simulation, tau, h, count, charts, before)
        else:
            self._taken(simulation, tau, h, count, charts)
        if self._forces.meeting:
            self._forces.constraints.left(self._state)

    @contextmanager
    def whole(self, tau: np.ndarray) -> Iterator[Before]:
        """A timestep with all that is asked before it, which may write tau (nv,): all is as it was if it is refused."""
        if self._before is None:
            kept, values = self.memory.arrays, self._dynamics.parameters.values_array
            self._before = Before(self._state, (values, kept.acted, kept.joints, kept.pressed), self._forces)
        before = self._before
        before.note(tau)
        try:
            yield before
        except BaseException:
            before.back()
            raise

    def _taken(
        self, simulation: Surrounded, tau: np.ndarray, h: float, count: int, charts: Charts | None,
        before: Before | None = None,
    ) -> None:  # fmt: skip
        """``run``, which notes before what the step is that fails."""
        forces, state = self._forces, self._state
        forces.meets(state)
        if forces.meeting and not forces.constraints.known:
            forces.knows(state)
        start, tried = state.time, False
        if self._goes_on:
            self.flight.count(not self.motors)
        expected = self.flight.expected.copy() if self._goes_on else None
        while count > 0:
            try:
                self._run(simulation, tau, h, count, charts)
                count = 0
            except StateError as error:
                done, start = round((state.time - start) / h), state.time
                if not done and expected is not None:  # which the rule forgot as it failed
                    self.flight.expected[:] = expected
                if done and before is not None:
                    before.note(tau)
                if (done or not tried) and forces.tautens(state):
                    tried, count = True, count - done
                elif forces.timed and (reason := why_not_led(self._dynamics, state, h)) is not None:
                    raise StateError(reason) from error
                else:
                    raise

    def _run(self, simulation: Surrounded, tau: np.ndarray, h: float, count: int, charts: Charts | None) -> None:
        """``run``, as it fails."""
        while count:
            free = self._detection.surroundings is None and not self.motors and not self._rubbing and not self.loads
            if free:
                count -= untouched_steps(self.flight, self._forces, self._state, self.memory, tau, h, count, charts)
            if count:
                machine = self.ready()  # what is compiled takes its time, in which Ctrl-C ends it
                for _ in range(1 if free else count):
                    if charts and not free and charts.improve(self._state, tau):
                        self.memory.arrays.acted[:] = 0.0  # on velocities of coordinates that are no more
                    self._timestep(machine, simulation, tau, h)
                    count -= 1

    def ready(self) -> StepMachine:
        """The machine code of a timestep among these surroundings."""
        machine, alone = self._machine, self._detection.surroundings is None and self.loads is None
        self.flight.leads = self.flight.leads or bool(self.motors)
        now = alone, self.flight.lawful, self.flight.leads, self.settings.sleep_after < np.inf
        if machine is None or (machine.present is None, machine.lawful, machine.leads, machine.sleepy) != now:
            from recursive_dyn.simulation.stepping.step_machine import StepMachine  # brings the solver of impulses

            machine = self._machine = StepMachine(
                self._dynamics, self._integrator, self.flight, self._state, self._forces.own_motors, self.memory,
                self.noted, None if alone else self.at_present(), self.buffer, self._arena, now[3],
            )  # fmt: skip
            machine.arrays.impulses.bound[0] = self._forces.bounced is not None
        return machine

    def warm_up(self) -> None:
        """Have all that timesteps need."""
        with waiting("preparing the steps of a simulation"):
            self.ready().warm_up(self.events)
            self._forces.warm_up()
            self.flight.warm_up()
            looked_after_blows.warm_up()
