"""Scalars as fields of a scene file and back: "lines" and "tables" beside a list of numbers and texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar
from scene.file import graph_text
from scene.file.document import items, number, text
from scene.file.graph_text import GraphText, Reader

FIELDS = ("lines", "tables")  # each left out when it is empty


def write(name: str, outputs: Sequence[Scalar]) -> dict[str, Any]:
    """The fields of scalars, which themselves stand in the field ``name``. Raises ModelError."""
    written = graph_text.write(outputs)
    return {**beside(written), name: written.entries}


def read(name: str, given: dict[str, Any], check: Callable[[str], None]) -> tuple[Scalar, ...]:
    """The scalars in the field ``name``; ``check`` raises for an unknown name. ModelError names the line or entry."""
    source = reader(given, check, coordinates=False)
    result = []
    for i, value in enumerate(items(name, given[name])):
        what = f"{name} {i + 1}"
        try:
            result.append(source.entry(entry(what, value)))
        except ModelError as error:
            raise ModelError(str(error) if str(error).startswith(what) else f"{what}: {error}") from None
    return tuple(result)


def beside(written: GraphText) -> dict[str, Any]:
    """The fields that stand beside the entries of a text."""
    return {name: value for name, value in zip(FIELDS, (written.lines, written.tables), strict=True) if value}


def reader(given: dict[str, Any], check: Callable[[str], None], coordinates: bool = True) -> Reader:
    """A reader of entries that has read these fields' lines. Raises ModelError."""
    lines = [text("a line", line) for line in items("lines", given.get("lines", []))]
    tables = [_table(i, values) for i, values in enumerate(items("tables", given.get("tables", [])))]
    result = Reader(check, tables, coordinates)
    result.lines(lines)
    return result


def entry(what: str, value: Any) -> float | str:
    """A finite number or a text. Raises ModelError."""
    return value if isinstance(value, str) else number(what, value)


def _table(i: int, values: Any) -> list[float]:
    numbers = [number(f"table v{i}", x) for x in items(f"table v{i}", values)]
    if not numbers:
        raise ModelError(f"table v{i} is empty; give it one number at least")
    return numbers
