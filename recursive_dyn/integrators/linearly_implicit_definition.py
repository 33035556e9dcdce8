"""One step of ``linearly_implicit_rk4`` and ``held_rk4`` in plain Python, solved densely: as their loops are to be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from recursive_dyn.integrators.energy_watch import BALANCES, ENERGY, LITTLE, LOSING, ROUNDING
from recursive_dyn.integrators.integrator import (
    Given,
    ModelEquations,
    StatePair,
    accelerations,
    elements,
    given_accelerations,
    joint_forces,
    numbers,
    plain_positions,
)
from recursive_dyn.integrators.watched_loop import (
    DEPTH,
    HALVINGS,
    HELD,
    REACH,
    STIFF,
    SWINGING,
    WEIGHTS,
    Stages,
)  # fmt: skip
from recursive_dyn.model.independent import independent
from recursive_dyn.recursion import turn_frequencies
from recursive_dyn.recursion.forces.element_slopes import slope_counts
from recursive_dyn.recursion.spring_answers import RINGING


def defined(
    rule: Stages, equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float
) -> StatePair:
    """(q, v) after one step: the equations above, solved densely, halved where energy is not explained."""
    return _part(rule, equations, q, v, tau, h, 0, iter(range(HALVINGS)), np.zeros(len(independent(equations.model))))


def _part(
    rule: Stages, equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, depth: int,
    left: Iterator[int], peak: np.ndarray,
) -> StatePair:  # fmt: skip
    """The step h, or one of its parts after so many halvings; left: those that are; peak: T of each part of the model
    so far."""
    share = 0.5**depth
    q_end, v_end, *work = _stages(rule, equations, q, v, tau, h * share, h)
    idle = tau, [rule.gamma * h * share], [rule.ahead * h * share], [h], np.zeros(len(v)), np.zeros(len(v))
    before, after = (balances(equations.call("stage_energies", *x, *idle)) for x in ((q, v), (q_end, v_end)))
    peak[:] = np.maximum(peak, before[:, 0])
    good = explained(before, after, (work[0], work[1]), h * share, share, peak)
    if good or depth == DEPTH or next(left, None) is None:
        return q_end, v_end
    middle = _part(rule, equations, q, v, tau, h, depth + 1, left, peak)
    return _part(rule, equations, *middle, tau, h, depth + 1, left, peak)


def explained(
    before: np.ndarray, after: np.ndarray, work: StatePair, h: float | np.ndarray, share: float = 1.0,
    peak: np.ndarray | float = 0.0,
) -> np.ndarray:  # fmt: skip
    """Whether a share of a step, of length h, may have the energies (..., n, 5) of ``_energies`` at its ends, in which
    this work (..., n) was done on the n parts of the model, and by their dampers; peak (..., n): the largest kinetic
    energy where shares of it began.
    """
    (T, U, size, _, lift), (T_end, U_end, size_end, soft, _) = np.moveaxis(before, -1, 0), np.moveaxis(after, -1, 0)
    scale = np.maximum(np.maximum(T, peak), T_end)
    resolved = -work[1] <= LITTLE * scale
    rise = (T_end - T) + (U_end - U) - work[0] - np.where(resolved, work[1], 0.0)
    part = np.where(soft < 0.0, np.minimum(ENERGY * share, LOSING * h), ENERGY * share)
    allowed = part * scale + ROUNDING * (T_end + size + size_end) + lift * share**2
    return np.asarray((np.where((soft > 0.0) | ~resolved, rise, np.abs(rise)) <= allowed).all(axis=-1))


def balances(energies: np.ndarray) -> np.ndarray:
    """What ``_energies`` gives (...), part by part (..., n, 4)."""
    return energies.reshape(*energies.shape[:-1], -1, BALANCES)


def _stages(
    rule: Stages, equations: ModelEquations, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, whole: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(q, v) after one step, or a part of a whole one, that is not watched, and the work on each part of the model, and
    of dampers in it."""
    model, own = equations.model, joint_forces(equations.model)
    D, gh = own.damping, rule.gamma * h
    highest = _highest(equations)
    of = np.array([np.isin(np.arange(model.nv), part.slots) for part in independent(model)])
    k, u, rates = np.zeros((4, model.nv)), np.zeros((4, model.nv)), np.zeros((4, model.nq))
    work, damped = np.zeros((2, len(of)))
    for i, (reach, weight) in enumerate(zip((0.0, *REACH), WEIGHTS, strict=True)):
        Q, V = q + h * reach * rates[i - 1], v + h * reach * k[i - 1]
        before, way = h * rule.before[i] @ k[:3], h * rule.before[i] @ u[:3]
        late = V + before
        M = equations.call("mass_matrix", Q)
        # of springs of balls what they do where they are is among the elements
        turning = own.torsion * ((rule is HELD) | (whole * whole * highest > SWINGING**2))
        K = own.stiffness + turning
        reaching, share = _answer(rule, (own.stiffness + own.torsion) / np.maximum(np.diag(M), 1e-150) * whole**2)
        stretched = np.where(own.torsion > 0.0, 0.0, plain_positions(model, Q) - own.rest) + way + reaching * gh * late
        M = M + np.diag(gh * D + gh * gh * K * share)
        given = given_accelerations(equations, Q, V)
        soft = _answers(rule, equations, (Q, V), M, (before, way, late), (gh, whole), given)
        M = M + soft.inertia
        C = equations.call("constraint_jacobian", Q)
        wanted = C @ equations.call("forward_dynamics", Q, V, np.zeros(model.nv))  # - C-dot V
        acting = elements(equations, Q, V)
        force = tau + acting - equations.call("bias", Q, V) - D * late - K * stretched - soft.pull
        k[i] = accelerations(M, force, C, wanted, given)
        u[i] = np.where((K != 0.0) | soft.stiff, late + rule.ahead * h * k[i], V)
        rates[i] = equations.call("rates", Q, u[i], tau)[: model.nq]
        work += h / 6 * weight * (of @ (V * tau) + _powers_of_elements(equations, Q, V * of) + soft.taken(V * of))
        damped -= h / 6 * weight * (of @ (V * D * (late + gh * k[i])))
        if given[0]:
            free = np.setdiff1d(np.arange(model.nv), given[0])
            rows = C.T @ np.linalg.lstsq(C[:, free].T, (M @ k[i] - force)[free], rcond=None)[0]
            driven = equations.call("inverse_dynamics", Q, V, k[i]) - equations.call("passive_forces", Q, V) - tau
            driven += soft.pull + soft.inertia @ k[i] - rows
            driven[free] = 0.0
            work += h / 6 * weight * of @ (V * driven)
    q, v = (x + h / 6 * np.array(WEIGHTS) @ dx for x, dx in ((q, rates), (v, k)))
    for first, end in model.units:
        q[first:end] /= np.linalg.norm(q[first:end])
    return q, v, work, damped


def _highest(equations: ModelEquations) -> np.ndarray:
    """Squares (nv,) of the frequencies that springs of balls could have."""
    found = np.zeros(equations.model.nv)
    for s, square in turn_frequencies.highest(equations.model, partial(numbers, equations)).items():
        found[s] = np.inf if square is None else square
    return found


def _answer(rule: Stages, square: np.ndarray) -> StatePair:
    """By how much of the step springs of z^2 = ``square`` pull later, and which share of h^2 K they add to M."""
    if rule is not HELD:
        return np.ones_like(square), np.ones_like(square)
    s = (1.0 - RINGING**2 / np.maximum(square, RINGING**2)) ** 4
    return (1.0 + s) / 2.0, (1.0 + 3.0 * s) / 4.0


def _powers_of_elements(equations: ModelEquations, q: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """The power of the elements of each part (n,), whose velocities (n, nv) are 0 elsewhere; time goes on in all."""
    found = np.array([equations.call("element_power", q, v)[()] for v in velocities])
    if equations.model.clock is not None:
        others = velocities[:, equations.model.clock[1]] == 0.0
        found[others] -= equations.call("element_power", q, np.zeros(velocities.shape[1]))[()]
    return found


class _Answers(NamedTuple):
    """What force elements pull beyond what the stage's state says (nv,), what they add to M (nv, nv), which coordinates
    (nv,) springs pull that answer, and the rows (m, nv) of dampers that do."""

    pull: np.ndarray
    inertia: np.ndarray
    stiff: np.ndarray
    dampers: np.ndarray

    def taken(self, v: np.ndarray) -> np.ndarray:
        """The power that these take (n,) at velocities (n, nv)."""
        return np.asarray(((v @ self.dampers.T) ** 2).sum(axis=1))


def _answers(
    rule: Stages, equations: ModelEquations, state: StatePair, M: np.ndarray,
    ways: tuple[np.ndarray, np.ndarray, np.ndarray], lengths: tuple[float, float], given: Given,
) -> _Answers:  # fmt: skip
    """ways: p_i and s_i, and the velocity V_i + p_i; lengths: g h, and the whole step."""
    stiff, damped = slope_counts(equations.model)
    found = _Answers(np.zeros(len(M)), np.zeros(M.shape), np.zeros(len(M), dtype=bool), np.zeros((0, len(M))))
    free, (gh, h) = np.setdiff1d(np.arange(len(M)), given[0]), lengths
    if not stiff + damped:
        return found
    anywhere = equations.call("element_slopes", state[0] + 0.1 * np.cos(np.arange(len(state[0]))), state[1])
    for i, r in enumerate(equations.call("element_slopes", *state)):
        response, spring = r[free] @ np.linalg.solve(M[np.ix_(free, free)], r[free]), i < stiff
        if rule is not HELD and response * (h * h if spring else h) <= (STIFF**2 if spring else STIFF):
            continue
        reaching, share = _answer(rule, response * h * h) if spring else (1.0, 1.0)
        way = ways[1] + reaching * gh * ways[2] if spring else ways[0]
        found = _Answers(
            found.pull + r * (r @ way), found.inertia + (gh * gh * share if spring else gh) * np.outer(r, r),
            found.stiff | ((anywhere[i] != 0.0) & spring), found.dampers if spring else np.vstack([found.dampers, r]),
        )  # fmt: skip
    found.stiff[given[0]] = False
    return found
