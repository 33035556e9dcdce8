"""What callers pass as numbers, made into arrays; nothing is guessed, and nothing is dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

_NO_NUMBERS = (str, bytes, complex, np.complexfloating)  # NumPy would read digits, and drop imaginary parts


def real_array(value: Any) -> np.ndarray | None:
    """Anything that is real numbers as an array of float64, itself if it is one; None for text, complex numbers, masked
    arrays, and what has no shape."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value
    parts = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        return None
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO" or any(isinstance(x, _NO_NUMBERS) for x in _objects(array)):
            return None
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _objects(array: np.ndarray) -> Any:
    return array.flat if array.dtype.kind == "O" else ()
