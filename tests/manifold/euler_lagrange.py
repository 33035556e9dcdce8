"""Euler and Lagrange in local coordinates, by differences in 60 digits: mechanisms of point masses in a chart."""

import mpmath
import numpy as np
from twins import GRAVITY

mp = mpmath.mp.clone()
mp.dps = 60
EPS = mp.mpf("1e-15")  # central differences err by EPS^2, their rounding is 1e-60 / EPS^2: both 1e-30
cos, sin = np.frompyfunc(mp.cos, 1, 1), np.frompyfunc(mp.sin, 1, 1)
high = np.frompyfunc(mp.mpf, 1, 1)


class Chart:
    """Variables as functions of local coordinates (n,), around a frame (3, 3) for each.

    A direction is the first column of frame Rz(u) Ry(-v), a rotation frame Rz(a) Ry(b) Rx(c).
    """

    def __init__(self, places, frames):
        self.places, self.frames = places, frames
        sizes = [p.space.dimension for p in places]
        self.ends = np.cumsum(sizes)
        self.curved = np.repeat([not p.space.flat for p in places], sizes)
        self.size = int(self.ends[-1])

    def __call__(self, theta):
        result = {}
        for place, frame, own in zip(self.places, self.frames, np.split(theta, self.ends[:-1]), strict=True):
            name = place.symbol.base.name
            if place.symbol.base.is_unit:
                (c, k), (s, t) = cos(own), sin(own)
                result[name] = frame @ np.array([c * k, s * k, t])
            elif place.symbol.base.is_rotation:
                result[name] = frame @ _about("z", own[0]) @ _about("y", own[1]) @ _about("x", own[2])
            else:
                result[name] = own if place.symbol.shape else own[0]
        return result

    def rates(self, theta, v, a):
        """(positions, rates q', Omega, x', accelerations q'', Omega', x'') by name along theta + v t + a t^2 / 2."""
        before, here, after = (self(theta + v * t + a * t**2 / 2) for t in (-EPS, 0, EPS))
        result = [here, {}, {}]
        for place in self.places:
            key = place.symbol.base.name
            first = (after[key] - before[key]) / (2 * EPS)
            second = (after[key] - 2 * here[key] + before[key]) / EPS**2
            turning = place.symbol.base.is_rotation
            result[1][key] = turning_of(here[key], first) if turning else first
            result[2][key] = turning_of(here[key], second) if turning else second
        return result


def _about(axis, angle):
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = high(np.eye(3))
    R[i, i] = R[j, j] = mp.cos(angle)
    R[j, i] = mp.sin(angle)
    R[i, j] = -R[j, i]
    return R


def turning_of(R, change):
    """The vector of the skew part of R^T R': Omega; and Omega' of R^T R''."""
    A = R.T @ change
    return np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / 2


class EulerLagrange:
    """Equations of motion of a mechanism in a chart, by central differences."""

    def __init__(self, mechanism, parameters, chart, forces):
        self.mechanism, self.p, self.chart, self.forces = mechanism, parameters, chart, forces

    def place(self, theta):
        """Positions times the root of the mass, so that T is half the square of its rate."""
        masses = self.mechanism.masses(self.p, self.chart(theta))
        return np.concatenate([mp.sqrt(m) * x for m, x in masses])

    def potential(self, theta):
        return GRAVITY * sum(m * (x @ self.p["e3"]) for m, x in self.mechanism.masses(self.p, self.chart(theta)))

    def kinetic(self, theta, v):
        rate = derivative(lambda t: self.place(theta + v * t))
        return rate @ rate / 2

    def jacobian(self, theta):
        return np.array([derivative(lambda t, e=e: self.place(theta + e * t)) for e in high(np.eye(len(theta)))]).T

    def momentum(self, theta, v):
        """dT/dv."""
        J = self.jacobian(theta)
        return J.T @ (J @ v)

    def force(self, theta):
        """Generalized applied forces, by the virtual work of each coordinate."""
        s = self.chart(theta)
        works = []
        for e in high(np.eye(len(theta))):
            d = self.chart.rates(theta, e, 0 * e)[1]
            works.append(self.mechanism.work(self.p, s, d, self.forces))
        return np.array(works)

    def acceleration(self, theta, v):
        """theta'' from d/dt dT/dv - d(T - U)/dtheta = Q."""
        units = high(np.eye(len(theta)))

        def lagrangian(theta):
            return self.kinetic(theta, v) - self.potential(theta)

        slope = np.array([derivative(lambda t, e=e: lagrangian(theta + e * t)) for e in units])
        bias = derivative(lambda t: self.momentum(theta + v * t, v))
        J = self.jacobian(theta)
        rest = slope - bias + self.force(theta)
        return np.array(mp.lu_solve(mp.matrix((J.T @ J).tolist()), mp.matrix(rest.tolist())).T.tolist()[0])


def derivative(f):
    """f'(0)."""
    return (f(EPS) - f(-EPS)) / (2 * EPS)
