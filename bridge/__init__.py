"""The bridge to PyBullet: mirrored bodies, their contacts, pictures and films of them, and twins that Bullet moves."""

from bridge.collision.contact_record import Contact
from bridge.drawing.camera import Camera
from bridge.mirror import PyBulletMirror
from bridge.picture.film import save_animation
from bridge.picture.pictures import Pictures
from bridge.twin.force_twin import ForceTwin
from bridge.twin.multibody_twin import MultibodyTwin
from bridge.viewer.viewer import Viewer

__all__ = ["Camera", "Contact", "ForceTwin", "MultibodyTwin", "Pictures", "PyBulletMirror", "Viewer", "save_animation"]
