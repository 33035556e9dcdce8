"""Shapes a body is made of: what collides, what is drawn, and where a uniform body's mass is."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recursive_dyn.errors import ModelError
from scene import triangles
from scene.heightfield import HeightField
from scene.mass_properties import MassProperties
from scene.number_checks import numbers
from scene.shape import Shape, Vector

if TYPE_CHECKING:
    import trimesh

__all__ = [
    "Box",
    "Capsule",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Mesh",
    "Plane",
    "Shape",
    "Sphere",
    "Torus",
    "to_trimesh",
]


def _centred(volume: float, x: float, y: float, z: float) -> MassProperties:
    """A solid of unit density, symmetric about its origin, with moments x, y, z (m^2) per kilogram."""
    return MassProperties(volume, np.zeros(3), np.diag((x, y, z)) * volume)


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box; `size` is its three full extents in m."""

    measures: ClassVar = ("size",)
    size: Vector

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes((3,), "size")

    @property
    def volume(self) -> float:
        x, y, z = self.size
        return float(x * y * z)

    def _solid(self) -> MassProperties:
        x, y, z = self.size
        return _centred(self.volume, (y * y + z * z) / 12.0, (z * z + x * x) / 12.0, (x * x + y * y) / 12.0)


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball of `radius` m."""

    measures: ClassVar = ("radius",)
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes((), "radius")

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * self.radius**3

    def _solid(self) -> MassProperties:
        moment = 0.4 * self.radius**2
        return _centred(self.volume, moment, moment, moment)


@dataclass(frozen=True, eq=False)
class _Round(Shape):
    """A shape about the z axis with a `radius` and a `length` in m."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes((), "radius", "length")


@dataclass(frozen=True, eq=False)
class Cylinder(_Round):
    """A solid cylinder about z, centred at its origin: `radius` and `length` in m."""

    measures: ClassVar = ("radius", "length")

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length

    def _solid(self) -> MassProperties:
        across = self.radius**2 / 4.0 + self.length**2 / 12.0
        return _centred(self.volume, across, across, self.radius**2 / 2.0)


@dataclass(frozen=True, eq=False)
class Capsule(_Round):
    """A cylinder about z with a half ball on each end; `length` is the cylindrical part, `radius` of all, in m."""

    measures: ClassVar = ("radius", "length")

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    def _solid(self) -> MassProperties:
        r, length = self.radius, self.length
        barrel, caps = math.pi * r**2 * length, 4.0 / 3.0 * math.pi * r**3
        along = barrel * r**2 / 2.0 + caps * 0.4 * r**2
        # A half ball's centre is 3/8 r beyond the cylinder's end, hence the term linear in r.
        across = barrel * (r**2 / 4.0 + length**2 / 12.0)
        across += caps * (0.4 * r**2 + length**2 / 4.0 + 0.375 * r * length)
        return MassProperties(self.volume, np.zeros(3), np.diag((across, across, along)))


@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """A solid ellipsoid; `radii` are its semi-axes along x, y, z in m."""

    measures: ClassVar = ("radii",)
    radii: Vector

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes((3,), "radii")

    @property
    def volume(self) -> float:
        a, b, c = self.radii
        return float(4.0 / 3.0 * math.pi * a * b * c)

    def _solid(self) -> MassProperties:
        a, b, c = self.radii
        return _centred(self.volume, (b * b + c * c) / 5.0, (c * c + a * a) / 5.0, (a * a + b * b) / 5.0)


@dataclass(frozen=True, eq=False)
class Torus(Shape):
    """A solid ring about z: a tube of radius `minor` around a circle of radius `major` > `minor`, in m."""

    measures: ClassVar = ("major", "minor")
    major: float
    minor: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes((), "major", "minor")
        if self.minor >= self.major:
            raise ModelError(f"{self.label}: minor {self.minor} must be less than major {self.major}, to leave a hole")

    @property
    def volume(self) -> float:
        return 2.0 * math.pi**2 * self.major * self.minor**2

    def _solid(self) -> MassProperties:
        across = self.major**2 / 2.0 + self.minor**2 * 0.625
        return _centred(self.volume, across, across, self.major**2 + self.minor**2 * 0.75)


@dataclass(frozen=True, eq=False)
class Plane(Shape):
    """An infinite plane through its origin, static and without mass; `normal` is stored as a unit vector."""

    normal: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = numbers(self.label, "normal", self.normal, (3,))
        largest = np.abs(normal).max()
        if largest == 0.0:
            raise ModelError(f"{self.label}: normal must not be zero; it points out of the ground")
        normal = normal / largest  # so that its square neither overflows nor vanishes
        self._store(normal=tuple((normal / np.linalg.norm(normal)).tolist()))

    @property
    def volume(self) -> float:
        return 0.0

    def _solid(self) -> MassProperties:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """A triangle mesh: `source` is a file's path or a trimesh.Trimesh, which must not be changed afterwards.

    `scale` turns the source's units into metres: a number, or one per axis; three are stored. A file must exist; it
    is read when first needed. Only mass properties ask for a closed mesh with outward winding: an open one may be
    shown, and a negative scale then mirrors it. Raises ModelError naming the file.
    """

    source: Any
    scale: float | Vector = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.source, (str, Path)):
            path = Path(self.source)
            self._store(source=path)
            if not os.path.isfile(path):  # False, too, for a name that no file system takes
                raise ModelError(f"{self.label}: there is no such file; check the path")
        elif not (hasattr(self.source, "vertices") and hasattr(self.source, "faces")):
            raise ModelError(f"Mesh: source must be a file's path or a trimesh.Trimesh, not {self.source!r}")
        super().__post_init__()
        scale = numbers(self.label, "scale", [self.scale] * 3 if np.isscalar(self.scale) else self.scale, (3,))
        if (scale == 0.0).any():
            raise ModelError(f"{self.label}: scale must not be zero")
        self._store(scale=tuple(scale.tolist()))

    @property
    def label(self) -> str:
        if not isinstance(self.source, Path):
            return "Mesh"
        name = str(self.source)
        return f"Mesh {name if len(name) <= 200 else '...' + name[-200:]!r}"

    @cached_property
    def geometry(self) -> trimesh.Trimesh:
        """The mesh as in its source, not scaled. Raises ModelError if it cannot be read or is empty."""
        mesh = triangles.read(self.label, self.source) if isinstance(self.source, Path) else self.source
        if len(mesh.faces) == 0 or not np.isfinite(mesh.vertices).all():
            raise ModelError(f"{self.label}: the mesh must have triangles and finite vertices")
        if mesh.faces.min() < 0 or mesh.faces.max() >= len(mesh.vertices):
            raise ModelError(f"{self.label}: a triangle has a corner that is none of the {len(mesh.vertices)} vertices")
        return mesh

    @property
    def volume(self) -> float:
        return float(self._unit_solid.mass)

    def _solid(self) -> MassProperties:
        return self._unit_solid

    @cached_property
    def _unit_solid(self) -> MassProperties:
        return triangles.solid(self.label, self.geometry, np.asarray(self.scale))


def to_trimesh(shape: Shape, sections: int = 64) -> trimesh.Trimesh:
    """Triangles of a shape in its OWN frame (`at` is not applied), in m, wound outward; a new mesh each time.

    `sections` is the number of edges around a full turn; a Mesh keeps its triangles, and a HeightField gives the open
    surface that it is. Raises ModelError for a Plane, which has no end.
    """
    import trimesh
    from trimesh import creation

    if sections < 3:
        raise ModelError(f"{shape.label}: a tessellation needs at least 3 sections, not {sections}")
    subdivisions = max(1, round(math.log2(sections / 5)))  # five edges surround a vertex of the icosahedron
    match shape:
        case Box():
            return creation.box(extents=shape.size)
        case Sphere():
            return creation.icosphere(subdivisions=subdivisions, radius=shape.radius)
        case Cylinder():
            return creation.cylinder(radius=shape.radius, height=shape.length, sections=sections)
        case Capsule():
            half = max(2, sections // 2)
            return creation.capsule(radius=shape.radius, height=shape.length, count=(sections, half))
        case Ellipsoid():
            mesh = creation.icosphere(subdivisions=subdivisions)
            mesh.apply_scale(shape.radii)
            return mesh
        case Torus():
            tube = max(3, sections // 2)
            return creation.torus(shape.major, shape.minor, major_sections=sections, minor_sections=tube)
        case Mesh():
            mesh = shape.geometry.copy()
            mesh.apply_transform(np.diag((*np.ravel(shape.scale), 1.0)))  # turns the winding if it mirrors
            return mesh
        case HeightField():
            return trimesh.Trimesh(*shape.triangles(), process=False)
    raise ModelError(f"{shape.label}: has no tessellation")
