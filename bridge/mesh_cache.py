"""What was worked out of meshes is kept: in the cache, and with the package for the robots of pybullet_data."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np

from recursive_dyn.codegen.making import cache
from recursive_dyn.errors import ModelError
from scene import shapes

SHIPPED = Path(__file__).parent / "mesh_results"
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile)


def key_of(shape: shapes.Mesh, *facts: object) -> str:
    """What a result is kept under: the mesh as its source has it, and ``facts`` about the result."""
    if isinstance(shape.source, Path):
        try:
            content, kind = shape.source.read_bytes(), shape.source.suffix.lower()
        except OSError as error:
            raise ModelError(f"{shape.label}: the file cannot be read ({error.strerror}); check it") from error
    else:
        vertices, faces = np.asarray(shape.source.vertices, float), np.asarray(shape.source.faces, np.int64)
        content, kind = vertices.tobytes() + faces.tobytes(), "arrays"
    return cache.key_of("mesh", kind, hashlib.sha256(content).hexdigest(), *facts)


def load(key: str) -> dict[str, np.ndarray] | None:
    """Arrays by name, or None where there are none that can be read."""
    try:
        shipped: bytes | None = (SHIPPED / f"{key}.npz").read_bytes()
    except OSError:
        shipped = None
    for payload in (shipped, cache.load(key)) if shipped is not None else (cache.load(key),):
        found = None if payload is None else unpacked(payload)
        if found is not None:
            return found
    return None


def keep(key: str, arrays: dict[str, np.ndarray]) -> None:
    """Keep a result in the cache."""
    cache.store(key, packed(arrays))


def packed(arrays: dict[str, np.ndarray]) -> bytes:
    """As bytes of an .npz file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as entries:
        for name, array in arrays.items():
            with entries.open(f"{name}.npy", "w") as entry:
                np.save(entry, array, allow_pickle=False)
    return file.getvalue()


def unpacked(payload: bytes) -> dict[str, np.ndarray] | None:
    """The arrays of an .npz file's bytes; None if they are something else."""
    try:
        with np.load(io.BytesIO(payload)) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except _UNREADABLE:
        return None
