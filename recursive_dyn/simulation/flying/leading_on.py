"""Where a flight's last step leads on, which the next one begins by: known to copies, and to snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.compiled_loop import CompiledLoop, leading
from recursive_dyn.integrators.integrator import Integrator


class LeadingOn:
    """The part of a flight that its next step begins by."""

    _dynamics: Dynamics
    _integrator: str
    _rule: Integrator
    _loop: CompiledLoop
    tally: np.ndarray

    def __reduce__(self) -> Any:
        return _again, (type(self), self._dynamics, self._integrator, self.tally.copy(), self.expected.copy())

    @property
    def expected(self) -> np.ndarray:
        """What the loop goes on by, a view, see ``CompiledLoop``; anything, of rules that do not."""
        return self._loop.expected

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What leads on (``compiled_loop.leading``) from q (nq,), v (nv,); zeros where nothing is known of it."""
        own, nq, state = self.expected, self._dynamics.nq, self._dynamics.nq + self._dynamics.nv
        size = leading(len(v))
        known = self._rule.goes_on and own[:nq].tobytes() == q.tobytes() and own[nq:state].tobytes() == v.tobytes()
        return own[state : state + size].copy() if known else np.zeros(size)

    def expect(self, q: np.ndarray, v: np.ndarray, rates: np.ndarray) -> None:
        """Let a step from q (nq,), v begin by what leads on from there."""
        if self._rule.goes_on:
            known = np.concatenate([q, v, rates])
            self.expected[: len(known)] = known


def _again(
    kind: Callable[[Dynamics, str, np.ndarray], LeadingOn],
    dynamics: Dynamics,
    integrator: str,
    tally: np.ndarray,
    expected: np.ndarray,
) -> LeadingOn:
    """A flight that goes on as another one would."""
    result = kind(dynamics, integrator, tally)
    result.expected[:] = expected
    return result
