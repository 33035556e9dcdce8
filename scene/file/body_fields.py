"""Bodies as fields of a scene file and back: placement, mass properties, shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from scene.body import Body
from scene.file import parameter_text, shape_fields
from scene.file.document import items, number, table
from scene.file.names import Names
from scene.mass_properties import INERTIA_TOLERANCE, MassProperties
from scene.number_checks import Array, is_symbolic

MASS = {"mass": (), "center_of_mass": (3,), "inertia": (3, 3)}


def write(body: Body, folder: Path) -> dict[str, Any]:
    """The fields of a body but for its joint; mesh files are named from ``folder``. Raises ModelError."""
    if type(body) is not Body or body.parent is None:
        raise ModelError(f"a {type(body).__name__} cannot be saved; use Body and attach it")
    result: dict[str, Any] = {"name": body.name, "parent": body.parent.name}
    if body.placement.dtype == object or body.placement.tobytes() != np.eye(4).tobytes():
        result["placement"] = _written("placement", body.placement)
    for name in MASS:
        result[name] = _written(name, getattr(body.properties, name))
    if body.shapes:
        result["shapes"] = [shape_fields.write(shape, folder) for shape in body.shapes]
    return result


def _written(what: str, value: Any) -> Any:
    """Nested lists of finite numbers and texts of expressions."""
    source = np.asarray(value, dtype=object)
    result = np.empty(source.shape, dtype=object)
    for i, x in np.ndenumerate(source):
        entry = parameter_text.write(x)
        result[i] = entry if isinstance(entry, str) else number(what, entry)
    return result.tolist()


@dataclass(frozen=True)
class Reader:
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
        """An array of floats, or of objects where an entry depends on a parameter."""
        result = table(what, value, shape, self._entry)
        return result if any(map(is_symbolic, result.flat)) else result.astype(float)

    def _entry(self, what: str, value: Any) -> Any:
        if not isinstance(value, str):
            return number(what, value)
        try:
            return parameter_text.read(value, self.names.check_in_body)
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None
