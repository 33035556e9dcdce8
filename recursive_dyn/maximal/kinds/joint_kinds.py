"""Equal joints together: their coordinates found from the poses of their bodies, by Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.integrators.integrator import ModelEquations, numbers
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.maximal.kinds.joint_evaluator import JointEvaluator, evaluator_of
from recursive_dyn.maximal.kinds.joint_functions import MOTION, MOVED, JointFunctions
from recursive_dyn.maximal.kinds.timed_joints import moving_columns, moving_links, time_column
from recursive_dyn.maximal.poses import applied, inverse, logarithm
from recursive_dyn.model.model import Model

Array = np.ndarray

_STEPS = 30
_STILL = 1e-13  # of the last step, relative to the coordinates: then rounding lets nothing more be found
_NEAR = 1e-8  # of |log|, rad and m: a joint that is met so well is not searched for elsewhere
FAR = 0.3  # of |log|: beyond it what was followed from the last state may be another sheet of the joint
_LONGEST = 0.7  # of a step, rad or m: longer ones follow a tangent too far
_PLACES, _TRIES = 96, 6  # where a search looks, and from how many of these it starts


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Poses G (..., m, 4, 4), S (..., m, 6, k) and S-dot q-dot (..., m, 6) of equal joints."""

    pose: Array
    subspace: Array
    bias: Array


@dataclass(frozen=True, eq=False)
class JointKind:
    """m equal joints: numbers (m,) of their links; places (m, nq), slots (m, k) of their coordinates in the reduced
    model; offsets (m, nq), which its coordinates lack; time: which of them is time, -1 for none; chart: the
    parameter that says which chart of the joint is in force."""

    joint: JointProgram
    evaluator: JointEvaluator
    numbers: Array
    places: Array
    slots: Array
    offsets: Array
    beginning: partial[Array]
    time: int
    chart: str | None

    @cached_property
    def moving(self) -> list[int]:
        """The coordinates' velocities that are not that of time."""
        return moving_columns(self.joint, self.time)

    @cached_property
    def starts(self) -> Array:
        """Configurations (n, nq) of the joint where a search may start."""
        return self.beginning()

    def view(self) -> JointKind:
        """The same joints with values of the parameters of their own."""
        return replace(self, evaluator=self.evaluator.view())

    def at_parameters(self, values: Array) -> None:
        """Go on with these values of the scene's parameters."""
        self.evaluator.parameters.values_array[:] = values

    def motion(self, q: Array, v: Array | None = None) -> JointMotion:
        """Of joints at q (..., m, nq) with rates v (..., m, k)."""
        k = self.joint.nv
        v = np.zeros((*q.shape[:-1], k)) if v is None else v
        flat = self.evaluator.call(MOTION, q, v)
        pose = np.zeros((*flat.shape[:-1], 4, 4))
        pose[..., :3, :], pose[..., 3, 3] = flat[..., :12].reshape(*flat.shape[:-1], 3, 4), 1.0
        S = flat[..., 12 : 12 + 6 * k].reshape(*flat.shape[:-1], 6, k)
        return JointMotion(pose, S, flat[..., 12 + 6 * k :])

    def located(self, X: Array, q: Array | None, time: Array, those: slice = slice(None)) -> Array:
        """Coordinates (..., m, nq) nearest to the relative poses X (..., m, 4, 4) at a time (...,), from q on or from
        anywhere; of all joints, or of m of them."""
        lead, nq = X.shape[:-2], self.joint.nq
        start = np.zeros((*lead, nq))
        if q is not None:
            start[:] = q
        if self.time >= 0:
            start[..., self.time] = time[..., None] + self.offsets[those, self.time]
        X, found = X.reshape(-1, 4, 4), start.reshape(-1, nq)
        left = np.full(len(X), np.inf)
        if q is not None:
            found, left = self._followed(X, found, _STEPS)
        lost = np.flatnonzero(~(left < (_NEAR if q is None else FAR)))
        if len(lost):
            found[lost] = self._searched(X[lost], found[lost], left[lost])
        return found.reshape(*lead, nq)

    def _followed(self, X: Array, q: Array, steps: int) -> tuple[Array, Array]:
        """(coordinates, |log(G^-1 X)|) after Gauss-Newton steps from q."""
        q, left = q.copy(), np.zeros(len(X))
        if not self.moving:
            return q, left
        going = np.arange(len(X))
        for _ in range(steps):
            now = self.motion(q[going])
            error = logarithm(inverse(now.pose) @ X[going])
            left[going] = np.abs(error).max(axis=-1)
            step = np.zeros((len(going), self.joint.nv))
            step[:, self.moving] = applied(inverted(now.subspace[..., self.moving]), error)
            size = np.abs(step).max(axis=-1)
            step *= np.minimum(1.0, _LONGEST / np.maximum(size, 1e-300))[:, None]
            q[going] = self.evaluator.call(MOVED, q[going], step)
            going = going[size > _STILL * (1.0 + np.abs(q[going]).max(axis=-1))]
            if not len(going):
                break
        return q, left

    def _searched(self, X: Array, found: Array, left: Array) -> Array:
        """The same from where a joint's poses are nearest, one after the other until one leads there."""
        if self.time >= 0 and len(X) > 1:  # each at its own time
            for k in range(len(X)):
                one = slice(k, k + 1)
                found[one] = self._searched(X[one], found[one], left[one])
            return found
        starts = self.starts.copy()
        if self.time >= 0:
            starts[:, self.time] = found[0, self.time]
        places = self.motion(starts).pose
        apart = np.abs(X[:, None] - places[None]).sum(axis=(-1, -2))
        order = np.argsort(apart, axis=1)
        for k in range(min(_TRIES, len(places))):
            lost = np.flatnonzero(~(left < _NEAR))
            if not len(lost):
                break
            q, error = self._followed(X[lost], starts[order[lost, k]], _STEPS)
            better = ~(error >= left[lost])
            found[lost[better]], left[lost[better]] = q[better], error[better]
        return found


def inverted(S: Array) -> Array:
    """S^+ = (S^T S)^-1 S^T (..., k, 6) of motion subspaces (..., 6, k)."""
    T = np.swapaxes(S, -1, -2)
    if S.shape[-1] == 1:
        return np.asarray(T / np.maximum((T * T).sum(axis=-1, keepdims=True), 1e-300))
    try:
        return np.asarray(np.linalg.solve(T @ S, T))
    except np.linalg.LinAlgError:  # where a chart is singular
        return np.asarray(np.linalg.pinv(S))


def complement(S: Array) -> Array:
    """Orthonormal rows (..., 6 - k, 6) at right angles to the columns of S (..., 6, k)."""
    k = S.shape[-1]
    Q = np.linalg.qr(S, mode="complete")[0] if k else np.broadcast_to(np.eye(6), (*S.shape[:-2], 6, 6))
    return np.swapaxes(Q, -1, -2)[..., k:, :]


def joint_kinds(model: Model, equations: ModelEquations, start: Array) -> list[JointKind]:
    """The joints of a model by kind; ``start`` (nq,): a configuration."""
    groups: dict[str, list[int]] = {}
    for i, link in enumerate(moving_links(model)):
        groups.setdefault(f"{link.joint.key} {time_column(model, link)} {link.chart}", []).append(i)
    return [_kind(model, equations, members, start) for members in groups.values()]


def _kind(model: Model, equations: ModelEquations, members: Sequence[int], start: Array) -> JointKind:
    links = [moving_links(model)[i] for i in members]
    joint = links[0].joint
    names = [name for name, _ in model.parameters]
    evaluator = evaluator_of(JointFunctions(joint, names, links[0].chart), Parameters(model.parameters))
    offsets = np.zeros((len(links), joint.nq))
    if joint.nq == 1:
        offsets[:, 0] = numbers(equations, [link.offset for link in links])
    places = np.array([link.places for link in links], dtype=np.int64).reshape(len(links), joint.nq)
    slots = np.array([link.slots for link in links], dtype=np.int64).reshape(len(links), joint.nv)
    first = start[places[0]] + offsets[0]
    beginning = partial(_starts, [model.coordinates[s].limits for s in links[0].slots], joint, first)
    time, chart = time_column(model, links[0]), links[0].chart
    return JointKind(joint, evaluator, np.array(members), places, slots, offsets, beginning, time, chart)


def _starts(limits: Sequence[tuple[float, float]], joint: JointProgram, first: Array) -> Array:
    """Configurations of a joint to search from: its own, and random ones within the limits, the same every time."""
    rng, result = np.random.default_rng(11), [first]
    for _ in range(_PLACES if joint.nv else 0):
        q = np.concatenate([f.space.random(rng) for f in joint.factors])
        for f in joint.factors:
            for j in range(f.nv if f.space.flat else 0):
                low, high = limits[f.first_v + j]
                if np.isfinite(low) and np.isfinite(high):
                    q[f.first_q + j] = rng.uniform(low, high)
        result.append(q)
    return np.array(result).reshape(-1, joint.nq)
