"""Whether a motion may start from a state: unit lengths, tangent velocities, constraints that are met."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.simulation.state import numbers

Array = np.ndarray
_INCONSISTENT = 1e-6  # a start whose constraints are violated by more, relative to its velocities, is a mistake
_HIGHER_ORDER = 0.05  # (w h)^2 / 12 of an oscillation, at whose turns p'' is as large before a step as after it


def refuse_bad_start(dynamics: ManifoldDynamics, q: Array, v: Array, forces: Mapping[Any, Any]) -> None:
    """StateError names the variable that is not finite, unit or tangent, or the constraint that velocities violate."""
    for name, array in (("q", q), ("v", v)):
        numbers(dynamics, name, array, len(array))
    for p in dynamics.variables:
        off, along = p.errors(q, v)
        if off > _INCONSISTENT:
            raise StateError(f"the position of '{p.name}' in q is not of unit length: divide by it, or use place()")
        if along > _INCONSISTENT * max(1.0, float(np.linalg.norm(v[p.v]))):
            raise StateError(f"omega of '{p.name}' in v has a part along the unit vector: take it away, or use place()")
    _refuse_violation(dynamics, q, v, forces)


def refuse_jump(
    dynamics: ManifoldDynamics, q: Array, v: Array, forces: Mapping[Any, Any], change: tuple[Array, Array], h: float
) -> None:
    """StateError where velocities do not follow what prescribed motions, given since the last step of length h, ask.

    change: the forces' numbers now and at the step's end. p' of the end and the p' given then differ by half of h times
    the change of what constraints ask of accelerations, and by terms of h^3.
    """
    now, before = (dynamics.call("bias", q, v, numbers) for numbers in change)
    allowed = np.abs(now - before) + _HIGHER_ORDER * np.maximum(np.abs(now), np.abs(before))
    _refuse_violation(dynamics, q, v, forces, h * allowed)


def violated(
    dynamics: ManifoldDynamics, q: Array, v: Array, forces: Mapping[Any, Any], allowed: Any = 0.0
) -> tuple[str, float] | None:
    """The constraint that velocities violate most, beyond rounding and what is allowed (m,), and its value."""
    if not dynamics.constrained:
        return None
    values = dynamics.violation(q, v, forces)
    excess = np.abs(values) - allowed
    if excess.max() <= _INCONSISTENT * max(1.0, float(np.abs(v).max())):
        return None
    index = int(np.argmax(excess))
    return dynamics.constraint_names[index], float(values[index])


def _refuse_violation(
    dynamics: ManifoldDynamics, q: Array, v: Array, forces: Mapping[Any, Any], allowed: Any = 0.0
) -> None:
    found = violated(dynamics, q, v, forces, allowed)
    if found is not None:
        raise StateError(
            f"the velocities violate the constraint {found[0]} by {found[1]:.3g}: place() all variables with rates that"
            " meet it, or call admit()"
        )
