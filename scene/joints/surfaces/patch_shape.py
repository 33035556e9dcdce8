"""The patch of a joint on control points as numbers: what demos draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.graph.traversal import evaluate


class PatchShape:
    """A joint's patch over its coordinates (u, v), sampled from the joint's own expressions, to be drawn.

    ``domain``: ((start, end) of u, of v); ``closed``: (u, v) begins again at its end.
    """

    def __init__(self, transform: np.ndarray, domain: Any, closed: tuple[bool, bool]) -> None:
        self._transform = transform
        self.domain, self.closed = domain, closed

    def sample(self, u: Any, v: Any) -> np.ndarray:
        """Positions (..., 3) in the axes of the joint's place; u and v are broadcast."""
        return self.frames(u, v)[..., :3, 3]

    def frames(self, u: Any, v: Any) -> np.ndarray:
        """Poses (..., 4, 4) of the joint."""
        u, v = np.broadcast_arrays(np.asarray(u, dtype=float), np.asarray(v, dtype=float))
        values = evaluate(list(self._transform.flat), {("q", 0): u, ("q", 1): v})
        flat = [np.broadcast_to(np.asarray(x, dtype=float), u.shape) for x in values]
        return np.stack(flat, axis=-1).reshape(*u.shape, 4, 4)

    def grid(self, rows: int = 40, columns: int = 40) -> np.ndarray:
        """Positions (rows, columns, 3) from end to end of u and v."""
        (u0, u1), (v0, v1) = self.domain
        u, v = np.linspace(u0, u1, rows), np.linspace(v0, v1, columns)
        return self.sample(u[:, None], v[None, :])
