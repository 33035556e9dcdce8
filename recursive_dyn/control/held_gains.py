"""Whether springs and dampers that are held over a timestep are stable: their forces against inertia.

Of a step M (v' - v) = -h (kp q + kd v + c v'), q' = q + h v', with the joints' own dampers c, which act as at its end,
a mode grows as lambda with (lambda - 1)^2 m + (lambda - 1) h (d + lambda c) + lambda h^2 k = 0, m, d, c and k being the
mode's. |lambda| > 1 just where h d + h^2 k / 2 > 2 (m + h c / 2).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.control.led_coordinates import LedCoordinates
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import joint_forces

Array = np.ndarray
LARGEST = 2.0
_BOUND = 1e-9  # share of the largest singular value of C below which a row binds nothing


def asked_too_much(dynamics: Dynamics, q: Array, kp: Array, kd: Array, timestep: float) -> tuple[float, int]:
    """(largest share of a motion's inertia that h kd + h^2 kp / 2 is, the velocity coordinate that moves most in it).

    At q (nq,), of motions that the constraints, and what is led, leave; kp, kd (nv,) of what is driven. The share is
    below ``LARGEST`` where these gains are stable.
    """
    held = timestep * kd + 0.5 * timestep**2 * kp
    own = joint_forces(dynamics.model)
    M = dynamics.mass_matrix(q) + np.diag(0.5 * timestep * own.damping)
    free = np.eye(dynamics.nv)[:, LedCoordinates(dynamics).free]
    if dynamics.model.constraints:
        _, sizes, rows = np.linalg.svd(dynamics.constraint_jacobian(q) @ free)
        free = free @ rows[int((sizes > _BOUND * sizes.max(initial=0.0)).sum()) :].T
    if not free.size:
        return 0.0, 0
    inverse = np.linalg.inv(np.linalg.cholesky(free.T @ M @ free))
    shares, motions = np.linalg.eigh(inverse @ (free.T * held) @ free @ inverse.T)
    motion = free @ inverse.T @ motions[:, -1]
    return float(shares[-1]), int(np.argmax(held * motion**2))
