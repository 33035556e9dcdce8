"""Rows whose derivatives follow from how coordinates are found, and not from their expression alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recursive_dyn.graph.expression import Expression, Graph, Scalar
from recursive_dyn.graph.program import content_hash
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.maximal.shared.shown_together import End, ShownTogether
from recursive_dyn.model.constraint import COORDINATE, RATE, Constraint, Rows

_NOTHING = Rows(None, 0.0, {}, 0.0)


@dataclass(frozen=True, eq=False)
class ToldRow(Constraint):
    """A row with all that is derived of it, ``told``; group: of coordinates found together, whose row it is; end: of
    these that whose rate it measures, so that it binds nothing."""

    told: Rows = _NOTHING
    group: ShownTogether | None = None
    end: End | None = None

    @cached_property
    def key(self) -> str:
        """Content hash."""
        own = f"{self.name} {self.holonomic} {self.usual} {self.end} {list(self.told.gradient)}"
        return content_hash(own, self._scalars)

    @property
    def inputs(self) -> list[Expression]:
        """The inputs that the row, or anything derived of it, holds."""
        return [node for node in reachable(self._scalars) if node.op == "input"]

    @cached_property
    def rows(self) -> Rows:
        """What is told."""
        return self.told

    @property
    def _scalars(self) -> list[Scalar]:
        phi = 0.0 if self.told.phi is None else self.told.phi
        return [phi, self.told.psi, self.told.bias, *self.told.gradient.values()]


def rows_of(group: ShownTogether) -> list[ToldRow]:
    """What binds a group's joints, then the rates of its coordinates."""
    bound = len(group.residuals) - len(group.ends)
    return [
        ToldRow(
            f"drive of {' and '.join(group.names)}, {k}", group.graph, row.psi, True, told=row, group=group,
            end=group.ends[k - bound] if k >= bound else None,
        )
        for k, row in enumerate(group.rows)
    ]  # fmt: skip


def groups_of(rows: Sequence[Constraint]) -> list[ShownTogether]:
    """The groups that any of some rows are of."""
    return list(dict.fromkeys(row.group for row in rows if isinstance(row, ToldRow) and row.group is not None))


def through_groups(rows: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The same rows, those that hold rates of coordinates found together over the rates these are found from."""
    found = {end: group for group in groups_of(rows) for end in group.ends}
    return tuple(_through(row, found) if found and not isinstance(row, ToldRow) else row for row in rows)


class _Passed(dict[Any, Scalar]):
    """Inputs as those of the same name in another graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph

    def __missing__(self, key: Any) -> Scalar:
        value = self[key] = self._graph.input(key)
        return value


def _through(row: Constraint, found: dict[End, ShownTogether]) -> Constraint:
    """A row with psi = psi(s-dot), s-dot = J^+ r-dot put in."""
    held = {node.args[0][1] for node in row.inputs if node.args[0][0] in (COORDINATE, RATE)}
    own = [end for end in found if end in held]
    if not own:
        return row
    graph, given = Graph(), row.rows
    inputs, speeds = _Passed(graph), dict[End, Rows]()
    for group in {found[end]: None for end in own}:
        for end, told in zip(group.ends, group.rows[-len(group.ends) :], strict=True):
            psi, bias, *slopes = substitute([told.psi, told.bias, *told.gradient.values()], inputs)
            speeds[end] = Rows(None, psi, dict(zip(told.gradient, slopes, strict=True)), bias)
    inputs |= {(RATE, end): told.psi for end, told in speeds.items()}
    phi, psi, bias, *slopes = substitute(
        [0.0 if given.phi is None else given.phi, given.psi, given.bias, *given.gradient.values()], inputs
    )
    gradient = dict[Any, Scalar]()
    for key, slope in zip(given.gradient, slopes, strict=True):
        if key[0] != RATE or key[1] not in speeds:
            gradient[key] = gradient.get(key, 0.0) + slope
            continue
        bias = bias + slope * speeds[key[1]].bias
        for other, share in speeds[key[1]].gradient.items():
            gradient[other] = gradient.get(other, 0.0) + slope * share
    made = Rows(None if given.phi is None else phi, psi, gradient, bias)
    return ToldRow(row.name, graph, psi, row.holonomic, row.usual, told=made)
