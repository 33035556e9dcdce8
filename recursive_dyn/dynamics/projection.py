"""Bringing a state back onto the constraints: Newton steps of the compiled function ``project`` until they hold."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.model.model import Model

Array = np.ndarray

MET = 1e-11  # m or rad of phi that counts as met
_VELOCITY = 1e-10  # the same a second, and relative to the fastest coordinate
_EXACT = 1e-15
_NEAR, _NEAR_VELOCITY = 1e-9, 1e-5  # what a singular configuration is allowed: there a row is left out as dependent
NARROW = 3e-3  # sine of an angle between rows that is next to none: somewhat above that of ``multipliers.DEPENDENT``
_LEFT = 1e-6  # m or rad that steps through a singular position may leave, where no force takes it back
_TAUT = 1e-3  # m or rad that rows may be off by where it is told that they depend on each other
_TOLD, _SHARE = 4, 0.1  # constraints that are named then, and their share of the forces that balance, of the largest
_STEPS = 25


class NotMetError(StateError):
    """Constraints that cannot be met: the ``row`` that is missed most, ``off`` by so much, m or rad, or the same a
    second."""

    def __init__(self, message: str, row: int, off: float) -> None:
        super().__init__(message, row, off)
        self.row, self.off = row, off

    def __str__(self) -> str:
        return str(self.args[0])


class Projecting(Protocol):
    """What has the compiled functions of a model."""

    @property
    def model(self) -> Model:
        """The tree, with its constraints."""
        ...

    def call(self, function: str, *arguments: Any) -> Array:
        """Evaluate a compiled function."""
        ...


def settled(dynamics: Projecting, q: Array, v: Array) -> tuple[Array, Array]:
    """(q, v) on the constraints of the model; StateError naming the row that is missed most.

    Newton's method converges quadratically, so that a small drift takes one or two steps.
    """
    return landing(dynamics, q, v)[0]


def landing(dynamics: Projecting, q: Array, v: Array) -> tuple[tuple[Array, Array], bool]:
    """``settled``, and whether all rows hold there: False if it is as near as it gets."""
    if not dynamics.model.constraints:
        return (q, v), True
    steps = approach(dynamics, q, v)
    while True:
        try:
            q, v = next(steps)
        except StopIteration as end:
            return (q, v), end.value


def approach(dynamics: Projecting, q: Array, v: Array) -> Generator[tuple[Array, Array], None, bool]:
    """The states (q, v) of Newton's steps onto the constraints, from the start to where they hold; StateError as there
    is none. Its value: whether they hold there, or it is as near as it gets."""
    nq, nv = dynamics.model.nq, dynamics.model.nv
    position = velocity = np.inf
    for k in range(_STEPS + 1):
        yield q, v
        result = dynamics.call("project", q, v)
        if not np.isfinite(result).all():
            position = np.inf
            break
        position, velocity = (float(x) for x in result[..., nq + nv :].reshape(-1, 2).max(axis=0))
        velocity /= 1.0 + np.abs(v).max(initial=0.0)
        if position <= MET and velocity <= _VELOCITY:
            if position > _EXACT or velocity > _EXACT:  # what has been found out already is not thrown away
                yield result[..., :nq], result[..., nq : nq + nv]
            return True
        if k < _STEPS:
            q, v = result[..., :nq], result[..., nq : nq + nv]
    # rounding of large coordinates, or a singular configuration: as near as it gets
    if position <= _NEAR and velocity <= _NEAR_VELOCITY:
        return False
    if position <= _LEFT and velocity <= _NEAR_VELOCITY and nearly_singular(dynamics, q):
        return False
    raise _missed(dynamics, q, v, position > _NEAR)


def nearly_singular(dynamics: Projecting, q: Array) -> bool:
    """Whether rows depend on each other at q, or nearly so, where ``multipliers`` leaves some of them out."""
    constraints = dynamics.model.constraints
    C = dynamics.call("constraint_jacobian", q).reshape(-1, len(constraints), dynamics.model.nv)
    usual = np.array([constraint.usual for constraint in constraints])
    sizes = np.maximum(np.linalg.norm(C, axis=-1), np.maximum(usual, 1e-200))
    return bool((np.linalg.svd(C / sizes[..., None], compute_uv=False)[..., -1] < NARROW).all())


def missed_by(dynamics: Projecting, q: Array) -> float:
    """By how much the row that is missed most is missed at q (nq,), m or rad."""
    return float(np.abs(dynamics.call("constraint_positions", q)).max(initial=0.0))


def _missed(dynamics: Projecting, q: Array, v: Array, placed_wrongly: bool) -> NotMetError:
    """Which row does not hold at (q, v), and by how much."""
    error = dynamics.call("constraint_positions", q) if placed_wrongly else dynamics.call("constraint_velocities", q, v)
    error = np.abs(error).reshape(-1, len(dynamics.model.constraints)).max(axis=0)
    worst = int(np.argmax(error))
    name, what = dynamics.model.constraints[worst].name, "" if placed_wrongly else "the rate of "
    balance = _balance(dynamics, q) if error[worst] <= _TAUT else []
    why = "; start nearer to where it holds"
    if balance:
        among = ", ".join(f"'{group}'" for group in balance[:_TOLD])
        why = (
            f": rows of {among}{' and others' if len(balance) > _TOLD else ''} depend on each other here, as where a"
            " chain or a bridge is taut. Give it slack, so that it hangs or is bent, or constrain it by fewer rows, as"
            " one pin in place of two"
        )
    return NotMetError(
        f"{what}constraint '{name}' cannot be met near this configuration (it is off by {error[worst]:.3g}){why}",
        worst,
        float(error[worst]),
    )


def _balance(dynamics: Projecting, q: Array) -> list[str]:
    """What the rows are of that forces along nearly balance at q, or at one of some, most first; [] if none do. Spare
    rows do so everywhere."""
    constraints, nv = dynamics.model.constraints, dynamics.model.nv
    rows = [k for k, c in enumerate(constraints) if not c.spare]
    every = dynamics.call("constraint_jacobian", q).reshape(-1, len(constraints), nv)[:, rows]
    usual = np.array([constraints[k].usual for k in rows])
    for C in every:
        sizes = np.maximum(np.linalg.norm(C, axis=1), np.maximum(usual, 1e-200))
        left, singular, _ = np.linalg.svd(C / sizes[:, None])
        if len(rows) > nv or singular[-1] < NARROW:
            shares = np.abs(left[:, -1])
            telling = [k for k in np.argsort(-shares).tolist() if shares[k] > _SHARE * shares.max()]
            return list(dict.fromkeys(constraints[rows[k]].name.partition("[")[0] for k in telling))
    return []
