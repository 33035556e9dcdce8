"""The program of a motion, of which its derivatives are made in loops: what its numbers are, and where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.dynamics.derivatives.constrained_loops import ConstraintMemory
from recursive_dyn.dynamics.derivatives.tree_order import ROOM, walk
from recursive_dyn.graph.expression import Graph, Scalar, is_constant
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.analytic_derivatives import motion_derivatives as motion
from recursive_dyn.recursion.analytic_derivatives.constraint_derivatives import constraint_changes
from recursive_dyn.recursion.kinematics import Tree

Segments = Sequence[tuple[str, int]]
_ROWS, _WRENCH, _TURNING, _DIRECT = "rows", "wrench", "turning", "direct"


def moving_program(model: Model, constrained: bool = False) -> Program:
    """The motion of links, then of columns in the order of a walk, without what no column has, in a segment named by
    how many numbers they have; then of columns of one joint, segments named by link, row and column.

    constrained: constraints follow, whose multipliers are inputs then: rows, wrenches by link, turning by link and
    the other, direct rates by row and column.
    """
    graph = Graph()
    inputs = [("q", model.nq), ("v", model.nv), ("a", model.nv), ("parameters", len(model.parameters))]
    tree, acceleration = Tree(model, graph), graph.inputs("a", model.nv)
    found = motion.moving(tree, acceleration)
    columns = [found.columns[i][c] for i, c in walk(model)]
    size = motion.COLUMN
    while all(is_constant(x) and x == 0.0 for column in columns for x in column[size - 6 : size]):
        size -= 6
    own = [(" ".join(map(str, place)), terms) for place, terms in found.own.items()]
    outputs = [("links", [x for link in found.links for x in link])]
    outputs += [(str(size), [x for column in columns for x in column[:size]]), *own]
    if constrained:
        inputs.append(("multipliers", len(model.constraints)))
        multipliers = list(graph.inputs(*inputs[-1]))
        outputs += _of_constraints(tree, found, acceleration, multipliers)
    return schedule("motion", inputs, outputs)


def _of_constraints(
    tree: Tree, moved: motion.TreeMotion, acceleration: np.ndarray, multipliers: Sequence[Scalar]
) -> list[tuple[str, list[Scalar]]]:
    found = constraint_changes(tree, moved, acceleration, multipliers)
    outputs = [(_ROWS, [*found.C.flat, *found.by_q.flat, *found.by_v.flat])]
    outputs += [(f"{_WRENCH} {link}", list(W)) for link, W in found.wrenches.items()]
    outputs += [(f"{_TURNING} {link} {other}", list(T.flat)) for (link, other), T in found.turning.items()]
    return outputs + [(f"{_DIRECT} {row} {slot}", [x]) for (row, slot), x in found.direct.items()]


def pairs_of_columns(segments: Segments) -> list[tuple[int, int, int]]:
    """(link, row, column) of the columns of one joint that change each other."""
    names = [name.split() for name, _ in segments[2:]]
    return [(int(name[0]), int(name[1]), int(name[2])) for name in names if name[0].isdigit()]


def constraint_memory(model: Model, segments: Segments) -> ConstraintMemory:
    """Where numbers of constraints are among a program's, and room for what is made of them."""
    named = {kind: _places(kind, segments) for kind in (_WRENCH, _TURNING, _DIRECT)}
    columns = walk(model)
    row_of = {model.links[i].slots[c]: k for k, (i, c) in enumerate(columns)}
    last = {i: k for k, (i, _) in enumerate(columns)}

    def end(link: int) -> int:
        """The last column that moves a link, -1 for none."""
        return next((last[i] for i in model.chain(link) if i in last), -1)

    m, n = len(model.constraints), model.nv
    first = sum(size for name, size in segments[: [name for name, _ in segments].index(_ROWS)])
    lists = [
        [first], [ROOM * link for (link,) in named[_WRENCH]], [end(link) for link, _ in named[_TURNING]],
        [end(other) for _, other in named[_TURNING]], [row_of[row] for row, _ in named[_DIRECT]],
        [slot for _, slot in named[_DIRECT]],
    ]  # fmt: skip
    places = (np.array(numbers, dtype=np.int64) for numbers in lists)
    usual = np.array([constraint.usual for constraint in model.constraints])
    return ConstraintMemory._make([*places, usual, np.zeros(m * m), np.zeros(m), np.zeros(m * 3 * n)])


def _places(kind: str, segments: Segments) -> list[tuple[int, ...]]:
    names = [name.split() for name, _ in segments]
    return [tuple(map(int, name[1:])) for name in names if name[0] == kind]
