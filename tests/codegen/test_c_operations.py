"""Every operation in C, alone: strange indices, long programs, constants to the last bit."""

import ctypes

import numpy as np
import pytest
from test_c import arguments, build, interpreted, mechanism, needs_compiler, run
from trees import assert_close

from recursive_dyn.codegen.c import c_source
from recursive_dyn.codegen.kernel import BatchCall, Kernel, SingleCall
from recursive_dyn.codegen.making import jit
from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Graph, combine, floor, table
from recursive_dyn.graph.program import ARGUMENTS, Program, schedule


def every_operation() -> Program:
    """Every operation on inputs from its domain, on numbers in either place, on equal operands, on others' results."""
    graph = Graph()
    unit, positive, x, y, zero = graph.inputs("x", 5)
    domains = {"asin": [unit], "acos": [unit], "sqrt": [positive], "log": [positive], "pow": [positive, x],
               "select": [zero, x, y], "table": [x, (0.5, -2.0, 3.0)]}  # fmt: skip
    values = []
    for op, count in ARGUMENTS.items():
        own = domains.get(op, [x, y][:count])
        values.append(combine(op, own))
        if op == "table":
            values += [combine(op, [y, own[1]]), combine(op, [x, (1.0, 2.5)]), combine(op, [zero, own[1]])]
        elif count == 2:
            values += [combine(op, [own[0], 0.75]), combine(op, [0.75, own[1]]), combine(op, [own[0], own[0]])]
    values += [combine("select", [c, x, y]) for c in (unit, combine("less", [x, y]))]
    values += [combine("select", [zero, 2.0, x]), combine("select", [unit, x, -3.0]), combine("less", [zero, 0.0])]
    values += [combine("sqrt", [combine("exp", [x]) + 0.5]), (x + y) * (x - y) - unit * 1e-300, 7.0, x]
    return schedule("every", [("x", 5)], [("y", values)])


def operands(rows: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    x = np.column_stack(
        [rng.uniform(-1, 1, rows), rng.uniform(1e-3, 5, rows), *rng.uniform(-4, 4, (2, rows)), np.zeros(rows)]
    )
    x[::5, 3] = x[::5, 2]  # ties of less, min and max
    x[1::5, 3] = -x[1::5, 2]
    x[2::5, 4] = x[2::5, 2]  # both ways through select
    return x


STRANGE = [1e300, -1e300, 2.0**31, -(2.0**31) - 1.0, 2.0**63, -0.0, 0.0, -0.5, 0.999, 1.0, 2.0,
           3.0, -1.0, 7.5]  # fmt: skip


@pytest.fixture(scope="module")
def lookups() -> tuple[Program, np.ndarray, np.ndarray]:
    """Tables and floor at indices of every sort, and what they are; -77 for what is not finite."""
    graph = Graph()
    a, b = graph.inputs("x", 2)
    x = a / b  # inputs themselves must be finite
    values = [table(x, (4.0, 5.0, 6.0)), table(floor(x), (4.0, 5.0, 6.0)), table(x, (7.0, 8.0)), floor(x)]
    values = [combine("select", [combine("less", [combine("abs", [y]), 1e20]), y, -77.0]) for y in values]
    program = schedule("lookups", [("x", 2)], [("y", values)])
    indices = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], *([a, 1.0] for a in STRANGE * 2)])
    return program, indices, interpreted(program, {"x": indices})


def test_lookups_with_strange_indices(lookups):
    program, indices, expected = lookups
    np.testing.assert_array_equal(expected[:5, 0], [-77.0, 6.0, 4.0, 6.0, 4.0])
    np.testing.assert_array_equal(expected[-7:, 0], [4.0, 4.0, 5.0, 6.0, 6.0, 4.0, 6.0])
    for width in (1, 2, 4, 8):
        kernel = Kernel(f"lookups {program.hash} {width}", lambda: program, width)
        np.testing.assert_array_equal(BatchCall(kernel)([indices], len(indices))[0], expected)


@needs_compiler
def test_lookups_with_strange_indices_in_c(lookups, tmp_path):
    program, indices, expected = lookups
    (tmp_path / "lookups.c").write_text(c_source(program, "lookups", 2))
    np.testing.assert_array_equal(run(build(tmp_path), "lookups", program, {"x": indices}), expected)


def test_every_operation_on_scalars_and_vectors():
    program = every_operation()
    assert {s[0] for s in program.statements} == set(FUNCTIONS)
    inputs = {"x": operands(83)}
    expected = interpreted(program, inputs)
    for width in (1, 2, 4, 8):
        kernel = Kernel(f"every operation {program.hash} {width}", lambda: program, width)
        (batch,) = BatchCall(kernel)([inputs["x"]], 83)
        assert_close(batch / np.maximum(1.0, np.abs(expected)), expected / np.maximum(1.0, np.abs(expected)), 1e-14)
        if width == 1:
            single = np.array([SingleCall(kernel)([row]) for row in inputs["x"]])
            np.testing.assert_array_equal(single, batch)
    assert jit.vector_width() in (2, 4, 8)


@needs_compiler
@pytest.mark.parametrize("statements", [2000, 7, 1])
def test_every_operation_in_c(statements, tmp_path):
    """Also cut into functions of 7 statements and of one."""
    program = every_operation()
    (tmp_path / "every.c").write_text(c_source(program, "every", statements))
    inputs = {"x": operands(83)}
    expected = interpreted(program, inputs)
    actual = run(build(tmp_path), "every", program, inputs)
    assert_close(actual / np.maximum(1.0, np.abs(expected)), expected / np.maximum(1.0, np.abs(expected)), 1e-14)


@needs_compiler
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_long_programs_are_cut(level, tmp_path):
    chain = mechanism("surfaces")
    program = chain.dynamics().program("forward_dynamics")
    inputs = arguments(chain, rows=3)
    text = c_source(program, "whole", len(program.statements))
    (tmp_path / "whole.c").write_text(text)
    (tmp_path / "cut.c").write_text(c_source(program, "cut", 150))
    assert text.count("static void") == 0
    assert (tmp_path / "cut.c").read_text().count("static void") == -(-len(program.statements) // 150)
    library = build(tmp_path, level)
    assert_close(run(library, "cut", program, inputs), run(library, "whole", program, inputs), 1e-12)


@needs_compiler
def test_constants_arrive_to_the_last_bit(tmp_path):
    values = [0.1, 1 / 3, -0.1, 1e-300, 5e-324, 1.7976931348623157e308, 123456789.123456789, -2.0, 1e22, 0.0]
    (tmp_path / "f.c").write_text(c_source(schedule("f", [], [("y", values)]), "f"))
    library, out = build(tmp_path), np.empty(len(values))
    library.f(None, ctypes.c_void_p(out.ctypes.data))
    np.testing.assert_array_equal(out, values)


@needs_compiler
def test_programs_without_inputs_or_outputs(tmp_path):
    (tmp_path / "f.c").write_text(c_source(schedule("f", [("x", 1)], [("y", [])]), "f"))
    (tmp_path / "g.c").write_text(c_source(schedule("g", [("x", 1)], [("y", [2.0])]), "g"))
    build(tmp_path)
