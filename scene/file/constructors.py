"""The constructors of scene.joints as fields of a scene file and back: {"revolute": {"axis": [1, 1, 0]}}.

What is as the constructor has it by itself is left out. Surfaces among the arguments are written by their names and
sizes where they are the library's, others as formulas of q0 and q1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from scene import joints
from scene.file import formula_reader, formula_writer
from scene.file.document import brief, fields, flag, items, mapping, number, rectangle, table, text, whole
from scene.file.names import Names
from scene.joints import surfaces
from scene.joints.curves.curve import along
from scene.joints.parametric_joint import Joint, Origin
from scene.joints.rolling import rolling_along
from scene.joints.surfaces.gliding import gliding, touching
from scene.joints.surfaces.surface import JOINED, OPEN, POLES, Span, Surface
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
        lambda what, surface: write_surface(what, surface, (u, v)),
        lambda what, value, names: read_surface(what, value, (u, v), names.check_in_joint),
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
    "exponential_map": {},
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
                           "turn": _NUMBER, "spin": _FLAG, "charts": _FLAG},
}  # fmt: skip

# Those that a person calls with SymPy, as they are called with scalars.
_FROM_SCALARS: dict[str, Callable[..., Joint]] = {
    "curve": lambda f, name, **options: along(f, name, options, {}),
    "rolling": lambda **given: rolling_along(**given, settings={}),
    "surface": lambda on, frame: gliding(on, frame, {}),
    "surface_on_surface": lambda first, second, flip, turn, spin, charts: touching(
        SurfaceContact(first, second, flip, turn, spin, charts), {}
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


SIZES: dict[str, tuple[str, ...]] = {
    "plane": (),
    "sphere": ("radius",),
    "ellipsoid": ("a", "b", "c"),
    "torus": ("radius", "tube"),
    "rim": ("radius",),
    "cylinder": ("radius",),
    "paraboloid": ("a", "b"),
}
_WITH_POLES = ("sphere", "ellipsoid", "torus", "rim", "cylinder")
_OWN = "surface"  # the kind, and the usual name, of one that is given by its expressions


def write_surface(what: str, surface: Surface, names: tuple[str, str]) -> dict[str, Any]:
    """The fields of a surface whose coordinates usually have these names. ModelError for one that no field can hold."""
    if surface.pieces is None:
        own = {} if surface.name == _OWN else {"name": surface.name}
        result = {"kind": _OWN, **own, "f": formula_writer.write(f"f of {what}", surface.point)}
        usual: Surface | None = Surface(surface.name, surface.point, names)
    else:
        result = {"kind": surface.name}
        result |= {name: formula_writer.write(f"{name} of {what}", x) for name, x in surface.sizes.items()}
        result |= {"poles": surface.poles} if surface.poles != "z" else {}
        usual = _library(surface.name, dict(surface.sizes), surface.poles)
        if usual is None or usual.pieces is not surface.pieces:
            raise ModelError(
                f"{what}: the frame of the surface '{surface.name}' cannot be written; use one of joints.surfaces, or"
                " set joint.origin = None: the joint moves the same, but scene.roll cannot use it"
            )
    result |= {"names": list(surface.names)} if surface.names != names else {}
    for letter in "uv":
        span = getattr(surface, letter)
        if span != getattr(usual, letter):
            result[letter] = [number(letter, float(span.low)), number(letter, float(span.high)), span.ends]
    return result


def _library(name: str, sizes: dict[str, Any], poles: str) -> Surface | None:
    if name not in SIZES:
        return None
    made: Surface = getattr(surfaces, name)(**sizes, **({"poles": poles} if name in _WITH_POLES else {}))
    return made


def read_surface(what: str, value: Any, names: tuple[str, str], check: Callable[[str], None]) -> Surface:
    """The surface of such fields; ``check`` raises for unknown names in quotes. ModelError begins with ``what``."""
    try:
        return _surface_of(value, names, check)
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None


def _surface_of(value: Any, names: tuple[str, str], check: Callable[[str], None]) -> Surface:
    kind = text("kind", mapping("it", value).get("kind"))
    if kind == _OWN:
        given = fields("it", value, ("kind", "f"), ("name", "names", "u", "v"))
        point = formula_reader.read("f", given["f"], (3,), check, coordinates=2)
        made = Surface(text("name", given.get("name", _OWN)), point, names)
    elif kind in SIZES:
        poles = ("poles",) if kind in _WITH_POLES else ()
        given = fields("it", value, ("kind", *SIZES[kind]), ("names", "u", "v", *poles))
        sizes = {name: formula_reader.read(name, given[name], (), check).item() for name in SIZES[kind]}
        found = _library(kind, sizes, given.get("poles", "z"))
        assert found is not None
        made = replace(found, names=names)
    else:
        raise ModelError(f"unknown kind {brief(kind)}; use {_OWN} or {', '.join(SIZES)}")
    if "names" in given:
        u, v = table("names", given["names"], (2,), text)
        made = made.renamed(u, v)
    u, v = (_span(letter, given[letter]) if letter in given else getattr(made, letter) for letter in "uv")
    return replace(made, u=u, v=v)


def _span(letter: str, value: Any) -> Span:
    span, ends = items(letter, value), (OPEN, JOINED, POLES)
    if len(span) != 3 or not number(letter, span[0]) < number(letter, span[1]) or span[2] not in ends:
        raise ModelError(f"{letter} must be start, greater end and one of {', '.join(ends)}, not {brief(span)}")
    return Span(float(span[0]), float(span[1]), span[2])
