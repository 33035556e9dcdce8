"""A Bullet connection: the caller's, or one of our own with or without a window."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pybullet

from bridge.picture.camera import Camera
from recursive_dyn.errors import StateError


class Connection:
    """Bullet's client ``id``.

    Without ``client`` a new one is opened: with a window if ``gui``, or if gui is None and there are a display and no
    window yet. Raises StateError where that fails.
    """

    def __init__(self, client: int | None, gui: bool | None) -> None:
        self.owned = client is None
        self.id = _opened(gui) if client is None else client
        self._closed = False
        if not pybullet.isConnected(self.id):
            raise StateError(f"there is no Bullet connection {self.id}; pass what pybullet.connect returned")
        self.window = pybullet.getConnectionInfo(self.id)["connectionMethod"] == pybullet.GUI

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn Bullet's errors, once the connection is gone, into StateError."""
        if self._closed:
            raise StateError("this mirror is closed; create a new PyBulletMirror")
        if not pybullet.isConnected(self.id):
            raise StateError(self._lost())
        try:
            yield
        except pybullet.error as problem:
            if pybullet.isConnected(self.id):
                raise
            raise StateError(self._lost()) from problem

    def _lost(self) -> str:
        return (
            f"Bullet's connection {self.id} was disconnected or its window closed; close this mirror and create a new"
            " PyBulletMirror"
        )

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let a window wait until many bodies are made, which is far faster."""
        if self.window:
            pybullet.configureDebugVisualizer(pybullet.COV_ENABLE_RENDERING, 0, physicsClientId=self.id)
        try:
            yield
        finally:
            if self.window and pybullet.isConnected(self.id):
                pybullet.configureDebugVisualizer(pybullet.COV_ENABLE_RENDERING, 1, physicsClientId=self.id)

    def aim(self, camera: Camera) -> None:
        """Show a window's view from a camera whose target and distance are given, without Bullet's side panels."""
        pybullet.configureDebugVisualizer(pybullet.COV_ENABLE_GUI, 0, physicsClientId=self.id)
        pybullet.configureDebugVisualizer(rgbBackground=[0.88, 0.92, 0.97], physicsClientId=self.id)
        pybullet.resetDebugVisualizerCamera(
            camera.distance, camera.yaw, camera.pitch, camera.target, physicsClientId=self.id
        )

    def close(self, bodies: list[int]) -> bool:
        """Remove ``bodies`` and, if it is ours, the connection; False if that was done before."""
        if self._closed:
            return False
        self._closed = True
        if pybullet.isConnected(self.id):
            if self.owned:
                pybullet.disconnect(self.id)
            else:
                for body in bodies:
                    pybullet.removeBody(body, physicsClientId=self.id)
        return True


def _opened(gui: bool | None) -> int:
    wanted = _has_display() if gui is None else gui
    if wanted:
        try:
            window: int = pybullet.connect(pybullet.GUI)
        except pybullet.error as problem:  # there is one window a process
            if gui:
                raise StateError(
                    f"Bullet opened no window ({problem}); close the other one, or pass gui=False"
                ) from None
        else:
            if window >= 0:
                return window
            if gui:
                raise StateError("Bullet opened no window; is there a display? Pass gui=False to do without")
    client: int = pybullet.connect(pybullet.DIRECT)
    if client < 0:
        raise StateError("Bullet has no connection left; close some mirrors")
    return client


def _has_display() -> bool:
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY"))
