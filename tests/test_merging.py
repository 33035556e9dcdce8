"""Nodes that are the same function are one: identities are found, near equality and branches are not taken for it."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from test_expression import INPUTS
from test_reading_sympy import coordinates, read, sympy_trees

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, combine, floor, table
from recursive_dyn.graph.simplify import merge_identical
from recursive_dyn.graph.symbolic import from_sympy
from recursive_dyn.graph.traversal import evaluate


@given(sympy_trees, coordinates, coordinates, coordinates)
@settings(max_examples=60)
def test_merging_keeps_values(expression, x, y, z):
    at = dict(zip(INPUTS, (x, y, z), strict=True))
    graph = Graph()
    scalar = read(expression, graph)
    rates = [directional_derivative([scalar], {graph.input(name): 1.0})[0] for name in INPUTS]
    merged = merge_identical([scalar, *rates])
    np.testing.assert_allclose(evaluate(merged, at), evaluate([scalar, *rates], at), rtol=1e-11, atol=1e-12)


def test_merging_finds_identities():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    s, c = combine("sin", [x]), combine("cos", [x])
    one, zero, same, flipped = merge_identical(
        [s * s + c * c, s * s + c * c - 1.0, x * (y + 1.0), -(x * y) - x],
    )
    assert one == 1.0 and zero == 0.0
    assert flipped is -same
    double, half = merge_identical([2.0 * (s * c), combine("sin", [x * 2.0])])
    assert double is half


def test_merging_keeps_what_is_only_nearly_equal():
    graph = Graph()
    x = graph.input("x")
    a, b = x * 1.0000000000001, x * 1.0
    assert merge_identical([a, b]) == [a, b]
    tiny, none = merge_identical([x * 1e-200, x - x])
    assert tiny is not none and evaluate([tiny], {"x": 2.0}) == [2e-200]


_any = sp.Symbol("x")  # not known to be real: SymPy leaves sqrt(x^2) alone


@pytest.mark.parametrize(
    "expression",
    [sp.acos(sp.cos(_any)), sp.asin(sp.sin(_any)), sp.atan2(sp.sin(_any), sp.cos(_any)), sp.sqrt(sp.sin(_any) ** 2)],
    ids=str,
)
def test_merging_keeps_branches_apart(expression):
    """These are x or sin x where an inverse function's or a root's branch is, and something else beyond."""
    graph = Graph()
    x = graph.input(("q", 0))
    scalar = from_sympy(expression, lambda symbol: x, "this test")
    merged = merge_identical([x, combine("sin", [x]), scalar])[2]
    for value in (0.5, -0.5, 2.0, 4.0, -7.0):
        at = {("q", 0): value}
        np.testing.assert_allclose(evaluate([merged], at), evaluate([scalar], at), rtol=1e-14)


def test_merging_leaves_piecewise_functions_alone():
    graph = Graph()
    x = graph.input("x")
    (kept,) = merge_identical([combine("abs", [x])])
    assert evaluate([kept], {"x": -2.0}) == [2.0]


def test_merging_looks_through_tables():
    """Identities hold whatever a table or a floor gives; what holds for some values only is not one."""
    graph = Graph()
    x = graph.input("x")
    piece = floor(x)
    a, b = table(piece, (0.5, 2.0)), table(floor(x * 1.0 + 0.0), (0.5, 2.0))
    c, s = combine("cos", [a * x]), combine("sin", [b * x])
    one, plain, kept = merge_identical([c * c + s * s, (x - piece) * a + piece * b, a - piece])
    assert one == 1.0 and plain.op == "mul" and {plain.args[0], plain.args[1]} == {x, a}
    assert evaluate([kept], {"x": 1.5}) == [1.0]
    assert a is b
