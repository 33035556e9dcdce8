"""Loops over arrays as machine code: Numba, with its code kept beside the project's own and bound to the source.

Numba looks only at the file of a function, not at those of the functions it calls: code of an older version would go on
running. A folder named by the hash of all files beside the function's own cannot be stale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

from recursive_dyn.codegen import cache

_Function = TypeVar("_Function", bound=Callable[..., Any])


@lru_cache(maxsize=8)
def _folder(source: Path) -> str | None:
    place = cache.folder()
    if place is None:
        return None
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(source.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return str(place / f"numba-{digest.hexdigest()[:16]}")


def compiled(function: _Function) -> _Function:
    """A function in machine code, compiled at its first call on this machine, from the cache afterwards."""
    folder, before = _folder(Path(function.__code__.co_filename).resolve().parent), config.CACHE_DIR
    try:
        config.CACHE_DIR = folder or before
        result: _Function = numba.njit(cache=folder is not None, error_model="numpy", nogil=True)(function)
        return result
    finally:
        config.CACHE_DIR = before
