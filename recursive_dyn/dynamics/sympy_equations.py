"""The functions of a model as SymPy equations in symbols named like the scene's coordinates and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.program import Program
from recursive_dyn.graph.symbolic import OPERATIONS
from recursive_dyn.model.model import Model

MOST_NESTED = 20_000  # operations, counted as often as they would be written
# Operations of a function, and of one of its outputs, up to which it is worth a second or two to shorten them.
MOST_TIDIED, MOST_TIDIED_AT_ONCE = 300, 60

_OF_BODIES = {  # what the numbers of each body are called
    "wrenches": ("mx", "my", "mz", "fx", "fy", "fz"),
    "velocities": ("wx", "wy", "wz", "vx", "vy", "vz"),
    "poses": tuple(f"X{i}{j}" for i in range(4) for j in range(4)),
    "points": ("px", "py", "pz"),
    "weights": ("moment_weight", "force_weight"),
}


def equations(model: Model, program: Program, shape: tuple[int, ...], nested: bool) -> Any:
    """What a function of the model computes, in the symbols of :func:`symbols`: its program, and the shape of its
    outputs.

    nested: a scalar expression, or a Matrix of the function's outputs: a column for a vector, rows by columns for a
    matrix, poses (4, 4) below one another. Otherwise (assignments, outputs) as sympy.cse gives them: a list of (symbol,
    expression), one an operation, and outputs of the same shape in those symbols. ModelError for nested expressions of
    more than MOST_NESTED operations.
    """
    inputs = [s for name, _ in program.inputs for s in symbols(model)[name]]
    if not nested:
        assignments, outputs = _assignments(program, inputs)
        return assignments, _shaped(outputs, shape)
    if _nested_size(program) > MOST_NESTED:
        raise ModelError(
            f"{program.name} would be more than {MOST_NESTED} operations as nested expressions; ask for"
            f" equations('{program.name}', nested=False), which gives one symbol an operation"
        )
    outputs = [_with_plain_numbers(e) for e in _nested(program, inputs)]
    sizes = [sp.count_ops(e) for e in outputs]
    if sum(sizes) <= MOST_TIDIED and "dt" not in dict(program.inputs):
        outputs = [_tidied(e) if size <= MOST_TIDIED_AT_ONCE else e for e, size in zip(outputs, sizes, strict=True)]
    return _shaped(outputs, shape)


def symbols(model: Model) -> dict[str, list[Any]]:
    """The real symbols of every input segment.

    The coordinate "arm.angle" is arm_angle, its velocity arm_angle_dot, its acceleration arm_angle_ddot, its force
    tau_arm_angle. A velocity without a coordinate, as "hip.wx" of a ball, is hip_wx, its rate hip_wx_dot, its force
    tau_hip_wx. Parameters keep their names. A name that is taken already, or starts with a digit, gets the segment's
    name in front.
    """
    positions = [_stem(name) for name in model.coordinate_names]
    plain = set(model.coordinate_names)
    velocities = [(_stem(c.name), "_dot" if c.name in plain else "") for c in model.coordinates]
    stems = {
        "parameters": [name for name, _ in model.parameters],
        "q": positions,
        "v": [stem + dot for stem, dot in velocities],
        "a": [f"{stem}_d{dot[1:]}" if dot else f"{stem}_dot" for stem, dot in velocities],
        "tau": [f"tau_{stem}" for stem, _ in velocities],
        "q_end": [f"{stem}_end" for stem in positions],
        "v_middle": [f"{stem}{dot}_middle" for stem, dot in velocities],
        "wrenches": [],
        "dt": ["dt"],
        "ahead": ["ahead"],
        "whole": ["whole"],
    }
    for segment, parts in _OF_BODIES.items():
        stems[segment] = [f"{_stem(body.name)}_{part}" for body in model.bodies for part in parts]
    taken: set[str] = set()
    result = {}
    for segment, names in stems.items():
        result[segment] = [sp.Symbol(_unused(name, segment, taken), real=True) for name in names]
    return result


def _stem(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _unused(name: str, segment: str, taken: set[str]) -> str:
    candidate, count = (f"{segment}_{name}" if name[0].isdigit() else name), 1
    while candidate in taken:
        candidate = f"{segment}_{name}" + (f"_{count}" if count > 1 else "")
        count += 1
    taken.add(candidate)
    return candidate


def _shaped(outputs: Sequence[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return outputs[0]
    columns = 1 if len(shape) == 1 else shape[-1]
    return sp.Matrix(len(outputs) // columns if columns else 0, columns, list(outputs))


def _nested_size(program: Program) -> int:
    """Operations of the outputs written out in full, a value wherever it is used; counted no further than needed."""
    size = [0] * program.first_table + [len(values) for values in program.tables]
    for _, *args in program.statements:
        size.append(min(1 + sum(size[a] for a in args), MOST_NESTED + 1))
    return sum(size[r] for r in program.results)


def _nested(program: Program, inputs: Sequence[Any]) -> list[Any]:
    values = [*inputs, *map(number, program.constants), *program.tables]
    for op, *args in program.statements:
        values.append(_EXPRESSIONS[op](*(values[a] for a in args)))
    return [values[r] for r in program.results]


def _assignments(program: Program, inputs: Sequence[Any]) -> tuple[list[tuple[Any, Any]], list[Any]]:
    values = [*inputs, *map(number, program.constants), *program.tables]
    fresh = sp.numbered_symbols("x", exclude=inputs, real=True)
    assignments = []
    for op, *args in program.statements:
        symbol = next(fresh)
        assignments.append((symbol, _EXPRESSIONS[op](*(values[a] for a in args))))
        values.append(symbol)
    return assignments, [values[r] for r in program.results]


def number(value: float) -> Any:
    """A float as a person writes it: integers, halves, quarters and eighths as such, within rounding; else as it is."""
    for factor in (1, 2, 4, 8):
        whole = round(value * factor)
        simple = abs(whole) < 1e6 if factor == 1 else abs(whole) == 1
        if simple and abs(value * factor - whole) <= 4e-16 * abs(whole):
            return sp.Rational(whole, factor)
    return sp.Float(value)


def _turn(function: Any) -> Callable[[Any], Any]:
    """A trigonometric function; an angle's constant part that is a multiple of pi / 12 within rounding becomes one."""

    def apply(angle: Any) -> Any:
        constant, rest = angle.as_coeff_Add()
        twelfths = round(float(12 * constant / sp.pi.evalf()))
        exact = sp.pi * twelfths / 12
        return function(rest + exact if abs(float(constant - exact)) <= 4e-16 * abs(twelfths) else angle)

    return apply


def _table(index: Any, values: Sequence[float]) -> Any:
    pieces = [(number(x), index < k + 1) for k, x in enumerate(values[:-1])]
    return sp.Piecewise(*pieces, (number(values[-1]), True))


_EXPRESSIONS: dict[str, Callable[..., Any]] = OPERATIONS | {
    "sin": _turn(sp.sin),
    "cos": _turn(sp.cos),
    "tan": _turn(sp.tan),
    "table": _table,
}


def _tidied(expression: Any) -> Any:
    """The shortest of a few equal ways to write an expression."""
    plain = sp.signsimp(expression)
    ways = [expression, plain, sp.trigsimp(plain)]
    split = expression.replace(_is_offset, _split_offset)
    if split != expression:
        ways.append(sp.trigsimp(_without_rounding(sp.expand(split))))
    for way in tuple(ways):
        numerator, denominator = sp.fraction(way)
        ways.append(sp.expand_mul(numerator, deep=False) / denominator)
    return min(
        (_with_plain_numbers(_without_rounding(way)) for way in ways), key=lambda e: (sp.count_ops(e), len(str(e)))
    )


def _with_plain_numbers(expression: Any) -> Any:
    return expression.xreplace({f: number(float(f)) for f in expression.atoms(sp.Float)})


def _is_offset(e: Any) -> bool:
    return isinstance(e, (sp.sin, sp.cos)) and e.args[0].is_Add and any(t.is_number for t in e.args[0].args)


def _split_offset(e: Any) -> Any:
    """sin(q + c), cos(q + c) by the addition theorem: where a frame was turned for speed, the turns then cancel."""
    constant, rest = e.args[0].as_independent(*e.free_symbols, as_Add=True)
    c, s = sp.cos(constant).evalf(17), sp.sin(constant).evalf(17)
    if isinstance(e, sp.sin):
        return sp.sin(rest) * c + sp.cos(rest) * s
    return sp.cos(rest) * c - sp.sin(rest) * s


def _without_rounding(expression: Any) -> Any:
    """Without terms that are lost in the rounding of their neighbours: equal but for sines, cosines and a number."""
    return expression.replace(lambda e: e.is_Add, _significant)


def _significant(total: Any) -> Any:
    sizes: dict[Any, float] = {}
    terms = []
    for term in total.args:
        factors = sp.Mul.make_args(term)
        size = abs(float(sp.Mul(*(f for f in factors if f.is_number))))
        kind = sp.Mul(*(f for f in factors if not f.is_number and not _at_most_one(f)))
        sizes[kind] = max(size, sizes.get(kind, 0.0))
        terms.append((term, kind, size))
    return sp.Add(*(term for term, kind, size in terms if size > 2e-15 * sizes[kind]))


def _at_most_one(factor: Any) -> bool:
    base, exponent = factor.as_base_exp()
    return isinstance(base, (sp.sin, sp.cos)) and bool(exponent.is_positive)
