"""The bridge to PyBullet: mirrored bodies, their contacts, pictures and films of them."""

from bridge.camera import Camera
from bridge.contacts import Contact
from bridge.mirror import PyBulletMirror
from bridge.recorder import save_animation

__all__ = ["Camera", "Contact", "PyBulletMirror", "save_animation"]
