"""Numbers of symbols by name: the constants and applied forces that stay inputs of the compiled equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.manifold.formula.formula import ROTATION, Symbol
from recursive_dyn.manifold.formula.operations import kind
from recursive_dyn.manifold.motion.segments import Table, is_unit, label

_TOLERANCE = 1e-9  # how far from symmetric, unit or orthonormal given numbers may be; they are then made exactly so


class Quantities(Mapping[Any, Any]):
    """Numbers by name or symbol: ``parameters["m"] = 1.0``, ``parameters[J] = np.diag([1, 2, 3])``.

    A scalar is a float, a vector (n,), a matrix (m, n). Assignment changes the next call, with no recompilation. Unlike
    ``Parameters``, of scalars that all have a value, these have shapes and kinds, and may be missing.
    ModelError for an unknown name; StateError for numbers of another shape, not finite, or not what the symbol was
    declared as (symmetric, of unit length, a rotation), for what is no mapping, and for a symbol given twice.
    """

    def __init__(self, table: Table, what: str, default: float = np.nan) -> None:
        self._table, self._what, self._default = table, what, default
        self.numbers = np.full(table.size, default)
        for symbol, place in table.slices.items():
            if is_unit(symbol) or symbol.base.space == ROTATION:  # these have no default
                self.numbers[place] = np.nan

    def __getitem__(self, key: Any) -> Any:
        symbol = self.symbol(key)
        values = self.numbers[self._table.slices[symbol]]
        if np.isnan(values).any():
            raise ModelError(f"{self._what} '{self._name(symbol)}' has no value yet: give it one")
        return values.reshape(symbol.shape).copy() if symbol.shape else float(values[0])

    def get(self, key: Any, default: Any = None) -> Any:
        """The numbers of a name or symbol; ``default`` for an unknown one, ModelError for one without a value."""
        return self[key] if self._table.find(key) is not None else default

    def copy(self) -> Quantities:
        """The same numbers, independent of these."""
        result = Quantities(self._table, self._what, self._default)
        result.numbers[:] = self.numbers
        return result

    def replace(self, values: Mapping[Any, Any]) -> None:
        """These numbers only; what is not among them is as it was at first. All or nothing."""
        fresh = Quantities(self._table, self._what, self._default)
        fresh.update(values)
        self.numbers[:] = fresh.numbers

    def __setitem__(self, key: Any, value: Any) -> None:
        symbol = self.symbol(key)
        self.numbers[self._table.slices[symbol]] = self.checked(symbol, value).reshape(-1)

    def update(self, values: Mapping[Any, Any] | None = None, **named: Any) -> None:
        """Assign many at once, from a mapping or by keyword; all or nothing."""
        given = by_symbol(f"{self._what}s", values, self.symbol, named)
        arrays = {s: self.checked(s, value) for s, value in given.items()}
        for s, a in arrays.items():
            self.numbers[self._table.slices[s]] = a.reshape(-1)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.names)

    def __len__(self) -> int:
        return len(self._table.names)

    def __contains__(self, key: object) -> bool:
        return self._table.find(key) is not None

    def __repr__(self) -> str:
        known = (f"{n}: {self.numbers[self._table.slices[s]].tolist()}" for n, s in self._table.names.items())
        return f"{{{', '.join(known)}}}"

    @property
    def complete(self) -> np.ndarray:
        """All numbers (size,); ModelError names those that were never given."""
        self._refuse_missing(self.numbers)
        return self.numbers

    def _refuse_missing(self, numbers: np.ndarray) -> None:
        if np.isnan(numbers).any():
            missing = [n for n, s in self._table.names.items() if np.isnan(numbers[..., self._table.slices[s]]).any()]
            listed = ", ".join(f"'{n}' ({kind(self._table.names[n])})" for n in missing)
            raise ModelError(f"no value was given for {listed}: set {self._what}s[name] = ... first")

    def packed(self, values: Mapping[Any, Any] | None) -> np.ndarray:
        """These numbers with others in their place, (..., size); values may have leading axes, which broadcast."""
        given = by_symbol(f"{self._what}s", values, self.symbol)
        arrays = {s: self.checked(s, value, batched=True) for s, value in given.items()}
        leads = {s: a.shape[: a.ndim - len(s.shape)] for s, a in arrays.items()}
        try:
            lead = np.broadcast_shapes(*leads.values())
        except ValueError:
            shapes = ", ".join(f"{self._name(s)} {a.shape}" for s, a in arrays.items())
            raise StateError(f"the leading axes of the {self._what}s do not broadcast to one batch: {shapes}") from None
        result = np.tile(self.numbers, (*lead, 1))
        for s, a in arrays.items():
            result[..., self._table.slices[s]] = a.reshape(*leads[s], prod(s.shape))
        self._refuse_missing(result)
        return result

    def symbol(self, key: Any) -> Symbol:
        """The symbol of a name or symbol; ModelError lists the known ones."""
        symbol = self._table.find(key)
        if symbol is None:
            known = ", ".join(self._table.names) or "none"
            raise ModelError(f"unknown {self._what} '{key}'; the equations have {known}")
        return symbol

    def _name(self, symbol: Symbol) -> str:
        return next(n for n, s in self._table.names.items() if s == symbol)

    def checked(self, symbol: Symbol, value: Any, batched: bool = False) -> np.ndarray:
        """The numbers of a symbol as an array of its shape (batched: with leading axes), checked."""
        name = f"{self._what} '{self._name(symbol)}'"
        array = real(value)
        if array is None:
            raise StateError(f"{name} needs the numbers of a {kind(symbol)}, not {value!r}")
        rank = len(symbol.shape)
        if array.shape[array.ndim - rank :] != symbol.shape or (array.ndim > rank and not batched):
            raise StateError(f"{name} is a {kind(symbol)} and needs shape {symbol.shape}, not {array.shape}")
        if not np.isfinite(array).all():
            raise StateError(f"{name} needs finite numbers, not {value!r}")
        return _as_declared(symbol, name, array)


def by_symbol(
    what: str, values: Any, find: Callable[[Any], Symbol], named: Mapping[str, Any] | None = None
) -> dict[Symbol, Any]:
    """Values by symbol, from mappings of names or symbols; None and () hold none.

    StateError for anything else that is no mapping, and for a symbol given twice.
    """
    if values is None or (isinstance(values, (tuple, list)) and not values):
        values = {}
    if not isinstance(values, Mapping):
        raise StateError(f"{what} need a mapping of names or symbols to numbers, not {values!r}")
    result: dict[Symbol, Any] = {}
    for key, value in [*values.items(), *(named or {}).items()]:
        symbol = find(key)
        if symbol in result:
            raise StateError(f"'{label(symbol)}' is given twice in the {what}: give it by name or by symbol")
        result[symbol] = value
    return result


def real(value: Any) -> np.ndarray | None:
    """A copy of anything that is real numbers, as an array; None for text, complex numbers, and what has no shape."""
    try:
        array = np.asarray(value)
        return array.astype(float) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        return None


def _as_declared(symbol: Symbol, name: str, array: np.ndarray) -> np.ndarray:
    """What is symmetric, unit or a rotation up to rounding, made exactly so; StateError for what is not."""
    if symbol.base.symmetric:
        transposed = np.swapaxes(array, -1, -2)
        if np.abs(array - transposed).max(initial=0.0) > _TOLERANCE * np.abs(array).max(initial=0.0):
            raise StateError(f"{name} was declared symmetric, but the matrix given is not")
        return np.asarray((array + transposed) / 2)
    if is_unit(symbol):
        return unit(name, array)
    return rotation(name, array) if symbol.base.space == ROTATION else array


def unit(name: str, array: np.ndarray, what: str = "unit vector") -> np.ndarray:
    """A vector (..., n) divided by its length, 1 up to rounding; StateError names the length that is most off."""
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    off = np.abs(length - 1.0)
    if off.max(initial=0.0) > _TOLERANCE:
        worst = float(length.flat[off.argmax()])
        raise StateError(f"{name} is a {what}, but the length given is {worst:.9g}: divide by it")
    return np.asarray(array / length)


def rotation(name: str, array: np.ndarray) -> np.ndarray:
    """The rotations (..., 3, 3) nearest to matrices that are rotations up to rounding (polar decomposition).

    StateError for any other matrix says how far the worst one is from orthonormal.
    """
    error = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3)).max(initial=0.0)
    if error > _TOLERANCE or np.linalg.det(array).min(initial=1.0) < 0.0:
        raise StateError(
            f"{name} is a rotation matrix, but R^T R of the one given is {error:.2g} from 1, or it mirrors: its columns"
            " must be orthonormal and right-handed"
        )
    U, _, V = np.linalg.svd(array)
    return np.asarray(U @ V)
