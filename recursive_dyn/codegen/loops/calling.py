"""Compiled loops called from Python: arguments in a block of memory, an arena for what they make, results out of it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from recursive_dyn.codegen.jit import Native
from recursive_dyn.codegen.loops.translation import ENTRY, RELEASE, Loops
from recursive_dyn.codegen.loops.types import (
    BOOL,
    DTYPES,
    FLOAT,
    INT,
    NOTHING,
    Array,
    Record,
    Scalar,
    Several,
    Type,
    words,
)

_FREE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_HOLDING = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)  # keeps Python's lock
_FIRST_ROOM = 1 << 16  # bytes of an arena before anything asked for more


class Arena:
    """Memory for the arrays that a call makes; it grows to what calls have needed. One call at a time."""

    def __init__(self, native: Native) -> None:
        self.header = np.zeros(5, dtype=np.int64)
        self.address = ctypes.c_void_p(self.header.ctypes.data)
        self._release = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(native.address(RELEASE))
        self._native = native
        self._make(_FIRST_ROOM)

    def _make(self, size: int) -> None:
        self._memory = np.empty(size // 8 + 8)
        start = self._memory.ctypes.data
        self.header[:3] = start + -start % 64, 0, size

    def grow(self, missing: int) -> None:
        """After a call for which ``missing`` bytes did not fit: give back what it took, have room for the next."""
        self._release(self.address)
        self._make(2 * (int(self.header[2]) + missing))


class Code:
    """The types of a compiled function, and its machine code, which may be replaced by better code at any time."""

    native: Native

    def __init__(self, loops: Loops) -> None:
        self.loops = loops

    def take(self, native: Native) -> None:
        """What calls the function runs this from its next call on."""
        self.native = native


class Bound:
    """A compiled function with its arguments: arrays whose numbers may change, not their places. ``call()`` runs it."""

    def __init__(self, code: Code, arguments: tuple[Any, ...]) -> None:
        loops = code.loops
        if len(arguments) != len(loops.parameters):
            raise TypeError(f"{loops.function.__name__} takes {len(loops.parameters)} arguments, not {len(arguments)}")
        self._result, self._size = loops.result, len(words(loops.result))
        cells = [
            cell
            for (name, type_), value in zip(loops.parameters.items(), arguments, strict=True)
            for cell in _cells(type_, value, f"{loops.function.__name__}'s {name}")
        ]
        self._given, self._keep = len(cells), arguments
        self._code, self._prototype = code, _FREE
        self._block = np.zeros(len(cells) + self._size, dtype=np.int64)
        self._block[: len(cells)] = cells
        self._arena = Arena(code.native)
        self._block_address = ctypes.c_void_p(self._block.ctypes.data)
        self._numbers = self._block.data
        self._attach()

    def _attach(self) -> None:
        self._native = self._code.native
        self._call = self._prototype(self._native.address(ENTRY))

    def __call__(self) -> Any:
        if self._code.native is not self._native:
            self._attach()
        missing = self._call(self._block_address, self._arena.address)
        kind, result = self._result, None
        if kind is INT:  # a code that says how it went, as of calls of a microsecond
            result = self._numbers[self._given]
        elif kind is BOOL:
            result = self._numbers[self._given] != 0
        elif self._size:
            result = self._results()
        if missing:
            self._arena.grow(missing)
        return result

    def holding(self) -> Bound:
        """The same, but no other thread of Python's runs meanwhile: for what calls code that must not meet itself."""
        self._prototype = _HOLDING
        self._attach()
        return self

    def _results(self) -> Any:
        return _value(self._result, iter(self._block[self._given :].tolist()))


def _cells(type_: Type, value: Any, what: str) -> list[int]:
    """A value as 8-byte cells. Raises TypeError for what is not of the type."""
    if isinstance(type_, Record | Several):
        if len(value) != len(type_.types):
            raise TypeError(f"{what} is {type_}, not {value!r}")
        names = type_.names if isinstance(type_, Record) else tuple(map(str, range(len(value))))
        parts = zip(type_.types, value, names, strict=True)
        return [cell for part, given, name in parts for cell in _cells(part, given, f"{what}.{name}")]
    if isinstance(type_, Array):
        good = isinstance(value, np.ndarray) and value.dtype == DTYPES[type_.item] and value.flags.c_contiguous
        if not good or value.ndim != 1 + len(type_.inner) or value.shape[1:] != type_.inner:
            had = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
            raise TypeError(f"{what} is a C-contiguous {type_}, not {had}")
        return [value.ctypes.data, len(value)]
    if type_ is FLOAT:
        return [int(np.float64(value).view(np.int64))]
    return [int(value)]


def _value(type_: Type, cells: Iterator[int]) -> Any:
    """A result of 8-byte cells; arrays are copied."""
    if isinstance(type_, Scalar):
        cell = next(cells)
        if type_ is FLOAT:
            return float(np.int64(cell).view(np.float64))
        return bool(cell) if type_ is BOOL else cell
    if isinstance(type_, Array):
        return _copied(type_, next(cells), next(cells))
    if type_ == NOTHING:
        return None
    values = [_value(part, cells) for part in type_.types]
    return type_.made(*values) if isinstance(type_, Record) else tuple(values)


def _copied(type_: Array, address: int, length: int) -> np.ndarray:
    dtype = DTYPES[type_.item]
    result = np.empty((length, *type_.inner), dtype=dtype)
    ctypes.memmove(result.ctypes.data, address, result.nbytes)
    return result
