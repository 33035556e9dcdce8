"""Rows that keep balls within their cones and twists.

With R = C Swing Twist (``joint.turn_limits``), axis a and q = C* quaternion = (x, w), x_a = a . x, x_p = x - a x_a:

    cos(swing / 2) = c = sqrt(w^2 + x_a^2),  sin(swing / 2) = s = |x_p|,  tan(twist / 2) = x_a / w

The swing is about n in the parent and about m in the child, at right angles to a:

    c s n = w x_p - x_a x_p x a,   c s m = w x_p + x_a x_p x a
    d(swing)/dt = m . omega,   n turns about a by (a x m) . omega / sin(swing)

A gap is the distance to its bound to first order: f / |df/d omega|, f = 1 - swing rho(n), rho the half-angle's
reciprocal in the ellipse along n; of a twist c (twist - low), as |d twist/d omega| = 1 / c. So rows are of unit length,
and near half a turn, where a twist changes by anything, the way to its bound is short.
"""

from __future__ import annotations

from math import atan2, cos, sin

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.ball_limits import MOST, SPEEDS, BallLimits, ball_limits

SWING, LOW, HIGH, ROWS = range(4)  # rows of a ball, and how many
KINDS = ("swing limit of ", "low twist limit of ", "high twist limit of ")
_LEAST = 1e-12  # square of the rates of a row by velocities, below which these do nothing to it
_STRAIGHT = 1e-12  # sine or cosine of half a swing below which it has no direction, or twists have none


@compiled
def turn_row(it: BallLimits, k: int, kind: int, q: Floats, out: Floats) -> float:
    """The gap of one row of ball k, infinite where it has none; out (3,): its rate by omega, of length 1. q: where the
    quaternion is, a configuration or what "chart_motion" gave."""
    frame, at = it.frames[k], it.places[k]
    x, y, z, w = _from_center(it.centers[k], q[at], q[at + 1], q[at + 2], q[at + 3])
    xa = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
    x1 = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
    x2 = frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z
    c, s = np.sqrt(w * w + xa * xa), np.sqrt(x1 * x1 + x2 * x2)
    if kind == SWING:
        gap, ja, j1, j2 = _swing(it.swing[k], xa, x1, x2, w, c, s)
    else:
        gap, ja, j1, j2 = _twist(it.twist[k], xa, x1, x2, w, c, 1.0 if kind == LOW else -1.0)
    for i in range(3):
        out[i] = ja * frame[0, i] + j1 * frame[1, i] + j2 * frame[2, i]
    return gap


@compiled
def _from_center(center: Floats, x: float, y: float, z: float, w: float) -> tuple[float, float, float, float]:
    """C* q, of length 1."""
    a, b, c, d = center[0], center[1], center[2], center[3]
    size = np.sqrt(x * x + y * y + z * z + w * w)
    return (
        (d * x - a * w - b * z + c * y) / size, (d * y - b * w - c * x + a * z) / size,
        (d * z - c * w - a * y + b * x) / size, (d * w + a * x + b * y + c * z) / size,
    )  # fmt: skip


@compiled
def _swing(
    most: Floats, xa: float, x1: float, x2: float, w: float, c: float, s: float
) -> tuple[float, float, float, float]:
    """Gap, and its rate by omega along the axis and the two others."""
    if most[0] == np.inf:
        return np.inf, 0.0, 0.0, 0.0
    angle, n1, n2, m1, m2 = 2.0 * atan2(s, c), 1.0, 0.0, 1.0, 0.0
    if s > _STRAIGHT and c > _STRAIGHT:
        n1, n2 = (w * x1 - xa * x2) / (c * s), (w * x2 + xa * x1) / (c * s)
        m1, m2 = (w * x1 + xa * x2) / (c * s), (w * x2 - xa * x1) / (c * s)
    elif s > _STRAIGHT:
        n1, n2 = x1 / s, x2 / s
        m1, m2 = n1, n2
    u, v = 1.0 / (most[0] * most[0]), 1.0 / (most[1] * most[1])
    rho = np.sqrt(n1 * n1 * u + n2 * n2 * v)
    aside = 0.0  # rate of f as n turns about the axis
    if u != v and s > _STRAIGHT and angle < max(most[0], most[1]):  # far beyond, back by the shortest swing
        aside = angle / (2.0 * s * c) * n1 * n2 * (v - u) / rho
    size = np.sqrt(rho * rho + aside * aside)
    r, t = -rho / size, -aside / size
    return (1.0 - angle * rho) / size, 0.0, r * m1 - t * m2, r * m2 + t * m1


@compiled
def _twist(
    limits: Floats, xa: float, x1: float, x2: float, w: float, c: float, sign: float
) -> tuple[float, float, float, float]:
    """The same of the low bound, and, of sign -1, of the high one."""
    if limits[0] == np.inf or c < _STRAIGHT:
        return np.inf, 0.0, 0.0, 0.0
    back, ahead = sin(0.5 * limits[0]), cos(0.5 * limits[0])
    sine, cosine = xa * ahead - w * back, w * ahead + xa * back
    if cosine < 0.0:
        sine, cosine = -sine, -cosine
    gap = c * (limits[1] + sign * 2.0 * atan2(sine, cosine))
    return gap, sign * c, sign * (xa * x1 - w * x2) / c, sign * (xa * x2 + w * x1) / c


@compiled
def turn_rates(it: BallLimits, k: int, rates: Floats, motion: Floats, out: Floats) -> bool:
    """Rates by omega (3,) as ``out`` by the velocities of ball k; motion: of joints of several charts; whether there
    are any."""
    at, count, square = it.motions[k], it.counts[k], 0.0
    for j in range(count):
        out[j] = 0.0
        for i in range(SPEEDS):
            out[j] += rates[i] * (motion[at + count * i + j] if at >= 0 else 1.0 * (i == j))
        square += out[j] * out[j]
    return square > _LEAST


def turn_gaps(dynamics: Dynamics, q: np.ndarray) -> dict[str, tuple[int, float, np.ndarray]]:
    """What rows of balls are at q (nq,), by name: the first slot, the gap, rad, and its rates by their velocities."""
    it, found, q = ball_limits(dynamics.model), {}, np.asarray(q, dtype=float)
    motion = dynamics.call("chart_motion", q) if (it.motions >= 0).any() else q[:0]
    rates, out = np.zeros((2, MOST))
    for kind, what in enumerate(KINDS):
        for k, slot in enumerate(it.slots.tolist()):
            gap = turn_row(it, k, kind, q if it.motions[k] < 0 else motion, rates)
            if gap < np.inf and turn_rates(it, k, rates, motion, out):
                found[what + dynamics.velocity_coordinates[slot]] = slot, gap, out[: it.counts[k]].copy()
    return found
