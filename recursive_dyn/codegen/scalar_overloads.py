"""Functions of scalars as Numba knows them, so that loops over numbers compile from the lines that graphs are made of.

Importing this module is enough: ``compiled`` functions may then call ``sqrt``, ``select`` and their like of
``graph.expression``, and functions that are written in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from numba.extending import overload

from recursive_dyn.graph import expression as ex

_DEFINITIONS: dict[Callable[..., ex.Scalar], Callable[..., float]] = {
    ex.sin: lambda a: math.sin(a),
    ex.cos: lambda a: math.cos(a),
    ex.sqrt: lambda a: math.sqrt(a),
    ex.atan2: lambda a, b: math.atan2(a, b),
    ex.reciprocal: lambda a: 1.0 / a,
    ex.less: lambda a, b: 1.0 if a < b else 0.0,
    ex.select: lambda c, a, b: a if c != 0.0 else b,
}


def _known(function: Callable[..., ex.Scalar], definition: Callable[..., float]) -> None:
    count = definition.__code__.co_argcount
    if count == 1:
        overload(function)(lambda a: definition)
    elif count == 2:
        overload(function)(lambda a, b: definition)
    else:
        overload(function)(lambda c, a, b: definition)


for _function, _definition in _DEFINITIONS.items():
    _known(_function, _definition)
