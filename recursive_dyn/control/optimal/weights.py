"""Weights of quadratic costs: as given, or from kinetic energy and one frequency.

    x = [dq, dv],   Q = [w^2 M, 0; 0, M],   R = D^T M^-1 D / w^2,   w = 2 pi f

x^T Q x is twice the energy of oscillators of frequency f, u^T R u that of the velocity which the forces D u would give
in the time 1 / w: all in J, and the same in any coordinates. What is fully driven and free of gravity then moves as
M (x'' + sqrt(3) w x' + w^2 x) = 0, at the frequency f with damping ratio sqrt(3) / 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.drives import Drives
from recursive_dyn.control.gains import checked_gain
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

Array = np.ndarray
FREQUENCY = 1.0  # Hz: a person's balance
_EVEN = 1e-9  # share of the largest entry by which a matrix may miss its transpose, or an eigenvalue zero


def natural_weights(dynamics: Dynamics, drives: Drives, q: Array, frequency: Any = None) -> tuple[Array, Array]:
    """Q (2 nv, 2 nv) and R (n, n) of kinetic energy at q (nq,) and a frequency, Hz (1); StateError for a bad one."""
    rate = 2 * np.pi * float(checked_gain("frequency", FREQUENCY if frequency is None else frequency, 1)[0])
    if rate == 0.0:
        raise StateError("frequency must be above 0")
    nv, free = dynamics.nv, drives.led.free
    M = np.where(drives.led.mask | drives.led.mask[:, None], 0.0, dynamics.mass_matrix(q))
    Q = np.zeros((2 * nv, 2 * nv))
    Q[:nv, :nv], Q[nv:, nv:] = rate**2 * M, M
    given = np.eye(nv)[np.ix_(free, drives.slots)]
    R = given.T @ np.linalg.solve(M[np.ix_(free, free)], given) / rate**2
    return Q, (R + R.T) / 2


def checked_weights(
    dynamics: Dynamics, drives: Drives, q: Array, Q: Any = None, R: Any = None, frequency: Any = None
) -> tuple[Array, Array]:
    """Q (2 nv, 2 nv) and R (n, n), of a number, of a diagonal, or whole; what is None is natural at q.

    Where time or a prescription leads coordinates nothing deviates: Q is 0 there.
    StateError for a Q with negative values or an R without positive ones, naming the coordinate; for n = 0.
    """
    if not len(drives.slots):
        raise StateError("nothing is driven; name velocity coordinates in 'actuated'")
    if Q is not None and R is not None and frequency is not None:
        raise StateError("Q and R leave nothing to 'frequency'; leave one of the three out")
    own_Q, own_R = natural_weights(dynamics, drives, q, frequency)
    driven = [dynamics.velocity_coordinates[i] for i in drives.slots]
    whole_Q = own_Q if Q is None else weight("Q", Q, state_labels(dynamics), positive=False)
    whole_R = own_R if R is None else weight("R", R, driven, positive=True)
    return unled(drives, whole_Q), whole_R


def unled(drives: Drives, weight: Array) -> Array:
    """A weight (2 nv, 2 nv) without what is led."""
    led = np.tile(drives.led.mask, 2)
    return np.where(led | led[:, None], 0.0, weight)


def state_labels(dynamics: Dynamics) -> list[str]:
    """Names of the deviations x = [dq, dv] (2 nv,)."""
    return [*dynamics.velocity_coordinates, *(f"rate of {name}" for name in dynamics.velocity_coordinates)]


def weight(name: str, value: Any, labels: list[str], positive: bool) -> Array:
    """A symmetric matrix without negative eigenvalues, or with positive ones only; StateError naming the direction."""
    n, given = len(labels), real_array(value)
    if given is None or given.shape not in ((), (n,), (n, n)) or not np.isfinite(given).all():
        raise StateError(f"{name} is a finite number, ({n},) or ({n}, {n}): {', '.join(labels)}")
    matrix: Array = given.copy() if given.ndim == 2 else np.diag(np.broadcast_to(given, n))
    size = np.abs(matrix).max(initial=0.0)
    if np.abs(matrix - matrix.T).max(initial=0.0) > _EVEN * size:
        raise StateError(f"{name} must be symmetric")
    matrix = (matrix + matrix.T) / 2
    values, vectors = np.linalg.eigh(matrix)
    least = values[0] if n else 0.0
    if least < -_EVEN * size or (positive and least <= 0.0):
        worst = labels[int(np.argmax(np.abs(vectors[:, 0])))]
        raise StateError(
            f"{name} must be {'positive' if positive else 'at least zero'} in every direction; see '{worst}'"
        )
    return matrix
