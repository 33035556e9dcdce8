"""Derivatives of a simulation's timestep where nothing touches: the integrator's rule, then the way onto constraints.

Implicit rules are differentiated where they have converged: of x = F(x, y), dx = (1 - F_x)^-1 F_y dy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.derivatives.tangents import tangents, velocities_of
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator
from recursive_dyn.dynamics.projection import approach
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry

Array = np.ndarray
_SWEEPS, _CONVERGED = 100, 1e-26  # of the implicit midpoint rule, as a squared relative change


class StepDerivatives:
    """Of a step (q, v) -> (q', v') at arrays q, v, tau, dt (..., size): derivatives (..., 2 nv, size) by each of them,
    q in its tangent space, and by the parameters as well if asked for."""

    def __init__(self, it: ModelEvaluator, arrays: Sequence[Array], parameters: bool) -> None:
        self._it, self._made, self._arrays = it, Jacobians(it), list(arrays)
        self._parameters = parameters

    def of(self, integrator: str) -> list[Array]:
        """By the arguments, with one of the integrators; StateError for an unknown one."""
        rule = registry.find(integrator)
        if rule.name not in _RULES:
            raise StateError(f"steps of '{rule.name}' have no derivatives; choose one of {', '.join(_RULES)}")
        q, v, found = _RULES[rule.name](self)
        return self._projected(q, v, found)

    def _jacobians(self, function: str, arrays: Sequence[Array]) -> list[Array]:
        return self._made.all(function, arrays, self._parameters)

    def _state(self, function: str, arrays: Sequence[Array]) -> tuple[Array, Array]:
        nq, nv = self._it.model.nq, self._it.model.nv
        result = self._it.call(function, *arrays)
        return result[..., :nq], result[..., nq : nq + nv]

    def _semi_implicit_euler(self) -> tuple[Array, Array, list[Array]]:
        return *self._state("step", self._arrays), self._jacobians("step", self._arrays)

    def _implicit_midpoint(self) -> tuple[Array, Array, list[Array]]:
        nv = self._it.model.nv
        arrays = [*self._arrays, self._middle()]
        *others, by_middle = self._jacobians("midpoint", arrays)
        if self._parameters:
            others[-1], by_middle = by_middle, others[-1]
        own, swept = by_middle[..., : 2 * nv, :], by_middle[..., 2 * nv : 3 * nv, :]
        found = []
        for J in others:
            middle = np.linalg.solve(np.eye(nv) - swept, J[..., 2 * nv : 3 * nv, :])
            found.append(J[..., : 2 * nv, :] + own @ middle)
        return *self._state("midpoint", arrays), found

    def _middle(self) -> Array:
        """The velocity of the middle, by sweeps as a step makes them."""
        nq, nv = self._it.model.nq, self._it.model.nv
        middle = self._arrays[1]
        for _ in range(_SWEEPS):
            result = self._it.call("midpoint", *self._arrays, middle)
            middle = result[..., nq + nv : nq + 2 * nv]
            if result[..., -1].max(initial=0.0) <= _CONVERGED:
                return middle
        raise StateError("the implicit midpoint rule does not converge here; take a smaller timestep")

    def _runge_kutta(self) -> tuple[Array, Array, list[Array]]:
        """Stages are points between configurations, so that numbers of q are moved, not tangents."""
        it, model = self._it, self._it.model
        q, v, tau, h = self._arrays
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in self._arrays))
        x = np.concatenate([np.broadcast_to(a, (*lead, a.shape[-1])) for a in (q, v)], axis=-1)
        moved = _Moved(it, x, tau, h, self._parameters)
        k1, d1 = moved.rates(x, moved.start)
        k2, d2 = moved.rates(*moved.stage(k1, d1, 0.5))
        k3, d3 = moved.rates(*moved.stage(k2, d2, 0.5))
        k4, d4 = moved.rates(*moved.stage(k3, d3, 1.0))
        x, dx = moved.stage(k1 + 2.0 * k2 + 2.0 * k3 + k4, d1 + 2.0 * d2 + 2.0 * d3 + d4, 1.0 / 6.0)
        for first, end in model.units:
            length = np.linalg.norm(x[..., first:end], axis=-1, keepdims=True)
            x[..., first:end] /= length
            unit, part = x[..., None, first:end], dx[..., first:end]
            part -= unit * (unit * part).sum(axis=-1, keepdims=True)
            part /= length[..., None]
        nq = model.nq
        rates = np.concatenate([velocities_of(model, x[..., :nq], dx[..., :nq]), dx[..., nq:]], axis=-1)
        return x[..., :nq], x[..., nq:], moved.split(np.swapaxes(rates, -1, -2))

    def _projected(self, q: Array, v: Array, found: list[Array]) -> list[Array]:
        """The same on the constraints, by the Newton steps that lead there, and two more from there: where a step ends
        on them its neighbours do not, whose configuration has moved before their velocity is looked at."""
        if not self._it.model.constraints:
            return found
        nv, states = self._it.model.nv, list(approach(self._it, q, v))
        for at in (*states, states[-1]):
            by_q, by_v, *by_parameters = (J[..., : 2 * nv, :] for J in self._jacobians("project", at))
            whole = np.concatenate([by_q, by_v], axis=-1)
            found = [whole @ J for J in found]
            if by_parameters:
                found[-1] = found[-1] + by_parameters[0]
        return found


_RULES: dict[str, Callable[[StepDerivatives], tuple[Array, Array, list[Array]]]] = {
    "semi_implicit_euler": StepDerivatives._semi_implicit_euler,
    "rk4": StepDerivatives._runge_kutta,
    "implicit_midpoint": StepDerivatives._implicit_midpoint,
}


class _Moved:
    """States x = [q, v] (..., nq + nv) moved along all directions: tangents of q, v, tau, dt and parameters in turn."""

    def __init__(self, it: ModelEvaluator, x: Array, tau: Array, h: Array, parameters: bool) -> None:
        model = it.model
        nq, nv, count = model.nq, model.nv, len(model.parameters) if parameters else 0
        self._it, self.x, self.tau, self.h = it, x, tau, h
        self.sizes = [nv, nv, nv, 1, *([count] if parameters else [])]
        places = np.cumsum([0, *self.sizes])
        self.start = np.zeros((*x.shape[:-1], places[-1], nq + nv))
        self.start[..., :nv, :nq] = tangents(model, x[..., :nq])
        self.start[..., nv : 2 * nv, nq:] = np.eye(nv)
        self.forces = np.zeros((places[-1], nv))
        self.forces[2 * nv : 3 * nv] = np.eye(nv)
        self.longer = np.zeros((places[-1], 1))
        self.longer[3 * nv] = 1.0
        self.parameters = places[4:]

    def rates(self, x: Array, dx: Array) -> tuple[Array, Array]:
        """x-dot, and how it changes as x changes by dx."""
        it, nq = self._it, self._it.model.nq
        q, v = x[..., :nq], x[..., nq:]
        at = [a if a.ndim == 1 else a[..., None, :] for a in (q, v, self.tau)]
        changes = it.call("along/rates", *at, dx[..., :nq], dx[..., nq:], self.forces)
        if len(self.parameters) > 1:
            own = Jacobians(it).by_parameters("rates", [q, v, self.tau])
            changes[..., self.parameters[0] :, :] += np.swapaxes(own, -1, -2)
        return it.call("rates", q, v, self.tau), changes

    def stage(self, k: Array, dk: Array, share: float) -> tuple[Array, Array]:
        """x + share h k, and how it changes."""
        h = self.h * share
        return self.x + h * k, self.start + h[..., None] * dk + self.longer * share * k[..., None, :]

    def split(self, J: Array) -> list[Array]:
        """(..., 2 nv, directions) by what was moved."""
        return list(np.split(J, np.cumsum(self.sizes)[:-1], axis=-1))
