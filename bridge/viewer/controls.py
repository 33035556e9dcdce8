"""What keys and the mouse do in a viewer's window."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bridge.drawing.opengl import pyglet_here
from bridge.viewer import navigation
from bridge.viewer.push import Push
from bridge.viewer.stand import Stand
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.simulation import Simulation

DOUBLE = 0.35  # s between the clicks of a double click
STEADY = 6.0  # pixels that it may move
TURNED = 0.01  # rad of a turn, a pixel


class Key(NamedTuple):
    """A key by its name in pyglet.window.key, its name for a person, what it does, and that in words."""

    names: tuple[str, ...]
    shown: str
    does: str
    act: Callable[[Stand], None]


def _toggled(name: str) -> Callable[[Stand], None]:
    def act(stand: Stand) -> None:
        stand.shown ^= {name}

    return act


def _overlay(number: int, name: str, does: str) -> Key:
    return Key((f"_{number}", f"NUM_{number}"), str(number), does, _toggled(name))


KEYS = (
    Key(("SPACE",), "Space", "pause, go on", lambda stand: stand.pause()),
    Key(("RIGHT",), "Right arrow", "one step", lambda stand: stand.one()),
    Key(("LEFT",), "Left arrow", "one step back", lambda stand: stand.back()),
    Key(("PLUS", "EQUAL", "NUM_ADD"), "+", "twice as fast", lambda stand: stand.faster(2.0)),
    Key(("MINUS", "NUM_SUBTRACT"), "-", "half as fast", lambda stand: stand.faster(0.5)),
    Key(("BACKSPACE",), "Backspace", "back to the start", lambda stand: stand.reset()),
    Key(("TAB",), "Tab", "sliders, plots and the timeline", _toggled("panel")),
    _overlay(1, "frames", "frames of the bodies"),
    _overlay(2, "axes", "axes of the joints"),
    _overlay(3, "paths", "curves and surfaces that joints leave free"),
    _overlay(4, "contacts", "contacts and their forces"),
    _overlay(5, "balance", "centre of mass and what it stands on"),
    _overlay(6, "traces", "traces"),
    _overlay(7, "names", "names"),
    Key(("C",), "C", "the camera follows what is selected, or nothing", lambda stand: stand.follow()),
    Key(("HOME",), "Home", "the camera as it was at first", lambda stand: stand.look()),
    Key(("Q",), "Q", "fast pictures, without shadows, or fine ones", lambda stand: stand.change_quality()),
    Key(("F1",), "F1", "these lines", _toggled("help")),
)
MOUSE = (
    ("Left drag", "turn the view"),
    ("Right drag", "move it across"),
    ("Wheel", "nearer, farther"),
    ("Double click", "select a body"),
    ("Ctrl and left drag", "push a body"),
    ("Ctrl and right drag", "turn a body"),
    ("Ctrl-P", "save a picture"),
    ("Escape", "close the window"),
)
HELP = "\n".join(f"{name}: {does}" for name, does in [*((key.shown, key.does) for key in KEYS), *MOUSE])


class Controls:
    """Handlers of a window's events, which pyglet finds by their names."""

    def __init__(self, stand: Stand) -> None:
        self._stand = stand
        self._key, self._mouse = pyglet_here().window.key, pyglet_here().window.mouse
        self._acts = {getattr(self._key, name): key.act for key in KEYS for name in key.names}
        self._click = (-1.0, 0.0, 0.0)  # time, x, y of the last press
        self._push: Push | None = None
        self._depth = 0.0
        self._captured = False

    def on_key_press(self, symbol: int, modifiers: int) -> bool | None:
        """Do what the key does; others are pyglet's."""
        stand = self._stand
        if stand.panel is not None and stand.panel.key(symbol, modifiers):
            return True
        if symbol == self._key.P and modifiers & self._key.MOD_CTRL:
            stand.save()
            return True
        act = self._acts.get(symbol)
        if act is None:
            return None
        act(stand)
        return True

    def on_mouse_press(self, x: float, y: float, button: int, modifiers: int) -> bool:
        """Take hold of a body, or select one by the second of two clicks."""
        stand = self._stand
        self._captured = stand.panel is not None and stand.panel.press(x, y, stand.size)
        if self._captured:
            return True
        if modifiers & self._key.MOD_CTRL:
            self._grab(x, y, turning=button == self._mouse.RIGHT)
            return True
        now, (before, x0, y0) = time.perf_counter(), self._click
        if button == self._mouse.LEFT and now - before < DOUBLE and np.hypot(x - x0, y - y0) < STEADY:
            stand.select(stand.pick(x, y)[1])
            now = -1.0
        self._click = (now, x, y)
        return True

    def on_mouse_drag(self, x: float, y: float, dx: float, dy: float, buttons: int, modifiers: int) -> bool:
        """Push, turn, or move the camera."""
        stand = self._stand
        if self._captured:
            if stand.panel is not None:
                stand.panel.drag(x, y)
        elif self._push is not None:
            if self._push.turning:
                right, up, _ = stand.camera.rotation()
                self._push.target = self._push.target + TURNED * (dx * up - dy * right)
            else:
                self._push.target = navigation.place_at(stand.camera, x, y, stand.size, self._depth)
        elif buttons & self._mouse.LEFT:
            stand.camera = navigation.orbited(stand.camera, dx, dy)
        elif buttons & (self._mouse.RIGHT | self._mouse.MIDDLE):
            stand.camera = navigation.panned(stand.camera, dx, dy, stand.size[1])
            stand.following = None
        return True

    def on_mouse_release(self, x: float, y: float, button: int, modifiers: int) -> bool:
        """Let go."""
        if self._captured and self._stand.panel is not None:
            self._stand.panel.release()
        self._captured = False
        if self._push is not None:
            self._stand.playback.before.remove(self._push.act)
            self._push = self._stand.push = None
        return True

    def on_mouse_scroll(self, x: float, y: float, scroll_x: float, scroll_y: float) -> bool:
        """Nearer or farther, or another part of the panel."""
        stand = self._stand
        if stand.panel is None or not stand.panel.scroll(x, y, scroll_y, stand.size):
            stand.camera = navigation.zoomed(stand.camera, scroll_y)
        return True

    def on_mouse_motion(self, x: float, y: float, dx: float, dy: float) -> None:
        """The panel shows what lies under the pointer."""
        if self._stand.panel is not None:
            self._stand.panel.move(x, y)

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        """The panel may have heard of it going down."""
        if self._stand.panel is not None:
            self._stand.panel.key(symbol, modifiers, down=False)

    def on_text(self, text: str) -> None:
        """Somebody types a number into the panel."""
        if self._stand.panel is not None:
            self._stand.panel.text(text)

    def _grab(self, x: float, y: float, turning: bool) -> None:
        stand, moving = self._stand, self._stand.playback.moving
        depth, body = stand.pick(x, y)
        if body < 0:
            return
        if not (isinstance(moving, Simulation) and stand.playback.live):
            stand.tell("only a simulation's bodies can be pushed")
            return
        X = moving.present.poses[body]
        point = X[:3, :3].T @ (navigation.place_at(stand.camera, x, y, stand.size, depth) - X[:3, 3])
        push = Push(moving, moving.dynamics.bodies[body], np.zeros(3) if turning else point, turning)
        try:
            movable = push.effective_mass() > 0.0
        except StateError as trouble:
            stand.tell(str(trouble))
            return
        if not movable:
            stand.tell(f"'{push.body}' cannot move that way")
            return
        self._push = stand.push = push
        self._depth = depth
        stand.playback.before.append(push.act)
