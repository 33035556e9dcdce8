"""Surfaces as fields of a scene file and back: the library's by name and sizes, others as expressions of u and v."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recursive_dyn.errors import ModelError
from scene.file import parameter_text
from scene.file.document import brief, fields, items, mapping, number, text
from scene.file.graph_fields import entry
from scene.joints import surfaces
from scene.joints.surfaces import JOINED, OPEN, Span, Surface, fresh_symbol
from scene.joints.surfaces import POLES as AT_POLES
from scene.number_checks import positive

SIZES: dict[str, tuple[str, ...]] = {
    "plane": (),
    "sphere": ("radius",),
    "ellipsoid": ("a", "b", "c"),
    "torus": ("radius", "tube"),
    "cylinder": ("radius",),
    "paraboloid": ("a", "b"),
}
_WITH_POLES = ("sphere", "ellipsoid", "torus", "cylinder")
_WRITTEN_OUT = "surface"  # the kind, and the usual name, of one that is given by its expressions


def write(surface: Surface) -> dict[str, Any]:
    """The fields of a surface. ModelError for one that no field can hold."""
    if surface.pieces is None:
        letters = dict(zip(surface.coordinates, "uv", strict=True))
        own = {} if surface.name == _WRITTEN_OUT else {"name": surface.name}
        point = [parameter_text.write(x, letters) for x in surface.f]
        return {"kind": _WRITTEN_OUT, **own, "f": point, **_write_spans(surface, Surface)}
    if surface.name in SIZES:
        sizes = list(surface.sizes)
        if surface.name == "ellipsoid":  # holds them in the order of its own axes, of which the poles' is the last
            shift = "xyz".index(surface.poles) + 1
            sizes = [sizes[(k - shift) % 3] for k in range(3)]
        result: dict[str, Any] = {"kind": surface.name}
        result |= {name: parameter_text.write(x) for name, x in zip(SIZES[surface.name], sizes, strict=True)}
        if surface.poles != "z":
            result["poles"] = surface.poles
        made = _library(result)
        if _code(made) is _code(surface):
            return result | _write_spans(surface, made)
    raise ModelError(f"the frame of the surface '{surface.name}' cannot be written; use one of joints.surfaces")


def _code(surface: Surface) -> Any:
    """What tells one library surface's frame from another's: the functions themselves are made anew each time."""
    return getattr(surface.pieces, "__code__", None)


def _write_spans(surface: Surface, usual: Any) -> dict[str, Any]:
    """What a mesh covers, where it is not the usual."""
    spans = {letter: getattr(surface, letter) for letter in "uv"}
    unusual = {letter: span for letter, span in spans.items() if span != getattr(usual, letter)}
    return {k: [number(k, float(span.low)), number(k, float(span.high)), span.ends] for k, span in unusual.items()}


def check(value: Any, known: Callable[[str], None]) -> None:
    """ModelError for what is no surface, as far as it can be told without SymPy; ``known`` raises for unknown names."""
    given = mapping("it", value)
    kind = text("kind", given.get("kind"))
    if kind == _WRITTEN_OUT:
        fields("it", given, ("kind", "f"), ("name", "u", "v"))
        text("name", given.get("name", _WRITTEN_OUT))
        if len(items("f", given["f"])) != 3:
            raise ModelError(f"f must be 3 entries, not {brief(given['f'])}")
        for x in given["f"]:
            _check_entry("f", x, known, "uv")
    elif kind in SIZES:
        fields("it", given, ("kind", *SIZES[kind]), ("u", "v", *(("poles",) if kind in _WITH_POLES else ())))
        for name in SIZES[kind]:
            _check_entry(name, given[name], known)
            if not isinstance(given[name], str):
                positive(kind, name, given[name])
        if given.get("poles", "z") not in ("x", "y", "z"):
            raise ModelError(f"poles is the axis 'x', 'y' or 'z', not {brief(given['poles'])}")
    else:
        raise ModelError(f"unknown kind {brief(kind)}; use {_WRITTEN_OUT} or {', '.join(SIZES)}")
    for letter in [k for k in "uv" if k in given]:
        _check_span(letter, items(letter, given[letter]))


def _check_entry(what: str, value: Any, known: Callable[[str], None], letters: str = "") -> None:
    source = entry(what, value)
    if isinstance(source, str):
        parameter_text.check(source, known, letters)


def _check_span(letter: str, span: list[Any]) -> None:
    ends = (OPEN, JOINED, AT_POLES)
    if len(span) != 3 or not number(letter, span[0]) < number(letter, span[1]) or span[2] not in ends:
        raise ModelError(f"{letter} must be start, greater end and one of {', '.join(ends)}, not {brief(span)}")


def read(written: Mapping[str, Any], names: Sequence[str]) -> Surface:
    """The surface of fields that were checked, over fresh symbols of two names. Raises ModelError."""
    if written["kind"] == _WRITTEN_OUT:
        symbols = {letter: fresh_symbol(name) for letter, name in zip("uv", names, strict=True)}
        x, y, z = (_value(e, symbols) for e in written["f"])
        result = Surface(written.get("name", _WRITTEN_OUT), (x, y, z), (symbols["u"], symbols["v"]))
    else:
        result = _library(written).renamed(names[0], names[1])
    for letter in [k for k in "uv" if k in written]:
        low, high, ends = written[letter]
        span = Span(float(low), float(high), ends)
        result = replace(result, u=span) if letter == "u" else replace(result, v=span)
    return result


def _library(written: Mapping[str, Any]) -> Surface:
    sizes = [_value(written[name], {}) for name in SIZES[written["kind"]]]
    poles = {"poles": written["poles"]} if "poles" in written else {}
    made: Surface = getattr(surfaces, written["kind"])(*sizes, **poles)
    return made


def _value(value: float | str, symbols: Mapping[str, Any]) -> Any:
    return parameter_text.read(value, lambda name: None, symbols) if isinstance(value, str) else float(value)
