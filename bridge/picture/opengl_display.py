"""What is shown, on the graphics card of the context without a window."""

from __future__ import annotations

import numpy as np

from bridge.drawing.camera import Camera
from bridge.drawing.gl_context import DrawingContext, offscreen
from bridge.drawing.instances import Instances
from bridge.drawing.painter import Quality, offscreen_painter
from bridge.picture.shown import Shown


class OnCard:
    """Pieces on a card, made anew when they are others."""

    def __init__(self, context: DrawingContext) -> None:
        self._context = context
        self._things: Instances | None = None
        self._known: object = None

    def at(self, shown: Shown) -> Instances:
        """The pieces where they are now; the context is current."""
        if self._things is None or shown.known != self._known:
            self._things, self._known = Instances(self._context, shown.pieces, len(shown.poses)), shown.known
        self._things.place(shown.poses)
        return self._things


class OpenGLDisplay:
    """Pictures of what is shown."""

    def __init__(self) -> None:
        self._placed: OnCard | None = None

    def picture(self, shown: Shown, camera: Camera, size: tuple[int, int], samples: int) -> np.ndarray:
        """Red, green, blue (height, width, 3), uint8."""
        context = offscreen()
        with context.current():
            if self._placed is None:
                self._placed = OnCard(context)
            things = self._placed.at(shown)
            return offscreen_painter().picture(things, shown.grounds, camera, size, Quality(samples))
