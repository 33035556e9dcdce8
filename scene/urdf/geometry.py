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
from scene.urdf.elements import UrdfItem, UrdfLink, UrdfRobot
from scene.urdf.xml_text import blame

WHITE = (1.0, 1.0, 1.0, 1.0)
PACKAGES = ("package", "model")  # schemes whose first folder is a package's name


class Geometry:
    """The shapes of a robot's links.

    path: the URDF file; robot: what it holds; surfaces: materials of links by name; package_paths: folders that
    hold packages, searched before the file's own folder and its parents; skip_missing_meshes: leave out a mesh whose
    file is not found, else SceneFileError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        robot: UrdfRobot,
        surfaces: Mapping[str, Material],
        package_paths: Sequence[str | Path],
        skip_missing_meshes: bool,
    ) -> None:
        folder = Path(path).absolute().parent
        self.path = path
        self.surfaces = surfaces
        self.roots = [*map(Path, package_paths), folder, *folder.parents]
        self.skip_missing_meshes = skip_missing_meshes
        self.colors = robot.colors

    def shapes(self, link: UrdfLink) -> list[Shape]:
        """Shapes of a link in its frame, what is drawn first; SceneFileError names the link."""
        result: list[Shape | None] = []
        for item in link.visuals:
            color = item.rgba if item.rgba is not None else self.colors.get(item.material)
            if item.kind == "mesh" and color == WHITE:
                color = None  # it is multiplied with what the mesh's own file shows
            result.append(self._shape(link.name, item, {"visual": True, "collision": False, "color": color}))
        for item in link.collisions:
            # A link without visuals shows what it collides with, as PyBullet's own reader has it.
            result.append(self._shape(link.name, item, {"visual": not link.visuals, "collision": True}))
        return [shape for shape in result if shape is not None]

    def _shape(self, link: str, item: UrdfItem, settings: dict[str, Any]) -> Shape | None:
        settings = {"at": item.origin, "material": self.surfaces.get(link), **settings}
        if not settings["collision"] and _is_empty(item):
            return None
        sizes = item.sizes
        with blame(self.path, f"link '{link}'"):
            match item.kind:
                case "box":
                    return shapes.Box(sizes["size"], **settings)
                case "sphere":
                    return shapes.Sphere(*sizes["radius"], **settings)
                case "cylinder":
                    return shapes.Cylinder(*sizes["radius"], *sizes["length"], **settings)
                case "capsule":
                    return shapes.Capsule(*sizes["radius"], *sizes["length"], **settings)
                case "plane":
                    return shapes.Plane(sizes.get("normal", (0.0, 0.0, 1.0)), **settings)
            source, scale = self._find(link, item.filename), sizes.get("scale", (1.0,))
            return None if source is None else shapes.Mesh(source, scale if len(scale) > 1 else scale[0], **settings)

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


def _is_empty(item: UrdfItem) -> bool:
    """Whether a primitive has no size: files in use hide a link by drawing it so."""
    match item.kind:
        case "box":
            return not any(item.sizes["size"])
        case "sphere" | "cylinder":
            return not all(value for values in item.sizes.values() for value in values)
    return False
