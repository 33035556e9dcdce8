"""A running simulation: state, time, forces, sub-steps."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recursive_dyn.codegen.making import optimizing
from recursive_dyn.contact.settings import Settings
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import StateError
from recursive_dyn.recursion.groundwork import together
from recursive_dyn.simulation.edits.edit import GONE, Edit
from recursive_dyn.simulation.edits.joint_edits import go_on
from recursive_dyn.simulation.flying.applied_forces import AppliedForce, acting, warm_up_forces
from recursive_dyn.simulation.flying.chart_switching import Charts
from recursive_dyn.simulation.flying.charts_between_bodies import charts_in_use
from recursive_dyn.simulation.handling.grab import Hands
from recursive_dyn.simulation.handling.prescribed_motions import PrescribedMotions, Written, sample, stepped
from recursive_dyn.simulation.handling.prescribing import Prescribing
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.loads.breaking import Breaking
from recursive_dyn.simulation.observer import Observer
from recursive_dyn.simulation.results.sensors import Sensors
from recursive_dyn.simulation.state import State, whole
from recursive_dyn.simulation.step_differences import EPSILON, StepDifferences
from recursive_dyn.simulation.stepping.preparation import Preparation, Preparing
from recursive_dyn.simulation.stepping.step_forces import rule_of
from recursive_dyn.simulation.stepping.timesteps import Timesteps
from recursive_dyn.simulation.surroundings import PlainDetector


class Simulation(Prescribing):
    """Motion of compiled dynamics from a state.

    q (nq,), v (nv,), tau (nv,): state and applied generalized forces, plain arrays that may be written to; time and
    timestep in s; integrator "linearly_implicit_rk4", the default, which watches its energy, "semi_implicit_euler",
    "rk4", "implicit_midpoint" or "variational_midpoint". ``parameters`` start as the dynamics have them and are the
    simulation's own: ``dynamics`` is a view with their values. A step whose result is not finite raises StateError
    naming the coordinate and leaves the last good state; so does a Ctrl-C. ``report`` counts what was halved, cut or
    left unexplained.

    Coordinates stay within their limits, whose stops give nothing back. With a ``detect``, which a mirror sets, bodies
    feel what they touch. ``contact`` are the settings of both, and of ``motors`` and dry friction; ``solution`` tells
    what it took.

    ``control``, a function of q, v and time, gives tau at the stages of the integrator, or once a step what it holds if
    it is ``held``; tau is then what it gave at the last step's start, and 0 once it is None again.

    Joints of several charts (``joints.charts``) are switched before a step, q, v and tau with them; ``charts`` says
    which are in force. They are parameters too: ask ``dynamics`` for what q means, not those it was made from.

    Copies and pickles have a state, motors and settings of their own and go on bit by bit as this one does. They travel
    without a mirror, whose world is this process's: ``detect`` is None in them unless it was a plain function. Their
    ``observers``, who are told of every timestep, as a Recorder is, stay behind too.
    """

    observers: list[Observer]

    def __init__(self, dynamics: Dynamics, timestep: float = 1 / 240, integrator: str | None = None) -> None:
        if not isinstance(dynamics, Dynamics):
            raise StateError(f"a simulation runs compiled dynamics, scene.compile(), not {type(dynamics).__name__}")
        dynamics, integrator = dynamics.view(), rule_of(dynamics, integrator)
        at = dynamics.model.clock
        super().__init__(dynamics, State(*dynamics.beginning(), 0.0, at), timestep)
        self._integrator = integrator
        self._tau = np.zeros(dynamics.nv)
        self._forces: list[AppliedForce] = []
        self._timesteps = Timesteps(dynamics, integrator, self._state)
        self._charts = charts_in_use(dynamics, self._timesteps.memory.arrays.joints, self._state.q)
        self._sensors: Sensors | None = None
        self._motions = PrescribedMotions(dynamics)
        self.observers = []
        self.breaking, self._hands = Breaking(), Hands()
        self.preparing = Preparing(integrator)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"observers": []}

    def __copy__(self) -> Simulation:
        return copy.deepcopy(self)

    @property
    def integrator(self) -> str:
        """How a step is taken; chosen when the simulation is made."""
        return self._integrator

    @integrator.setter
    def integrator(self, name: str) -> None:
        raise StateError(
            f"a simulation keeps its integrator, '{self._integrator}'; make another one, rd.Simulation(dynamics,"
            f" timestep, {name!r}), and give it q, v and time"
        )

    @property
    def tau(self) -> np.ndarray:
        """Applied generalized forces (nv,); they act until changed."""
        return self._tau

    @tau.setter
    def tau(self, value: Any) -> None:
        self._write("tau", value, self._tau)

    @property
    def parameters(self) -> Parameters:
        """The scene's parameters; assignment acts from the next step on."""
        return self._dynamics.parameters

    @property
    def charts(self) -> dict[str, int]:
        """Number of the chart in force by body, of joints of several charts, in which q and v are read."""
        names = [link.name for link in self._dynamics.tree.charted]
        return dict(zip(names, self._charts.present, strict=True)) if self._charts else {}

    @property
    def step_size(self) -> float:
        """Length of the step, or of the part of one, that is being taken, s."""
        return self._timesteps.step_size or self._timestep

    @property
    def position_share(self) -> float:
        """Share of a step by which positions follow a change of the velocity at its end."""
        return self._timesteps.position_share

    @property
    def contact(self) -> Settings:
        """How contacts, limits, motors and dry friction are solved."""
        return self._timesteps.settings

    @property
    def sensors(self) -> Sensors:
        """Readings by name: ``sensors.imu("hip", body)``, then ``sensors["hip"]``."""
        if self._sensors is None:
            self._sensors = Sensors(self)
        return self._sensors

    def rechart(self, body: Any, chart: int) -> None:
        """Express the state in another chart of the joint of ``body``, a Body or its name; the motion stays the same.

        ModelError for a body whose joint has one chart; StateError where the chart does not have the present pose.
        """
        charts = self._charts or Charts(self._dynamics)
        charts.switch(body, chart, self._state.q, self._state.v, self._tau)
        self._timesteps.memory.arrays.acted[:] = 0.0

    def warm_up(self, optimized: bool = False, driven: bool = False) -> None:
        """Compile, or load, all that steps may need, so that none of them waits for it in mid-motion.

        Contacts, limits, motors, dry friction and constraints among the present surroundings, and charts. Otherwise
        each is compiled when it is first needed. It changes nothing; a mirror does it when it is made. ``optimized``:
        wait for the faster code too, which otherwise takes over within seconds of a first use on a machine. ``driven``:
        steps while forces are applied to bodies, or ``control`` is asked at stages, too: programs of their own.
        """
        with together():
            self._timesteps.warm_up()
            if driven:
                warm_up_forces(self._dynamics, self._timesteps.flight)
        if self._charts:
            self._charts.warm_up()
        if optimized:
            optimizing.finish()

    def update(self, dynamics: Dynamics, keys: Callable[[np.ndarray], np.ndarray] | None = None) -> None:
        """Go on with other dynamics from the present state: those of the scene, compiled again after an edit.

        Bodies and coordinates are known by their names. What stayed keeps its state, forces, motors, parameters,
        carried momentum, and the impulses that the next solve starts from; what was hung anew, on another joint or
        elsewhere, goes on from where it was as it moved, as far as its joint lets it (``carried_motion``); what is new
        stands at its neutral configuration, at rest. Who touched a body that went parts from it in the next step.
        ``q``, ``v`` and ``tau`` are other arrays afterwards, and snapshots from before are of another scene. A mirror's
        simulation is updated by ``mirror.update()``. keys: what contacts' keys (n,) are from now on, where a detector
        calls them otherwise. Raises StateError for what is no compiled dynamics, or where constraints cannot be met
        near what goes on, and leaves everything as it was.
        """
        if not isinstance(dynamics, Dynamics):
            raise StateError(f"a simulation runs compiled dynamics, scene.compile(), not {type(dynamics).__name__}")
        if not isinstance(self.surroundings, PlainDetector | None):
            raise StateError("this simulation feels what a mirror has: call the mirror's update() after an edit")
        motions = self._motions.still_there(dynamics)
        self._go_on(dynamics, self._motions.on(dynamics, motions), motions, keys)

    def _go_on(
        self,
        free: Dynamics,
        dynamics: Dynamics,
        motions: Mapping[str, Written],
        keys: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        """``update`` with dynamics that are ``free`` with these motions."""
        optimizing.hurry()
        dynamics = dynamics.view()
        self.preparing.fit(dynamics)
        edit = Edit.between(self._dynamics, dynamics)
        edit.parameters()
        sample(motions, dynamics.parameters, self.time, self._timestep)
        state = State(edit.configuration(self.q), edit.velocity(self.v), self.time, dynamics.model.clock)
        tau, memory = edit.velocity(self._tau), self._timesteps.memory
        joints, closed = go_on(edit, memory.arrays.joints, self._state, self.frames, state, memory.contacts)
        now = edit.bodies.tolist() if self._forces else []
        forces = [(now[k], torque, force, at) for k, torque, force, at in self._forces if now[k] != GONE]
        timesteps = Timesteps(dynamics, self._integrator, state, self._timesteps, stepped(motions), closed)
        charts = charts_in_use(dynamics, timesteps.memory.arrays.joints, state.q)
        momenta = timesteps.at_present().momenta if edit.measures else None
        with Held():
            before = self._timesteps
            timesteps.surroundings = before.surroundings
            timesteps.motors.adopt(before.motors)
            timesteps.memory.adopt(before.memory, edit, self._state, state, momenta)
            timesteps.memory.arrays.joints[:] = joints
            if keys is not None:
                timesteps.memory.rename(keys)
            timesteps.step_size = before.step_size
            timesteps.events.renumber(edit)
            timesteps.buffer.clear()
            self._dynamics, self._state, self._tau, self._forces = dynamics, state, tau, forces
            self._timesteps, self._charts = timesteps, charts
            self._motions.keep(free, motions)
            self.breaking.going.clear()
            self.breaking.freed.clear()
            if self._sensors:
                self._sensors.keep_known()
        self.preparing.complete(dynamics)

    def prepare(self, make: Callable[[], Dynamics], urgent: bool = True) -> Preparation:
        """Have dynamics made, by a function such as scene.compile, and compiled in the background: all that was for the
        present ones. ``update`` then takes milliseconds. Nothing is changed by it."""
        return self.preparing.add(make, self._dynamics.compiled_functions, urgent)

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` timesteps; forces given by ``apply_force`` act throughout and are then cleared,
        also where one is refused; all else is then as it was before that one."""
        count, began = whole(count), self._state.time
        if count and not self._told_of_contacts:
            self._tell_of_contacts(2)
        for observer in self.observers:
            observer.begin()
        self._timesteps.begin()
        self.breaking.told = self.breaking.constraints = ()
        try:
            watched = self.control is not None or self.observers or self._timesteps.loads
            forces = self._forces
            if watched or self._hands or (forces and not self._timesteps.flight.staged):
                for _ in range(count):
                    with self._timesteps.whole(self._tau):
                        (tau, total), loads = self._applied(), self._timesteps.loads
                        if loads:
                            self.breaking.begin(loads, self._dynamics, self.q, self.v, total, self._acting())
                        self._timesteps.run(self, tau, self._timestep, 1, whole=True)
                    self._answered()
                    if loads:
                        self.breaking.end(self, loads, self._timesteps)
                    for observer in self.observers:
                        observer.note()
            else:
                if forces:
                    acting(self._dynamics, self._timesteps.flight, self.q, self._tau, forces)
                self._timesteps.run(self, self._tau, self._timestep, count, self._charts)
        finally:
            if count:
                self._let_go(self._state.time != began)

    def linearize(self, epsilon: float = EPSILON, inputs: str = "tau", sensors: bool = False) -> tuple[np.ndarray, ...]:
        """(A (2 nv, 2 nv), B (2 nv, k)) of the next timestep as it is taken, in contact too: x' = A x + B u.

        x: deviations [dq, dv] from the present state, dq in the tangent space; u: of tau, or with inputs="motors" of
        the targets of all motors, in their order, positions where they have one and velocities else. ``sensors``: also
        C (n, 2 nv) and D (n, k) of their readings after the step, one after the other. Where nothing touches, binds or
        drives it is the exact derivative of the integrator's rule; else there are centred differences over steps from
        states ``epsilon`` apart (rad, m, rad/s, m/s), one-sided laws averaged. ``control`` is not asked, charts are not
        changed. Nothing is changed by it, but what Bullet remembers of contacts is forgotten, as by ``snapshot``.
        Raises StateError where one of these steps fails.
        """
        steps = StepDifferences(
            self, self._dynamics, self._timesteps, self._state, self._integrator, self._timestep, self._tau,
            self._forces, self._sensors,
        )  # fmt: skip
        return steps.model(epsilon, inputs, sensors)
