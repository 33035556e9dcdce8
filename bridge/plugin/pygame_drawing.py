"""A plugin's shapes and contacts as lines on a surface of pygame's, as a game is debugged."""

from __future__ import annotations

from typing import Any

import pygame

from bridge.drawing.camera import Camera
from bridge.plugin.outlines import Outlines
from bridge.plugin.plugin import Plugin


class PygameDrawing:
    """``draw()`` once a frame; camera: whence it is seen, with target and distance."""

    def __init__(self, surface: Any, plugin: Plugin, camera: Camera) -> None:
        self.surface, self.camera = surface, camera
        self._outlines = Outlines(plugin)

    def draw(self, contacts: bool = True) -> None:
        """Draw all bodies where they are now, and crosses at contacts."""
        lines, colors = self._outlines.lines(self.camera, self.surface.get_size(), contacts)
        for (start, end), color in zip(lines.tolist(), colors.tolist(), strict=True):
            pygame.draw.aaline(self.surface, color, start, end)
