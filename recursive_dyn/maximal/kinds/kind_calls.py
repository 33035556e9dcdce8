"""How machine code calls the programs of kinds of joints, for all joints of each or some."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats


class KindCalls(NamedTuple):
    """k kinds of joints, all or some of each. numbers (k, 11): the address of the program's batch, how many joints,
    addresses of its input, output and scratch, where their coordinates begin and end, and rates of these, the first of
    them among those of the kind, and among all; sources, strides (k, 8), targets (k, 7): of its segments; still (k,):
    how far from where they are joints may be followed."""

    numbers: Annotated[np.ndarray, int, 11]
    sources: Annotated[np.ndarray, int, 8]
    strides: Annotated[np.ndarray, int, 8]
    targets: Annotated[np.ndarray, int, 7]
    still: Floats


def some_calls(calls: KindCalls, kinds: np.ndarray, begin: np.ndarray, end: np.ndarray) -> KindCalls:
    """Of kinds (m,), each once or more, the joints from ``begin`` to ``end`` (m,) of the kind's, in the same memory."""
    numbers = calls.numbers[kinds]
    for low, high in ((5, 6), (7, 8)):
        each = (numbers[:, high] - numbers[:, low]) // np.maximum(numbers[:, 1], 1)
        numbers[:, high] = numbers[:, low] + each * end
        numbers[:, low] += each * begin
    numbers[:, 1], numbers[:, 9] = end - begin, begin
    numbers[:, 10] += begin
    return KindCalls(numbers, *(x[kinds] for x in calls[1:]))
