"""Reading numbers that may hold scene parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, reachable
from scene.number_checks import is_symbolic


def to_scalars(values: Any, graph: Graph, known: frozenset[str], what: str) -> np.ndarray:
    """Numbers or SymPy expressions of parameters as graph scalars of the same shape; ModelError names ``what``."""
    source = np.asarray(values)
    if source.dtype != object:
        return array(source)
    from recursive_dyn.graph.symbolic import from_sympy

    def parameter(symbol: Any) -> Scalar:
        return graph.input(("parameter", symbol.name))

    result = array([from_sympy(x, parameter, what) if is_symbolic(x) else float(x) for x in source.flat])
    for node in reachable(result):
        name = node.args[0][1] if node.op == "input" else None
        if name is not None and name not in known:
            raise ModelError(f"{what} uses the symbol '{name}'; declare it with scene.parameter('{name}', value)")
    return result.reshape(source.shape)
