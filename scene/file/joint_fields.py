"""Joints as fields of a scene file and back: lines and factors of their transform, coordinates, what drives them."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.spatial.spaces import Space
from scene.file import contact_fields, coordinate_fields, drawing_fields, graph_fields, joint_text
from scene.file.document import brief, fields, items, number, table, text
from scene.file.names import Names
from scene.joints.base import MAX_COORDINATES, Joint
from scene.joints.charts import charts

_ONE = ("program", "coordinates", "coupling", "drive", "contact", "path", "patch")  # attributes that are written
_SEVERAL = ("program", "coordinates", "charts")  # the first two follow from the charts
_OPTIONAL = (*graph_fields.FIELDS, "coordinates", "coupling", "drive", "contact", "path", "patch")


def write(joint: Joint | None) -> dict[str, Any]:
    """The fields of a joint. ModelError for what no field can hold."""
    if type(joint) is not Joint:
        raise ModelError(f"a {type(joint).__name__} cannot be saved; use scene.joints.Joint")
    _refuse_unknown(joint, _SEVERAL if joint.charts else _ONE)
    return {"charts": [write(chart) for chart in joint.charts]} if joint.charts else _write_one(joint)


def read(value: Any, names: Names) -> Joint:
    """The joint of such fields, after bodies of these names. ModelError names the line, factor or coordinate."""
    if not (isinstance(value, dict) and "charts" in value):
        return _read_one(value, names)
    found = []
    for i, chart in enumerate(items("charts", fields("it", value, ("charts",))["charts"])):
        try:
            found.append(_read_one(chart, names))
        except ModelError as error:
            raise ModelError(f"chart {i + 1}: {error}") from None
    return charts(*found)


def _refuse_unknown(joint: Joint, known: tuple[str, ...]) -> None:
    """Nothing is left out without a word: not what was hung on this joint, not what a newer Joint may hold."""
    for name, value in vars(joint).items():
        if name not in known and value is not getattr(Joint, name, None):
            raise ModelError(
                f"its attribute '{name}' has no field in a file, which holds {', '.join(known)}; remove it"
            )


def _write_one(joint: Joint) -> dict[str, Any]:
    written, transforms = joint_text.write(joint.program)
    result: dict[str, Any] = graph_fields.beside(written)
    result["factors"] = []
    for factor, transform in zip(joint.program.factors, transforms, strict=True):
        kind = joint_text.kind_of(factor.space)
        count = {"coordinates": factor.nv} if kind == joint_text.PLAIN else {}
        result["factors"].append({"kind": kind, **count, "transform": transform.tolist()})
    if joint.coordinates:
        result["coordinates"] = [coordinate_fields.write(c) for c in joint.coordinates]
    if joint.coupling is not None:
        c = joint.coupling
        result["coupling"] = {"leader": c.leader, "multiplier": c.multiplier, "offset": c.offset}
    if joint.drive is not None:
        result["drive"] = graph_fields.write("values", joint.drive)
    if joint.contact is not None:
        result["contact"] = contact_fields.write(joint, joint.contact)
    return result | drawing_fields.write(joint)


def _read_one(value: Any, names: Names) -> Joint:
    given = fields("it", value, ("factors",), _OPTIONAL)
    reader = graph_fields.reader(given, names.check_in_joint)
    factors = [_factor(i + 1, factor) for i, factor in enumerate(items("factors", given["factors"]))]
    program = joint_text.read(reader, factors)
    coordinates = [coordinate_fields.read(c) for c in items("coordinates", given.get("coordinates", []))]
    if len(coordinates) != program.nv:
        raise ModelError(f"its factors move in {program.nv} coordinates, and {len(coordinates)} are described; add all")
    settings = coordinate_fields.as_settings(coordinates)
    joint = Joint.from_program(program, [c.name for c in coordinates], settings)
    if "coupling" in given and "drive" in given:
        raise ModelError("it has a coupling and a drive; keep the one that moves it")
    if "coupling" in given:
        joint = _following(joint, given["coupling"], names)
    if "drive" in given:
        joint = _driven(joint, given["drive"], names)
    if "contact" in given:
        joint.contact = contact_fields.read(given["contact"], joint, names)
    drawing_fields.read(given, joint)
    return joint


def _following(joint: Joint, value: Any, names: Names) -> Joint:
    coupling = fields("coupling", value, ("leader", "multiplier", "offset"))
    leader = text("leader", coupling["leader"])
    if leader not in names.bodies:
        raise ModelError(f"it follows '{leader}', which is no body before it; correct 'leader' or the order of bodies")
    return joint.follow(leader, *(number(name, coupling[name]) for name in ("multiplier", "offset")))


def _driven(joint: Joint, value: Any, names: Names) -> Joint:
    given = fields("drive", value, ("values",), graph_fields.FIELDS)
    try:
        values = graph_fields.read("values", given, names.check_in_joint)
    except ModelError as error:
        raise ModelError(f"drive: {error}") from None
    if len(values) != len(joint.coordinates):
        raise ModelError(
            f"drive: it needs one value for each of {len(joint.coordinates)} coordinates, not {len(values)}"
        )
    if any(not f.space.flat for f in joint.program.factors):
        raise ModelError("drive: a ball or free factor has no coordinates that can be driven; make it plain")
    joint.drive = values
    return joint.adjusted()  # refuses springs and limits of driven coordinates


def _factor(number_: int, value: Any) -> tuple[Space, list[Any]]:
    what = f"factor {number_}"
    given = fields(what, value, ("kind", "transform"), ("coordinates",))
    kind, count = given["kind"], given.get("coordinates", 0)
    if kind not in joint_text.KINDS:
        raise ModelError(f"{what} has the unknown kind {brief(kind)}; use {', '.join(joint_text.KINDS)}")
    if type(count) is not int or not (1 <= count <= MAX_COORDINATES if kind == joint_text.PLAIN else count == 0):
        wanted = f"from 1 to {MAX_COORDINATES}" if kind == joint_text.PLAIN else "left out"
        raise ModelError(f"{what} is {kind}, so that its number of coordinates is {wanted}, not {brief(count)}")
    transform = table(f"the transform of {what}", given["transform"], (4, 4), graph_fields.entry)
    return joint_text.space_of(kind, count), list(transform.flat)
