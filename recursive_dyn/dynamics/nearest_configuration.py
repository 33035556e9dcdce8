"""Configurations from poses of bodies: Gauss-Newton steps of the compiled function ``pose_step``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.dynamics.projection import Projecting
from recursive_dyn.errors import StateError
from recursive_dyn.model.model import Model

Array = np.ndarray

_STEPS = 50
_STILL = 1e-12  # rad or m of the last step, beyond which rounding lets nothing be found
_SETTLED = 1e-6  # the same where what is left converges slowly, as far from all that joints allow
_RIGID = 1e-6  # of R^T R off 1


def nearest_configuration(dynamics: Projecting, start: Array, poses: Any, weights: Array) -> tuple[Array, Array]:
    """(q (..., nq), residual (..., nb, 6)) nearest to ``poses`` (..., nb, 4, 4), from ``start`` on.

    weights (2 nb,): of rotations and displacements. StateError for what are no poses, and where the search does not
    settle.
    """
    model, given = dynamics.model, checked_poses(dynamics.model, poses)
    nq, nv, flat = model.nq, model.nv, given.reshape(*given.shape[:-3], -1)
    q, residual, step = start, start, np.inf
    for _ in range(_STEPS):
        result = dynamics.call("pose_step", q, flat, weights)
        q, v, residual = result[..., :nq], result[..., nq : nq + nv], result[..., nq + nv :]
        step = float(np.abs(v).max(initial=0.0))
        if step < _STILL:
            break
    if step > _SETTLED:
        raise StateError(
            f"no configuration near 'q' was found for these poses (the last step was {step:.2g}); start nearer"
        )
    return q, residual.reshape(*residual.shape[:-1], -1, 6)


def checked_poses(model: Model, poses: Any) -> Array:
    """Poses (..., nb, 4, 4) of finite numbers and rotations; StateError naming the body."""
    count = model.nb
    given = real_array(poses)
    if given is None or given.ndim < 3 or given.shape[-3:] != (count, 4, 4):
        raise StateError(f"'poses' must be an array of real numbers of shape (..., {count}, 4, 4), one a body")
    R = given[..., :3, :3]
    with np.errstate(all="ignore"):
        rigid = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2), initial=0.0) < _RIGID
        good = rigid & (np.linalg.det(np.nan_to_num(R)) > 0.0) & np.isfinite(given).all(axis=(-1, -2))
    bad = np.argwhere(~good)
    if len(bad):
        *row, body = (int(i) for i in bad[0])
        where = f", batch row {tuple(row)}" if row else ""
        raise StateError(
            f"'poses' holds no rigid pose of body '{model.bodies[body].name}'{where}; pass finite numbers"
            " and rotation matrices"
        )
    return given
