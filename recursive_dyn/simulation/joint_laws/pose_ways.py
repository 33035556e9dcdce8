"""Ways from where something is to where a motor has it be, in the axes of the body that moves."""

from __future__ import annotations

from math import atan2

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled


@compiled
def way_to_point(q: Floats, p: int, r: int, aim: Floats, ways: Floats, first: int) -> None:
    """ways, three from ``first`` on, to a point from that at p in q, in the axes of the quaternion at r."""
    x, y, z, w = q[r], q[r + 1], q[r + 2], q[r + 3]
    a, b, c = aim[0] - q[p], aim[1] - q[p + 1], aim[2] - q[p + 2]
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    d0, d1, d2 = c * y - b * z, a * z - c * x, b * x - a * y  # d = r x u, r the vector part of q
    ways[first] = a + scale * (y * d2 - z * d1 - w * d0)
    ways[first + 1] = b + scale * (z * d0 - x * d2 - w * d1)
    ways[first + 2] = c + scale * (x * d1 - y * d0 - w * d2)


@compiled
def way_to_turn(q: Floats, r: int, aim: Floats, ways: Floats, first: int) -> None:
    """ways, three from ``first`` on, of a turn: log of the inverse of the quaternion at r in q times the aim, which has
    length 1."""
    x, y, z, w = -q[r], -q[r + 1], -q[r + 2], q[r + 3]
    i, j, k = aim[0], aim[1], aim[2]
    a = w * i + x * aim[3] + y * k - z * j
    b = w * j + y * aim[3] + z * i - x * k
    c = w * k + z * aim[3] + x * j - y * i
    d = w * aim[3] - x * i - y * j - z * k
    if d < 0.0:
        a, b, c, d = -a, -b, -c, -d
    sine = np.sqrt(a * a + b * b + c * c)
    scale = 2.0 * atan2(sine, d) / sine if sine > 1e-9 * d else 2.0 / d
    ways[first], ways[first + 1], ways[first + 2] = scale * a, scale * b, scale * c
