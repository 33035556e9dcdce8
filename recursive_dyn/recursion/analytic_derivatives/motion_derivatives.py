"""Analytic derivatives of inverse dynamics for any joint, in world axes about the origin of each tree's first link.

Coordinate i of link j moves all that hangs on j by the twist J_i, as one rigid body, and changes the motion within it:
with V and A the twist and its rate (gravity as the root's acceleration -g), p the parent of j, and for every link k
outward of j

    dV_k = J_i x V_k + alpha_i,   alpha_i = V_p x J_i + sigma_i
    dA_k = J_i x A_k + alpha_i x V_k + beta_i,   beta_i = A_p x J_i - alpha_i x V_p + V_j x sigma_i + rho_i

where sigma_i = Ad dS v / dq_i and rho_i = Ad d(S a + S-dot v) / dq_i are what the joint itself does, 0 for a hinge.
With the velocity dV_k = J_i, dA_k = J_i x V_k + gamma_i, gamma_i = (V_p + V_j) x J_i + Ad d(S-dot v) / dv_i. A point r
of a link then gains the acceleration 2 alpha x (v + omega x r) besides J_i and beta, so that with the sums over all
that hangs on j, I (inertia), P (momentum), F (force) and K = sum of m v r^T,

    dF / dq_i = J_i x* F + I beta_i + B alpha_i,   dF / dv_i = I gamma_i + B J_i
    B [omega; .] = [2 (tr K - K) omega; 2 omega x P]

and tau follows by pairs of coordinates i, r of links of which one hangs on the other: r outward of i has
J_r . I beta_i + B^T J_r . alpha_i, r inward J_r . dF / dq_i; M has J_r . I J_i. Carpentier & Mansard 2018, Analytical
derivatives of rigid body dynamics algorithms; Singh, Russo & Wensing 2022, Efficient analytical derivatives of
rigid-body dynamics using spatial vector algebra; here for S that depends on q, and with B of rank three.

What depends on the joints is one program (:func:`moving`). What follows is the same for every link and every column
(:func:`link_terms`, :func:`column_terms`), and runs in lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Scalar, array, is_constant
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.equations.inverse_dynamics import rotational_acceleration
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.recursion.momenta.impulse import roots
from recursive_dyn.spatial.algebra import cross, dot, mirrored, skew, vee_difference
from recursive_dyn.spatial.displacement import DenseRotation

# numbers of a link: R (9), place (3), V, A (6 each), mass, first (3) and second (6) moments; what is made of them:
# F (6), h (3), second moments (6), K (9), P (3), mass
LINK, LINK_TERMS = 34, 28
# of a column: J, V_p, A_p, and what gamma has besides 2 V_p x J, sigma, rho + V_j x sigma (6 each); what is made of
# these and LINK_TERMS: J (6), alpha's angular part (3), beta (6), gamma (6), I J (6), B^T J's angular part (3), dF/dq
# (6), dF/dv (6)
COLUMN, COLUMN_TERMS = 36, 42
_UPPER = tuple((i, j) for i in range(3) for j in range(i, 3))


@dataclass(frozen=True, eq=False)
class TreeMotion:
    """What the program gives: LINK numbers a link, COLUMN numbers a column of each link's S, and how columns of one
    joint change each other: ``own``, six numbers at (link, row, column)."""

    links: list[list[Scalar]]
    columns: list[list[list[Scalar]]]
    own: dict[tuple[int, int, int], list[Scalar]]


def moving(tree: Tree, acceleration: np.ndarray) -> TreeMotion:
    """The motion of every link and column at accelerations (nv,)."""
    root = roots(tree.model)
    twists: list[np.ndarray] = []
    rates: list[np.ndarray] = []
    result = TreeMotion([], [], {})
    gravity = array([0.0, 0.0, 0.0, *(-tree.gravity)])
    for i, k in enumerate(tree.links):
        R, place = tree.rotations[i], tree.positions[i] - tree.positions[root[i]]
        parent = k.link.parent
        V_p, A_p = (zeros(6), gravity) if parent == WORLD else (twists[parent], rates[parent])
        joint = _Joint(tree, k, R, place, acceleration)
        V = V_p + joint.twist
        twists.append(V)
        rates.append(A_p + joint.rate + motion_cross(V_p, joint.twist))
        moments = [k.moments.mass, *k.moments.first, *(k.moments.second[a, b] for a, b in _UPPER)]
        result.links.append([*R.flat, *place, *V, *rates[i], *moments])
        result.columns.append([])
        for c, J in enumerate(joint.columns):
            sigma, rho, gamma, own = joint.changes(c)
            result.columns[i].append([*J, *V_p, *A_p, *gamma, *sigma, *(rho + motion_cross(V, sigma))])
            result.own.update({(i, r, c): list(x) for r, x in enumerate(own) if not _zero(x)})
    return result


class _Joint:
    """A link's joint in world axes."""

    def __init__(
        self, tree: Tree, k: LinkKinematics, R: np.ndarray, place: np.ndarray, acceleration: np.ndarray
    ) -> None:
        self._tree, self._k, self._R, self._place = tree, k, R, place
        slots = list(k.link.slots)
        self._v, self._a = tree.v[slots], acceleration[slots]
        self.columns = [self._world(s) for _, s in k.columns]
        self.twist, self.rate = zeros(6), self._world(k.bias)
        for J, v, a in zip(self.columns, self._v, self._a, strict=True):
            self.twist, self.rate = self.twist + J * v, self.rate + J * a

    def _world(self, s: np.ndarray) -> np.ndarray:
        omega = self._R @ s[:3]
        return np.concatenate([omega, self._R @ s[3:] + cross(self._place, omega)])

    def changes(self, c: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
        """sigma, rho, what gamma has besides 2 V_p x J, and how the joint's columns turn, as coordinate c moves."""
        k, J = self._k, self.columns[c]
        Sv = [dot(row, self._v) for row in k.S]
        Sa = [dot(row, self._a) + b for row, b in zip(k.S, k.bias, strict=True)]
        along = _direction(self._tree, k, c)
        moved = array(directional_derivative([*Sv, *Sa, *k.S.T.flat], along)).reshape(-1, 6)
        faster = array(directional_derivative(list(k.bias), {self._tree.v[k.link.slots[c]]: 1.0}))
        gamma = self._world(faster)
        if len(self.columns) > 1:  # else J is parallel to the joint's twist
            gamma = gamma + motion_cross(self.twist, J)
        own = [self._world(s) for s in moved[2:]]
        for r in range(c):
            own[r] = own[r] + motion_cross(J, self.columns[r])
        return self._world(moved[0]), self._world(moved[1]), gamma, own


def _direction(tree: Tree, k: LinkKinematics, c: int) -> dict[Expression, Scalar]:
    """How the numbers of q move with unit velocity of a link's coordinate alone."""
    slot = k.link.slots[c]
    for place, plain in tree.model.plain_slots:
        if plain == slot:
            return {tree.q[place]: 1.0}
    for factor in k.link.joint.factors:
        if factor.first_v <= c < factor.first_v + factor.nv:
            q0 = k.link.places[factor.first_q]
            q = tree.q[q0 : q0 + factor.nq]
            along = factor.space.rate(q, array(np.eye(factor.nv)[c - factor.first_v]))
            return dict(zip(q, along, strict=True))
    raise AssertionError("every slot is a plain coordinate's or a factor's")


def _zero(x: np.ndarray) -> bool:
    return all(is_constant(entry) and entry == 0.0 for entry in x)


def motion_cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b of twists (6,)."""
    return np.concatenate([cross(a[:3], b[:3]), cross(a[:3], b[3:]) + cross(a[3:], b[:3])])


def link_terms(x: Sequence[Scalar]) -> list[Scalar]:
    """LINK_TERMS numbers of LINK numbers."""
    R, place, V, A = array(x[:9]).reshape(3, 3), array(x[9:12]), array(x[12:18]), array(x[18:24])
    mass, first, second = x[24], array(x[25:28]), _symmetric(x[28:34])
    own = R @ first
    h = own + mass * place
    # sum of m r r^T with r -> r + place
    shift = array([[place[i] * own[j] + h[i] * place[j] if j >= i else 0.0 for j in range(3)] for i in range(3)])
    second = DenseRotation(R).symmetric(second) + mirrored(shift)
    omega, v = V[:3], V[3:]
    W, at_origin = rotational_acceleration(omega, A[:3]), A[3:] + cross(omega, v)
    force = mass * at_origin + W @ h
    moment = vee_difference(W @ second) + cross(h, at_origin)
    K = np.outer(v, h) + skew(omega) @ second
    P = mass * v + cross(omega, h)
    return [*moment, *force, *h, *(second[a, b] for a, b in _UPPER), *K.flat, *P, mass]


def column_terms(x: Sequence[Scalar]) -> list[Scalar]:
    """COLUMN_TERMS numbers of the sums of LINK_TERMS over all that hangs on the column's link, and of COLUMN numbers,
    of which the last ones may be left out where they are 0."""
    F, h, K, P, mass = array(x[:6]), array(x[6:9]), array(x[15:24]).reshape(3, 3), array(x[24:27]), x[27]
    second, own = _symmetric(x[9:15]), [*x[28:], *[0.0] * (LINK_TERMS + COLUMN - len(x))]
    inertia, E, twice = _turned(second), _turned(K) * 2.0, P * 2.0

    def momentum(t: np.ndarray) -> np.ndarray:
        return np.concatenate([inertia @ t[:3] + cross(h, t[3:]), mass * t[3:] + cross(t[:3], h)])

    def coriolis(t: np.ndarray) -> np.ndarray:
        return np.concatenate([E @ t[:3], cross(t[:3], twice)])

    J, alpha, beta, gamma = column_changes(array(own).reshape(-1, 6))
    omega, v = J[:3], J[3:]
    turned = np.concatenate([cross(omega, F[:3]) + cross(v, F[3:]), cross(omega, F[3:])])
    by_q = turned + momentum(beta) + coriolis(alpha)
    by_v = momentum(gamma) + coriolis(J)
    back = E.T @ omega + cross(twice, v)
    return [*J, *alpha[:3], *beta, *gamma, *momentum(J), *back, *by_q, *by_v]


def column_changes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """J, alpha, beta and gamma of a column's numbers (6, 6)."""
    J, V_p, A_p, gamma, sigma, rho = column
    carried = motion_cross(V_p, J)
    alpha = carried + sigma
    beta = motion_cross(A_p, J) - motion_cross(alpha, V_p) + rho
    return J, alpha, beta, carried * 2.0 + gamma


def _symmetric(x: Sequence[Scalar]) -> np.ndarray:
    result = np.empty((3, 3), dtype=object)
    for (i, j), value in zip(_UPPER, x, strict=True):
        result[i, j] = result[j, i] = value
    return result


def _turned(A: np.ndarray) -> np.ndarray:
    """tr(A) 1 - A."""
    return array([[A[i - 2, i - 2] + A[i - 1, i - 1] if i == j else -A[i, j] for j in range(3)] for i in range(3)])
