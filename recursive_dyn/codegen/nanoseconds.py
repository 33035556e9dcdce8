"""A clock for compiled loops: the address of a C function without arguments that gives nanoseconds."""

from __future__ import annotations

import ctypes
import time
from functools import lru_cache

_BY_PYTHON = ctypes.CFUNCTYPE(ctypes.c_int64)(time.perf_counter_ns)


@lru_cache(maxsize=1)
def clock() -> int:
    """The address. Python's own function, which needs no lock, where Python shows it; what it gives only grows."""
    own = getattr(ctypes.pythonapi, "_PyTime_GetPerfCounter", _BY_PYTHON)
    return ctypes.cast(own, ctypes.c_void_p).value or 0
