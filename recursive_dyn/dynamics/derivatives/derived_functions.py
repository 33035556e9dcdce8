"""Functions that are derivatives of others, on the graph: along a direction of all arguments, or of the parameters.

    d/de f(x + e dx) at e = 0

is one more straight-line program, about three times as long as that of f, whatever the number of arguments; whole
Jacobians are batches of it, a direction a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Scalar
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.context import ALONG, Context, Function, Outputs, segment_size


def by_parameter(function: Function, model: Model, parameter: str) -> Function:
    """df / d parameter; ModelError for a parameter that the model does not have."""
    names = [n for n, _ in model.parameters]
    if parameter not in names:
        raise ModelError(f"unknown parameter '{parameter}'; the scene declares {', '.join(names) or 'none'}")
    place = names.index(parameter)
    return _derived(function, lambda c: {c.graph.input(("parameters", place)): 1.0})


def along_arguments(function: Function) -> Function:
    """df along rates of the numbers of all arguments, the input segments named ``ALONG`` and the argument's name."""
    rates = tuple(ALONG + name for name in function.inputs)
    derived = _derived(function, lambda c: {x: dx for name in function.inputs for x, dx in _pairs(c, name)})
    return replace(derived, inputs=(*function.inputs, *rates))


def along_parameters(function: Function) -> Function:
    """df along rates of all parameters; of no forest's trees, which have parameters of their own."""
    derived = _derived(function, lambda c: dict(_pairs(c, "parameters")))
    return replace(derived, inputs=(*function.inputs, ALONG + "parameters"), rows=None)


def _pairs(c: Context, name: str) -> list[tuple[Expression, Scalar]]:
    """The inputs of a segment with those of their rates."""
    inputs = c.graph.inputs(name, segment_size(c.model, name))
    return list(zip(inputs, c.input(ALONG + name), strict=True))


def _derived(function: Function, direction: Callable[[Context], dict[Expression, Scalar]]) -> Function:
    def derivative(c: Context) -> Outputs:
        outputs = function.outputs(c)
        rates = iter(directional_derivative([x for _, values in outputs for x in values], direction(c)))
        return [(label, [next(rates) for _ in values]) for label, values in outputs]

    rows = function.rows if function.total is None else None
    return replace(function, build=derivative, rows=rows, total=None, configuration=False, common=False)
