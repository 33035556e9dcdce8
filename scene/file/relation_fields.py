"""What is said of several bodies as fields of a scene file and back: constraints, and pairs that touch."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from scene.constraint_group import DROP, REFUSE, ConstraintGroup
from scene.content import SceneContent
from scene.file import formula_reader, formula_writer, shape_fields
from scene.file.document import brief, fields, flag, items, text
from scene.file.names import Names
from scene.pairs import Pair


def write_constraint(constraint: ConstraintGroup) -> dict[str, Any]:
    """The fields of a constraint. ModelError for what no field can hold."""
    result: dict[str, Any] = {"name": constraint.name}
    if constraint.redundant != REFUSE:
        result["redundant"] = constraint.redundant
    return result | formula_writer.beside("rows", "a row", constraint.rows)


def read_constraint(name: str, value: dict[str, Any], names: Names) -> ConstraintGroup:
    """The constraint of such fields. ModelError names the line or row."""
    given = fields("it", value, ("name", "rows"), ("redundant", *formula_reader.FIELDS))
    redundant = text("redundant", given.get("redundant", REFUSE))
    if redundant not in (REFUSE, DROP):
        raise ModelError(f"redundant is '{REFUSE}' or '{DROP}', not {brief(redundant)}")
    reader = formula_reader.beside(given, names.check_in_constraint, coordinates=0)
    rows = [reader.entry(f"rows {i + 1}", row) for i, row in enumerate(items("rows", given["rows"]))]
    if not rows:
        raise ModelError("it has no rows; write one at least, or leave the constraint out")
    return ConstraintGroup(name, tuple(rows), redundant)


def write_pair(names: frozenset[str], pair: Pair) -> dict[str, Any]:
    """The fields of a pair of bodies. ModelError for what no field can hold."""
    result: dict[str, Any] = {"bodies": sorted(names)}
    if not pair.collide:
        result["collide"] = False
    if pair.material is not None:
        result["material"] = shape_fields.write_material(pair.material)
    return result


def read_pair(value: Any, scene: SceneContent) -> None:
    """Say of two bodies of the scene what such fields do. Raises ModelError."""
    given = fields("it", value, ("bodies",), ("collide", "material"))
    names = [text("each of its bodies", name) for name in items("bodies", given["bodies"])]
    if len(names) != 2:
        raise ModelError(f"bodies must be two names, not {brief(names)}")
    if frozenset(names) in scene.pairs:
        raise ModelError(f"'{names[0]}' and '{names[1]}' are a pair already; keep one")
    material = shape_fields.read_material("its material", given["material"]) if "material" in given else None
    scene.pair(names[0], names[1], flag("collide", given.get("collide", True)), material)
