"""Spherical and 3D pendulums, single and double (Bittner & Sreenath 2016, section 4.1, with its misprints mended).

Gravity points along -e3. Directions q point from a pivot to a mass; rotations R lead from body to world axes.
"""

from __future__ import annotations

from types import SimpleNamespace

from demos.manifolds.system import System
from recursive_dyn.manifold import define, delta, dt, rotations, scalars, symmetric_matrices, unit_vectors, vectors


def spherical() -> System:
    """A point mass m on a massless rod of length l, on S^2; tau acts at the rod."""
    m, g, l = scalars("m g l", constant=True)
    e3 = vectors("e3", constant=True)
    q, tau = unit_vectors("q"), vectors("tau")
    T = m * l**2 * dt(q).dot(dt(q)) / 2
    U = m * g * l * q.dot(e3)
    symbols = SimpleNamespace(m=m, g=g, l=l, e3=e3, q=q, tau=tau)
    return System("spherical pendulum", "S^2", T - U, delta(q).dot(tau), (q,), symbols)


def three_dimensional() -> System:
    """A rigid body on a pivot, on SO(3): J about the pivot, rho from there to the centre of mass, moment M."""
    m, g = scalars("m g", constant=True)
    e3, rho = vectors("e3 rho", constant=True)
    J = symmetric_matrices("J", constant=True)
    R, M = rotations("R", rate="Om"), vectors("M")
    T = R.rate.dot(J * R.rate) / 2
    U = m * g * (R * rho).dot(e3)
    symbols = SimpleNamespace(m=m, g=g, e3=e3, rho=rho, J=J, R=R, M=M)
    return System("3D pendulum", "SO(3)", T - U, R.virtual.dot(M), (R,), symbols)


def double_spherical() -> System:
    """A spherical pendulum hung on another, on S^2 x S^2."""
    m1, m2, g, l1, l2 = scalars("m1 m2 g l1 l2", constant=True)
    e3 = vectors("e3", constant=True)
    q1, q2 = unit_vectors("q1 q2")
    tau1, tau2 = vectors("tau1 tau2")
    T = (
        (m1 + m2) * l1**2 * dt(q1).dot(dt(q1)) / 2
        + m2 * l1 * l2 * dt(q1).dot(dt(q2))
        + m2 * l2**2 * dt(q2).dot(dt(q2)) / 2
    )
    U = (m1 + m2) * g * l1 * q1.dot(e3) + m2 * g * l2 * q2.dot(e3)
    work = delta(q1).dot(tau1) + delta(q2).dot(tau2)
    symbols = SimpleNamespace(m1=m1, m2=m2, g=g, l1=l1, l2=l2, e3=e3, q1=q1, q2=q2, tau1=tau1, tau2=tau2)
    return System("double spherical pendulum", "S^2 x S^2", T - U, work, (q1, q2), symbols)


def double_three_dimensional() -> System:
    """A rigid body hung on another, on SO(3) x SO(3): J1 about the pivot, J2 about the second's centre of mass x2."""
    m1, m2, g = scalars("m1 m2 g", constant=True)
    e3, lam, rho1, rho2 = vectors("e3 lam rho1 rho2", constant=True)
    J1, J2 = symmetric_matrices("J1 J2", constant=True)
    R1, R2 = rotations("R1", rate="Om1"), rotations("R2", rate="Om2")
    M1, M2 = vectors("M1 M2")
    x2 = define("x2", R1 * lam + R2 * rho2)
    T = R1.rate.dot(J1 * R1.rate) / 2 + R2.rate.dot(J2 * R2.rate) / 2 + m2 * dt(x2).dot(dt(x2)) / 2
    U = m1 * g * (R1 * rho1).dot(e3) + m2 * g * x2.dot(e3)
    work = R1.virtual.dot(M1) + R2.virtual.dot(M2)
    symbols = SimpleNamespace(
        m1=m1, m2=m2, g=g, e3=e3, lam=lam, rho1=rho1, rho2=rho2, J1=J1, J2=J2, R1=R1, R2=R2, M1=M1, M2=M2, x2=x2
    )  # fmt: skip
    return System("double 3D pendulum", "SO(3) x SO(3)", T - U, work, (R1, R2), symbols)
