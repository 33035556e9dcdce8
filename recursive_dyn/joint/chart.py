"""Charts of a joint in numbers: where a chart has a given pose, how well it is conditioned, whether charts belong
together.

Si & Guenter (2011), section 6; Grassia (1998), Practical parameterization of rotations. Everything here is evaluated by
the interpreter: charts are checked once and switched rarely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.joint_program import Carried, JointProgram
from recursive_dyn.spatial.algebra import applied
from recursive_dyn.spatial.rotations import rotation_log

_SAMPLES = 256
_STARTS = 6  # of the sampled poses, the nearest ones that a search starts from
_ITERATIONS = 40
_PATIENCE = 8  # iterations without a tenth gained, after which the chart does not have the pose
_MET = 1e-9  # rad, or share of the distance: Newton's method is sure to converge from here
_POLISH = 3  # iterations after that: undamped they converge quadratically, down to rounding
_POSES = 12  # of each chart, to compare it with the others
_SHARED = 2  # of them that another chart must have
_SPAN = 1e-6  # share of S by which two charts of one motion may differ


@dataclass(frozen=True, eq=False)
class Place:
    """Coordinates q (d,) of a chart, the pose (4, 4) and S (6, d) there; quality: 1 as typical, 0 where singular."""

    q: np.ndarray
    pose: np.ndarray
    S: np.ndarray
    quality: float


class Chart:
    """One parameterisation of a joint's motion at values of the scene's parameters, by name."""

    def __init__(self, joint: JointProgram, parameters: Mapping[str, float]) -> None:
        derived = joint.kinematics()
        self.size = joint.nv
        self._outputs = [*derived.pose[:3].flat, *derived.subspace.flat]
        self._parameters = {("parameter", name): parameters[name] for name in joint.parameters}
        rng = np.random.default_rng(20110808)
        half = _SAMPLES // 2  # charts of angles go round, others end, or become sparse, at 1 or so
        self.samples = rng.uniform(-np.pi, np.pi, (_SAMPLES, self.size))
        self.samples[half:] /= np.pi
        self.poses, S = self.at(self.samples)
        self._measures = measures(S)
        usable = np.isfinite(self._measures).all(axis=1) & (self._measures > 0.0).all(axis=1)
        usable &= np.isfinite(self.poses).all(axis=(1, 2))
        self.typical = np.median(self._measures[usable], axis=0) if usable.any() else np.ones(2)
        self.usable = usable
        places = self.poses[usable, :3, 3]
        self.length = max(float(np.ptp(places, axis=0).max(initial=0.0)), 1e-9)

    def at(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses (n, 4, 4) and motion subspaces (n, 6, d) at coordinates (n, d)."""
        inputs = {("q", i): q[:, i] for i in range(self.size)} | self._parameters
        flat = [np.broadcast_to(x, (len(q),)) for x in evaluate(self._outputs, inputs)]
        poses = np.zeros((len(q), 4, 4))
        poses[:, :3] = np.stack(flat[:12], axis=-1).reshape(-1, 3, 4)
        poses[:, 3, 3] = 1.0
        return poses, np.stack(flat[12:], axis=-1).reshape(-1, 6, self.size)

    def quality(self, values: np.ndarray) -> np.ndarray:
        """How good a chart is (...) where it has these ``measures`` (..., 2): 1 where typical, 0 where singular."""
        return (values / self.typical).min(axis=-1)

    def place(self, q: np.ndarray) -> Place:
        """The chart at q (d,)."""
        poses, S = self.at(q[None])
        quality = float(np.nan_to_num(self.quality(measures(S))[0], nan=0.0))
        return Place(q, poses[0], S[0], quality)

    def find(self, pose: np.ndarray, tolerance: float) -> Place | None:
        """Where the chart has a pose (4, 4) to ``tolerance``, in rad or as a share of the distances it covers.

        Of several coordinates: those of best quality, the smallest among equals. None where it does not have it.
        """
        q, missed = self.locate(pose[None])
        places = [self.place(x) for x in q[0][missed[0] <= tolerance]]
        order = [(-round(p.quality, 6), round(float(np.abs(p.q).max()), 6), i) for i, p in enumerate(places)]
        return places[min(order)[2]] if places else None

    def examples(self, count: int) -> np.ndarray:
        """Poses (at most count, 4, 4) that this chart has where it is well conditioned."""
        quality = np.where(self.usable, self.quality(self._measures), 0.0)
        return self.poses[np.flatnonzero(quality > 0.5)[:count]]

    def locate(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (n, starts, d) at which the chart comes nearest to each pose (n, 4, 4), and by how much it misses
        it (n, starts), in rad or as a share of the distances it covers.

        Levenberg's and Marquardt's method from the nearest samples, all at once.
        """
        n = len(targets)
        q = self._starts(targets).reshape(-1, self.size)
        wanted = np.repeat(targets, len(q) // max(n, 1), axis=0)
        reach = np.maximum(self.length, np.abs(wanted[:, :3, 3]).max(axis=1, initial=0.0))
        weight = np.stack([np.ones_like(reach), 1.0 / reach], axis=1).repeat(3, axis=1)
        error, J = self._mismatch(q, wanted, weight)
        missed = np.abs(error).max(axis=1)
        damping, polished, idle = np.full(len(q), 1e-3), 0, 0
        for _ in range(_ITERATIONS):
            before = missed.reshape(n, -1).min(axis=1)
            ahead = q + _damped_step(J, error, damping)
            error_ahead, J_ahead = self._mismatch(ahead, wanted, weight)
            missed_ahead = np.abs(error_ahead).max(axis=1)
            better = np.linalg.norm(error_ahead, axis=1) < np.linalg.norm(error, axis=1)
            q[better], error[better], J[better] = ahead[better], error_ahead[better], J_ahead[better]
            missed[better] = missed_ahead[better]
            damping = np.where(better, damping * 0.1 * (missed > _MET), damping * 10.0 + 1e-9)
            nearest = missed.reshape(n, -1).min(axis=1)
            polished += bool((nearest < _MET).all())
            idle = 0 if (nearest < 0.9 * before).any() else idle + 1
            if polished > _POLISH or idle > _PATIENCE:
                break
        return q.reshape(n, -1, self.size), missed.reshape(n, -1)

    def _mismatch(self, q: np.ndarray, wanted: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted twists (n, 6) from where q (n, d) is to the poses wanted, infinite where it is nowhere, and S."""
        poses, S = self.at(q)
        with np.errstate(all="ignore"):
            twist = twist_between(poses, wanted) * weight
            S = S * weight[:, :, None]
        nowhere = ~(np.isfinite(twist).all(axis=1) & np.isfinite(S).all(axis=(1, 2)))
        twist[nowhere], S[nowhere] = 1e100, 0.0
        return twist, S

    def _starts(self, targets: np.ndarray) -> np.ndarray:
        """The samples (n, starts, d) whose poses are nearest to each target."""
        weight = np.ones((3, 4))
        weight[:, 3] = 1.0 / self.length
        difference = ((self.poses[None, :, :3] - targets[:, None, :3]) * weight) ** 2
        distance = np.where(self.usable, difference.sum(axis=(2, 3)), np.inf)
        return self.samples[np.argsort(distance, axis=1, kind="stable")[:, :_STARTS]]


def _damped_step(J: np.ndarray, error: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """(J^T J + damping diag J^T J)^-1 J^T error, for every row of J (n, 6, d) and error (n, 6)."""
    normal = np.swapaxes(J, 1, 2) @ J
    diagonal = np.einsum("nii->ni", normal)
    floor = 1e-12 * diagonal.max(axis=1, keepdims=True) + 1e-300
    i = np.arange(J.shape[2])
    normal[:, i, i] += damping[:, None] * diagonal + floor
    return np.linalg.solve(normal, np.einsum("nij,ni->nj", J, error)[:, :, None])[:, :, 0]


def measures(S: np.ndarray) -> np.ndarray:
    """(volume, roundness) (n, 2) of motion subspaces (n, 6, d); see ``recursion.conditioning``."""
    d = S.shape[2]
    with np.errstate(all="ignore"):
        gram = np.swapaxes(S, 1, 2) @ S
        square = np.maximum(np.linalg.det(gram), 0.0)
        mean = np.trace(gram, axis1=1, axis2=2) / d
        return np.sqrt(np.stack([square, square / mean**d], axis=1))


def twist_between(poses: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Twists (n, 6), axes of ``poses`` (n, 4, 4), that lead to ``targets`` in a unit of time, to first order."""
    back = np.swapaxes(poses[:, :3, :3], 1, 2)
    offset = targets[:, :3, 3] - poses[:, :3, 3]
    return np.concatenate([rotation_log(back @ targets[:, :3, :3]), applied(back, offset)], axis=1)


def charts_problem(joint: JointProgram, parameters: Mapping[str, float]) -> str | None:
    """Why a joint's charts do not describe the same motion at the parameters' values; None if they do.

    Charts overlap where they have the same poses with the same motions; every chart must overlap with one, and all must
    hang together.
    """
    values = tuple(sorted((p, float(parameters[p])) for p in joint.parameters))
    return _charts_problem(joint.key, values, Carried(joint))


@lru_cache(maxsize=256)
def _charts_problem(key: str, parameters: tuple[tuple[str, float], ...], carrier: Carried) -> str | None:
    charts = [Chart(joint, dict(parameters)) for joint in carrier.joint.charts]
    for k, chart in enumerate(charts):
        if len(chart.examples(_POSES)) < _SHARED:
            return f"its chart {k + 1} is singular, or not finite, nearly everywhere with coordinates in [-pi, pi]"
    together, waiting = [0], list(range(1, len(charts)))
    while waiting:
        found = next((k for k in waiting if any(_overlap(charts[i], charts[k]) for i in together)), None)
        if found is None:
            others = " or ".join(str(i + 1) for i in together)
            return (
                f"its charts do not describe the same motion: chart {waiting[0] + 1} has no poses and velocities in"
                f" common with chart {others}; write all of them in the same frame, with the same sizes"
            )
        together.append(found)
        waiting.remove(found)
    return None


def _overlap(a: Chart, b: Chart) -> bool:
    return _shared(a, b) >= _SHARED or _shared(b, a) >= _SHARED


def _shared(a: Chart, b: Chart) -> int:
    """How many of a's poses b has, with the same possible velocities."""
    poses = a.examples(_POSES)
    count = 0
    q_a, missed_a = a.locate(poses)
    q_b, missed_b = b.locate(poses)
    for k in range(len(poses)):
        i, j = int(np.argmin(missed_a[k])), int(np.argmin(missed_b[k]))
        if max(missed_a[k, i], missed_b[k, j]) < _MET:
            S_a, S_b = a.at(q_a[k, i : i + 1])[1][0], b.at(q_b[k, j : j + 1])[1][0]
            count += spans(S_b, S_a, _SPAN)
    return count


def spans(S: np.ndarray, columns: np.ndarray, tolerance: float) -> bool:
    """Whether the columns (6, n) are combinations of those of S (6, d), but for ``tolerance`` of their size."""
    if not np.isfinite(S).all() or not np.isfinite(columns).all():
        return False
    weights = np.linalg.lstsq(S, columns, rcond=1e-12)[0]
    return bool(np.abs(S @ weights - columns).max() <= tolerance * max(np.abs(columns).max(), 1e-300))
