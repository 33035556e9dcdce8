"""What is said of pairs of bodies as fields of a scene file and back."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from scene.content import SceneContent
from scene.file import material_fields
from scene.file.document import brief, fields, flag, items, text
from scene.pairs import Pair


def write(names: frozenset[str], pair: Pair) -> dict[str, Any]:
    """The fields of a pair of bodies. ModelError for what no field can hold."""
    result: dict[str, Any] = {"bodies": sorted(names)}
    if not pair.collide:
        result["collide"] = False
    if pair.material is not None:
        result["material"] = material_fields.write(pair.material)
    return result


def read(value: Any, scene: SceneContent) -> None:
    """Say of two bodies of the scene what such fields do. Raises ModelError."""
    given = fields("it", value, ("bodies",), ("collide", "material"))
    names = [text("each of its bodies", name) for name in items("bodies", given["bodies"])]
    if len(names) != 2:
        raise ModelError(f"bodies must be two names, not {brief(names)}")
    if frozenset(names) in scene.pairs:
        raise ModelError(f"'{names[0]}' and '{names[1]}' are a pair already; keep one")
    material = material_fields.read("its material", given["material"]) if "material" in given else None
    scene.pair(names[0], names[1], flag("collide", given.get("collide", True)), material)
