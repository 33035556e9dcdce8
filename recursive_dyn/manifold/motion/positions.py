"""A variable's coordinates and velocities from what a person gives, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.manifold.formula.formula import ROTATION, SPHERE, Shape
from recursive_dyn.manifold.motion.quantities import real, rotation, unit
from recursive_dyn.manifold.motion.segments import Place

_TANGENT = 1e-9  # q . q' may be this share of |q'|


def position_from(place: Place, value: Any) -> np.ndarray:
    """Coordinates of a unit vector (3,), a rotation (3, 3) or quaternion x, y, z, w, a vector, a scalar."""
    name = f"the position of '{place.symbol.base.name}'"
    shape = place.symbol.shape
    if place.space == ROTATION and np.shape(value) == (4,):
        shape = (4,)
    array = numbers(name, value, shape)
    if place.space == SPHERE:
        return unit(name, array)
    if place.space == ROTATION:
        if shape == (4,):
            return unit(name, array, "unit quaternion x, y, z, w")
        return quaternion(rotation(name, array))
    return array.reshape(-1)


def velocity_from(place: Place, q: np.ndarray, rate: Any = None, angular: Any = None) -> np.ndarray:
    """Velocities of q' (or ``angular``, omega) of a unit vector at q, Omega, or x'; StateError for q' not tangent."""
    name = place.symbol.base.name
    if rate is not None and angular is not None:
        raise StateError(f"give rate or angular of '{name}', not both")
    if place.space != SPHERE:
        if angular is not None and place.space != ROTATION:
            raise StateError(f"'{name}' is flat and has no angular velocity: give rate=")
        shape = (3,) if place.space == ROTATION else place.symbol.shape
        return numbers(f"the rate of '{name}'", rate if angular is None else angular, shape).reshape(-1)
    given = numbers(f"the {'rate' if angular is None else 'angular velocity'} of '{name}'", _first(rate, angular), (3,))
    if abs(q @ given) > _TANGENT * max(1.0, float(np.linalg.norm(given))):
        what = "the rate q'" if angular is None else "the angular velocity"
        raise StateError(
            f"{what} of '{name}' has the part {q @ given:.3g} along the unit vector and must be at right angles to it:"
            " subtract q (q . q')"
        )
    given = given - q * (q @ given)
    return np.cross(q, given) if angular is None else given


def _first(rate: Any, angular: Any) -> Any:
    return rate if angular is None else angular


def position_of(place: Place, q: np.ndarray) -> np.ndarray:
    """The variable's value (..., *shape) in coordinates (..., nq)."""
    own = q[..., place.q]
    if place.space == ROTATION:
        return matrix(own)
    return own.copy() if place.symbol.shape else own[..., 0].copy()


def rate_of(place: Place, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q' of a unit vector, Omega of a rotation, x' of a flat variable, with leading axes."""
    own = v[..., place.v]
    if place.space == SPHERE:
        return np.cross(own, q[..., place.q])
    return own.copy() if place.symbol.shape or place.space == ROTATION else own[..., 0].copy()


def acceleration_of(place: Place, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """q'' of a unit vector, Omega' of a rotation, x'' of a flat variable, with leading axes."""
    if place.space != SPHERE:
        return rate_of(place, q, a)
    own, omega = q[..., place.q], v[..., place.v]
    return np.asarray(np.cross(a[..., place.v], own) + np.cross(omega, np.cross(omega, own)))


def numbers(name: str, value: Any, shape: Shape) -> np.ndarray:
    """An array of finite numbers of a shape; StateError says what is wrong."""
    array = real(value)
    if array is None:
        raise StateError(f"{name} needs numbers of shape {shape}, not {value!r}")
    if array.shape != shape:
        raise StateError(f"{name} needs shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise StateError(f"{name} needs finite numbers, not {value!r}")
    return array


def matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of quaternions x, y, z, w (..., 4) of any length."""
    x, y, z, w = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion(R: np.ndarray) -> np.ndarray:
    """Unit quaternion x, y, z, w of a rotation matrix (3, 3), w not negative: an eigenvector (Bar-Itzhack 2000)."""
    (a, b, c), (d, e, f), (g, h, i) = R
    K = np.array(
        [
            [a - e - i, b + d, c + g, h - f],
            [b + d, e - a - i, f + h, c - g],
            [c + g, f + h, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    q = np.linalg.eigh(K)[1][:, -1]
    return np.asarray(q if q[3] >= 0.0 else -q)
