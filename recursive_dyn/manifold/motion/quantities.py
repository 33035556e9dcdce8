"""Numbers of symbols by name: the constants and applied forces that stay inputs of the compiled equations.

They are checked as they are given; what is unit, symmetric or a rotation up to rounding is made exactly so.

Prescribed motions are known among the applied forces by their time derivatives, and go on by them: a time s after p,
p', p'' were given, p is at p + s p' + s^2 / 2 p'', its rate at p' + s p''; a unit vector is divided by its length, and
a rotation R is at R exp(hat(s Omega + s^2 / 2 Omega')). The highest derivative given stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import factorial, prod
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.manifold.formula.nodes import Shape
from recursive_dyn.manifold.formula.operations import kind
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.spatial.algebra import mirrored
from recursive_dyn.spatial.rotations import nearest_rotation, normalized, quaternion_to_matrix, rotation_exp
from recursive_dyn.spatial.spaces import Rotation, UnitSphere

_TOLERANCE = 1e-9  # how far from symmetric, unit or orthonormal given numbers may be


def label(symbol: Symbol) -> str:
    """The name under which a symbol's numbers are given: its own, with a prime for each time derivative."""
    return symbol.base.name + "'" * symbol.order


class Table:
    """Symbols whose numbers lie one after the other in an array of ``size`` numbers, found by symbol or name.

    moves: whether a motion is among them, with its rate.
    """

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.slices: dict[Symbol, slice] = {}
        self.names: dict[str, Symbol] = {}
        self.size = 0
        for symbol in dict.fromkeys(symbols):
            name = label(symbol)
            if name in self.names:
                raise ModelError(f"two different symbols are called '{name}': give each a name of its own")
            count = prod(symbol.shape)
            self.slices[symbol] = slice(self.size, self.size + count)
            self.names[name] = symbol
            self.size += count
        self.moves = any(symbol.velocity in self.slices for symbol in self.slices)

    def carried(self, numbers: np.ndarray, s: Scalar) -> np.ndarray:
        """The numbers (size,), of any scalars, a time s after they were given; what holds no motion is unchanged."""
        result = array(numbers)
        for symbol, place in self.slices.items():
            way: Any = 0.0
            power, order, rate = s, 1, symbol.velocity
            while rate in self.slices:
                way = way + array(numbers[self.slices[rate]]) * (power * (1.0 / factorial(order)))
                power, order, rate = power * s, order + 1, rate.velocity
            if order == 1:
                continue
            if isinstance(symbol.space, Rotation):
                result[place] = (array(numbers[place]).reshape(3, 3) @ rotation_exp(way)).reshape(-1)
            else:
                moved = array(numbers[place]) + way
                result[place] = normalized(moved) if isinstance(symbol.space, UnitSphere) else moved
        return result

    def find(self, key: Any) -> Symbol | None:
        """The symbol of a name or symbol; None for what is not here."""
        if isinstance(key, str):
            return self.names.get(key)
        return key if isinstance(key, Symbol) and key in self.slices else None

    def values(self, numbers: np.ndarray) -> dict[Symbol, Any]:
        """The value of every symbol in an array (size,); symmetric ones read their upper half only."""
        own = {symbol: numbers[place].reshape(symbol.shape)[()] for symbol, place in self.slices.items()}
        return {symbol: mirrored(x) if symbol.base.symmetric else x for symbol, x in own.items()}


class Quantities(Mapping[Any, Any]):
    """Numbers by name or symbol: ``parameters["m"] = 1.0``, ``parameters[J] = np.diag([1, 2, 3])``.

    A scalar is a float, a vector (n,), a matrix (m, n). Assignment changes the next call, with no recompilation. Unlike
    ``Parameters``, of scalars that all have a value, these have shapes and kinds, and may be missing.
    ModelError for an unknown name; StateError for numbers of another shape, not finite, or not what the symbol was
    declared as (symmetric, of unit length, a rotation), for what is no mapping, and for a symbol given twice.
    """

    def __init__(self, table: Table, what: str, default: float = np.nan) -> None:
        self._table, self._what, self._default = table, what, default
        self.numbers = self.values_array = np.full(table.size, default)  # nan where none was given
        for symbol, place in table.slices.items():
            if not symbol.space.flat:  # which has no zero
                self.numbers[place] = np.nan

    def __getitem__(self, key: Any) -> Any:
        symbol = self.symbol(key)
        values = self.numbers[self._table.slices[symbol]]
        if np.isnan(values).any():
            raise ModelError(f"{self._what} '{label(symbol)}' has no value yet: give it one")
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

    def refuse_missing(self, numbers: np.ndarray | None = None) -> None:
        """ModelError names what, of these numbers or others (..., size), was never given."""
        numbers = self.numbers if numbers is None else numbers
        if np.isnan(numbers).any():
            missing = [n for n, s in self._table.names.items() if np.isnan(numbers[..., self._table.slices[s]]).any()]
            listed = ", ".join(f"'{n}' ({kind(self._table.names[n])})" for n in missing)
            raise ModelError(f"no value was given for {listed}: set {self._what}s[name] = ... first")

    def packed(self, values: Mapping[Any, Any] | None) -> np.ndarray:
        """These numbers with others in their place, (..., size); values may have leading axes, which broadcast."""
        if values is None:
            self.refuse_missing()
            return self.numbers
        given = by_symbol(f"{self._what}s", values, self.symbol)
        arrays = {s: self.checked(s, value, batched=True) for s, value in given.items()}
        leads = {s: a.shape[: a.ndim - len(s.shape)] for s, a in arrays.items()}
        try:
            lead = np.broadcast_shapes(*leads.values())
        except ValueError:
            shapes = ", ".join(f"{label(s)} {a.shape}" for s, a in arrays.items())
            raise StateError(f"the leading axes of the {self._what}s do not broadcast to one batch: {shapes}") from None
        result = np.tile(self.numbers, (*lead, 1))
        for s, a in arrays.items():
            result[..., self._table.slices[s]] = a.reshape(*leads[s], prod(s.shape))
        self.refuse_missing(result)
        return result

    def symbol(self, key: Any) -> Symbol:
        """The symbol of a name or symbol; ModelError lists the known ones."""
        symbol = self._table.find(key)
        if symbol is None:
            known = ", ".join(self._table.names) or "none"
            raise ModelError(f"unknown {self._what} '{key}'; the equations have {known}")
        return symbol

    def checked(self, symbol: Symbol, value: Any, batched: bool = False) -> np.ndarray:
        """The numbers of a symbol as an array of its shape (batched: with leading axes), checked."""
        name = f"{self._what} '{label(symbol)}'"
        return as_declared(symbol, name, numbers(name, value, symbol.shape, symbol, batched))


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


def as_declared(symbol: Symbol, name: str, array: np.ndarray) -> np.ndarray:
    """What a symbol was declared as (symmetric, of unit length, a rotation); StateError for what is not that."""
    if symbol.base.symmetric:
        transposed = np.swapaxes(array, -1, -2)
        if np.abs(array - transposed).max(initial=0.0) > _TOLERANCE * np.abs(array).max(initial=0.0):
            raise StateError(f"{name} was declared symmetric, but the matrix given is not")
        return np.asarray((array + transposed) / 2)
    if isinstance(symbol.space, UnitSphere):
        return unit(name, array)
    return rotation(name, array) if isinstance(symbol.space, Rotation) else array


def random_value(symbol: Symbol, rng: np.random.Generator) -> np.ndarray:
    """Numbers between 1/2 and 3/2, made what the symbol was declared as; symmetric ones positive definite."""
    if not symbol.space.flat:
        point = symbol.space.random(rng)
        return quaternion_to_matrix(point) if isinstance(symbol.space, Rotation) else point
    x = np.asarray(rng.uniform(0.5, 1.5, size=symbol.shape))
    return np.asarray(x @ x.T + np.eye(len(x))) if symbol.base.symmetric else x
