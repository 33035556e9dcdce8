"""How prescribed motions go on between two moments at which they are given: Taylor's series, over scalars.

A motion p is known among the applied forces by its time derivative there. A time s after p, p', p'' were given it is at
p + s p' + s^2 / 2 p'', its rate at p' + s p''; a unit vector is divided by its length, and a rotation R is at
R exp(hat(s Omega + s^2 / 2 Omega')). The highest derivative given stands still.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.motion.given import is_unit
from recursive_dyn.manifold.motion.quantities import Table
from recursive_dyn.spatial.rotations import normalized, rotation_exp


def carried(table: Table, numbers: np.ndarray, s: Scalar) -> np.ndarray:
    """The numbers (size,) of the forces a time s after they were given; what holds no motion is unchanged."""
    result = array(numbers)
    for symbol, place in table.slices.items():
        rate = _rate(symbol)
        if rate not in table.slices:
            continue
        way = _way(table, numbers, rate, s)
        if symbol.base.is_rotation:
            result[place] = (array(numbers[place]).reshape(3, 3) @ rotation_exp(way)).reshape(-1)
        else:
            result[place] = array(numbers[place]) + way
            if is_unit(symbol):
                result[place] = normalized(result[place])
    return result


def moves(table: Table) -> bool:
    """Whether a motion is among the forces."""
    return any(_rate(symbol) in table.slices for symbol in table.slices)


def _rate(symbol: Symbol) -> Symbol:
    return symbol.rate if symbol.base.is_rotation else Symbol(symbol.base, symbol.order + 1)


def _way(table: Table, numbers: np.ndarray, rate: Symbol, s: Scalar) -> np.ndarray:
    """s r + s^2 / 2 r' + ... of a rate r, as far as the table knows its derivatives."""
    total: Any = 0.0
    power, order = s, 1
    while rate in table.slices:
        total = total + array(numbers[table.slices[rate]]) * (power * (1.0 / factorial(order)))
        rate, power, order = Symbol(rate.base, rate.order + 1), power * s, order + 1
    return np.asarray(total)
