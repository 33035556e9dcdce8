"""A scene's constraints as rows on the twists of bodies, beside those of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.joint_rows.motion_rows import binding_rows
from recursive_dyn.maximal.kinds.joint_evaluator import JointEvaluator
from recursive_dyn.maximal.kinds.loop_functions import ROWS, TOLD, LoopFunctions
from recursive_dyn.maximal.shared.found_together import FoundTogether
from recursive_dyn.maximal.shared.told_rows import ToldRow, groups_of
from recursive_dyn.maximal.sparse.sparse_order import NO_MORE, MoreSides
from recursive_dyn.model.model import WORLD, Model

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LoopValues:
    """Of m rows: their derivatives (..., m, 6) by the twists of the first and second of ``RowEnds`` in own axes, and
    (..., x, 6) by those of further ones, without those by shares; phi, psi, and the rate of psi at no acceleration of
    the bodies, (..., m); shares (..., s) of coordinates."""

    first: Array
    second: Array
    more: Array
    phi: Array
    psi: Array
    bias: Array
    shares: Array


class RowEnds(NamedTuple):
    """The links that m rows are on: first, second (m,), the first WORLD where a row is on one; more: further ones."""

    first: Array
    second: Array
    more: MoreSides


NO_ENDS = RowEnds(NO_MORE.rows, NO_MORE.links, NO_MORE)


class LoopRows:
    """The constraints of a reduced model, and its motions; ends: the links that their rows are on; share_rows,
    share_slots (s,): rows that have shares of coordinates' rates, and the slots of these; found_rows, found_slots: rows
    that are rates of coordinates which joints show ``together``, and the slots of these; groups (m,): the first row of
    those of a group together."""

    def __init__(self, model: Model, start: Array) -> None:
        """start (nq,): a configuration."""
        names, bodies = [name for name, _ in model.parameters], [body.link for body in model.bodies]
        rows = binding_rows(model)
        self.functions = f = LoopFunctions(rows, names, bodies, model.clock)
        self.evaluator = JointEvaluator(f, Parameters(model.parameters))
        joint = {slot: i for i, link in enumerate(model.links) for slot in link.slots}
        self.ends = _ends([_links(model, k, joint, f) for k in range(len(f.constraints))])
        self.share_rows, self.share_slots = np.array(f.shares, dtype=np.int64).reshape(-1, 2).T
        measuring = [(k, row.end[1]) for k, row in enumerate(rows) if isinstance(row, ToldRow) and row.end is not None]
        self.found_rows, self.found_slots = np.array(measuring, dtype=np.int64).reshape(-1, 2).T
        self.bound: Array = (~np.isin(np.arange(len(rows)), self.found_rows)).astype(np.int64)
        groups = [group for group in groups_of(rows) if group.ends]
        self.together = FoundTogether(groups, Parameters(model.parameters), start) if groups else None
        first = {id(row.group): k for k, row in reversed([*enumerate(rows)]) if isinstance(row, ToldRow) and row.group}
        self.groups = np.array([first.get(id(getattr(row, "group", None)), k) for k, row in enumerate(rows)])
        e = self.ends
        where = [
            [f.starts[k], self._side(k, a), self._side(k, b)]
            for k, (a, b) in enumerate(zip(e.first, e.second, strict=True))
        ]
        self.places: Array = np.array(where, dtype=np.int64).reshape(-1, 3)
        """(m, 3): where a row's numbers begin, and its coefficients of its first and second link, -1 for none."""
        further = [self._side(k, i) for k, i in zip(e.more.rows, e.more.links, strict=True)]
        self.more_places: Array = np.array(further, dtype=np.int64)
        """(x,): where coefficients of further links are, -1 for none."""

    def __len__(self) -> int:
        return len(self.ends.first)

    def _side(self, row: int, link: Any) -> int:
        own = self.functions.links[row]
        return int(self.functions.starts[row]) + TOLD + 6 * own.index(link) if link in own else -1

    def values(self, free: Dynamics, q: Array, v: Array, places: Array, rates: Array) -> LoopValues:
        """At states q (..., 7 n), v (..., 6 n) of the bodies, with their joints' coordinates and rates (...,)."""
        f = self.functions
        self.evaluator.parameters.values_array[:] = free.parameters.values_array
        flat = self.evaluator.call(ROWS, *f.measured.values(free, q, v, places, rates))
        begin, *ends = *self.places.T, self.more_places
        where = [np.where(at >= 0, at, 0)[:, None] + np.arange(6) * (at >= 0)[:, None] for at in ends]
        sides = [np.where((at >= 0)[:, None], flat[..., own], 0.0) for at, own in zip(ends, where, strict=True)]
        told = [flat[..., begin + k] for k in range(TOLD)]
        return LoopValues(sides[0], sides[1], sides[2], told[0], told[1], told[2], flat[..., f.starts[-1] :])


def _links(model: Model, k: int, joint: dict[int, int], functions: LoopFunctions) -> list[int]:
    """The links that row k is on."""
    found = set(functions.links[k])
    for row, slot in functions.shares:
        if row == k:
            found |= {joint[slot], model.links[joint[slot]].parent}
    if not (links := sorted(found - {WORLD})):
        raise ModelError(
            f"constraint '{functions.constraints[k].name}' is on no body that moves; write it of bodies and coordinates"
            " that do, or remove it"
        )
    return links


def _ends(links: list[list[int]]) -> RowEnds:
    """Of rows on these links."""
    pairs = [own[:2] if len(own) > 1 else [WORLD, own[0]] for own in links]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    further = [(k, link) for k, own in enumerate(links) for link in own[2:]]
    rows, others = np.array(further, dtype=np.int64).reshape(-1, 2).T
    return RowEnds(first, second, MoreSides(rows.copy(), others.copy()))
