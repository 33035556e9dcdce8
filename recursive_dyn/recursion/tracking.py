"""How far a moving configuration is from another one that moves as well, in the tangent space, and how that changes.

The error e = log(q^-1 q_end), ``configuration.difference``, obeys e'' = drift - A a, with A = -de/dq in the directions
of v. On flat spaces e = q_end - q, A = 1, drift = a_end; elsewhere A is a block for each factor of a joint.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Scalar, array
from recursive_dyn.joint.joint_program import Factor
from recursive_dyn.recursion.kinematics import Tree, zeros

BLOCK = 6  # the largest tangent
WIDTH = 3 + BLOCK


def tracking(tree: Tree, q_end: np.ndarray, v_end: np.ndarray, a_end: np.ndarray) -> list[Scalar]:
    """Rows [e, e', drift, A] of every velocity coordinate; A (BLOCK,): against its factor's coordinates, then zeros."""
    rows = np.zeros((tree.model.nv, WIDTH), dtype=object)
    rows[:] = 0.0
    for place, slot in tree.model.plain_slots:
        rows[slot, :4] = q_end[place] - tree.q[place], v_end[slot] - tree.v[slot], a_end[slot], 1.0
    for _, factor, q0, v0 in tree.model.owners:
        q, v = slice(q0, q0 + factor.nq), slice(v0, v0 + factor.nv)
        ours, theirs = (tree.q[q], tree.v[v]), (q_end[q], v_end[v])
        rows[v, : 3 + factor.nv] = _on_a_manifold(factor, ours, theirs, a_end[v])
    return list(rows.flat)


def _on_a_manifold(
    factor: Factor, ours: tuple[np.ndarray, np.ndarray], theirs: tuple[np.ndarray, np.ndarray], a_end: np.ndarray
) -> np.ndarray:
    space, (q, v), (q_end, v_end) = factor.space, ours, theirs
    e, rate = space.log(q, q_end), space.log_rate(q, q_end, v, v_end)
    # what the rate is written in: e itself, where it stands in it, so that nothing is divided by its length
    moving = [*zip(e, rate, strict=True), *zip(q, space.rate(q, v), strict=True)]
    moving += [*zip(q_end, space.rate(q_end, v_end), strict=True), *zip(v_end, a_end, strict=True)]
    along = {node: slope for node, slope in moving if isinstance(node, Expression)}
    drift = directional_derivative(list(rate), along)
    A = [-space.log_rate(q, q_end, unit, zeros(factor.nv)) for unit in array(np.eye(factor.nv))]
    return array([*e, *rate, *drift, *(x for column in A for x in column)]).reshape(3 + factor.nv, factor.nv).T
