"""What every operation of the graph does to numbers: the definition that all back ends are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError

ODD = frozenset(("sin", "tan", "asin", "atan", "sinh", "tanh"))  # f(-x) = -f(x)
EVEN = frozenset(("cos", "abs", "cosh"))  # f(-x) = f(x)


def _element(index: Any, values: tuple[float, ...]) -> Any:
    position = np.clip(np.trunc(index), 0.0, len(values) - 1.0)  # keeps nan
    known = np.logical_not(np.isnan(position))
    return np.where(known, np.asarray(values)[np.where(known, position, 0.0).astype(int)], np.nan)


# The definition of every operation, on floats or NumPy arrays. Comparisons give 1.0 or 0.0; select(c, a, b) is a if c
# is not zero, else b; table(i, values) is element i, rounded towards zero, of a constant tuple, or the nearest there
# is, and nan for i = nan.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "reciprocal": lambda a: np.divide(1.0, a),  # infinite at 0 for plain floats as well
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "pow": lambda a, b: np.power(a, b),
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "less": lambda a, b: np.where(np.less(a, b), 1.0, 0.0),
    "select": lambda c, a, b: np.where(np.not_equal(c, 0.0), a, b),
    "floor": np.floor,
    "table": _element,
}


def evaluate_number(op: str, *args: float | tuple[float, ...]) -> float:
    """``op`` on numbers; ModelError when the result is not finite (a constant of the model divides by zero)."""
    with np.errstate(all="ignore"):
        value = float(FUNCTIONS[op](*(a if isinstance(a, tuple) else float(a) for a in args)))
    if not math.isfinite(value):
        raise ModelError(
            f"{op}({', '.join(map(repr, args))}) is not finite: a constant expression of the model is singular"
        )
    return value


def elementwise(op: str, scalarwise: Callable[..., Any], args: Sequence[Any]) -> np.ndarray:
    """``op`` on arrays: of objects by ``scalarwise``, one after the other; of numbers, 1 / 0 being infinite."""
    if any(type(a) is np.ndarray and a.dtype == object for a in args):
        return np.asarray(np.frompyfunc(scalarwise, len(args), 1)(*args))
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[op](*args))


def table_values(values: Sequence[float]) -> tuple[float, ...]:
    """The numbers of a table; ModelError unless there are any, and finite ones."""
    if not values or not all(map(math.isfinite, values)):
        raise ModelError("a table needs one number at least, and all of them finite; correct its values")
    return tuple(float(x) + 0.0 for x in values)  # no negative zero: equal tables are one node
