"""Surfaces as fields of a scene file and back: the library's by name and sizes, others as formulas of q0 and q1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from recursive_dyn.errors import ModelError
from scene.file import formula_reader, formula_writer
from scene.file.document import brief, fields, items, mapping, number, table, text
from scene.joints import surfaces
from scene.joints.surfaces.surface import JOINED, OPEN, POLES, Span, Surface

SIZES: dict[str, tuple[str, ...]] = {
    "plane": (),
    "sphere": ("radius",),
    "ellipsoid": ("a", "b", "c"),
    "torus": ("radius", "tube"),
    "cylinder": ("radius",),
    "paraboloid": ("a", "b"),
}
_WITH_POLES = ("sphere", "ellipsoid", "torus", "cylinder")
_OWN = "surface"  # the kind, and the usual name, of one that is given by its expressions


def write(what: str, surface: Surface, names: tuple[str, str]) -> dict[str, Any]:
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


def read(what: str, value: Any, names: tuple[str, str], check: Callable[[str], None]) -> Surface:
    """The surface of such fields; ``check`` raises for unknown names in quotes. ModelError begins with ``what``."""
    try:
        return _read(value, names, check)
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None


def _read(value: Any, names: tuple[str, str], check: Callable[[str], None]) -> Surface:
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
