"""What a panel has, whoever draws it: sliders, curves, a timeline; and what a window asks of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.viewer.last_moments import LastMoments
from bridge.viewer.playback import Playback
from bridge.viewer.sliders import Slider, sliders
from recursive_dyn.simulation.simulation import Simulation


class PanelContent:
    """Of one playback; ``sliders`` are made anew where a scene was edited."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._dynamics: object = None
        self.sliders: list[Slider] = []
        self.curves = LastMoments(playback)
        self.timeline = Slider("", "", 0.0, 1.0, lambda: playback.share, self._go)

    def look(self) -> bool:
        """Look at the simulation again; whether the sliders are others than before."""
        moving = self._playback.moving
        if not isinstance(moving, Simulation) or moving.dynamics is self._dynamics:
            return False
        self._dynamics = moving.dynamics
        self.sliders = sliders(self._playback) if self._playback.live else []
        return True

    def note(self, times: Sequence[float], plotted: Sequence[Slider]) -> None:
        """Another point of the curves; times: of the last frames, s; plotted: the sliders whose curves are shown."""
        self.curves.note(times, plotted)

    def _go(self, share: float) -> None:
        self._playback.paused = True
        self._playback.scrub(share)


class Panel(Protocol):
    """What Tab shows; x, y: pixels from the window's lower left corner; size: the window's, in those."""

    def press(self, x: float, y: float, size: tuple[int, int]) -> bool:
        """The left button goes down; whether the panel is there."""
        ...

    def drag(self, x: float, y: float) -> None:
        """The mouse moves what is held."""
        ...

    def release(self) -> None:
        """The button goes up."""
        ...

    def move(self, x: float, y: float) -> None:
        """The pointer is elsewhere, with nothing held."""
        ...

    def scroll(self, x: float, y: float, notches: float, size: tuple[int, int]) -> bool:
        """Show other sliders; whether the pointer is over them."""
        ...

    def key(self, symbol: int, modifiers: int, down: bool = True) -> bool:
        """A key goes down, or up; whether the panel takes it: where a number is being typed."""
        ...

    def text(self, text: str) -> None:
        """Somebody types."""
        ...

    def draw(self, size: tuple[int, int], pixels: tuple[int, int], times: Sequence[float]) -> None:
        """Draw all of it into a framebuffer of so many pixels; times: of the last frames, s."""
        ...
