"""Coordinates as fields of a scene file and back: their names, limits, springs, damping, rotors, friction."""

from __future__ import annotations

import math
from dataclasses import fields as dataclass_fields
from typing import Any

from recursive_dyn.joint.coordinate import Coordinate
from scene.file.document import fields, number, table, text

SETTINGS = {f.name: f.default for f in dataclass_fields(Coordinate) if f.name not in ("name", "limits")}


def write(c: Coordinate) -> dict[str, Any]:
    """The fields of a coordinate; what is as a coordinate has it anyway is left out."""
    result: dict[str, Any] = {"name": c.name}
    if any(map(math.isfinite, c.limits)):
        result["limits"] = [x if math.isfinite(x) else None for x in c.limits]
    for name, default in SETTINGS.items():
        x = number(f"{name} of coordinate '{c.name}'", getattr(c, name))
        if repr(x) != repr(default):  # -0.0 is another number
            result[name] = x
    return result


def read(value: Any) -> Coordinate:
    """The coordinate of such fields; whether its numbers make sense is for coordinates_of to say."""
    given = fields("a coordinate", value, ("name",), ("limits", *SETTINGS))
    name = text("name of a coordinate", given["name"])
    what = f"limits of coordinate '{name}'"
    low, high = table(what, given.get("limits", [None, None]), (2,), _limit)
    settings = {s: number(f"{s} of coordinate '{name}'", given[s]) for s in SETTINGS if s in given}
    limits = (-math.inf if low is None else low, math.inf if high is None else high)
    return Coordinate(name, limits, **settings)


def as_settings(coordinates: list[Coordinate]) -> dict[str, Any]:
    """What a joint takes to give its coordinates these properties."""
    settings: dict[str, Any] = {name: [getattr(c, name) for c in coordinates] for name in SETTINGS}
    settings["limits"] = [c.limits for c in coordinates] or None
    return settings


def _limit(what: str, value: Any) -> float | None:
    return None if value is None else number(what, value)
