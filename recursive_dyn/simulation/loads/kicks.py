"""What constraints transmit at once, by the impulse that brings velocities onto them where a step begins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics


class Kick(NamedTuple):
    """An impulse of constraints at q (nq,): velocities (nv,) before and after it."""

    q: np.ndarray
    before: np.ndarray
    after: np.ndarray


def transmitted(dynamics: Dynamics, kick: Kick) -> tuple[np.ndarray, np.ndarray]:
    """Impulses (m,) of the rows, N s or N m s, and what they are on bodies (nb, 6), world axes at their origins.

    C^T p = M (v' - v), and multipliers answer forces M (v - v') by p, which they would hold back.
    """
    q, still = kick.q, np.zeros_like(kick.after)
    push = dynamics.mass_matrix(q) @ (kick.before - kick.after)
    impulses = dynamics.multipliers(q, still, push) - dynamics.multipliers(q, still, still)
    on_bodies = dynamics.constraint_wrenches(q, still, push) - dynamics.constraint_wrenches(q, still, still)
    return impulses, on_bodies
