"""A window of cards, each with a picture, of which one is picked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bridge.display import check_display
from bridge.drawing.framebuffer import Framebuffer
from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.opengl import gl, pyglet_here
from recursive_dyn.errors import StateError

WIDTH, HEIGHT, TEXT, GAP = 256, 192, 74, 18  # of a card's picture, of the lines below it, between cards; pixels
GROUND, PAPER, CHOSEN = (0.957, 0.969, 0.984, 1.0), (255, 255, 255, 255), (40, 105, 185, 255)
INK, FAINT = (25, 28, 33, 255), (80, 88, 100, 255)
SCROLL = 70.0  # pixels a notch
RATE = 1 / 60  # s a frame


@dataclass(frozen=True, eq=False)
class Card:
    """What can be picked: a name, a line about it, and a picture (h, w, 3), uint8, or None for an empty one."""

    name: str
    line: str
    picture: np.ndarray | None = None


class Picker:
    """Shows cards in as many columns as there is room for; the wheel scrolls, arrows and Enter do without a mouse.

    hidden: no window is seen, as in Viewer. Raises StateError where there is no display, or nothing to pick from.
    """

    def __init__(
        self, cards: Sequence[Card], title: str = "recursive-dyn", size: tuple[int, int] = (1144, 800),
        hidden: bool = False,
    ) -> None:  # fmt: skip
        if not cards:
            raise StateError("there is nothing to pick from: give a card at least")
        if not hidden:
            check_display("choose by name instead")
        self._cards, self._pyglet = tuple(cards), pyglet_here()
        self._context = DrawingContext(*size, caption=title, resizable=True, visible=not hidden, vsync=False)
        self._at, self._scrolled = 0, 0.0
        self.picked: int | None = None
        with self._context.current():
            self._images = [self._image(card.picture) for card in cards]
        self._context.window.push_handlers(self)
        self._content: tuple[object, Any, list[Any]] = (None, None, [])

    @property
    def closed(self) -> bool:
        """Whether the window is closed."""
        return self._context.closed

    def pick(self) -> int | None:
        """Show frames until a card is picked: its number, or None when the window is closed."""
        self.picked = None
        while self.picked is None and self.frame():
            time.sleep(RATE)
        return self.picked

    def tell(self, title: str) -> None:
        """Another title of the window, to say what goes on."""
        self._context.window.set_caption(title)

    def frame(self) -> bool:
        """Answer keys and mouse, and draw; False once the window is closed."""
        return self._context.show(self._draw)

    def picture(self) -> np.ndarray:
        """What the window shows now: red, green, blue, (height, width, 3), uint8."""
        with self._context.current():
            return self._draw().colors()

    def close(self) -> None:
        """Close the window; harmless when repeated."""
        self._context.close()

    def card_at(self, x: float, y: float) -> int | None:
        """The number of the card under a place in the window, y from the bottom."""
        for k in range(len(self._cards)):
            left, top = self._corner(k)
            if left <= x < left + WIDTH and top - HEIGHT - TEXT < y <= top:
                return k
        return None

    def on_mouse_motion(self, x: float, y: float, dx: float, dy: float) -> None:
        """The card under the pointer is the chosen one."""
        under = self.card_at(x, y)
        self._at = self._at if under is None else under

    def on_mouse_release(self, x: float, y: float, button: int, modifiers: int) -> None:
        """Pick the card under the pointer."""
        self.picked = self.card_at(x, y)

    def on_mouse_scroll(self, x: float, y: float, scroll_x: float, scroll_y: float) -> None:
        """Show other cards."""
        self._scroll(self._scrolled - SCROLL * scroll_y)

    def on_key_press(self, symbol: int, modifiers: int) -> bool | None:
        """Choose by arrows, pick by Enter or Space; others are pyglet's."""
        key = self._pyglet.window.key
        steps = {key.LEFT: -1, key.RIGHT: 1, key.UP: -self._columns, key.DOWN: self._columns}
        if symbol in (key.RETURN, key.NUM_ENTER, key.SPACE):
            self.picked = self._at
        elif symbol in steps:
            self._at = min(max(self._at + steps[symbol], 0), len(self._cards) - 1)
            row, seen = self._at // self._columns * (HEIGHT + TEXT + GAP), self._context.window.get_size()[1]
            self._scroll(min(max(self._scrolled, row + HEIGHT + TEXT + 2 * GAP - seen), row))
        else:
            return None
        return True

    def on_close(self) -> bool:
        """Somebody closes the window: what lives in it goes, too."""
        self.close()
        return True

    @property
    def _columns(self) -> int:
        return max(1, (self._context.window.get_size()[0] - GAP) // (WIDTH + GAP))

    def _corner(self, k: int) -> tuple[float, float]:
        """The upper left of a card, pixels from the window's lower left."""
        width, height = self._context.window.get_size()
        columns = self._columns
        margin = (width - columns * (WIDTH + GAP) + GAP) / 2
        row = k // columns
        return margin + k % columns * (WIDTH + GAP), height - GAP - row * (HEIGHT + TEXT + GAP) + self._scrolled

    def _scroll(self, to: float) -> None:
        rows = -(-len(self._cards) // self._columns)
        most = rows * (HEIGHT + TEXT + GAP) + GAP - self._context.window.get_size()[1]
        self._scrolled = min(max(to, 0.0), max(0.0, float(most)))

    def _image(self, picture: np.ndarray | None) -> Any:
        if picture is None:
            return None
        height, width = picture.shape[:2]
        return self._pyglet.image.ImageData(width, height, "RGB", picture.tobytes(), pitch=-3 * width)

    def _draw(self) -> Framebuffer:
        size = self._context.window.get_framebuffer_size()
        state = (self._context.window.get_size(), self._scrolled, self._at)
        if self._content[0] != state:
            self._content = (state, *self._laid_out())
        result = Framebuffer(self._context, size[0], size[1])
        result.bind()
        gl.glDisable(gl.GL_DEPTH_TEST)
        gl.glClearColor(*GROUND)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT | gl.GL_DEPTH_BUFFER_BIT)
        gl.glBindVertexArray(0)
        self._content[1].draw()
        result.copy_to(0)
        return result

    def _laid_out(self) -> tuple[Any, list[Any]]:
        """A batch of the cards that are seen, and what is in it, which it does not hold."""
        pyglet, kept, height = self._pyglet, list[Any](), self._context.window.get_size()[1]
        batch = pyglet.graphics.Batch()
        behind, before = pyglet.graphics.Group(order=0), pyglet.graphics.Group(order=1)
        for k, card in enumerate(self._cards):
            x, top = self._corner(k)
            if top < 0 or top - HEIGHT - TEXT > height:
                continue
            edge = 3 if k == self._at else 0
            for grown, color in ((edge, CHOSEN), (0, PAPER)):
                kept.append(pyglet.shapes.Rectangle(
                    x - grown, top - HEIGHT - TEXT - grown, WIDTH + 2 * grown, HEIGHT + TEXT + 2 * grown, color=color,
                    batch=batch, group=behind,
                ))  # fmt: skip
            image = self._images[k]
            if image is not None:
                sprite = pyglet.sprite.Sprite(image, x, top - HEIGHT, batch=batch, group=before)
                sprite.update(scale_x=WIDTH / image.width, scale_y=HEIGHT / image.height)
                kept.append(sprite)
            kept += [
                pyglet.text.Label(card.name, x=x + 10, y=top - HEIGHT - 18, font_size=11, weight="bold", color=INK,
                                  batch=batch, group=before),
                pyglet.text.Label(card.line, x=x + 10, y=top - HEIGHT - 26, font_size=8, color=FAINT, multiline=True,
                                  width=WIDTH - 18, anchor_y="top", batch=batch, group=before),
            ]  # fmt: skip
        return batch, kept
