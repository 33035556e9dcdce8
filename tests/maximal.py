"""Bodies by themselves: their masses and momenta as the scene states them, places and velocities of their centres."""

from __future__ import annotations

import numpy as np
from trees import curve, derivative

DIFFERENCED = 1e-10  # ``derivative`` promises 1e-11 of the momenta; their rates are up to ten times as large
EXACT = 1e-12  # the contract's; a wrench is the solution of a system of at most six equations


class Bodies:
    """Masses (nb,), centres (nb, 3) and inertias (nb, 3, 3) as the scene states them; ``moves`` (nb,)."""

    def __init__(self, m):
        bodies = m.scene.bodies
        self.mass = np.array([b.mass for b in bodies])
        self.center = np.array([b.center_of_mass for b in bodies])
        self.inertia = np.array([b.inertia for b in bodies])
        moving = {}
        for body, case in zip(bodies, m.cases, strict=True):
            moving[body.name] = bool(case.nq) or moving.get(body.parent.name, False)
        self.moves = np.array(list(moving.values()), dtype=float)

    def centers(self, X):
        return X[..., :3, 3] + np.einsum("...bij,bj->...bi", X[..., :3, :3], self.center)

    def momenta(self, X, V):
        """Spin about the centre of mass and linear momentum of every body, world axes, (..., nb, 3) each."""
        R, omega = X[..., :3, :3], V[..., :3]
        arm = np.einsum("...bij,bj->...bi", R, self.center)
        linear = self.mass[:, None] * (V[..., 3:] + np.cross(omega, arm))
        spin = np.einsum("...bij,bjk,...blk,...bl->...bi", R, self.inertia, R, omega)
        return spin, linear


def rotors(m):
    """Rotor inertia (nv,) of each coordinate, its followers' by the square of their ratio (equal kinetic energy)."""
    labels = m.dynamics().velocity_coordinates
    total = np.zeros(len(labels))
    for body in m.scene.bodies:
        coupling = body.joint.coupling
        for c in body.joint.coordinates:
            if coupling is None:
                total[labels.index(f"{body.name}.{c.name}")] += c.armature
            else:
                lead = next(i for i, x in enumerate(labels) if x.startswith(coupling.leader + "."))
                total[lead] += c.armature * coupling.multiplier**2
    return total


def rates_of_momenta(d, bodies, q, v, a):
    """Rates of spin and linear momentum (2, count, nb, 3) on the motion through q, v, a."""

    def momenta(t):
        q_t, v_t = curve(d, q, v, a, t)
        return np.stack(bodies.momenta(d.poses(q_t), d.velocities(q_t, v_t)), axis=1)

    return derivative(momenta)


def taus(m, count=4, seed=1):
    """Dynamics, random q (count, nq) and tau (count, nv)."""
    q, v = m.states(count, seed)
    return m.dynamics(), q, np.random.default_rng(seed).normal(size=v.shape)


def centers(d, scene, q):
    """Centres of mass (..., nb, 3) in the world."""
    X = d.poses(q)
    c = np.array([body.center_of_mass for body in scene.bodies])
    return X[..., :3, 3] + np.einsum("...bij,bj->...bi", X[..., :3, :3], c)


def at_centers(d, scene, q, v):
    """Velocities (n, nb, 6) at the centres of mass."""
    V = d.velocities(q, v).copy()
    V[..., 3:] += np.cross(V[..., :3], centers(d, scene, q) - d.poses(q)[..., :3, 3])
    return V


def somewhere(d, seed=4):
    """A point (nb, 3) of each body, off the axes."""
    return np.random.default_rng(seed).uniform(0.3, 0.9, (len(d.bodies), 3))
