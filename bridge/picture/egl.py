"""Bullet's EGL renderer: whether it will load, and loading it without its chatter."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pybullet

from recursive_dyn.simulation.interrupts import Held

# From Khronos' egl.h and eglext.h.
PLATFORM_DEVICE = 0x313F
OPENGL_API = 0x30A2
CONFIG = (0x3024, 8, 0x3023, 8, 0x3022, 8, 0x3025, 8, 0x3033, 0x0001, 0x3040, 0x0008, 0x3038)
NONE = 0x3038


@cache
def usable() -> bool:
    """Whether the plugin is there and this machine can make the OpenGL context that it needs.

    The plugin ends the whole process when it cannot, so every step at which it would is taken here first.
    """
    if not sys.platform.startswith("linux") or importlib.util.find_spec("eglRenderer") is None:
        return False
    try:
        return _makes_context(ctypes.CDLL("libEGL.so.1"))
    except (OSError, AttributeError):
        return False


def _makes_context(library: ctypes.CDLL) -> bool:
    pointer, number = ctypes.c_void_p, ctypes.c_int

    def function(name: str, result: type, *arguments: type) -> ctypes._FuncPointer:
        library.eglGetProcAddress.restype = pointer
        address = library.eglGetProcAddress(name.encode())
        if not address:
            raise AttributeError(name)
        return ctypes.CFUNCTYPE(result, *arguments)(address)

    devices, count = (pointer * 32)(), number()
    if not function("eglQueryDevicesEXT", number, number, pointer, pointer)(32, devices, ctypes.byref(count)):
        return False
    display_of = function("eglGetPlatformDisplayEXT", pointer, number, pointer, pointer)
    initialize = function("eglInitialize", number, pointer, pointer, pointer)
    # The plugin, too, takes the last device that works.
    displays = [display_of(PLATFORM_DEVICE, devices[k], None) for k in range(count.value)]
    working = [display for display in displays if display and initialize(display, None, None)]
    if not working or not function("eglBindAPI", number, ctypes.c_uint)(OPENGL_API):
        return False
    config, found = pointer(), number()
    choose = function("eglChooseConfig", number, pointer, pointer, pointer, number, pointer)
    wanted = (number * len(CONFIG))(*CONFIG)
    if not choose(working[-1], wanted, ctypes.byref(config), 1, ctypes.byref(found)) or found.value != 1:
        return False
    create = function("eglCreateContext", pointer, pointer, pointer, pointer, pointer)
    context = create(working[-1], config, None, (number * 1)(NONE))
    if context:
        function("eglDestroyContext", number, pointer, pointer)(working[-1], context)
    return bool(context)


def load(client: int) -> bool:
    """Load the plugin into a client that has no bodies yet, which it would not draw; whether it did."""
    spec = importlib.util.find_spec("eglRenderer")
    if spec is None or spec.origin is None:
        return False
    with silence():
        plugin: int = pybullet.loadPlugin(spec.origin, "_eglRendererPlugin", physicsClientId=client)
    return plugin >= 0


@contextmanager
def silence() -> Iterator[None]:
    """Discard what C code writes to standard output and error meanwhile; Python's own output is written before."""
    sys.stdout.flush()
    sys.stderr.flush()
    buffers = ctypes.CDLL(None)
    with Held():
        buffers.fflush(None)
        saved = [os.dup(descriptor) for descriptor in (1, 2)]
        try:
            with open(os.devnull, "wb") as nowhere:
                for descriptor in (1, 2):
                    os.dup2(nowhere.fileno(), descriptor)
            yield
        finally:
            buffers.fflush(None)
            for descriptor, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, descriptor)
                os.close(copy)
