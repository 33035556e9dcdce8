"""Motors of joints of several charts: springs and dampers to a pose, the same whatever chart the state is in.

With the way to the target, turn and shift in the axes of the body, e = (phi, d), exp(phi) = R^T R_p, d = R^T (p_p - p),
and S_p (6, n) the motion subspace at the target in the chart that the motor's numbers are of, shaft k of the motor has

    s = S_p^+ e,    r = -ds/dt = S_p^+ (J^-1 omega, v + omega x d),    J^-1 = 1 - phi^ / 2 + c phi^ phi^

c = (1 - (t / 2) cot(t / 2)) / t^2 at t = |phi|, (omega, v) = S v the body's twist in the chart in force. At the target
s and r are what is left of the coordinates, and their rates, to first order. The force y of a shaft pushes coordinates
by y dr/dv: a spring's power is that of its energy kp s^2 / 2, everywhere. In steps they are rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, sin
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.errors import StateError
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.model.model import Link
from recursive_dyn.simulation.joint_laws.pose_ways import way_to_point, way_to_turn
from recursive_dyn.spatial.rotations import matrix_to_quaternion

MOST = 6  # coordinates of a joint
_SINGULAR = 1e-6  # share of the largest motion by a coordinate, of the least one
_NEAR = 1e-2  # rad, below which c is its series


class JointTargets(NamedTuple):
    """joints (c, 4): first motor, number of coordinates, place in what "chart_motion" gives, first slot; quaternions
    (c, 4) and points (c, 3) to come to; shafts (c, 6, 6): rows of S_p^+."""

    joints: Annotated[np.ndarray, int, 4]
    quaternions: Annotated[np.ndarray, float, 4]
    points: Annotated[np.ndarray, float, 3]
    shafts: Annotated[np.ndarray, float, 6, 6]


def room_for_targets(most: int) -> JointTargets:
    """Of so many joints."""
    return JointTargets(
        np.zeros((most, 4), dtype=np.int64), np.zeros((most, 4)), np.zeros((most, 3)), np.zeros((most, 6, 6))
    )


def target(
    link: Link, chart: int, position: Sequence[float], parameters: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quaternion (4,), point (3,) and shafts (n, 6) of the pose that a joint has at a position in one of its charts.

    StateError where it has none, or the chart is singular there.
    """
    joint = link.joint.charts[chart]
    derived = joint.kinematics()
    inputs = {("q", i): x for i, x in enumerate(position)} | {("parameter", p): parameters[p] for p in joint.parameters}
    numbers = np.array(evaluate([*derived.pose[:3].flat, *derived.subspace.flat], inputs), dtype=float)
    pose, S = numbers[:12].reshape(3, 4), numbers[12:].reshape(6, -1)
    sizes = np.linalg.svd(S, compute_uv=False) if np.isfinite(numbers).all() else np.zeros(1)
    if not sizes[-1] > _SINGULAR * sizes[0]:
        raise StateError(
            f"motors['{link.name}']: chart {chart} of the joint is singular at that position; give it in another one,"
            " chart="
        )
    return np.asarray(matrix_to_quaternion(pose[:, :3]), dtype=float), pose[:, 3], np.linalg.pinv(S)


def pushes(it: JointTargets, count: int, motion: np.ndarray, nv: int) -> dict[int, np.ndarray]:
    """By motor of ``count`` joints dr/dv (nv,): the generalized force of a unit of its own; motion: see there."""
    along, found = np.zeros((nv, MOST)), {}
    shaft_ways(it, count, motion, np.zeros(nv), along)
    for first, n, _, slot in it.joints[:count].tolist():
        for k in range(first, first + n):
            found[k] = np.zeros(nv)
            found[k][slot : slot + n] = along[k, :n]
    return found


@compiled
def shaft_ways(
    it: JointTargets, count: int, motion: Floats, ways: Floats, along: Annotated[np.ndarray, float, 6]
) -> None:
    """Add s to the ways by motor of ``count`` joints, and write what each coordinate adds to r as ``along``; motion:
    what "chart_motion" gave."""
    e, column = np.empty(MOST), np.empty(MOST)
    for i in range(count):
        first, n, at = it.joints[i, 0], it.joints[i, 1], it.joints[i, 2]
        way_to_turn(motion, at, it.quaternions[i], e, 0)
        way_to_point(motion, at + 4 + 3 * n, at, it.points[i], e, 3)
        for k in range(n):
            for l in range(MOST):
                ways[first + k] += it.shafts[i, k, l] * e[l]
        for j in range(n):
            for l in range(3):
                column[l] = motion[at + 4 + n * l + j]
                column[3 + l] = motion[at + 7 + 3 * n + n * l + j]
            _as_rates(e, column)
            for k in range(n):
                along[first + k, j] = 0.0
                for l in range(MOST):
                    along[first + k, j] += it.shafts[i, k, l] * column[l]


@compiled
def _as_rates(e: Floats, twist: Floats) -> None:
    """Of a twist (6,) the rates, with opposite sign, of the way e (6,) that is left, in its place."""
    a, b, c, x, y, z = e[0], e[1], e[2], twist[0], twist[1], twist[2]
    square = a * a + b * b + c * c
    angle = np.sqrt(square)
    factor = 1.0 / 12.0 + square / 720.0
    if angle > _NEAR:
        factor = (1.0 - 0.5 * angle * cos(0.5 * angle) / sin(0.5 * angle)) / square
    u, v, w = b * z - c * y, c * x - a * z, a * y - b * x  # phi x omega
    twist[0] = x - 0.5 * u + factor * (b * w - c * v)
    twist[1] = y - 0.5 * v + factor * (c * u - a * w)
    twist[2] = z - 0.5 * w + factor * (a * v - b * u)
    twist[3] += y * e[5] - z * e[4]
    twist[4] += z * e[3] - x * e[5]
    twist[5] += x * e[4] - y * e[3]
