"""Colours and pictures that a mesh brings along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import trimesh

WHITE = np.ones(4)


@dataclass(frozen=True, eq=False)
class Paint:
    """colors (m, 3, 4) of the corners of m faces, 0 to 1, sRGB; picture (h, w, 4), uint8, or None, is multiplied with
    them, and places (m, 3, 2) are where in it each corner is, from its lower left."""

    colors: np.ndarray
    places: np.ndarray
    picture: np.ndarray | None = None

    def of(self, faces: np.ndarray) -> Paint:
        """That of some of the faces."""
        return Paint(self.colors[faces], self.places[faces], self.picture)


def linear(colors: Any) -> np.ndarray:
    """Red, green, blue (..., 3) of light for those of a picture (..., 3 or 4), sRGB (IEC 61966-2-1)."""
    c = np.asarray(colors, dtype=float)[..., :3]
    result: np.ndarray = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return result


def paint_of(mesh: trimesh.Trimesh) -> Paint | None:
    """What a mesh has been painted with, on vertices, faces or by a picture; None if it has no colours of its own."""
    visual: Any = mesh.visual
    faces, nowhere = np.asarray(mesh.faces), np.zeros((len(mesh.faces), 3, 2))
    if visual.kind == "vertex":
        return Paint(np.asarray(visual.vertex_colors)[faces] / 255.0, nowhere)
    if visual.kind == "face":
        return Paint(np.repeat(np.asarray(visual.face_colors)[:, None] / 255.0, 3, axis=1), nowhere)
    if visual.kind != "texture":
        return None
    material = visual.material
    picture = getattr(material, "baseColorTexture", None)
    if hasattr(material, "baseColorFactor"):
        base = material.baseColorFactor
    else:
        picture = getattr(material, "image", None)
        base = material.main_color if picture is None else None  # an OBJ's own colour would darken its picture
    color = WHITE if base is None else np.asarray(base, dtype=float)
    color = color / 255.0 if color.max() > 1.0 else color
    color = np.append(color, 1.0)[:4] if len(color) == 3 else color
    colors = np.broadcast_to(color, (*faces.shape, 4))
    if picture is None or visual.uv is None:
        return Paint(colors, nowhere)
    return Paint(colors, np.asarray(visual.uv)[faces], np.asarray(picture.convert("RGBA")))
