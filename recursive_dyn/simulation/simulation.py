"""A running simulation: state, time, forces, sub-steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.events import ContactEvent
from recursive_dyn.contact.interaction import Interaction
from recursive_dyn.contact.motors import Motors
from recursive_dyn.contact.settings import Settings, Solution
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.dynamics.projection import settled
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.chart_switching import Charts
from recursive_dyn.simulation.flight import Flight
from recursive_dyn.simulation.surroundings import Detector, PlainDetector, Surroundings


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that determines what a simulation does next."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    time: float
    remainder: float
    parameters: np.ndarray
    forces: tuple[tuple[int, np.ndarray, np.ndarray, np.ndarray], ...]
    impulses: Any = None


class Simulation:
    """Motion of compiled dynamics from a state.

    q (nq,), v (nv,), tau (nv,): state and applied generalized forces, plain arrays that may be written to; time in s.
    timestep in s; integrator "semi_implicit_euler", "rk4" or "implicit_midpoint": the first and the last stop
    coordinates at their limits, "rk4" integrates the smooth equations and knows no limits. ``parameters`` start as the
    dynamics have them and are the simulation's own: ``dynamics`` is a view with their values. A step whose result is
    not finite raises StateError naming the coordinate and leaves the last good state.

    With a ``detect``, which a mirror sets, bodies feel what they touch; with it, or ``motors``, or dry friction, limits
    are met by impulses under every integrator. ``contact`` are the settings of that, ``solution`` tells what it took.

    Joints of several charts (``joints.charts``) are switched before a step, q, v and tau with them; ``charts`` says
    which are in force. They are parameters too.
    """

    def __init__(self, dynamics: Dynamics, timestep: float = 1 / 240, integrator: str = "semi_implicit_euler") -> None:
        if not isinstance(dynamics, Dynamics):
            raise StateError(f"a simulation runs compiled dynamics, scene.compile(), not {type(dynamics).__name__}")
        if not isinstance(timestep, (int, float)) or not 0.0 < timestep < np.inf:
            raise StateError(f"timestep must be a positive number of seconds, not {timestep!r}")
        self._dynamics = dynamics = dynamics.view()
        self.timestep = float(timestep)
        self.integrator = integrator
        self.time = 0.0
        self._q = dynamics.neutral()
        self._v = np.zeros(dynamics.nv)
        self._tau = np.zeros(dynamics.nv)
        self._remainder = 0.0
        self._forces: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []
        self.flight = Flight(dynamics, integrator)
        self._charts = Charts(dynamics) if dynamics.model.charted else None
        self._frames: tuple[bytes, np.ndarray, np.ndarray] | None = None
        self.interaction = Interaction(self)

    @property
    def dynamics(self) -> Dynamics:
        """The compiled dynamics with this simulation's values of the parameters, charts in force included."""
        return self._dynamics

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,)."""
        return self._q

    @q.setter
    def q(self, value: Any) -> None:
        self._q[:] = self._checked("q", value, self._dynamics.nq)

    @property
    def v(self) -> np.ndarray:
        """Velocity (nv,)."""
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._v[:] = self._checked("v", value, self._dynamics.nv)

    @property
    def tau(self) -> np.ndarray:
        """Applied generalized forces (nv,); they act until changed."""
        return self._tau

    @tau.setter
    def tau(self, value: Any) -> None:
        self._tau[:] = self._checked("tau", value, self._dynamics.nv)

    @property
    def multipliers(self) -> np.ndarray:
        """Lagrange multipliers (m,) of the scene's constraints at the present state.

        The joints' damping and springs act as well. Stops at limits act within a step only and are not included.
        """
        dynamics = self.dynamics
        return dynamics.multipliers(self._q, self._v, self._tau + dynamics.passive_forces(self._q, self._v))

    @property
    def parameters(self) -> Parameters:
        """The scene's parameters; assignment acts from the next step on."""
        return self.dynamics.parameters

    @property
    def charts(self) -> dict[str, int]:
        """Number of the chart in force by body, for joints of several charts."""
        names = [link.name for link in self._dynamics.model.charted]
        return dict(zip(names, self._charts.present, strict=True)) if self._charts else {}

    @property
    def detect(self) -> Detector | None:
        """What finds contacts at the simulation's state, detect(simulation) -> Contacts; None: nothing touches."""
        return None if self.surroundings is None else self.surroundings.detect

    @detect.setter
    def detect(self, detector: Detector | None) -> None:
        if detector is not None and not callable(detector):
            raise StateError(f"detect takes a function of the simulation that returns Contacts, not {detector!r}")
        self.surroundings = None if detector is None else PlainDetector(detector)

    @property
    def surroundings(self) -> Surroundings | None:
        """What may be touched, as a mirror sets it; ``detect`` takes a plain function instead."""
        return self.interaction.surroundings

    @surroundings.setter
    def surroundings(self, surroundings: Surroundings | None) -> None:
        self.interaction.surroundings = surroundings

    @property
    def step_size(self) -> float:
        """Length of the step, or of the part of one, that is being taken, s."""
        return self.interaction.step_size

    @property
    def position_share(self) -> float:
        """Share of a step by which positions follow a change of the velocity at its end."""
        return self.interaction.share

    @property
    def contact(self) -> Settings:
        """How contacts, limits, motors and dry friction are solved."""
        return self.interaction.settings

    @property
    def motors(self) -> Motors:
        """Motors by coordinate: ``motors["arm.q"] = Motor(velocity=2.0, max_force=5.0)``; ``del`` switches one off."""
        return self.interaction.motors

    @property
    def solution(self) -> Solution:
        """What the solve of the last step did."""
        return self.interaction.solution

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, with their impulses."""
        return self.interaction.contacts

    @property
    def contact_events(self) -> tuple[ContactEvent, ...]:
        """Pairs of bodies that began to touch, stay in touch, or parted in the last call of ``step`` or ``advance``."""
        return self.interaction.events()

    @property
    def coordinate_impulses(self) -> dict[str, float]:
        """Impulses (N s, N m s) of the last step by row: "motor of arm.q", "low limit of arm.q", "friction of ..."."""
        return self.interaction.coordinate_impulses

    def contact_wrench(self, body: Any) -> np.ndarray:
        """[moment; force] (6,) of all contacts on a body during the last step, world axes about its origin."""
        index = self._dynamics.model.body_index(body)
        return self.interaction.wrench(index, self.frames()[0][index, :3, 3])

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses (nb, 4, 4) and twists (nb, 6) of all bodies at the present state, as ``Dynamics`` has them."""
        dynamics = self.dynamics
        state = self._q.tobytes() + self._v.tobytes() + dynamics.parameters.values_array.tobytes()
        if self._frames is None or self._frames[0] != state:
            self._frames = state, dynamics.poses(self._q), dynamics.velocities(self._q, self._v)
        return self._frames[1], self._frames[2]

    def rechart(self, body: Any, chart: int) -> None:
        """Express the state in another chart of the joint of ``body``, a Body or its name; the motion stays the same.

        ModelError for a body whose joint has one chart; StateError where the chart does not have the present pose.
        """
        charts = self._charts or Charts(self._dynamics)
        charts.switch(body, chart, self._q, self._v, self._tau)

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` timesteps; forces given by ``apply_force`` act throughout and are then cleared."""
        if not isinstance(count, (int, np.integer)) or count < 0:
            raise StateError(f"step takes a whole number of steps that is not negative, not {count!r}")
        self.interaction.begin()
        try:
            if self._forces or self._charts:
                for _ in range(count):
                    self._switch_charts()
                    self._run(self._tau + self._generalized() if self._forces else self._tau, 1)
            elif count:
                self._run(self._tau, count)
        finally:
            if count:
                self._forces.clear()

    def advance(self, frame_time: float) -> int:
        """Advance by the whole timesteps in ``frame_time`` (s) and what earlier frames left; returns their number."""
        if not np.isfinite(frame_time) or frame_time < 0.0:
            raise StateError(f"frame time must be a finite number of seconds that is not negative, not {frame_time!r}")
        available = self._remainder + frame_time
        count = int(available / self.timestep + 1e-9)
        self._remainder = max(0.0, available - count * self.timestep)
        self.step(count)
        return count

    def apply_force(self, body: Any, force: Any, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Push with ``force`` (3,), N, world axes, at ``point`` of the body's frame, during the next step call."""
        self._push(body, np.zeros(3), self._checked("force", force, 3), self._checked("point", point, 3))

    def apply_torque(self, body: Any, torque: Any) -> None:
        """Turn with ``torque`` (3,), N m, world axes, during the next step call."""
        self._push(body, self._checked("torque", torque, 3), np.zeros(3), np.zeros(3))

    def _push(self, body: Any, torque: np.ndarray, force: np.ndarray, point: np.ndarray) -> None:
        self._forces.append((self._dynamics.model.body_index(body), torque, force, point))

    def snapshot(self) -> Snapshot:
        """A copy of the whole state; ``restore`` makes the continuation bit-identical."""
        return Snapshot(
            self._q.copy(),
            self._v.copy(),
            self._tau.copy(),
            self.time,
            self._remainder,
            self.parameters.values_array.copy(),
            tuple(self._forces),
            self.interaction.memory(),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of a simulation of the same scene."""
        if not isinstance(snapshot, Snapshot):
            raise StateError(f"restore takes what snapshot() gave, not {snapshot!r}")
        arrays = [(name, getattr(snapshot, name), getattr(self, name)) for name in ("q", "v", "tau")]
        arrays.append(("parameters", snapshot.parameters, self.parameters.values_array))
        for name, source, target in arrays:
            if source.shape != target.shape:
                raise StateError(f"the snapshot's {name} has shape {source.shape}, this scene needs {target.shape}")
        for _, source, target in arrays:
            target[:] = source
        self.time, self._remainder = snapshot.time, snapshot.remainder
        self._forces = list(snapshot.forces)
        self.interaction.recall(snapshot.impulses)
        self._frames = None

    def _generalized(self) -> np.ndarray:
        poses = self._dynamics.poses(self._q)
        wrenches = np.zeros((len(self._dynamics.bodies), 6))
        for index, torque, force, point in self._forces:
            wrenches[index, :3] += torque + np.cross(poses[index, :3, :3] @ point, force)
            wrenches[index, 3:] += force
        return self._dynamics.call("external_forces", self._q, wrenches.reshape(-1))

    def _switch_charts(self) -> None:
        """Before a step rather than after it, so that a state given by hand is served as well."""
        if self._charts:
            try:
                self._charts.improve(self._q, self._v, self._tau)
            except StateError as error:
                raise StateError(f"simulation at t = {self.time:.6g} s: {error}") from None

    def _run(self, tau: np.ndarray, count: int) -> None:
        if self.interaction.needed:
            for _ in range(count):
                self._impulse_step(tau)
            return
        constrained = bool(self._dynamics.model.constraints)
        while count:
            start = (self._q.copy(), self._v.copy()) if constrained else None
            done, stopped = self.flight.advance(
                self._q, self._v, tau, self.timestep, 1 if start else count, self.time, limits=True
            )
            if start and done:
                self._settle(start)
            self.time += done * self.timestep
            count -= done
            if stopped:
                self._impulse_step(tau)
                count -= 1

    def _impulse_step(self, tau: np.ndarray) -> None:
        start = self._q.copy(), self._v.copy()
        self.interaction.step(tau)
        if self._dynamics.model.constraints:
            self._settle(start)
        self.time += self.timestep

    def _settle(self, start: tuple[np.ndarray, np.ndarray]) -> None:
        """Bring the state back onto the constraints, or back to ``start``."""
        try:
            self._q[:], self._v[:] = settled(self._dynamics, self._q, self._v)
        except StateError as error:
            self._q[:], self._v[:] = start
            raise StateError(f"simulation at t = {self.time:.6g} s: {error}") from None

    def _checked(self, name: str, value: Any, size: int) -> np.ndarray:
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise StateError(f"'{name}' must be {size} numbers") from None
        if array.shape != (size,):
            raise StateError(f"'{name}' has shape {array.shape}, but {(size,)} is needed")
        bad = np.flatnonzero(~np.isfinite(array))
        if len(bad):
            raise StateError(f"'{name}' is not finite at {self._dynamics.label(name, int(bad[0]))}")
        return array
