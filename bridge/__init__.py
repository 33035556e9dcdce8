"""The bridge to PyBullet: mirrored bodies, their contacts, pictures, films, exports, and twins that Bullet moves.

Names are imported when they are first used: a game whose shapes collide in closed form runs without PyBullet.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from recursive_dyn.own_packages import own

if TYPE_CHECKING:
    from bridge.drawing.camera import Camera
    from bridge.export.capture import Capture
    from bridge.export.gltf import export_gltf
    from bridge.export.player import Player, html
    from bridge.mirror import PyBulletMirror
    from bridge.picture.film import save_animation
    from bridge.picture.pictures import Pictures
    from bridge.plugin.game_events import GameEvent
    from bridge.plugin.plugin import Plugin
    from bridge.twin.force_twin import ForceTwin
    from bridge.twin.multibody_twin import MultibodyTwin
    from bridge.viewer.viewer import Viewer
    from recursive_dyn.contact.contact_record import Contact

_PLACES = {
    "Camera": "bridge.drawing.camera",
    "Capture": "bridge.export.capture",
    "Contact": "recursive_dyn.contact.contact_record",
    "ForceTwin": "bridge.twin.force_twin",
    "GameEvent": "bridge.plugin.game_events",
    "MultibodyTwin": "bridge.twin.multibody_twin",
    "Pictures": "bridge.picture.pictures",
    "Plugin": "bridge.plugin.plugin",
    "PyBulletMirror": "bridge.mirror",
    "Viewer": "bridge.viewer.viewer",
    "Player": "bridge.export.player",
    "export_gltf": "bridge.export.gltf",
    "html": "bridge.export.player",
    "save_animation": "bridge.picture.film",
}

_OUTSIDE = {
    "pybullet": "pip install pybullet, which has wheels for Python 3.11 and none for later ones",
    "pyglet": "pip install pyglet",
    "PIL": "pip install pillow",
    "trimesh": "pip install trimesh",
    "scipy": "pip install scipy",
}

__all__ = [
    "Camera",
    "Capture",
    "Contact",
    "ForceTwin",
    "GameEvent",
    "MultibodyTwin",
    "Pictures",
    "Player",
    "Plugin",
    "PyBulletMirror",
    "Viewer",
    "export_gltf",
    "html",
    "save_animation",
]


def __getattr__(name: str) -> Any:
    """A name, imported now."""
    if name not in _PLACES:
        raise AttributeError(f"module 'bridge' has no attribute '{name}'")
    own("scene")  # a user's scene.py is told from it before it is imported instead
    try:
        found = globals()[name] = getattr(importlib.import_module(_PLACES[name]), name)
    except ModuleNotFoundError as missing:
        if missing.name not in _OUTSIDE:
            raise
        raise ImportError(
            f"bridge.{name} needs the package '{missing.name}', which is not installed: {_OUTSIDE[missing.name]}",
            name=missing.name,
        ) from missing
    return found


def __dir__() -> list[str]:
    """What there is."""
    return sorted({*globals(), *__all__})
