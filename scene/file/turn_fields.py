"""Limits of a ball's turning as fields of a scene file and back: {"swing": [0.8, 0.5], "twist": [-0.4, 0.4]}."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.joint.turn_limits import TurnLimits
from scene.file.document import fields, number, table

_SIZES = {"swing": 2, "twist": 2, "axis": 3, "center": 3}


def write_turn(limits: TurnLimits) -> dict[str, Any]:
    """The fields of such limits; what they have anyway is left out."""
    usual = TurnLimits(swing=1.0)
    result: dict[str, Any] = {name: list(own) for name in ("swing", "twist") if (own := getattr(limits, name))}
    for name in ("axis", "center"):
        if getattr(limits, name) != getattr(usual, name):
            result[name] = list(getattr(limits, name))
    return result


def read_turn(what: str, value: Any) -> TurnLimits:
    """The limits of such fields. ModelError names what is wrong."""
    given = fields(what, value, (), tuple(_SIZES))
    numbers = {name: tuple(table(f"{what}: {name}", x, (_SIZES[name],), number)) for name, x in given.items()}
    try:
        return TurnLimits(**numbers)
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
