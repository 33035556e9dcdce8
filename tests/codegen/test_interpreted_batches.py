"""Batches by the interpreter are what the reference says, row by row, whatever else is in the batch."""

import numpy as np
import pytest

from recursive_dyn.codegen import reference
from recursive_dyn.codegen.interpreting.batches import BatchProgram
from recursive_dyn.graph.expression import Graph, combine
from recursive_dyn.graph.program import schedule


def program():
    graph = Graph()
    x, y, z = graph.inputs("x", 3)
    p, r = graph.inputs("p", 2)
    far = combine("sqrt", [x * x + y * y]) * combine("sin", [z]) + p * x
    return schedule("test", [("x", 3), ("p", 2)], [("far", [far, 1.0 / x, z]), ("sum", [x + y + z + r])])


@pytest.mark.parametrize("lead", [(), (1,), (7,), (16,), (3, 5), (0,)])
def test_any_batch_is_what_the_reference_says(lead):
    rng, p = np.random.default_rng(1), program()
    inputs = {"x": rng.uniform(0.5, 2.0, (*lead, 3)), "p": rng.normal(size=2)}
    found, expected = BatchProgram(p)(inputs), reference.run(p, inputs)
    assert found.keys() == expected.keys()
    for name in found:
        assert found[name].shape == expected[name].shape
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-14, atol=1e-15)


def test_rows_that_are_not_finite_leave_the_others_alone():
    x, p = np.ones((9, 3)), np.array([0.5, 2.0])
    x[2, 0], x[4, 2] = 0.0, np.nan
    found = BatchProgram(program())({"x": x, "p": p})
    assert np.isinf(found["far"][2, 1]) and np.isnan(found["sum"][4, 0])
    good = [k for k in range(9) if k not in (2, 4)]
    assert np.ptp(found["far"][good], axis=0).max() == 0.0 and np.isfinite(found["far"][good]).all()


def test_tables_are_left_to_the_reference():
    graph = Graph()
    (x,) = graph.inputs("x", 1)
    p = schedule("table", [("x", 1)], [("y", [combine("table", [x, (1.0, 4.0, 9.0)])])])
    inputs = {"x": np.array([[0.0], [1.0], [2.0]])}
    assert np.array_equal(BatchProgram(p)(inputs)["y"], reference.run(p, inputs)["y"])
