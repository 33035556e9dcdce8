"""Bodies that show a motion: poses and twists from formulas of its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import dt, leaves
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import described
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.spatial.algebra import vee_difference

Array = np.ndarray
_OPPOSITE = 1e-30  # squared length of e3 + d below which d points straight down
_E3 = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class ShownBody:
    """A body's origin and its turn, with their time derivatives; numbers stand still.

    turn: a rotation matrix; or a vector of length 1 along which the body's z axis points, turned the shortest way from
    e3; None for a body that does not turn.
    """

    name: str
    position: Formula | Array
    turn: Formula | None

    def __post_init__(self) -> None:
        if np.shape(self.position) != (3,) and getattr(self.position, "shape", None) != (3,):
            raise ModelError(
                f"the position of body '{self.name}' must be a vector of R^3, not {described(self.position)}"
            )
        if self.turn is not None and not (isinstance(self.turn, Formula) and self.turn.shape in ((3,), (3, 3))):
            raise ModelError(
                f"the turn of body '{self.name}' must be a rotation matrix, a unit vector along its z axis, or None,"
                f" not {described(self.turn)}"
            )

    def formulas(self) -> list[Formula]:
        """What its frame is made of."""
        own = [f for f in (self.position, self.turn) if isinstance(f, Formula)]
        return own + [dt(f) for f in own]

    def frame(self, value: Evaluation) -> tuple[Array, Array]:
        """Pose (4, 4) and twist (6,), world axes at the origin."""
        pose, twist = np.eye(4), np.zeros(6)
        if isinstance(self.position, Formula):
            pose[:3, 3], twist[3:] = value(self.position), value(dt(self.position))
        else:
            pose[:3, 3] = self.position
        if self.turn is not None:
            own, rate = (np.asarray(value(f), dtype=float) for f in (self.turn, dt(self.turn)))
            if own.ndim == 1:
                pose[:3, :3], twist[:3] = _along(own, rate)
            else:
                pose[:3, :3], twist[:3] = own, vee_difference(rate @ own.T) / 2  # R' R^T = hat(omega)
        return pose, twist


def _along(d: Array, rate: Array) -> tuple[Array, Array]:
    """(R, omega) of the turn that takes e3 to d the shortest way: half turns about e3 and about the middle of e3 and d.

    Where d points straight down the half turn is that about x, which d's neighbours do not share.
    """
    middle = _E3 + d
    square = middle @ middle
    if square < _OPPOSITE:
        return np.diag([1.0, -1.0, -1.0]), np.cross(d, rate)
    half = 2.0 * np.outer(middle, middle) / square - np.eye(3)
    return half @ np.diag([-1.0, -1.0, 1.0]), 2.0 * np.cross(middle, rate) / square


def shown_bodies(bodies: Mapping[str, Any], known: Mapping[Symbol, Any]) -> tuple[ShownBody, ...]:
    """Bodies by name, each (position, turn) or a position; known: symbols that have values.

    ModelError names a body whose formulas are of no such type, or hold another symbol.
    """
    result = []
    for name, given in bodies.items():
        position, turn = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        body = ShownBody(name, position, turn)
        missing = [s for f in body.formulas() for s in leaves(f) if s not in known]
        if missing:
            raise ModelError(f"body '{name}' is shown by '{missing[0]}', which the equations do not hold")
        result.append(body)
    return tuple(result)
