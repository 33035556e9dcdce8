"""Prescribed motions as rows beside the scene's constraints: a coordinate is what is told, q - x(t) = 0."""

from __future__ import annotations

from typing import Any

from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.joint.coordinate import CLOCK
from recursive_dyn.maximal.shared.told_rows import through_groups
from recursive_dyn.model.clock import PrescribedMotion
from recursive_dyn.model.constraint import COORDINATE, Constraint
from recursive_dyn.model.model import Model, once


@once
def binding_rows(model: Model) -> tuple[Constraint, ...]:
    """The scene's constraints, then its motions."""
    return through_groups([*model.constraints, *(_row(model, motion) for motion in model.motions)])


def _row(model: Model, motion: PrescribedMotion) -> Constraint:
    graph = Graph()
    inputs: dict[Any, Scalar] = {("parameter", name): graph.input(("parameter", name)) for name, _ in model.parameters}
    inputs["parameter", CLOCK] = graph.input((COORDINATE, model.clock))
    own = graph.input((COORDINATE, (motion.place, motion.slot)))
    (value,) = substitute([motion.value], inputs)
    return Constraint(f"motion of {model.coordinates[motion.slot].name}", graph, own - value, True)
