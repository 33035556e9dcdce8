"""Integrators: which compiled function steps the state, and the buffers its loop of sub-steps works in."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.errors import StateError

if TYPE_CHECKING:
    from recursive_dyn.dynamics.dynamics import Dynamics

# Semi-implicit Euler is first order and cheapest; RK4 fourth order; the implicit midpoint rule second order,
# time-symmetric, and keeps energy near its start where a step resolves the motion. Euler and midpoint treat joint
# damping and springs implicitly and stop coordinates at their limits; RK4 integrates the smooth equations, without
# limits. Constraints are met after every step by projection, whichever integrator takes it.
INTEGRATORS = {"semi_implicit_euler": "step", "rk4": "rates", "implicit_midpoint": "midpoint"}


class Stepper:
    """The compiled loop of one integrator over one dynamics; ``stopped`` says whether limits stop coordinates."""

    def __init__(self, dynamics: Dynamics, integrator: str, stopped: bool = True) -> None:
        if integrator not in INTEGRATORS:
            raise StateError(f"unknown integrator '{integrator}'; choose one of {', '.join(INTEGRATORS)}")
        function = INTEGRATORS[integrator]
        limited = any(np.isfinite(c.limits).any() for c in dynamics.model.coordinates)
        if limited and not stopped and function != "rates":
            function += "_unstopped"
        kernel = dynamics.kernel(function)
        self._input = kernel.buffer(kernel.input_size)
        self._buffers = [self._input, *(kernel.buffer(n) for n in (kernel.output_size, kernel.scratch))]
        self._work = np.zeros(8 + 2 * (dynamics.nq + dynamics.nv))
        self._segments: dict[str, np.ndarray] = {}
        start = 0
        for name, size in kernel.inputs:
            self._segments[name] = self._input[start : start + size]
            start += size
        self.output = self._buffers[1][: kernel.output_size]
        self._run = jit.function(kernel.native, f"{kernel.entry}_run", 5, hold_gil=False)
        self._pointers = [ctypes.c_void_p(b.ctypes.data) for b in (*self._buffers, self._work)]

    def run(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, parameters: np.ndarray, count: int
    ) -> tuple[int, int]:
        """Advance q (nq,) and v (nv,) in place; (steps done, code of ``drivers``)."""
        segments = self._segments
        segments["q"][:], segments["v"][:], segments["tau"][:] = q, v, tau
        segments["parameters"][:] = parameters
        self._work[0] = h
        if "dt" in segments:
            segments["dt"][:] = h
        if "v_middle" in segments:
            segments["v_middle"][:] = v
        result = self._run(*self._pointers, count)
        q[:], v[:] = segments["q"], segments["v"]
        return result >> 2, result & 3
