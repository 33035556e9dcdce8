"""Motion without contacts: one integrator's compiled loop, steps cut where it does not converge, faults told."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen import drivers
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.diagnosis import culprit
from recursive_dyn.simulation.integrators import Stepper

_SPLITS = 6  # how often a midpoint step that does not converge may be halved


class Flight:
    """One integrator over one dynamics; ``stopped`` says whether limits stop coordinates."""

    def __init__(self, dynamics: Dynamics, integrator: str, stopped: bool = True) -> None:
        self._dynamics = dynamics
        self._stepper = Stepper(dynamics, integrator, stopped)

    def advance(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int, time: float) -> int:
        """Step q (nq,) and v (nv,) in place ``count`` times, or until a step fails; the number of steps done.

        StateError says why the first one failed. time: only told in that message.
        """
        left = count
        while left:
            done, code = self._run(q, v, tau, h, left)
            left -= done
            if code == drivers.NOT_CONVERGED:
                code = self._split(q, v, tau, h, _SPLITS)
                if code == drivers.OK:
                    left -= 1
            if code != drivers.OK:
                if left < count:
                    return count - left
                raise StateError(f"simulation at t = {time:.6g} s: {self._diagnose(code, q, v, tau, h)}")
        return count

    def _run(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int) -> tuple[int, int]:
        return self._stepper.run(q, v, tau, h, self._dynamics.parameters.values_array, count)

    def _split(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, splits: int) -> int:
        """One step of length h as two halves, or, where a half does not converge either, as four quarters, ..."""
        start = q.copy(), v.copy()
        for _ in range(2):
            _, code = self._run(q, v, tau, h / 2, 1)
            if code == drivers.NOT_CONVERGED and splits > 1:
                code = self._split(q, v, tau, h / 2, splits - 1)
            if code != drivers.OK:
                q[:], v[:] = start
                return code
        return drivers.OK

    def _diagnose(self, code: int, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> str:
        dynamics, output = self._dynamics, self._stepper.output
        if code == drivers.BAD_INPUT:
            for name, values in (("q", q), ("v", v), ("tau", tau)):
                bad = np.flatnonzero(~np.isfinite(values))
                if len(bad):
                    return f"{name} is not finite at {dynamics.label(name, int(bad[0]))}"
            return "a parameter is not finite"
        if code == drivers.NOT_CONVERGED and np.isfinite(output).all():
            return (
                f"the implicit midpoint step did not converge; use a smaller timestep than {h:.3g} s. The last good"
                " state is kept"
            )
        joint = culprit(dynamics.model, q, v, h, dynamics.parameters.values_array)
        if joint is not None:
            return (
                f"the joint of coordinate '{joint}' has no finite frame where it goes; keep it away with limits, use a"
                " smaller timestep, or write the joint so that it exists there. The last good state is kept"
            )
        nq, nv = dynamics.nq, dynamics.nv
        bad_v = np.flatnonzero(~np.isfinite(output[nq : nq + nv]))
        index = int(bad_v[np.argmax(np.abs(v[bad_v]))]) if len(bad_v) else int(np.argmax(np.abs(v)))
        return (
            f"the next state is not finite at {dynamics.label('v', index)}, which moves at {v[index]:.4g}; use a"
            " smaller timestep, or look at its joint there. The last good state is kept"
        )
