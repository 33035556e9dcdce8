"""Scenes and their motion for others to show: glTF files, and pages that play them."""

from bridge.export.gltf import export_gltf

__all__ = ["export_gltf"]
