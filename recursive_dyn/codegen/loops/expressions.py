"""Expressions of compiled loops: an AST node becomes instructions and the value that they give."""

from __future__ import annotations

import ast
from typing import Any

from recursive_dyn.codegen.loops import intrinsics
from recursive_dyn.codegen.loops.arithmetic import Arithmetic
from recursive_dyn.codegen.loops.emitter import Value
from recursive_dyn.codegen.loops.types import BOOL, FLOAT, INT, Array, Record, Scalar, Several, record


class Expressions(Arithmetic):
    """Translates expressions of one function; ``variables`` are typed memory, ``named`` values that
    never change."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise self.fail(node, f"compiled loops have no {type(node).__name__}")
        value: Value = method(node)
        return value

    def scalar(self, node: ast.expr) -> Value:
        """The value of an expression that must be a number."""
        value = self.evaluate(node)
        if not isinstance(value.type, Scalar):
            raise self.fail(node, f"a number is needed here, not {value.type}")
        return value

    def truth(self, node: ast.expr) -> str:
        """An i1 for a condition."""
        value = self.scalar(node)
        if value.type is BOOL:
            return value.only
        if value.type is INT:
            return self.emitter.value(f"icmp ne i64 {value.only}, 0")
        return self.emitter.value(f"fcmp une double {value.only}, 0.0")

    def _constant(self, node: ast.Constant) -> Value:
        return self.constant(node.value, node)

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.named:
            return self.named[node.id]
        if node.id in self.variables:
            return self.emitter.read(*self.variables[node.id])
        if node.id in self.known:
            return self.constant(self.known[node.id], node)
        raise self.fail(node, f"'{node.id}' has no value here")

    def meaning(self, node: ast.expr) -> Any:
        """What a name, or a name in a module, stands for outside of the function; None for anything else."""
        if isinstance(node, ast.Name) and node.id not in self.variables and node.id not in self.named:
            builtins = self.known.get("__builtins__", {})
            space = builtins if isinstance(builtins, dict) else vars(builtins)
            return self.known.get(node.id, space.get(node.id))
        if isinstance(node, ast.Attribute):
            owner = self.meaning(node.value)
            return None if owner is None else getattr(owner, node.attr, None)
        return None

    def _attribute(self, node: ast.Attribute) -> Value:
        known = self.meaning(node)
        if known is not None:
            return self.constant(known, node)
        value = self.evaluate(node.value)
        if isinstance(value.type, Record) and node.attr in value.type.names:
            return self.fields(value)[value.type.names.index(node.attr)]
        raise self.fail(node, f"{value.type} has no field '{node.attr}'")

    def _tuple(self, node: ast.Tuple) -> Value:
        values = [self.evaluate(part) for part in node.elts]
        return Value(Several(tuple(v.type for v in values)), tuple(p for v in values for p in v.parts))

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(BOOL, (self.emitter.value(f"xor i1 {self.truth(node.operand)}, true"),))
        known = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and isinstance(known, int | float):
            return self.constant(-known, node)
        value = self.converted_up(self.scalar(node.operand))
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(node.op, ast.Invert) and value.type is INT:
            return Value(INT, (self.emitter.value(f"xor i64 {value.only}, -1"),))
        text = f"fneg double {value.only}" if value.type is FLOAT else f"sub nsw i64 0, {value.only}"
        return Value(value.type, (self.emitter.value(text),))

    def _binop(self, node: ast.BinOp) -> Value:
        return self.operation(node.op, self.evaluate(node.left), self.evaluate(node.right), node)

    def _compare(self, node: ast.Compare) -> Value:
        left, result = self.scalar(node.left), ""
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.scalar(other)
            found = self.compared(op, left, right, node)
            result = self.emitter.value(f"and i1 {result}, {found}") if result else found
            left = right
        return Value(BOOL, (result,))

    def _boolop(self, node: ast.BoolOp) -> Value:
        emit = self.emitter
        slots, end = emit.slots(BOOL, "truth"), emit.label("known")
        for part in node.values[:-1]:
            value, more = self.truth(part), emit.label("more")
            emit.write(slots, Value(BOOL, (value,)))
            emit.branch(value, *((more, end) if isinstance(node.op, ast.And) else (end, more)))
            emit.start(more)
        emit.write(slots, Value(BOOL, (self.truth(node.values[-1]),)))
        emit.start(end)
        return emit.read(BOOL, slots)

    def _ifexp(self, node: ast.IfExp) -> Value:
        emit = self.emitter
        yes, no, end = (emit.label(hint) for hint in ("yes", "no", "either"))
        emit.branch(self.truth(node.test), yes, no)
        emit.start(yes)
        first = self.evaluate(node.body)
        type_ = first.type
        if type_ is INT and self._floats(node.orelse):
            type_ = FLOAT
        slots = emit.slots(type_, "either")
        emit.write(slots, self.converted(first, type_, node))
        emit.jump(end)
        emit.start(no)
        emit.write(slots, self.converted(self.evaluate(node.orelse), type_, node))
        emit.start(end)
        return emit.read(type_, slots)

    @staticmethod
    def _floats(node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, float)

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.evaluate(node.value)
        which = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(value.type, Several) and isinstance(which, int):
            return self.fields(value)[which]
        item = self.place(value, node.slice, node)
        if isinstance(item.type, Scalar):
            return Value(INT if item.type.name == "int32" else item.type, (self.emitter.load(item.type, item.only),))
        return item

    def place(self, value: Value, index: ast.expr, node: ast.AST) -> Value:
        """Where ``value[index]`` is: a view, or the address of a number as a value of its type."""
        if not isinstance(value.type, Array):
            raise self.fail(node, f"{value.type} cannot be indexed")
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if any(isinstance(part, ast.Slice) for part in parts[:-1]):
            raise self.fail(node, "no index comes after a slice")  # of that, it would be: of rows, not in each
        for part in parts:
            if not isinstance(value.type, Array):
                raise self.fail(node, "too many indices")
            value = self._entry(value, part, node)
        return value

    def _entry(self, value: Value, index: ast.expr, node: ast.AST) -> Value:
        emit, type_ = self.emitter, value.type
        assert isinstance(type_, Array)
        base, length = value.parts
        if isinstance(index, ast.Slice):
            if index.step is not None:
                raise self.fail(node, "slices have no step")
            low = "0" if index.lower is None else self._index(index.lower)
            high = length if index.upper is None else self._index(index.upper)
            start = base if low == "0" else emit.address(type_.item, base, self._times(low, type_.stride))
            size = high if low == "0" else emit.value(f"sub nsw i64 {high}, {low}")
            return Value(type_, (start, size))
        address = emit.address(type_.item, base, self._times(self._index(index), type_.stride))
        if type_.inner:
            return Value(type_.entry, (address, str(type_.inner[0])))
        return Value(type_.item, (address,))

    def _index(self, node: ast.expr) -> str:
        value = self.converted_up(self.scalar(node))
        if value.type is not INT or value.only.startswith("-"):
            raise self.fail(
                node, f"an index is a whole number that is not negative, not {value.type} {ast.unparse(node)}"
            )
        return value.only

    def _times(self, index: str, factor: int) -> str:
        if factor == 1:
            return index
        return str(int(index) * factor) if index.isdigit() else self.emitter.value(f"mul nsw i64 {index}, {factor}")

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and self.meaning(node.func) is None:
            return intrinsics.copied(self, self.evaluate(node.func.value), node)
        callee = self.meaning(node.func)
        if hasattr(callee, "loops"):
            return self._invoked(callee, node)
        if isinstance(callee, type) and hasattr(callee, "_fields"):
            return self._made(callee, node)
        found = intrinsics.FUNCTIONS.get(callee)
        if found is not None:
            return found(self, node)
        raise self.fail(node, f"'{ast.unparse(node.func)}' is not a function of compiled loops")

    def _made(self, made: Any, node: ast.Call) -> Value:
        type_ = record(made)
        given = {name: self.evaluate(arg) for name, arg in zip(type_.names, node.args, strict=False)}
        given |= {str(word.arg): self.evaluate(word.value) for word in node.keywords}
        if set(given) != set(type_.names):
            raise self.fail(node, f"{type_} takes {', '.join(type_.names)}")
        return self.gathered(type_, [given[name] for name in type_.names], node)

    def _invoked(self, callee: Any, node: ast.Call) -> Value:
        self.called.append(callee)
        parameters, result = callee.loops.parameters, callee.loops.result
        if len(node.args) != len(parameters) or node.keywords:
            raise self.fail(node, f"{callee.__name__} takes {len(parameters)} arguments by position")
        values = [self.converted(self.evaluate(a), t, a) for a, t in zip(node.args, parameters.values(), strict=True)]
        return intrinsics.invoke(self, callee.loops.symbol, values, result)
