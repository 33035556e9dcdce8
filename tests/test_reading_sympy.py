"""SymPy expressions read into the graph: values, derivatives, edges of conditions, and what is refused."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_expression import INPUTS, _x, _y, _z

import recursive_dyn as rd
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.symbolic import from_sympy
from recursive_dyn.graph.traversal import evaluate

sympy_trees = st.recursive(
    st.sampled_from((_x, _y, _z, sp.Rational(1, 3), sp.pi, sp.Integer(2), sp.Float(0.7))),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - 2 * b, inner, inner),
        st.builds(lambda a, b: sp.sin(a) * b, inner, inner),
        st.builds(lambda a, b: sp.cos(a) / (2 + sp.sin(b)), inner, inner),
        st.builds(lambda a: sp.sqrt(1 + a**2), inner),
        st.builds(lambda a: sp.atan(a) ** 3, inner),
        st.builds(lambda a: sp.exp(-(a**2)), inner),
        st.builds(lambda a: (1 + a**2) ** sp.Rational(-3, 2), inner),
        st.builds(lambda a: sp.tanh(a), inner),
        st.builds(lambda a, b: sp.atan2(a, 2 + sp.cos(b)), inner, inner),
        st.builds(lambda a, b: (2 + sp.sin(a)) ** sp.cos(b), inner, inner),
    ),
    max_leaves=6,
)
coordinates = st.floats(-2.0, 2.0)


def read(expression, graph: Graph):
    return from_sympy(expression, lambda symbol: graph.input(symbol.name), "this test")


@given(sympy_trees, coordinates, coordinates, coordinates)
@settings(max_examples=60)
def test_values_and_derivatives_are_sympys(expression, x, y, z):
    at = dict(zip(INPUTS, (x, y, z), strict=True))
    where = {symbol: at[symbol.name] for symbol in (_x, _y, _z)}
    graph = Graph()
    scalar = read(expression, graph)
    rates = [directional_derivative([scalar], {graph.input(name): 1.0})[0] for name in INPUTS]
    expected = [float(e.subs(where).evalf(30)) for e in (expression, *(expression.diff(s) for s in where))]
    # conditioning: powers and nested exponentials of numbers up to about 1e3 lose three digits at the most
    np.testing.assert_allclose(evaluate([scalar, *rates], at), expected, rtol=1e-11, atol=1e-12)


READABLE = [
    _x + _y, _x - 3, -_x, _x * _y, _x / _y, _x**2, _x**-3, _x**7, sp.sqrt(_x), 1 / sp.sqrt(_x), _x ** sp.Rational(3, 2),
    sp.cbrt(_x), _x**1.7, _x**_y, 2**_x, sp.exp(_x), sp.log(_x), sp.log(_x, 10), sp.sin(_x), sp.cos(_x), sp.tan(_x),
    sp.sec(_x), sp.csc(_x), sp.cot(_x), sp.asin(_x), sp.acos(_x), sp.atan(_x), sp.atan2(_y, _x), sp.atan2(_x, -_y),
    sp.sinh(_x), sp.cosh(_x), sp.tanh(_x), sp.Abs(_x - _y), sp.sign(_x - _y), sp.Min(_x, _y, sp.Rational(1, 2)),
    sp.Max(_x, _y, 1), sp.pi * _x, sp.E + _x, sp.GoldenRatio * _x, sp.Float("0.1") * _x, sp.Integer(5),
    sp.Piecewise((_x, _x < _y), (_y, True)), sp.Piecewise((_x, _x > _y), (2, _x > 1), (_y, True)),
    sp.floor(_x * 3), sp.Piecewise((_x, (_x > 0) & (_x < sp.Rational(1, 2))), (_y, True)),
]  # fmt: skip


@pytest.mark.parametrize("expression", READABLE, ids=str)
def test_reading(expression):
    for point in ((0.4, 0.9), (0.9, 0.4)):
        at = dict(zip(INPUTS, point, strict=False))
        expected = float(expression.subs({_x: point[0], _y: point[1]}).evalf(30))
        assert float(evaluate([read(expression, Graph())], at)[0]) == pytest.approx(expected, rel=4e-15)


@pytest.mark.parametrize("value", [3, -0.1, np.float64(2.5), np.int64(7), sp.Rational(1, 3), sp.sqrt(2), sp.pi / 7])
def test_reading_numbers(value):
    assert read(value, Graph()) == float(value)


@pytest.mark.parametrize(
    ("condition", "at_the_edge"),
    [(_x < 0, False), (_x <= 0, True), (_x > 0, False), (_x >= 0, True), ((_x >= 0) & (_x <= 0), True),
     ((_x >= 0) & (_x < 0.1), True)],
    ids=str,
)  # fmt: skip
def test_conditions_at_their_edge(condition, at_the_edge):
    """The neutral configuration is often an edge, and the other piece may be singular there."""
    scalar = read(sp.Piecewise((2, condition), (1 / _x, True)), Graph())
    value = float(evaluate([scalar], {"x": 0.0})[0])
    assert value == 2.0 if at_the_edge else math.isinf(value)


def test_sign_of_zero():
    assert float(evaluate([read(sp.sign(_x), Graph())], {"x": 0.0})[0]) == 0.0


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (sp.gamma(_x), r"function gamma in gamma\(x\) is not supported; write it with elementary functions"),
        (sp.Function("wobble")(_x), "function wobble"),
        (sp.ceiling(_x), "function ceiling"),
        (sp.besselj(0, _x), "function besselj"),
        (sp.Integral(sp.exp(-(_x**2)), _x), "function Integral"),
        (sp.Derivative(sp.Function("g")(_x), _x), "function Derivative"),
        (sp.Matrix([_x]), "function ImmutableDenseMatrix"),
        (sp.Piecewise((_x, _x < 0)), "last piece.*needs the condition True"),
        (sp.Piecewise((_x, sp.Eq(_x, 0)), (1, True)), r"condition Eq\(x, 0\) is not supported; use <"),
        (sp.Piecewise((_x, (_x < 0) | (_x > 1)), (1, True)), "condition .* is not supported"),
        (sp.I * _x, "constant I is not a finite real number"),
        (sp.oo, "constant oo"),
        (sp.nan, "constant nan"),
        (sp.zoo, "constant zoo"),
        (math.inf, "constant oo"),
        (1j, "not a finite real number"),
        ("x + 1", "'x \\+ 1' is neither a number nor a SymPy expression"),
        (None, "None is neither"),
        ([_x], "neither a number nor a SymPy expression"),
    ],
    ids=str,
)
def test_refusals(expression, words):
    with pytest.raises(rd.ModelError, match=words) as caught:
        read(expression, Graph())
    assert "this test" in str(caught.value)


def test_strings_are_not_executed(tmp_path):
    with pytest.raises(rd.ModelError):
        read(f"open({str(tmp_path / 'made')!r}, 'w')", Graph())
    assert not list(tmp_path.iterdir())
