"""Merging of nodes that are numerically the same function.

Rules such as sin^2 + cos^2 = 1 cannot all be listed, so identity is tested instead: every node is evaluated at random
points together with a running bound of its rounding error, and nodes that agree at all points to within that bound are
one value (the Schwartz-Zippel test, here for analytic functions). A revolute joint's S becomes its axis this way.
Piecewise functions are not analytic: a graph that holds one is left as it is, but for ``floor`` and ``table``, whose
values enter as further inputs: what agrees for any values of theirs agrees for the right ones. Roots and inverse
functions have branches: points of either sign, near and far, tell sqrt(q^2) from q, and nodes must be finite at the
same points. A large term hides what is added to it, so that points count only where nothing of any size is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Expression, Scalar, combine
from recursive_dyn.graph.traversal import reachable
from recursive_dyn.graph.value_index import Entry, ValueIndex

_SAMPLES = 12
_FINITE = 4  # points at which two nodes must have values to be compared at all
_HIDDEN = 1e-7  # rounding errors beyond this may hide a term: such a point tells nothing
_FLOOR_SCALES = 10.0 ** -np.array([0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])  # polynomials in q - floor must stay small
_PIECEWISE = frozenset(("abs", "min", "max", "less", "select"))
_OPAQUE = frozenset(("floor", "table"))
_NICE = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)


@np.errstate(all="ignore")
def merge_identical(outputs: Sequence[Scalar]) -> list[Scalar]:
    """The outputs rebuilt so that nodes with equal values at random points are one node or one constant."""
    nodes = reachable(outputs)
    if any(n.op in _PIECEWISE for n in nodes):
        return list(outputs)
    rng = np.random.default_rng(20110808)
    drawn: dict[int, np.ndarray] = {}
    values: dict[int, np.ndarray] = {}
    errors: dict[int, np.ndarray] = {}
    replacement: dict[int, Scalar] = {}
    known = ValueIndex()
    for node in nodes:
        if node.op == "input":
            value, error = _draw(rng), np.zeros(_SAMPLES)
        elif node.op in _OPAQUE:
            rebuilt = _rebuilt(node, replacement)
            if type(rebuilt) is Expression and rebuilt.index not in drawn:
                scales = rng.permutation(_FLOOR_SCALES) if node.op == "floor" else 1.0
                drawn[rebuilt.index] = _draw(rng) * scales
            value = drawn[rebuilt.index] if type(rebuilt) is Expression else np.full(_SAMPLES, rebuilt)
            error = np.zeros(_SAMPLES)
        else:
            value, error = _evaluate(node, values, errors)
        values[node.index], errors[node.index] = value, error
        replacement[node.index] = _representative(node, value, error, replacement, known)
    return [replacement[o.index] if type(o) is Expression else o for o in outputs]


def _draw(rng: np.random.Generator) -> np.ndarray:
    near, far = rng.uniform(0.2, 0.9, _SAMPLES // 2), rng.uniform(1.0, 4.0, _SAMPLES // 2)
    return np.concatenate([near, far]) * rng.permutation(np.resize([1.0, -1.0], _SAMPLES))


def _rebuilt(node: Expression, replacement: dict[int, Scalar]) -> Scalar:
    return combine(node.op, [replacement[a.index] if type(a) is Expression else a for a in node.args])


def _representative(
    node: Expression,
    value: np.ndarray,
    error: np.ndarray,
    replacement: dict[int, Scalar],
    known: ValueIndex,
) -> Scalar:
    rebuilt = node if node.op == "input" else _rebuilt(node, replacement)
    if type(rebuilt) is not Expression or np.count_nonzero(np.isfinite(value)) < _FINITE:
        return rebuilt
    tolerance = error + 4e-16 * np.abs(value)
    clear = tolerance <= _HIDDEN
    if np.count_nonzero(clear) < _FINITE:
        return rebuilt  # nothing can be told of it, nor of others by it
    entry = Entry.of(value, tolerance, rebuilt)
    constant = node.op != "input" and len(entry.cells) == _SAMPLES
    if constant and (np.abs(value - value[0]) <= 2.0 * np.maximum(tolerance, tolerance[0])).all():
        return _nearest_nice(float(np.median(value)), float(tolerance.max()))
    finite = entry.finite
    for sign, other in known.near(entry):
        both = clear & (other.tolerance <= _HIDDEN)
        if np.count_nonzero(both) < _FINITE or not np.array_equal(finite, other.finite):
            continue
        gap, allowed = sign * value[finite] - other.value[finite], (tolerance + other.tolerance)[finite]
        if (np.abs(gap) <= allowed).all():
            return other.scalar if sign > 0 else -other.scalar
    known.add(entry)
    return rebuilt


def _nearest_nice(value: float, tolerance: float) -> float:
    for nice in _NICE:
        if abs(value - nice) <= max(8.0 * tolerance, 4e-16):
            return nice
    return value


def _evaluate(
    node: Expression, values: dict[int, np.ndarray], errors: dict[int, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Value and a first-order running error bound of one node at the sample points."""
    args = [values[a.index] if type(a) is Expression else a for a in node.args]
    bounds = [errors[a.index] if type(a) is Expression else 0.0 for a in node.args]
    value = np.asarray(FUNCTIONS[node.op](*args), dtype=float)
    if node.op in ("add", "sub"):
        carried = bounds[0] + bounds[1]
    elif node.op == "mul":
        carried = bounds[0] * np.abs(args[1]) + bounds[1] * np.abs(args[0])
    elif node.op == "neg":
        carried = bounds[0]
    elif node.op == "reciprocal":
        carried = bounds[0] * value * value
    else:
        carried = sum(
            np.abs(np.asarray(FUNCTIONS[node.op](*_nudged(args, bounds, i))) - value) for i in range(len(args))
        )
    return value, carried + 3e-16 * np.abs(value)


def _nudged(args: list[Any], bounds: list[Any], i: int) -> list[Any]:
    return [a + b if k == i else a for k, (a, b) in enumerate(zip(args, bounds, strict=True))]
