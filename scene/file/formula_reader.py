"""Formulas of a scene file become graph scalars, by a whitelist over Python's syntax tree: nothing is ever executed.

A text such as 'R' + 0.5*sin(q0)/t3 holds numbers, coordinates q0 ..., assigned names t0 ..., tables v0 ..., in quotes
the names of parameters and of what else the scene knows by name, + - * / and the sign with Python's precedence, and the
operations of recursive_dyn.graph.expression.FUNCTIONS by their names.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Graph, Scalar, array, combine, is_constant
from recursive_dyn.graph.program import ARGUMENTS
from scene.file.document import fields, items, number, table, text

FIELDS = ("lines", "tables")  # what may stand beside formulas
MAX_LENGTH = 10_000  # characters of one formula; Python's own parser is safe far beyond
MAX_DEPTH = 100  # of nesting; a chain such as a + b + c counts once
MAX_COORDINATES = 10_000  # q0 ... q9999
MAX_INTEGER = 2**53  # beyond it a double does not hold every integer
_SHOWN = 60  # characters of a text that errors quote

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "divide"}
_ASSIGNMENT = re.compile(r"\s*(t[0-9]+)\s*=\s*(.*)", re.DOTALL)
_COORDINATE = re.compile(r"q([0-9]{1,4})")
_TABLE = re.compile(r"v([0-9]{1,6})")


def read(
    what: str, value: Any, shape: tuple[int, ...], check: Callable[[str], None], coordinates: int = 0
) -> np.ndarray:
    """The scalars of one graph that formulas in nested lists of that shape stand for, an object array.

    value: numbers and texts, or {"value": such lists, "lines": ..., "tables": ...}. check: raises for an unknown name
    in quotes; coordinates: how many of q0, q1, ... are known. ModelError begins with ``what``, or names the line.
    """
    given = {"value": value}
    if isinstance(value, dict):
        given = fields(what, value, ("value",), FIELDS)
    reader = beside(given, check, coordinates)
    return array(table(what, given["value"], shape, reader.entry))


def beside(given: dict[str, Any], check: Callable[[str], None], coordinates: int) -> FormulaReader:
    """A reader that has read the lines and tables that stand beside formulas in an object. Raises ModelError."""
    lines = [text("a line", line) for line in items("lines", given.get("lines", []))]
    tables = [_table(i, values) for i, values in enumerate(items("tables", given.get("tables", [])))]
    result = FormulaReader(check, tables, coordinates)
    result.lines(lines)
    return result


def _table(i: int, values: Any) -> list[float]:
    numbers = [number(f"table v{i}", x) for x in items(f"table v{i}", values)]
    if not numbers:
        raise ModelError(f"table v{i} is empty; give it one number at least")
    return numbers


class FormulaReader:
    """Reads formulas into one graph, with the names assigned so far."""

    def __init__(self, check: Callable[[str], None], tables: Sequence[Sequence[float]], coordinates: int) -> None:
        self.graph = Graph()
        self._check = check
        self._tables = [tuple(values) for values in tables]
        self._coordinates = coordinates
        self._assigned: dict[str, Scalar] = {}

    def lines(self, lines: Sequence[str]) -> None:
        """Read lines in order. ModelError names the line: a syntax that is not allowed, an unknown name."""
        for i, line in enumerate(lines):
            try:
                self._line(line)
            except ModelError as error:
                raise ModelError(f"line {i + 1}: {error}") from None

    def entry(self, what: str, value: Any) -> Scalar:
        """The scalar of a number or text. Raises ModelError."""
        if not isinstance(value, str):
            return number(what, value)
        try:
            return self._scalar(value)
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None

    def _line(self, line: str) -> None:
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            for value in self._values(line, several=True):
                if type(value) is tuple or is_constant(value) or value.op != "input":
                    raise ModelError(f"{quoted(line)} is no input; write an assignment such as t0 = sin(q0)")
            return
        name, source = match.groups()
        if name in self._assigned:
            raise ModelError(f"'{name}' is assigned already; use another name")
        self._assigned[name] = self._scalar(source)

    def _scalar(self, source: str) -> Scalar:
        (value,) = self._values(source)
        if type(value) is tuple:
            raise ModelError(f"{quoted(source)} is a table, not a number; write table(i, {source.strip()})")
        return value

    def _values(self, source: str, several: bool = False) -> list[Scalar]:
        """The value of a formula, or of several with commas between; a comma in quotes is part of a name."""
        try:
            if len(source) > MAX_LENGTH:
                raise ModelError(f"it has {len(source)} characters and may have {MAX_LENGTH}; split it into lines")
            node = _parsed(source)
            parts = node.elts if several and isinstance(node, ast.Tuple) else [node]
            return [self._value(part, 0) for part in parts]
        except ModelError as error:
            raise ModelError(f"{quoted(source)}: {error}") from None

    def _value(self, node: ast.expr, depth: int) -> Scalar:
        if depth > MAX_DEPTH:
            raise ModelError(f"it is nested more than {MAX_DEPTH} deep; split it into several lines")
        chain: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp):
            if type(node.op) not in _OPERATORS:
                raise ModelError(f"the operator {type(node.op).__name__} is not allowed; use + - * / and pow(a, b)")
            chain.append(node)
            node = node.left
        value = self._operand(node, depth)
        for link in reversed(chain):
            value = _call(_OPERATORS[type(link.op)], [value, self._value(link.right, depth + 1)])
        return value

    def _operand(self, node: ast.expr, depth: int) -> Scalar:
        match node:
            case ast.Constant(value=str(name)):
                self._check(name)
                return self.graph.input(("parameter", name))
            case ast.Constant():
                return _number(node.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -_number(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _call("neg", [self._value(operand, depth + 1)])
            case ast.Name(id=name):
                return self._name(name)
            case ast.Call(func=ast.Name(id=op), args=args, keywords=[]):
                if op not in FUNCTIONS:
                    raise ModelError(f"the function '{op}' is not allowed; use one of {', '.join(FUNCTIONS)}")
                if len(args) != ARGUMENTS[op]:
                    raise ModelError(f"the function '{op}' takes {ARGUMENTS[op]} arguments, not {len(args)}")
                return _call(op, [self._value(a, depth + 1) for a in args])
        raise ModelError(
            f"it holds a construct ({type(node).__name__}) that is not allowed; use numbers, names,"
            " parameters in quotes, + - * / and functions such as sin(q0)"
        )

    def _name(self, name: str) -> Scalar | tuple[float, ...]:
        if name in self._assigned:
            return self._assigned[name]
        match = _TABLE.fullmatch(name)
        if match is not None and int(match[1]) < len(self._tables):
            return self._tables[int(match[1])]
        match = _COORDINATE.fullmatch(name)
        if match is None or int(match[1]) >= self._coordinates:
            known = ", ".join(f"q{i}" for i in range(min(self._coordinates, 6)))
            own = f"coordinates are {known}, other names are" if known else "names are"
            raise ModelError(
                f"unknown name '{name}'; {own} assigned on a line before, tables are v0, v1, ..., parameters and"
                " coordinates of the scene stand in quotes"
            )
        return self.graph.input(("q", int(match[1])))


def _call(op: str, args: list[Any]) -> Scalar:
    """An operation of FUNCTIONS with the right number of arguments, or "divide". Raises ModelError."""
    if [type(a) is tuple for a in args] != [op == "table" and i == 1 for i in range(len(args))]:
        raise ModelError(f"'{op}' is given a table for a number, or none; only table(i, v0) takes one, as its second")
    if op == "divide":
        return _call("mul", [args[0], combine("reciprocal", [args[1]])])
    value = combine(op, args)
    if type(value) is float and not math.isfinite(value):
        raise ModelError("a constant in it is not finite; correct its numbers")
    return value


def _number(value: object) -> float:
    if type(value) is int and abs(value) <= MAX_INTEGER:
        return float(value)
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) in (int, float):
        raise ModelError("it holds a number that is too large; numbers are finite, integers at most 2**53")
    raise ModelError(f"it holds {value!r}, which is not a real number; write a decimal number")


def _parsed(source: str) -> ast.expr:
    try:
        return ast.parse(source.strip(), mode="eval").body
    except SyntaxError as error:
        raise ModelError(f"it is not an expression ({str(error.msg)[:_SHOWN]}); correct it") from None
    except (ValueError, MemoryError, RecursionError):
        raise ModelError("it is too deeply nested or holds a character that is not text; split or correct it") from None


def quoted(source: str) -> str:
    """A text as errors show it, shortened."""
    return repr(source if len(source) <= _SHOWN else source[:_SHOWN] + " ...")
