"""Whether there is a display that a window can be opened on."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from functools import cache

from recursive_dyn.errors import StateError


@cache
def has_display() -> bool:
    """Whether a window can be opened here."""
    if not sys.platform.startswith("linux"):
        return True
    if not os.environ.get("DISPLAY"):
        return False
    library = ctypes.util.find_library("X11")
    if library is None:
        return False
    x11 = ctypes.CDLL(library)
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = x11.XOpenDisplay(None)
    if display:
        x11.XCloseDisplay(ctypes.c_void_p(display))
    return bool(display)


def check_display(instead: str) -> None:
    """Raise StateError where no window can be opened; instead: what does without one."""
    if not has_display():
        raise StateError(
            f"there is no display for a window here; {instead}, and xvfb-run gives a program one that nobody sees"
        )
