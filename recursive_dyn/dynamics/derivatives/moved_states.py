"""States of an explicit rule's stages, and how they change along all directions in which its arguments may change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.derivatives.tangents import tangents, velocities_of
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator

Array = np.ndarray
Moved = tuple[Array, Array]  # numbers (..., n), and their changes (..., directions, n)


class MovedStates:
    """x = [q, v] (..., nq + nv) at a step's start, moved along tangents of q, v, tau, dt and parameters in turn.

    arrays: q, v, tau, dt; start: the changes of x; longer: those of dt.
    """

    def __init__(self, it: ModelEvaluator, arrays: Sequence[Array], parameters: bool) -> None:
        model, (q, v, tau, h) = it.model, arrays
        nq, nv, count = model.nq, model.nv, len(model.parameters) if parameters else 0
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in (q, v, tau, h)))
        self.x = np.concatenate([np.broadcast_to(a, (*lead, a.shape[-1])) for a in (q, v)], axis=-1)
        self._it, self.tau, self.h = it, tau, h
        self._sizes = [nv, nv, nv, 1, *([count] if parameters else [])]
        places = np.cumsum([0, *self._sizes])
        self.start = np.zeros((*lead, places[-1], nq + nv))
        self.start[..., :nv, :nq] = tangents(model, self.x[..., :nq])
        self.start[..., nv : 2 * nv, nq:] = np.eye(nv)
        self._forces = np.zeros((places[-1], nv))
        self._forces[2 * nv : 3 * nv] = np.eye(nv)
        self.longer = np.zeros((places[-1], 1))
        self.longer[3 * nv] = 1.0
        self._parameters = places[4:]

    def along(self, function: str, x: Array, dx: Array, more: Sequence[Moved] = ()) -> Moved:
        """What a function of (q, v, tau, ...) gives at x, and how that changes; more: of its other arguments."""
        it, nq = self._it, self._it.model.nq
        q, v = x[..., :nq], x[..., nq:]
        given = [q, v, self.tau, *(value for value, _ in more)]
        at = [a if a.ndim == 1 else a[..., None, :] for a in given]
        ways = [dx[..., :nq], dx[..., nq:], self._forces, *(way for _, way in more)]
        changes = it.call(f"along/{function}", *at, *ways)
        if len(self._parameters) > 1:
            own = Jacobians(it).by_parameters(function, given)
            changes[..., self._parameters[0] :, :] += np.swapaxes(own, -1, -2)
        return it.call(function, *given), changes

    def stage(self, k: Array, dk: Array, share: float) -> Moved:
        """x + share h k, and how it changes."""
        step, change = self._step(k, dk, share)
        return self.x + step, self.start + change

    def before(self, stages: Sequence[Moved], row: Array) -> Moved:
        """h times the stages' sum with coefficients ``row``, 0 of none."""
        nq, nv = self._it.model.nq, self._it.model.nv
        k, dk = np.zeros(nq + 2 * nv), np.zeros((len(self.longer), nq + 2 * nv))
        for own, (value, change) in zip(row, stages, strict=True):
            k, dk = k + own * value, dk + own * change
        return self._step(k, dk, 1.0)

    def _step(self, k: Array, dk: Array, share: float) -> Moved:
        h = self.h * share
        return h * k, h[..., None] * dk + self.longer * share * k[..., None, :]

    def landed(self, k: Array, dk: Array) -> tuple[Array, Array, list[Array]]:
        """(q, v) a step later along k / 6, of length 1 where that is so; derivatives (..., 2 nv, size) by argument."""
        model, (x, dx) = self._it.model, self.stage(k, dk, 1.0 / 6.0)
        for first, end in model.units:
            length = np.linalg.norm(x[..., first:end], axis=-1, keepdims=True)
            x[..., first:end] /= length
            unit, part = x[..., None, first:end], dx[..., first:end]
            part -= unit * (unit * part).sum(axis=-1, keepdims=True)
            part /= length[..., None]
        nq = model.nq
        rates = np.concatenate([velocities_of(model, x[..., :nq], dx[..., :nq]), dx[..., nq:]], axis=-1)
        columns = np.split(np.swapaxes(rates, -1, -2), np.cumsum(self._sizes)[:-1], axis=-1)
        return x[..., :nq], x[..., nq:], list(columns)
