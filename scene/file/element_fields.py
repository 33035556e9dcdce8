"""Force elements as fields of a scene file: measures, the strengths along them, and an energy, as formulas."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph
from recursive_dyn.model.force_element import OWN_RATE, ElementSpec
from scene.file import formula_reader, formula_writer
from scene.file.document import fields, flag, items, text, whole
from scene.file.names import Names
from scene.scalars import carried


def write(element: ElementSpec) -> dict[str, Any]:
    """Its fields: "formulas" are its measures, then their strengths, then its energy where "energy" is true, then as
    many stretches as "stretches" says."""
    measures, strengths = [m for m, _ in element.terms], [s for _, s in element.terms]
    own = [] if element.energy is None else [element.energy]
    scalars = list(carried([*measures, *strengths, *own, *element.stretches], Graph()))
    head: dict[str, Any] = {"name": element.name, "energy": element.energy is not None}
    if element.stretches:
        head["stretches"] = len(element.stretches)
    return head | formula_writer.beside("formulas", "a formula", scalars)


def read(value: Any, names: Names) -> ElementSpec:
    """The element of such fields. ModelError names the line or formula."""
    given = fields("it", value, ("name", "energy", "formulas"), ("stretches", *formula_reader.FIELDS))

    def check(name: str) -> None:
        if name != OWN_RATE:
            names.check_in_constraint(name)

    reader = formula_reader.beside(given, check, coordinates=0)
    found = [reader.entry(f"formulas {i + 1}", x) for i, x in enumerate(items("formulas", given["formulas"]))]
    many = whole("stretches", given.get("stretches", 0))
    if not 0 <= many < max(1, len(found)) or (many and not given["energy"]):
        raise ModelError(f"stretches says how many formulas at the end are those of its energy, not {many}")
    stretches, found = tuple(found[len(found) - many :]), found[: len(found) - many]
    own = [found.pop()] if flag("energy", given["energy"]) and found else []
    if len(found) % 2 or not (found or own):
        raise ModelError("its formulas are as many strengths as measures, and an energy where it says that it has one")
    half = len(found) // 2
    terms = tuple(zip(found[:half], found[half:], strict=True))
    return ElementSpec(text("name", given["name"]), terms, own[0] if own else None, stretches)
