"""The twists nearest to bodies' own that their joints allow, by the masses, in machine code."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.dynamics.program_calls import all_finite
from recursive_dyn.maximal.acting.step_system import SystemArrays
from recursive_dyn.maximal.kinds.row_arrays import RowArrays, rate
from recursive_dyn.maximal.sparse.block_ldlt import SparseEquations, solve_in_lanes
from recursive_dyn.maximal.sparse.lanes import LaneBlocks
from recursive_dyn.maximal.sparse.tree_ldlt import Blocks, Sixes


@compiled
def allowed(
    it: RowArrays, s: SystemArrays, inertias: Blocks, change: Sixes, solving: SparseEquations, blocks: LaneBlocks
) -> bool:
    """Change twists to those by ``change`` (n, 6), zero before; False where that cannot be solved for."""
    if _strayed(it, s) and solve_in_lanes(solving, blocks, inertias, change, s.c) >= 0:
        return False
    for i in range(len(change)):
        if not all_finite(change[i]):
            return False
        for k in range(6):
            it.twists[i, k] += change[i, k]
    return True


@compiled
def _strayed(it: RowArrays, s: SystemArrays) -> bool:
    """c for the least change of twists after which joints allow them; whether there is any."""
    some = False
    for i in range(len(s.counts)):
        for r in range(s.heights[i]):
            s.c[i, r] = -it.lacking[i, r] - rate(it, it.twists, i, r) if s.e[i, r] == 0.0 else 0.0
            some = some or s.c[i, r] != 0.0
    return some
