"""What a person writes in SymPy becomes graph scalars once, where it enters a scene, and SymPy again where it is shown.

A scene's scalars stand over the inputs ("parameter", name) and, in a joint, ("q", i) for its own coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array
from recursive_dyn.graph.traversal import reachable, substitute
from scene.number_checks import is_real


def lowered(values: Any, what: str, symbols: Sequence[Any] = ()) -> np.ndarray:
    """Numbers, SymPy expressions and scalars of other graphs as scalars of one graph, in the shape of ``values``.

    The graph holds nothing else, so that what is read back from a file is made again node by node. symbols: what
    stands for a joint's own coordinates, in order; every other symbol is an input ("parameter", name). ModelError
    begins with ``what``.
    """
    source = np.asarray(values, dtype=object)
    graph = Graph()
    inputs: _Inputs | None = None
    found = []
    for x in source.flat:
        if type(x) is Expression:
            found.append(carried([x], graph)[0])
        elif is_real(x):
            found.append(_finite(what, float(x)))
        else:
            from recursive_dyn.graph.symbolic import from_sympy

            inputs = inputs or _Inputs(graph, symbols)
            found.append(from_sympy(x, inputs, what))
    return carried(found, Graph()).reshape(source.shape)


def _finite(what: str, x: float) -> float:
    if not math.isfinite(x):
        raise ModelError(f"{what}: the constant {x} is not a finite real number")
    return x


class _Inputs:
    """Maps SymPy symbols to graph inputs: a joint's own coordinates by position, every other symbol as a parameter."""

    def __init__(self, graph: Graph, coordinates: Sequence[Any]) -> None:
        self.graph = graph
        self.place = {s: i for i, s in enumerate(coordinates)}
        if len(self.place) != len(coordinates):
            raise ModelError(f"a joint names each coordinate once, this one has {tuple(map(str, coordinates))}")

    def __call__(self, symbol: Any) -> Any:
        if symbol in self.place:
            return self.graph.input(("q", self.place[symbol]))
        return self.graph.input(("parameter", symbol.name))


def carried(values: Iterable[Scalar], graph: Graph, inputs: Mapping[Any, Scalar] | None = None) -> np.ndarray:
    """The scalars in another graph: an object array (n,). Inputs keep their names but for those that ``inputs`` has."""
    flat = list(values)
    if not any(type(x) is Expression for x in flat):
        return array(flat)
    return array(substitute(flat, _Named(graph, inputs or {})))


class _Named(dict[Any, Scalar]):
    """Inputs of a graph by name, each made when it is first met, so that nodes keep their order."""

    def __init__(self, graph: Graph, known: Mapping[Any, Scalar]) -> None:
        super().__init__(known)
        self.graph = graph

    def __missing__(self, name: Any) -> Scalar:
        return self.graph.input(name)


def graph_of(values: Iterable[Scalar]) -> Graph:
    """The graph that scalars belong to; a new one for numbers."""
    return next((x.graph for x in values if type(x) is Expression), None) or Graph()


def names_of(values: Iterable[Scalar]) -> list[str]:
    """Names of the parameters that scalars depend on."""
    nodes = reachable(values)
    return [n.args[0][1] for n in nodes if n.op == "input" and n.args[0][0] == "parameter"]


def in_sympy(values: Iterable[Scalar], coordinates: Sequence[Any] = ()) -> list[Any]:
    """Scalars as SymPy expressions; ``coordinates``: the symbols of a joint's own coordinates."""
    from recursive_dyn.graph.symbolic import to_sympy

    def symbol(name: Any) -> Any:
        import sympy as sp

        return coordinates[name[1]] if name[0] == "q" else sp.Symbol(name[1], real=True)

    return to_sympy(list(values), symbol)


def shown(values: Any) -> np.ndarray:
    """Scalars over parameters as a person reads them: numbers, and SymPy expressions where they depend on anything."""
    source = np.asarray(values)
    if not any(type(x) is Expression for x in source.flat):
        return source
    result = np.empty(source.shape, dtype=object)
    pairs = zip(source.flat, in_sympy(source.flat), strict=True)
    result.reshape(-1)[:] = [e if type(x) is Expression else x for x, e in pairs]
    return result
