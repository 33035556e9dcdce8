"""Bodies as fields of a scene file and back, to the last bit: placement, mass properties, shapes, materials."""

from __future__ import annotations

import os
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.contact.material import Material
from recursive_dyn.errors import ModelError
from scene import shapes
from scene.body import Body
from scene.file import formula_reader, formula_writer
from scene.file.document import as_given, fields, flag, items, number, rectangle, table, text, unusual
from scene.file.names import Names
from scene.mass_properties import INERTIA_TOLERANCE, MassProperties
from scene.number_checks import Array, is_symbolic
from scene.shapes import HeightField, Mesh, Shape

MASS = {"mass": (), "center_of_mass": (3,), "inertia": (3, 3)}


def write(body: Body, folder: Path) -> dict[str, Any]:
    """The fields of a body but for its joint; mesh files are named from ``folder``. Raises ModelError."""
    if type(body) is not Body or body.parent is None:
        raise ModelError(f"a {type(body).__name__} cannot be saved; use Body and attach it")
    result: dict[str, Any] = {"name": body.name, "parent": body.parent.name}
    if body.place.dtype == object or body.place.tobytes() != np.eye(4).tobytes():
        result["placement"] = formula_writer.write("placement", body.place)
    for name in MASS:
        result[name] = formula_writer.write(name, getattr(body.properties, name))
    if body.strength is not None:
        given = {name: x for name, x in body.strength._asdict().items() if x < np.inf}
        result["breaks_at"] = given
    if body.shapes:
        result["shapes"] = [write_shape(shape, folder) for shape in body.shapes]
    return result


@dataclass(frozen=True)
class BodyReader:
    """What reading takes: the file's folder and the names it declares."""

    folder: Path
    names: Names

    def body(self, name: str, given: dict[str, Any]) -> Body:
        """The body of such fields, not attached yet. Raises ModelError."""
        shapes = [read_shape(shape, self.folder) for shape in items("shapes", given.get("shapes", []))]
        properties = MassProperties(*(self._table(what, given[what], shape) for what, shape in MASS.items()))
        if not is_symbolic(properties.mass) and properties.mass < 0.0:
            raise ModelError(f"mass must not be negative, as {properties.mass} is; correct it")
        inertia = properties.inertia
        if inertia.dtype != object and np.abs(inertia - inertia.T).max() > INERTIA_TOLERANCE * np.abs(inertia).max():
            raise ModelError("inertia must be symmetric; give both halves")
        return Body.of_properties(name, shapes, properties)

    def strength(self, given: dict[str, Any]) -> dict[str, float]:
        """The force and the torque at which the joint breaks, those that are given. Raises ModelError."""
        sizes = fields("breaks_at", given["breaks_at"], (), ("force", "torque")) if "breaks_at" in given else {}
        return {name: number(f"{name} of breaks_at", x) for name, x in sizes.items()}

    def placement(self, given: dict[str, Any]) -> Array:
        """The joint's place in the parent (4, 4), the identity if none is given. Raises ModelError."""
        return self._table("placement", given["placement"], (4, 4)) if "placement" in given else np.eye(4)

    def _table(self, what: str, value: Any, shape: tuple[int, ...]) -> Array:
        """An array of floats, or of scalars where an entry depends on a parameter."""
        result = formula_reader.read(what, value, shape, self.names.check_in_body)
        return result if any(map(is_symbolic, result.flat)) else result.astype(float)


_SIZES: dict[type[Shape], dict[str, tuple[int, ...]]] = {
    shapes.Box: {"size": (3,)},
    shapes.Sphere: {"radius": ()},
    shapes.Cylinder: {"radius": (), "length": ()},
    shapes.Capsule: {"radius": (), "length": ()},
    shapes.Ellipsoid: {"radii": (3,)},
    shapes.Torus: {"major": (), "minor": ()},
    shapes.Plane: {"normal": (3,)},
    shapes.Mesh: {"scale": (3,)},
    shapes.HeightField: {"spacing": (2,)},
}
_KINDS = {kind.__name__: kind for kind in _SIZES}
_SHARED = ("at", "color", "collision", "visual", "material")
_MESH, _GRID = ("file", "vertices", "faces"), ("heights",)
_FIELDS = list(dict.fromkeys((*(name for sizes in _SIZES.values() for name in sizes), *_MESH, *_GRID, *_SHARED)))


def write_shape(shape: Shape, folder: Path) -> dict[str, Any]:
    """The fields of a shape; a mesh file's path is relative to ``folder``. ModelError for what no field can hold."""
    kind = type(shape)
    if kind not in _SIZES:
        raise ModelError(f"a shape of kind {kind.__name__} cannot be saved; use one of {', '.join(_KINDS)}")
    result: dict[str, Any] = {"kind": kind.__name__}
    if isinstance(shape, Mesh):
        result |= _mesh_fields(shape, folder)
    if isinstance(shape, HeightField):
        result["heights"] = shape.heights.tolist()
    for name in _SIZES[kind]:
        result[name] = np.asarray(getattr(shape, name), dtype=float).tolist()
    if shape.at.tobytes() != np.eye(4).tobytes():
        result["at"] = shape.at.tolist()
    if shape.color is not None:
        result["color"] = list(shape.color)
    if shape.material is not None:
        result["material"] = write_material(shape.material)
    return result | {name: False for name in ("collision", "visual") if not getattr(shape, name)}


def read_shape(value: Any, folder: Path) -> Shape:
    """The shape of such fields. Raises ModelError naming the kind of shape and the field."""
    name = text("kind of a shape", fields("a shape", value, ("kind",), _FIELDS)["kind"])
    if name not in _KINDS:
        raise ModelError(f"unknown kind of shape '{name}'; use one of {', '.join(_KINDS)}")
    kind, sizes = _KINDS[name], _SIZES[_KINDS[name]]
    if kind is Mesh:
        given = fields(name, value, ("kind", "scale"), (*_MESH, *_SHARED))
    else:
        given = fields(name, value, ("kind", *sizes, *(_GRID if kind is HeightField else ())), _SHARED)
    settings: dict[str, Any] = {}
    for field, shape in sizes.items():
        settings[field] = table(f"{field} of {name}", given[field], shape).astype(float)
    if "at" in given:
        settings["at"] = table(f"at of {name}", given["at"], (4, 4)).astype(float)
    if "color" in given:
        settings["color"] = table(f"color of {name}", given["color"], (4,)).astype(float)
    for field in ("collision", "visual"):
        settings[field] = flag(f"{field} of {name}", given.get(field, True))
    if "material" in given:
        settings["material"] = read_material(f"material of {name}", given["material"])
    if kind is HeightField:
        settings["heights"] = _heights(given["heights"])
    if kind is Mesh:
        settings["source"] = _mesh_source(given, folder)
    return _as_given(kind(**settings), settings)


def _as_given(shape: Shape, settings: dict[str, Any]) -> Shape:
    for name in {"at", "normal"} & settings.keys():
        kept = as_given(np.asarray(getattr(shape, name)), settings[name])
        shape._store(**{name: kept if name == "at" else tuple(kept.tolist())})
    return shape


def _heights(value: Any) -> np.ndarray:
    return rectangle("heights of HeightField", value, ((-1, -1),))


def _mesh_fields(shape: Mesh, folder: Path) -> dict[str, Any]:
    source = shape.source
    if isinstance(source, Path):
        try:
            path = os.path.relpath(source, folder)
        except ValueError:  # on another drive
            path = os.path.abspath(source)
        return {"file": Path(path).as_posix()}
    look = getattr(source, "visual", None)
    if look is not None and getattr(look, "defined", False):
        raise ModelError(
            "an embedded mesh keeps its triangles only, and this one has colours or a texture of its own; export it to"
            " a file and give the file's path, or drop them and give the shape a color"
        )
    vertices, faces = np.asarray(source.vertices, dtype=float), np.asarray(source.faces)
    _check_triangles(vertices, faces)
    return {"vertices": vertices.tolist(), "faces": faces.tolist()}


def _mesh_source(given: dict[str, Any], folder: Path) -> Any:
    embedded = "vertices" in given and "faces" in given
    if ("file" in given) == embedded or ("vertices" in given) != ("faces" in given):
        raise ModelError("Mesh: give either its file or its vertices and faces")
    if not embedded:
        return Path(os.path.normpath(folder / text("file of Mesh", given["file"])))
    vertices, corners = (rectangle(f"{name} of Mesh", given[name], ((-1, 3),)) for name in _MESH[1:])
    if not all(type(i) is int for face in given["faces"] for i in face):
        raise ModelError("Mesh: faces must be n x 3 integers")
    faces = corners.astype(int)
    _check_triangles(vertices, faces)
    import trimesh

    return trimesh.Trimesh(vertices, faces, process=False)


def _check_triangles(vertices: np.ndarray, faces: np.ndarray) -> None:
    if vertices.dtype.kind not in "if" or vertices.ndim != 2 or vertices.shape[1] != 3:
        raise ModelError(f"Mesh: vertices must be n x 3 numbers, not {vertices.dtype} of shape {vertices.shape}")
    if faces.dtype.kind not in "iu" or faces.ndim != 2 or faces.shape[1] != 3:
        raise ModelError(f"Mesh: faces must be n x 3 integers, not {faces.dtype} of shape {faces.shape}")
    if not np.isfinite(vertices).all():
        raise ModelError("Mesh: a vertex is not finite; correct it")
    if len(faces) == 0 or faces.min() < 0 or faces.max() >= len(vertices):
        raise ModelError(f"Mesh: needs triangles, each of three of its {len(vertices)} vertices, counted from 0")


MATERIAL = {f.name: f.default for f in dataclass_fields(Material)}


def write_material(material: Material) -> dict[str, float]:
    """The fields of a material; what is as a material has it anyway is left out. ModelError for a kind of its own."""
    if type(material) is not Material:
        raise ModelError(f"a material of kind {type(material).__name__} cannot be saved; use rd.Material")
    given = {name: getattr(material, name) for name in MATERIAL}
    return unusual({name: float(x) for name, x in given.items() if x is not None}, MATERIAL)


def read_material(what: str, value: Any) -> Material:
    """The material of such fields. Raises ModelError."""
    given = fields(what, value, (), tuple(MATERIAL))
    try:
        return Material(**{name: number(name, x) for name, x in given.items()})
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
