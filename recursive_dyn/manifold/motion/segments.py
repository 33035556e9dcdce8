"""Where every symbol lies in the input arrays of compiled equations: positions, velocities, forces and constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import array
from recursive_dyn.manifold.formula.formula import ROTATION, SPHERE, Symbol
from recursive_dyn.spatial.algebra import quaternion_rotation


@dataclass(frozen=True)
class Place:
    """The coordinates and velocities of one configuration variable.

    q: 3 of a unit vector, 4 (quaternion x, y, z, w) of a rotation, the numbers themselves of a flat variable.
    v: omega, world axes, of a unit vector; Omega, body axes, of a rotation; x' of a flat variable.
    """

    symbol: Symbol
    q: slice
    v: slice

    @property
    def space(self) -> str:
        """ "sphere", "rotation" or "flat"."""
        return self.symbol.base.space

    def position(self, q: np.ndarray) -> Any:
        """The variable's value for coordinates (nq,): a scalar, or an object array of its shape."""
        own = q[self.q]
        if self.space == ROTATION:
            return quaternion_rotation(own)
        return own if self.symbol.shape else own[0]

    def velocity(self, v: np.ndarray) -> Any:
        """Its part of velocities or accelerations (nv,)."""
        own = v[self.v]
        return own if self.symbol.shape else own[0]


def places(configuration: Sequence[Symbol]) -> tuple[Place, ...]:
    """Places of the variables, one after the other."""
    result, q, v = [], 0, 0
    for symbol in configuration:
        if len(symbol.shape) == 2 and symbol.base.space != ROTATION:
            raise ModelError(f"'{symbol}' is a matrix; of matrices only rotations can be in the configuration")
        nv = 3 if symbol.base.space == ROTATION else prod(symbol.shape)
        nq = 4 if symbol.base.space == ROTATION else nv
        result.append(Place(symbol, slice(q, q + nq), slice(v, v + nv)))
        q, v = q + nq, v + nv
    return tuple(result)


def label(symbol: Symbol) -> str:
    """The name under which a symbol's numbers are given: its own, with a prime for each time derivative."""
    return symbol.base.name + "'" * symbol.order


class Table:
    """Symbols whose numbers lie one after the other in an array of ``size`` numbers, found by symbol or name."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.slices: dict[Symbol, slice] = {}
        self.names: dict[str, Symbol] = {}
        self.size = 0
        for symbol in symbols:
            if symbol in self.slices:
                continue
            name = label(symbol)
            if name in self.names:
                raise ModelError(f"two different symbols are called '{name}': give each a name of its own")
            count = prod(symbol.shape)
            self.slices[symbol] = slice(self.size, self.size + count)
            self.names[name] = symbol
            self.size += count

    def find(self, key: Any) -> Symbol | None:
        """The symbol of a name or symbol; None for what is not here."""
        if isinstance(key, str):
            return self.names.get(key)
        return key if isinstance(key, Symbol) and key in self.slices else None

    def value(self, symbol: Symbol, values: np.ndarray) -> Any:
        """A symbol's scalar or array of scalars in an array (size,); symmetric ones read their upper half only."""
        own = values[self.slices[symbol]]
        if not symbol.shape:
            return own[0]
        own = own.reshape(symbol.shape)
        if symbol.base.symmetric:
            own = array([[own[min(i, j), max(i, j)] for j in range(len(own))] for i in range(len(own))])
        return own


def is_unit(symbol: Symbol) -> bool:
    """Whether a symbol's value is a point of the sphere."""
    return symbol.base.space == SPHERE and symbol.order == 0
