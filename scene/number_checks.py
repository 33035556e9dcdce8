"""Numbers a person gives, checked: each error names the body or shape, the quantity and what it must be."""

from __future__ import annotations

import math
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression

FloatArray: TypeAlias = NDArray[np.float64]
Array: TypeAlias = NDArray[Any]  # float64, or object where an entry is a SymPy expression of scene parameters
Scalar: TypeAlias = Any  # a float or a SymPy expression of scene parameters

POSE_TOLERANCE = 1e-6  # a rotation typed with six digits is accepted
_NO_TURN, _UNTURNED = np.eye(3), np.eye(4).tobytes()
SIZE_RANGE = (1e-50, 1e50)  # metres; inertia grows with the fifth power of a size and must stay a finite double


def is_symbolic(value: object) -> bool:
    """Whether `value` depends on scene parameters, told without importing SymPy."""
    if isinstance(value, (float, int)):
        return False
    return type(value) is Expression or bool(getattr(value, "free_symbols", None))


def is_real(value: object) -> bool:
    """Whether `value` is a plain real number of Python or NumPy."""
    return isinstance(value, (int, float, np.integer, np.floating))


def _real(value: Any) -> float:
    """A number, also of SymPy, as a float. TypeError for text, for what is masked and for what is complex."""
    if isinstance(value, (str, bytes, complex, np.complexfloating)) or value is np.ma.masked:
        raise TypeError(f"{value!r} is no real number")
    return float(value)


def _masked(value: object) -> bool:
    """Whether an entry of an array, or of arrays in a list, is masked: it has no value, though NumPy gives one."""
    if isinstance(value, (list, tuple)):
        return any(map(_masked, value))
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def as_floats(value: object) -> np.ndarray:
    """`value` as a float array; what holds no real numbers becomes an array of no size, whose shape fits nothing."""
    try:
        if _masked(value):
            raise TypeError("a masked number has no value")
        source = np.asarray(value)
        if source.dtype.kind == "O":
            return np.array([_real(x) for x in source.flat], dtype=float).reshape(source.shape)
        if source.dtype.kind in "biuf":
            return source.astype(float)
    except (TypeError, ValueError, OverflowError):
        pass
    return np.zeros((0, 0))


def entries(where: str, what: str, value: object, shape: tuple[int, ...]) -> Array:
    """A read-only copy of `value` in `shape`: float64, or object if an entry is symbolic.

    NaN and infinity pass, so that the caller can name them better. Raises ModelError beginning with `where`.
    """
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == shape:
        return read_only(value.copy())
    if type(value) is float and shape == ():
        return read_only(np.array(value))
    wanted = "a number" if shape == () else f"an array of shape {shape}"
    try:
        array = np.asarray(value, dtype=object)
        if array.shape != shape:
            array = array.squeeze()  # SymPy's column vectors are (3, 1)
        if array.shape != shape or _masked(value):
            raise ValueError(f"shape {array.shape}")
        values = [entry if is_symbolic(entry) else _real(entry) for entry in array.flat]
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{where}: {what} must be {wanted} with real entries, not {value!r}") from error
    return read_only(np.array(values, dtype=object if any(map(is_symbolic, values)) else np.float64).reshape(shape))


def read_only(array: Array) -> Array:
    """The same array, which nobody is to write to."""
    array.setflags(write=False)
    return array


def numbers(where: str, what: str, value: object, shape: tuple[int, ...]) -> FloatArray:
    """A read-only float64 copy of `value` in `shape`. Raises ModelError unless all entries are finite numbers."""
    array = entries(where, what, value, shape)
    if array.dtype == object:
        raise ModelError(f"{where}: {what} cannot depend on scene parameters; give numbers")
    if not np.isfinite(array).all():
        raise ModelError(f"{where}: {what} has an entry that is NaN or infinite: {value!r}")
    return array


def sizes(where: str, what: str, value: object, shape: tuple[int, ...]) -> FloatArray:
    """Like `numbers`, for lengths in metres. Raises ModelError unless all are positive and within SIZE_RANGE."""
    array = numbers(where, what, value, shape)
    if (array <= 0.0).any():
        raise ModelError(f"{where}: {what} must be positive, in metres, not {value!r}")
    if (array < SIZE_RANGE[0]).any() or (array > SIZE_RANGE[1]).any():
        raise ModelError(f"{where}: {what} {value!r} is out of range; sizes are in metres")
    return array


def positive(where: str, what: str, value: object) -> Scalar:
    """`value` as a positive finite float; a symbolic value is returned as it is. Raises ModelError otherwise."""
    number = entries(where, what, value, ()).item()
    if not is_symbolic(number) and not 0.0 < number < math.inf:
        raise ModelError(f"{where}: {what} must be positive and finite, not {value!r}")
    return number


def _is_shift(value: object) -> TypeGuard[FloatArray]:
    """Whether a pose is finite, turns nothing, and is written as such, as most are that come by the hundred."""
    if type(value) is not np.ndarray or value.dtype != np.float64 or value.shape != (4, 4):
        return False
    turn, words = _UNTURNED, value.tobytes()
    if words[:24] != turn[:24] or words[32:56] != turn[32:56] or words[64:88] != turn[64:88] or words[96:] != turn[96:]:
        return False
    return math.isfinite(value[0, 3]) and math.isfinite(value[1, 3]) and math.isfinite(value[2, 3])


def rigid_pose(where: str, what: str, value: object) -> FloatArray:
    """A read-only 4x4 pose of finite numbers, its rotation orthonormalised. Raises ModelError beyond POSE_TOLERANCE."""
    if _is_shift(value):
        return read_only(value.copy())
    pose = numbers(where, what, value, (4, 4)).copy()
    rotation = pose[:3, :3]
    if np.abs(pose[3] - (0.0, 0.0, 0.0, 1.0)).max() > POSE_TOLERANCE:
        raise ModelError(f"{where}: the last row of the pose {what}= must be 0, 0, 0, 1, not {pose[3]}")
    if (rotation == _NO_TURN).all():
        pose[3] = (0.0, 0.0, 0.0, 1.0)
        return read_only(pose)
    # Entries of a rotation are at most 1; larger ones are refused before their squares can overflow.
    orthonormal = np.abs(rotation).max() < 2.0 and np.abs(rotation.T @ rotation - np.eye(3)).max() <= POSE_TOLERANCE
    if not orthonormal or np.linalg.det(rotation) < 0.0:
        raise ModelError(f"{where}: the pose {what}= must hold an orthonormal, right-handed rotation, not\n{rotation}")
    # One Newton step to the nearest rotation: a flat plate's inertia, turned by a slightly skewed matrix, would
    # otherwise violate the triangle inequality. It leaves the identity exactly as it is.
    pose[:3, :3] = rotation @ (3.0 * np.eye(3) - rotation.T @ rotation) * 0.5
    pose[3] = (0.0, 0.0, 0.0, 1.0)
    return read_only(pose)
