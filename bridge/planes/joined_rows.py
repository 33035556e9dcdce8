"""RowKind of many owners, who come and go, as arrays: each owner keeps its own as bytes, and all are joined at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class RowKind(NamedTuple):
    """What rows are made of: the type of their numbers, and the shape of one row."""

    dtype: Any
    shape: tuple[int, ...] = ()


def packed(arrays: Sequence[np.ndarray], rows: Sequence[RowKind]) -> tuple[bytes, ...]:
    """One owner's arrays (n, ...), one of each kind of ``rows``, as they lie in memory."""
    return tuple([np.asarray(own, dtype=kind.dtype).tobytes() for own, kind in zip(arrays, rows, strict=True)])


def joined(owners: Sequence[Sequence[bytes]], rows: Sequence[RowKind]) -> list[np.ndarray]:
    """The rows (m, ...) of all ``packed`` owners, one after the other, in arrays of their own."""
    columns = zip(*owners, strict=True) if owners else [()] * len(rows)
    found = []
    for own, kind in zip(columns, rows, strict=True):
        numbers = np.frombuffer(bytearray().join(own), kind.dtype)
        found.append(numbers.reshape(-1, *kind.shape) if kind.shape else numbers)
    return found
