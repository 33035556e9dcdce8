"""A three-link walker, standing and in flight (Bittner & Sreenath 2016, section 4.2, with its misprints mended).

Legs of length l with a mass m in the middle of each, a hip of mass mH, a torso of length L with mT at its end; q1
points from the stance foot to the hip, q2 from the hip to the other foot, q3 along the torso. u2 and u3 act on q2, q3.
"""

from __future__ import annotations

from types import SimpleNamespace

from demos.manifolds.system import System
from recursive_dyn.manifold import Formula, delta, dt, scalars, unit_vectors, vectors


def _symbols() -> SimpleNamespace:
    m, mH, mT, g, l, L = scalars("m mH mT g l L", constant=True)
    e3 = vectors("e3", constant=True)
    q1, q2, q3 = unit_vectors("q1 q2 q3")
    u2, u3 = vectors("u2 u3")
    return SimpleNamespace(m=m, mH=mH, mT=mT, g=g, l=l, L=L, e3=e3, q1=q1, q2=q2, q3=q3, u2=u2, u3=u3)


def _square(v: Formula) -> Formula:
    return v.dot(v)


def stance() -> System:
    """Standing: (S^2)^3."""
    s = _symbols()
    v1, v2, v3 = dt(s.q1), dt(s.q2), dt(s.q3)
    T = (
        (5 * s.m / 8 + s.mH / 2 + s.mT / 2) * s.l**2 * _square(v1)
        + s.m * s.l**2 * v1.dot(v2) / 2
        + s.m * s.l**2 * _square(v2) / 8
        + s.mT * (s.l * s.L * v1.dot(v3) + s.L**2 * _square(v3) / 2)
    )
    U = (
        (3 * s.m / 2 + s.mH + s.mT) * s.g * s.l * s.q1.dot(s.e3)
        + s.m * s.g * s.l * s.q2.dot(s.e3) / 2
        + s.mT * s.g * s.L * s.q3.dot(s.e3)
    )
    work = delta(s.q2).dot(s.u2) + delta(s.q3).dot(s.u3)
    return System("three-link walker, stance", "(S^2)^3", T - U, work, (s.q1, s.q2, s.q3), s)


def flight() -> System:
    """Flying: (S^2)^3 x R^3, x the stance foot; energies of the five masses as they are."""
    s = _symbols()
    s.x = vectors("x")
    hip = s.x + s.l * s.q1
    points = (
        (s.m, s.x + s.l * s.q1 / 2),
        (s.mH, hip),
        (s.m, hip + s.l * s.q2 / 2),
        (s.mT, hip + s.L * s.q3),
    )
    L = sum(mass * _square(dt(p)) / 2 - mass * s.g * p.dot(s.e3) for mass, p in points)
    work = delta(s.q2).dot(s.u2) + delta(s.q3).dot(s.u3)
    return System("three-link walker, flight", "(S^2)^3 x R^3", L, work, (s.q1, s.q2, s.q3, s.x), s)
