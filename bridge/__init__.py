"""The bridge to PyBullet: mirrored bodies, their contacts, pictures and films of them."""

from bridge.collision.contact_record import Contact
from bridge.mirror import PyBulletMirror
from bridge.picture.camera import Camera
from bridge.picture.film import save_animation

__all__ = ["Camera", "Contact", "PyBulletMirror", "save_animation"]
