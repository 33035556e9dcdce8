"""Limits of a ball's turning: a cone, round or elliptic, for an axis, and a range for the turn about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError

_LETTERS = "xyz"
_UNIT = 1e-9  # what an axis may be off a coordinate axis
_ROUNDING = 1e-15


@dataclass(frozen=True)
class TurnLimits:
    """How far a ball or a free joint turns: R = C Swing Twist, angles in rad.

    axis: "x", "y", "z" or any 3-vector, carried by the child. The swing takes it from where it is in the frame C to
    where it points, about an axis at right angles to it: within a cone of half-angle ``swing``, or, of a pair, within
    an ellipse of half-angles about the two axes that follow in the order x, y, z, x: (about x, about y) for "z". The
    twist turns the child about the axis before that: ``twist`` is (low, high), less than a full turn apart. None: no
    limit. center: C, a rotation vector from the joint's own frame. Where the swing is half a turn there is no one
    twist.

    Stops give nothing back, as those of coordinates. ModelError for what is no such angle.
    """

    swing: Any = None
    twist: Any = None
    axis: Any = "z"
    center: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_ = object.__setattr__  # of a frozen object
        set_(self, "axis", _axis(self.axis))
        own = _numbers("center", self.center, (3,), "a rotation vector of three finite numbers")
        set_(self, "center", tuple(own.tolist()))
        if self.swing is None and self.twist is None:
            raise ModelError("TurnLimits need swing=, twist= or both; leave them out where nothing is limited")
        if self.swing is not None:
            wanted = "a half-angle, or a pair of them, above 0 and below pi"
            own = _numbers("swing", self.swing, (1, 2), wanted)
            if not ((own > 0.0) & (own < np.pi)).all():
                raise ModelError(f"swing of TurnLimits is {self.swing!r}; it must be {wanted}, in rad")
            if len(own) == 2 and own[0] != own[1] and self.letter is None:
                raise ModelError(
                    f"swing of TurnLimits is a pair, and its axis {self.axis!r} does not say about what; take 'x', 'y'"
                    " or 'z', and turn the joint where it is attached"
                )
            set_(self, "swing", (float(own[0]), float(own[-1])))
        if self.twist is not None:
            wanted = "a pair (low, high), less than 2 pi apart"
            low, high = (float(x) for x in _numbers("twist", self.twist, (2,), wanted))
            if not (low < high < low + 2.0 * np.pi and max(-low, high) < 2.0 * np.pi):
                raise ModelError(f"twist of TurnLimits is {self.twist!r}; it must be {wanted}, in rad")
            set_(self, "twist", (low, high))

    @property
    def letter(self) -> int | None:
        """Which coordinate axis the axis is, either way round."""
        k = int(np.argmax(np.abs(self.axis)))
        return k if abs(self.axis[k]) > 1.0 - _UNIT else None

    @property
    def frame(self) -> np.ndarray:
        """Rows (3, 3): the axis, and the two that the half-angles are about."""
        a = np.array(self.axis)
        first = np.eye(3)[((self.letter if self.letter is not None else int(np.argmin(np.abs(a)))) + 1) % 3]
        first = first - a * (a @ first)
        first /= np.linalg.norm(first)
        return np.stack([a, first, np.cross(a, first)])


def _axis(axis: Any) -> tuple[float, ...]:
    if isinstance(axis, str):
        sign, letter = (-1.0, axis[1:]) if axis.startswith("-") else (1.0, axis)
        if len(letter) != 1 or letter not in _LETTERS:
            raise ModelError(f"axis of TurnLimits is {axis!r}; it must be 'x', 'y', 'z' or a 3-vector")
        return tuple((sign * np.eye(3)[_LETTERS.index(letter)] + 0.0).tolist())
    vector = _numbers("axis", axis, (3,), "'x', 'y', 'z' or a finite 3-vector that is not zero")
    length = float(np.linalg.norm(vector))
    if not 1e-12 < length < 1e100:
        raise ModelError(f"axis of TurnLimits is {axis!r}; it must be 'x', 'y', 'z' or a 3-vector that is not zero")
    return tuple((vector if abs(length - 1.0) < _ROUNDING else vector / length).tolist())


def _numbers(what: str, value: Any, sizes: tuple[int, ...], wanted: str) -> np.ndarray:
    """Finite numbers, as many as one of ``sizes``."""
    try:
        source = np.atleast_1d(np.asarray(value))
        numbers = source.astype(float) if source.dtype.kind in "biuf" else np.array([np.nan])
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if numbers.ndim != 1 or len(numbers) not in sizes or not np.isfinite(numbers).all():
        raise ModelError(f"{what} of TurnLimits is {value!r:.80}; it must be {wanted}")
    return numbers
