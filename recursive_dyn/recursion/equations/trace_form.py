"""Guenter & Lee (2009) as they wrote it: the trace form of the Lagrangian, and coefficients taken from it.

A reference for the recursions of the other methods, with which it shares the joints' transforms A_j and what a graph
can do; no motion subspace, twist or composite inertia is in it. World transforms W_j = W_p A_j are differentiated
twice by time (D*), and with a_i = m (r-double-dot - g) of the centre of mass and b_i = I omega-dot + omega x I omega in
the link's axes, B_i = [b_i] and U_i the rotation of W_i, the generalized forces are (eq. 13)

    Q_j = tr(W_p dA_j/dq_j phi_j),  phi_j = t_cm a_j^T - B_j U_j^T / 2 + sum over children k of A_k phi_k.

They are linear in the accelerations: M is made of the coefficients there, and what remains is c (eq. 14).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.graph.coefficients import linear_forms
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.model.model import WORLD, Model, once
from recursive_dyn.recursion.equations.lagrangian import FactoredMatrix
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, rates
from recursive_dyn.spatial.algebra import cross, dot, skew

Direction = Mapping[Expression, Scalar]


@dataclass(frozen=True, eq=False)
class TraceEquations:
    """Generalized forces (nv,) over the inputs "q", "v", "a" of a graph of their own; M (nv, nv) and c (nv,)."""

    forces: list[Scalar]
    M: np.ndarray
    c: list[Scalar]


@dataclass(frozen=True, eq=False)
class _Motion:
    """Of one link: acceleration of the centre of mass, angular velocity and acceleration in the link's axes."""

    center: np.ndarray
    omega: np.ndarray
    alpha: np.ndarray


@once
def equations(model: Model) -> TraceEquations:
    """The equations of motion, and their coefficients of the accelerations."""
    tree = Tree(model, Graph())
    a = tree.graph.inputs("a", model.nv)
    forces = _forces(tree, a)
    forms = linear_forms(forces, list(a))
    M = np.zeros((model.nv, model.nv), dtype=object)
    for i, form in enumerate(forms):
        for j in range(i + 1):
            M[i, j] = M[j, i] = form.coefficients.get(j, 0.0)
    return TraceEquations(forces, M, [form.rest for form in forms])


def inverse_dynamics(tree: Tree, acceleration: np.ndarray | None) -> list[Scalar]:
    """Generalized forces (nv,) for accelerations (nv,), or None for zero: eq. 13."""
    own = equations(tree.model)
    return _on(tree, own.c) if acceleration is None else _on(tree, own.forces, acceleration)


def mass_matrix(tree: Tree, diagonal: Sequence[Scalar] | None = None) -> np.ndarray:
    """M (nv, nv), symmetric, rotor inertias and ``diagonal`` included: the coefficients of eq. 14."""
    nv = tree.model.nv
    M = array(_on(tree, list(equations(tree.model).M.flat))).reshape(nv, nv)
    for slot, more in enumerate(diagonal or ()):
        M[slot, slot] = M[slot, slot] + more
    return M


def free_motion(
    tree: Tree, tau: Sequence[Scalar], diagonal: Sequence[Scalar] | None = None
) -> tuple[FactoredMatrix, list[Scalar]]:
    """(factors of M, L^-T (tau - c)), which ``expand`` makes accelerations; tau (nv,)."""
    factors = FactoredMatrix(mass_matrix(tree, diagonal))
    return factors, factors.reduce([t - c for t, c in zip(tau, inverse_dynamics(tree, None), strict=True)])


def factors(tree: Tree, diagonal: Sequence[Scalar] | None = None) -> FactoredMatrix:
    """The factors of M, ``diagonal`` added."""
    return FactoredMatrix(mass_matrix(tree, diagonal))


def _on(tree: Tree, outputs: Sequence[Scalar], acceleration: np.ndarray | None = None) -> list[Scalar]:
    """Expressions over the equations' own inputs in the graph of a tree, at its state."""
    inputs: dict[Any, Scalar] = {("q", i): x for i, x in enumerate(tree.q)}
    inputs |= {("v", i): x for i, x in enumerate(tree.v)}
    inputs |= {("parameters", k): x for k, x in enumerate(tree.parameters.values())}
    if acceleration is not None:
        inputs |= {("a", i): x for i, x in enumerate(acceleration)}
    return substitute(outputs, inputs)


def _forces(tree: Tree, a: np.ndarray) -> list[Scalar]:
    """Eq. 13 by one inward pass over phi (4, 3); rotor inertias are added to the coordinates they belong to."""
    motions = _motions(tree, a)
    phi = [_own_phi(k, motion, R, tree.gravity)
           for k, motion, R in zip(tree.links, motions, tree.rotations, strict=True)]  # fmt: skip
    Q = [c.armature * x for c, x in zip(tree.model.coordinates, a, strict=True)]
    q_dot = rates(tree)
    for i in reversed(range(len(tree.links))):
        k = tree.links[i]
        A = _transform(k)
        for slot in k.link.slots:
            unit = directional_derivative(q_dot, {v: 1.0 if s == slot else 0.0 for s, v in enumerate(tree.v)})
            dA = _along(A, dict(zip(tree.q, unit, strict=True)))
            if k.link.parent != WORLD:
                dA = tree.rotations[k.link.parent] @ dA
            Q[slot] = Q[slot] + dot(dA.reshape(-1), phi[i].T.reshape(-1))
        if k.link.parent != WORLD:
            inward = np.concatenate([A @ phi[i], phi[i][3:]])
            phi[k.link.parent] = phi[k.link.parent] + inward
    return Q


def _motions(tree: Tree, a: np.ndarray) -> list[_Motion]:
    """World transforms differentiated twice along the motion."""
    moving = dict(zip(tree.q, rates(tree), strict=True))
    accelerated: dict[Expression, Scalar] = moving | dict(zip(tree.v, a, strict=True))
    centers = [R @ k.center + p for R, p, k in zip(tree.rotations, tree.positions, tree.links, strict=True)]
    flat = array([x for R, center in zip(tree.rotations, centers, strict=True) for x in (*R.flat, *center)])
    rate = _along(flat, moving).reshape(-1, 12)
    omegas = [_vee(R, d[:9].reshape(3, 3)) for R, d in zip(tree.rotations, rate, strict=True)]
    own = array([x for omega, d in zip(omegas, rate, strict=True) for x in (*omega, *d[9:])])
    second = _along(own, accelerated).reshape(-1, 6)
    return [_Motion(d[3:], omega, d[:3]) for omega, d in zip(omegas, second, strict=True)]


def _own_phi(k: LinkKinematics, motion: _Motion, R: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """t_cm a^T - B U^T / 2 of one link, (4, 3): the last column of a and of U is zero."""
    force = (motion.center - gravity) * k.mass
    b = k.inertia @ motion.alpha + cross(motion.omega, k.inertia @ motion.omega)
    return np.concatenate([np.outer(k.center, force) - skew(b) @ R.T * 0.5, force.reshape(1, 3)])


def _transform(k: LinkKinematics) -> np.ndarray:
    """The upper rows (3, 4) of A."""
    return np.concatenate([k.displacement.matrix, k.displacement.p.reshape(3, 1)], axis=1)


def _along(values: np.ndarray, direction: Direction) -> np.ndarray:
    return array(directional_derivative(list(values.flat), direction)).reshape(values.shape)


def _vee(R: np.ndarray, dR: np.ndarray) -> np.ndarray:
    """omega of R^T R-dot = [omega]."""
    return array([dot(R[:, 2], dR[:, 1]), dot(R[:, 0], dR[:, 2]), dot(R[:, 1], dR[:, 0])])
