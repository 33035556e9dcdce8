"""The cone x_0 >= |(x_1, x_2)|: its product, distances to its boundary, and Nesterov and Todd's scaling (1998).

The symmetric W with W z = W^-1 s is eta [[w_0, w_t], [w_t, I + w_t w_t^T / (1 + w_0)]], w_0^2 - |w_t|^2 = 1.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled

Three = tuple[float, float, float]


@compiled
def depth(x: Floats) -> float:
    """x_0^2 - |x_t|^2, positive inside."""
    size = np.sqrt(x[1] * x[1] + x[2] * x[2])
    return (x[0] - size) * (x[0] + size)


@compiled
def scaling(deep: float, s: Floats, z: Floats) -> tuple[float, float, float, float]:
    """eta^2, w (3,) of s, whose depth is ``deep``, and z, which are inside."""
    square = deep / np.sqrt(deep * depth(z))
    # w is s / sqrt(depth s) + (z_0, -z_t) / sqrt(depth z), made as long as it is to be
    half = 1.0 / np.sqrt(2.0 * (deep + square * (s[0] * z[0] + s[1] * z[1] + s[2] * z[2])))
    w1, w2 = half * (s[1] - square * z[1]), half * (s[2] - square * z[2])
    return square, np.sqrt(1.0 + w1 * w1 + w2 * w2), w1, w2


@compiled
def scaled(eta: float, w0: float, w1: float, w2: float, x0: float, x1: float, x2: float) -> Three:
    """W x; W^-1 x of 1 / eta and -w_1, -w_2."""
    along = w1 * x1 + w2 * x2
    more = x0 + along / (1.0 + w0)
    return eta * (w0 * x0 + along), eta * (x1 + more * w1), eta * (x2 + more * w2)


@compiled
def divided(l: Floats, x0: float, x1: float, x2: float) -> Three:
    """y with (l_0 y_0 + l_t y_t, l_0 y_t + y_0 l_t) = x, for l inside."""
    y0 = (l[0] * x0 - l[1] * x1 - l[2] * x2) / depth(l)
    inverse = 1.0 / l[0]
    return y0, inverse * (x1 - y0 * l[1]), inverse * (x2 - y0 * l[2])


@compiled
def farthest(x: Floats, d: Floats, most: float) -> float:
    """The largest length <= most of a step d along which x, which is inside, stays in the cone."""
    x0, x1, x2 = x[0] + most * d[0], x[1] + most * d[1], x[2] + most * d[2]
    if x0 > 0.0 and x0 * x0 > x1 * x1 + x2 * x2:  # it is convex
        return most
    a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2]
    b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2]
    c = max(depth(x), 0.0)
    length = most
    if d[0] < 0.0:
        length = min(length, -x[0] / d[0])
    root = b * b - a * c
    if root >= 0.0:
        # the two roots of a t^2 + 2 b t + c, without cancellation
        q = -(b + np.sqrt(root)) if b >= 0.0 else -b + np.sqrt(root)
        if q != 0.0 and c / q > 0.0:
            length = min(length, c / q)
        if a != 0.0 and q / a > 0.0:
            length = min(length, q / a)
    return length
