"""Pieces of a picture as glTF meshes: geometry once however many copies, materials once a colour, pictures embedded."""

from __future__ import annotations

import hashlib
import io

import numpy as np

from bridge.drawing.pieces import Color, Ground, Piece
from bridge.export.gltf_document import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, GltfDocument
from bridge.meshes.paint import Paint, linear
from bridge.meshes.triangle_mesh import Triangles

ROUGHNESS = 0.55
REPEAT, NEAREST, LINEAR, MIPMAPS = 10497, 9728, 9729, 9987
TILES = 80  # of a ground, a side: glTF has no endless planes


class GltfMeshes:
    """What is drawn of a scene, entered into a document at its first use."""

    def __init__(self, document: GltfDocument) -> None:
        self._document = document
        self._primitives: dict[int, tuple[Triangles, dict[str, int], int, int | None]] = {}
        self._materials: dict[tuple[object, ...], int] = {}
        self._meshes: dict[tuple[int, Color], int] = {}
        self._textures: dict[tuple[bytes, int], int] = {}

    def mesh(self, piece: Piece) -> int:
        """The number of the mesh of a piece."""
        key = id(piece.mesh), piece.color
        if key not in self._meshes:
            attributes, indices, texture = self._geometry(piece.mesh)
            material = self._material(piece, texture)
            primitive = {"attributes": attributes, "indices": indices, "material": material}
            self._meshes[key] = self._document.add("meshes", primitives=[primitive])
        return self._meshes[key]

    def ground(self, ground: Ground) -> int:
        """The number of a mesh for a ground, in its own frame: a square of TILES a side, its picture of four tiles."""
        d, half = self._document, TILES * ground.tile / 2.0
        corners = np.array([[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]], dtype=np.float32)
        places = (corners[:, :2] / (2.0 * ground.tile)).astype(np.float32)
        light, dark = ([round(255 * x) for x in color] for color in (ground.light, ground.dark))
        texture = self._texture(np.array([[dark, light], [light, dark]], dtype=np.uint8), NEAREST)
        material = d.add(
            "materials", pbrMetallicRoughness={
                "baseColorTexture": {"index": texture}, "metallicFactor": 0.0, "roughnessFactor": 0.95
            }, doubleSided=True,
        )  # fmt: skip
        attributes = {
            "POSITION": d.accessor(corners, ARRAY_BUFFER, bounds=True),
            "NORMAL": d.accessor(np.tile(np.array([0, 0, 1], dtype=np.float32), (4, 1)), ARRAY_BUFFER),
            "TEXCOORD_0": d.accessor(places, ARRAY_BUFFER),
        }
        indices = d.accessor(np.array([0, 1, 2, 0, 2, 3], dtype=np.uint16), ELEMENT_ARRAY_BUFFER)
        return d.add("meshes", primitives=[{"attributes": attributes, "indices": indices, "material": material}])

    def _geometry(self, mesh: Triangles) -> tuple[dict[str, int], int, int | None]:
        """Attributes, indices, and the picture, if there is one."""
        if id(mesh) not in self._primitives:
            d, paint = self._document, mesh.paint
            parts = [mesh.vertices[mesh.faces], mesh.normals]
            if paint is not None:
                parts += [np.concatenate([linear(paint.colors), paint.colors[..., 3:]], axis=2), paint.places]
            rows = np.concatenate(parts, axis=2).reshape(3 * len(mesh.faces), -1).astype(np.float32)
            corners, index = np.unique(rows, axis=0, return_inverse=True)
            normals = corners[:, 3:6] / np.linalg.norm(corners[:, 3:6], axis=1, keepdims=True)
            attributes = {
                "POSITION": d.accessor(corners[:, :3], ARRAY_BUFFER, bounds=True),
                "NORMAL": d.accessor(normals, ARRAY_BUFFER),
            }
            if paint is not None and (paint.colors != 1.0).any():
                attributes["COLOR_0"] = d.accessor(corners[:, 6:10].clip(0.0, 1.0), ARRAY_BUFFER)
            texture = None
            if paint is not None and paint.picture is not None:
                places = corners[:, 10:12].copy()
                places[:, 1] = 1.0 - places[:, 1]  # glTF's start at the upper left
                attributes["TEXCOORD_0"] = d.accessor(places, ARRAY_BUFFER)
                texture = self._texture(paint.picture, LINEAR)
            kind = np.uint16 if len(corners) < 65535 else np.uint32
            indices = d.accessor(index.reshape(-1).astype(kind), ELEMENT_ARRAY_BUFFER)
            self._primitives[id(mesh)] = mesh, attributes, indices, texture  # the mesh stays, and its id with it
        return self._primitives[id(mesh)][1:]

    def _material(self, piece: Piece, texture: int | None) -> int:
        clear = piece.color[3] < 1.0 or _clear(piece.mesh.paint)
        key = piece.color, texture, clear, piece.mesh.closed
        if key not in self._materials:
            look = {
                "baseColorFactor": [*linear(piece.color).tolist(), piece.color[3]],
                "metallicFactor": 0.0,
                "roughnessFactor": ROUGHNESS,
            }
            if texture is not None:
                look["baseColorTexture"] = {"index": texture}
            self._materials[key] = self._document.add(
                "materials", pbrMetallicRoughness=look, alphaMode="BLEND" if clear else None,
                doubleSided=None if piece.mesh.closed else True,
            )  # fmt: skip
        return self._materials[key]

    def _texture(self, picture: np.ndarray, sharpness: int) -> int:
        """A picture (h, w, 4), uint8, as a PNG in the document, once however many meshes have an equal one."""
        from PIL import Image

        key = hashlib.sha256(repr(picture.shape).encode() + picture.tobytes()).digest(), sharpness
        if key not in self._textures:
            d, file = self._document, io.BytesIO()
            Image.fromarray(picture if (picture[..., 3] < 255).any() else picture[..., :3]).save(file, format="PNG")
            image = d.add("images", bufferView=d.view(file.getvalue()), mimeType="image/png")
            sampler = d.add("samplers", magFilter=sharpness, minFilter=MIPMAPS, wrapS=REPEAT, wrapT=REPEAT)
            self._textures[key] = d.add("textures", source=image, sampler=sampler)
        return self._textures[key]


def _clear(paint: Paint | None) -> bool:
    """Whether a mesh's own colours let something through."""
    if paint is None:
        return False
    return bool(
        (paint.colors[..., 3] < 1.0).any() or (paint.picture is not None and (paint.picture[..., 3] < 255).any())
    )
