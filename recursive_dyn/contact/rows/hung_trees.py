"""Trees that hang on the world and move freely there, as what contacts bring in is reckoned: by their coordinates.

Where a swing goes its body turns into another direction, which is no work of anything: what a flight changed is read
off its coordinates' velocities, and not off its body's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, compiled
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import any_hang, floats
from recursive_dyn.contact.rows.responses import whitened


class HungTrees(NamedTuple):
    """``moves`` (groups,) marks them. speeds, falls: whitened velocities where the flight ended, and what it changed
    them by, 0 for all others; of no length where nothing hangs."""

    moves: Flags
    speeds: Floats
    falls: Floats


@compiled
def hung_trees(problem: ImpulseProblem, size: int, root: Floats) -> HungTrees:
    """Those of a problem with so many whitened coordinates; root: as of ``responses.inverses``."""
    layout, lone, moves = problem.layout, problem.lone, np.zeros(problem.layout.groups, dtype=np.bool_)
    if not any_hang(problem):
        return HungTrees(moves, root[0:0], root[0:0])
    speeds, falls = np.zeros(size), np.zeros(size)
    for k in range(len(lone.masses), len(lone.links)):
        moves[layout.link_groups[lone.links[k]]] = not floats(problem, k)
    for k in range(layout.nv):  # what is led moves whatever impulses do
        moves[layout.group[k]] = moves[layout.group[k]] and root[k] > 0.0
    whitened(layout, problem.factors, root, problem.v, speeds)
    whitened(layout, problem.factors, root, problem.start_v, falls)
    for k in range(layout.nv):
        falls[k] = speeds[k] - falls[k] if moves[layout.group[k]] else 0.0
        speeds[k] = speeds[k] if moves[layout.group[k]] else 0.0
    return HungTrees(moves, speeds, falls)


@compiled
def is_hung(problem: ImpulseProblem, hung: HungTrees, k: int) -> bool:
    """Whether a body, by its number among lone ones and others, is of such a tree."""
    return not floats(problem, k) and bool(hung.moves[problem.layout.link_groups[problem.lone.links[k]]])
