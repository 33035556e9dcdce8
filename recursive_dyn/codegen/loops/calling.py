"""Compiled loops called from Python: arguments in a block of memory, an arena for what they make, results out of it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.loops.array_words import Leaves, leaves_of
from recursive_dyn.codegen.loops.translation import ENTRY, RELEASE, Loops
from recursive_dyn.codegen.loops.types import (
    BOOL,
    FLOAT,
    INT,
    NOTHING,
    Array,
    Record,
    Scalar,
    Several,
    Type,
    record,
)
from recursive_dyn.codegen.making.jit import Native

_FREE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_HOLDING = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)  # keeps Python's lock
_RELEASE = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_FIRST_ROOM = 1 << 16  # bytes of an arena before anything asked for more


class Arena:
    """Memory for the arrays that a call makes; it grows to what calls have needed. One call at a time."""

    def __init__(self, native: Native) -> None:
        self.header = np.zeros(5, dtype=np.int64)
        self.address = ctypes.c_void_p(address(self.header))
        self._native = native
        self._make(_FIRST_ROOM)

    def _make(self, size: int) -> None:
        self._memory = np.empty(size // 8 + 8)
        start = address(self._memory)
        self.header[:3] = start + -start % 64, 0, size

    def grow(self, missing: int) -> None:
        """After a call for which ``missing`` bytes did not fit: give back what it took, have room for the next."""
        _RELEASE(self._native.address(RELEASE))(self.address)
        self._make(2 * (int(self.header[2]) + missing))


class Code:
    """The types of a compiled function, and its machine code, which may be replaced by better code at any time."""

    native: Native

    def __init__(self, loops: Loops) -> None:
        self.loops, self.types = loops, tuple(loops.parameters.values())
        self.result, self.result_size = loops.result, loops.result_size
        self.entry = np.zeros(1, dtype=np.int64)  # address of what runs at present, for machine code that calls it,
        self.at = address(self.entry)  # which finds it here
        self._taken: list[Native] = []  # all of them: some thread may still be in one
        self._calls: dict[tuple[Native, Any], Any] = {}
        self._leaves: dict[tuple[int, ...], Leaves] = {}  # by which arguments come packed

    def words(self, arguments: tuple[Any, ...]) -> np.ndarray | None:
        """The machine words of arguments and room for a result, or None where one may be of another type."""
        packed = tuple([k for k, value in enumerate(arguments) if value.__class__ is Packed])
        leaves = self._leaves.get(packed)
        if leaves is None:
            leaves = self._leaves[packed] = Leaves(Several(self.types), packed)
        starts = leaves.starts
        words = np.zeros(starts[-1] + self.result_size, dtype=np.int64)
        for k in packed:
            if arguments[k].type is not self.types[k]:
                return None
            words[starts[k] : starts[k + 1]] = arguments[k].cells
        return words if leaves.write(arguments, words) else None

    def call(self, native: Native, prototype: Any) -> Any:
        """Machine code that it had or has, as Python calls it."""
        found = self._calls.get((native, prototype))
        if found is None:
            found = self._calls[native, prototype] = prototype(native.address(ENTRY))
        return found

    def take(self, native: Native) -> None:
        """What calls the function runs this from its next call on."""
        self._taken.append(native)
        self.native = native
        self.entry[0] = native.address(ENTRY)


class Packed:
    """A record as several functions are to be bound to it: read once. Its arrays may change their numbers."""

    def __init__(self, value: Any) -> None:
        self.type, self.value = record(value.__class__), value
        cells: list[Words] = []
        _put(self.type, value, cells)
        self.cells = _together(cells)

    def __reduce__(self) -> Any:
        return Packed, (self.value,)  # copies lie elsewhere


class Bound:
    """A compiled function with its arguments: arrays whose numbers may change, not their places. ``call()`` runs it.

    Records may come ``Packed``; arena: of another function that is never called at the same time.
    """

    def __init__(self, code: Code, arguments: tuple[Any, ...], arena: Arena | None = None) -> None:
        if len(arguments) != len(code.types):
            name = code.loops.function.__name__
            raise TypeError(f"{name} takes {len(code.types)} arguments, not {len(arguments)}")
        self._result, self._size = code.result, code.result_size
        block = code.words(arguments)
        if block is None:
            block = np.concatenate([_one_by_one(code.loops, arguments), np.zeros(self._size, dtype=np.int64)])
        self._code, self._prototype, self._keep = code, _FREE, arguments
        self._block, self._given = block, len(block) - self._size
        self.arena = Arena(code.native) if arena is None else arena
        self._at = address(self._block)
        self._block_address = ctypes.c_void_p(self._at)
        self._numbers = self._block.data
        self._attach()

    def _attach(self) -> None:
        self._native = self._code.native
        self._call = self._code.call(self._native, self._prototype)

    def __call__(self) -> Any:
        if self._code.native is not self._native:
            self._attach()
        missing = self._call(self._block_address, self.arena.address)
        kind, result = self._result, None
        if kind is INT:  # a code that says how it went, as of calls of a microsecond
            result = self._numbers[self._given]
        elif kind is BOOL:
            result = self._numbers[self._given] != 0
        elif self._size:
            result = self._results()
        if missing:
            self.arena.grow(missing)
        return result

    def holding(self) -> Bound:
        """The same, but no other thread of Python's runs meanwhile: for what calls code that must not meet itself."""
        self._prototype = _HOLDING
        self._attach()
        return self

    def place(self) -> tuple[int, int, int, int, int]:
        """Where machine code finds it: addresses of that of its code, of its block, arena and result; whether it holds
        Python's lock."""
        result = self._at + self._block.itemsize * self._given
        return self._code.at, self._at, self.arena.address.value or 0, result, self._prototype is _HOLDING

    def _results(self) -> Any:
        return _value(self._result, iter(self._block[self._given :].tolist()))


class _Misfit(TypeError):
    """A value is not of its type; path: names of the fields that lead to it."""

    def __init__(self, type_: Type, value: Any) -> None:
        had = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        super().__init__(f"a C-contiguous {type_}, not {had}" if isinstance(type_, Array) else f"{type_}, not {had}")
        self.path: list[str] = []


Words = int | np.ndarray  # one, or several


def _one_by_one(loops: Loops, arguments: tuple[Any, ...]) -> np.ndarray:
    """The machine words of arguments. Raises TypeError that names what is of another type."""
    cells: list[Words] = []
    for (name, type_), value in zip(loops.parameters.items(), arguments, strict=True):
        try:
            _put(type_, value, cells)
        except _Misfit as misfit:
            where = ".".join([name, *misfit.path])
            raise TypeError(f"{loops.function.__name__}'s {where} is {misfit}") from None
    return _together(cells)


def _together(words: list[Words]) -> np.ndarray:
    """All words one after the other."""
    found, single = list[np.ndarray](), list[int]()
    for word in words:
        if not isinstance(word, np.ndarray):
            single.append(word)
            continue
        if single:
            found.append(np.array(single, dtype=np.int64))
            single = []
        found.append(word)
    if single or not found:
        found.append(np.array(single, dtype=np.int64))
    return found[0] if len(found) == 1 else np.concatenate(found)


def _put(type_: Type, value: Any, cells: list[Words]) -> None:
    """Append a value as 8-byte cells. Raises _Misfit for what is not of the type."""
    if value.__class__ is Packed and value.type is type_:
        cells.append(value.cells)
    elif isinstance(type_, Array):
        _put_array(type_, value, cells)
    elif isinstance(type_, Scalar):
        cells.append(int(np.float64(value).view(np.int64)) if type_ is FLOAT else int(value))
    else:
        if not isinstance(value, tuple) or len(value) != len(type_.types):
            raise _Misfit(type_, value)
        at_once = leaves_of(type_.made).words(value) if isinstance(type_, Record) else None
        if at_once is not None:
            cells.append(at_once)
            return
        for k, part in enumerate(type_.types):
            try:
                _put(part, value[k], cells)
            except _Misfit as misfit:
                misfit.path.insert(0, type_.names[k] if isinstance(type_, Record) else str(k))
                raise


def _put_array(type_: Array, array: Any, cells: list[Words]) -> None:
    if not isinstance(array, np.ndarray):
        raise _Misfit(type_, array)
    if array.dtype != type_.dtype or not array.flags.c_contiguous or array.shape[1:] != type_.inner or not array.shape:
        raise _Misfit(type_, array)
    cells += address(array), array.shape[0]


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
    result = np.empty((length, *type_.inner), dtype=type_.dtype)
    ctypes.memmove(result.ctypes.data, address, result.nbytes)
    return result
