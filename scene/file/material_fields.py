"""Materials as fields of a scene file and back."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from typing import Any

from recursive_dyn.contact.material import Material
from recursive_dyn.errors import ModelError
from scene.file.document import fields, number

SETTINGS = {f.name: f.default for f in dataclass_fields(Material)}


def write(material: Material) -> dict[str, float]:
    """The fields of a material; what is as a material has it anyway is left out. ModelError for a kind of its own."""
    if type(material) is not Material:
        raise ModelError(f"a material of kind {type(material).__name__} cannot be saved; use rd.Material")
    given = {name: getattr(material, name) for name in SETTINGS}
    numbers = {name: float(x) for name, x in given.items() if x is not None}
    return {name: x for name, x in numbers.items() if repr(x) != repr(SETTINGS[name])}  # -0.0 is another number


def read(what: str, value: Any) -> Material:
    """The material of such fields. Raises ModelError."""
    given = fields(what, value, (), tuple(SETTINGS))
    try:
        return Material(**{name: number(name, x) for name, x in given.items()})
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
