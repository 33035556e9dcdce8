"""One sweep from the end of a motion to its start: the best change of each step's forces, and feedback on its state.

    Q_x = l_x + A^T V_x        Q_xx = l_xx + A^T V_xx A
    Q_u = l_u + B^T V_x        Q_uu = l_uu + B^T V_xx B        Q_ux = B^T V_xx A
    u = k - K x:   k least Q_u^T k + k^T Q_uu k / 2 within the limits,   K = Q_uu^-1 Q_ux in what is free, else 0
    V_x = Q_x - K^T (Q_u + Q_uu k) + Q_ux^T k        V_xx = Q_xx + K^T Q_uu K - K^T Q_ux - Q_ux^T K

Tassa, Mansard & Todorov 2014, Control-limited differential dynamic programming, with second derivatives of costs alone
(Gauss & Newton; Li & Todorov 2004). Without costs' slopes it is the difference equation of Riccati.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.control.optimal.box_qp import least_in_box

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Expansion:
    """A motion of N steps to second order: A (N, m, m), B (N, m, n); half the cost's slopes and curvatures.

    x_slopes (N + 1, m), x_curvatures (N + 1, m, m), u_slopes (N, n), u_curvature (n, n).
    """

    A: Array
    B: Array
    x_slopes: Array
    x_curvatures: Array
    u_slopes: Array
    u_curvature: Array


@dataclass(frozen=True, eq=False)
class Policy:
    """Changes u = k - K x: k (N, n), K (N, n, m), V (N + 1, m, m) of the cost to go x^T V x.

    slope, curvature: the cost changes by 2 slope s + curvature s^2 for a share s of k.
    """

    k: Array
    K: Array
    V: Array
    slope: float
    curvature: float


def sweep(it: Expansion, low: Array, high: Array, start: Array, damping: Array) -> Policy:
    """The policy within low, high (N, n), changes of the forces.

    start (N, n): where the search for k starts; damping (m, m): what keeps the next state from going far.
    """
    steps, m, n = it.B.shape
    k, K, V = np.zeros((steps, n)), np.zeros((steps, n, m)), np.zeros((steps + 1, m, m))
    slope = curvature = 0.0
    v, V[steps] = it.x_slopes[steps], it.x_curvatures[steps]
    bounded = bool(np.isfinite(low).any() or np.isfinite(high).any())
    for i in reversed(range(steps)):
        A, B, W = it.A[i], it.B[i], V[i + 1]
        qx, qu = it.x_slopes[i] + v @ A, it.u_slopes[i] + v @ B
        BW = B.T @ W
        quu, qux = it.u_curvature + BW @ B, BW @ A
        Bd = B.T @ damping
        strong, strong_x = quu + Bd @ B, qux + Bd @ A
        both = np.linalg.solve(strong, np.column_stack([-qu, strong_x]))
        change, back = both[:, 0], both[:, 1:]
        if bounded and not ((low[i] < change) & (change < high[i])).all():
            change, free = least_in_box(strong, qu, low[i], high[i], start[i])
            back = np.zeros((n, m))
            back[free] = np.linalg.solve(strong[np.ix_(free, free)], strong_x[free])
        pull, cross = quu @ change, back.T @ qux
        slope += change @ qu
        curvature += change @ pull
        v = qx - (qu + pull) @ back + change @ qux
        X = it.x_curvatures[i] + A.T @ W @ A + back.T @ quu @ back
        V[i] = (X + X.T) / 2 - cross - cross.T
        k[i], K[i] = change, back
    return Policy(k, K, V, float(slope), float(curvature))
