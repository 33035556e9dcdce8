"""Force elements as fields of a scene file: measures, the strengths along them, and an energy, as formulas."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph
from recursive_dyn.model.force_element import MOST_DIRECTIONS, OWN_RATE, ElementSpec
from scene.file import formula_reader, formula_writer
from scene.file.document import fields, flag, items, text, whole
from scene.file.names import Names
from scene.scalars import carried


def write(element: ElementSpec) -> dict[str, Any]:
    """Its fields: "formulas" are its measures, then their strengths, then its energy where "energy" is true;
    "directions" of what is stiff in more than one."""
    measures, strengths = [m for m, _ in element.terms], [s for _, s in element.terms]
    own = [] if element.energy is None else [element.energy]
    scalars = list(carried([*measures, *strengths, *own], Graph()))
    head: dict[str, Any] = {"name": element.name, "energy": element.energy is not None}
    if element.directions != 1:
        head["directions"] = element.directions
    return head | formula_writer.beside("formulas", "a formula", scalars)


def read(value: Any, names: Names) -> ElementSpec:
    """The element of such fields. ModelError names the line or formula."""
    given = fields("it", value, ("name", "energy", "formulas"), ("directions", *formula_reader.FIELDS))

    def check(name: str) -> None:
        if name != OWN_RATE:
            names.check_in_constraint(name)

    reader = formula_reader.beside(given, check, coordinates=0)
    found = [reader.entry(f"formulas {i + 1}", x) for i, x in enumerate(items("formulas", given["formulas"]))]
    own = [found.pop()] if flag("energy", given["energy"]) and found else []
    if len(found) % 2 or not (found or own):
        raise ModelError("its formulas are as many strengths as measures, and an energy where it says that it has one")
    half = len(found) // 2
    terms = tuple(zip(found[:half], found[half:], strict=True))
    directions = whole("directions", given.get("directions", 1))
    if not 1 <= directions <= MOST_DIRECTIONS:
        raise ModelError(f"directions is from 1 to {MOST_DIRECTIONS}, not {directions}")
    return ElementSpec(text("name", given["name"]), terms, own[0] if own else None, directions)
