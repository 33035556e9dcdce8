"""What a solve that ended early may lift by pushing overlaps apart: no more than its impulses took.

Impulses that are not yet those of the laws leave bodies that approach. These sink on, and what pushes them out again
lifts them while they keep the speed at which they sank: energy from nothing, in every step, until a wall falls. What
stops them later takes as much as they fell by, which lifts them then.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.islands.impacts import Bounced
from recursive_dyn.contact.islands.islands import Partition, member
from recursive_dyn.contact.islands.passivity import gain
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import at_center, dot, fallen, lone_of
from recursive_dyn.contact.rows.responses import expand
from recursive_dyn.contact.rows.sustaining import HALF
from recursive_dyn.contact.spinning import is_alone
from recursive_dyn.contact.tuning import PUT, SUNK, SUNK_FALLS


@compiled
def left_to_lift(
    problem: ImpulseProblem, whole: Island, these: Partition, early: Flags, bounced: Bounced, began: Floats
) -> Floats:
    """What moving positions may lift each island by, J (islands,): what impulses of one that ended ``early`` took; inf
    where that is not bounded, as where something bounces, whose heights are those of its velocities, or lay deeper in
    another as the step began than what sinks does, or was put there. began (n or more,): gaps then, m."""
    left, none, g, h = np.full(these.total[0], np.inf), np.zeros((0, 3)), problem.lone.gravity, problem.options.h
    sunk = max(SUNK, SUNK_FALLS * h * h * np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]))
    for k in range(these.total[0]):
        if early[k] and problem.options.position_share == HALF:
            if len(none) == 0:
                none = np.zeros((len(whole.targets), 3))
            it, bounces, deepest = member(whole, these, k), 0.0, 0.0
            for c in it.contacts:
                bounces, deepest = bounces + bounced[c, 0], min(deepest, began[c])
            sinks = deepest > -sunk and not _was_put(problem, it, began)
            if bounces == 0.0 and sinks and len(it.scalars) == 0 and is_alone(problem, it):
                left[k] = -gain(it, none)[0]
    return left


@compiled
def _was_put(problem: ImpulseProblem, it: Island, began: Floats) -> bool:
    """Whether something lay deeper in another as the step began than it moves in it, and did not touch it in the last
    step: nothing sinks so."""
    contacts, earlier, put = problem.contacts, problem.earlier, False
    for c in it.contacts:
        if not put and began[c] < -PUT - abs(began[c] - contacts.gaps[c]):
            put = True
            for i in range(earlier.size[0]):
                put = put and earlier.keys[i] != contacts.keys[c]
    return put


@compiled
def is_bounded(left: Floats) -> bool:
    """Whether there is an island that may not be lifted by anything."""
    least = np.inf
    for energy in left:
        least = min(least, energy)
    return least < np.inf


@compiled
def _lifted_by(problem: ImpulseProblem, it: Island, V: Annotated[np.ndarray, float, 6]) -> float:
    """What ways V (nl, 6) of links lift lone bodies of an island by, J."""
    lone, lift = problem.lone, 0.0
    seen = np.zeros(len(lone.masses), dtype=np.bool_)
    for c in it.contacts:
        for side in range(2):
            k = lone_of(problem, c, side)
            if k >= 0 and not seen[k]:
                seen[k] = True
                moved, fall = at_center(problem, V, k, (0.0, 0.0, 0.0)), fallen(problem, k)
                lift -= lone.masses[k] * dot(moved, fall) / problem.options.h
    return lift


@compiled
def bounded(problem: ImpulseProblem, whole: Island, these: Partition, root: Floats, left: Floats, z: Floats) -> None:
    """Shorten whitened ways z of islands, towards those for half of the step and then nothing, to where they lift by
    what is left."""
    layout, options = problem.layout, problem.options
    if not is_bounded(left):
        return
    half, x = np.empty(len(z)), np.empty(layout.nv)
    for k in range(len(z)):
        half[k] = options.position_share * options.h * whole.y[k]
    V, ways = np.empty((len(layout.parent), 6)), np.empty((len(layout.parent), 6))
    expand(layout, problem.factors, root, half, problem.moving.links, V, x)
    expand(layout, problem.factors, root, z, problem.moving.links, ways, x)
    for k in range(these.total[0]):
        if left[k] < np.inf:
            it = member(whole, these, k)
            least, most = _lifted_by(problem, it, V), _lifted_by(problem, it, ways)
            if least > left[k]:
                share = max(left[k], 0.0) / least
                for slot in it.slots:
                    z[slot] = share * half[slot]
            elif most > left[k]:
                share = (left[k] - least) / (most - least)
                for slot in it.slots:
                    z[slot] = half[slot] + share * (z[slot] - half[slot])
