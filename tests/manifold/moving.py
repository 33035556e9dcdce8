"""Systems on manifolds in numbers, derived and compiled, for the tests of motion."""

from functools import cache

import numpy as np

from recursive_dyn.manifold import (
    cross,
    delta,
    derive,
    dt,
    rotations,
    scalars,
    symmetric_matrices,
    unit_vectors,
    vectors,
)
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.motion import Motion

GRAVITY = 9.81
ORDER_FOUR = 2**3.5  # half the step: an error that falls by more is of an order nearer to 4 than to 3
e1, e3 = unit_vectors("e1 e3", constant=True)
g, m, l, j = scalars("g m l j", constant=True)
q, q1, q2 = unit_vectors("q q1 q2")
R, R1, R2 = rotations("R R1 R2")
x, s = vectors("x"), scalars("s")
tau, M, M1, M2 = vectors("tau M M1 M2")
f = scalars("f")
J, J1, J2 = symmetric_matrices("J J1 J2", constant=True)
rho, rho1, rho2, lam, G = vectors("rho rho1 rho2 lam G", constant=True)


def inertia(seed):
    """A symmetric positive definite (3, 3) that a body can have."""
    points = np.random.default_rng(seed).normal(size=(6, 3)) * 0.3
    return sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points) + 0.02 * np.eye(3)


VALUES = {
    "g": GRAVITY, "m": 0.8, "l": 0.7, "e1": [1, 0, 0], "e3": [0, 0, 1], "J": inertia(1), "J1": inertia(2),
    "J2": inertia(3), "rho": [0.1, -0.2, -0.5], "rho1": [0.1, 0.0, -0.3], "rho2": [0.0, 0.1, -0.4],
    "lam": [0.1, 0.1, -0.6], "m1": 1.1, "m2": 0.6, "l1": 0.6, "l2": 0.45, "mQ": 0.9, "mL": 0.3, "mC": 1.5,
    "G": [0, 0, -GRAVITY], "j": 0.05,
}  # fmt: skip


def compiled(equations, **values):
    """Dynamics with every constant given."""
    dynamics = ManifoldDynamics(equations)
    dynamics.parameters.update({name: (VALUES | values)[name] for name in dynamics.parameters})
    return dynamics


def spherical():
    """Spherical pendulum, S^2."""
    return derive(m * l**2 * dt(q).dot(dt(q)) / 2 - m * g * l * q.dot(e3), delta(q).dot(tau), q)


def rigid():
    """3D pendulum, SO(3)."""
    return derive(R.rate.dot(J * R.rate) / 2 - m * g * (R * rho).dot(e3), R.virtual.dot(M), R)


def free_body():
    """A rigid body turning about its centre of mass."""
    return derive(R.rate.dot(J * R.rate) / 2, None, R)


def double_spherical():
    """Double spherical pendulum, S^2 x S^2."""
    m1, m2, l1, l2 = scalars("m1 m2 l1 l2", constant=True)
    a, b = l1 * q1, l1 * q1 + l2 * q2
    T = m1 * dt(a).dot(dt(a)) / 2 + m2 * dt(b).dot(dt(b)) / 2
    return derive(T - g * e3.dot(m1 * a + m2 * b), delta(b).dot(tau), (q1, q2))


def double_rigid():
    """Double 3D pendulum, SO(3) x SO(3)."""
    m1, m2 = scalars("m1 m2", constant=True)
    b = R1 * lam + R2 * rho2
    T = R1.rate.dot(J1 * R1.rate) / 2 + R2.rate.dot(J2 * R2.rate) / 2 + m2 * dt(b).dot(dt(b)) / 2
    return derive(T - g * e3.dot(m1 * (R1 * rho1) + m2 * b), R1.virtual.dot(M1) + R2.virtual.dot(M2), (R1, R2))


def quadrotor():
    """Quadrotor with a load on a rod, R^3 x S^2 x SO(3), thrust f along R e3 and moment M."""
    mQ, mL = scalars("mQ mL", constant=True)
    xQ = x - l * q
    T = mQ * dt(xQ).dot(dt(xQ)) / 2 + mL * dt(x).dot(dt(x)) / 2 + R.rate.dot(J * R.rate) / 2
    return derive(T - g * e3.dot(mQ * xQ + mL * x), R.virtual.dot(M) + f * (R * e3).dot(delta(xQ)), (x, q, R))


def chain(n):
    """n spherical pendulums on a cart that a force f pushes along e1, R x (S^2)^n; all links alike."""
    mC = scalars("mC", constant=True)
    links = [unit_vectors(f"q{i + 1}") for i in range(n)]
    p = s * e1
    L = mC * dt(s) * dt(s) / 2
    for link in links:
        p = p + l * link
        L = L + m * dt(p).dot(dt(p)) / 2 - m * g * p.dot(e3)
    return derive(L, delta(s) * f, (s, *links))


@cache
def skate():
    """A knife edge along q on a plane, gravity G in the plane's axes: no velocity across it, none off the plane."""
    L = m * dt(x).dot(dt(x)) / 2 + j * dt(q).dot(dt(q)) / 2 + m * G.dot(x)
    edge = dt(x).dot(cross(e3, q))
    return derive(L, delta(q).dot(tau), (x, q), constraints=[edge, dt(x).dot(e3), dt(q).dot(e3)])


SYSTEMS = {
    "spherical pendulum": spherical,
    "3D pendulum": rigid,
    "double spherical pendulum": double_spherical,
    "double 3D pendulum": double_rigid,
    "quadrotor with load": quadrotor,
    "chain of 3 on a cart": lambda: chain(3),
}


@cache
def system(name):
    """The compiled dynamics of one of SYSTEMS; shared, so that its parameters stay as they are."""
    return compiled(SYSTEMS[name]())


def random_state(dynamics, seed=0, speed=1.0):
    """(q, v) on the manifold."""
    rng = np.random.default_rng(seed)
    q, v = np.zeros(dynamics.nq), speed * rng.normal(size=dynamics.nv)
    for p in dynamics.variables:
        own = rng.normal(size=p.q.stop - p.q.start)
        q[p.q] = own if p.space.flat else own / np.linalg.norm(own)
        if p.symbol.base.is_unit:
            v[p.v] -= q[p.q] * (q[p.q] @ v[p.v])
    return q, v


def fourth_order(rate, timestep, time):
    """Error, after a time, of Runge and Kutta's method in what turns at a rate: (rate h)^5 / 120 a step."""
    return rate * time * (rate * timestep) ** 4 / 120


def fastest(motion):
    """The largest angular velocity of a motion's unit vectors and rotations."""
    return max(np.linalg.norm(motion.v[p.v]) for p in motion.dynamics.variables if p.space.flat is False)


def random_forces(dynamics, seed=0):
    """Numbers for every applied force."""
    rng = np.random.default_rng(100 + seed)
    return {
        name: rng.normal(size=s.shape) for name, s in ((n, dynamics.no_forces().symbol(n)) for n in dynamics.forces)
    }


def moving(name, seed=0, timestep=1e-3, speed=1.0, forced=False):
    """A motion of a system from a random state."""
    dynamics = system(name)
    motion = Motion(dynamics, timestep)
    motion.q, motion.v = random_state(dynamics, seed, speed)
    if forced:
        motion.forces.update(random_forces(dynamics, seed))
    return motion


def trajectory(configuration, positions, velocities, accelerations):
    """Values of the configuration's symbols and their derivatives up to the second, from omega, Omega, x' and rates."""
    values = {}
    for symbol, x, v, a in zip(configuration, positions, velocities, accelerations, strict=True):
        values[symbol] = x
        if symbol.base.is_unit:
            rate = np.cross(v, x)
            values[Symbol(symbol.base, 1)] = rate
            values[Symbol(symbol.base, 2)] = np.cross(a, x) + np.cross(v, rate)
        elif symbol.base.is_rotation:
            values[symbol.rate], values[Symbol(symbol.rate.base, 1)] = v, a
        else:
            values[Symbol(symbol.base, 1)], values[Symbol(symbol.base, 2)] = v, a
    return values
