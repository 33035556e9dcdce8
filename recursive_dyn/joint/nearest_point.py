"""Where a joint comes nearest to a pose, and moves nearest to a twist: by the interpreter, without compiling anything.

For joints that are hung anew, which happens rarely.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.graph import expression as ex
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.chart import twist_between
from recursive_dyn.joint.joint_program import JointProgram, build
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from recursive_dyn.spatial.spaces import RigidMotion

MET = 1e-9  # rad and m: beyond this a joint does not have the pose
_STARTS, _STEPS, _SEED = 16, 40, 20260711
_STILL = 1e-15
_LEVEL = 1e-15  # share of the square of what is missed: by less it cannot be told to change
_AHEAD, _LOWER = 100, 1e-6  # where so many steps like the last one do not lead lower by this share, another is nearer
_FAR = 1e100


class JointPoint(NamedTuple):
    """A joint's coordinates q, its pose (4, 4) and motion subspace S (6, d) there; missed: rad and m off."""

    q: np.ndarray
    pose: np.ndarray
    S: np.ndarray
    missed: float


class _Points(NamedTuple):
    """Several of them, arrays of n rows; error (n, 6): the twists that lead to where they are wanted."""

    q: np.ndarray
    pose: np.ndarray
    S: np.ndarray
    missed: np.ndarray
    error: np.ndarray


def nearest_point(
    joint: JointProgram, inputs: Mapping[Any, float], pose: np.ndarray, start: np.ndarray, limits: np.ndarray
) -> JointPoint:
    """The point of a joint, whose coordinates are its own, nearest to a pose (4, 4), within limits (nv, 2).

    inputs: the values of its parameters and of the chart in force. Damped Gauss-Newton steps from ``start`` (nq,), and
    where these do not reach the pose from points all over the joint, all at once; radians count as metres.
    """
    if joint.key == _any_motion().key:
        q = np.concatenate([pose[:3, 3], matrix_to_quaternion(pose[:3, :3])])
        return JointPoint(q, RigidMotion().pose(q).astype(float), np.eye(6), 0.0)
    derived = joint.kinematics()
    outputs = [*derived.pose[:3].flat, *derived.subspace.flat]

    def at(q: np.ndarray) -> _Points:
        flat = np.empty((len(q), len(outputs)))
        for k, x in enumerate(evaluate(outputs, {("q", i): x for i, x in enumerate(q.T)} | dict(inputs))):
            flat[:, k] = x
        finite = np.isfinite(flat).all(axis=1)
        reached = np.tile(np.eye(4), (len(q), 1, 1))
        reached[finite, :3] = flat[finite, :12].reshape(-1, 3, 4)
        error = twist_between(reached, np.broadcast_to(pose, reached.shape))
        missed = np.where(finite, np.linalg.norm(error, axis=1), _FAR)
        return _Points(q, reached, flat[:, 12:].reshape(len(q), 6, -1), missed, error)

    best = _descend(joint, at(np.array([start], dtype=float)), at, limits)
    if best.missed >= MET:
        rng = np.random.default_rng(_SEED)
        starts = [_neutral(joint), *(_anywhere(joint, rng, limits) for _ in range(_STARTS - 1))]
        found = _descend(joint, at(np.array(starts)), at, limits)
        best = found if found.missed < 0.999 * best.missed else best
    return best


@cache
def _any_motion() -> JointProgram:
    """A joint that lets everything move."""
    graph = ex.Graph()
    return build(graph, [(RigidMotion(), RigidMotion().pose(graph.inputs("q", 7)))])


def _descend(joint: JointProgram, points: _Points, at: Any, bounds: np.ndarray) -> JointPoint:
    """Downhill from all points, within the bounds of plain coordinates; the lowest of where that leads."""
    damping, going = np.zeros(len(points.q)), points.missed < _FAR
    for _ in range(_STEPS):
        k = going.nonzero()[0]
        if not len(k):
            break
        S = points.S[k]
        across = np.swapaxes(S, 1, 2)
        normal = across @ S
        damped = normal * (1.0 + damping[k, None, None] * np.eye(normal.shape[1]))
        slope = across @ points.error[k, :, None]
        steps = (np.linalg.pinv(damped, rcond=1e-14, hermitian=True) @ slope)[:, :, 0]
        gain = (slope[:, :, 0] * steps).sum(axis=1)
        ahead = at(_moved(joint, points.q[k], steps, bounds))
        better = ahead.missed < points.missed[k]
        for now, found in zip(points, ahead, strict=True):
            now[k[better]] = found[better]
        still = (gain <= _LEVEL * points.missed[k] ** 2) | (np.abs(steps).max(axis=1, initial=0.0) < _STILL)
        missed, lowest = points.missed[k] ** 2, points.missed.argmin()
        hopeless = (missed - _AHEAD * gain >= (1.0 - _LOWER) * points.missed[lowest] ** 2) & better & (k != lowest)
        over = still | hopeless | (~better & (damping[k] > 1e6))
        going[k[over]] = False
        damping[k] = np.where(better, 0.1 * damping[k], 10.0 * damping[k] + 1e-4)
    best = int(points.missed.argmin())
    return JointPoint(points.q[best], points.pose[best], points.S[best], float(points.missed[best]))


def _moved(joint: JointProgram, q: np.ndarray, steps: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Points q (n, nq), each by a step (n, nv), within the bounds."""
    result = q.copy()
    for f in joint.factors:
        own, along = slice(f.first_q, f.first_q + f.nq), slice(f.first_v, f.first_v + f.nv)
        there = f.space.exp(q[:, own], steps[:, along])
        if f.space.flat:
            low, high = bounds[along].T
            turns = np.where(there > high, -1.0, np.where(there < low, 1.0, 0.0)) * 2.0 * np.pi
            inside = (there + turns >= low) & (there + turns <= high)
            there = np.clip(np.where(inside, there + turns, there), low, high)
        result[:, own] = there
    return result


def _neutral(joint: JointProgram) -> np.ndarray:
    return np.array([x for f in joint.factors for x in f.space.neutral], dtype=float)


def _anywhere(joint: JointProgram, rng: np.random.Generator, bounds: np.ndarray) -> np.ndarray:
    """A point of the joint: within limits where there are both."""
    parts = []
    for f in joint.factors:
        point = f.space.random(rng)
        if f.space.flat:
            low, high = bounds[f.first_v : f.first_v + f.nv].T
            closed = np.isfinite(low) & np.isfinite(high)
            share = (point + np.pi) / (2.0 * np.pi)
            point = np.where(closed, np.where(closed, low, 0.0) + share * np.where(closed, high - low, 0.0), point)
        parts.append(point)
    return np.concatenate(parts) if parts else np.zeros(0)
