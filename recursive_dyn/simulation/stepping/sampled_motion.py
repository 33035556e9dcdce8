"""A motion that a Python function says, as a polynomial over each step that compiled programs read.

The function is asked at six points of a step, its ends among them, where the Chebyshev polynomial of degree five is
extremal. Through them goes x(t) = sum of c_k s^k, s = 2 (t - t0) / h - 1: its second derivative is good to h^4, and to
some 1e-13 / h^2 of x by rounding. Where its last coefficients are no small share of what it moves, the function is
looked at more closely, as it may jump; if it does not, the step goes along the chord.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.joint.coordinate import CLOCK
from recursive_dyn.model.clock import NUMBER
from recursive_dyn.simulation.state import real
from recursive_dyn.simulation.stepping.motion_jumps import SeamChecks, WrittenMotion, refuse_jump

DEGREE = 5
_NODES = -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)  # from -1 to 1
_POWERS = np.linalg.inv(_NODES[:, None] ** np.arange(DEGREE + 1))
COUNT = DEGREE + 3  # numbers of a motion: middle of the step, 2 / h, coefficients
_ROUGH = 0.05  # of what it moves in a step, by the last two coefficients: a jump has 1.6 of itself or more


class SampledMotion:
    """``function`` of time for the coordinate ``name``."""

    def __init__(self, name: str, function: Callable[[float], float]) -> None:
        self.name, self.function, self._seam = name, function, SeamChecks(name)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters: dots, so that no scene.parameter is called so."""
        return tuple(f"{self.name}{NUMBER}{k}" for k in range(COUNT))

    @property
    def polynomial(self) -> Scalar:
        """x over inputs ("parameter", name), time's among them."""
        graph = Graph()
        middle, rate, *coefficients = (graph.input(("parameter", name)) for name in self.parameters)
        x, s = 0.0, (graph.input(("parameter", CLOCK)) - middle) * rate
        for c in reversed(coefficients):
            x = x * s + c
        return x

    def at(self, time: float) -> float:
        """Where it is. StateError for anything but a finite number."""
        value: Any = self.function(time)
        x = real(value.item() if isinstance(value, np.ndarray) and value.size == 1 else value)
        if not np.isfinite(x):
            raise StateError(
                f"the motion of '{self.name}' must be a finite number at t = {time:.6g} s, not {value!r}; the last good"
                " state is kept"
            )
        return x

    def sample(self, time: float, h: float, numbers: np.ndarray) -> None:
        """Write the numbers (COUNT,) of a step of h from a time on. StateError if the motion jumps in it."""
        middle, half = time + 0.5 * h, 0.5 * h
        when = [middle + half * node for node in _NODES.tolist()]
        x = [self.at(t) for t in when]
        self._seam.check(time, x[0], time + h, x[-1])
        c = _POWERS @ x
        if np.abs(c[-2:]).sum() > _ROUGH * (max(x) - min(x)):
            for start, end in pairwise(when):
                refuse_jump(self.name, self.at, start, end)
            # a polynomial through a kink swings as wildly as it is short; along the chord rates jump where steps end
            c[:] = 0.0
            c[0], c[1] = 0.5 * (x[0] + x[-1]), 0.5 * (x[-1] - x[0])
        numbers[:] = middle, 1.0 / half, *c


Motions = Sequence[SampledMotion | WrittenMotion]  # those that a step has to look at before it begins
