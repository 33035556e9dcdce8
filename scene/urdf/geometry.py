"""Visual and collision geometry of a URDF file as shapes: kinds, poses, colours and mesh files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from recursive_dyn.contact.material import Material
from recursive_dyn.errors import SceneFileError
from scene import shapes
from scene.shapes import Shape
from scene.urdf.xml_text import blame, foreign_shape

PACKAGES = ("package", "model")  # schemes whose first folder is a package's name


class Geometry:
    """The shapes of a robot's links.

    path: the URDF file; robot: its yourdfpy.Robot; surfaces: materials of links by name; package_paths: folders that
    hold packages, searched before the file's own folder and its parents; skip_missing_meshes: leave out a mesh whose
    file is not found, else SceneFileError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        robot: Any,
        surfaces: Mapping[str, Material],
        package_paths: Sequence[str | Path],
        skip_missing_meshes: bool,
    ) -> None:
        folder = Path(path).absolute().parent
        self.path = path
        self.surfaces = surfaces
        self.roots = [*map(Path, package_paths), folder, *folder.parents]
        self.skip_missing_meshes = skip_missing_meshes
        # Files also use by name a material that an earlier link defined; the global ones count first.
        materials = [*robot.materials, *(v.material for link in robot.links for v in link.visuals)]
        self.colors: dict[str, Any] = {}
        for material in materials:
            if material is not None and material.name and material.color is not None:
                self.colors.setdefault(material.name, material.color.rgba)

    def shapes(self, link: Any) -> list[Shape]:
        """Shapes of a yourdfpy.Link in the link's frame, what is drawn first; SceneFileError names the link."""
        result: list[Shape | None] = []
        for item in link.visuals:
            flags = {"visual": True, "collision": False, "color": self._color(item.material)}
            result.append(self._shape(link.name, item, flags))
        for item in link.collisions:
            # A link without visuals shows what it collides with, as PyBullet's own reader has it.
            result.append(self._shape(link.name, item, {"visual": not link.visuals, "collision": True}))
        return [shape for shape in result if shape is not None]

    def _color(self, material: Any) -> Any:
        if material is None:
            return None
        return material.color.rgba if material.color is not None else self.colors.get(material.name)

    def _shape(self, link: str, item: Any, settings: dict[str, Any]) -> Shape | None:
        geometry, settings = item.geometry, {"at": item.origin, "material": self.surfaces.get(link), **settings}
        if not settings["collision"] and _is_empty(geometry):
            return None
        with blame(self.path, f"link '{link}'"):
            if geometry.box is not None:
                return shapes.Box(geometry.box.size, **settings)
            if geometry.sphere is not None:
                return shapes.Sphere(geometry.sphere.radius, **settings)
            if geometry.cylinder is not None:
                return shapes.Cylinder(geometry.cylinder.radius, geometry.cylinder.length, **settings)
            foreign = foreign_shape(geometry.mesh.filename)
            if foreign is not None:
                kind, numbers = foreign[0], [float(x) for x in foreign[1].split()]
                if kind == "plane":
                    return shapes.Plane(numbers or (0.0, 0.0, 1.0), **settings)
                return shapes.Capsule(*numbers, **settings)
            source = self._find(link, geometry.mesh.filename)
            scale = 1.0 if geometry.mesh.scale is None else geometry.mesh.scale
            return None if source is None else shapes.Mesh(source, scale, **settings)

    def _find(self, link: str, filename: str) -> Path | None:
        """The mesh file that a relative path, an absolute one, package://, model:// or file:// stands for."""
        scheme, separator, rest = filename.partition("://")
        if not separator:
            scheme, rest = "", filename
        if scheme not in ("", "file", *PACKAGES):
            raise SceneFileError(
                f"{self.path}: link '{link}': mesh '{filename}' is not a file; save it and give its path"
            )
        place = Path(unquote(rest) if scheme == "file" else rest.replace("\\", "/"))
        candidates = [root / place for root in self.roots]
        if scheme in PACKAGES:  # the folder of a package need not bear its name
            candidates += [root / Path(*place.parts[1:]) for root in self.roots]
        for candidate in candidates:
            if os.path.isfile(candidate):
                return candidate
        if self.skip_missing_meshes:
            return None
        raise SceneFileError(
            f"{self.path}: link '{link}': mesh '{filename}' is not found beside the file, above it or in package_paths"
            f" ({candidates[0]}); put it there, name its folder in package_paths or pass skip_missing_meshes=True"
        )


def _is_empty(geometry: Any) -> bool:
    """Whether a primitive has no size: files in use hide a link by drawing it so."""
    if geometry.sphere is not None:
        return bool(geometry.sphere.radius == 0.0)
    if geometry.cylinder is not None:
        return bool(geometry.cylinder.radius == 0.0 or geometry.cylinder.length == 0.0)
    return geometry.box is not None and not geometry.box.size.any()
