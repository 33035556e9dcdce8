"""Triangle meshes: reading them, and the mass properties of the solid they enclose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.errors import ModelError
from scene.mass_properties import MassProperties
from scene.number_checks import FloatArray, sizes

if TYPE_CHECKING:
    import trimesh  # takes most of a second to import, so elsewhere only where it is used


FLAT = 1e-14  # volume of a mesh of unit extent below which only rounding tells it from a flat sheet


def read(where: str, path: Path) -> trimesh.Trimesh:
    """The triangles in a file, in the file's units and axes. Raises ModelError if there are none to be read."""
    try:
        import trimesh
    except ModuleNotFoundError as missing:
        raise ModelError(f"{where}: a mesh needs the package '{missing.name}', which is not installed") from missing

    try:
        mesh = trimesh.load_mesh(path)
    except Exception as error:  # every format's reader raises its own kinds
        raise ModelError(f"{where}: the file cannot be read as a mesh: {error}") from error
    if not isinstance(mesh, trimesh.Trimesh):
        raise ModelError(f"{where}: the file holds no triangle mesh; export one as OBJ, STL, PLY or GLB")
    return mesh


def solid(where: str, mesh: trimesh.Trimesh, scale: FloatArray) -> MassProperties:
    """Mass properties of the enclosed solid at 1 kg/m^3, in the mesh's axes, its vertices times `scale` (3,) in m.

    Raises ModelError if the mesh is open, its winding is inconsistent, or it is flat or inside out.
    """
    import trimesh

    vertices = np.asarray(mesh.vertices, dtype=np.float64) * scale
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    origin, extent = (low + high) / 2.0, sizes(where, "extent", (high - low).max(), ()).item()
    # Integrated at unit size about its middle: trimesh merges vertices and tells a zero volume by absolute
    # tolerances, and a mesh far from its origin would lose its inertia to cancellation.
    unit = trimesh.Trimesh((vertices - origin) / extent, mesh.faces, process=True)
    # Triangles shrunk to an edge, as at the poles of many exported spheres, are no holes.
    unit.update_faces((unit.faces != np.roll(unit.faces, 1, axis=1)).all(axis=1))
    if not unit.is_watertight:
        raise ModelError(f"{where}: the mesh is not watertight, so it has no volume; close its holes")
    if not unit.is_winding_consistent:
        raise ModelError(f"{where}: the triangles are wound both ways; make all normals point outward")
    with np.errstate(invalid="ignore", divide="ignore"):  # trimesh divides the moments by a flat mesh's zero volume
        flat = abs(unit.volume) < FLAT
    if flat:
        raise ModelError(f"{where}: the mesh is closed but flat, so it has no volume; give it thickness")
    if unit.volume < 0.0:
        raise ModelError(
            f"{where}: the mesh is inside out (volume {unit.volume * extent**3:.3g} m^3); "
            "flip its triangles, or mirror the file itself rather than by a negative scale"
        )
    return MassProperties(unit.volume * extent**3, origin + unit.center_mass * extent, unit.moment_inertia * extent**5)
