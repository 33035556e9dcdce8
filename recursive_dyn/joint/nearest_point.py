"""Where a joint comes nearest to a pose, and moves nearest to a twist: by the interpreter, without compiling anything.

For joints that are hung anew, which happens rarely.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.graph import expression as ex
from recursive_dyn.joint.chart import twist_between
from recursive_dyn.joint.joint_program import JointProgram, build
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from recursive_dyn.spatial.spaces import RigidMotion

MET = 1e-9  # rad and m: beyond this a joint does not have the pose
_STARTS, _STEPS, _SEED = 16, 40, 20260711
_STILL = 1e-15
_FAR = 1e100


class JointPoint(NamedTuple):
    """A joint's coordinates q, its pose (4, 4) and motion subspace S (6, d) there; missed: rad and m off."""

    q: np.ndarray
    pose: np.ndarray
    S: np.ndarray
    missed: float


def nearest_point(
    joint: JointProgram, inputs: Mapping[Any, float], pose: np.ndarray, start: np.ndarray, limits: np.ndarray
) -> JointPoint:
    """The point of a joint, whose coordinates are its own, nearest to a pose (4, 4), within limits (nv, 2).

    inputs: the values of its parameters and of the chart in force. Damped Gauss-Newton steps from ``start`` (nq,), and
    where these do not reach the pose from points all over the joint; radians count as metres.
    """
    if joint.key == _any_motion().key:
        q = np.concatenate([pose[:3, 3], matrix_to_quaternion(pose[:3, :3])])
        return JointPoint(q, RigidMotion().pose(q).astype(float), np.eye(6), 0.0)
    derived = joint.kinematics()
    outputs = [*derived.pose[:3].flat, *derived.subspace.flat]

    def at(q: np.ndarray) -> JointPoint:
        values = ex.evaluate(outputs, {("q", i): x for i, x in enumerate(q)} | dict(inputs))
        reached = np.eye(4)
        reached[:3] = np.array(values[:12], dtype=float).reshape(3, 4)
        S = np.array(values[12:], dtype=float).reshape(6, -1)
        finite = np.isfinite(reached).all() and np.isfinite(S).all()
        missed = float(np.linalg.norm(twist_between(reached[None], pose[None])[0])) if finite else _FAR
        return JointPoint(q, reached, S, missed)

    best = _descend(joint, at(start), pose, at, limits)
    rng = np.random.default_rng(_SEED)
    starts = 0 if best.missed < MET else _STARTS
    for k in range(starts):
        q = _anywhere(joint, rng, limits) if k else _neutral(joint)
        found = _descend(joint, at(q), pose, at, limits)
        best = found if found.missed < 0.999 * best.missed else best
    return best


@cache
def _any_motion() -> JointProgram:
    """A joint that lets everything move."""
    graph = ex.Graph()
    return build(graph, [(RigidMotion(), RigidMotion().pose(graph.inputs("q", 7)))])


def _descend(joint: JointProgram, point: JointPoint, pose: np.ndarray, at: Any, bounds: np.ndarray) -> JointPoint:
    """Downhill from a point, within the bounds of plain coordinates."""
    damping = 0.0
    for _ in range(_STEPS):
        error = twist_between(point.pose[None], pose[None])[0]
        S = point.S
        normal = S.T @ S
        step = np.linalg.lstsq(normal + damping * np.diag(np.diag(normal)), S.T @ error, rcond=1e-14)[0]
        ahead = at(_moved(joint, point.q, step, bounds))
        if ahead.missed < point.missed:
            point, damping = ahead, 0.1 * damping
        elif np.abs(step).max(initial=0.0) < _STILL or damping > 1e6:
            break
        else:
            damping = 10.0 * damping + 1e-4
    return point


def _moved(joint: JointProgram, q: np.ndarray, step: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    result = np.array(q, dtype=float)
    for f in joint.factors:
        own, along = slice(f.first_q, f.first_q + f.nq), slice(f.first_v, f.first_v + f.nv)
        result[own] = f.space.exp(result[own], step[along])
        if f.space.flat:
            low, high = bounds[along].T
            turns = np.where(result[own] > high, -1.0, np.where(result[own] < low, 1.0, 0.0)) * 2.0 * np.pi
            inside = (result[own] + turns >= low) & (result[own] + turns <= high)
            result[own] = np.clip(np.where(inside, result[own] + turns, result[own]), low, high)
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
