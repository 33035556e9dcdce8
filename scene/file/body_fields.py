"""Bodies as fields of a scene file and back: placement, mass properties, shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from scene.body import Body
from scene.file import formula_reader, formula_writer, shape_fields
from scene.file.document import items
from scene.file.names import Names
from scene.mass_properties import INERTIA_TOLERANCE, MassProperties
from scene.number_checks import Array, is_symbolic

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
    if body.shapes:
        result["shapes"] = [shape_fields.write(shape, folder) for shape in body.shapes]
    return result


@dataclass(frozen=True)
class BodyReader:
    """What reading takes: the file's folder and the names it declares."""

    folder: Path
    names: Names

    def body(self, name: str, given: dict[str, Any]) -> Body:
        """The body of such fields, not attached yet. Raises ModelError."""
        shapes = [shape_fields.read(shape, self.folder) for shape in items("shapes", given.get("shapes", []))]
        properties = MassProperties(*(self._table(what, given[what], shape) for what, shape in MASS.items()))
        if not is_symbolic(properties.mass) and properties.mass < 0.0:
            raise ModelError(f"mass must not be negative, as {properties.mass} is; correct it")
        inertia = properties.inertia
        if inertia.dtype != object and np.abs(inertia - inertia.T).max() > INERTIA_TOLERANCE * np.abs(inertia).max():
            raise ModelError("inertia must be symmetric; give both halves")
        return Body.of_properties(name, shapes, properties)

    def placement(self, given: dict[str, Any]) -> Array:
        """The joint's place in the parent (4, 4), the identity if none is given. Raises ModelError."""
        return self._table("placement", given["placement"], (4, 4)) if "placement" in given else np.eye(4)

    def _table(self, what: str, value: Any, shape: tuple[int, ...]) -> Array:
        """An array of floats, or of scalars where an entry depends on a parameter."""
        result = formula_reader.read(what, value, shape, self.names.check_in_body)
        return result if any(map(is_symbolic, result.flat)) else result.astype(float)
