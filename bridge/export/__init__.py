"""Scenes and their motion for others to show: glTF files, and pages that play them."""

from bridge.export.capture import Capture
from bridge.export.gltf import export_gltf
from bridge.export.player import Player, html

__all__ = ["Capture", "Player", "export_gltf", "html"]
