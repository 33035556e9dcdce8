"""A geometric controller of a quadrotor that carries its load on a rod: the load follows a path.

Sreenath, Lee & Kumar (2013), "Geometric control and differential flatness of a quadrotor UAV with a cable-suspended
load"; the attitude loop is that of Lee, Leok & McClamroch (2010). Three loops, each the wish of the next:

load position  A = x_d'' + g e3 - kx (x - x_d) - kv (x' - x_d'), the wish for x'' + g e3; the rod should lie along
               q_d = -A / |A|, and now it can give (A . q) q
rod on S^2     q'' = -u - |q'|^2 q with u of the errors e_q = hat(q)^2 q_d and e_q' = q' - w_d x q, w_d = q_d x q_d'
craft on SO(3) R e3 should point along F = (mQ + mL) (A . q) q + mQ l (u + |q'|^2 q), the heading along the path;
               M of the errors e_R = (Rc^T R - R^T Rc)^vee / 2 and e_Omega = Omega - R^T Rc Omega_c

Their A holds mQ l |q'|^2 q as well; here F does, so that q_d does not depend on q. The rates in the feed-forward, up to
q_d'' and Omega_c', are exact for an attitude that follows at once: that motion's Taylor series about the present state
is found by substitution (``taylor``). The attitude loop must be nearly four times as fast as that of the rod.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demos.manifolds.taylor import ORDER, constant, cross, dot, from_derivatives, integral, rate, times, unit

Array = np.ndarray
Path = Callable[[float, int], Array]
E3 = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Craft:
    """Masses of quadrotor and load, kg; length of the rod, m; inertia about the quadrotor's centre (3, 3), kg m^2."""

    mQ: float
    mL: float
    l: float
    J: Array
    g: float = 9.81


@dataclass(frozen=True)
class Gains:
    """Natural frequencies, rad/s, of load, rod and attitude, each some times faster than the one before; damping."""

    load: float = 1.7
    rod: float = 4.2
    attitude: float = 16.0
    damping: float = 0.9

    def of(self, frequency: float) -> tuple[float, float]:
        """Proportional and derivative gain, 1/s^2 and 1/s."""
        return frequency**2, 2 * self.damping * frequency


@dataclass(frozen=True, eq=False)
class CraftState:
    """Load x and x', rod q (from quadrotor to load) and q', attitude R and Omega in body axes."""

    x: Array
    v: Array
    q: Array
    dq: Array
    R: Array
    Omega: Array


@dataclass(frozen=True, eq=False)
class Command:
    """Wanted force F of the rotors, attitude R with its Omega and Omega'."""

    F: Array
    R: Array
    Omega: Array
    dOmega: Array


class LoadController:
    """Thrust and moment that lead the load along a path from almost anywhere.

    path(t, n): position of the load at t and its derivatives up to the n-th, (n + 1, 3); the craft heads along it.
    """

    def __init__(self, craft: Craft, path: Path, gains: Gains | None = None) -> None:
        self.craft, self.path, self.gains = craft, path, gains or Gains()

    def __call__(self, t: float, s: CraftState) -> tuple[float, Array]:
        """Thrust f along R e3, N, never negative, and moment M (3,) in body axes, N m."""
        wanted = self.command(t, s)
        stiff, damped = self.gains.of(self.gains.attitude)
        turn = s.R.T @ wanted.R
        e_R, e_Omega = 0.5 * vee(turn.T - turn), s.Omega - turn @ wanted.Omega
        ahead = turn @ wanted.dOmega - np.cross(s.Omega, turn @ wanted.Omega)
        J = self.craft.J
        M = np.cross(s.Omega, J @ s.Omega) + J @ (ahead - stiff * e_R - damped * e_Omega)
        return max(0.0, float(wanted.F @ s.R[:, 2])), M

    def command(self, t: float, s: CraftState) -> Command:
        """Wanted force and attitude, with rates."""
        known = self.path(t, ORDER + 2)
        F = self._force(known, s)
        b3 = unit(F)
        b2 = unit(cross(b3, from_derivatives(known[1 : ORDER + 2] * (1, 1, 0))))
        R = np.stack([cross(b2, b3), b2, b3], axis=2)  # of Taylor coefficients
        return Command(F[0], R[0], vee(R[0].T @ R[1]), vee(R[0].T @ (2 * R[2])))

    def matched(self, t: float) -> CraftState:
        """The state of a motion that follows the path exactly."""
        known = self.path(t, ORDER + 2)
        q = -unit(from_derivatives(known[2:]) + constant(self.craft.g * E3))
        start = CraftState(known[0], known[1], q[0], q[1], np.eye(3), np.zeros(3))
        wanted = self.command(t, start)
        return CraftState(start.x, start.v, start.q, start.dq, wanted.R, wanted.Omega)

    def _force(self, known: Array, s: CraftState) -> Array:
        """Taylor series of F, right up to F'', were the attitude to follow at once."""
        c, n = self.craft, ORDER + 1
        kx, kv = self.gains.of(self.gains.load)
        path, velocity, ahead = (from_derivatives(known[k : k + n]) for k in range(3))
        weight = constant(c.g * E3)
        x, v, q, dq = constant(s.x), constant(s.v), constant(s.q), constant(s.dq)
        q = integral(dq, s.q)
        F = weight
        for _ in range(ORDER):  # each finds one more coefficient of q and F, for which it takes two of x'
            for _ in range(2):
                A = ahead + weight - kx * (x - path) - kv * (v - velocity)
                pull = times(dot(A, q), q)
                v = integral(pull - weight, s.v)
                x = integral(v, s.x)
            u, spin = self._rod(A, q), times(dot(dq, dq), q)
            dq = integral(-u - spin, s.dq)
            q = integral(dq, s.q)
            F = (c.mQ + c.mL) * pull + c.mQ * c.l * (u + spin)
        return F

    def _rod(self, A: Array, q: Array) -> Array:
        """u at right angles to q: errors and feed-forward on S^2."""
        kq, kw = self.gains.of(self.gains.rod)
        q_d, dq = -unit(A), rate(q)
        w_d = cross(q_d, rate(q_d))
        e_q, e_dq = times(dot(q, q_d), q) - q_d, dq - cross(w_d, q)
        return kq * e_q + kw * e_dq - times(dot(q, w_d), cross(q, dq)) - cross(rate(w_d), q)


def vee(A: Array) -> Array:
    """The vector of the skew part of A (3, 3)."""
    return 0.5 * np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])
