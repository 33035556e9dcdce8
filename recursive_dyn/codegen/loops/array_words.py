"""Where many arrays lie and how long they are, read off their objects in one call: a simulation has hundreds.

NumPy's C interface fixes what an array's object holds behind the head of every object (``PyArrayObject_fields``):
address of its numbers, number of dimensions, these, strides, base, type, flags. Where that is not so, one by one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.cache import key_of
from recursive_dyn.codegen.ir_text import counted, load, place, several
from recursive_dyn.codegen.loops.types import FLOAT, Array, Record, Scalar, Several, Type, record

_ENTRY = "rd_array_words"
_MOST = 2  # inner dimensions; with more it is one by one
_WANTED = "kind nd first second"  # of an array: what type it must have, how many dimensions, and the inner ones
_HEAD = object.__basicsize__ // 8  # words before an array's own
_C_CONTIGUOUS = 1
_ARRAYS = {np.ndarray}

_ONE = f"""{load("object", "i64", "%objects", "%k")}
  %array = inttoptr i64 %object to ptr
{load("data", "i64", "%array", _HEAD)}
{load("dimensions", "ptr", "%array", _HEAD + 2)}
{load("has", "i64", "%array", _HEAD + 5)}
{place("many.p", "i64", "%array", _HEAD + 1)}
  %has.nd32 = load i32, ptr %many.p, align 8
  %has.nd = zext i32 %has.nd32 to i64
{place("flags.p", "i64", "%array", _HEAD + 6)}
  %flags32 = load i32, ptr %flags.p, align 8
  %flags = zext i32 %flags32 to i64
{several(_WANTED, "%wanted", "%k")}
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
  %misfits.next = or i64 %misfits, %w
{load("length", "i64", "%known", 0)}
{place("row", "[2 x i64]", "%words", "%k")}
  store i64 %data, ptr %row, align 8
{place("row1", "i64", "%row", 1)}
  store i64 %length, ptr %row1, align 8"""
_TEXT = f"""@rd.none = internal constant [3 x i64] zeroinitializer
define i64 @{_ENTRY}(ptr %objects, ptr %wanted, i64 %count, ptr %words) nounwind {{
entry:
{counted("k", "%count", _ONE, carried=(("misfits", "i64", 0, "%misfits.next"),))}
  ret i64 %misfits
}}
"""


class Leaves:
    """What a record is made of, all numbers and arrays in order: ``words`` reads a value's at once."""

    def __init__(self, type_: Record | Several) -> None:
        self._parts = [Leaves(part) if isinstance(part, Record | Several) else None for part in type_.types]
        self._nested = any(self._parts)
        own = list(_leaves(type_))
        arrays = [leaf for leaf in own if isinstance(leaf, Array)]
        at, self._scalars, self._arrays, cells = 0, list[tuple[int, int, bool]](), list[int](), list[int]()
        for k, leaf in enumerate(own):
            if isinstance(leaf, Array):
                self._arrays.append(k)
                cells += at, at + 1
                at += 2
            else:
                self._scalars.append((k, at, leaf is FLOAT))
                at += 1
        self._places, self._size, self._count = np.array(cells, dtype=np.int64), at, len(own)
        self._readable = all(len(array.inner) <= _MOST for array in arrays)
        wanted = [(id(a.dtype), 1 + len(a.inner), *a.inner[:_MOST], 0, 0)[:4] for a in arrays]
        self._wanted = np.array(wanted, dtype=np.int64).reshape(-1, 4)
        self._wanted_at = address(self._wanted)

    def words(self, value: Any) -> np.ndarray | None:
        """The machine words of a value of the type; None where it may be of another: that is for others to say."""
        read, leaves = _reader(), list[Any]()
        if read is None or not self._readable or not self._flat(value, leaves):
            return None
        arrays = [leaves[k] for k in self._arrays] if self._scalars else leaves
        count = len(arrays)
        if len(leaves) != self._count or (count and {*map(type, arrays)} != _ARRAYS):
            return None
        objects, found = np.fromiter(map(id, arrays), np.int64, count), np.empty(2 * count, dtype=np.int64)
        if count and read(address(objects), self._wanted_at, count, address(found)):
            return None
        if not self._scalars:
            return found
        words = np.empty(self._size, dtype=np.int64)
        words[self._places] = found
        for k, at, real in self._scalars:
            words[at] = np.float64(leaves[k]).view(np.int64) if real else leaves[k]
        return words

    def _flat(self, value: Any, leaves: list[Any]) -> bool:
        """Append all numbers and arrays of a value; whether it is made of tuples as the type is."""
        if not isinstance(value, tuple) or len(value) != len(self._parts):
            return False
        if not self._nested:
            leaves += value
            return True
        for part, own in zip(self._parts, value, strict=True):
            if part is None:
                leaves.append(own)
            elif not part._flat(own, leaves):
                return False
        return True


@cache
def leaves_of(made: Any) -> Leaves:
    """The leaves of the record of a NamedTuple class."""
    return Leaves(record(made))


def _leaves(type_: Type) -> list[Scalar | Array]:
    if isinstance(type_, Scalar | Array):
        return [type_]
    return [leaf for part in type_.types for leaf in _leaves(part)]


@cache
def _reader() -> Any:
    """The compiled function, or None where arrays are made otherwise than it thinks."""
    native = jit.native(key_of("array words", _TEXT, jit.environment()), lambda: jit.compile_modules([_TEXT]))
    read = jit.function(native, _ENTRY, 4, hold_gil=True)
    probe, wanted = np.zeros((3, 2)), np.array([id(np.dtype(float)), 2, 2, 0], dtype=np.int64)
    objects, found = np.array([id(probe)], dtype=np.int64), np.zeros(2, dtype=np.int64)
    said = read(address(objects), address(wanted), 1, address(found))
    return read if not said and found.tolist() == [address(probe), 3] else None
