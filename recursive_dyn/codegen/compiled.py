"""``@compiled``: a Python function over numbers and arrays as machine code, without a compiler to be installed.

The function's source is the one definition: it runs as plain Python too (``f.python``), and the machine code, in which
nothing is reordered or fused, agrees with that bit for bit. What the language has: ``codegen.loops``.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, update_wrapper
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from recursive_dyn.codegen.loops.calling import Arena, Bound, Code
from recursive_dyn.codegen.loops.translation import Loops, loops_of, module_text
from recursive_dyn.codegen.loops.types import NOTHING, Flags, Floats, Integers, Integers32, Scalar, record
from recursive_dyn.codegen.making import cache, jit, optimizing

__all__ = ["Compiled", "Flags", "Floats", "Integers", "Integers32", "compiled"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_FOREIGN = ("numpy", "math", "builtins")  # modules whose functions have one meaning
_LOCK = threading.RLock()  # one thread compiles or loads a function


class Compiled(Generic[_P, _R]):
    """A function in machine code: compiled at its first call on this machine, from the cache afterwards.

    The first code is plain and made at once, what replaces it is faster: ``making.optimizing``.
    """

    def __init__(self, function: Callable[_P, _R]) -> None:
        self.python = function
        update_wrapper(self, function)

    def __call__(self, *arguments: _P.args, **named: _P.kwargs) -> _R:
        rest = [named[name] for name in [*self.loops.parameters][len(arguments) :]] if named else ()
        result: _R = self.bind(*arguments, *rest, arena=_arena(self.code))()
        return result

    def bind(self, *arguments: Any, arena: Arena | None = None) -> Bound:
        """The function with its arguments, to be called often: arrays may change their numbers, not their places.

        Records may come ``Packed``; arena: of another function that is never called at the same time.
        """
        return Bound(self.code, arguments, arena)

    def warm(self) -> None:
        """Compile or load it now rather than at the first call."""
        _ = self.code

    @cached_property
    def loops(self) -> Loops:
        """Its types. Raises LoopError for annotations that say none."""
        return loops_of(self.python)

    @property
    def code(self) -> Code:
        """The machine code at present."""
        if "_code" not in self.__dict__:
            with _LOCK:
                if "_code" not in self.__dict__:
                    self.__dict__["_code"] = self._made()
        made: Code = self.__dict__["_code"]
        return made

    def _made(self) -> Code:
        key = cache.key_of("loops", _language(), jit.environment(), *_said(self, set()))
        code, known = Code(self.loops), jit.cached(key)
        if known is None:
            optimizing.begin(key, lambda: module_text(self.loops), code.take)
        else:
            code.take(known)
        return code

    def __reduce__(self) -> Any:
        return _named, (self.__module__, self.python.__qualname__)


_OWN = threading.local()  # an arena of each thread


def _arena(code: Code) -> Arena | None:
    """For one call of a function whose result does not lie in it; None for others."""
    if not isinstance(code.result, Scalar) and code.result != NOTHING:
        return None
    own: Arena | None = getattr(_OWN, "arena", None)
    if own is None:
        own = _OWN.arena = Arena(code.native)
    return own


def compiled(function: Callable[_P, _R]) -> Compiled[_P, _R]:
    """A function in machine code; see :class:`Compiled`."""
    return Compiled(function)


def _named(module: str, name: str) -> Any:
    """What a pickled function is in this process."""
    return getattr(importlib.import_module(module), name)


@lru_cache(maxsize=1)
def _language() -> str:
    """What the compiler itself says, passes of LLVM included: another one makes other code."""
    here = Path(__file__).parent
    sources = [*sorted((here / "loops").glob("*.py")), here / "making" / "jit.py", here / "emitting" / "llvm.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def _said(value: Any, seen: set[int]) -> Iterator[str]:
    """Everything that machine code of a value depends on: for a function, all that it and what it names say."""
    value = value.python if isinstance(value, Compiled) else value
    if isinstance(value, FunctionType):
        if id(value) not in seen:
            seen.add(id(value))
            yield from (value.__module__, value.__qualname__, repr(value.__annotations__))
            yield from _code(value.__code__, value.__globals__, value.__doc__, seen)
            for note in value.__annotations__.values():
                yield from _said(value.__globals__.get(note) if isinstance(note, str) else note, seen)
    elif isinstance(value, type) and hasattr(value, "_fields"):
        if id(value) not in seen:
            seen.add(id(value))
            yield f"{value.__module__}.{value.__qualname__} {value._fields} {_fields(value)}"
    elif isinstance(value, (int, float, tuple, np.generic)):
        yield repr(value)
    elif isinstance(value, ModuleType):
        yield value.__name__
    else:
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"


def _fields(value: Any) -> str:
    """The fields of a NamedTuple class with their types, those of classes within it too: a value is all their words."""
    return str([(name, repr(type_)) for name, type_ in zip(value._fields, record(value).types, strict=True)])


def _code(code: CodeType, known: dict[str, Any], doc: str | None, seen: set[int]) -> Iterator[str]:
    """The code without its documentation, and what its names stand for."""
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames), repr(code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant, known, None, seen)
        elif doc is None or constant != doc:
            yield repr(constant)
    spaces = [known]
    for name in code.co_names:  # of this module, or of modules that are named before it
        for space in [space for space in spaces if name in space]:
            value = space[name]
            yield f"{name}:"
            yield from _said(value, seen)
            if isinstance(value, ModuleType) and value.__name__.split(".")[0] not in _FOREIGN:
                spaces.append(vars(value))
