"""The reaction mass pendulum, a model of a humanoid whose limbs change its inertia (Sanyal & Goswami 2013)."""

from __future__ import annotations

from types import SimpleNamespace

from demos.manifolds.system import System
from recursive_dyn.manifold import delta, dt, rotations, scalars, symmetric_matrices, unit_vectors, vectors


def pendulum() -> System:
    """SO(3)^2 x R^4: a leg RL of length rho, and at its end a body RP whose three pairs of masses slide along its axes.

    JL is the inertia of the leg about the foot; the body has the mass m, that of pairs and leg included, the inertia JP
    without them; masses mi stand on the axis ai, si to both sides of its middle. f stretches the leg, ui moves those of
    pair i apart, and the body pushes itself off the leg with the moment tau, in body axes.
    """
    m, m1, m2, m3, g = scalars("m m1 m2 m3 g", constant=True)
    e3 = unit_vectors("e3", constant=True)
    axes = unit_vectors("a1 a2 a3", constant=True)
    JL, JP = symmetric_matrices("JL JP", constant=True)
    RL, RP = rotations("RL", rate="OmL"), rotations("RP", rate="OmP")
    rho, s1, s2, s3 = scalars("rho s1 s2 s3")
    f, u1, u2, u3 = scalars("f u1 u2 u3")
    tau = vectors("tau")
    hip = rho * (RL * e3)
    T = RL.rate.dot(JL * RL.rate) / 2 + RP.rate.dot(JP * RP.rate) / 2
    T = T + m * dt(hip).dot(dt(hip)) / 2
    for mass, s, axis in zip((m1, m2, m3), (s1, s2, s3), axes, strict=True):
        arm = RP.rate.cross(axis)
        T = T + mass * (s**2 * arm.dot(arm) + dt(s) ** 2)  # of both masses of the pair
    U = m * g * hip.dot(e3)
    work = RP.virtual.dot(tau) - RL.virtual.dot(RL.T * (RP * tau)) + f * delta(rho)
    work = work + u1 * delta(s1) + u2 * delta(s2) + u3 * delta(s3)
    symbols = SimpleNamespace(
        m=m, m1=m1, m2=m2, m3=m3, g=g, e3=e3, a1=axes[0], a2=axes[1], a3=axes[2], JL=JL, JP=JP, RL=RL, RP=RP,
        rho=rho, s1=s1, s2=s2, s3=s3, f=f, u1=u1, u2=u2, u3=u3, tau=tau,
    )  # fmt: skip
    return System("reaction mass pendulum", "SO(3)^2 x R^4", T - U, work, (RL, RP, rho, s1, s2, s3), symbols)
