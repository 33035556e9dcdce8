"""Balls that roll without slipping on a plane: nonholonomic constraints, on R^3 x SO(3).

x is the middle of the ball of radius r, r above the plane. The point that touches does not slip: x' = r R Om x e3, and
on a turntable that plus the velocity of the table there.
"""

from __future__ import annotations

from types import SimpleNamespace

from demos.manifolds.system import System
from recursive_dyn.manifold import define, dt, rotations, scalars, symmetric_matrices, unit_vectors, vectors

_MANIFOLD = "R^3 x SO(3)"


def _symbols() -> SimpleNamespace:
    m, g, r = scalars("m g r", constant=True)
    x, R = vectors("x"), rotations("R", rate="Om")
    return SimpleNamespace(m=m, g=g, r=r, e3=unit_vectors("e3", constant=True), x=x, R=R)


def uniform() -> System:
    """A ball with the moment of inertia k m r^2 about any axis: k is 2/5 of a solid one, 2/3 of a hollow one."""
    s = _ball()
    slip = dt(s.x) - s.r * (s.R * s.R.rate).cross(s.e3)
    return System("rolling ball", _MANIFOLD, s.L, None, (s.x, s.R), s, (slip,))


def off_centre() -> System:
    """A ball with its centre of mass c at rho from the middle, and the inertia J about that centre; M turns it."""
    s = _symbols()
    s.rho, s.J, s.M = vectors("rho", constant=True), symmetric_matrices("J", constant=True), vectors("M")
    s.c = define("c", s.x + s.R * s.rho)
    T = s.m * dt(s.c).dot(dt(s.c)) / 2 + s.R.rate.dot(s.J * s.R.rate) / 2
    slip = dt(s.x) - s.r * (s.R * s.R.rate).cross(s.e3)
    L = T - s.m * s.g * s.c.dot(s.e3)
    return System("rolling ball, off centre", _MANIFOLD, L, s.R.virtual.dot(s.M), (s.x, s.R), s, (slip,))


def on_turntable() -> System:
    """A uniform ball on a table that turns at the rate w about the vertical through the origin."""
    s = _ball()
    s.w = scalars("w", constant=True)
    slip = dt(s.x) - s.r * (s.R * s.R.rate).cross(s.e3) - s.w * s.e3.cross(s.x)
    return System("ball on a turntable", _MANIFOLD, s.L, None, (s.x, s.R), s, (slip,))


def _ball() -> SimpleNamespace:
    k = scalars("k", constant=True)
    s = _symbols()
    s.k = k
    T = s.m * dt(s.x).dot(dt(s.x)) / 2 + s.k * s.m * s.r**2 * s.R.rate.dot(s.R.rate) / 2
    s.L = T - s.m * s.g * s.x.dot(s.e3)
    return s
