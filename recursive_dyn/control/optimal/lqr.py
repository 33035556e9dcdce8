"""The linear-quadratic regulator: the linear feedback of least quadratic cost about an equilibrium."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.controller import Controller
from recursive_dyn.control.goal_spaces import Configurations
from recursive_dyn.control.led_coordinates import LedCoordinates, lasting
from recursive_dyn.control.optimal import riccati
from recursive_dyn.control.optimal.equilibrium import equilibrium_forces, uncharted
from recursive_dyn.control.optimal.weights import checked_weights, natural_weights
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.simulation.state import checked_timestep

Array = np.ndarray
_STEADY = 1e-6  # share of A and B by which a steady motion's may change on the way
_LATER = (0.31, 1.7)  # s, when that is looked at


class LQR(Controller):
    """tau - K x, x = [difference(q, now), v now - v]: least integral of x^T Q x + u^T R u, linearised at (q, v).

    (q, v, tau) is an equilibrium, or a steady motion: v goes on under constant tau, and the linear model stays. tau
    (nv,) is found where it is None. Q (2 nv, 2 nv), of x, and R (n, n), of u, what is driven: whole, a diagonal or a
    number; what is None follows from kinetic energy and a ``frequency``, Hz (1): see ``weights``. With a ``timestep``,
    s, it is the regulator of forces held over a simulation's steps by its ``integrator``, the cost a sum over these.

    K (nv, 2 nv) is zero where nothing drives; x^T S x, S (2 nv, 2 nv), is the cost to go; ``poles`` are the eigenvalues
    of the linear model under control, 1/s or a step. With constraints all of this is on their tangent space.
    What time or a prescription leads is no part of x (zeros in K and S), and q may hold anything there but for the
    time; where that changes the linear model a StateError says so, as no law that stays is best then.
    Limits cut forces off: from too far away nothing comes back. Dry friction is not foreseen.
    StateError where (q, v) is no equilibrium, where it cannot be stabilised, for weights of wrong size or sign; each
    names the coordinate. ModelError for joints that change charts.
    """

    def __init__(
        self, dynamics: Dynamics, q: Any, v: Any = None, tau: Any = None, Q: Any = None, R: Any = None,
        timestep: float | None = None, actuated: Iterable[str] | None = None, limits: Any = None, *,
        frequency: float | None = None, integrator: str = registry.DEFAULT,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, actuated, limits)
        uncharted(dynamics)
        nv, space, led = dynamics.nv, Configurations(dynamics), self.drives.led
        self._ahead = lasting(dynamics, "an LQR")
        at, rates = space.read(q), np.zeros(nv) if v is None else space.read_rate(v, order=1)
        self.q, self.v = led.completed(at, rates)
        self.timestep = None if timestep is None else checked_timestep(timestep)
        self.integrator = registry.find(integrator).name
        self.Q, self.R = checked_weights(dynamics, self.drives, self.q, Q, R, frequency)
        try:
            self.tau = equilibrium_forces(self._ahead, self.drives, self.q, self.v, tau)
            self._moving = bool(self.v.any())
            if self._moving:
                self._require_steady()
        except StateError as error:
            raise _beside(led, error) from None
        A, B = self._model(self.q, self.v)
        Z, back = _tangent(dynamics, self.q, led.free)
        A, B, Q = back @ A @ Z, back @ B, Z.T @ self.Q @ Z
        names = [*dynamics.velocity_coordinates] * 2
        labels = [names[int(np.argmax(np.abs(column)))] for column in Z.T]
        scale = 1.0 / np.sqrt(np.diag(Z.T @ natural_weights(dynamics, self.drives, self.q)[0] @ Z))
        discrete = self.timestep is not None
        S = riccati.solve(A, B, Q, self.R, discrete, labels, scale)
        K = riccati.gain(A, B, S, self.R, discrete)
        self.poles = np.linalg.eigvals(A - B @ K)
        self.S = back.T @ S @ back
        self.K = np.zeros((nv, 2 * nv))
        self.K[self.drives.slots] = K @ back

    def deviation(self, q: Array, v: Array, time: float = 0.0) -> Array:
        """x (2 nv,): how far a state is from the equilibrium, or from where the steady motion is at a time, s."""
        target = self.dynamics.integrate(self.q, self.v, time) if self._moving else self.q
        x = np.array([self.dynamics.difference(target, q), v - self.v])
        x[:, self.drives.led.slots] = 0.0
        return x.ravel()

    def cost_to_go(self, q: Array, v: Array, time: float = 0.0) -> float:
        """x^T S x: what the regulator will cost from a state on."""
        x = self.deviation(q, v, time)
        return float(x @ self.S @ x)

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        return self.tau - self.K @ self.deviation(q, v, time)

    def _model(self, q: Array, v: Array) -> tuple[Array, Array]:
        A, B = self._ahead.linearize(q, v, self.tau, self.timestep, self.integrator)
        return A, B[:, self.drives.slots]

    def _require_steady(self) -> None:
        """The same linear model, and no acceleration, at other times."""
        led, nv = self.drives.led, self.dynamics.nv
        start, known = np.hstack(self._model(self.q, self.v)), np.concatenate([led.slots, nv + led.slots])
        for time in _LATER:
            q, v = self._ahead.integrate(self.q, self.v, time), self.v
            if led:
                q, v = led.at(led.time(q), q, v)
            try:
                equilibrium_forces(self._ahead, self.drives, q, v, self.tau)
            except StateError as error:
                raise StateError(f"v is no steady motion: after {time:g} s {error}") from None
            change = np.abs(np.hstack(self._model(q, v)) - start)
            change[known] = change[:, known] = 0.0
            if change.max() > _STEADY * np.abs(start).max():
                worst = int(np.argmax(change.max(axis=1))) % nv
                raise StateError(
                    f"v is no steady motion: after {time:g} s '{self.dynamics.velocity_coordinates[worst]}' answers"
                    " otherwise than at q; choose a v that changes nothing, or TimeVaryingLQR"
                )


def _beside(led: LedCoordinates, error: StateError) -> StateError:
    """An error that may be of what is led."""
    if not led:
        return error
    names = "' and '".join(led.names)
    return StateError(
        f"an LQR keeps what stays as it is, and '{names}' may move it: {error}; beside what moves take a TimeVaryingLQR"
        " along a motion, as an ILQR plans one, or a law that knows accelerations, as ComputedTorque"
    )


def _tangent(dynamics: Dynamics, q: Array, free: Array) -> tuple[Array, Array]:
    """Z (2 nv, k) and Z^+ of the deviations x = Z z that the constraints allow at rest; z = Z^+ x in the metric of M.

    Rows between velocities alone leave dq free. Only the slots ``free`` deviate.
    """
    nv, unit = dynamics.nv, np.eye(dynamics.nv)[:, free]
    if not dynamics.model.constraints:
        Z = np.eye(2 * nv)[:, np.concatenate([free, nv + free])]
        return Z, Z.T
    M, C = unit @ unit.T @ dynamics.mass_matrix(q) @ unit @ unit.T, dynamics.constraint_jacobian(q)
    holonomic = np.array([row.holonomic for row in dynamics.model.constraints])
    bases = [unit @ _kernel(rows @ unit) for rows in (C[holonomic], C)]
    inverses = [np.linalg.solve(N.T @ M @ N, N.T @ M) for N in bases]
    k = bases[0].shape[1]
    Z = np.zeros((2 * nv, k + bases[1].shape[1]))
    back = np.zeros(Z.T.shape)
    Z[:nv, :k], Z[nv:, k:] = bases
    back[:k, :nv], back[k:, nv:] = inverses
    return Z, back


def _kernel(C: Array) -> Array:
    """Columns that rows C leave free."""
    _, sizes, rows = np.linalg.svd(C)
    rank = int((sizes > 1e-9 * sizes.max(initial=0.0)).sum())
    return np.asarray(rows[rank:].T)
