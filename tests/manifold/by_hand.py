"""Equations of motion written by hand (Bittner & Sreenath 2016, section 4, mended), without any derivation."""

from fractions import Fraction

from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.declare import define, rotations, scalars, symmetric_matrices, unit_vectors, vectors
from recursive_dyn.manifold.formula.operations import cross

m, m1, m2, mH, mT, mQ, mL, l, l1, l2, L, g, F = scalars("m m1 m2 mH mT mQ mL l l1 l2 L g F", constant=True)
e3 = unit_vectors("e3", constant=True)
q, q1, q2, q3 = unit_vectors("q q1 q2 q3")
R, R1, R2 = rotations("R R1 R2")
J, J1, J2 = symmetric_matrices("J J1 J2", constant=True)
rho, rho1, rho2, lam = vectors("rho rho1 rho2 lam", constant=True)
tau, tau1, tau2, u2, u3, M, M1, M2 = vectors("tau tau1 tau2 u2 u3 M M1 M2")
x, xL = vectors("x xL")
Omega, Omega1, Omega2 = R.rate, R1.rate, R2.rate
x2 = define("x2", R1 * lam + R2 * rho2)
half, quarter = Fraction(1, 2), Fraction(1, 4)

spherical_pendulum = {q: cross(q, m * l**2 * dt(q, 2) + m * g * l * e3 - tau)}

pendulum_3d = {R: J * dt(Omega) + cross(Omega, J * Omega) + m * g * cross(rho, R.T * e3) - M}

double_spherical_pendulum = {
    q1: cross(q1, (m1 + m2) * l1**2 * dt(q1, 2) + m2 * l1 * l2 * dt(q2, 2) + (m1 + m2) * g * l1 * e3 - tau1),
    q2: cross(q2, m2 * l2**2 * dt(q2, 2) + m2 * l1 * l2 * dt(q1, 2) + m2 * g * l2 * e3 - tau2),
}

double_3d_pendulum = {
    R1: J1 * dt(Omega1)
    + cross(Omega1, J1 * Omega1)
    + m1 * g * cross(rho1, R1.T * e3)
    + m2 * cross(lam, R1.T * (dt(x2, 2) + g * e3))
    - M1,
    R2: J2 * dt(Omega2) + cross(Omega2, J2 * Omega2) + m2 * cross(rho2, R2.T * (dt(x2, 2) + g * e3)) - M2,
}

walker_stance = {
    q1: cross(
        q1,
        (1.25 * m + mH + mT) * l**2 * dt(q1, 2)
        + half * m * l**2 * dt(q2, 2)
        + mT * l * L * dt(q3, 2)
        + (1.5 * m + mH + mT) * g * l * e3,
    ),
    q2: cross(q2, quarter * m * l**2 * dt(q2, 2) + half * m * l**2 * dt(q1, 2) + half * m * g * l * e3 - u2),
    q3: cross(q3, mT * L**2 * dt(q3, 2) + mT * l * L * dt(q1, 2) + mT * g * L * e3 - u3),
}

_a = dt(x, 2) + g * e3
walker_flight = {
    q1: cross(
        q1,
        (1.25 * m + mH + mT) * l**2 * dt(q1, 2)
        + half * m * l**2 * dt(q2, 2)
        + mT * l * L * dt(q3, 2)
        + (1.5 * m + mH + mT) * l * _a,
    ),
    q2: cross(q2, quarter * m * l**2 * dt(q2, 2) + half * m * l**2 * dt(q1, 2) + half * m * l * _a - u2),
    q3: cross(q3, mT * L**2 * dt(q3, 2) + mT * l * L * dt(q1, 2) + mT * L * _a - u3),
    x: (2 * m + mH + mT) * _a + (1.5 * m + mH + mT) * l * dt(q1, 2) + half * m * l * dt(q2, 2) + mT * L * dt(q3, 2),
}

quadrotor_with_load = {
    xL: (mQ + mL) * (dt(xL, 2) + g * e3) - mQ * l * dt(q, 2) - F * (R * e3),
    q: cross(q, mQ * l * dt(q, 2) - mQ * (dt(xL, 2) + g * e3) + F * (R * e3)),
    R: J * dt(Omega) + cross(Omega, J * Omega) - M,
}

SYSTEMS = {
    "spherical pendulum": spherical_pendulum,
    "3D pendulum": pendulum_3d,
    "double spherical pendulum": double_spherical_pendulum,
    "double 3D pendulum": double_3d_pendulum,
    "three-link walker, stance": walker_stance,
    "three-link walker, flight": walker_flight,
    "quadrotor with a load": quadrotor_with_load,
}
