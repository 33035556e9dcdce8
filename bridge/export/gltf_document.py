"""A glTF 2.0 document in the making: arrays in one buffer, and lists that refer to one another by number.

Khronos Group: glTF 2.0 Specification, 2021 (ISO/IEC 12113:2022); section numbers are its own.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
_COMPONENTS = {"<f4": 5126, "<u2": 5123, "<u4": 5125}
_TYPES = {(): "SCALAR", (2,): "VEC2", (3,): "VEC3", (4,): "VEC4"}
_LISTS = (
    "nodes", "meshes", "materials", "textures", "images", "samplers", "animations", "accessors", "bufferViews",
)  # fmt: skip


class GltfDocument:
    """Lists of a document by name, and the bytes of its buffer."""

    def __init__(self) -> None:
        self._lists: dict[str, list[dict[str, Any]]] = {name: [] for name in _LISTS}
        self._bytes = bytearray()

    def add(self, kind: str, **entry: Any) -> int:
        """Another entry of a list; its number. What is None is left out."""
        self._lists[kind].append({name: value for name, value in entry.items() if value is not None})
        return len(self._lists[kind]) - 1

    def view(self, data: bytes, target: int | None = None) -> int:
        """Bytes in the buffer, at a multiple of four (3.6.2.4)."""
        self._bytes.extend(b"\0" * (-len(self._bytes) % 4))
        start = len(self._bytes)
        self._bytes.extend(data)
        return self.add("bufferViews", buffer=0, byteOffset=start, byteLength=len(data), target=target)

    def accessor(self, array: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """An array (n,), (n, 2), (n, 3) or (n, 4) of float32, uint16 or uint32; bounds: with its least and greatest."""
        low, high = (np.atleast_1d(f(axis=0)).tolist() for f in (array.min, array.max)) if bounds else (None, None)
        return self.add(
            "accessors", bufferView=self.view(np.ascontiguousarray(array).tobytes(), target), count=len(array),
            componentType=_COMPONENTS[array.dtype.newbyteorder("<").str], type=_TYPES[array.shape[1:]], min=low,
            max=high,
        )  # fmt: skip

    def glb(self, root: int) -> bytes:
        """The document with its buffer as one binary file (4.4), the scene being the node of that number."""
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "recursive-dyn"}, "scene": 0, "scenes": [{"nodes": [root]}],
            **{name: entries for name, entries in self._lists.items() if entries},
        }  # fmt: skip
        if self._bytes:
            document["buffers"] = [{"byteLength": len(self._bytes)}]
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        if self._bytes:
            data = bytes(self._bytes) + b"\0" * (-len(self._bytes) % 4)
            chunks += struct.pack("<II", len(data), 0x004E4942) + data
        return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks
