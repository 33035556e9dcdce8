"""Motion as if nothing touched: one integrator's compiled loop, steps cut where it does not converge, faults told."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen import drivers
from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.codegen.drivers import CODE_BITS
from recursive_dyn.codegen.loops.intrinsics import foreign_int
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.singular_joints import singular
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.compiled_loop import CODE, CompiledLoop
from recursive_dyn.model.limits import limited
from recursive_dyn.simulation.diagnosis import culprit

DONE, LOST = drivers.OK, -1  # how a part of a step ended: as it should, or on numbers that are not finite
_SPLITS = 6  # how often a midpoint step that does not converge may be halved


class FlightArrays(NamedTuple):
    """An integrator's compiled loop: its address and memory, of which q to parameters are parts of inputs, empty where
    it has no such one; limits: of q, unused."""

    address: int
    inputs: Floats
    output: Floats
    scratch: Floats
    work: Floats
    limits: Floats
    q: Floats
    v: Floats
    tau: Floats
    dt: Floats
    middle: Floats
    parameters: Floats


@compiled
def flown(it: FlightArrays, q: Floats, v: Floats, tau: Floats, parameters: Floats, h: float) -> int:
    """One step of length h from q, v, in place, whatever the limits: DONE, or the code why nothing was changed."""
    it.q[:] = q
    it.v[:] = v
    it.tau[:] = tau
    it.parameters[:] = parameters
    it.dt[:] = h
    it.middle[:] = v
    it.work[0] = h
    told = foreign_int(it.address, it.inputs, it.output, it.scratch, it.work, 1, it.limits, 0, 0)
    if told >> CODE_BITS == 0:
        return told & CODE
    q[:] = it.q
    v[:] = it.v
    return DONE


class Flight:
    """One integrator over one dynamics, at the dynamics' present parameters.

    tally (4,): what steps took, as ``report`` tells it; given: of a flight before this one.
    """

    def __init__(self, dynamics: Dynamics, integrator: str, tally: np.ndarray | None = None) -> None:
        rule = registry.find(integrator)
        if dynamics.model.constraints and not rule.constrained:
            raise StateError(f"'{rule.name}' takes no scene with constraints; choose 'implicit_midpoint' for this one")
        kernel = dynamics.kernel(rule.function)
        self._dynamics, self._integrator = dynamics, integrator
        watch = None if rule.energies is None else dynamics.kernel(rule.watch)
        self._loop = CompiledLoop(kernel, dynamics.nq + dynamics.nv, 3, watch)
        self.tally, own = self._loop.tally, self._loop.inputs
        if tally is not None:
            self.tally[:] = tally
        self._q, self._v, self._tau, self._parameters = own["q"], own["v"], own["tau"], own["parameters"]
        self._dt, self._middle = own.get("dt"), own.get("v_middle")
        self._limits = kernel.buffer(2 * drivers.padded(dynamics.nq))
        self._limits_address = ctypes.c_void_p(address(self._limits))
        given, most = limited(dynamics.model), len(self._limits) // 2
        lows, highs = self._limits[:most], self._limits[most:]
        lows[:], highs[:] = -np.inf, np.inf
        lows[given.places], highs[given.places] = given.low, given.high
        self._limited = most if len(given.places) and np.isfinite(self._limits).any() else 0

    def __reduce__(self) -> Any:
        return Flight, (self._dynamics, self._integrator, self.tally.copy())

    @property
    def arrays(self) -> FlightArrays:
        """Its loop, for compiled loops."""
        loop, none = self._loop, np.zeros(0)
        dt, middle = none if self._dt is None else self._dt, none if self._middle is None else self._middle
        return FlightArrays(
            loop.address, *loop.memory, self._limits, self._q, self._v, self._tau, dt, middle, self._parameters
        )

    def advance(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int, time: float, limits: bool
    ) -> tuple[int, bool]:
        """Take at most ``count`` steps of length h from q (nq,) and v (nv,), in place: (steps done, stopped).

        It may take fewer: some 20 ms of them, so that a caller's loop is where an interrupt is served; or those before
        one that fails, which the next call tells. stopped: the step after them would end with a coordinate beyond a
        limit, and only with ``limits`` is that looked at. StateError says why the first step failed; time: only told
        in that message. Whatever is raised, interrupts included, q and v are then as they were.
        """
        done, code = self._flown(q, v, tau, h, count, self._limited if limits else 0)
        if not done and code != drivers.OK and code != drivers.AT_LIMIT:
            raise StateError(f"simulation at t = {time:.6g} s: {self._diagnose(code, q, v, tau, h)}")
        # nothing is called from here on: Python serves interrupts at calls, and finds all of the result or nothing
        q[:] = self._q
        v[:] = self._v
        return done, code == drivers.AT_LIMIT

    def _flown(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int, limited: int
    ) -> tuple[int, int]:
        """``advance`` in the loop's own memory: (steps done, code)."""
        self._q[:], self._v[:], self._tau[:] = q, v, tau
        self._parameters[:] = self._dynamics.parameters.values_array
        done, code = self._steps(h, count, limited, 0)
        if code == drivers.LARGE and not done and self._singular(q) is None:
            done, code = self._steps(h, count, limited, 1)
        return done, code

    def _steps(self, h: float, count: int, limited: int, large: int) -> tuple[int, int]:
        """Steps from the state in the loop's own memory; large: 1 to take those with large results too."""
        done, code = self._run(h, count, limited, large)
        if code == drivers.NOT_CONVERGED:
            start, counted = (self._q.copy(), self._v.copy()), self.tally.copy()
            code = self._split(h, limited, large, _SPLITS)
            if code == drivers.OK:
                done += 1
                self.tally[0] += 1
            else:
                (self._q[:], self._v[:]), self.tally[:] = start, counted
        return done, code

    def _run(self, h: float, count: int, limited: int, large: int) -> tuple[int, int]:
        if self._dt is not None:
            self._dt[0] = h
        if self._middle is not None:
            self._middle[:] = self._v
        return self._loop.run(h, count, self._limits_address, limited, large)

    def _split(self, h: float, limited: int, large: int, splits: int) -> int:
        """One step of length h as two halves, or, where a half does not converge either, as four quarters, ..."""
        self.tally[1] += 1
        for _ in range(2):
            _, code = self._run(h / 2, 1, limited, large)
            if code == drivers.NOT_CONVERGED and splits > 1:
                code = self._split(h / 2, limited, large, splits - 1)
            if code != drivers.OK:
                return code
        return drivers.OK

    def _singular(self, q: np.ndarray) -> str | None:
        """What is singular at q (nq,) and what to do."""
        found = singular(self._dynamics.model, q[None], self._dynamics.parameters)
        return None if found is None else found[1]

    def _diagnose(self, code: int, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> str:
        dynamics, output = self._dynamics, self._loop.output
        if code == drivers.BAD_INPUT:
            for name, values in (("q", q), ("v", v), ("tau", tau)):
                bad = np.flatnonzero(~np.isfinite(values))
                if len(bad):
                    return f"{name} is not finite at {dynamics.label(name, int(bad[0]))}"
            return "a parameter is not finite"
        # what divides by zero at a singular joint is large or not finite, as its rounding falls
        joint = (
            culprit(dynamics.model, q, v, h, dynamics.parameters.values_array) if code == drivers.BAD_OUTPUT else None
        )
        reason = self._singular(q) if joint is None else None
        if reason is not None:
            return f"{reason}. The last good state is kept"
        if code == drivers.NOT_CONVERGED and np.isfinite(output).all():
            return (
                f"the {self._integrator} step did not converge; use a smaller timestep than {h:.3g} s. The last good"
                " state is kept"
            )
        joint = joint or culprit(dynamics.model, q, v, h, dynamics.parameters.values_array)
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
