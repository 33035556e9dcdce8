"""Bullet's OpenGL context and pyglet's in one thread: who draws has its own current, and leaves the other's behind.

Bullet makes its context current when it creates it and never again; drawing in another one would end the process.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

DRAW = 0x3059  # EGL_DRAW, from Khronos' egl.h


class _Current(NamedTuple):
    """A context of EGL's with its display and surface."""

    display: int
    context: int
    surface: int


class _Turns:
    """Whose turn it is: ``bullets`` is its context once it has one, ``depth`` how often its turn was begun."""

    bullets: _Current | None = None
    depth = 0


@contextmanager
def bullets_turn() -> Iterator[None]:
    """Let Bullet draw; afterwards pyglet's context is current again if it was before. Turns within one are part of it.

    Also around whatever else may create, fill or destroy Bullet's context.
    """
    library = _library()
    if library is None or _Turns.depth:
        yield
        return
    others = _release_pyglets(library)
    if _Turns.bullets is not None:
        display, context, surface = _Turns.bullets
        library.eglMakeCurrent(display, surface, surface, context)
    _Turns.depth += 1
    try:
        yield
    finally:
        _Turns.depth -= 1
        _Turns.bullets = now = _current(library)
        if now is not None:
            library.eglMakeCurrent(now.display, None, None, None)
        if others is not None:
            others.set_current()


def _library() -> Any:
    try:
        library = ctypes.CDLL("libEGL.so.1")
    except OSError:
        return None
    for name in ("eglGetCurrentDisplay", "eglGetCurrentContext", "eglGetCurrentSurface"):
        getattr(library, name).restype = ctypes.c_void_p
    library.eglMakeCurrent.argtypes = [ctypes.c_void_p] * 4
    return library


def _current(library: Any) -> _Current | None:
    found = library.eglGetCurrentDisplay(), library.eglGetCurrentContext(), library.eglGetCurrentSurface(DRAW)
    return _Current(*found) if all(found) else None


def _release_pyglets(library: Any) -> Any:
    """Leave no context of pyglet's current; the one that was."""
    if "pyglet.gl" not in sys.modules:
        return None
    import pyglet

    context = pyglet.gl.current_context
    if context is None or context.canvas is None:
        return None
    if hasattr(context, "x_display"):
        from pyglet.gl import glx

        glx.glXMakeContextCurrent(context.x_display, 0, 0, None)
    elif (now := _current(library)) is not None:
        library.eglMakeCurrent(now.display, None, None, None)
    return context
