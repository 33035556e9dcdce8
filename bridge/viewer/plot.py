"""Curves over the last frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bridge.drawing.opengl import pyglet_here

FIELD, COLORS = (238, 241, 245, 255), ((205, 70, 55, 255), (50, 120, 70, 255), (40, 60, 110, 255))


class Plot:
    """Curves that share one scale, which has room for all that they show."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._low, self._high = 0.0, 1.0

    def caption(self) -> str:
        """What is plotted, and from where to where."""
        return f"{self._title}   {self._low:.4g} to {self._high:.4g}"

    def drawn(
        self, curves: Mapping[str, Sequence[float]], place: tuple[float, float, float, float], batch: Any
    ) -> list[Any]:
        """Shapes in the batch that draw curves in a rectangle (x, y, width, height)."""
        shapes, (x, y, width, height) = pyglet_here().shapes, place
        result = [shapes.Rectangle(x, y, width, height, color=FIELD, batch=batch)]
        values = [np.array(curve, dtype=float) for curve in curves.values()]
        known = np.concatenate([*values, np.zeros(0)])
        if len(known) < 2:
            return result
        self._low, self._high = float(known.min()), float(known.max())
        span = max(self._high - self._low, 1e-9 * max(1.0, abs(self._high)))
        for curve, color in zip(values, COLORS, strict=False):
            if len(curve) > 1:
                across = x + np.linspace(0.0, width, len(curve))
                up = y + 4.0 + (height - 22.0) * (curve - self._low) / span
                points = np.stack([across, up], axis=1).tolist()
                result.append(shapes.MultiLine(*points, thickness=1.5, color=color, batch=batch))
        return result
