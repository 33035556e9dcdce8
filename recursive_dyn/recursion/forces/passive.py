"""Forces that a scene has of its own: damping and springs of joints, and its force elements."""

from __future__ import annotations

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.recursion.configuration import plain_positions
from recursive_dyn.recursion.forces.element_forces import element_forces
from recursive_dyn.recursion.kinematics import Tree


def passive_forces(tree: Tree) -> list[Scalar]:
    """tau (nv,) of damping and springs, -damping v - stiffness (q - rest), and of force elements."""
    result: list[Scalar] = []
    acting = element_forces(tree)
    for c, q, v, force in zip(tree.model.coordinates, plain_positions(tree), tree.v, acting, strict=True):
        if c.damping:
            force = force - c.damping * v
        if c.stiffness:
            force = force - c.stiffness * (q - c.rest)
        result.append(force)
    return result


def implicit_terms(tree: Tree, h: Scalar, balls: bool = True) -> tuple[list[Scalar], list[Scalar]]:
    """(tau (nv,), diagonal (nv,)) with which (M + diagonal) a = tau + ... treats damping and springs implicitly.

    Backward Euler on the joint's own linear forces: -d (v + h a) - k (q + h v + h^2 a - rest); Tan, Liu & Turk (2011).
    Of springs of balls, which ``passive_forces`` has, how they change on the way, -k (h v + h^2 a), if ``balls``.
    """
    tau, diagonal = [], []
    for c, q, v in zip(tree.model.coordinates, plain_positions(tree), tree.v, strict=True):
        force: Scalar = 0.0
        extra: Scalar = 0.0
        if c.damping:
            force, extra = force - c.damping * v, extra + c.damping * h
        if c.stiffness:
            force, extra = force - c.stiffness * (q + h * v - c.rest), extra + c.stiffness * h * h
        if balls and c.torsion:
            force, extra = force - c.torsion * h * v, extra + c.torsion * h * h
        tau.append(force)
        diagonal.append(extra)
    return tau, diagonal
