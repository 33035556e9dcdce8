"""A scene's constraints as rows on the twists of two bodies, beside those of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.joint_kinds import JointEvaluator
from recursive_dyn.maximal.loop_functions import ROWS, LoopFunctions, moves
from recursive_dyn.maximal.poses import poses_of
from recursive_dyn.model.constraint import RATE, VELOCITY
from recursive_dyn.model.model import WORLD, Model

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LoopValues:
    """Of m rows: coefficients (m, nl, 6) of twists in own axes, of which two links have any; phi, psi (m,), and the
    rate (m,) of psi at no acceleration of the bodies; coordinates' share (m, reduced.nv) of the coefficients."""

    links: Array
    phi: Array
    psi: Array
    bias: Array
    shares: Array


class LoopRows:
    """The constraints of a reduced model; ``first``, ``second`` (m,): the links that a row is on, ``first`` WORLD where
    it is on one. ModelError for a row on more than two."""

    def __init__(self, model: Model) -> None:
        self.functions = LoopFunctions(model.constraints, [name for name, _ in model.parameters])
        self.evaluator = JointEvaluator(self.functions, Parameters(model.parameters))
        self.model = model
        joint = {slot: i for i, link in enumerate(model.links) for slot in link.slots}
        pairs = [_pair(model, k, joint, self.functions) for k in range(len(model.constraints))]
        self.first, self.second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T

    def __len__(self) -> int:
        return len(self.first)

    def values(self, free: Dynamics, q: Array, v: Array, places: Array, rates: Array) -> LoopValues:
        """At one state q, v of the bodies, with their joints' coordinates and rates."""
        f, model, n = self.functions, self.model, self.model.nl
        X, V, A = free.poses(q), free.velocities(q, v), free.accelerations(q, v, np.zeros(free.nv))
        bodies = [np.concatenate([X[k, :3, 3], X[k, :3, :3].reshape(-1), V[k, 3:], V[k, :3], A[k, 3:], A[k, :3]])
                  for k in f.bodies]  # fmt: skip
        moving = [[0.0 if place is None else places[place], rates[slot]] for place, slot in f.coordinates]
        self.evaluator.parameters.values_array[:] = free.parameters.values_array
        flat = self.evaluator.call(ROWS, np.array(bodies).reshape(-1), np.array(moving).reshape(-1))
        m, at = len(self), 0
        links, shares, told = np.zeros((m, n, 6)), np.zeros((m, len(rates))), np.zeros((m, 3))
        frames = poses_of(q.reshape(-1, 7))
        turns, origins = frames[:, :3, :3], frames[:, :3, 3]
        for k, keys in enumerate(f.gradients):
            told[k] = flat[at : at + 3]
            for key, slope in zip(keys, flat[at + 3 : at + 3 + len(keys)], strict=True):
                kind, owner, component = moves(key)
                if kind == RATE:
                    shares[k, owner] += slope
                    continue
                link = model.bodies[owner].link
                if link == WORLD:
                    continue
                push = turns[link].T[:, component] * slope
                if kind == VELOCITY:
                    arm = turns[link].T @ (X[owner, :3, 3] - origins[link])
                    links[k, link, 3:] += push
                    links[k, link, :3] += np.cross(arm, push)
                else:
                    links[k, link, :3] += push
            at += 3 + len(keys)
        return LoopValues(links, told[:, 0], told[:, 1], told[:, 2], shares)


def _pair(model: Model, k: int, joint: dict[int, int], functions: LoopFunctions) -> tuple[int, int]:
    """The links that row k is on."""
    found: set[int] = set()
    for key in functions.gradients[k]:
        kind, owner, _ = moves(key)
        if kind == RATE:
            found |= {joint[owner], model.links[joint[owner]].parent}
        else:
            found.add(model.bodies[owner].link)
    links = sorted(found - {WORLD})
    if len(links) > 2 or not links:
        names = ", ".join(f"'{model.links[i].name}'" for i in links)
        raise ModelError(
            f"constraint '{model.constraints[k].name}' is on {len(links)} bodies that move ({names}), and maximal"
            " coordinates take rows on one or two; use method='recursive' or 'lagrangian', or write it in such rows"
        )
    return (links[0], links[1]) if len(links) == 2 else (WORLD, links[0])
