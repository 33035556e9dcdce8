"""The reference interpreter: the definition of what a program computes, statement by statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.program import Program


def run(program: Program, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Output segments (..., size) for input segments (..., size); the leading axes are one batch."""
    shape = np.broadcast_shapes(*(np.shape(inputs[name])[:-1] for name, size in program.inputs if size))
    values: list[Any] = []
    for name, size in program.inputs:
        segment = np.broadcast_to(np.asarray(inputs.get(name, np.zeros(size)), dtype=float), (*shape, size))
        values += [segment[..., i] for i in range(size)]
    values += [*program.constants, *program.tables]
    with np.errstate(all="ignore"):
        for op, *args in program.statements:
            values.append(FUNCTIONS[op](*(values[a] for a in args)))
    outputs, results = {}, iter(program.results)
    for name, size in program.outputs:
        part = np.empty((size, *shape))
        for i in range(size):
            part[i] = values[next(results)]
        outputs[name] = np.moveaxis(part, 0, -1).copy()
    return outputs
