"""The nearest state in which a body is where it is wanted and moves as it is wanted, and all constraints hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.dynamics.nearest_configuration import checked_poses
from recursive_dyn.errors import StateError
from recursive_dyn.model.independent import trees_of_slots
from recursive_dyn.model.limits import limited
from recursive_dyn.model.model import Model
from recursive_dyn.spatial.rotations import rotation_log

Array = np.ndarray

_STEPS, _REACH = 60, 0.7  # rad or m, the largest change of a coordinate a step
_MET, _NEAR = 1e-10, 1e-7  # rad or m that counts as met, and that is left where Newton's method stalls
_SPEED = 1e-8  # the same of velocities, relative
_RANK = 1e-9
_STARTS, _ASIDE = 4, 0.05  # places to begin at, and rad or m by which they lie aside
_AT_POLES = 1e-9  # of M, by which ways are measured that lead to poles or past them
_NOTHING = np.zeros(0, dtype=np.int64)


class Placeable(Protocol):
    """The functions of compiled dynamics that are asked."""

    @property
    def model(self) -> Model:
        """The tree, with its constraints."""

    def call(self, function: str, *arguments: Any) -> Array:
        """A function of ``dynamics.functions``."""

    def jacobian(self, q: Any, body: Any, point: Any = ...) -> Array:
        """J (6, nv) of a body, world axes."""

    def integrate(self, q: Any, v: Any, dt: Any) -> Array:
        """q moved by v dt."""


def placed(
    dynamics: Placeable,
    q: Array,
    v: Array,
    body: int,
    pose: Array | None,
    velocity: Array | None,
    rechart: Callable[[Array, Array], bool] | None = None,
) -> tuple[Array, Array]:
    """(q (nq,), v (nv,)) nearest to the given ones, in the metric of M, with a body at ``pose`` (4, 4) of the world
    moving with ``velocity`` (6,), [omega; v] of its origin in world axes, NaN where anything will do; None: as it is.

    rechart: expresses q, v, in place, in better charts, and says whether there are any; asked where no velocity is to
    be had in those in force, as in their poles. StateError naming the body where its joints, or the constraints, do
    not let it be there or move so.
    """
    if pose is not None:
        q = _positions(dynamics, q, body, pose)
    try:
        return q, _velocities(dynamics, q, v, body, velocity)
    except StateError:
        q, v = q.copy(), v.copy()
        if rechart is None or not rechart(q, v):
            raise
    return q, _velocities(dynamics, q, v, body, velocity)


def wanted_pose(dynamics: Placeable, q: Array, body: int, value: Any) -> Array:
    """A pose (4, 4) for a body. StateError naming it."""
    found = real_array(value)
    if found is None or found.shape != (4, 4):
        raise StateError(f"a pose is a 4 x 4 matrix (rd.pose makes one), not {value!r:.80}")
    poses = dynamics.call("poses", q).copy()
    poses[body] = found
    return checked_poses(dynamics.model, poses)[body]


def wanted_velocity(value: Any) -> Array:
    """A velocity (6,) of which some numbers may be NaN. StateError."""
    found = real_array(value)
    if found is None or found.shape != (6,) or np.isinf(found).any():
        raise StateError(f"a velocity is [omega; v], six numbers, NaN where anything will do, not {value!r:.80}")
    return found


def _positions(dynamics: Placeable, q: Array, body: int, pose: Array) -> Array:
    """From q, or beside it: a pose just half a turn away lies on both sides."""
    nearest, beyond = np.inf, ""
    for k in range(_STARTS):
        aside = _ASIDE * k * np.cos(np.arange(dynamics.model.nv) + k)
        found, missed, limits = _within_limits(dynamics, dynamics.integrate(q, aside, 1.0) if k else q, body, pose)
        if found is not None:
            return found
        nearest, beyond = min(nearest, missed), beyond or limits
    X = dynamics.call("poses", q)[body]
    allow = f"the limits of {beyond}, its joints" if beyond else "its joints"
    raise StateError(
        f"body '{dynamics.model.bodies[body].name}' does not come to the pose that is wanted: the nearest that {allow}"
        f" and the constraints were found to allow, from where it is at {np.round(X[:3, 3], 4).tolist()}, misses it by"
        f" {nearest:.3g} (m or rad); set the coordinates that lead there first, or ask for a pose within reach"
    )


def _within_limits(dynamics: Placeable, q: Array, body: int, pose: Array) -> tuple[Array | None, float, str]:
    """(q or None, by how much the pose is missed, whose limits are in the way): what would go beyond a limit is held at
    it, and the others go on."""
    slots, places, low, high = limited(dynamics.model)
    low, high = np.minimum(low, q[places]), np.maximum(high, q[places])  # what rests on a stop is a little beyond it
    held, names = np.zeros(len(slots), dtype=bool), ""
    while True:
        found, missed = _newton(dynamics, q, body, pose, slots[held])
        if found is None:
            return None, missed, names
        beyond = ~held & ((found[places] < low - _MET) | (found[places] > high + _MET))
        if not beyond.any():
            return found, missed, names
        held |= beyond
        q = found.copy()
        q[places[held]] = np.clip(q[places[held]], low[held], high[held])
        names = ", ".join(f"'{dynamics.model.velocity_names[slot]}'" for slot in slots[held])


def _newton(dynamics: Placeable, q: Array, body: int, pose: Array, held: Array) -> tuple[Array | None, float]:
    """(q or None, by how much the pose is missed) from q on, with these slots as they are."""
    name, best = dynamics.model.bodies[body].name, np.inf
    for _ in range(_STEPS):
        X = dynamics.call("poses", q)[body]
        error = np.concatenate([rotation_log(pose[:3, :3] @ X[:3, :3].T), pose[:3, 3] - X[:3, 3]])
        wanted = np.concatenate([error, *(-phi for phi in _rows(dynamics, "constraint_positions", q))])
        best = float(np.abs(wanted).max())
        if best < _MET:
            return q, best
        step = _least(dynamics, q, dynamics.jacobian(q, name), wanted, held, _AT_POLES)
        if step is None or not np.isfinite(step).all():
            break
        step = step * min(1.0, _REACH / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        q = dynamics.integrate(q, step, 1.0)
        if float(np.abs(step).max(initial=0.0)) < _MET and best < _NEAR:
            return q, best
    return None, best


def _velocities(dynamics: Placeable, q: Array, v: Array, body: int, velocity: Array | None) -> Array:
    constraints = dynamics.model.constraints
    if velocity is None and not constraints:
        return v
    name = dynamics.model.bodies[body].name
    J, wanted = np.zeros((0, len(v))), np.zeros(0)
    if velocity is not None:
        asked = ~np.isnan(velocity)
        J = dynamics.jacobian(q, name)[asked]
        wanted = velocity[asked] - J @ v
    rates = [-psi for psi in _rows(dynamics, "constraint_velocities", q, v)]
    change = _least(dynamics, q, J, np.concatenate([wanted, *rates]))
    if change is None:
        raise StateError(
            f"body '{name}' is given no velocity: M is singular at this state, as where coordinates have a pole, or"
            " nothing that moves has mass; place it a little aside, or use a joint with charts"
        )
    after = v + change
    if velocity is not None:
        missed = np.abs(dynamics.jacobian(q, name)[asked] @ after - velocity[asked]).max(initial=0.0)
        if missed > _SPEED * (1.0 + np.abs(velocity[asked]).max(initial=0.0)):
            raise StateError(
                f"body '{name}' cannot move with the velocity that is wanted: its joints and the constraints miss it by"
                f" {missed:.3g} (m/s or rad/s); give NaN for components that may be anything"
            )
    return after


def _least(
    dynamics: Placeable, q: Array, J: Array, wanted: Array, held: Array = _NOTHING, least: float = 0.0
) -> Array | None:
    """The change (nv,), least in the metric of M, that J and the constraints' rows make ``wanted`` of, or near it; of
    slots that are not held; None where M is singular, which it is not with a share ``least`` of its entries added. M
    couples slots of one tree only: what no row ties together is solved for by itself."""
    model, rows = dynamics.model, np.vstack([J, *_rows(dynamics, "constraint_jacobian", q)])
    free, result, M = np.ones(model.nv, dtype=bool), np.zeros(model.nv), dynamics.call("mass_matrix", q)
    free[list(model.prescribed)] = free[held] = False
    for some, slots in _tied(rows != 0.0, trees_of_slots(model)):
        own = slots[free[slots]]
        if len(own) and wanted[some].any():
            try:
                L = _root_of(M[np.ix_(own, own)], least)
                whitened = np.linalg.solve(L, rows[np.ix_(some, own)].T).T
                result[own] = np.linalg.solve(L.T, np.linalg.pinv(whitened, rcond=_RANK) @ wanted[some])
            except np.linalg.LinAlgError:
                return None
    return result


def _root_of(M: Array, least: float) -> Array:
    """L (n, n) of M = L L^T, with a share of its largest entry added where it is singular, if any may be."""
    try:
        return np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        if least == 0.0:
            raise
    return np.linalg.cholesky(M + least * np.abs(M).max() * np.eye(len(M)))


def _tied(touch: Array, trees: Array) -> Iterator[tuple[Array, Array]]:
    """(rows, slots) that belong together by the slots that rows touch (r, nv) and the trees (nv,) that these are of;
    slots that no row has to do with are left out."""
    joined = np.arange(trees.max(initial=-1) + 1)
    for row in touch:
        if len(own := np.unique(joined[trees[row]])) > 1:
            joined[np.isin(joined, own)] = own[0]
    of_slots = joined[trees]
    of_rows = np.array([of_slots[row.argmax()] if row.any() else -1 for row in touch], dtype=np.int64)
    for k in np.unique(of_rows[of_rows >= 0]):
        yield np.flatnonzero(of_rows == k), np.flatnonzero(of_slots == k)


def _rows(dynamics: Placeable, function: str, *arguments: Any) -> list[Array]:
    """What a function of the constraints gives, where there are any."""
    return [dynamics.call(function, *arguments)] if dynamics.model.constraints else []
