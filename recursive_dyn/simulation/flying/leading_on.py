"""Where a flight's last step leads on, which the next one begins by: known to copies, and to snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.compiled_loop import PARTS, WATCH, CompiledLoop, leading
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
        """What leads on (``compiled_loop.leading``) from q (nq,), v (nv,); zeros where nothing is known of it, but for
        what outlives states."""
        own, nq, state = self.expected, self._dynamics.nq, self._dynamics.nq + self._dynamics.nv
        size = leading(len(v))
        known = self._rule.goes_on and own[:nq].tobytes() == q.tobytes() and own[nq:state].tobytes() == v.tobytes()
        result = own[state : state + size].copy()
        if not known:
            result[: size - WATCH if self._rule.goes_on else size] = 0.0
        return result

    def expect(self, q: np.ndarray, v: np.ndarray, rates: np.ndarray, alike: bool) -> None:
        """Let a step from q (nq,), v begin by what leads on from there; alike: by steps of this rule and this length,
        whose parts these steps then go into."""
        if self._rule.goes_on:
            own, known = self.watched.copy(), np.concatenate([q, v, rates])
            self.expected[: len(known)] = known
            if not alike:
                self.watched[:] = own

    @property
    def watched(self) -> np.ndarray:
        """Of a rule that goes on (WATCH,), a view: into how many parts its steps go, and why, see ``compiled_loop``."""
        own, end = self.expected, self._dynamics.nq + self._dynamics.nv + leading(self._dynamics.nv)
        return own[end - WATCH : end]

    def watch(self, before: np.ndarray | None) -> None:
        """Let steps go into parts where energy asks for it, and at first as those of another flight (WATCH,) did."""
        if self._rule.goes_on:
            self.watched[PARTS] = 1.0
            if before is not None and before[PARTS]:
                self.watched[:] = before

    def count(self, alone: bool) -> None:
        """Of a rule that goes on, let whole steps go into parts by what they make only where no motor drives: what one
        bears, and how springs answer it, is of whole steps."""
        watched = self.watched
        if watched[PARTS] <= 1.0:
            watched[PARTS] = float(alone)

    @property
    def parts(self) -> int:
        """Into how many parts steps go."""
        return max(1, int(self.watched[PARTS])) if self._rule.goes_on else 1


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
