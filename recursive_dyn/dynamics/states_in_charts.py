"""Configurations whose numbers belong to charts: which arrays are those of simulations, and in which charts they are.

A simulation changes charts by itself. Its q then means another pose to the dynamics that it was made from, whose charts
stay: who asks these for anything at that array is told, where numbers alone would not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import StateError
from recursive_dyn.model.model import Link


class StatesInCharts:
    """Known to all views of a model's functions."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[np.ndarray], ref[Parameters]]] = {}

    def __reduce__(self) -> Any:
        return StatesInCharts, ()

    def add(self, q: np.ndarray, parameters: Parameters) -> None:
        """An array (nq,) that is a simulation's state, and its parameters, which say in which charts that is."""
        key = id(q)
        self._known[key] = ref(q, lambda _: self._known.pop(key, None)), ref(parameters)

    def check(self, q: np.ndarray, parameters: Parameters, charted: Sequence[Link]) -> None:
        """StateError if q (..., nq) is such an array, or a view of one, in other charts than these parameters say."""
        for array in (q, q.base):
            found = self._known.get(id(array))
            owner = None if found is None or found[0]() is not array else found[1]()
            if owner is None or owner is parameters:
                continue
            for link in charted:
                theirs, ours = (round(values[str(link.chart)]) for values in (owner, parameters))
                if theirs != ours:
                    raise StateError(
                        f"q is that of a simulation in which the joint of '{link.name}' has gone on in its chart"
                        f" {theirs}; in chart {ours}, as these dynamics have it, it is another pose. Ask"
                        " simulation.dynamics, which has the charts of its state"
                    )
