"""Where arrays lie, for machine code: what ``ndarray.ctypes`` tells, in a fifth of its time."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_LINE = 8  # numbers in 64 bytes
first: Any = ctypes.c_char.from_buffer


def address(array: np.ndarray) -> int:
    """Address of an array's numbers; 0 for none. Whoever uses it keeps the array."""
    if not array.size:
        return 0
    try:
        return ctypes.addressof(first(array))
    except TypeError:  # it may not be written to, or is not contiguous
        return int(array.ctypes.data)


def aligned(count: int) -> np.ndarray:
    """Zeros (count,) that start where a line of the cache does, so that no register of them lies in two."""
    raw = np.zeros(count + _LINE)
    start = (-address(raw) // raw.itemsize) % _LINE
    return raw[start : start + count]
