"""Numbers of compiled loops: constants, conversions, arithmetic and comparisons as Python has them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.emitting.ir_text import scalar_literal
from recursive_dyn.codegen.loops.emitter import Emitter, Value
from recursive_dyn.codegen.loops.types import BOOL, FLOAT, INT, Array, LoopError, Record, Scalar, Several, Type, words

_FLOAT_OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_INT_OPERATIONS = {
    ast.Add: "add nsw", ast.Sub: "sub nsw", ast.Mult: "mul nsw", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


class Arithmetic:
    """Translates operations of one function; ``known`` are the names of its module."""

    def __init__(self, known: dict[str, Any], where: str, symbol: str) -> None:
        self.emitter, self.symbol = Emitter(), symbol
        self.variables: dict[str, tuple[Type, tuple[str, ...]]] = {}
        self.named: dict[str, Value] = {}
        self.known, self.where = known, where
        self.called: list[Any] = []  # compiled functions, at each call
        self.constants: list[str] = []  # arrays of constants, as IR text
        self.keeps = True  # whether arrays outlive the call: they are then never on the stack

    def fail(self, node: ast.AST, message: str) -> LoopError:
        """The error to raise at a node."""
        return LoopError(f"{self.where}:{getattr(node, 'lineno', 0)}: {message}")

    def converted(self, value: Value, type_: Type, node: ast.AST) -> Value:
        """The value as another type of numbers where nothing is lost."""
        if value.type == type_:
            return value
        if isinstance(type_, Scalar) and isinstance(value.type, Scalar):
            emit = self.emitter
            if type_ is FLOAT and value.type is not FLOAT:
                how = "uitofp" if value.type is BOOL else "sitofp"
                return Value(FLOAT, (emit.value(f"{how} {value.type.word} {value.only} to double"),))
            if type_ is INT and value.type is BOOL:
                return Value(INT, (emit.value(f"zext i1 {value.only} to i64"),))
            if type_.word == value.type.word:
                return Value(type_, value.parts)
        if (
            isinstance(type_, Record | Several)
            and isinstance(value.type, Several)
            and len(type_.types) == len(value.type.types)
        ):
            return self.gathered(type_, self.fields(value), node)
        raise self.fail(node, f"{value.type} where {type_} is needed")

    def gathered(self, type_: Record | Several, values: Sequence[Value], node: ast.AST) -> Value:
        """A record or tuple of values."""
        parts = [self.converted(v, t, node).parts for v, t in zip(values, type_.types, strict=True)]
        return Value(type_, tuple(p for part in parts for p in part))

    def fields(self, value: Value) -> list[Value]:
        """The values that a record or tuple is made of."""
        assert isinstance(value.type, Record | Several)
        found, at = [], 0
        for type_ in value.type.types:
            size = len(words(type_))
            found.append(Value(type_, value.parts[at : at + size]))
            at += size
        return found

    def constant(self, value: Any, node: ast.AST) -> Value:
        """A number that is known, or a tuple of numbers as an array."""
        if isinstance(value, (bool, np.bool_)):
            return Value(BOOL, ("true" if value else "false",))
        if isinstance(value, (int, np.integer)):
            return Value(INT, (str(int(value)),))
        if isinstance(value, (float, np.floating)):
            return Value(FLOAT, (scalar_literal(float(value)),))
        if (
            isinstance(value, tuple)
            and value
            and all(type(x) is type(value[0]) and isinstance(x, (int, float)) for x in value)
        ):
            return self._table(value)
        raise self.fail(node, f"{value!r} is no constant of compiled loops")

    def _table(self, numbers: tuple[Any, ...]) -> Value:
        item = FLOAT if isinstance(numbers[0], float) else INT
        cells = ", ".join(f"{item.cell} {scalar_literal(x) if item is FLOAT else x}" for x in numbers)
        text = f"private unnamed_addr constant [{len(numbers)} x {item.cell}] [{cells}]"
        if text not in self.constants:
            self.constants.append(text)
        return Value(Array(item), (self.table(self.constants.index(text)), str(len(numbers))))

    def table(self, index: int) -> str:
        """The name of one of ``constants``."""
        return f"@table.{self.symbol}.{index}"

    def converted_up(self, value: Value) -> Value:
        """Truth values and short integers as integers."""
        return value if value.type in (FLOAT, INT) else self.converted(value, INT, ast.Pass())

    def operation(self, op: ast.operator, a: Value, b: Value, node: ast.AST) -> Value:
        """a op b for numbers, as Python has it."""
        if not (isinstance(a.type, Scalar) and isinstance(b.type, Scalar)):
            raise self.fail(node, f"no arithmetic of {a.type} and {b.type}; write the loop")
        if isinstance(op, ast.Pow):
            if b.parts != ("2",):
                raise self.fail(node, "compiled loops have squares only; write products")
            return self.operation(ast.Mult(), a, a, node)
        if a.type is BOOL and b.type is BOOL and type(op) in (ast.BitAnd, ast.BitOr, ast.BitXor):
            return Value(BOOL, (self.emitter.value(f"{_INT_OPERATIONS[type(op)]} i1 {a.only}, {b.only}"),))
        a, b = self.converted_up(a), self.converted_up(b)
        if a.type is INT and b.type is INT and not isinstance(op, ast.Div):
            return self._whole(op, a.only, b.only, node)
        if type(op) not in _FLOAT_OPERATIONS:
            raise self.fail(node, f"compiled loops have no {type(op).__name__} of floats")
        x, y = (self.converted(v, FLOAT, node).only for v in (a, b))
        return Value(FLOAT, (self.emitter.value(f"{_FLOAT_OPERATIONS[type(op)]} double {x}, {y}"),))

    def _whole(self, op: ast.operator, a: str, b: str, node: ast.AST) -> Value:
        emit = self.emitter
        if type(op) in _INT_OPERATIONS:
            return Value(INT, (emit.value(f"{_INT_OPERATIONS[type(op)]} i64 {a}, {b}"),))
        if not isinstance(op, (ast.FloorDiv, ast.Mod)):
            raise self.fail(node, f"compiled loops have no {type(op).__name__} of whole numbers")
        # Python rounds down, the machine towards zero
        rest = emit.value(f"srem i64 {a}, {b}")
        signs = emit.value(f"xor i64 {rest}, {b}")
        differ, some = emit.value(f"icmp slt i64 {signs}, 0"), emit.value(f"icmp ne i64 {rest}, 0")
        below = emit.value(f"and i1 {differ}, {some}")
        if isinstance(op, ast.Mod):
            more = emit.value(f"select i1 {below}, i64 {b}, i64 0")
            return Value(INT, (emit.value(f"add nsw i64 {rest}, {more}"),))
        quotient, one = emit.value(f"sdiv i64 {a}, {b}"), emit.value(f"zext i1 {below} to i64")
        return Value(INT, (emit.value(f"sub nsw i64 {quotient}, {one}"),))

    def compared(self, op: ast.cmpop, a: Value, b: Value, node: ast.AST) -> str:
        """An i1: a op b."""
        if type(op) not in _COMPARISONS:
            raise self.fail(node, f"compiled loops have no {type(op).__name__}")
        how = _COMPARISONS[type(op)]
        if FLOAT in (a.type, b.type):
            x, y = (self.converted(v, FLOAT, node).only for v in (a, b))
            return self.emitter.value(f"fcmp {'u' if how == 'ne' else 'o'}{how} double {x}, {y}")
        x, y = (self.converted_up(v).only for v in (a, b))
        return self.emitter.value(f"icmp {how if how in ('eq', 'ne') else 's' + how} i64 {x}, {y}")
