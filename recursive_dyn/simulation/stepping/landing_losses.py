"""What bringing a state onto its constraints takes from its motion.

Near positions in which rows depend on each other a little that a flight misses them by is much of its velocity: rates
are divided by how far the position is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import landing, nearly_singular
from recursive_dyn.integrators.integrator import StatePair

_TURNED, _STILL = 3e-3, 1e-6  # share of the largest velocity, and m/s or rad/s, that a landing may change unseen
_LOST = 1e-3  # share of kinetic energy that it may take or give


def with_less_loss(
    dynamics: Dynamics, flown: StatePair, landed: StatePair, met: bool, again: Callable[[], StatePair | None]
) -> tuple[StatePair, bool, float]:
    """The state that a step was brought to from where it flew, and whether constraints are met there, or, where that
    took energy of it beside a position in which rows depend on each other, the one to which it leads when it is taken
    again, if that takes less; and J that this took, there."""
    taken = _lost(dynamics, flown, landed)
    if taken > 0.0 and not nearly_singular(dynamics, landed[0]):
        return landed, met, 0.0
    if taken > 0.0 and (other := again()) is not None:
        ends, there = landing(dynamics, *other)
        if there and (less := _lost(dynamics, other, ends)) < taken:
            return ends, there, less
    return landed, met, taken


def _lost(dynamics: Dynamics, flown: StatePair, landed: StatePair) -> float:
    """J of kinetic energy that came or went on the way from where a step flew to where it was brought, or 0 where that
    is next to nothing of it."""
    (q, v), (_, after) = flown, landed
    if np.abs(after - v).max(initial=0.0) <= _TURNED * np.abs(v).max(initial=0.0) + _STILL:
        return 0.0
    had, has = float(dynamics.kinetic_energy(q, v)), float(dynamics.kinetic_energy(*landed))
    return abs(has - had) if abs(has - had) > _LOST * max(had, has) else 0.0
