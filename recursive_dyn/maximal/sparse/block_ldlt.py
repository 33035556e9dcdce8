"""Velocities and multipliers of many links with joints as rows, by sparse factors that are kept for many solves.

    M v - A^T lambda = f,   A v + e lambda = c

M (nl, 6, 6) is symmetric and positive, A has a joint's rows on two links at most, the first of them on further ones
if any, e is the rows' compliance, mostly 0, infinite of rows that do nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.maximal.sparse.lanes import LaneBlocks, blocks_inward, blocks_outward
from recursive_dyn.maximal.sparse.loop_ldlt import LoopFactors, factor_loops, loops_inward, loops_outward
from recursive_dyn.maximal.sparse.sparse_order import (
    NO_MORE,
    LeafOrder,
    LoopOrder,
    MoreSides,
    SparseOrder,
    sparse_order,
)
from recursive_dyn.maximal.sparse.tree_ldlt import (
    BlockRows,
    Blocks,
    RowFlags,
    Sixes,
    TreeFactors,
    factor_step,
    factor_trees,
    inward,
    outward,
    step_inward,
)

Array = np.ndarray


class SparseEquations(NamedTuple):
    """The equations of links and joints in memory that stays: order, rows, mass matrices that are used up, factors."""

    tree: LeafOrder
    loops: LoopOrder
    rows: BlockRows
    D: Blocks
    trees: TreeFactors
    rest: LoopFactors
    redundant: RowFlags


class JointEquations:
    """The equations of links and joints, numbered; what a factorization makes stays until the next.

    redundant (nj, 6): rows of the last factorization that follow from others, and have no multiplier.
    """

    def __init__(self, links: int, a: Array, b: Array, rows: Array, more: MoreSides = NO_MORE) -> None:
        """a, b (nj,): links of each joint, -1 for the world; rows (nj,): how many each has, 0 to 6; more: further links
        that the first row of a joint is on."""
        self.rows = np.array(rows, dtype=np.int64)
        a, b = (np.array(x, dtype=np.int64) for x in (a, b))
        if not a.shape == b.shape == self.rows.shape == (len(a),):
            raise ModelError("joints need as many links a, links b and numbers of rows")
        for j in np.flatnonzero((np.minimum(a, b) < -1) | (np.maximum(a, b) >= links) | (a == b))[:1]:
            raise ModelError(f"joint {j} is between {a[j]} and {b[j]}: give it two links of {links}, or the world, -1")
        for j in np.flatnonzero((self.rows < 0) | (self.rows > 6))[:1]:
            raise ModelError(f"joint {j} has {self.rows[j]} rows: give it 0 to 6")
        self.links, self.joints = links, len(a)
        self.order: SparseOrder = sparse_order(links, a, b, more)
        self._none = np.zeros((len(more.rows), 6))
        self.redundant = np.zeros((self.joints, 6), dtype=bool)
        tree, loops = self.order.tree, self.order.loops
        self._D = np.zeros((links, 6, 6))
        self._tree = TreeFactors(*(np.zeros((len(tree.link), 6, 6)) for _ in TreeFactors._fields))
        columns = len(loops.link) + len(loops.joint)
        self._loops = LoopFactors(np.zeros((columns, 6, 6)), np.zeros((len(loops.below), 6, 6)), np.zeros((columns, 6)))
        self._rows: BlockRows | None = None

    def factor(self, M: Array, Ja: Array, Jb: Array, compliance: Array | float = 0.0, Jm: Array | None = None) -> None:
        """Factors for M (nl, 6, 6) and rows Ja, Jb (nj, 6, 6), of which a joint has its first ``rows``, Jm (x, 6) on
        further links.

        Raises StateError for a link whose mass matrix is not positive, or numbers that are not finite.
        """
        e = np.array(np.broadcast_to(compliance, (self.joints, 6)), dtype=float)
        a, b, m = (np.ascontiguousarray(J, float) for J in (Ja, Jb, self._none if Jm is None else Jm))
        self._rows = BlockRows(self.rows, a, b, e, m)
        self._D[:] = M
        tree, loops = self.order.tree, self.order.loops
        self._refuse(_factor(tree, loops, self._rows, self._D, self._tree, self._loops, self.redundant))

    def arrays(self, Ja: Array, Jb: Array, e: Array, Jm: Array | None = None) -> SparseEquations:
        """For machine code: with rows and compliances that are in this memory."""
        own = (
            self.order.tree,
            self.order.loops,
            BlockRows(self.rows, Ja, Jb, e, self._none if Jm is None else Jm),
            self._D,
        )
        return SparseEquations(*own, self._tree, self._loops, self.redundant)

    def solve_once(self, M: Array, Ja: Array, Jb: Array, compliance: Array | float, c: Array) -> Array:
        """The velocities (nl, 6) that rows with c (nj, 6) make alone, f being 0; both steps in one."""
        e = np.array(np.broadcast_to(compliance, (self.joints, 6)), dtype=float)
        it, v, u = self.arrays(Ja, Jb, e), np.zeros((self.links, 6)), np.array(c, dtype=float)
        self._rows = it.rows
        self._refuse(solve_once(it, M, v, u))
        return self._finite(v)

    def solve(self, f: Array, c: Array) -> tuple[Array, Array]:
        """Velocities (..., nl, 6) and multipliers (..., nj, 6) for right-hand sides of the same shapes.

        Raises StateError for other shapes, and where what comes out is not finite.
        """
        if self._rows is None:
            raise StateError("there are no factors: call factor first")
        v, u = np.array(f, dtype=float, order="C"), np.array(c, dtype=float, order="C")
        if v.shape[-2:] != (self.links, 6) or u.shape[-2:] != (self.joints, 6) or v.shape[:-2] != u.shape[:-2]:
            raise StateError(f"right-hand sides are (..., {self.links}, 6) and (..., {self.joints}, 6)")
        for one in np.ndindex(v.shape[:-2]):
            _solve(self.order.tree, self.order.loops, self._rows, self._tree, self._loops, v[one], u[one])
        u[..., np.arange(6) >= self.rows[:, None]] = 0.0
        return self._finite(v), u

    def _refuse(self, link: int) -> None:
        """Raise for a link whose mass matrix is not positive, unless it is -1."""
        if link >= 0:
            self._rows = None
            raise StateError(
                f"the mass matrix of link {link} is not positive or not finite: give it mass and moments of inertia, or"
                " use a smaller timestep"
            )

    @staticmethod
    def _finite(v: Array) -> Array:
        if not np.isfinite(v).all():
            raise StateError(f"link {np.argwhere(~np.isfinite(v))[0][-2]} gets a velocity that is not finite")
        return v


@compiled
def _factor(
    tree: LeafOrder,
    loops: LoopOrder,
    rows: BlockRows,
    D: Blocks,
    trees: TreeFactors,
    rest: LoopFactors,
    dependent: RowFlags,
) -> int:
    at = factor_trees(tree, rows, D, trees, dependent)
    return at if at >= 0 else factor_loops(loops, rows, D, rest, dependent)


@compiled
def _solve(
    tree: LeafOrder, loops: LoopOrder, rows: BlockRows, trees: TreeFactors, rest: LoopFactors, f: Sixes, c: Sixes
) -> None:
    inward(tree, rows, trees, f, c)
    loops_inward(loops, rows, rest, f, c)
    loops_outward(loops, rows, rest, f, c)
    outward(tree, rows, trees, f, c)


@compiled
def solve_once(it: SparseEquations, M: Blocks, v: Sixes, c: Sixes) -> int:
    """v (nl, 6) <- the velocities that rows with c (nj, 6) make alone, v being 0 before; factors and a solve in one.

    A link whose mass matrix is not positive, or -1; c is used up.
    """
    tree, loops, rows, D = it.tree, it.loops, it.rows, it.D
    D[:] = M
    for k in range(len(tree.link)):
        if not factor_step(tree, rows, k, D, it.trees, it.redundant):
            return tree.link[k]
        step_inward(tree, rows, it.trees, k, v, c)
    at = factor_loops(loops, rows, D, it.rest, it.redundant)
    if at < 0:
        loops_inward(loops, rows, it.rest, v, c)
        loops_outward(loops, rows, it.rest, v, c)
        outward(tree, rows, it.trees, v, c)
    return at


@compiled
def solve_in_lanes(it: SparseEquations, blocks: LaneBlocks, M: Blocks, v: Sixes, c: Sixes) -> int:
    """``solve_once`` in vector lanes, which leaves factors of loops alone; v is not finite where the mass matrix of a
    link of a tree is not positive."""
    it.D[:] = M
    blocks_inward(blocks, it.rows, it.D, v, c, 0, len(blocks.address))
    at = solve_between(it, v, c)
    if at < 0:
        blocks_outward(blocks, v, 0, len(blocks.address))
    return at


@compiled
def solve_between(it: SparseEquations, v: Sixes, c: Sixes) -> int:
    """Solve for loops, between ``blocks_inward`` and ``blocks_outward`` of all trees; as ``solve_once``."""
    at = factor_loops(it.loops, it.rows, it.D, it.rest, it.redundant)
    if at < 0:
        loops_inward(it.loops, it.rows, it.rest, v, c)
        loops_outward(it.loops, it.rows, it.rest, v, c)
    return at


@compiled
def solve_again(it: SparseEquations, v: Sixes, c: Sixes) -> None:
    """v (nl, 6) <- the velocities for right-hand sides v and c (nj, 6), by the factors of the last ``solve_once``; c is
    used up."""
    _solve(it.tree, it.loops, it.rows, it.trees, it.rest, v, c)
