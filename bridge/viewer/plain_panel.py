"""A panel of rectangles and text of pyglet's: sliders, plots, and a timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bridge.drawing.opengl import pyglet_here
from bridge.viewer.panel_content import PanelContent
from bridge.viewer.playback import Playback
from bridge.viewer.plot import Plot
from bridge.viewer.sliders import Slider

WIDTH, ROW, MARGIN = 290, 34, 12  # pixels
PLOT = 76  # pixels high
CURVES = 3  # coordinates that are plotted
INK, PAPER = (25, 28, 33, 255), (250, 251, 253, 225)
TRACK, KNOB = (196, 204, 214, 255), (40, 105, 185, 255)


class PlainPanel:
    """What Tab shows, at the right of the window and along its lower edge; it knows where it is by the window's size.

    For panels' methods see Panel.
    """

    def __init__(self, playback: Playback) -> None:
        self._content = PanelContent(playback)
        self._first = 0
        self._held: Slider | None = None
        self._left = 0.0
        self._labels: list[Any] = []
        self._plots = Plot("energy, J"), Plot("coordinates"), Plot("frame, ms")

    def press(self, x: float, y: float, size: tuple[int, int]) -> bool:
        """Take hold of the slider under the pointer; whether the panel is there."""
        width, height = size
        self._left = width - WIDTH + MARGIN
        if y < ROW:
            self._held, self._left, self._length = self._content.timeline, float(MARGIN), float(width - 2 * MARGIN)
            self.drag(x, y)
            return True
        if x < width - WIDTH:
            return False
        row = int((height - self._top() - y) // ROW)
        shown = self._shown(height)
        self._held = shown[row] if 0 <= row < len(shown) else None
        self._length = float(WIDTH - 2 * MARGIN)
        self.drag(x, y)
        return True

    def drag(self, x: float, y: float) -> None:
        """Move what is held."""
        if self._held is not None:
            share = min(1.0, max(0.0, (x - self._left) / self._length))
            self._held.write(self._held.low + share * (self._held.high - self._held.low))

    def scroll(self, x: float, y: float, notches: float, size: tuple[int, int]) -> bool:
        """Show other sliders; whether the pointer is over them."""
        if x < size[0] - WIDTH:
            return False
        most = max(0, len(self._content.sliders) - len(self._shown(size[1], 0)))
        self._first = max(0, min(most, self._first - round(notches)))
        return True

    def draw(self, size: tuple[int, int], pixels: tuple[int, int], times: Sequence[float]) -> None:
        """Sliders, plots of the last frames, and the timeline."""
        content = self._content
        if content.look():
            self._held, self._first = None, 0
        content.note(times, content.sliders[self._first : self._first + CURVES])
        pyglet, (width, height) = pyglet_here(), size
        batch = pyglet.graphics.Batch()
        kept = [pyglet.shapes.Rectangle(width - WIDTH, ROW, WIDTH, height - ROW, color=PAPER, batch=batch)]
        curves = (content.curves.energy, content.curves.coordinates, {"": content.curves.frames})
        left, top, across = width - WIDTH + MARGIN, height - MARGIN - PLOT, WIDTH - 2 * MARGIN
        for k, (plot, shown) in enumerate(zip(self._plots, curves, strict=True)):
            kept += plot.drawn(shown, (left, top - k * (PLOT + MARGIN), across, PLOT), batch)
        rows = [(left, height - self._top() - (k + 1) * ROW, s) for k, s in enumerate(self._shown(height))]
        for x, y, slider in rows:
            kept += _bar(x, y + 6, across, slider.share(), batch)
        kept.append(pyglet.shapes.Rectangle(0, 0, width, ROW, color=PAPER, batch=batch))
        kept += _bar(MARGIN, 8, width - 2 * MARGIN, self._content.timeline.share(), batch)
        batch.draw()
        texts = [(x, y + 17, f"{s.caption}   {s.read():.4g}") for x, y, s in rows]
        texts += [(left, top + PLOT - 10 - k * (PLOT + MARGIN), p.caption()) for k, p in enumerate(self._plots)]
        self._write(texts)

    def _write(self, texts: Sequence[tuple[float, float, str]]) -> None:
        while len(self._labels) < len(texts):
            self._labels.append(pyglet_here().text.Label("", font_size=8, color=INK))
        for label, (x, y, text) in zip(self._labels, texts, strict=False):
            if label.text != text:
                label.text = text
            label.x, label.y = x, y
            label.draw()

    def _top(self) -> float:
        """Pixels from the window's upper edge to the first slider."""
        return 3.0 * PLOT + 5.0 * MARGIN

    def _shown(self, height: int, first: int | None = None) -> list[Slider]:
        first = self._first if first is None else first
        room = max(0, int((height - self._top() - 2 * ROW) // ROW))
        return self._content.sliders[first : first + room]

    def move(self, x: float, y: float) -> None:
        """The pointer is elsewhere, with nothing held."""

    def release(self) -> None:
        """Let go."""
        self._held = None

    def key(self, symbol: int, modifiers: int, down: bool = True) -> bool:
        """Whether the panel takes a key: here nothing is written."""
        return False

    def text(self, text: str) -> None:
        """Somebody writes."""


def _bar(x: float, y: float, width: float, share: float, batch: Any) -> list[Any]:
    shapes = pyglet_here().shapes
    knob = x + share * width
    return [
        shapes.Rectangle(x, y, width, 4, color=TRACK, batch=batch),
        shapes.Rectangle(x, y, max(1.0, share * width), 4, color=KNOB, batch=batch),
        shapes.Circle(knob, y + 2, 6, color=KNOB, batch=batch),
    ]
