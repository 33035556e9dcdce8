"""What compiled loops may call besides each other: functions of math and NumPy, new arrays, machine code by address."""

from __future__ import annotations

import ast
import builtins
import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.loops.emitter import Value
from recursive_dyn.codegen.loops.types import (
    BOOL,
    FLOAT,
    INT,
    INT32,
    NOTHING,
    Array,
    Scalar,
    Several,
    Type,
    has_array,
    words,
)

_MOST_ON_STACK = 512  # numbers
_Made = Callable[[Any, ast.Call], Value]


def width(type_: Type) -> int:
    """How many machine words a value has."""
    return len(words(type_))


def result_word(type_: Type) -> str:
    """What a function of that result returns in LLVM."""
    parts = words(type_)
    return "void" if not parts else parts[0] if len(parts) == 1 else "{ " + ", ".join(parts) + " }"


def invoke(it: Any, symbol: str, values: Sequence[Value], result: Type) -> Value:
    """Call a compiled function."""
    emit, word = it.emitter, result_word(result)
    given = [f"{w} {p}" for v in values for w, p in zip(words(v.type), v.parts, strict=True)]
    text = f"call {word} @{symbol}({', '.join([*given, 'ptr %arena'])})"
    if has_array(result):
        emit.forgets = True
    if word == "void":
        emit.add(text)
        return Value(NOTHING, ())
    called = emit.value(text)
    count = width(result)
    if count == 1:
        return Value(result, (called,))
    return Value(result, tuple(emit.value(f"extractvalue {word} {called}, {k}") for k in range(count)))


# Machine code by address; in plain Python through ctypes


def run(address: int, inputs: np.ndarray, outputs: np.ndarray, scratch: np.ndarray) -> None:
    """Run a straight-line program, or whatever takes three pointers, at an address."""
    foreign(address, inputs, outputs, scratch)


def foreign_int(address: int, *arguments: Any) -> int:
    """The 64-bit integer that a C function at an address returns for integers, doubles and arrays."""
    return int(_c(ctypes.c_int64, address, arguments))


def foreign(address: int, *arguments: Any) -> None:
    """Call a C function at an address, with integers, doubles and arrays."""
    _c(None, address, arguments)


def floats_at(address: int, n: int) -> np.ndarray:
    """n doubles of foreign memory."""
    return _at(address, n, ctypes.c_double)


def integers_at(address: int, n: int) -> np.ndarray:
    """n 64-bit integers of foreign memory."""
    return _at(address, n, ctypes.c_int64)


def int32s_at(address: int, n: int) -> np.ndarray:
    """n 32-bit integers of foreign memory."""
    return _at(address, n, ctypes.c_int32)


def _c(result: Any, address: int, arguments: Sequence[Any]) -> Any:
    kinds = {float: ctypes.c_double, np.ndarray: ctypes.c_void_p}
    types = [kinds.get(type(x), ctypes.c_int64) for x in arguments]
    values = [x.ctypes.data if isinstance(x, np.ndarray) else x for x in arguments]
    return ctypes.CFUNCTYPE(result, *types)(address)(*values)


def _at(address: int, n: int, kind: Any) -> np.ndarray:
    if n == 0:
        return np.zeros(0, dtype=kind)
    return np.ctypeslib.as_array((kind * n).from_address(address))


def _foreign(result: Type) -> _Made:
    def made(it: Any, node: ast.Call) -> Value:
        address, *values = [it.evaluate(arg) for arg in node.args]
        given = [f"{words(v.type)[0]} {v.parts[0]}" for v in map(_register(it), values)]
        word = result_word(result)
        target = it.emitter.value(f"inttoptr i64 {address.only} to ptr")
        text = f"call {word} {target}({', '.join(given)})"
        if word == "void":
            it.emitter.add(text)
            return Value(NOTHING, ())
        return Value(result, (it.emitter.value(text),))

    return made


def _register(it: Any) -> Callable[[Value], Value]:
    return lambda v: it.converted_up(v) if isinstance(v.type, Scalar) else v


def _memory(item: Scalar) -> _Made:
    def made(it: Any, node: ast.Call) -> Value:
        address, n = (it.converted_up(it.scalar(arg)).only for arg in node.args)
        return Value(Array(item), (it.emitter.value(f"inttoptr i64 {address} to ptr"), n))

    return made


# New arrays


def _new(fill: str) -> _Made:
    def made(it: Any, node: ast.Call) -> Value:
        given = {str(word.arg): word.value for word in node.keywords}
        dtype = given.get("dtype", node.args[1 + (fill == "value")] if len(node.args) > 1 + (fill == "value") else None)
        value = it.scalar(node.args[1]) if fill == "value" else None
        item = value.type if value is not None else FLOAT
        if dtype is not None:
            item = {np.int64: INT, int: INT, np.bool_: BOOL, bool: BOOL, float: FLOAT, np.float64: FLOAT}[
                it.meaning(dtype)
            ]
        shape = node.args[0].elts if isinstance(node.args[0], ast.Tuple) else [node.args[0]]
        count, *inner = [it.converted_up(it.scalar(part)).only for part in shape]
        if not all(size.isdigit() for size in inner):
            raise it.fail(node, "inner sizes of arrays are constants")
        array = new(it, Array(item, tuple(map(int, inner))), count)
        if fill == "zeros":
            it.emitter.add(
                f"call void @llvm.memset.p0.i64(ptr {array.parts[0]}, i8 0, i64 {_bytes(it, array)}, i1 false)"
            )
        elif value is not None:
            it.fill(array, it.converted(value, item, node))
        return array

    return made


def new(it: Any, type_: Array, count: str) -> Value:
    """An array of ``count`` entries of whatever memory held: on the stack where it is small, else from the arena."""
    emit = it.emitter
    if count.isdigit() and int(count) * type_.stride <= _MOST_ON_STACK and not it.keeps:
        return Value(type_, (emit.stack(type_, int(count)), count))
    emit.forgets = True
    size = _bytes(it, Value(type_, ("", count)))
    return Value(type_, (emit.value(f"call ptr @loops.take(ptr %arena, i64 {size})"), count))


def _bytes(it: Any, array: Value) -> str:
    assert isinstance(array.type, Array)
    count, each = array.parts[1], array.type.stride * array.type.item.size
    return str(int(count) * each) if count.isdigit() else it.emitter.value(f"mul nsw i64 {count}, {each}")


def copied(it: Any, value: Value, node: ast.Call) -> Value:
    """A copy of an array."""
    if not isinstance(value.type, Array):
        raise it.fail(node, f"{value.type} has no copy")
    array = new(it, value.type, value.parts[1])
    move(it, array, value)
    return array


def move(it: Any, target: Value, source: Value) -> None:
    """Copy numbers, as many as the target has; they may overlap."""
    size = _bytes(it, target)
    it.emitter.add(
        f"call void @llvm.memmove.p0.p0.i64(ptr {target.parts[0]}, ptr {source.parts[0]}, i64 {size}, i1 false)"
    )


# Functions of numbers


def _float_function(symbol: str) -> _Made:
    def made(it: Any, node: ast.Call) -> Value:
        values = [it.converted(it.scalar(arg), FLOAT, arg).only for arg in node.args]
        given = ", ".join(f"double {v}" for v in values)
        return Value(FLOAT, (it.emitter.value(f"call double @{symbol}({given})"),))

    return made


def _check(condition: str) -> _Made:
    def made(it: Any, node: ast.Call) -> Value:
        x = it.converted(it.scalar(node.args[0]), FLOAT, node).only
        if condition == "finite":
            size = it.emitter.value(f"call double @llvm.fabs.f64(double {x})")
            return Value(BOOL, (it.emitter.value(f"fcmp olt double {size}, 0x7FF0000000000000"),))
        return Value(BOOL, (it.emitter.value(f"fcmp uno double {x}, {x}"),))

    return made


def _abs(it: Any, node: ast.Call) -> Value:
    value = it.converted_up(it.scalar(node.args[0]))
    function = "@llvm.fabs.f64(double " if value.type is FLOAT else "@llvm.abs.i64(i64 "
    rest = ")" if value.type is FLOAT else ", i1 false)"
    return Value(value.type, (it.emitter.value(f"call {value.type.word} {function}{value.only}{rest}"),))


def _extreme(op: type[ast.cmpop]) -> _Made:
    def made(it: Any, node: ast.Call) -> Value:
        values = [it.converted_up(it.scalar(arg)) for arg in node.args]
        type_ = FLOAT if any(v.type is FLOAT for v in values) else INT
        best, *others = [it.converted(v, type_, node) for v in values]
        for other in others:  # as Python: the first stays unless another is better, whatever is no number
            better = it.compared(op(), other, best, node)
            text = f"select i1 {better}, {type_.word} {other.only}, {type_.word} {best.only}"
            best = Value(type_, (it.emitter.value(text),))
        return best

    return made


def _int(it: Any, node: ast.Call) -> Value:
    value = it.converted_up(it.scalar(node.args[0]))
    return Value(INT, (it.emitter.value(f"fptosi double {value.only} to i64"),)) if value.type is FLOAT else value


def _float(it: Any, node: ast.Call) -> Value:
    value: Value = it.converted(it.scalar(node.args[0]), FLOAT, node)
    return value


def _bool(it: Any, node: ast.Call) -> Value:
    return Value(BOOL, (it.truth(node.args[0]),))


def _len(it: Any, node: ast.Call) -> Value:
    value = it.evaluate(node.args[0])
    if isinstance(value.type, Several):
        return Value(INT, (str(len(value.type.types)),))
    if not isinstance(value.type, Array):
        raise it.fail(node, f"{value.type} has no length")
    return Value(INT, (value.parts[1],))


FUNCTIONS: dict[Any, _Made] = {
    run: _foreign(NOTHING), foreign: _foreign(NOTHING), foreign_int: _foreign(INT),
    floats_at: _memory(FLOAT), integers_at: _memory(INT), int32s_at: _memory(INT32),
    np.zeros: _new("zeros"), np.empty: _new("nothing"), np.full: _new("value"),
    math.sqrt: _float_function("llvm.sqrt.f64"), np.sqrt: _float_function("llvm.sqrt.f64"),
    np.floor: _float_function("llvm.floor.f64"), math.sin: _float_function("sin"), math.cos: _float_function("cos"),
    math.atan2: _float_function("atan2"), np.rint: _float_function("llvm.rint.f64"), math.acos: _float_function("acos"),
    math.exp: _float_function("exp"), math.log: _float_function("log"),
    np.isnan: _check("nan"), math.isnan: _check("nan"), np.isfinite: _check("finite"), math.isfinite: _check("finite"),
    builtins.abs: _abs, builtins.min: _extreme(ast.Lt), builtins.max: _extreme(ast.Gt), builtins.int: _int,
    builtins.float: _float, builtins.bool: _bool, builtins.len: _len,
}  # fmt: skip

DECLARATIONS = """
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.rint.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare double @sin(double)
declare double @cos(double)
declare double @acos(double)
declare double @exp(double)
declare double @log(double)
declare double @atan2(double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare noalias ptr @malloc(i64)
declare void @free(ptr)
"""
