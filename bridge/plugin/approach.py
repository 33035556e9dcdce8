"""How fast the points of contacts approached each other; compiled."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled

Rows3 = Annotated[np.ndarray, float, 3]
Rows6 = Annotated[np.ndarray, float, 6]


class Movers(NamedTuple):
    """Whose contacts they are: twists (nb, 6) at a step's start, world axes, at origins poses[:, :3, 3],
    and those of free bodies (m, 6) at their centers (m, 3), which are numbered after the others."""

    twists: Rows6
    poses: Annotated[np.ndarray, float, 4, 4]
    free_twists: Rows6
    centers: Rows3


class Meeting(NamedTuple):
    """Contacts (n of them), as of ``Contacts``: bodies a, b, points on both, normals from B to A, drift of B."""

    a: Integers
    b: Integers
    points_a: Rows3
    points_b: Rows3
    normals: Rows3
    drift: Rows3


@compiled
def approach(movers: Movers, meeting: Meeting, speeds: Floats) -> None:
    """Speeds (n,) at which points approach each other along their normals, m/s."""
    for k in range(len(speeds)):
        normal = meeting.normals[k]
        own = _along(movers, meeting.a[k], meeting.points_a[k], normal)
        other = _along(movers, meeting.b[k], meeting.points_b[k], normal)
        for i in range(3):
            other += meeting.drift[k, i] * normal[i]
        speeds[k] = other - own


@compiled
def _along(movers: Movers, body: int, point: Floats, normal: Floats) -> float:
    """The speed of a body's point along a normal; 0 of what does not move."""
    if body < 0:
        return 0.0
    arm, count = np.empty(3), len(movers.twists)
    twist = movers.twists[body] if body < count else movers.free_twists[body - count]
    for i in range(3):
        arm[i] = point[i] - (movers.poses[body, i, 3] if body < count else movers.centers[body - count, i])
    speed = 0.0
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        speed += normal[i] * (twist[3 + i] + twist[j] * arm[m] - twist[m] * arm[j])
    return speed
