"""Where many arrays lie and how long they are, read off their objects in one call: a simulation has hundreds.

CPython and NumPy's C interface fix what objects hold behind their head: a tuple its number of items and these; an array
(``PyArrayObject_fields``) the address of its numbers, number of dimensions, these, strides, base, type, flags. Where
that is not so, one by one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.emitting.ir_text import counted, load, place, several
from recursive_dyn.codegen.loops.types import FLOAT, Array, Record, Scalar, Several, Type, record
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.making.cache import key_of

_ENTRY = "rd_array_words"
_MOST = 2  # inner dimensions; with more it is one by one
_WANTED = "owner item size at kind nd first second"  # of a value: as ``Leaves`` notes them
_TUPLE, _ARRAY = 1 << 26, id(np.ndarray)  # a flag of types that derive from tuples; the type of arrays
_HEAD = object.__basicsize__ // 8  # words before an array's own, and before a tuple's size
_ITEMS = tuple.__basicsize__ // 8  # words before a tuple's items
_FLAGS = _HEAD + 19  # where flags are among the words of a type
_C_CONTIGUOUS = 1

_ONE = f"""{several(_WANTED, "%wanted", "%k")}
{load("of", "ptr", "%objects", "%owner")}
  %slot = add i64 %item, {_ITEMS}
{load("object", "ptr", "%of", "%slot")}
  %own = add i64 %k, 1
{place("own.p", "ptr", "%objects", "%own")}
  store ptr %object, ptr %own.p, align 8
{load("type", "ptr", "%object", _HEAD - 1)}
  switch i64 %kind, label %array [ i64 0, label %tuple
                                   i64 1, label %fine ]
tuple:
{load("type.flags", "i64", "%type", _FLAGS)}
  %derived = and i64 %type.flags, {_TUPLE}
  %strange = icmp eq i64 %derived, 0
{load("many", "i64", "%object", _HEAD)}
  %other = icmp ne i64 %many, %size
  %misfit = or i1 %strange, %other
  br i1 %misfit, label %refused, label %fine
array:
  %type.word = ptrtoint ptr %type to i64
  %is.array = icmp eq i64 %type.word, %size
  br i1 %is.array, label %read, label %refused
read:
{load("data", "i64", "%object", _HEAD)}
{load("dimensions", "ptr", "%object", _HEAD + 2)}
{load("has", "i64", "%object", _HEAD + 5)}
{place("many.p1", "i64", "%object", _HEAD + 1)}
  %has.nd32 = load i32, ptr %many.p1, align 8
  %has.nd = zext i32 %has.nd32 to i64
{place("flags.p", "i64", "%object", _HEAD + 6)}
  %flags32 = load i32, ptr %flags.p, align 8
  %flags = zext i32 %flags32 to i64
  %same = icmp eq i64 %nd, %has.nd
  %known = select i1 %same, ptr %dimensions, ptr @rd.none
  %inner = icmp ugt i64 %nd, 1
  %at1 = select i1 %inner, i64 1, i64 0
{load("d1", "i64", "%known", "%at1")}
  %inners = icmp ugt i64 %nd, 2
  %at2 = select i1 %inners, i64 2, i64 0
{load("d2", "i64", "%known", "%at2")}
  %other1 = xor i64 %d1, %first
  %wrong1 = select i1 %inner, i64 %other1, i64 0
  %other2 = xor i64 %d2, %second
  %wrong2 = select i1 %inners, i64 %other2, i64 0
  %wrong3 = xor i64 %has, %kind
  %wrong4 = xor i64 %nd, %has.nd
  %plain = and i64 %flags, {_C_CONTIGUOUS}
  %wrong5 = xor i64 %plain, {_C_CONTIGUOUS}
  %w12 = or i64 %wrong1, %wrong2
  %w34 = or i64 %wrong3, %wrong4
  %w1234 = or i64 %w12, %w34
  %w = or i64 %w1234, %wrong5
{load("length", "i64", "%known", 0)}
{place("row", "i64", "%words", "%at")}
  store i64 %data, ptr %row, align 8
{place("row1", "i64", "%row", 1)}
  store i64 %length, ptr %row1, align 8
  %wrong = icmp ne i64 %w, 0
  br i1 %wrong, label %refused, label %fine
fine:"""
_TEXT = f"""@rd.none = internal constant [3 x i64] zeroinitializer
define i64 @{_ENTRY}(ptr %whole, ptr %wanted, i64 %count, ptr %objects, ptr %words) nounwind {{
entry:
  %cells = alloca [{_ITEMS + 1} x ptr], align 8
{place("cell", "ptr", "%cells", _ITEMS)}
  store ptr %whole, ptr %cell, align 8
  store ptr %cells, ptr %objects, align 8
{counted("k", "%count", _ONE)}
  ret i64 0
refused:
  ret i64 1
}}
"""


class Leaves:
    """What a record or tuple is made of, all numbers and arrays in order: ``words`` reads a value's at once.

    without: parts of it that others write; starts: where the words of each part begin, and the end.
    """

    def __init__(self, type_: Record | Several, without: Collection[int] = ()) -> None:
        self._wanted, self._scalars = list[tuple[int, ...]](), list[tuple[tuple[int, ...], int, bool]]()
        self._readable, self.starts = True, [0]
        self._note(0, 0, 0, len(type_.types))
        for k, part in enumerate(type_.types):
            end = self._part(part, 1, (k,), self.starts[-1]) if k not in without else self.starts[-1] + _size(part)
            self.starts.append(end)
        self._table = np.array(self._wanted, dtype=np.int64)
        self._objects = np.empty(len(self._wanted) + 1, dtype=np.int64)  # written and read within a call
        self._given = address(self._table), len(self._wanted), address(self._objects)

    def words(self, value: Any) -> np.ndarray | None:
        """The machine words of a value of the type; None where it may be of another: that is for others to say."""
        found = np.empty(self.starts[-1], dtype=np.int64)
        return found if self.write(value, found) else None

    def write(self, value: Any, words: np.ndarray) -> bool:
        """Write its machine words into an array; whether it surely is of the type."""
        read = _reader()
        if read is None or not self._readable or read(id(value), *self._given, address(words)):
            return False
        for path, at, real in self._scalars:
            leaf = value
            for k in path:
                leaf = leaf[k]
            words[at] = np.float64(leaf).view(np.int64) if real else leaf
        return True

    def _part(self, type_: Type, owner: int, path: tuple[int, ...], at: int) -> int:
        """Note a value, the item of another that its path ends with, whose words begin at ``at``; their end."""
        if isinstance(type_, Scalar):
            self._scalars.append((path, at, type_ is FLOAT))
            self._note(owner, path[-1], 1)
            return at + 1
        if isinstance(type_, Array):
            self._readable = self._readable and len(type_.inner) <= _MOST
            sizes = (1 + len(type_.inner), *type_.inner[:_MOST])
            self._note(owner, path[-1], id(type_.dtype), _ARRAY, at, *sizes)
            return at + 2
        number = self._note(owner, path[-1], 0, len(type_.types))
        for k, part in enumerate(type_.types):
            at = self._part(part, number, (*path, k), at)
        return at

    def _note(self, owner: int, item: int, kind: int, size: int = 0, at: int = 0, *sizes: int) -> int:
        """The number of a value. kind: 0 of tuples, 1 of numbers, or an array's; size: of a tuple, or arrays' type."""
        self._wanted.append((owner, item, size, at, kind, *sizes, 0, 0, 0)[:8])
        return len(self._wanted)


@cache
def leaves_of(made: Any) -> Leaves:
    """The leaves of the record of a NamedTuple class."""
    return Leaves(record(made))


@cache
def _size(type_: Type) -> int:
    """How many words a value has."""
    if isinstance(type_, Scalar | Array):
        return 1 if isinstance(type_, Scalar) else 2
    return sum(map(_size, type_.types))


@cache
def _reader() -> Any:
    """The compiled function, or None where objects are made otherwise than it thinks."""
    words = ctypes.cast(id(tuple), ctypes.POINTER(ctypes.c_int64))
    if words[_FLAGS] != tuple.__flags__ or not tuple.__flags__ & _TUPLE:
        return None
    native = jit.native(key_of("array words", _TEXT, jit.environment()), lambda: jit.compile_modules([_TEXT]))
    read = jit.function(native, _ENTRY, 5, hold_gil=True)
    probe, found, objects = (np.zeros((3, 2)),), np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.int64)
    wanted = np.array([[0, 0, 1, 0, 0, 0, 0, 0], [1, 0, _ARRAY, 0, id(np.dtype(float)), 2, 2, 0]])
    said = read(id(probe), address(wanted), 2, address(objects), address(found))
    return read if not said and found.tolist() == [address(probe[0]), 3] else None
