"""Closed hollow meshes as convex parts, as moving bodies need them in Bullet: cut by CoACD, once, kept on disk.

Those of the robots in pybullet_data come with the package (``bridge.bodies.shipped_results``).

Wei, Liu, Ling, Su (2022), Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and Tree
Search, ACM Transactions on Graphics 41 (4).
"""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bridge import mesh_cache
from recursive_dyn.codegen.making.progress import waiting
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
FORMAT = 2  # of what is kept; another one is made anew
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
    key = parts_key(shape)
    found = mesh_cache.load(key)
    if found is None or not _sound(found):
        found = cut(shape)
        if found is None:
            return None
        mesh_cache.keep(key, found)
    units = float(np.abs(shape.scale).max())
    middle, extent = found["frame"][:3], found["frame"][3]
    ends = np.cumsum(found["counts"], axis=0)
    vertices = units * (found["vertices"] * extent + middle)
    parts = zip(np.split(vertices, ends[:-1, 0]), np.split(found["faces"].astype(np.int64), ends[:-1, 1]), strict=True)
    return Parts(list(parts)) if len(ends) else None


def parts_key(shape: shapes.Mesh) -> str:
    """What the parts are kept under: the mesh, how its axes are scaled against each other, and how it is cut."""
    ratios = (np.asarray(shape.scale) / np.abs(shape.scale).max()).tolist()
    return mesh_cache.key_of(shape, "convex parts", FORMAT, json.dumps(OPTIONS), ratios)


def cut(shape: shapes.Mesh) -> dict[str, np.ndarray] | None:
    """The parts, none for a mesh to be filled; None where CoACD is not installed, with a warning.

    frame (4,): middle and extent of the mesh in the file's units; counts (parts, 2) of vertices, in units of the frame
    about its middle, and faces, which follow each other part by part.
    """
    mesh, units = shapes.to_trimesh(shape), float(np.abs(shape.scale).max())
    middle, extent = np.asarray(mesh.bounds).mean(axis=0), float(np.asarray(mesh.extents).max())
    unit = _welded((np.asarray(mesh.vertices) - middle) / extent, np.asarray(mesh.faces))
    parts: list[np.ndarray] = []
    if _is_hollow(unit):
        if importlib.util.find_spec("coacd") is None:
            warnings.warn(
                f"{shape.label}: its hollows are filled, as CoACD is not installed; pip install coacd, or give an OBJ"
                " file with a convex `o` group for each part",
                stacklevel=3,
            )
            return None
        parts = _cut(shape.label, unit)
    vertices, faces = parts[::2], parts[1::2]
    return {
        "frame": np.array([*middle, extent]) / units,
        "counts": np.array([[len(v), len(f)] for v, f in zip(vertices, faces, strict=True)], np.int64).reshape(-1, 2),
        "vertices": np.concatenate([np.empty((0, 3)), *vertices]).astype(np.float32),
        "faces": np.concatenate([np.empty((0, 3), np.int64), *faces]).astype(np.uint16),
    }


def _sound(found: dict[str, np.ndarray]) -> bool:
    """Whether that is what ``cut`` gives."""
    if not {"frame", "counts", "vertices", "faces"} <= found.keys():
        return False
    frame, counts = found["frame"], found["counts"]
    if frame.shape != (4,) or counts.ndim != 2 or counts.shape[1] != 2:
        return False
    sizes = zip(("vertices", "faces"), counts.sum(axis=0).tolist(), strict=True)
    return all(found[name].shape == (size, 3) for name, size in sizes)


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


def _cut(label: str, mesh: trimesh.Trimesh) -> list[np.ndarray]:
    """Vertices and faces of the parts by turns."""
    given = io.BytesIO()
    np.savez(given, vertices=mesh.vertices, faces=mesh.faces)
    made, trouble = _run([sys.executable, "-c", _PROGRAM, json.dumps(OPTIONS)], given.getvalue(), label)
    arrays = mesh_cache.unpacked(made) or {}
    parts = [arrays[name] for name in sorted(arrays, key=lambda name: int(name.removeprefix("arr_")))]
    if trouble or not parts:
        raise ModelError(
            f"{label}: CoACD cannot cut this mesh into convex parts ({trouble or 'no result'}); mend its triangles,"
            " give an OBJ file with a convex `o` group for each part, or give it collision=False and simpler shapes"
            " beside it"
        )
    return parts


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
