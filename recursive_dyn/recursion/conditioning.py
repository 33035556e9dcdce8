"""How well conditioned the coordinates of joints of several charts are at a configuration."""

from __future__ import annotations

from functools import cache

import numpy as np

from recursive_dyn.graph.expression import Scalar, maximum, reciprocal, sqrt
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.joint.charted_program import TurnedProgram
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import dot


def measures(tree: Tree) -> list[Scalar]:
    """Volume sqrt(det S^T S) and roundness, volume / (trace S^T S / d)^(d / 2), of each joint of several charts.

    The volume vanishes where a coordinate moves nothing, the roundness also where one outgrows the others. Of surfaces
    that touch it is how far each is from a pole: all else, such as how they bend, is the same in every chart.
    """
    flat: list[Scalar] = []
    for k in tree.links:
        if isinstance(k.link.joint, TurnedProgram):
            q = {("q", i): tree.q[place] for i, place in enumerate(k.link.places)}
            flat += substitute(list(k.link.joint.quality), q)
        elif k.link.chart is not None:
            d = k.S.shape[1]
            gram = np.array([[dot(k.S[:, i], k.S[:, j]) for j in range(d)] for i in range(d)], dtype=object)
            square = maximum(determinant(gram), 0.0)
            shrink = reciprocal(sum(gram[i, i] for i in range(d)) * (1.0 / d))
            ratio = square
            for _ in range(d):
                ratio = ratio * shrink
            flat += [sqrt(square), sqrt(ratio)]
    return flat


def determinant(A: np.ndarray) -> Scalar:
    """Determinant of (n, n) scalars by minors, without a division."""
    n = len(A)

    @cache
    def minor(columns: tuple[int, ...]) -> Scalar:
        """Of the last rows and these columns."""
        if not columns:
            return 1.0
        row, total, sign = n - len(columns), 0.0, 1.0
        for i, column in enumerate(columns):
            total = total + A[row, column] * minor(columns[:i] + columns[i + 1 :]) * sign
            sign = -sign
        return total

    return minor(tuple(range(n)))
