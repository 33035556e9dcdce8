"""The constructors of scene.joints as fields of a scene file and back: {"revolute": {"axis": [1, 1, 0]}}.

What is as the constructor has it by itself is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from scene import joints
from scene.file import formula_reader, formula_writer, surface_fields
from scene.file.document import fields, flag, number, rectangle, table, text, whole
from scene.file.names import Names
from scene.joints.curves.curve import along
from scene.joints.parametric_joint import Joint, Origin
from scene.joints.rolling import rolling_along
from scene.joints.surfaces.gliding import gliding, touching
from scene.joints.surfaces.surface_contact import SurfaceContact
from scene.number_checks import as_floats


@dataclass(frozen=True)
class Argument:
    """An argument as a field: ``write(name, value)`` and ``read(name, field, names)`` raise ModelError."""

    write: Callable[[str, Any], Any]
    read: Callable[[str, Any, Names], Any]


def _number(what: str, value: Any, names: Names) -> float:
    return number(what, value)


def _array(what: str, value: Any) -> Any:
    return value if value is None or isinstance(value, str) else as_floats(value).tolist()


def _numbers(*shapes: tuple[int, ...]) -> Argument:
    """An array of numbers of one of these shapes, -1 for any number of rows; None where that is the usual."""

    def read(what: str, value: Any, names: Names) -> Any:
        return None if value is None else rectangle(what, value, shapes)

    return Argument(_array, read)


def _formula(shape: tuple[int, ...], coordinates: int = 0) -> Argument:
    """Scalars of scene parameters, and of so many coordinates of the joint's own."""

    def read(what: str, value: Any, names: Names) -> Any:
        found = formula_reader.read(what, value, shape, names.check_in_joint, coordinates)
        return found if shape else found.item()

    return Argument(formula_writer.write, read)


def _pair_of(one: Callable[[str, Any], Any]) -> Argument:
    return Argument(lambda _, pair: list(pair), lambda what, value, _: tuple(table(what, value, (2,), one)))


def _surface(u: str, v: str) -> Argument:
    """A surface whose coordinates have these names by themselves."""
    return Argument(
        lambda what, surface: surface_fields.write(what, surface, (u, v)),
        lambda what, value, names: surface_fields.read(what, value, (u, v), names.check_in_joint),
    )


_AXIS = Argument(
    _array, lambda what, value, names: value if isinstance(value, str) else rectangle(what, value, ((3,),))
)
_WORD = Argument(lambda _, value: value, lambda what, value, names: None if value is None else text(what, value))
_FLAG = Argument(lambda _, value: bool(value), lambda what, value, names: flag(what, value))
_NUMBER = Argument(lambda _, value: float(value), _number)
_DEGREE = Argument(lambda _, value: int(value), lambda what, value, names: whole(what, value))
_SIZE = _formula(())
_POINTS, _GRID, _UP = _numbers((-1, 3)), _numbers((-1, -1, 3)), _numbers((3,), (-1, 3))
_WAYS = {"arc_length": _FLAG, "frame": _WORD, "up": _UP, "outside": _WORD, "name": _WORD}
_SURROUNDINGS = {"frame": _WORD, "outside": _WORD, "names": _pair_of(text)}

ARGUMENTS: dict[str, dict[str, Argument]] = {
    "fixed": {"transform": _numbers((4, 4))},
    "revolute": {"axis": _AXIS},
    "prismatic": {"axis": _AXIS},
    "screw": {"axis": _AXIS, "pitch": _NUMBER},
    "cylindrical": {"axis": _AXIS},
    "universal": {"first": _AXIS, "second": _AXIS},
    "planar": {"normal": _AXIS},
    "euler": {"order": _WORD},
    "ball": {},
    "free": {},
    "wheel": {"radius": _SIZE, "track": _SIZE, "inside": _FLAG},
    "rack": {"radius": _SIZE},
    "rolling": {"f": _formula((2,), 1), "name": _WORD, "radius": _SIZE, "length": _formula((), 1),
                "right": _FLAG},
    "curve": {"f": _formula((3,), 1), "domain": _numbers((2,)), "closed": _FLAG, **_WAYS},
    "bspline": {"points": _POINTS, "degree": _DEGREE, "closed": _FLAG, "interpolate": _FLAG, **_WAYS},
    "bezier": {"points": _POINTS, "closed": _FLAG, **_WAYS},
    "bezier_surface": {"points": _GRID, **_SURROUNDINGS},
    "bspline_surface": {"points": _GRID, "degree": _pair_of(whole), "closed": _pair_of(flag), **_SURROUNDINGS},
    "surface": {"on": _surface("u", "v"), "frame": _WORD},
    "surface_on_surface": {"first": _surface("u1", "v1"), "second": _surface("u2", "v2"), "flip": _FLAG,
                           "turn": _NUMBER, "spin": _FLAG},
}  # fmt: skip

# Those that a person calls with SymPy, as they are called with scalars.
_FROM_SCALARS: dict[str, Callable[..., Joint]] = {
    "curve": lambda f, name, **options: along(f, name, options, {}),
    "rolling": lambda **given: rolling_along(**given, settings={}),
    "surface": lambda on, frame: gliding(on, frame, {}),
    "surface_on_surface": lambda first, second, flip, turn, spin: touching(
        SurfaceContact(first, second, flip, turn, spin), {}
    ),
}


def _usual(name: str) -> dict[str, Any]:
    """The arguments that a constructor has by itself."""
    given = signature(getattr(joints, name)).parameters
    return {p.name: p.default for p in given.values() if p.default is not Parameter.empty and p.name in ARGUMENTS[name]}


USUAL = {name: _usual(name) for name in ARGUMENTS} | {"rolling": {"right": False}}


def write(origin: Origin) -> dict[str, Any]:
    """The constructor and its arguments. ModelError names an argument that no field can hold."""
    name = origin.constructor
    if name not in ARGUMENTS:
        raise ModelError(f"the constructor '{name}' is not one of {', '.join(ARGUMENTS)}; set joint.origin = None")
    result = {}
    for key, argument in ARGUMENTS[name].items():
        value = origin.arguments[key]
        if key not in USUAL[name] or isinstance(value, np.ndarray) or value != USUAL[name][key]:
            result[key] = argument.write(key, value)
    return {name: result}


def read(name: str, value: Any, names: Names) -> Joint:
    """The joint of a constructor and its arguments, after bodies of these names. ModelError names the argument."""
    arguments, usual = ARGUMENTS[name], USUAL[name]
    given = fields(name, value, [key for key in arguments if key not in usual], list(usual))
    found: Mapping[str, Any] = usual | {key: arguments[key].read(key, x, names) for key, x in given.items()}
    make = _FROM_SCALARS.get(name) or getattr(joints, name)
    joint: Joint = make(**found)
    return joint
