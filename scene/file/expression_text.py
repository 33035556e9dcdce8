"""Arithmetic as text, read by a whitelist over Python's syntax tree: nothing that a file says is ever executed.

A text such as 'R' + 0.5*sin(q0)/t3 holds numbers, coordinates q0 ..., assigned names t0 ..., in quotes the names of
parameters and of what else the scene knows by name, + - * / and the sign with Python's precedence, and the operations
of recursive_dyn.expression.FUNCTIONS by their names.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, Protocol

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import FUNCTIONS
from recursive_dyn.graph.program import ARGUMENTS

MAX_LENGTH = 10_000  # characters of one expression; Python's own parser is safe far beyond
MAX_DEPTH = 100  # of nesting; a chain such as a + b + c counts once
MAX_INTEGER = 2**53  # beyond it a double does not hold every integer
SUM, PRODUCT, SIGN, ATOM = range(4)  # how tightly a text binds: a operand of a product needs more than SUM, and so on

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "divide"}
_SHOWN = 60  # characters of a text that errors quote


class Algebra(Protocol):
    """What a text is evaluated in: graph scalars, SymPy expressions."""

    def number(self, value: int | float) -> Any:
        """A number that is finite and, when an int, no larger than MAX_INTEGER."""

    def name(self, name: str) -> Any:
        """A coordinate or an assigned name."""

    def parameter(self, name: str) -> Any:
        """A name in quotes: a scene parameter, a coordinate of the scene or of a body, another quantity of a body."""

    def call(self, op: str, args: list[Any]) -> Any:
        """An operation of FUNCTIONS with the right number of arguments, or "divide"."""


def evaluate(text: str, algebra: Algebra) -> Any:
    """The value of an expression in an algebra. ModelError quotes the text and names what is not allowed in it."""
    return _evaluated(text, algebra, lambda node: [node])[0]


def evaluate_all(text: str, algebra: Algebra) -> list[Any]:
    """The values of expressions with commas between them, as :func:`evaluate`; a comma in quotes is part of a name."""
    return _evaluated(text, algebra, lambda node: node.elts if isinstance(node, ast.Tuple) else [node])


def _evaluated(text: str, algebra: Algebra, parts: Callable[[ast.expr], list[ast.expr]]) -> list[Any]:
    try:
        if len(text) > MAX_LENGTH:
            raise ModelError(f"it has {len(text)} characters and may have {MAX_LENGTH}; split it into several lines")
        return [_value(part, algebra, 0) for part in parts(_parsed(text))]
    except ModelError as error:
        raise ModelError(f"{quoted(text)}: {error}") from None


def quoted(text: str) -> str:
    """The text as errors show it, shortened."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + " ...")


def wrapped(text: str, binding: int, needed: int) -> str:
    """The text, in parentheses when it binds less tightly than needed."""
    return text if binding >= needed else f"({text})"


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ModelError(f"it is not an expression ({str(error.msg)[:_SHOWN]}); correct it") from None
    except (ValueError, MemoryError, RecursionError):
        raise ModelError("it is too deeply nested or holds a character that is not text; split or correct it") from None


def _value(node: ast.expr, algebra: Algebra, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ModelError(f"it is nested more than {MAX_DEPTH} deep; split it into several lines")
    chain: list[ast.BinOp] = []
    while isinstance(node, ast.BinOp):
        if type(node.op) not in _OPERATORS:
            raise ModelError(f"the operator {type(node.op).__name__} is not allowed; use + - * / and pow(a, b)")
        chain.append(node)
        node = node.left
    value = _operand(node, algebra, depth)
    for link in reversed(chain):
        value = algebra.call(_OPERATORS[type(link.op)], [value, _value(link.right, algebra, depth + 1)])
    return value


def _operand(node: ast.expr, algebra: Algebra, depth: int) -> Any:
    match node:
        case ast.Constant(value=str(name)):
            return algebra.parameter(name)
        case ast.Constant():
            return algebra.number(_number(node.value))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return algebra.number(-_number(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return algebra.call("neg", [_value(operand, algebra, depth + 1)])
        case ast.Name(id=name):
            return algebra.name(name)
        case ast.Call(func=ast.Name(id=op), args=args, keywords=[]):
            if op not in FUNCTIONS:
                raise ModelError(f"the function '{op}' is not allowed; use one of {', '.join(FUNCTIONS)}")
            if len(args) != ARGUMENTS[op]:
                raise ModelError(f"the function '{op}' takes {ARGUMENTS[op]} arguments, not {len(args)}")
            return algebra.call(op, [_value(a, algebra, depth + 1) for a in args])
    raise ModelError(
        f"it holds a construct ({type(node).__name__}) that is not allowed; use numbers, names,"
        " parameters in quotes, + - * / and functions such as sin(q0)"
    )


def _number(value: object) -> int | float:
    if type(value) is int and abs(value) <= MAX_INTEGER:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) in (int, float):
        raise ModelError("it holds a number that is too large; numbers are finite, integers at most 2**53")
    raise ModelError(f"it holds {value!r}, which is not a real number; write a decimal number")
