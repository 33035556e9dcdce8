"""Steps of a flight's loop, halved where they do not converge, or have energy that nothing explains."""

from __future__ import annotations

import ctypes

import numpy as np

from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.compiled_loop import CompiledLoop
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.flying.engine import DrivenEngine

# how often a midpoint step may be halved that does not converge, or that has energy which nothing explains
_SPLITS = {drivers.NOT_CONVERGED: 6, drivers.UNEXPLAINED: 10}
_DEEPEST = max(_SPLITS.values())
_Array = np.ndarray


class ShorterSteps:
    """The part of a flight that runs its loop."""

    _dynamics: Dynamics
    _loop: CompiledLoop
    _driving: DrivenEngine | None
    _limits_address: ctypes.c_void_p
    _q: _Array
    _v: _Array
    _tau: _Array
    _parameters: _Array
    _dt: _Array | None
    _middle: _Array | None
    tally: _Array

    def _steps(self, h: float, count: int, limited: int, large: int) -> tuple[int, int]:
        """Steps from the state in the loop's own memory; large: 1 to take those with large results too."""
        done, code = self._run(h, count, limited, large)
        if code in _SPLITS:
            start, counted = (self._q.copy(), self._v.copy()), self.tally.copy()
            code = self._shorter(code, h, limited, large)
            if code == drivers.OK:
                done += 1
                self.tally[0] += 1
            else:
                (self._q[:], self._v[:]), self.tally[:] = start, counted
        return done, code

    def _shorter(self, code: int, h: float, limited: int, large: int, since: float = 0.0) -> int:
        """How a step that ended with such a code ends in shorter ones; since: where it starts in the whole, s."""
        try:
            return self._split(h, limited, large, 1, since)
        finally:
            self._loop.share(1.0, False)

    def _run(self, h: float, count: int, limited: int, large: int, since: float = 0.0) -> tuple[int, int]:
        if self._driving is not None:
            self._driving.since = since
        if self._dt is not None:
            self._dt[0] = h
        if self._middle is not None:
            self._middle[:] = self._v
        return self._loop.run(h, count, self._limits_address, limited, large)

    def in_parts(self, q: _Array, v: _Array, tau: _Array, h: float, parts: int) -> StatePair | None:
        """Where a step of length h from q (nq,) and v (nv,) leads in equal parts, if that is possible."""
        self._q[:], self._v[:], self._tau[:] = q, v, tau
        self._parameters[:] = self._dynamics.parameters.values_array
        for k in range(parts):
            code = self._run(h / parts, 1, 0, 0, k * h / parts)[1]
            if code in _SPLITS:
                code = self._shorter(code, h / parts, 0, 0, k * h / parts)
            if code != drivers.OK:
                return None
        return self._q.copy(), self._v.copy()

    def _split(self, h: float, limited: int, large: int, depth: int, since: float) -> int:
        """One step of length h as two halves, or, where a half does not end as it should either, as four quarters, ...

        depth: how often it is halved with this; since: the start of the whole, s.
        """
        self.tally[1] += 1
        for start in (since, since + h / 2):
            self._loop.share(0.5**depth, depth == _DEEPEST)
            _, code = self._run(h / 2, 1, limited, large, start)
            if depth < _SPLITS.get(code, 0):
                code = self._split(h / 2, limited, large, depth + 1, start)
            if code != drivers.OK:
                return code
        return drivers.OK
