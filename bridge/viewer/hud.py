"""Text over the picture: time and speed, keys, names of bodies, and what just happened."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from bridge.drawing.opengl import pyglet_here

SIZE = 10  # points
INK, PAPER = (25, 28, 33, 255), (250, 251, 253, 215)
SHOWN = 4.0  # s that a message stays
MOST_NAMES = 60


class Hud:
    """Labels of one window; they are kept and changed, as making one takes a millisecond."""

    def __init__(self) -> None:
        self._pyglet = pyglet_here()
        self._status = self._label(10, 10)
        self._message = self._label(10, 32)
        self._until = 0.0
        self._help = self._label(0, 0, multiline=True, width=420)
        self._paper = self._pyglet.shapes.Rectangle(0, 0, 1, 1, color=PAPER)
        self._names: list[Any] = []

    def _label(self, x: float, y: float, **options: Any) -> Any:
        return self._pyglet.text.Label("", x=x, y=y, font_size=SIZE, color=INK, **options)

    def tell(self, message: str) -> None:
        """Show a sentence for some seconds."""
        self._message.text, self._until = message, time.perf_counter() + SHOWN

    def draw(self, status: str, above: int) -> None:
        """The status line so many pixels above the window's lower edge, and the message while it stays."""
        self._status.y, self._message.y = above + 10, above + 32
        if self._status.text != status:
            self._status.text = status
        self._on_paper(self._status)
        if time.perf_counter() < self._until:
            self._on_paper(self._message)

    def draw_help(self, lines: str, height: int) -> None:
        """All keys, at the upper left of a window so high."""
        if self._help.text != lines:
            self._help.text = lines
        self._help.x, self._help.y = 20, height - 30
        deep = self._help.content_height
        self._sheet(10, height - 26 - deep, 440, deep + 16)
        self._help.draw()

    def draw_names(self, names: Sequence[tuple[str, float, float]]) -> None:
        """Names at places in the window."""
        while len(self._names) < min(len(names), MOST_NAMES):
            self._names.append(self._label(0, 0, anchor_x="center"))
        for label, (name, x, y) in zip(self._names, names, strict=False):
            if label.text != name:
                label.text = name
            label.x, label.y = round(x), round(y)
            label.draw()

    def _on_paper(self, label: Any) -> None:
        self._sheet(label.x - 5, label.y - 5, label.content_width + 10, 1.9 * SIZE)
        label.draw()

    def _sheet(self, x: float, y: float, width: float, height: float) -> None:
        paper = self._paper
        paper.x, paper.y, paper.width, paper.height = x, y, width, height
        paper.draw()
