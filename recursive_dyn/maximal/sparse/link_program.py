"""One link and its joint, eliminated as ``tree_ldlt`` says, as a straight-line program for links side by side in lanes.

Without square roots, which every pivot would wait for: D = L d L^T, W = L^-1 J^T, W^T d^-1 W + e = C s C^T. What this
leaves of the two is the link's velocity as an affine function of that of the other link, v = p + P v_up: with
K = C^-1 W^T, Y = C^-1 A, z = d^-1 L^-1 f and u = s^-1 C^-1 (c - W^T z),

    p = L^-T (z + d^-1 K^T u),   P = -L^-T d^-1 K^T s^-1 Y,   D_up <- D_up + Y^T s^-1 Y,   f_up <- f_up + Y^T u.
"""

import numpy as np

from recursive_dyn.graph.expression import Graph, Scalar, array, less, reciprocal, select
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.maximal.sparse.tree_ldlt import DEPENDENT

LINK = "link"
KEPT = 42  # numbers that say what a link's velocity is of that of another link


def link_program(r: int, hung: bool) -> Program:
    """Of a link whose joint has r rows, ``hung`` on another link or not.

    Inputs: D (36,), of which the lower triangle is read, and f (6,), inertia and right-hand side that all before it
    left; J (6 r,) and A (6 r,) of its joint's rows on it and on the other link, A if it is hung; e (6,), c (6,),
    compliances and right-hand side of the rows, the first r of them. Outputs: p (6,), and if it is hung P (36,) and
    what the other link gets, of its inertia (36,) and right-hand side (6,). Not finite where D is not positive.
    """
    graph, inputs = Graph(), [("D", 36), ("f", 6), ("J", 6 * r), ("A", 6 * r * hung), ("e", 6), ("c", 6)]
    D, f, J, A, e, c = (graph.inputs(name, n) for name, n in inputs)
    L, d = _factored(D.reshape(6, 6), None)
    W = _substituted(L, J.reshape(r, 6).T)
    z, Z = _substituted(L, f) * d, W * d[:, None]
    S = array(np.zeros((r, r)))
    for i in range(r):
        for k in range(i + 1):
            S[i, k] = W[:, i] @ Z[:, k] + (e[i] if i == k else 0.0)
    C, s = _factored(S, [DEPENDENT * S[i, i] for i in range(r)])
    u = _substituted(C, array([c[i] - W[:, i] @ z for i in range(r)])) * s
    K = _substituted(C, Z.T)  # with d^-1
    p = _substituted_back(L, array([z[i] + K[:, i] @ u if r else z[i] for i in range(6)]))
    if not hung:
        return schedule(LINK, inputs, [("p", list(p))])
    Y = _substituted(C, A.reshape(r, 6))
    scaled = Y * s[:, None]
    P = -_substituted_back(L, K.T @ scaled)
    given = {"p": p, "P": P.flat, "D up": (Y.T @ scaled).flat, "f up": Y.T @ u}
    return schedule(LINK, inputs, [(name, list(x)) for name, x in given.items()])


def _factored(S: np.ndarray, least: list[Scalar] | None) -> tuple[np.ndarray, np.ndarray]:
    """L, of which what is left of the diagonal counts, and d^-1 (n,) of S (n, n) = L d L^T, of which the lower triangle
    is read; 0 in place of what a pivot gives that is not more than its ``least``, or infinite if not positive."""
    L, inverse, left, n = array(np.zeros(S.shape)), array(np.zeros(len(S))), S.copy(), len(S)
    for k in range(n):
        one = reciprocal(left[k, k])
        bound, otherwise = (0.0, np.inf) if least is None else (least[k], 0.0)
        inverse[k] = select(less(bound, left[k, k]), one, otherwise)
        for i in range(k + 1, n):
            L[i, k] = left[i, k] * inverse[k]
            for j in range(k + 1, i + 1):
                left[i, j] = left[i, j] - L[i, k] * left[j, k]
    return L, inverse


def _substituted(L: np.ndarray, x: np.ndarray) -> np.ndarray:
    """L^-1 x of a unit triangle and x (n,) or (n, m)."""
    y = x.copy()
    for i in range(len(L)):
        for k in range(i):
            y[i] = y[i] - L[i, k] * y[k]
    return y


def _substituted_back(L: np.ndarray, x: np.ndarray) -> np.ndarray:
    """L^-T x, the same."""
    y = x.copy()
    for i in reversed(range(len(L))):
        for k in range(i + 1, len(L)):
            y[i] = y[i] - L[k, i] * y[k]
    return y
