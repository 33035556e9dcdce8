"""A small plot in the corner of a picture: curves over time, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SHARE = (0.40, 0.38)  # of the picture's width and height
INK, GRID, PAPER = (40, 44, 52), (205, 209, 214), (250, 250, 250)
CLEAR = 0.85  # of the paper's opacity


@dataclass
class Curve:
    """What a line shows: its name, its colour, and the values that were added so far."""

    name: str
    color: tuple[int, int, int]
    values: list[float] = field(default_factory=list)


@dataclass
class Plot:
    """Curves over the times at which something was added: ``low`` to ``high`` from the bottom to the top.

    share: of the picture's width and height; column: how many plots of the same width stand left of it; named: whether
    it says what its curves are.
    """

    title: str
    curves: Sequence[Curve]
    low: float
    high: float
    times: list[float] = field(default_factory=list)
    share: tuple[float, float] = SHARE
    column: int = 0
    named: bool = True

    def add(self, time: float, *values: float) -> None:
        """A value of each curve, at a time in s."""
        self.times.append(time)
        for curve, value in zip(self.curves, values, strict=True):
            curve.values.append(value)

    def drawn(self, picture: np.ndarray) -> np.ndarray:
        """The picture (h, w, 3) with the plot along its lower edge."""
        height, width = picture.shape[:2]
        w, h = round(self.share[0] * width), round(self.share[1] * height)
        size = max(9, height // 36)
        font = ImageFont.load_default(size)
        image = Image.fromarray(picture)
        corner = (size + self.column * (w + size), height - h - size)
        under = image.crop((*corner, corner[0] + w, corner[1] + h))
        panel = Image.blend(under, Image.new("RGB", (w, h), PAPER), CLEAR)
        draw = ImageDraw.Draw(panel)
        lines = [(self.title, INK), *((curve.name, curve.color) for curve in self.curves if self.named)]
        for k, (text, color) in enumerate(lines):
            draw.text((size // 2, (0.2 + 1.25 * k) * size), text, fill=color, font=font)
        left, right, top, bottom = 3.4 * size, w - 0.7 * size, (1 + 1.25 * len(lines)) * size, h - 0.8 * size
        first, last = round(np.log10(self.low)), round(np.log10(self.high))
        decades = range(first, last + 1, 1 + (last - first) // 6)

        def level(value: float) -> float:
            share = np.log10(np.clip(value, self.low, self.high) / self.low) / np.log10(self.high / self.low)
            return float(bottom - share * (bottom - top))

        for decade in decades:
            y = level(10.0**decade)
            draw.line([(left, y), (right, y)], fill=GRID)
            draw.text((size // 2, y - 0.6 * size), f"1e{decade}", fill=INK, font=font)
        end = max(self.times[-1], 1.0) if self.times else 1.0
        for curve in self.curves:
            points = [
                (left + (right - left) * t / end, level(v)) for t, v in zip(self.times, curve.values, strict=True)
            ]
            if len(points) > 1:
                draw.line(points, fill=curve.color, width=max(1, size // 6))
        image.paste(panel, corner)
        return np.asarray(image)
