"""A running simulation: state, time, forces, sub-steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.codegen import drivers
from recursive_dyn.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.parameters import Parameters
from recursive_dyn.projection import settled
from recursive_dyn.simulation.charts import Charts
from recursive_dyn.simulation.diagnosis import culprit
from recursive_dyn.simulation.integrators import Stepper

_SPLITS = 6  # how often a midpoint step that does not converge may be halved


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


class Simulation:
    """Motion of compiled dynamics from a state.

    q (nq,), v (nv,), tau (nv,): state and applied generalized forces, plain arrays that may be written to; time in s.
    timestep in s; integrator "semi_implicit_euler", "rk4" or "implicit_midpoint": the first and the last stop
    coordinates at their limits, "rk4" integrates the smooth equations and knows no limits. ``parameters`` are the
    dynamics' own. A step whose result is not finite raises StateError naming the coordinate and leaves the last good
    state.

    Joints of several charts (``joints.charts``) are switched before a step, q, v and tau with them; ``charts`` says
    which are in force. Each simulation has its own: ``simulation.dynamics`` computes in those.
    """

    def __init__(self, dynamics: Dynamics, timestep: float = 1 / 240, integrator: str = "semi_implicit_euler") -> None:
        if not isinstance(dynamics, Dynamics):
            raise StateError(f"a simulation runs compiled dynamics, scene.compile(), not {type(dynamics).__name__}")
        if not isinstance(timestep, (int, float)) or not 0.0 < timestep < np.inf:
            raise StateError(f"timestep must be a positive number of seconds, not {timestep!r}")
        self._dynamics = dynamics
        self.timestep = float(timestep)
        self.integrator = integrator
        self.time = 0.0
        self._q = dynamics.neutral()
        self._v = np.zeros(dynamics.nv)
        self._tau = np.zeros(dynamics.nv)
        self._remainder = 0.0
        self._forces: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []
        self._stepper = Stepper(dynamics, integrator)
        self._charts = Charts(dynamics) if dynamics.model.charted else None

    @property
    def dynamics(self) -> Dynamics:
        """The compiled dynamics, computing in the charts of this simulation."""
        if self._charts:
            self._charts.claim()
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
        return dict(zip(names, self._charts.present.tolist(), strict=True)) if self._charts else {}

    def rechart(self, body: Any, chart: int) -> None:
        """Express the state in another chart of the joint of ``body``, a Body or its name; the motion stays the same.

        ModelError for a body whose joint has one chart; StateError where the chart does not have the present pose.
        """
        charts = self._charts or Charts(self._dynamics)
        charts.claim()
        charts.switch(body, chart, self._q, self._v, self._tau)

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` timesteps; forces given by ``apply_force`` act throughout and are then cleared."""
        if not isinstance(count, (int, np.integer)) or count < 0:
            raise StateError(f"step takes a whole number of steps that is not negative, not {count!r}")
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
        if self._charts:
            self._charts.claim()
        return Snapshot(
            self._q.copy(),
            self._v.copy(),
            self._tau.copy(),
            self.time,
            self._remainder,
            self.parameters.values_array.copy(),
            tuple(self._forces),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of a simulation of the same scene."""
        if not isinstance(snapshot, Snapshot):
            raise StateError(f"restore takes what snapshot() gave, not {snapshot!r}")
        arrays = [(name, getattr(snapshot, name), getattr(self, name)) for name in ("q", "v", "tau")]
        for name, source, target in arrays:
            if source.shape != target.shape:
                raise StateError(f"the snapshot's {name} has shape {source.shape}, this scene needs {target.shape}")
        for _, source, target in arrays:
            target[:] = source
        self.time, self._remainder = snapshot.time, snapshot.remainder
        self.parameters.values_array[:] = snapshot.parameters
        self._forces = list(snapshot.forces)
        if self._charts:
            self._charts.adopt()

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
            self._charts.claim()
            try:
                self._charts.improve(self._q, self._v, self._tau)
            except StateError as error:
                raise StateError(f"simulation at t = {self.time:.6g} s: {error}") from None

    def _run(self, tau: np.ndarray, count: int) -> None:
        if not self._dynamics.model.constraints:
            self._steps(tau, count)
            return
        for _ in range(count):
            start = self._q.copy(), self._v.copy(), self.time
            self._steps(tau, 1)
            try:
                self._q[:], self._v[:] = settled(self._dynamics, self._q, self._v)
            except StateError as error:
                self._q[:], self._v[:], self.time = start
                raise StateError(f"simulation at t = {self.time:.6g} s: {error}") from None

    def _steps(self, tau: np.ndarray, count: int) -> None:
        while count:
            done, code = self._stepper.run(
                self._q, self._v, tau, self.timestep, self._dynamics.parameters.values_array, count
            )
            self.time += done * self.timestep
            count -= done
            if code == drivers.NOT_CONVERGED:
                code = self._split(tau, self.timestep, _SPLITS)
                if code == drivers.OK:
                    count -= 1
                    self.time += self.timestep
            if code != drivers.OK:
                raise StateError(self._diagnose(code, tau))

    def _split(self, tau: np.ndarray, h: float, splits: int) -> int:
        """One step of length h as two halves, or, where a half does not converge either, as four quarters, ..."""
        start = self._q.copy(), self._v.copy()
        for _ in range(2):
            _, code = self._stepper.run(self._q, self._v, tau, h / 2, self.parameters.values_array, 1)
            if code == drivers.NOT_CONVERGED and splits > 1:
                code = self._split(tau, h / 2, splits - 1)
            if code != drivers.OK:
                self._q[:], self._v[:] = start
                return code
        return drivers.OK

    def _diagnose(self, code: int, tau: np.ndarray) -> str:
        label = self._dynamics.label
        if code == drivers.BAD_INPUT:
            for name, values in (("q", self._q), ("v", self._v), ("tau", tau)):
                bad = np.flatnonzero(~np.isfinite(values))
                if len(bad):
                    return f"simulation at t = {self.time:.6g} s: {name} is not finite at {label(name, int(bad[0]))}"
            return f"simulation at t = {self.time:.6g} s: a parameter is not finite"
        if code == drivers.NOT_CONVERGED and np.isfinite(self._stepper.output).all():
            return (
                f"simulation at t = {self.time:.6g} s: the implicit midpoint step did not converge; use a smaller"
                f" timestep than {self.timestep:.3g} s. The last good state is kept"
            )
        joint = culprit(self._dynamics.model, self._q, self._v, self.timestep, self.parameters.values_array)
        if joint is not None:
            return (
                f"simulation at t = {self.time:.6g} s: the joint of coordinate '{joint}' has no finite frame where it"
                " goes; keep it away with limits, use a smaller timestep, or write the joint so that it exists there."
                " The last good state is kept"
            )
        nq, nv = self._dynamics.nq, self._dynamics.nv
        bad_v = np.flatnonzero(~np.isfinite(self._stepper.output[nq : nq + nv]))
        index = int(bad_v[np.argmax(np.abs(self._v[bad_v]))]) if len(bad_v) else int(np.argmax(np.abs(self._v)))
        return (
            f"simulation at t = {self.time:.6g} s: the next state is not finite at {label('v', index)}, which moves at"
            f" {self._v[index]:.4g}; use a smaller timestep, or look at its joint there. The last good state is kept"
        )

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
