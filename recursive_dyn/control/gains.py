"""Gains of springs and dampers on coordinates: given, or from inertia, a frequency and a damping ratio."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.natural_gains import DAMPING_RATIO, FREQUENCY, natural_gains
from recursive_dyn.errors import StateError

Array = np.ndarray
DECAY = 2.0  # Hz: an error of 1 rad then asks for 160 rad/s^2, which steps of 1/240 s still follow


def spring_gains(
    dynamics: Dynamics, q: Array, kp: Any, kd: Any, frequency: float | None, damping_ratio: float | None
) -> tuple[Array, Array]:
    """kp, kd (nv,): as given, each a number or (nv,); what is None as quick as the frequency (Hz) says.

    A kd that follows from a kp damps the inertia on that spring at the ratio. StateError for gains that are given
    twice, are negative or no numbers.
    """
    _refuse_two(kp, frequency, "kp", "frequency")
    _refuse_two(kd, damping_ratio, "kd", "damping_ratio")
    if kp is not None and kd is not None:
        return checked_gain("kp", kp, dynamics.nv), checked_gain("kd", kd, dynamics.nv)
    rate = FREQUENCY if frequency is None else frequency
    ratio = DAMPING_RATIO if damping_ratio is None else damping_ratio
    natural = natural_gains(dynamics, q, rate, ratio)
    stiffness = natural[0] if kp is None else checked_gain("kp", kp, dynamics.nv)
    if kd is not None:
        return stiffness, checked_gain("kd", kd, dynamics.nv)
    # what carries nothing, as time does, has no natural spring
    ratio_to_own = np.divide(stiffness, natural[0], out=np.zeros(dynamics.nv), where=natural[0] > 0.0)
    return stiffness, natural[1] if kp is None else natural[1] * np.sqrt(ratio_to_own)


def decay_gains(
    size: int, kp: Any, kd: Any, frequency: float | None, damping_ratio: float | None
) -> tuple[Array, Array]:
    """kp (size,), 1/s^2, and kd (size,), 1/s, of e'' = -kd e' - kp e: as given, or (2 pi f)^2 and
    2 zeta (2 pi f) of a frequency f, Hz, and a damping ratio zeta. StateError as ``spring_gains``."""
    _refuse_two(kp, frequency, "kp", "frequency")
    _refuse_two(kd, damping_ratio, "kd", "damping_ratio")
    rate = 2 * np.pi * checked_gain("frequency", DECAY if frequency is None else frequency, size)
    ratio = checked_gain("damping_ratio", DAMPING_RATIO if damping_ratio is None else damping_ratio, size)
    stiffness = rate**2 if kp is None else checked_gain("kp", kp, size)
    return stiffness, 2 * ratio * np.sqrt(stiffness) if kd is None else checked_gain("kd", kd, size)


def checked_gain(name: str, value: Any, size: int) -> Array:
    """(size,) finite numbers that are not negative, from one or from as many; StateError for anything else."""
    given = real_array(value)
    if given is None or given.shape not in ((), (size,)):
        raise StateError(f"{name} is a number, or {size} numbers, one a coordinate, not {value!r}")
    if not (np.isfinite(given).all() and (given >= 0.0).all()):
        raise StateError(f"{name} must be finite and not negative, not {value!r}")
    return np.broadcast_to(given, size).copy()


def _refuse_two(gain: Any, rule: Any, name: str, other: str) -> None:
    if gain is not None and rule is not None:
        raise StateError(f"{name} is given twice, by itself and by {other}; leave one out")
