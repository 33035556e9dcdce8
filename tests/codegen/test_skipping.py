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


def nested(long: int):
    """x (COUNT,) if the first is below 1; else so many products with sums of each if the second is below 1.2, or twice
    as many."""
    graph = Graph()
    x = list(graph.inputs("x", COUNT))
    shared, near, far = sin(x[1] * 3.0), [], []
    for values, given in ((near, x), (far, near)):
        for value in given:
            for k in range(long):
                value = value * shared + 0.1 * k
            values.append(value)
    enough, then = less(x[0], 1.0), less(near[1] - near[1] + x[1], 1.2)
    ends = [select(enough, a, select(then, b, c)) for a, b, c in zip(x, near, far, strict=True)]
    return schedule(f"nested {long}", [("x", COUNT)], [("y", [ends[0] * ends[1], *ends, shared])])


def test_what_one_side_needs_is_in_one_piece():
    program, skips = skipping(fused(chosen(60)))
    assert len(skips) == 1 and skips[0].end - skips[0].first >= 600
    assert len(program.codes) == len(fused(chosen(60)).codes)
    assert skipping(fused(chosen(10)))[1] == []


def test_a_piece_may_have_another_within_it():
    program, (outer, inner) = skipping(fused(nested(60)))
    assert outer.first < inner.first < inner.end < outer.end
    assert outer.end - outer.first >= 1200 and inner.end - inner.first >= 600
    assert len(program.codes) == len(fused(nested(60)).codes)


@pytest.mark.parametrize("program", [chosen(60), nested(60)])
@pytest.mark.parametrize("first", [0.5, 1.5])
def test_results_are_those_of_the_program_on_either_side(program, first):
    call = SingleCall(Kernel(program.hash, lambda: program, 1))
    for other, second in ((0.5, 2.0), (1.5, 2.0), (1.5, 1.0), (first, 2.0), (first, 1.0)):
        x = np.linspace(other, second, COUNT)  # what was not computed is left from the call before
        np.testing.assert_allclose(call([x]), reference.run(program, {"x": x})["y"], rtol=1e-12)
