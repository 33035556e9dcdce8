"""How fast overlaps are pushed apart: in a step, no body gets further by it than the push speed allows."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.gaps import Gaps, go_part
from recursive_dyn.contact.islands.islands import Partition, member
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import length
from recursive_dyn.contact.rows.responses import expand, moves_at
from recursive_dyn.contact.tuning import PUSH_ARM


@compiled
def restrain(
    problem: ImpulseProblem, whole: Island, these: Partition, states: Gaps, root: Floats, before: Floats, pushed: Floats
) -> None:  # fmt: skip
    """Shorten the whitened way from ``before`` to where positions are, where it is too far, for all of an island alike,
    with what pushed since ``pushed`` (n + m,).

    A body's origin (a free one's centre) may be pushed by push_speed h, and it may turn as a wheel of radius PUSH_ARM
    would that rolls so far.
    """
    layout, links = problem.layout, len(problem.layout.parent)
    z = states.z
    homes, shares, way = np.full(len(z), -1), np.full(these.total[0], 1.0), np.empty(len(z))
    for i in range(these.total[0]):
        for k in range(these.slot_first[i], these.slot_first[i + 1]):
            homes[these.slots[k]] = i
    for k in range(len(z)):
        way[k] = z[k] - before[k]
    V, x = np.empty((links, 6)), np.empty(layout.nv)
    expand(layout, problem.factors, root, way, problem.moving.links, V, x)
    _of_bodies(problem, homes, V, shares)
    _of_free_bodies(problem, homes, way, shares)
    for i in range(these.total[0]):
        if shares[i] < 1.0:
            go_part(member(whole, these, i), states, before, pushed, shares[i])


@compiled
def _of_bodies(problem: ImpulseProblem, homes: Integers, V: Annotated[np.ndarray, float, 6], shares: Floats) -> None:
    """Lower each island's share to what its bodies' twists V of the way allow."""
    layout, bodies, factors = problem.layout, problem.bodies, problem.factors
    far = problem.options.push_speed * problem.options.h
    for k in range(len(bodies.links)):
        link = bodies.links[k]
        group = layout.link_groups[link] if link >= 0 else -1
        home = homes[layout.group_slots[layout.group_first[group]]] if group >= 0 else -1
        if home >= 0:
            turn = length(V[link, 0], V[link, 1], V[link, 2])
            shares[home] = min(shares[home], _share(turn, far / PUSH_ARM))
            x, y, z = 0.0, 0.0, 0.0  # where it is does not matter to what does not turn
            placed = k < len(bodies.poses)  # nobody asked for poses where nothing but limits is about
            if placed:
                at = layout.refs + 3 * link
                x = bodies.poses[k, 0, 3] - factors[at]
                y = bodies.poses[k, 1, 3] - factors[at + 1]
                z = bodies.poses[k, 2, 3] - factors[at + 2]
            if placed or turn == 0.0:
                way = moves_at(V, link, x, y, z)
                shares[home] = min(shares[home], _share(length(way[0], way[1], way[2]), far))


@compiled
def _of_free_bodies(problem: ImpulseProblem, homes: Integers, way: Floats, shares: Floats) -> None:
    """The same of free bodies, by the whitened way."""
    nv, free = problem.layout.nv, problem.free
    far = problem.options.push_speed * problem.options.h
    for k in range(len(free.masses)):
        at = nv + 6 * k
        home = homes[at]
        if home >= 0:
            step = free.masses[k] * length(way[at + 3], way[at + 4], way[at + 5])
            share = min(_share(_free_turn(free.spins, k, way, at), far / PUSH_ARM), _share(step, far))
            shares[home] = min(shares[home], share)


@compiled
def _share(way: float, most: float) -> float:
    return 1.0 if way <= most else most / way


@compiled
def _free_turn(spins: Annotated[np.ndarray, float, 3, 3], k: int, x: Floats, at: int) -> float:
    """Angle by which whitened x from ``at`` turn a free body."""
    a = spins[k, 0, 0] * x[at] + spins[k, 0, 1] * x[at + 1] + spins[k, 0, 2] * x[at + 2]
    b = spins[k, 1, 0] * x[at] + spins[k, 1, 1] * x[at + 1] + spins[k, 1, 2] * x[at + 2]
    c = spins[k, 2, 0] * x[at] + spins[k, 2, 1] * x[at + 1] + spins[k, 2, 2] * x[at + 2]
    return length(a, b, c)
