"""Bullet's own window."""

from __future__ import annotations

import pybullet

from bridge.drawing.camera import Camera

FIELD_OF_VIEW = 90.0  # degrees, vertical, which cannot be changed
SKY = [0.88, 0.92, 0.97]


def aim(client: int, camera: Camera) -> None:
    """Show a window's view from a camera whose target and distance are given, without Bullet's side panels."""
    pybullet.configureDebugVisualizer(pybullet.COV_ENABLE_GUI, 0, physicsClientId=client)
    pybullet.configureDebugVisualizer(rgbBackground=SKY, physicsClientId=client)
    pybullet.resetDebugVisualizerCamera(
        camera.distance, camera.yaw, camera.pitch, camera.target, physicsClientId=client
    )
