"""One contact in an interior-point method: Coulomb's law as s z = 0 for two vectors in one cone.

With De Saxce and Feng's (1998) shift, s = (u_n - target + mu |u_t|, mu u_t) and z = (p_n, p_t / mu). The shift is
differentiated like the rest: that this is no optimization problem is what the law says.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.newton.interior import Interior
from recursive_dyn.contact.newton.natural import Trial
from recursive_dyn.contact.newton.second_order_cone import Three, divided, farthest, scaled, scaling


@compiled
def enter_cone(it: Island, these: Trial, at: Interior, e: int, margin: float) -> None:
    """s and z into the cone from the impulse and velocity, by a margin in m/s."""
    c, g, u, s, z = it.contacts[e], these.scale[e, 0], these.u[e], at.s[e], at.z[e]
    mu = it.frictions[c, 1]
    for i in range(1, 3):
        s[i] = mu * u[i]
        z[i] = it.P[c, i] / mu if mu > 0.0 else 0.0
    slip, load = np.sqrt(s[1] * s[1] + s[2] * s[2]), np.sqrt(z[1] * z[1] + z[2] * z[2])
    at.apart[e, 0] = max(u[0] - it.targets[c], margin)
    s[0] = at.apart[e, 0] + slip
    z[0] = max(it.P[c, 0], load + margin / g)


@compiled
def answer(it: Island, these: Trial, at: Interior, e: int, soft: float) -> None:
    """The scaling, M = (W^2 + soft)^-1, what s misses, and X = S M (S + mu e_0 t^T), S = diag(1, mu, mu), t along the
    slip: how the impulse answers the velocity."""
    u, M, X, mu = these.u[e], at.M[e], these.X[e], it.frictions[it.contacts[e], 1]
    square, w0, w1, w2 = scaling(at.apart[e, 0] * (2.0 * at.s[e, 0] - at.apart[e, 0]), at.s[e], at.z[e])
    eta = np.sqrt(square)
    at.eta[e], at.w[e, 0], at.w[e, 1], at.w[e, 2] = eta, w0, w1, w2
    at.scaled[e, 0], at.scaled[e, 1], at.scaled[e, 2] = scaled(eta, w0, w1, w2, at.z[e, 0], at.z[e, 1], at.z[e, 2])
    # W^2 = eta^2 (2 w w^T - J): along e_0 and w_t, and across, where nothing cancels
    size, stiff = w1 * w1 + w2 * w2, square + soft
    det = stiff * stiff + 4.0 * soft * square * size
    inverse = 1.0 / (det * stiff)
    across, turn = det * inverse, -2.0 * square * w0 * stiff * inverse
    both = 2.0 * square * (square - soft) * inverse
    M[0], M[1], M[2] = (stiff + 2.0 * square * size) * stiff * inverse, turn * w1, turn * w2
    M[3], M[4], M[5] = M[1], across + both * w1 * w1, both * w1 * w2
    M[6], M[7], M[8] = M[2], M[5], across + both * w2 * w2
    slip = np.sqrt(u[1] * u[1] + u[2] * u[2])
    share = mu / slip if slip > 0.0 else 0.0
    s1, s2 = share * u[1], share * u[2]
    at.slope[e, 0], at.slope[e, 1] = s1, s2
    for i in range(3):
        row = 1.0 if i == 0 else mu
        X[6 * i] = row * M[3 * i]
        X[6 * i + 1] = row * (M[3 * i] * s1 + M[3 * i + 1] * mu)
        X[6 * i + 2] = row * (M[3 * i] * s2 + M[3 * i + 2] * mu)
    at.miss[e, 0] = u[0] - it.targets[it.contacts[e]] + mu * slip - at.s[e, 0]
    at.miss[e, 1], at.miss[e, 2] = mu * u[1] - at.s[e, 1], mu * u[2] - at.s[e, 2]


@compiled
def aim_contact(at: Interior, e: int, nu: float, second: float) -> None:
    """aim = W (W z \\ what is missing to s z = nu), less ``second`` times what ds and dz do to second order."""
    if nu == 0.0:
        at.aim[e, 0], at.aim[e, 1], at.aim[e, 2] = -at.s[e, 0], -at.s[e, 1], -at.s[e, 2]
        return
    eta, w0, w1, w2, own = at.eta[e], at.w[e, 0], at.w[e, 1], at.w[e, 2], at.scaled[e]
    r0 = nu - own[0] * own[0] - own[1] * own[1] - own[2] * own[2]
    r1, r2 = -2.0 * own[0] * own[1], -2.0 * own[0] * own[2]
    if second > 0.0:
        a0, a1, a2 = scaled(1.0 / eta, w0, -w1, -w2, at.ds[e, 0], at.ds[e, 1], at.ds[e, 2])
        b0, b1, b2 = scaled(eta, w0, w1, w2, at.dz[e, 0], at.dz[e, 1], at.dz[e, 2])
        r0 -= second * (a0 * b0 + a1 * b1 + a2 * b2)
        r1 -= second * (a0 * b1 + b0 * a1)
        r2 -= second * (a0 * b2 + b0 * a2)
    r0, r1, r2 = divided(own, r0, r1, r2)
    at.aim[e, 0], at.aim[e, 1], at.aim[e, 2] = scaled(eta, w0, w1, w2, r0, r1, r2)


@compiled
def times(M: Floats, x0: float, x1: float, x2: float) -> Three:
    """M x, 3 x 3."""
    return (
        M[0] * x0 + M[1] * x1 + M[2] * x2, M[3] * x0 + M[4] * x1 + M[5] * x2, M[6] * x0 + M[7] * x1 + M[8] * x2,
    )  # fmt: skip


@compiled
def change_contact(it: Island, at: Interior, e: int, change: Three) -> None:
    """ds and dz for a change of velocities."""
    mu, (d0, d1, d2) = it.frictions[it.contacts[e], 1], change
    at.ds[e, 0] = d0 + at.slope[e, 0] * d1 + at.slope[e, 1] * d2 + at.miss[e, 0]
    at.ds[e, 1], at.ds[e, 2] = mu * d1 + at.miss[e, 1], mu * d2 + at.miss[e, 2]
    slip = np.sqrt(at.s[e, 1] * at.s[e, 1] + at.s[e, 2] * at.s[e, 2])
    shift = (at.s[e, 1] * at.ds[e, 1] + at.s[e, 2] * at.ds[e, 2]) / slip if slip > 0.0 else 0.0
    at.apart[e, 1] = at.ds[e, 0] - shift
    at.dz[e, 0], at.dz[e, 1], at.dz[e, 2] = times(
        at.M[e], at.aim[e, 0] - at.ds[e, 0], at.aim[e, 1] - at.ds[e, 1], at.aim[e, 2] - at.ds[e, 2]
    )


@compiled
def contact_room(at: Interior, e: int, most: float) -> float:
    """The largest length <= most of the step along which s and z stay in the cone."""
    w, change = at.apart[e, 0], at.apart[e, 1]
    return farthest(at.z[e], at.dz[e], -w / change if most * change < -w else most)


@compiled
def gone(at: Interior, e: int, length: float) -> Three:
    """s after a step of that length: where slip turns back, its size is not what it was going to be to first order."""
    s1, s2 = at.s[e, 1] + length * at.ds[e, 1], at.s[e, 2] + length * at.ds[e, 2]
    return at.apart[e, 0] + length * at.apart[e, 1] + np.sqrt(s1 * s1 + s2 * s2), s1, s2


@compiled
def contact_gap(at: Interior, e: int, length: float) -> float:
    """s z after a step of that length."""
    z, dz = at.z[e], at.dz[e]
    if length == 0.0:
        return at.s[e, 0] * z[0] + at.s[e, 1] * z[1] + at.s[e, 2] * z[2]
    s0, s1, s2 = gone(at, e, length)
    return s0 * (z[0] + length * dz[0]) + s1 * (z[1] + length * dz[1]) + s2 * (z[2] + length * dz[2])
