"""Sliders of coordinates, motors and parameters, plots, and a timeline: rectangles and text of pyglet's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bridge.drawing.opengl import pyglet_here
from bridge.viewer.playback import Playback
from bridge.viewer.plot import Plot
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.motors import Motor
from recursive_dyn.simulation.simulation import Simulation

WIDTH, ROW, MARGIN = 290, 34, 12  # pixels
PLOT = 76  # pixels high
CURVES = 3  # coordinates that are plotted
INK, PAPER = (25, 28, 33, 255), (250, 251, 253, 225)
TRACK, KNOB = (196, 204, 214, 255), (40, 105, 185, 255)
SAMPLES = 240  # of a plot


@dataclass
class Slider:
    """A number between two bounds, which is read and written by functions."""

    caption: str
    low: float
    high: float
    read: Callable[[], float]
    write: Callable[[float], None]

    def share(self) -> float:
        """Where it is between its bounds, 0 to 1."""
        return min(1.0, max(0.0, (self.read() - self.low) / (self.high - self.low)))


class Panel:
    """What Tab shows, at the right of the window; it knows where it is by the window's size."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._dynamics: object = None
        self._sliders: list[Slider] = []
        self._first = 0
        self._held: Slider | None = None
        self._left = 0.0
        self._energy: dict[str, deque[float]] = {
            name: deque(maxlen=SAMPLES) for name in ("kinetic", "potential", "all")
        }
        self._frame: deque[float] = deque(maxlen=SAMPLES)
        self._labels: list[Any] = []
        self._values: dict[str, deque[float]] = {}  # of the coordinates whose sliders are uppermost
        self._plots = Plot("energy, J"), Plot("coordinates"), Plot("frame, ms")
        self._noted = np.nan

    def press(self, x: float, y: float, size: tuple[int, int]) -> bool:
        """Take hold of the slider under the pointer; whether the panel is there."""
        width, height = size
        self._left = width - WIDTH + MARGIN
        if y < ROW:
            self._held, self._left, self._length = self._timeline(), float(MARGIN), float(width - 2 * MARGIN)
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
        most = max(0, len(self._sliders) - len(self._shown(size[1], 0)))
        self._first = max(0, min(most, self._first - round(notches)))
        return True

    def draw(self, size: tuple[int, int], times: Sequence[float]) -> None:
        """Sliders, plots of the last frames, and the timeline."""
        moving = self._playback.moving
        if isinstance(moving, Simulation) and moving.dynamics is not self._dynamics:  # at first, and after edits
            self._dynamics, self._held = moving.dynamics, None
            self._sliders = sliders(self._playback) if self._playback.live else []
        self._note(times)
        pyglet, (width, height) = pyglet_here(), size
        batch = pyglet.graphics.Batch()
        kept = [pyglet.shapes.Rectangle(width - WIDTH, ROW, WIDTH, height - ROW, color=PAPER, batch=batch)]
        curves = (self._energy, self._values, {"": self._frame})
        left, top, across = width - WIDTH + MARGIN, height - MARGIN - PLOT, WIDTH - 2 * MARGIN
        for k, (plot, shown) in enumerate(zip(self._plots, curves, strict=True)):
            kept += plot.drawn(shown, (left, top - k * (PLOT + MARGIN), across, PLOT), batch)
        rows = [(left, height - self._top() - (k + 1) * ROW, s) for k, s in enumerate(self._shown(height))]
        for x, y, slider in rows:
            kept += _bar(x, y + 6, across, slider.share(), batch)
        kept.append(pyglet.shapes.Rectangle(0, 0, width, ROW, color=PAPER, batch=batch))
        kept += _bar(MARGIN, 8, width - 2 * MARGIN, self._timeline().share(), batch)
        batch.draw()
        texts = [(x, y + 17, f"{s.caption}   {s.read():.4g}") for x, y, s in rows]
        texts += [(left, top + PLOT - 10 - k * (PLOT + MARGIN), p.caption()) for k, p in enumerate(self._plots)]
        self._write(texts)

    def _note(self, times: Sequence[float]) -> None:
        """Another point of the plots, once a moment."""
        if len(times) > 1:
            self._frame.append(1e3 * (times[-1] - times[-2]))
        moving = self._playback.moving
        if isinstance(moving, Simulation) and moving.time != self._noted:
            d, q, v = moving.dynamics, moving.q, moving.v
            kinetic, potential = float(d.kinetic_energy(q, v)), float(d.potential_energy(q) + d.elastic_energy(q))
            for name, value in (("kinetic", kinetic), ("potential", potential), ("all", kinetic + potential)):
                self._energy[name].append(value)
            uppermost = self._sliders[self._first : self._first + CURVES]
            self._values = {s.caption: self._values.get(s.caption, deque(maxlen=SAMPLES)) for s in uppermost}
            for slider in uppermost:
                self._values[slider.caption].append(slider.read())
            self._noted = moving.time

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
        return self._sliders[first : first + room]

    def _timeline(self) -> Slider:
        playback = self._playback

        def go(share: float) -> None:
            playback.paused = True
            playback.scrub(share)

        return Slider("", 0.0, 1.0, lambda: playback.share, go)


def _bar(x: float, y: float, width: float, share: float, batch: Any) -> list[Any]:
    shapes = pyglet_here().shapes
    knob = x + share * width
    return [
        shapes.Rectangle(x, y, width, 4, color=TRACK, batch=batch),
        shapes.Rectangle(x, y, max(1.0, share * width), 4, color=KNOB, batch=batch),
        shapes.Circle(knob, y + 2, 6, color=KNOB, batch=batch),
    ]


def sliders(playback: Playback) -> list[Slider]:
    """Of coordinates that are plain numbers, of motors that hold one, and of the scene's parameters."""
    sim = playback.moving
    assert isinstance(sim, Simulation)
    result = []
    limits, names = sim.dynamics.limits, sim.dynamics.velocity_coordinates
    for place, slot in sim.dynamics.model.plain_slots:
        low, high = limits[slot] if np.isfinite(limits[slot]).all() else (-np.pi, np.pi)
        if low < high:
            result.append(Slider(names[slot], low, high, *_coordinate(playback, place)))
    for name, motor in sim.motors.items():
        if isinstance(motor.position, float):
            slot = sim.motors.slots(name)[0]
            low, high = limits[slot] if np.isfinite(limits[slot]).all() else (-np.pi, np.pi)
            result.append(Slider(f"motor {name}", low, high, *_motor(sim, name)))
    for name, value in sim.parameters.items():
        size = abs(value) or 1.0
        result.append(Slider(f"parameter {name}", value - size, value + size, *_parameter(sim, name)))
    return result


def _coordinate(playback: Playback, place: int) -> tuple[Callable[[], float], Callable[[float], None]]:
    sim = playback.moving
    assert isinstance(sim, Simulation)

    def write(value: float) -> None:
        q = sim.q.copy()
        q[place] = value
        if sim.dynamics.constraints:
            try:
                q = sim.dynamics.project(q)[0]
            except StateError:  # out of reach of what else hangs in the loop
                return
        sim.q = q
        playback.history.note()

    return lambda: float(sim.q[place]), write


def _motor(sim: Simulation, name: str) -> tuple[Callable[[], float], Callable[[float], None]]:
    def read() -> float:
        position = sim.motors[name].position
        return position if isinstance(position, float) else 0.0

    def write(value: float) -> None:
        motor: Motor = sim.motors[name]
        sim.motors[name] = replace(motor, position=value)

    return read, write


def _parameter(sim: Simulation, name: str) -> tuple[Callable[[], float], Callable[[float], None]]:
    def write(value: float) -> None:
        before = sim.parameters[name]
        try:
            sim.parameters[name] = value
        except (ModelError, StateError):
            sim.parameters[name] = before

    return lambda: sim.parameters[name], write
