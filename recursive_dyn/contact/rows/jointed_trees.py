"""Trees with joints, as what contacts bring in is reckoned: by their coordinates.

Where a swing goes its body turns into another direction, which is no work of anything. So what forces changed in a
flight is read off the coordinates' velocities of what hangs on the world, and off what they accelerate coordinates by
of what floats, whose axes turn; never off the velocities of bodies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, compiled
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import floats
from recursive_dyn.contact.rows.responses import whitened


class JointedTrees(NamedTuple):
    """known, hangs (groups,): marks of those that move freely, and of which that is known, and of those among them that
    hang on the world. speeds, falls: whitened velocities where the flight ended, and what forces changed them by in it,
    0 for all others."""

    known: Flags
    hangs: Flags
    speeds: Floats
    falls: Floats


@compiled
def jointed_trees(problem: ImpulseProblem, root: Floats, f: Floats) -> JointedTrees:
    """Those of a problem; root: as of ``responses.inverses``; f (nv,): as of ``balance.measured``."""
    layout, lone, groups, size = problem.layout, problem.lone, problem.layout.groups, len(root)
    known, hangs = np.zeros(groups, dtype=np.bool_), np.zeros(groups, dtype=np.bool_)
    speeds, falls, start, some = np.zeros(size), np.zeros(size), np.zeros(size), False
    for k in range(len(lone.masses), len(lone.links)):
        group = layout.link_groups[lone.links[k]]
        known[group], hangs[group], some = True, not floats(problem, k), True
    if not some:
        return JointedTrees(known, hangs, speeds, falls)
    whitened(layout, problem.factors, root, problem.v, speeds)
    whitened(layout, problem.factors, root, problem.start_v, start)
    told = known.copy()
    for k in range(layout.nv):
        group = layout.group[k]
        known[group] = known[group] and root[k] > 0.0  # what is led moves whatever impulses do
        told[group] = told[group] and not np.isnan(f[k])
    for group in range(groups):
        known[group] = known[group] and (told[group] or hangs[group])
    for k in range(layout.nv):
        group = layout.group[k]
        speeds[k] = speeds[k] if known[group] else 0.0
        if known[group]:
            falls[k] = speeds[k] - start[k] if hangs[group] else problem.options.h * f[k]
    return JointedTrees(known, hangs, speeds, falls)


@compiled
def is_jointed(problem: ImpulseProblem, trees: JointedTrees, k: int) -> bool:
    """Whether a body, by its number among lone ones and others, is of such a tree."""
    return k >= len(problem.lone.masses) and bool(trees.known[problem.layout.link_groups[problem.lone.links[k]]])
