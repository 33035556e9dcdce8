"""Meshes on the graphics card, each drawn at all its places by one call; poses travel as one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from bridge.drawing.buffers import Attribute, Buffer, VertexArray
from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.opengl import gl
from bridge.drawing.pieces import FIXED, Piece
from bridge.drawing.texture import Texture
from bridge.meshes.triangle_mesh import Triangles
from recursive_dyn.codegen.compiled import Floats, Integers, compiled

CORNER: tuple[Attribute, ...] = (Attribute(0, 3, 0), Attribute(1, 3, 12))
PAINTED = (Attribute(2, 4, 24), Attribute(3, 2, 40))
PLACE = (Attribute(4, 4, 0), Attribute(5, 4, 16), Attribute(6, 4, 32))
LOOK = (Attribute(7, 4, 0), Attribute(8, 1, 16, True))
PICTURE = 1  # the texture unit of a mesh's own picture
UNPAINTED = 2  # the location of colours of corners, which plain meshes lack
Poses = Annotated[np.ndarray, float, 4, 4]
FIRST = 2  # what the frame of number 0 is called on the card: 0 is the sky, 1 the world


class _Group(NamedTuple):
    """Copies of one mesh, alike in that they can be seen through or not."""

    array: VertexArray
    corners: int
    copies: int
    closed: bool
    clear: bool
    texture: Texture


@compiled
def relative(poses: Poses, frames: Integers, at: Poses, origin: Floats, rows: Poses) -> None:
    """The upper three rows of poses[frames[k]] at[k], less ``origin`` (3,)."""
    for k in range(len(frames)):
        X, A, row = poses[frames[k]], at[k], rows[k]
        for i in range(3):
            for j in range(4):
                row[i, j] = X[i, 0] * A[0, j] + X[i, 1] * A[1, j] + X[i, 2] * A[2, j]
            row[i, 3] += X[i, 3] - origin[i]


class Instances:
    """Pieces on the card of one context; ``place`` moves their frames, ``upload`` tells the card.

    reach (n,): how far from its frame's origin each piece goes, m; rows (n, 4, 4), float32: where they are.
    """

    def __init__(self, context: DrawingContext, pieces: Sequence[Piece], frames: int) -> None:
        groups: dict[tuple[bool, int], list[Piece]] = {}
        for piece in pieces:
            if piece.color[3] > 0.0:
                groups.setdefault((piece.color[3] < 1.0, id(piece.mesh)), []).append(piece)
        ordered = [piece for group in groups.values() for piece in group]
        numbers = np.array([piece.frame for piece in ordered], dtype=np.int64)
        self._at = np.array([piece.at for piece in ordered], dtype=float).reshape(-1, 4, 4)
        self.reach = np.array([np.linalg.norm(piece.mesh.vertices, axis=1).max() for piece in ordered])
        self.rows = np.zeros((len(ordered), 4, 4), dtype=np.float32)
        self._poses = np.tile(np.eye(4), (frames + 1, 1, 1))  # the last is the world's, FIXED
        self._origin, self._wide = np.full(3, np.nan), np.zeros((len(ordered), 4, 4))
        frame = np.where(numbers == FIXED, frames, numbers)
        self._relative = relative.bind(self._poses, frame, self._at, self._origin, self._wide)
        self._fresh = False
        self._moving = Buffer(context, self.rows, changing=True)
        looks = np.zeros(len(ordered), dtype=[("color", "f4", 4), ("number", "u4")])
        looks["color"], looks["number"] = [piece.color for piece in ordered] or np.zeros((0, 4)), numbers + FIRST
        self._looks = Buffer(context, looks)
        self._white = Texture(context, np.full((1, 1, 4), 255, dtype=np.uint8))
        self._groups: list[_Group] = []
        first = 0
        for (clear, _), own in groups.items():
            self._groups.append(self._group(context, own[0].mesh, first, len(own), clear))
            first += len(own)

    def _group(self, context: DrawingContext, mesh: Triangles, first: int, copies: int, clear: bool) -> _Group:
        parts, columns, paint, texture = [mesh.vertices[mesh.faces], mesh.normals], CORNER, mesh.paint, None
        if paint is not None:
            parts, columns = [*parts, paint.colors, paint.places], CORNER + PAINTED
            texture = None if paint.picture is None else Texture(context, paint.picture)
        rows = np.concatenate(parts, axis=2).reshape(3 * len(mesh.faces), -1).astype(np.float32)
        corners, index = np.unique(rows, axis=0, return_inverse=True)
        array = VertexArray(context)
        array.read(Buffer(context, np.ascontiguousarray(corners)), corners.itemsize * corners.shape[1], columns)
        array.index(Buffer(context, index.reshape(-1).astype(np.uint32), index=True))
        array.read(self._moving, 64, PLACE, each=1, first=first)
        array.read(self._looks, 20, LOOK, each=1, first=first)
        gl.glBindVertexArray(0)
        return _Group(array, 3 * len(mesh.faces), copies, mesh.closed, clear, texture or self._white)

    @property
    def calls(self) -> int:
        """How many draw calls a picture takes: one for each mesh."""
        return len(self._groups)

    @property
    def clear(self) -> bool:
        """Whether anything can be seen through."""
        return any(group.clear for group in self._groups)

    def place(self, poses: np.ndarray) -> None:
        """The frames are at X_WB ``poses`` (frames, 4, 4)."""
        self._poses[:-1] = poses
        self._fresh = False

    def upload(self, origin: np.ndarray) -> None:
        """Tell the card where all pieces are, relative to a point (3,) near what is seen: it has few digits."""
        if self._fresh and (origin == self._origin).all():
            return
        self._origin[:], self._fresh = origin, True
        self._relative()
        np.copyto(self.rows, self._wide, casting="same_kind")
        self._moving.write(self.rows)

    def draw(self, clear: bool = False, cull: bool = True) -> None:
        """Draw what is opaque, or what is ``clear``; the backs of closed meshes are left out."""
        for group in self._groups:
            if group.clear == clear:
                (gl.glEnable if cull and group.closed else gl.glDisable)(gl.GL_CULL_FACE)
                gl.glVertexAttrib4f(UNPAINTED, 1.0, 1.0, 1.0, 1.0)
                group.texture.bind(PICTURE)
                group.array.bind()
                gl.glDrawElementsInstanced(gl.GL_TRIANGLES, group.corners, gl.GL_UNSIGNED_INT, None, group.copies)
        gl.glDisable(gl.GL_CULL_FACE)
