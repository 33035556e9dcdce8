"""The best of the directions across a cylinder's axis, where its barrel is met; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.gap_along import gap_along, keep_better
from bridge.curved.manifold_points import crossed, normalized
from bridge.curved.solid import Solid
from recursive_dyn.codegen.compiled import Floats, compiled

_AROUND = 16  # directions across an axis between which a maximum is looked for
_ITERATIONS = 100  # of a root that a kink may be
_CLOSE = 1e-15  # between two angles
_LEVEL = 1e-16  # share of its change below which a slope is none
_LEAST = 1e-6  # sine of an angle to an axis, from which on it says what is across


@compiled
def climb_across(one: Solid, other: Solid, solid: Solid, best: Floats) -> None:
    """The best of the directions across a cylinder's axis, where its barrel is met."""
    x, y, n, u = np.empty(3), np.empty(3), np.empty(3), solid.axes[2]
    along = best[0] * u[0] + best[1] * u[1] + best[2] * u[2]
    for i in range(3):
        x[i] = best[i] - along * u[i]
    if normalized(x) < 1e-6:
        x[:] = solid.axes[0]
    crossed(u, x, y)
    step, before, at_before = 2.0 * math.pi / _AROUND, 0.0, _turning(one, other, x, y, 0.0, n)
    for k in range(1, _AROUND + 1):
        angle = k * step
        slope = _turning(one, other, x, y, angle, n)
        if at_before >= 0.0 >= slope and at_before > slope:
            _largest(one, other, x, y, before, angle, n)
            keep_better(one, other, n, best)
        before, at_before = angle, slope


@compiled
def _largest(one: Solid, other: Solid, x: Floats, y: Floats, low: float, high: float, n: Floats) -> None:
    """n where between two angles the gap grows no more, by the Illinois rule, or halving."""
    at_low, at_high = _turning(one, other, x, y, low, n), _turning(one, other, x, y, high, n)
    side, weight_low, weight_high, level = 0, at_low, at_high, _LEVEL * (at_low - at_high)
    for k in range(_ITERATIONS):
        if high - low < _CLOSE or min(at_low, -at_high) <= level:
            break
        middle = high - weight_high * (high - low) / (weight_high - weight_low)
        if k % 4 == 3 or not low < middle < high:
            middle = 0.5 * (low + high)
        slope = _turning(one, other, x, y, middle, n)
        if slope >= 0.0:
            low, at_low, weight_low = middle, slope, slope
            weight_high = 0.5 * weight_high if side < 0 else weight_high
            side = -1
        else:
            high, at_high, weight_high = middle, slope, slope
            weight_low = 0.5 * weight_low if side > 0 else weight_low
            side = 1
    _turning(one, other, x, y, low if at_low < -at_high else high, n)


@compiled
def _turning(one: Solid, other: Solid, x: Floats, y: Floats, angle: float, n: Floats) -> float:
    """How fast the gap grows with the angle of n from x towards y."""
    a, b, c, s, slope = np.empty(3), np.empty(3), math.cos(angle), math.sin(angle), 0.0
    for i in range(3):
        n[i] = c * x[i] + s * y[i]
    gap_along(one, other, n, a, b)
    for i in range(3):
        slope += (c * y[i] - s * x[i]) * (a[i] - b[i])
    return slope
