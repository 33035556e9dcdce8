"""A scene's constraints as rows on the twists of two bodies, beside those of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.joint_evaluator import JointEvaluator
from recursive_dyn.maximal.loop_functions import ROWS, TOLD, LoopFunctions
from recursive_dyn.maximal.motion_rows import binding_rows
from recursive_dyn.model.model import WORLD, Model

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LoopValues:
    """Of m rows: their derivatives (..., m, 6) by the twists of ``first`` and ``second`` in own axes, without those by
    shares; phi, psi, and the rate of psi at no acceleration of the bodies, (..., m); shares (..., s) of coordinates."""

    first: Array
    second: Array
    phi: Array
    psi: Array
    bias: Array
    shares: Array


class LoopRows:
    """The constraints of a reduced model, and its motions.

    ``first``, ``second`` (m,): the links that a row is on, ``first`` WORLD where
    it is on one; share_rows, share_slots (s,): rows that have shares of coordinates' rates, and the slots of these.
    ModelError for a row on more than two."""

    def __init__(self, model: Model) -> None:
        names, bodies = [name for name, _ in model.parameters], [body.link for body in model.bodies]
        self.functions = f = LoopFunctions(binding_rows(model), names, bodies, model.clock)
        self.evaluator = JointEvaluator(f, Parameters(model.parameters))
        joint = {slot: i for i, link in enumerate(model.links) for slot in link.slots}
        pairs = [_pair(model, k, joint, f) for k in range(len(f.constraints))]
        self.first, self.second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.share_rows, self.share_slots = np.array(f.shares, dtype=np.int64).reshape(-1, 2).T
        where = [[start, *self._sides(k, start)] for k, start in enumerate(f.starts[:-1])]
        self.places: Array = np.array(where, dtype=np.int64).reshape(-1, 3)
        """(m, 3): where a row's numbers begin, and its coefficients of ``first`` and ``second``, -1 for none."""

    def __len__(self) -> int:
        return len(self.first)

    def _sides(self, k: int, start: int) -> list[int]:
        own = self.functions.links[k]
        ends = (int(self.first[k]), int(self.second[k]))
        return [start + TOLD + 6 * own.index(i) if i in own else -1 for i in ends]

    def values(self, free: Dynamics, q: Array, v: Array, places: Array, rates: Array) -> LoopValues:
        """At states q (..., 7 n), v (..., 6 n) of the bodies, with their joints' coordinates and rates (...,)."""
        f = self.functions
        self.evaluator.parameters.values_array[:] = free.parameters.values_array
        flat = self.evaluator.call(ROWS, *f.measured.values(free, q, v, places, rates))
        begin, first, second = self.places.T
        where = [np.where(at >= 0, at, 0)[:, None] + np.arange(6) * (at >= 0)[:, None] for at in (first, second)]
        sides = [
            np.where((at >= 0)[:, None], flat[..., own], 0.0) for at, own in zip((first, second), where, strict=True)
        ]
        told = [flat[..., begin + k] for k in range(TOLD)]
        return LoopValues(sides[0], sides[1], told[0], told[1], told[2], flat[..., f.starts[-1] :])


def _pair(model: Model, k: int, joint: dict[int, int], functions: LoopFunctions) -> tuple[int, int]:
    """The links that row k is on."""
    found = set(functions.links[k])
    for row, slot in functions.shares:
        if row == k:
            found |= {joint[slot], model.links[joint[slot]].parent}
    links = sorted(found - {WORLD})
    if len(links) > 2 or not links:
        names = ", ".join(f"'{model.links[i].name}'" for i in links)
        raise ModelError(
            f"constraint '{functions.constraints[k].name}' is on {len(links)} bodies that move ({names}), and maximal"
            " coordinates take rows on one or two; use method='recursive' or 'lagrangian', or write it in such rows"
        )
    return (links[0], links[1]) if len(links) == 2 else (WORLD, links[0])
