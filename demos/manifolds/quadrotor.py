"""A quadrotor carrying a load on a rod (Sreenath, Lee & Kumar 2013)."""

from __future__ import annotations

from types import SimpleNamespace

from demos.manifolds.system import System
from recursive_dyn.manifold import delta, dt, rotations, scalars, symmetric_matrices, unit_vectors, vectors


def with_load() -> System:
    """R^3 x S^2 x SO(3): load at xL, quadrotor at xQ = xL - l q; thrust f along its axis R e3, moment M."""
    mQ, mL, g, l = scalars("mQ mL g l", constant=True)
    e3 = vectors("e3", constant=True)
    J = symmetric_matrices("J", constant=True)
    f = scalars("f")
    xL, M = vectors("xL M")
    q, R = unit_vectors("q"), rotations("R", rate="Om")
    xQ = xL - l * q
    T = mQ * dt(xQ).dot(dt(xQ)) / 2 + mL * dt(xL).dot(dt(xL)) / 2 + R.rate.dot(J * R.rate) / 2
    U = mQ * g * xQ.dot(e3) + mL * g * xL.dot(e3)
    work = R.virtual.dot(M) + f * (R * e3).dot(delta(xQ))
    symbols = SimpleNamespace(mQ=mQ, mL=mL, g=g, l=l, e3=e3, J=J, f=f, xL=xL, M=M, q=q, R=R, xQ=xQ)
    return System("quadrotor with a load", "R^3 x S^2 x SO(3)", T - U, work, (xL, q, R), symbols)
