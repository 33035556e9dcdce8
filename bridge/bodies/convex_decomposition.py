"""Closed hollow meshes as convex parts, as moving bodies need them in Bullet: cut by CoACD, once, kept on disk.

Wei, Liu, Ling, Su (2022), Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and Tree
Search, ACM Transactions on Graphics 41 (4).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import io
import json
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.codegen import cache
from recursive_dyn.codegen.progress import waiting
from recursive_dyn.errors import ModelError
from scene import shapes

if TYPE_CHECKING:
    import trimesh

CONVEX = 0.01  # a mesh that its hull exceeds by less, as a share of the hull's volume, collides as its hull
OPTIONS = {  # of coacd.run_coacd, which mends a mesh that cuts itself first
    "threshold": 0.03,  # concavity that is left, as a share of the mesh's size
    "max_convex_hull": 64,
    "max_ch_vertex": 64,
    "mcts_iterations": 60,
    "resolution": 1000,
    "seed": 0,
}
FLAT = 1e-9  # volume of a mesh of unit size below which there is nothing to cut
SECONDS = 600  # after which cutting is given up

# In a process of its own: where CoACD does not like a mesh it ends the process. Through pipes, which need no disk, of
# which CoACD must not write a word.
_PROGRAM = """
import io, json, os, sys
answer = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
import coacd, numpy as np
coacd.set_log_level("off")
given = np.load(io.BytesIO(sys.stdin.buffer.read()))
parts = coacd.run_coacd(coacd.Mesh(given["vertices"], given["faces"]), **json.loads(sys.argv[1]))
np.savez_compressed(answer, *[array for part in parts for array in part])
answer.close()
"""


@dataclass(frozen=True, eq=False)
class Parts:
    """Convex parts, each its vertices (n, 3) in m and faces (m, 3)."""

    parts: Sequence[tuple[np.ndarray, np.ndarray]]

    @property
    def outline(self) -> np.ndarray:
        """The corners (8, 3) of the box around all parts."""
        points = np.concatenate([vertices for vertices, _ in self.parts])
        low, high = points.min(axis=0), points.max(axis=0)
        corners: np.ndarray = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, 8).T
        return corners

    @property
    def faces(self) -> np.ndarray:
        """Faces (m, 3) of all parts, of vertices counted through."""
        starts = np.cumsum([0] + [len(vertices) for vertices, _ in self.parts])
        return np.concatenate([faces + start for (_, faces), start in zip(self.parts, starts, strict=False)])

    def write(self, path: Path) -> None:
        """Write as OBJ, an ``o`` group a part: Bullet reads each as a hull of its own."""
        lines, start = [], 1
        for k, (vertices, faces) in enumerate(self.parts):
            lines.append(f"o part{k}")
            lines += ["v {:.9g} {:.9g} {:.9g}".format(*v) for v in vertices.tolist()]
            lines += ["f {} {} {}".format(*f) for f in (faces + start).tolist()]
            start += len(vertices)
        path.write_text("\n".join(lines) + "\n")


def is_grouped(shape: shapes.Mesh) -> bool:
    """Whether the mesh is an OBJ file of several ``o`` or ``g`` groups with faces: taken as cut already."""
    if not isinstance(shape.source, Path) or shape.source.suffix.lower() != ".obj":
        return False
    groups, empty = 0, True
    with shape.source.open(errors="replace") as file:
        for line in file:
            if line.startswith(("o ", "g ")):
                empty = True
            elif line.startswith("f ") and empty:
                groups, empty = groups + 1, False
    return groups > 1


def hulls(shape: shapes.Mesh) -> Parts | None:
    """The convex parts, in m in the shape's frame, of a closed mesh with hollows; None for one to be filled instead.

    That is a mesh that is nearly convex (CONVEX) or not closed, so that it has no inside; a hollow one too, with a
    warning, where CoACD is not installed. Parts reach beyond the surface by up to about a hundredth of the mesh's size.
    Progress is told while it lasts; the result is kept in the cache of compiled programs. Raises ModelError for a mesh
    that CoACD cannot cut.
    """
    mesh = shapes.to_trimesh(shape)
    middle, extent = np.asarray(mesh.bounds).mean(axis=0), float(np.asarray(mesh.extents).max())
    unit = _welded((np.asarray(mesh.vertices) - middle) / extent, np.asarray(mesh.faces))
    if not _is_hollow(unit):
        return None
    if importlib.util.find_spec("coacd") is None:
        warnings.warn(
            f"{shape.label}: its hollows are filled, as CoACD is not installed; pip install coacd, or give an OBJ file"
            " with a convex `o` group for each part",
            stacklevel=2,
        )
        return None
    key = _key(unit)
    payload = cache.load(key)
    values = None if payload is None else _arrays(payload)
    if values is None:
        values = _cut(shape.label, unit, key)
    return Parts([(v * extent + middle, faces) for v, faces in zip(values[::2], values[1::2], strict=True)])


def _welded(vertices: np.ndarray, faces: np.ndarray) -> trimesh.Trimesh:
    """A mesh without the seams of textures and normals, and triangles without area, which are no holes."""
    import trimesh

    mesh = trimesh.Trimesh(vertices, faces, process=True)
    mesh.update_faces((mesh.faces != np.roll(mesh.faces, 1, axis=1)).all(axis=1))
    return mesh


def _is_hollow(mesh: trimesh.Trimesh) -> bool:
    if not mesh.is_watertight or not mesh.is_winding_consistent:
        return False
    with np.errstate(invalid="ignore", divide="ignore"):  # trimesh divides by a flat mesh's zero volume
        return FLAT < abs(float(mesh.volume)) < (1.0 - CONVEX) * float(mesh.convex_hull.volume)


def _key(mesh: trimesh.Trimesh) -> str:
    vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
    content = hashlib.sha256(vertices.tobytes() + faces.tobytes()).hexdigest()
    return cache.key_of("convex parts", importlib.metadata.version("coacd"), json.dumps(OPTIONS), content)


def _arrays(payload: bytes) -> list[np.ndarray] | None:
    """Vertices and faces of the parts by turns, from an .npz file's bytes; None if they are something else."""
    try:
        with np.load(io.BytesIO(payload)) as arrays:
            values = [arrays[f"arr_{k}"] for k in range(len(arrays.files))]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    sound = len(values) > 0 and len(values) % 2 == 0 and all(a.ndim == 2 and a.shape[1] == 3 for a in values)
    return values if sound else None


def _cut(label: str, mesh: trimesh.Trimesh, key: str) -> list[np.ndarray]:
    """Vertices and faces of the parts by turns, kept in the cache under ``key``."""
    given = io.BytesIO()
    np.savez(given, vertices=mesh.vertices, faces=mesh.faces)
    made, trouble = _run([sys.executable, "-c", _PROGRAM, json.dumps(OPTIONS)], given.getvalue(), label)
    values = None if trouble else _arrays(made)
    if values is None:
        raise ModelError(
            f"{label}: CoACD cannot cut this mesh into convex parts ({trouble or 'no result'}); mend its triangles,"
            " give an OBJ file with a convex `o` group for each part, or give it collision=False and simpler shapes"
            " beside it"
        )
    cache.store(key, made)
    return values


def _run(command: list[str], given: bytes, label: str) -> tuple[bytes, str | None]:
    """Run CoACD's process, which is told while it lasts; what it answers, and what went wrong or None."""
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        waiting(f"cutting {label} into convex parts"),
    ):
        try:
            # In one call: of two, with a timeout for the first, the second would not write what is left of ``given``.
            answer, errors = process.communicate(given, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return b"", f"it took longer than {SECONDS} s"
        finally:
            process.kill()
    lines = errors.decode(errors="replace").strip().splitlines()
    return answer, (lines[-1] if lines else f"exit {process.returncode}") if process.returncode else None
