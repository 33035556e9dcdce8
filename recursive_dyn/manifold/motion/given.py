"""Numbers that a person gives, checked: what is unit, symmetric or a rotation up to rounding is made exactly so."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.errors import StateError
from recursive_dyn.manifold.formula.nodes import Shape
from recursive_dyn.manifold.formula.operations import kind
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.spatial.rotations import nearest_rotation

_TOLERANCE = 1e-9  # how far from symmetric, unit or orthonormal given numbers may be


def numbers(name: str, value: Any, shape: Shape, of: Symbol | None = None, batched: bool = False) -> np.ndarray:
    """An array of finite numbers of a shape (batched: with leading axes); StateError says what is wrong.

    of: the symbol whose numbers they are, if any, whose kind is told.
    """
    array, rank = real_array(value), len(shape)
    if array is None:
        wanted = f"the numbers of a {kind(of)}" if of else f"numbers of shape {shape}"
        raise StateError(f"{name} needs {wanted}, not {value!r}")
    if array.shape[array.ndim - rank :] != shape or (array.ndim > rank and not batched):
        raise StateError(f"{name} {f'is a {kind(of)} and ' if of else ''}needs shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise StateError(f"{name} needs finite numbers, not {value!r}")
    return array


def unit(name: str, array: np.ndarray, what: str = "unit vector") -> np.ndarray:
    """A vector (..., n) divided by its length, 1 up to rounding; StateError names the length that is most off."""
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    off = np.abs(length - 1.0)
    if off.max(initial=0.0) > _TOLERANCE:
        worst = float(length.flat[off.argmax()])
        raise StateError(f"{name} is a {what}, but the length given is {worst:.9g}: divide by it")
    return np.asarray(array / length)


def rotation(name: str, array: np.ndarray) -> np.ndarray:
    """The rotations (..., 3, 3) nearest to matrices that are rotations up to rounding.

    StateError for any other matrix says how far the worst one is from orthonormal.
    """
    error = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3)).max(initial=0.0)
    if error > _TOLERANCE or np.linalg.det(array).min(initial=1.0) < 0.0:
        raise StateError(
            f"{name} is a rotation matrix, but R^T R of the one given is {error:.2g} from 1, or it mirrors: its columns"
            " must be orthonormal and right-handed"
        )
    return nearest_rotation(array)


def is_unit(symbol: Symbol) -> bool:
    """Whether a symbol's value is a point of the sphere; its derivatives are not."""
    return symbol.base.is_unit and symbol.order == 0


def has_zero(symbol: Symbol) -> bool:
    """Whether a symbol may be zero; unit vectors and rotations may not."""
    return not is_unit(symbol) and not symbol.base.is_rotation


def as_declared(symbol: Symbol, name: str, array: np.ndarray) -> np.ndarray:
    """What a symbol was declared as (symmetric, of unit length, a rotation); StateError for what is not that."""
    if symbol.base.symmetric:
        transposed = np.swapaxes(array, -1, -2)
        if np.abs(array - transposed).max(initial=0.0) > _TOLERANCE * np.abs(array).max(initial=0.0):
            raise StateError(f"{name} was declared symmetric, but the matrix given is not")
        return np.asarray((array + transposed) / 2)
    if is_unit(symbol):
        return unit(name, array)
    return rotation(name, array) if symbol.base.is_rotation else array


def random_value(symbol: Symbol, rng: np.random.Generator) -> np.ndarray:
    """Numbers between 1/2 and 3/2, made what the symbol was declared as; symmetric ones positive definite."""
    x = np.asarray(rng.uniform(0.5, 1.5, size=symbol.shape))
    if is_unit(symbol):
        return x / np.linalg.norm(x)
    if symbol.base.is_rotation:
        Q, _ = np.linalg.qr(x)
        return np.asarray(Q * np.linalg.det(Q))
    return np.asarray(x @ x.T + np.eye(len(x))) if symbol.base.symmetric else x
