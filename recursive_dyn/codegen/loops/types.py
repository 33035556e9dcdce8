"""Types of compiled loops, as annotations tell them: numbers, arrays of known inner sizes, records and tuples of these.

A value of a type is a few machine words: a number is one, an array its address and its leading length, a record or a
tuple those of its fields.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import Annotated, Any, get_args, get_origin

import numpy as np

Floats = Annotated[np.ndarray, float]
Integers = Annotated[np.ndarray, int]
Flags = Annotated[np.ndarray, bool]
Integers32 = Annotated[np.ndarray, np.int32]  # memory of others: read, never computed with


class LoopError(TypeError):
    """A function says what compiled loops cannot; the message has its file and line."""


@dataclass(frozen=True)
class Scalar:
    """A number or truth value: ``word`` is its type in registers, ``cell`` in memory, of ``size`` bytes."""

    name: str
    word: str
    cell: str
    size: int

    def __str__(self) -> str:
        return self.name


FLOAT = Scalar("float", "double", "double", 8)
INT = Scalar("int", "i64", "i64", 8)
BOOL = Scalar("bool", "i1", "i8", 1)
INT32 = Scalar("int32", "i64", "i32", 4)
_SCALARS: dict[Any, Scalar] = {float: FLOAT, int: INT, bool: BOOL, np.int32: INT32}
DTYPES = {FLOAT: np.dtype(float), INT: np.dtype(np.int64), BOOL: np.dtype(bool), INT32: np.dtype(np.int32)}


@dataclass(frozen=True)
class Array:
    """Numbers of one kind, (n, *inner), C-contiguous."""

    item: Scalar
    inner: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"array of {self.item} (n{''.join(f', {k}' for k in self.inner)})"

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Of its numbers in NumPy."""
        return DTYPES[self.item]

    @property
    def stride(self) -> int:
        """Numbers in one entry of the leading dimension."""
        return prod(self.inner)

    @property
    def entry(self) -> Type:
        """What ``array[i]`` is."""
        return Array(self.item, self.inner[1:]) if self.inner else self.item


class _Made:
    """What is made of values of other types."""

    types: tuple[Type, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """LLVM types of its machine words."""
        return tuple(word for part in self.types for word in words(part))


@dataclass(frozen=True)
class Record(_Made):
    """A NamedTuple class; fields in order."""

    made: Any
    names: tuple[str, ...]
    types: tuple[Type, ...]

    def __str__(self) -> str:
        return str(self.made.__name__)


@dataclass(frozen=True)
class Several(_Made):
    """A tuple of given length; none for a function that returns nothing."""

    types: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.types))})" if self.types else "nothing"


Type = Scalar | Array | Record | Several
NOTHING = Several()


def words(type_: Type) -> tuple[str, ...]:
    """LLVM types of a value's machine words."""
    if isinstance(type_, Scalar):
        return (type_.word,)
    if isinstance(type_, Array):
        return ("ptr", "i64")
    return type_.words


def has_array(type_: Type) -> bool:
    """Whether a value of the type points to memory."""
    return "ptr" in words(type_)


def of_annotation(annotation: Any, known: dict[str, Any]) -> Type:
    """The type that an annotation, or its text in a module that has ``known`` names, stands for."""
    if isinstance(annotation, str):
        annotation = eval(annotation, known)  # text of the project's own source, not a user's
    if annotation is None or annotation is type(None):
        return NOTHING
    if annotation in (float, int, bool):
        return _SCALARS[annotation]
    if get_origin(annotation) is Annotated:
        item, *inner = get_args(annotation)[1:]
        return Array(_SCALARS[item], tuple(inner))
    if get_origin(annotation) is tuple:
        return Several(tuple(of_annotation(part, known) for part in get_args(annotation)))
    if isinstance(annotation, type) and hasattr(annotation, "_fields"):
        return record(annotation)
    raise LoopError(f"{annotation!r} is no type of compiled loops; write arrays as Annotated[np.ndarray, float, 3]")


@cache
def record(made: Any) -> Record:
    """The type of a NamedTuple class; always the same object."""
    known = vars(sys.modules[made.__module__])
    notes = {
        name: note for base in reversed(made.__mro__) for name, note in vars(base).get("__annotations__", {}).items()
    }
    return Record(made, made._fields, tuple(of_annotation(_text(notes[name]), known) for name in made._fields))


def _text(annotation: Any) -> Any:
    """NamedTuple keeps texts as forward references."""
    return getattr(annotation, "__forward_arg__", annotation)


def signature(function: Callable[..., Any]) -> tuple[dict[str, Type], Type]:
    """Types of a function's parameters and of what it returns."""
    code, notes = function.__code__, function.__annotations__
    known = function.__globals__
    names = code.co_varnames[: code.co_argcount]
    missing = [name for name in (*names, "return") if name not in notes]
    if missing or code.co_kwonlyargcount or function.__defaults__ or function.__closure__:
        raise LoopError(f"{function.__qualname__} needs annotations of all that it takes, no defaults and no closure")
    return {name: of_annotation(notes[name], known) for name in names}, of_annotation(notes["return"], known)
