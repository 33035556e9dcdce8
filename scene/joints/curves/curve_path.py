"""The wire of a joint along a curve as numbers: what demos draw and place cars on."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.graph.traversal import evaluate


class CurvePath:
    """A joint's curve over its coordinate, sampled from the joint's own expressions.

    ``domain``: (start, end) of the coordinate; ``length``, m; ``closed``: it begins again at its end. ``path(s)`` gives
    positions (..., 3), ``path.frames(s)`` poses (..., 4, 4), in the axes of the joint's place.
    """

    def __init__(self, transform: np.ndarray, domain: tuple[float, float], length: float, closed: bool) -> None:
        self._transform = transform
        self.domain, self.length, self.closed = domain, length, closed

    def __call__(self, s: Any) -> np.ndarray:
        return self.frames(s)[..., :3, 3]

    def frames(self, s: Any) -> np.ndarray:
        """Poses (..., 4, 4) of the joint at coordinates (...)."""
        q = np.asarray(s, dtype=float)
        values = evaluate(list(self._transform.flat), {("q", 0): q})
        flat = [np.broadcast_to(np.asarray(v, dtype=float), q.shape) for v in values]
        return np.stack(flat, axis=-1).reshape(*q.shape, 4, 4)

    def points(self, count: int = 400) -> np.ndarray:
        """Positions (count, 3) from start to end, evenly in the coordinate; a closed one ends where it starts."""
        return self(np.linspace(*self.domain, count))
