"""How hard joints between free bodies hold: settings of a formulation, as a user gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.errors import ModelError

Array = np.ndarray

PENALTY, VELOCITY_CONSTRAINTS = "penalty", "velocity_constraints"
MAXIMAL = PENALTY, VELOCITY_CONSTRAINTS


def holding(method: str, given: Mapping[str, Any]) -> tuple[Array | None, Array | None, float]:
    """Stiffness, damping and stabilization; ModelError for what the method does not have, or cannot be."""
    own = {PENALTY: ("stiffness", "damping"), VELOCITY_CONSTRAINTS: ("stabilization",)}[method]
    unknown = [name for name in given if name not in own]
    if unknown:
        raise ModelError(f"method '{method}' has no setting '{unknown[0]}'; it has {' and '.join(own)}")
    share = _numbers(given.get("stabilization", 1.0), "stabilization", 1)
    if share is None or not 0.0 <= share[0] <= 1.0:
        raise ModelError("stabilization is the share of a joint's error that a step takes back, from 0 to 1")
    return (
        _numbers(given.get("stiffness"), "stiffness", 2),
        _numbers(given.get("damping"), "damping", 2),
        float(share[0]),
    )


def _numbers(value: Any, name: str, count: int) -> Array | None:
    """So many numbers (count,) of one, or of as many, not negative; None for None."""
    if value is None:
        return None
    array = real_array(value)
    if array is None or array.shape not in ((), (count,)) or not (np.isfinite(array).all() and (array >= 0.0).all()):
        some = "a number that is not negative" + (", or two, for rotations and translations," if count == 2 else "")
        raise ModelError(f"{name} is {some} not {value!r}")
    return np.broadcast_to(array, (count,)).copy()
