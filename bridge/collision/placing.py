"""Where Bullet's bodies were put, which of them must be put elsewhere, and how far they have moved; compiled."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from bridge.orientations import quaternion_of
from recursive_dyn.codegen.compiled import Floats, Integers, compiled

HALF = 0.5  # of a body's inner radius: how far it may get in one part of a step


class Placing(NamedTuple):
    """Bullet's bodies that follow the scene's, a row each.

    ids, bodies (n,): Bullet's id, the scene's number; poses (n, 4, 4), quaternions (n, 4), twists (n, 6): where they
    were put last, NaN where that is not known; due (n,): rows that must be put elsewhere. seen (n, 4, 4): where they
    were when Bullet last looked twice; reach (n,), m: how far a turn of 1 rad moves their surfaces. forgiven (1,), m:
    how far they may move until Bullet forgets points of contact that still are there.
    """

    ids: Integers
    bodies: Integers
    poses: Annotated[np.ndarray, float, 4, 4]
    quaternions: Annotated[np.ndarray, float, 4]
    twists: Annotated[np.ndarray, float, 6]
    due: Integers
    seen: Annotated[np.ndarray, float, 4, 4]
    reach: Floats
    forgiven: Floats


@compiled
def note_due(
    placing: Placing, poses: Annotated[np.ndarray, float, 4, 4], twists: Annotated[np.ndarray, float, 6]
) -> int:
    """How many rows must be put elsewhere to stand at poses (nb, 4, 4) with twists (nb, 6); where is noted."""
    count = 0
    for k in range(len(placing.ids)):
        body = placing.bodies[k]
        if not _is_there(placing.poses[k], poses[body], placing.twists[k], twists[body]):
            placing.poses[k] = poses[body]
            placing.twists[k] = twists[body]
            q = placing.quaternions[k]
            q[0], q[1], q[2], q[3] = quaternion_of(poses[body])
            placing.due[count] = k
            count += 1
    return count


@compiled
def _is_there(A: Annotated[np.ndarray, float, 4], B: Annotated[np.ndarray, float, 4], a: Floats, b: Floats) -> bool:
    same = True
    for i in range(3):
        for j in range(4):
            same = same and A[i, j] == B[i, j]
    for i in range(6):
        same = same and a[i] == b[i]
    return same


@compiled
def has_moved(placing: Placing) -> bool:
    """Whether Bullet must look twice, as a body is farther from where it was seen than is forgiven: all are seen."""
    moved = False
    for k in range(len(placing.ids)):
        X, Y = placing.poses[k], placing.seen[k]
        shift, turn = 0.0, 0.0
        for i in range(3):
            shift += (X[i, 3] - Y[i, 3]) ** 2
            for j in range(3):
                turn += (X[i, j] - Y[i, j]) ** 2  # 8 sin(angle / 2)^2
        if not math.sqrt(shift) + placing.reach[k] * math.sqrt(0.5 * turn) <= placing.forgiven[0]:
            moved = True
            break
    if moved:
        placing.seen[:] = placing.poses
    return moved


@compiled
def hurrying(twists: Annotated[np.ndarray, float, 6], reach: Annotated[np.ndarray, float, 3], h: Floats) -> int:
    """How many bodies get further in h[0] s than half their inner radius; none if a velocity is out of all bounds.

    reach (nb, 3), m: inner radius, how far a turn of 1 rad moves the surface, how far the body extends.
    """
    count = 0
    for k in range(len(twists)):
        spin, speed = 0.0, 0.0
        for i in range(3):
            spin += twists[k, i] * twists[k, i]
            speed += twists[k, 3 + i] * twists[k, 3 + i]
        way = h[0] * (math.sqrt(speed) + math.sqrt(spin) * reach[k, 1])
        if not np.isfinite(way):
            return 0
        if way > HALF * reach[k, 0]:
            count += 1
    return count
