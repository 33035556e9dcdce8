"""Derivatives of a simulation's timestep where nothing touches: the integrator's rule, then the way onto constraints.

Implicit rules are differentiated where they have converged: of x = F(x, y), dx = (1 - F_x)^-1 F_y dy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.derivatives.moved_states import MovedStates
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator
from recursive_dyn.dynamics.projection import approach
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.linearly_implicit_definition import balances, explained
from recursive_dyn.integrators.watched_loop import DEPTH, HALVINGS, OWN, REACH, WEIGHTS

Array = np.ndarray
_SWEEPS, _CONVERGED = 100, 1e-26  # of the implicit midpoint rule, as a squared relative change
_NEWTON = 1e-18  # the same, after which Newton's method has it


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
        rule.check(self._it.model)
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
        return self._swept("midpoint", _CONVERGED)

    def _variational_midpoint(self) -> tuple[Array, Array, list[Array]]:
        return self._swept("variational", _NEWTON)

    def _swept(self, sweep: str, converged: float) -> tuple[Array, Array, list[Array]]:
        nv = self._it.model.nv
        arrays = [*self._arrays, self._middle(sweep, self._it.model.nq + nv, converged)]
        others, by_middle = self._beside_middle(self._jacobians(sweep, arrays))
        swept = [J[..., 2 * nv : 3 * nv, :] for J in others], by_middle[..., 2 * nv : 3 * nv, :]
        found = self._through_middle(others, by_middle, *swept)
        return *self._state(sweep, arrays), found

    def _beside_middle(self, found: list[Array]) -> tuple[list[Array], Array]:
        """Derivatives by everything else, and those by the velocity of the middle."""
        *others, by_middle = found
        if self._parameters:
            others[-1], by_middle = by_middle, others[-1]
        return others, by_middle

    def _through_middle(self, others: list[Array], by_middle: Array, swept: list[Array], own: Array) -> list[Array]:
        """Derivatives of the step, where the middle moves by what a sweep does of it (``swept``) and of itself."""
        left = np.eye(self._it.model.nv) - own
        step = 2 * self._it.model.nv
        return [
            J[..., :step, :] + by_middle[..., :step, :] @ np.linalg.solve(left, S)
            for J, S in zip(others, swept, strict=True)
        ]

    def _middle(self, sweep: str, at: int, converged: float) -> Array:
        """The velocity of the middle, by sweeps as a step makes them, which have it from a place in their outputs."""
        middle = self._arrays[1]
        for _ in range(_SWEEPS):
            result = self._it.call(sweep, *self._arrays, middle)
            middle = result[..., at : at + self._it.model.nv]
            if result[..., -1].max(initial=0.0) <= converged:
                return middle
        raise StateError("the midpoint rule does not converge here; take a smaller timestep")

    def _runge_kutta(self) -> tuple[Array, Array, list[Array]]:
        """Stages are points between configurations, so that numbers of q are moved, not tangents."""
        moved = MovedStates(self._it, self._arrays, self._parameters)
        k1, d1 = moved.along("rates", moved.x, moved.start)
        k2, d2 = moved.along("rates", *moved.stage(k1, d1, 0.5))
        k3, d3 = moved.along("rates", *moved.stage(k2, d2, 0.5))
        k4, d4 = moved.along("rates", *moved.stage(k3, d3, 1.0))
        return moved.landed(k1 + 2.0 * k2 + 2.0 * k3 + k4, d1 + 2.0 * d2 + 2.0 * d3 + d4)

    def _linearly_implicit_rk4(self) -> tuple[Array, Array, list[Array]]:
        """Of whole steps, and of the parts of those that the watch on energy halves."""
        q, v, found, good = self._watched(self._arrays, 1.0, [0.0])
        rows = np.argwhere(~good)
        given = [np.broadcast_to(a, (*good.shape, a.shape[-1])) for a in self._arrays]
        for row in map(tuple, rows.tolist()):
            q[row], v[row], parts = self._halved([a[row] for a in given], 0, iter(range(HALVINGS)), [0.0])
            for J, own in zip(found, parts, strict=True):
                J[row] = own
        return q, v, found

    def _halved(
        self, arrays: Sequence[Array], depth: int, left: Iterator[int], peak: list[Array | float]
    ) -> tuple[Array, Array, list[Array]]:
        """Of one step, or one of its parts after so many halvings, in parts as it is taken; left: halvings that are;
        peak: the largest kinetic energy so far.

        Where a step is cut is a matter of the state, too: what is differentiated is the step that is cut as this one.
        """
        q, v, tau, h = arrays
        share = 0.5**depth
        q_end, v_end, found, good = self._watched([q, v, tau, h * share], share, peak)
        if good or depth == DEPTH or next(left, None) is None:
            found[3] = found[3] * share
            return q_end, v_end, found
        q, v, first = self._halved(arrays, depth + 1, left, peak)
        q, v, second = self._halved([q, v, tau, h], depth + 1, left, peak)
        by_state = np.concatenate(second[:2], axis=-1)
        through = [by_state @ J for J in first]
        return q, v, through[:2] + [J + own for J, own in zip(through[2:], second[2:], strict=True)]

    def _watched(
        self, arrays: Sequence[Array], share: float, peak: list[Array | float]
    ) -> tuple[Array, Array, list[Array], Array]:
        """Where a share of a step that is not halved ends, its derivatives, and whether its energy is explained."""
        model = self._it.model
        nq, nv, end = model.nq, model.nv, model.nq + model.nv
        moved = MovedStates(self._it, arrays, self._parameters)
        x, dx = moved.x, moved.start
        whole, d_whole, work = np.zeros(1), np.zeros(1), np.zeros(1)
        powers = end + nv
        stages: list[tuple[Array, Array]] = []
        within = OWN.gamma * moved.h, OWN.gamma * moved.longer  # as far as its own acceleration counts in a stage
        in_all = moved.h / share, 0.0 * moved.longer
        for reach, weight, row in zip((*REACH, 0.0), WEIGHTS, OWN.before, strict=True):
            before, d_before = moved.before(stages, row[: len(stages)])
            parts = [(before[..., i : i + nv], d_before[..., i : i + nv]) for i in (nq, end)]
            k, dk = moved.along("stage", x, dx, [within, within, in_all, *parts])
            stages.append((k[..., :powers], dk[..., :powers]))
            whole, d_whole = whole + weight * k[..., :end], d_whole + weight * dk[..., :end]
            work = work + weight / 6.0 * k[..., powers:]
            x, dx = moved.stage(k[..., :end], dk[..., :end], reach)
        q, v, found = moved.landed(whole, d_whole)
        return q, v, found, self._explained(moved, q, v, work * moved.h, share, peak)

    def _explained(
        self, moved: MovedStates, q: Array, v: Array, work: Array, share: float, peak: list[Array | float]
    ) -> Array:
        """Whether the watch on energy takes shares of steps to q, v with this work (..., 2 n) on its n parts and
        by their dampers."""
        nq, nothing, within = self._it.model.nq, np.zeros(self._it.model.nv), OWN.gamma * moved.h
        before, after = (
            balances(
                self._it.call("stage_energies", *state, moved.tau, within, within, moved.h / share, nothing, nothing)
            )
            for state in ((moved.x[..., :nq], moved.x[..., nq:]), (q, v))
        )
        peak[0] = np.maximum(peak[0], before[..., 0])
        return explained(before, after, (work[..., ::2], work[..., 1::2]), moved.h, share, peak[0])

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
    "linearly_implicit_rk4": StepDerivatives._linearly_implicit_rk4,
    "variational_midpoint": StepDerivatives._variational_midpoint,
}
