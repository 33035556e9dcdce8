"""Rows of a batch: the shape to which arguments broadcast, some of their rows, and how a row is told."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from recursive_dyn.errors import StateError


def batch_shape(names: Sequence[str], arrays: Sequence[np.ndarray]) -> tuple[int, ...]:
    """The shape to which the leading axes of arguments (..., size) broadcast; StateError names those that do not."""
    try:
        return np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    except ValueError:
        shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(names, arrays, strict=True))
        raise StateError(f"the leading axes do not broadcast to one batch: {shapes}") from None


def some_rows(a: np.ndarray, lead: tuple[int, ...], rows: np.ndarray) -> np.ndarray:
    """Rows (n, size), by their numbers, of an argument that broadcasts to a batch of shape ``lead``."""
    return np.broadcast_to(a, (*lead, a.shape[-1])).reshape(prod(lead), a.shape[-1])[rows]


def told(lead: tuple[int, ...], row: int) -> str:
    """Which row of a batch it is, for messages; nothing for a call with one state."""
    return f", batch row {tuple(int(i) for i in np.unravel_index(row, lead))}" if lead else ""
