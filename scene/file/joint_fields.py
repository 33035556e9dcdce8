"""Joints as fields of a scene file and back: how they were made, or lines and factors of their transform.

A joint of a constructor is {"revolute": {"axis": "x"}}, its coordinates beside it where something was said of them;
"compose", "charts", "follow" and "drive" are of other joints. A joint read back is the same program down to its
content hash.
"""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from scene.file import constructors, coordinate_fields, factor_fields, formula_reader, formula_writer
from scene.file.document import fields, items, number, text
from scene.file.names import Names
from scene.joints.charts import charts
from scene.joints.parametric_joint import Joint, Origin, composed

_ATTRIBUTES = ("program", "coordinates", "origin")
_MANY = {"compose": "parts", "charts": "charts"}  # constructor of joints: its argument
_MAX_DEPTH = 20  # of joints made of joints


def write(joint: Joint | None) -> dict[str, Any]:
    """The fields of a joint. ModelError for what no field can hold."""
    if type(joint) is not Joint:
        raise ModelError(f"a {type(joint).__name__} cannot be saved; use scene.joints.Joint")
    for name in vars(joint):  # nothing is left out without a word
        if name not in _ATTRIBUTES:
            raise ModelError(
                f"its attribute '{name}' has no field in a file, which holds {', '.join(_ATTRIBUTES)}; remove it"
            )
    origin = joint.origin
    if origin is None:
        result = factor_fields.write(joint.program)
        usual = "none" if joint.coordinates else ""
    else:
        result = _write_origin(origin)
        usual = repr(origin.coordinates([c.name for c in joint.coordinates]))  # of which -0.0 and 0.0 are two
    if joint.coordinates and repr(joint.coordinates) != usual:
        result["coordinates"] = [coordinate_fields.write(c) for c in joint.coordinates]
    return result


def _write_origin(origin: Origin) -> dict[str, Any]:
    name, arguments = origin.constructor, origin.arguments
    if name in _MANY:
        return {name: [write(joint) for joint in arguments[_MANY[name]]]}
    if name == "follow":
        return {name: {**arguments, "joint": write(arguments["joint"])}}
    if name == "drive":
        return {name: {"joint": write(arguments["joint"]), "by": formula_writer.write("drive", arguments["by"])}}
    return constructors.write(origin)


def read(value: Any, names: Names, depth: int = 0) -> Joint:
    """The joint of such fields, after bodies of these names. ModelError names the line, factor or argument."""
    if depth > _MAX_DEPTH:
        raise ModelError(f"it is made of joints more than {_MAX_DEPTH} deep; compose them in one list")
    if isinstance(value, dict) and "factors" in value:
        return _read_factors(value, names)
    made_by = [*constructors.ARGUMENTS, *_MANY, "follow", "drive"]
    found = [name for name in value if name in made_by] if isinstance(value, dict) else []
    if len(found) != 1:
        raise ModelError(f"it must have one field of {', '.join(made_by)} or factors, such as {{'ball': {{}}}}")
    (name,) = found
    given = fields("it", value, (name,), ("coordinates",))
    joint = _read_made(name, given[name], names, depth + 1)
    if "coordinates" not in given:
        return joint
    listed = [coordinate_fields.read(c) for c in items("coordinates", given["coordinates"])]
    if [c.name for c in listed] != [c.name for c in joint.coordinates]:
        own = ", ".join(c.name for c in joint.coordinates)
        raise ModelError(f"its coordinates are {own or 'none'}; describe those, or leave 'coordinates' out")
    return joint.adjusted(**coordinate_fields.as_settings(listed))


def _read_made(name: str, value: Any, names: Names, depth: int) -> Joint:
    if name in constructors.ARGUMENTS:
        return constructors.read(name, value, names)
    if name == "follow":
        return _following(fields(name, value, ("joint", "leader", "multiplier", "offset")), names, depth)
    if name == "drive":
        given = fields(name, value, ("joint", "by"))
        joint = read(given["joint"], names, depth)
        by = formula_reader.read("drive", given["by"], (len(joint.coordinates),), names.check_in_joint)
        return joint.driven(*by)
    parts = []
    for i, part in enumerate(items(name, value)):
        try:
            parts.append(read(part, names, depth))
        except ModelError as error:
            raise ModelError(f"part {i + 1} of {name}: {error}") from None
    if name == "charts":
        return charts(*parts)
    if any(part.coupling or part.drive or part.charts for part in parts) or not parts:
        raise ModelError("compose is of joints with one chart each that neither follow nor are driven; correct it")
    return composed(*parts)


def _following(given: dict[str, Any], names: Names, depth: int) -> Joint:
    leader = text("leader", given["leader"])
    if leader not in names.bodies:
        raise ModelError(f"it follows '{leader}', which is no body before it; correct 'leader' or the order of bodies")
    numbers = [number(name, given[name]) for name in ("multiplier", "offset")]
    return read(given["joint"], names, depth).follow(leader, *numbers)


def _read_factors(value: dict[str, Any], names: Names) -> Joint:
    given = fields("it", value, ("factors",), (*formula_reader.FIELDS, "coordinates"))
    program = factor_fields.read(given, names.check_in_joint)
    listed = [coordinate_fields.read(c) for c in items("coordinates", given.get("coordinates", []))]
    if len(listed) != program.nv:
        raise ModelError(f"its factors move in {program.nv} coordinates, and {len(listed)} are described; add all")
    return Joint.made(None, program, [c.name for c in listed], coordinate_fields.as_settings(listed))
