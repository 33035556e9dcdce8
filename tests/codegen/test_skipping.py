"""Statements that only one side of selects needs are jumped over, and results are what they are without that."""

import numpy as np
import pytest

from recursive_dyn.codegen import reference
from recursive_dyn.codegen.emitting.fusing import fused
from recursive_dyn.codegen.emitting.skipping import skipping
from recursive_dyn.codegen.kernel import Kernel, SingleCall
from recursive_dyn.graph.expression import Graph, less, select, sin
from recursive_dyn.graph.program import schedule

COUNT = 10


def chosen(long: int):
    """x (COUNT,), or what so many products with sums make of each if the first is 1 or more; and what both need."""
    graph = Graph()
    x = list(graph.inputs("x", COUNT))
    shared, far = sin(x[1] * 3.0), []
    for value in x:
        for k in range(long):
            value = value * shared + 0.1 * k
        far.append(value)
    enough = less(x[0], 1.0)
    ends = [select(enough, a, b) for a, b in zip(x, far, strict=True)]
    return schedule(f"chosen {long}", [("x", COUNT)], [("y", [ends[0] * ends[1], *ends, shared])])


def test_what_one_side_needs_is_in_one_piece():
    program, skip = skipping(fused(chosen(60)))
    assert skip is not None and skip.end - skip.first >= 600
    assert len(program.codes) == len(fused(chosen(60)).codes)
    assert skipping(fused(chosen(10)))[1] is None


@pytest.mark.parametrize("first", [0.5, 1.5])
def test_results_are_those_of_the_program_on_either_side(first):
    program = chosen(60)
    call = SingleCall(Kernel(program.hash, lambda: program, 1))
    for other in (0.5, 1.5, first):  # what was not computed is left from the call before
        x = np.linspace(other, 2.0, COUNT)
        np.testing.assert_allclose(call([x]), reference.run(program, {"x": x})["y"], rtol=1e-12)
