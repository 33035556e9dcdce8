"""Joints as fields of a scene file and back: lines and factors of their transform, coordinates, coupling."""

from __future__ import annotations

import math
from dataclasses import fields as dataclass_fields
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.joint import PLAIN, JointProgram
from recursive_dyn.model import Coordinate
from scene.file import joint_text
from scene.file.document import brief, fields, items, number, table, text
from scene.joints.base import MAX_COORDINATES, Joint

_SETTINGS = {f.name: f.default for f in dataclass_fields(Coordinate) if f.name not in ("name", "limits")}


def write(joint: Joint | None) -> dict[str, Any]:
    """The fields of a joint. ModelError for what no field can hold."""
    if type(joint) is not Joint:
        raise ModelError(f"a {type(joint).__name__} cannot be saved; use scene.joints.Joint")
    lines, transforms = joint_text.write(joint.program)
    factors = []
    for factor, transform in zip(joint.program.factors, transforms, strict=True):
        count = {"coordinates": factor.nv} if factor.kind == PLAIN else {}
        factors.append({"kind": factor.kind, **count, "transform": transform.tolist()})
    result: dict[str, Any] = {"lines": lines} if lines else {}
    result["factors"] = factors
    if joint.coordinates:
        result["coordinates"] = [_coordinate_fields(c) for c in joint.coordinates]
    if joint.coupling:
        coupling = joint.coupling
        result["coupling"] = {
            "leader": coupling.leader,
            "multiplier": coupling.multiplier,
            "offset": coupling.offset,
        }
    return result


def read(value: Any, parameters: frozenset[str], bodies: frozenset[str]) -> Joint:
    """The joint of such fields; ``bodies`` may lead it. ModelError names the line, factor or coordinate."""
    given = fields("it", value, ("factors",), ("lines", "coordinates", "coupling"))
    lines = [text("a line", line) for line in items("lines", given.get("lines", []))]
    factors = [_factor(i + 1, factor) for i, factor in enumerate(items("factors", given["factors"]))]
    program = joint_text.read(lines, factors, parameters)
    coordinates = [_coordinate(c) for c in items("coordinates", given.get("coordinates", []))]
    joint = _with_coordinates(program, coordinates)
    if "coupling" not in given:
        return joint
    coupling = fields("coupling", given["coupling"], ("leader", "multiplier", "offset"))
    leader = text("leader", coupling["leader"])
    if leader not in bodies:
        raise ModelError(f"it follows '{leader}', which is no body before it; correct 'leader' or the order of bodies")
    return joint.follow(leader, *(number(name, coupling[name]) for name in ("multiplier", "offset")))


def _with_coordinates(program: JointProgram, coordinates: list[Coordinate]) -> Joint:
    if len(coordinates) != program.nv:
        raise ModelError(f"its factors move in {program.nv} coordinates, and {len(coordinates)} are described; add all")
    settings: dict[str, Any] = {name: [getattr(c, name) for c in coordinates] for name in _SETTINGS}
    settings["limits"] = [c.limits for c in coordinates] or None
    return Joint.from_program(program, [c.name for c in coordinates], settings)


def _factor(number_: int, value: Any) -> tuple[str, int, list[Any]]:
    what = f"factor {number_}"
    given = fields(what, value, ("kind", "transform"), ("coordinates",))
    kind, count = given["kind"], given.get("coordinates", 0)
    if kind not in joint_text.KINDS:
        raise ModelError(f"{what} has the unknown kind {brief(kind)}; use {', '.join(joint_text.KINDS)}")
    if type(count) is not int or not (1 <= count <= MAX_COORDINATES if kind == PLAIN else count == 0):
        wanted = f"from 1 to {MAX_COORDINATES}" if kind == PLAIN else "left out"
        raise ModelError(f"{what} is {kind}, so that its number of coordinates is {wanted}, not {brief(count)}")
    transform = table(f"the transform of {what}", given["transform"], (4, 4), _entry)
    return kind, count, list(transform.flat)


def _entry(what: str, value: Any) -> float | str:
    return value if isinstance(value, str) else number(what, value)


def _coordinate_fields(c: Coordinate) -> dict[str, Any]:
    result: dict[str, Any] = {"name": c.name}
    if any(map(math.isfinite, c.limits)):
        result["limits"] = [x if math.isfinite(x) else None for x in c.limits]
    for name, default in _SETTINGS.items():
        x = number(f"{name} of coordinate '{c.name}'", getattr(c, name))
        if repr(x) != repr(default):  # -0.0 is another number
            result[name] = x
    return result


def _coordinate(value: Any) -> Coordinate:
    given = fields("a coordinate", value, ("name",), ("limits", *_SETTINGS))
    name = text("name of a coordinate", given["name"])
    what = f"limits of coordinate '{name}'"
    low, high = table(what, given.get("limits", [None, None]), (2,), _limit)
    settings = {s: number(f"{s} of coordinate '{name}'", given[s]) for s in _SETTINGS if s in given}
    limits = (-math.inf if low is None else low, math.inf if high is None else high)
    return Coordinate(name, limits, **settings)


def _limit(what: str, value: Any) -> float | None:
    return None if value is None else number(what, value)
