"""OpenGL contexts: a window's, or one without a window for pictures; and what is to be deleted in them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from bridge.drawing.opengl import DRIVERS, deleted, gl, pyglet_here
from recursive_dyn.errors import StateError

VERSION = (3, 3)


class DrawingContext:
    """One window of pyglet's, perhaps one that is never shown, and the OpenGL objects that live in it.

    Raises StateError where there is no OpenGL 3.3.
    """

    def __init__(self, width: int, height: int, **options: Any) -> None:
        pyglet = pyglet_here()
        headless = bool(pyglet.options["headless"])
        try:
            config = gl.Config(
                red_size=8, green_size=8, blue_size=8, alpha_size=8 if headless else 0, depth_size=24,
                double_buffer=not headless, major_version=VERSION[0], minor_version=VERSION[1],
                forward_compatible=True,
            )  # fmt: skip
            self.window = pyglet.window.Window(width, height, config=config, **options)
        except Exception as trouble:  # a display, a configuration or a context that is not there, each of its own kind
            reason = f": {trouble}" if str(trouble) else ""
            raise StateError(f"no OpenGL 3.3 here ({type(trouble).__name__}{reason}); {DRIVERS}") from trouble
        self._home = os.getpid(), threading.get_ident()
        self._living: set[tuple[str, int]] = set()
        self._doomed: list[tuple[str, int]] = []

    @contextmanager
    def current(self) -> Iterator[None]:
        """Draw in this context; afterwards another one is current again that was before."""
        before = gl.current_context
        if self._home != (os.getpid(), threading.get_ident()):
            raise StateError(
                "OpenGL draws in the process and the thread that made its first picture or the window, only"
            )
        if self.closed:
            raise StateError("this window is closed; make another one")
        self.window.switch_to()
        try:
            while self._doomed:
                gone = self._doomed.pop()
                self._living.discard(gone)
                deleted(*gone)
            yield
        finally:
            if before is not None and before is not gl.current_context and before.canvas is not None:
                before.set_current()

    @property
    def closed(self) -> bool:
        """Whether the window is closed."""
        return self.window.context is None

    def show(self, draw: Callable[[], object]) -> bool:
        """Answer keys and mouse, draw, and show it; False once the window is closed."""
        if self.closed:
            return False
        with self.current():
            self.window.dispatch_events()
            if self.closed:
                return False
            draw()
            self.window.flip()
        return True

    def own(self, holder: object, delete: str, number: int) -> None:
        """Delete an object, by OpenGL's function of that name, once nobody holds ``holder`` or the window is closed.

        That is when the context is current next: whoever is collected cannot make it so.
        """
        self._living.add((delete, number))
        weakref.finalize(holder, self._doomed.append, (delete, number)).atexit = False

    def close(self) -> None:
        """Close the window with all that lives in it; harmless when repeated."""
        if self.closed:
            return
        with self.current():
            for own in self._living:
                deleted(*own)
            self._living.clear()
            self.window.close()


@cache
def offscreen() -> DrawingContext:
    """The process's one context without a window, for pictures of any size. Raises StateError, see DrawingContext."""
    result = DrawingContext(16, 16, visible=False)
    pyglet_here().app.windows.discard(result.window)  # an application's loop neither draws it nor waits for it
    return result


@cache
def usable() -> bool:
    """Whether pictures can be drawn by OpenGL here."""
    try:
        with offscreen().current():
            return True
    except StateError:
        return False
