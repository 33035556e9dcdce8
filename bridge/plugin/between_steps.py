"""Where bodies are between two steps: positions along a line, rotations along the shortest arc."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from bridge.orientations import quaternion_of
from recursive_dyn.codegen.compiled import compiled

_NO_ARC = 1e-8  # sine of an arc along which the chord is the same to rounding


class BetweenSteps:
    """Poses (nb, 4, 4) at the last step's start, ``before``, and what is shown of a moment since, in one array."""

    def __init__(self, poses: np.ndarray) -> None:
        self.before, self.shown = poses.copy(), poses.copy()

    def start(self, poses: np.ndarray) -> None:
        """A step starts with bodies here."""
        self.before[:] = poses

    def renumber(self, old: Sequence[str], new: Sequence[str], poses: np.ndarray) -> None:
        """Bodies came or went; who is new was where it is now. Arrays are others from now on."""
        before, known = poses.copy(), {name: k for k, name in enumerate(old)}
        kept = [(k, known[name]) for k, name in enumerate(new) if name in known]
        if kept:
            now, then = np.array(kept).T
            before[now] = self.before[then]
        self.before, self.shown = before, poses.copy()

    def at(self, fraction: float, poses: np.ndarray) -> np.ndarray:
        """Poses a fraction of the way from the last step's start to ``poses``: the same array every time."""
        between(self.before, np.ascontiguousarray(poses), float(fraction), self.shown)
        return self.shown


@compiled
def between(
    before: Annotated[np.ndarray, float, 4, 4],
    after: Annotated[np.ndarray, float, 4, 4],
    share: float,
    result: Annotated[np.ndarray, float, 4, 4],
) -> None:
    """Poses a share of the way from some to others (n, 4, 4); with 1 these, to the last bit."""
    if share >= 1.0:
        result[:] = after
        return
    for k in range(len(after)):
        x0, y0, z0, w0 = quaternion_of(before[k])
        x1, y1, z1, w1 = quaternion_of(after[k])
        cosine = x0 * x1 + y0 * y1 + z0 * z1 + w0 * w1
        sign = 1.0
        if cosine < 0.0:  # q and -q are one rotation: the shorter arc
            sign, cosine = -1.0, -cosine
        dx, dy, dz, dw = (
            sign * x1 - cosine * x0,
            sign * y1 - cosine * y0,
            sign * z1 - cosine * z0,
            sign * w1 - cosine * w0,
        )
        sine = math.sqrt(dx * dx + dy * dy + dz * dz + dw * dw)
        a, b = 1.0 - share, share
        if sine > _NO_ARC:
            angle = math.atan2(sine, cosine)
            a, b = math.sin((1.0 - share) * angle) / sine, math.sin(share * angle) / sine
        b = sign * b
        x, y, z, w = a * x0 + b * x1, a * y0 + b * y1, a * z0 + b * z1, a * w0 + b * w1
        scale = 2.0 / (x * x + y * y + z * z + w * w)
        X = result[k]
        X[0, 0] = 1.0 - scale * (y * y + z * z)
        X[0, 1] = scale * (x * y - z * w)
        X[0, 2] = scale * (x * z + y * w)
        X[1, 0] = scale * (x * y + z * w)
        X[1, 1] = 1.0 - scale * (x * x + z * z)
        X[1, 2] = scale * (y * z - x * w)
        X[2, 0] = scale * (x * z - y * w)
        X[2, 1] = scale * (y * z + x * w)
        X[2, 2] = 1.0 - scale * (x * x + y * y)
        for i in range(3):
            X[i, 3] = before[k, i, 3] + share * (after[k, i, 3] - before[k, i, 3])
