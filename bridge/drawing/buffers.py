"""Arrays on the graphics card, and how vertex shaders read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.opengl import created, gl


class Attribute(NamedTuple):
    """An attribute of a vertex shader: its location, how many numbers it is, and at which byte of a row it starts."""

    location: int
    numbers: int
    offset: int
    whole: bool = False


class Buffer:
    """An array on the card, deleted with the last who holds it."""

    def __init__(self, context: DrawingContext, rows: np.ndarray, changing: bool = False, index: bool = False) -> None:
        self.number = created(gl.glGenBuffers)
        self._kind = gl.GL_ELEMENT_ARRAY_BUFFER if index else gl.GL_ARRAY_BUFFER
        self._use = gl.GL_STREAM_DRAW if changing else gl.GL_STATIC_DRAW
        context.own(self, "glDeleteBuffers", self.number)
        self.write(rows)

    def write(self, rows: np.ndarray) -> None:
        """Fill it with a contiguous array; the card need not wait until it has drawn what was there."""
        gl.glBindBuffer(self._kind, self.number)
        gl.glBufferData(self._kind, rows.nbytes, rows.ctypes.data if rows.size else None, self._use)

    def bind(self) -> None:
        """What follows is about this buffer."""
        gl.glBindBuffer(self._kind, self.number)


class VertexArray:
    """Which buffers a draw call reads, deleted with the last who holds it; it lives in one context."""

    def __init__(self, context: DrawingContext) -> None:
        self.number = created(gl.glGenVertexArrays)
        self._buffers: list[Buffer] = []
        context.own(self, "glDeleteVertexArrays", self.number)

    def read(self, buffer: Buffer, stride: int, columns: Sequence[Attribute], each: int = 0, first: int = 0) -> None:
        """Read columns of a buffer's rows of ``stride`` bytes, from row ``first`` on; each: 1 for one row a copy."""
        self.bind()
        buffer.bind()
        self._buffers.append(buffer)
        for location, numbers, offset, whole in columns:
            gl.glEnableVertexAttribArray(location)
            start = first * stride + offset
            if whole:
                gl.glVertexAttribIPointer(location, numbers, gl.GL_UNSIGNED_INT, stride, start)
            else:
                gl.glVertexAttribPointer(location, numbers, gl.GL_FLOAT, 0, stride, start)
            gl.glVertexAttribDivisor(location, each)

    def index(self, buffer: Buffer) -> None:
        """Corners are read in the order of this buffer."""
        self.bind()
        buffer.bind()
        self._buffers.append(buffer)

    def bind(self) -> None:
        """Draw calls read this from now on."""
        gl.glBindVertexArray(self.number)
