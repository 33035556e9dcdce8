"""The two texts of a formula, on random expressions."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from test_file import NAMES, SYMBOLS, anything

import recursive_dyn as rd
from recursive_dyn.graph.expression import Expression, Graph, combine
from recursive_dyn.graph.program import ARGUMENTS, content_hash
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.spaces import Flat
from scene.file import formula_reader, formula_writer, joint_fields
from scene.scalars import lowered, shown

# The two texts, on random expressions


def sympy_expressions():
    numbers = st.integers(-3, 3) | st.floats(-2, 2, allow_nan=False) | st.sampled_from([sp.pi, sp.sqrt(2)])
    leaves = st.sampled_from(SYMBOLS) | numbers.map(sp.sympify) | st.sampled_from(SYMBOLS)
    exponents = st.sampled_from([2, 3, -1, -2, sp.Rational(1, 2), sp.Rational(-3, 2), sp.Rational(1, 3), 2.0, 0.7])
    functions = st.sampled_from([sp.sin, sp.cos, sp.tan, sp.exp, sp.Abs, sp.atan, sp.tanh, sp.sqrt, sp.log])

    def larger(part):
        return (
            st.builds(lambda a, b: a + b, part, part)
            | st.builds(lambda a, b: a - b, part, part)
            | st.builds(lambda a, b: a * b, part, part)
            | st.builds(lambda a, b: a if b.is_zero else a / b, part, part)
            | st.builds(lambda a, n: a if a.is_zero else a**n, part, exponents)
            | st.builds(lambda f, a: a if a.is_zero else f(a), functions, part)
        )

    return st.recursive(leaves, larger, max_leaves=12)


@given(sympy_expressions())
@settings(max_examples=60)
def test_an_expression_of_parameters_comes_back_as_the_same_graph(e):
    try:
        scalar = lowered([e], "e")
    except (rd.ModelError, OverflowError, TypeError):
        reject()  # complex, or not finite: no scene could use it
    assume(e.free_symbols)
    text = formula_writer.write("e", scalar)
    again = formula_reader.read("e", text, (1,), anything)
    assert content_hash("", again) == content_hash("", scalar)
    assert formula_writer.write("e", again) == text


@given(sympy_expressions())
@settings(max_examples=60)
def test_what_is_read_back_in_sympy_is_what_was_given(e):
    try:
        scalar = lowered([e], "e")
    except (rd.ModelError, OverflowError, TypeError):
        reject()
    assume(e.free_symbols)
    values = dict(zip(NAMES, (0.7, 1.3, 0.9), strict=True))
    (number,) = evaluate(list(scalar), {("parameter", name): x for name, x in values.items()})
    again = sp.sympify(shown(scalar)[0]).subs({s: values[s.name] for s in SYMBOLS}).evalf(25)
    assume(np.isfinite(number) and abs(number) < 1e12)
    assert complex(again) == pytest.approx(number, rel=1e-6, abs=1e-9)


@given(st.data())
@settings(max_examples=60)
def test_any_graph_is_made_again_node_by_node(data):
    graph = Graph()
    pool = [graph.input(("q", 0))]
    unused = [("q", 1), ("q", 2), ("parameter", "R"), ("parameter", "S")]
    for op in data.draw(st.lists(st.sampled_from(["input", *ARGUMENTS]), max_size=25)):
        if op == "input" and unused:
            pool.append(graph.input(unused.pop(data.draw(st.integers(0, len(unused) - 1)))))
        elif op != "input":
            scalars = st.sampled_from(pool) | st.sampled_from([1.0, -2.5, 0.1, -0.0, 1e-300])
            try:
                args = [data.draw(scalars) for _ in range(ARGUMENTS[op])]
                if op == "table":
                    args[1] = tuple(data.draw(st.lists(st.sampled_from([0.5, -1.0, 3.0]), min_size=1, max_size=4)))
                made = combine(op, args)
            except (rd.ModelError, OverflowError):
                continue
            pool += [made] if type(made) is Expression else []
    outputs = [data.draw(st.sampled_from([*pool, 0.0, -0.0, 1 / 3])) for _ in range(16)]
    program = core.build(graph, [(Flat(3), np.array(outputs, dtype=object).reshape(4, 4))])
    written = joint_fields.write_factors(program)
    again = joint_fields.read_factors(written, anything)
    assert again.key == program.key
    assert joint_fields.write_factors(again) == written
