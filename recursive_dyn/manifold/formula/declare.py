"""Declaring symbols: names separated by spaces give a tuple of them, as SymPy's ``symbols`` does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import count
from math import prod
from numbers import Integral
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.nodes import Formula, Shape
from recursive_dyn.manifold.formula.operations import described
from recursive_dyn.manifold.formula.symbol import Base, Symbol
from recursive_dyn.spatial.spaces import Flat, Rotation, Space, UnitSphere

_ranks = count()


def scalars(names: str, constant: bool = False) -> Any:
    """Scalars; those that are not constant depend on time."""
    return declare(names, (), constant=constant)


def vectors(names: str, size: int = 3, constant: bool = False) -> Any:
    """Vectors of R^size."""
    return declare(names, (_size(size),), constant=constant)


def unit_vectors(names: str, constant: bool = False) -> Any:
    """Unit vectors, points of the sphere S^2: q . q = 1, and delta q = xi x q with ``q.virtual`` for xi."""
    return declare(names, (3,), constant=constant, space=UnitSphere(), virtual=lambda name: _companion(name, "q", "xi"))


def matrices(names: str, shape: Shape = (3, 3), constant: bool = False) -> Any:
    """Matrices of a shape (rows, columns)."""
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise OperandError(f"a matrix has a shape (rows, columns), not {shape!r}")
    return declare(names, (_size(shape[0]), _size(shape[1])), constant=constant)


def symmetric_matrices(names: str, size: int = 3, constant: bool = False) -> Any:
    """Symmetric matrices."""
    return declare(names, (_size(size), _size(size)), constant=constant, symmetric=True)


def rotations(names: str, rate: str | None = None, virtual: str | None = None, constant: bool = False) -> Any:
    """Rotation matrices, points of SO(3), from body to world axes.

    dR/dt = R hat(Omega) and delta R = R hat(eta), with ``R.rate`` for Omega and ``R.virtual`` for eta; ``rate`` and
    ``virtual`` name them otherwise.
    """
    if (rate or virtual) and not constant and len(names.split()) > 1:
        raise OperandError("name the rates of rotations one by one: rotations('R', rate='Omega')")
    return declare(
        names, (3, 3), constant=constant, space=Rotation(),
        rate=lambda name: rate or _companion(name, "R", "Omega"),
        virtual=lambda name: virtual or _companion(name, "R", "eta"),
    )  # fmt: skip


def define(name: str, formula: Formula) -> Symbol:
    """A name for a scalar or vector formula, kept in the equations: x = define("x", R * rho).

    Its variation is integrated by parts before the formula is put in, which keeps equations compact.
    """
    if not isinstance(formula, Formula) or len(formula.shape) > 1:
        raise OperandError(f"'{name}' cannot stand for {described(formula)}: only for a scalar or vector formula")
    if formula.varied:
        raise OperandError(f"'{name}' cannot stand for {formula}: it holds a variation")
    return _symbol(name, formula.shape, definition=formula)


def _companion(name: str, stem: str, greek: str) -> str:
    """q1 -> xi1, R -> Omega, and xi_name for names of another stem."""
    match = re.fullmatch(rf"{stem}(_\w+|\d\w*|[A-Z]\w*|)", name)
    return f"{greek}{match[1]}" if match else f"{greek}_{name}"


def _size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise OperandError(f"a size is a positive integer, not {value!r}")
    return int(value)


def declare(names: str, shape: Shape, constant: bool = False, **properties: Any) -> Any:
    """One symbol, or a tuple of symbols, of names separated by spaces; letters are normalised as Python's names are."""
    if not isinstance(constant, bool):
        raise OperandError(f"constant is True or False, not {constant!r}")
    symbols = [_symbol(name, shape, constant, **properties) for name in _separated(names)]
    return symbols[0] if len(symbols) == 1 else tuple(symbols)


def _symbol(
    name: str,
    shape: Shape,
    constant: bool = False,
    space: Space | None = None,
    rate: Callable[[str], str] | None = None,
    virtual: Callable[[str], str] | None = None,
    **properties: Any,
) -> Symbol:
    """rate, virtual: how Omega, and xi or eta, are called by the symbol's name; constants have none."""
    names = _separated(name)
    if len(names) > 1:
        raise OperandError(f"one symbol takes one name, not {name!r}")
    name = names[0]
    if rate and not constant:
        properties["rate"] = _symbol(rate(name), (3,))
    rank = next(_ranks)
    if virtual and not constant:
        properties["virtual"] = _symbol(virtual(name), (3,), is_virtual=True)
    return Symbol(Base(name, shape, constant, space or Flat(prod(shape)), rank=rank, **properties))


def _separated(names: str) -> list[str]:
    parts = unicodedata.normalize("NFKC", names).split() if isinstance(names, str) else []
    if not parts:
        raise OperandError(f"symbols need names, separated by spaces, not {names!r}")
    for part in parts:
        if not re.fullmatch(r"[^\W\d]\w*", part):
            raise OperandError(f"{part!r} is no name for a symbol: letters, digits and _ only, starting with a letter")
    return parts
