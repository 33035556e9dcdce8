"""OpenGL's functions, which pyglet looks up when one is first asked for: whoever draws nothing needs no driver."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from bridge.display import has_display
from recursive_dyn.errors import StateError

DRIVERS = "on Debian install libegl1, libgl1 and libgl1-mesa-dri; elsewhere the graphics card's driver"


@cache
def pyglet_here() -> Any:
    """pyglet, told before it looks for a display whether there is one. Raises StateError where it finds no OpenGL."""
    import pyglet

    if not {"pyglet.gl", "pyglet.window"} & sys.modules.keys():  # else its user has chosen already
        pyglet.options["shadow_window"] = pyglet.options["debug_gl"] = False
        pyglet.options["headless"] = pyglet.options["headless"] or not has_display()
    try:
        import pyglet.gl
        import pyglet.window
    except Exception as trouble:  # ImportError, or what its many loaders raise
        raise StateError(f"OpenGL cannot be loaded here ({trouble}); {DRIVERS}") from trouble
    return pyglet


class _OpenGL:
    """pyglet.gl, imported at the first use of anything in it."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(pyglet_here().gl, name)
        setattr(self, name, value)
        return value


gl: Any = _OpenGL()


def created(make: Any) -> int:
    """The number of one new object; make: glGenBuffers or one of its kind."""
    number = ctypes.c_uint()
    make(1, ctypes.byref(number))
    return number.value


def deleted(delete: str, number: int) -> None:
    """Delete one object; delete: the name of glDeleteBuffers or one of its kind."""
    getattr(gl, delete)(1, ctypes.byref(ctypes.c_uint(number)))
