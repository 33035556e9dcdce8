"""The expression graph: folding, evaluation, differentiation, reading SymPy, merging of what is numerically equal."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import recursive_dyn as rd
from recursive_dyn.graph.definitions import FUNCTIONS, evaluate_number
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, array, combine, floor, reciprocal, sqrt, table
from recursive_dyn.graph.program import ARGUMENTS
from recursive_dyn.graph.symbolic import from_sympy
from recursive_dyn.graph.traversal import evaluate, reachable, substitute

ROUNDING = 2.0**-53
INPUTS = ("x", "y", "z")
CONSTANTS = (0.0, 1.0, -1.0, 2.0, 0.5, -0.25, 3.7, 1e-3)

leaves = st.sampled_from(INPUTS) | st.sampled_from(CONSTANTS)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(*(st.tuples(st.just(op), *[inner] * ARGUMENTS[op]) for op in ARGUMENTS if op != "table")),
    max_leaves=14,
)
numbers = st.sampled_from((0.0, 1.0, -1.0, 0.5)) | st.floats(-3.0, 3.0)


def built(tree, graph: Graph):
    """The tree through every folding rule."""
    if isinstance(tree, tuple):
        return combine(tree[0], [built(part, graph) for part in tree[1:]])
    return graph.input(tree) if isinstance(tree, str) else tree


def plain(tree, values: dict[str, float]) -> tuple[float, float]:
    """The tree's value in floating point, operation by operation, and a bound of its rounding error."""
    if isinstance(tree, str):
        return values[tree], 0.0
    if isinstance(tree, float):
        return tree, 0.0
    op, parts = tree[0], [plain(part, values) for part in tree[1:]]
    arguments, errors = [v for v, _ in parts], [e for _, e in parts]
    value = float(FUNCTIONS[op](*arguments))
    assume(math.isfinite(value) and abs(value) < 1e9)
    error = ROUNDING * (abs(value) + (sum(map(abs, arguments)) if op in ("add", "sub") else 0.0))
    for i, e in enumerate(errors):
        for sign in (1.0, -1.0):
            moved = [v + (sign * 2.0 * e if k == i else 0.0) for k, v in enumerate(arguments)]
            error += abs(float(FUNCTIONS[op](*moved)) - value)
    if op == "less" and abs(arguments[0] - arguments[1]) <= 4.0 * sum(errors):
        assume(sum(errors) == 0.0)
    assume(error <= 1e-6 * (1.0 + abs(value)))
    return value, error


@given(trees, numbers, numbers, numbers)
@settings(max_examples=150)
def test_folding_keeps_values(tree, x, y, z):
    values = dict(zip(INPUTS, (x, y, z), strict=True))
    with np.errstate(all="ignore"):
        expected, error = plain(tree, values)
    try:
        folded = built(tree, Graph())
    except rd.ModelError:
        assume(False)  # a constant part is singular: plain evaluation leaves it where it is multiplied by zero
    (value,) = evaluate([folded], values)
    assert abs(value - expected) <= 8.0 * error + 1e-300


@given(trees, numbers, numbers, numbers)
def test_substitution_keeps_values(tree, x, y, z):
    """Into another graph, and of numbers for inputs, which folds everything."""
    values = dict(zip(INPUTS, (x, y, z), strict=True))
    with np.errstate(all="ignore"):
        expected, error = plain(tree, values)
    try:
        scalar, other = built(tree, Graph()), Graph()
        (moved,) = substitute([scalar], {name: other.input(name) for name in INPUTS})
        (number,) = substitute([scalar], values)
    except rd.ModelError:
        assume(False)
    assert abs(evaluate([moved], values)[0] - expected) <= 8.0 * error + 1e-300
    assert abs(number - expected) <= 8.0 * error + 1e-300


class TestConstruction:
    def setup_method(self):
        self.graph = Graph()
        self.x, self.y, self.z = (self.graph.input(name) for name in INPUTS)

    def test_equal_expressions_are_one_node(self):
        x, y = self.x, self.y
        assert x + y is y + x
        assert x * y is y * x
        assert (x + y) * 2.0 is 2 * (y + x)
        assert sqrt(x + 1) is sqrt(1.0 + x)
        assert x - y is -(y - x)

    def test_what_vanishes(self):
        x, y = self.x, self.y
        assert x + 0 is x and x * 1 is x and x / 1 is x and x - 0.0 is x
        assert x * 0 == 0.0 and x - x == 0.0 and x / x == 1.0
        assert x.__neg__().__neg__() is x and 1.0 / (1.0 / x) is x and sqrt(x) * sqrt(x) is x
        assert (x + y) - y is x and (x - y) + y is x
        assert (x + y) - (y + 2.0) is x - 2.0 and (x + 3.0) - (x + 2.0) == 1.0
        assert (x + 1.0) + 2.0 is x + 3.0 and (x * 3.0) * 2.0 is x * 6.0

    def test_signs_move_outwards(self):
        x, y = self.x, self.y
        assert (-x) * y is -(x * y) and (-x) * (-y) is x * y and x + (-y) is x - y
        assert combine("sin", [-x]) is -combine("sin", [x])
        assert combine("cos", [-x]) is combine("cos", [x])
        assert x * (-2.0) is -(x * 2.0)

    @pytest.mark.parametrize("operation", ["__add__", "__sub__", "__mul__", "__truediv__"])
    def test_arithmetic_with_arrays_is_element_by_element(self, operation):
        others = array([self.y, 2.0, self.z])
        result = getattr(np.ndarray, operation.replace("__", "__r", 1))(others, self.x)
        direct = {"__add__": self.x + others, "__sub__": self.x - others, "__mul__": self.x * others,
                  "__truediv__": self.x / others}[operation]  # fmt: skip
        assert direct.shape == (3,)
        for a, b, other in zip(direct, result, others, strict=True):
            assert a is b is getattr(self.x, operation)(other)

    def test_arrays_hold_floats_and_expressions_only(self):
        made = array([[1, np.float64(2.0)], [self.x, np.int64(3)]])
        assert [type(v) for v in made.flat] == [float, float, Expression, float]

    def test_nodes_come_after_their_arguments(self):
        scalar = (self.x * self.y + self.z) * self.x
        nodes = reachable([scalar])
        assert [n.index for n in nodes] == sorted(n.index for n in nodes)
        assert nodes[-1] is scalar and len(nodes) == 6


@pytest.mark.parametrize(
    ("op", "arguments"), [("reciprocal", [0.0]), ("log", [0.0]), ("sqrt", [-1.0]), ("asin", [2.0]), ("exp", [1e4])]
)
def test_singular_constants_are_refused(op, arguments):
    with pytest.raises(rd.ModelError, match=r"not finite.*singular"):
        evaluate_number(op, *arguments)
    with pytest.raises(rd.ModelError, match="not finite"):
        combine(op, arguments)


def test_evaluation_of_a_singular_point_is_not_finite_and_no_error():
    graph = Graph()
    x = graph.input("x")
    for inputs in ({"x": 0.0}, {"x": np.zeros(3)}):
        assert np.all(np.isinf(evaluate([reciprocal(x)], inputs)[0]))


# One SymPy twin of every operation, and points at which both sides are smooth.
TWINS = {
    "add": (lambda a, b: a + b, (0.4, -1.1)),
    "sub": (lambda a, b: a - b, (0.4, -1.1)),
    "mul": (lambda a, b: a * b, (0.4, -1.1)),
    "neg": (lambda a: -a, (0.4,)),
    "reciprocal": (lambda a: 1 / a, (-0.4,)),
    "sqrt": (sp.sqrt, (0.7,)),
    "sin": (sp.sin, (0.7,)),
    "cos": (sp.cos, (0.7,)),
    "tan": (sp.tan, (-0.7,)),
    "asin": (sp.asin, (-0.6,)),
    "acos": (sp.acos, (-0.6,)),
    "atan": (sp.atan, (-2.6,)),
    "atan2": (sp.atan2, (0.3, -1.2)),
    "sinh": (sp.sinh, (-0.6,)),
    "cosh": (sp.cosh, (-0.6,)),
    "tanh": (sp.tanh, (-0.6,)),
    "exp": (sp.exp, (-0.6,)),
    "log": (sp.log, (0.6,)),
    "pow": (lambda a, b: a**b, (0.6, -1.7)),
    "abs": (sp.Abs, (-0.6,)),
    "min": (sp.Min, (-0.6, 0.3)),
    "max": (sp.Max, (-0.6, 0.3)),
    "less": (lambda a, b: sp.Piecewise((1, a < b), (0, True)), (-0.6, 0.3)),
    "select": (lambda c, a, b: sp.Piecewise((a, sp.Ne(c, 0)), (b, True)), (1.0, -0.6, 0.3)),
    "floor": (lambda a: sp.Piecewise((-2, a < -1), (-1, a < 0), (0, True)), (-0.6,)),  # floor itself has no derivative
}
POINTS = [(op, point) for op, (_, point) in TWINS.items()] + [
    ("select", (0.0, -0.6, 0.3)),
    ("less", (0.3, -0.6)),
    ("min", (0.3, -0.6)),
    ("max", (0.3, -0.6)),
    ("abs", (0.6,)),
    ("atan2", (-0.3, -1.2)),
    ("atan2", (-0.3, 0.0)),
]


def test_every_operation_has_a_twin():
    assert {*TWINS, "table"} == FUNCTIONS.keys()


@pytest.mark.parametrize(("op", "point"), POINTS)
def test_value_and_derivatives_of_every_operation(op, point):
    graph, names = Graph(), INPUTS[: len(point)]
    inputs = [graph.input(name) for name in names]
    symbols = sp.symbols(names, real=True)
    scalar = combine(op, inputs)
    twin = TWINS[op][0](*symbols)
    at, where = dict(zip(names, point, strict=True)), dict(zip(symbols, point, strict=True))
    assert float(evaluate([scalar], at)[0]) == pytest.approx(float(twin.subs(where)), rel=1e-15)
    for i, (name, symbol) in enumerate(zip(names, symbols, strict=True)):
        (rate,) = directional_derivative([scalar], {inputs[i]: 1.0})
        value = float(evaluate([rate], at)[0])
        if (op, i) != ("select", 0):  # SymPy has no derivative with respect to a condition
            assert value == pytest.approx(float(sp.diff(twin, symbol).subs(where)), rel=1e-14)
        h = 1e-5
        ahead, behind = (float(evaluate([scalar], at | {name: at[name] + s * h})[0]) for s in (1, -1))
        if (op, i) != ("select", 0):
            assert value == pytest.approx((ahead - behind) / (2 * h), abs=1e-8, rel=1e-8)  # h^2 f'''/6 and 1e-16 / h
        else:
            assert value == 0.0


TABLE = (0.5, -2.0, 3.0, 0.0)


@pytest.mark.parametrize(
    ("index", "expected"),
    [(0.0, 0.5), (1.0, -2.0), (3.0, 0.0), (1.9, -2.0), (-0.5, 0.5), (-1.0, 0.5), (-1e300, 0.5), (4.0, 0.0),
     (1e300, 0.0), (np.inf, 0.0), (-np.inf, 0.5), (np.nan, np.nan)],
)  # fmt: skip
def test_elements_of_a_table(index, expected):
    """Its own element, the nearest one beyond the ends, and nothing finite for what is no number."""
    graph = Graph()
    element = table(graph.input("i"), TABLE)
    np.testing.assert_equal(float(evaluate([element], {"i": index})[0]), expected)
    np.testing.assert_equal(evaluate([element], {"i": np.full(3, index)})[0], np.full(3, expected))
    assert directional_derivative([element], {graph.input("i"): 1.0}) == [0.0]
    if np.isfinite(index):
        assert table(index, TABLE) == expected == substitute([element], {"i": index})[0]


def test_tables_are_nodes_like_others():
    graph = Graph()
    i = graph.input("i")
    assert table(i, TABLE) is table(i, list(TABLE)) and table(i, TABLE) is not table(i, TABLE[::-1])
    assert table(i, [0.0, 1.0]) is table(i, [-0.0, 1.0]) and table(i, [2.0, 2.0]) == 2.0
    assert floor(floor(i)) is floor(i) and floor(-2.5) == -3.0
    (moved,) = substitute([table(floor(i), TABLE)], {"i": Graph().input("j")})
    assert evaluate([moved], {"j": 2.7}) == [3.0]
    for bad in ([], [1.0, np.nan], [np.inf, 0.0]):
        with pytest.raises(rd.ModelError, match="table needs one number"):
            table(i, bad)


def test_derivative_of_a_choice_ignores_the_other_piece():
    """A piece that guards a singular point must not let it in through its derivative."""
    x = sp.Symbol("x", real=True)
    graph = Graph()
    sinc = from_sympy(sp.Piecewise((1 - x**2 / 6, x**2 < 1e-8), (sp.sin(x) / x, True)), lambda s: graph.input("x"), "f")
    (rate,) = directional_derivative([sinc], {graph.input("x"): 1.0})
    assert evaluate([sinc, rate], {"x": 0.0}) == [1.0, 0.0]
    expected = sp.diff(sp.sin(x) / x, x).subs(x, 0.5)
    assert float(evaluate([rate], {"x": 0.5})[0]) == pytest.approx(float(expected), rel=1e-14)


# Random smooth SymPy expressions of x, y, z: bounded, so that no point is singular.
_x, _y, _z = sp.symbols(INPUTS, real=True)
