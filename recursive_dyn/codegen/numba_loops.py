"""Loops over arrays as machine code: Numba, with its code kept as entries of the project's own cache.

Numba's own cache is of pickles, which are run as they are read, in files that are not checked: one that is cut short
ends every later program. And it looks only at the file of a function, not at those of the functions it calls. Here an
entry is known by what the function says and what everything it names says, so that it cannot be stale, and it is read
only when the cache trusts it.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from recursive_dyn.codegen import cache

_Function = TypeVar("_Function", bound=Callable[..., Any])
_VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
_FOREIGN = ("numpy", "math", "numba")  # modules that are told by versions


def compiled(function: _Function) -> _Function:
    """A function in machine code, compiled at its first call on this machine, from the cache afterwards."""
    result = numba.njit(error_model="numpy", nogil=True)(function)
    result._cache = _Overloads(function)
    made: _Function = result
    return made


class _Overloads:
    """The machine code of a function for each types of its arguments, as Numba's dispatchers ask for it."""

    cache_path = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._digest = ""

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was compiled, or None."""
        target.refresh()
        payload = cache.load(self._key(signature, target.codegen()))
        if payload is None:
            return None
        try:
            return CompileResult._rebuild(target, *pickle.loads(payload))
        except Exception:  # whatever an entry lacks, the function can be compiled
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, unless it holds addresses of this process."""
        if not result.library.has_dynamic_globals and not result.lifted:
            cache.store(self._key(signature, result.codegen), dumps(result._reduce()))

    def _key(self, signature: Any, codegen: Any) -> str:
        if not self._digest:  # not at import: what the function names may stand below it
            self._digest = cache.key_of(*_said(self._function, set()))
        return cache.key_of("loops", self._digest, *_VERSIONS, codegen.magic_tuple(), signature)


def _said(value: Any, seen: set[int]) -> Iterator[str]:
    """Everything that machine code of a value depends on: for a function, all that it and what it names say."""
    value = value.py_func if isinstance(value, Dispatcher) else value
    if isinstance(value, FunctionType):
        if id(value) not in seen:
            seen.add(id(value))
            yield from (value.__module__, value.__qualname__, repr(value.__defaults__))
            yield from _code(value.__code__, value.__globals__, value.__doc__, seen)
            for cell in value.__closure__ or ():
                yield from _said(cell.cell_contents, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    elif isinstance(value, dict):  # a table of functions: what they say, not where they lie
        for key, entry in value.items():
            yield repr(key)
            yield from _said(entry, seen)
    elif isinstance(value, type):
        members = list(value) if issubclass(value, Enum) else getattr(value, "_fields", ())
        yield f"{value.__module__}.{value.__qualname__} {members}"
    else:
        yield repr(value.__name__ if isinstance(value, ModuleType) else value)


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
