"""Constraints as fields of a scene file and back: the rows that are zero, and what becomes of redundant ones."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from scene.constraint_group import DROP, REFUSE, ConstraintGroup
from scene.file import graph_fields
from scene.file.document import brief, fields, text
from scene.file.names import Names


def write(constraint: ConstraintGroup) -> dict[str, Any]:
    """The fields of a constraint. ModelError for what no field can hold."""
    result: dict[str, Any] = {"name": constraint.name}
    if constraint.redundant != REFUSE:
        result["redundant"] = constraint.redundant
    return result | graph_fields.write("rows", constraint.rows)


def read(name: str, value: dict[str, Any], names: Names) -> ConstraintGroup:
    """The constraint of such fields. ModelError names the line or row."""
    given = fields("it", value, ("name", "rows"), ("redundant", *graph_fields.FIELDS))
    redundant = text("redundant", given.get("redundant", REFUSE))
    if redundant not in (REFUSE, DROP):
        raise ModelError(f"redundant is '{REFUSE}' or '{DROP}', not {brief(redundant)}")
    rows = graph_fields.read("rows", given, names.check_in_constraint)
    if not rows:
        raise ModelError("it has no rows; write one at least, or leave the constraint out")
    return ConstraintGroup(name, rows, redundant)
