"""Functions of what impulses at a step's end are answered with: joints' and elements' springs and dampers."""

from __future__ import annotations

from recursive_dyn.graph.expression import Scalar, maximum, sqrt
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.context import METHOD_TWO, Context, Function, Outputs
from recursive_dyn.recursion.equations.lagrangian import nonzero
from recursive_dyn.recursion.forces.element_slopes import element_slopes, slope_counts
from recursive_dyn.recursion.momenta import impulse
from recursive_dyn.recursion.multipliers import YieldingRow
from recursive_dyn.recursion.spring_answers import holding, joint_answers


def _step(c: Context) -> tuple[Scalar, Scalar]:
    """Its length, and 1 where springs are to answer as by ``held_rk4``, or 0."""
    h = c.input("dt")[0]
    return h, holding(h, c.input("ahead")[0])


def _inertia(c: Context) -> list[Scalar]:
    """What damping and springs of joints, and ``diagonal``, add to the diagonal of M (nv,)."""
    h, held = _step(c)
    found, bouncing = list[Scalar](c.input("diagonal")), c.input("bouncing")
    answers = joint_answers(c.tree, h, held, c.method != METHOD_TWO, list(bouncing))
    for s, joint in enumerate(c.model.coordinates):
        if joint.damping:
            found[s] = found[s] + joint.damping * h
        if s in answers:
            found[s] = found[s] + joint.elasticity * answers[s].share * h * h
    return found


def _factors(c: Context) -> Outputs:
    return [("factors", impulse.factors(c.tree, _inertia(c)))]


def _slopes(c: Context) -> Outputs:
    return [("r", [x for row in element_slopes(c.tree) for x in row])]


def _answers(c: Context) -> Outputs:
    (h, held), stiff = _step(c), slope_counts(c.model)[0]
    bouncing, rows = list(c.input("bouncing")), list[YieldingRow]()
    for i, r in enumerate(element_slopes(c.tree)):
        bounces: Scalar = 0.0
        for x, b in zip(r, bouncing, strict=True):
            bounces = maximum(bounces, b) if nonzero(x) else bounces
        spring = i < stiff
        rows.append(YieldingRow(r, 0.0, 0.0, h if spring else sqrt(h), 0.0, h if spring else 0.0, held, bounces))
    answering = c.answering(c.tree, rows, _inertia(c))
    return [("r", [x * found.length for row, found in zip(rows, answering, strict=True) for x in row.r])]


IMPULSES: dict[str, Function] = {
    "impulse_factors": Function(
        "What impulses are answered with, of M with ``diagonal`` and with damping and springs of joints in a step of\n"
        "dt, whose positions follow velocities by ``ahead``; bouncing: 1 for coordinates of trees that bounce (see\n"
        "recursion.impulse and recursion.spring_answers).",
        ("q", "dt", "ahead", "diagonal", "bouncing"), lambda m: (impulse.factors_size(m),), _factors,
        rows=tree_rows.impulse_factors,
    ),
    "element_slopes": Function(
        "Rows r of force elements, of stiffness and then of damping: they add sum r^T r to K and to D.",
        ("q", "v"), lambda m: (sum(slope_counts(m)), m.nv), _slopes,
    ),
    "element_answers": Function(
        "Rows r with which force elements answer impulses: sum r^T r adds to M, beside what impulse_factors has.",
        ("q", "v", "dt", "ahead", "diagonal", "bouncing"), lambda m: (sum(slope_counts(m)), m.nv), _answers,
    ),
}  # fmt: skip
