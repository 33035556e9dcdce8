"""Constraints of a model as numbers: values and gradients of rows by the interpreter, and configurations in which they
hold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.interpreting.batches import BatchProgram
from recursive_dyn.dynamics.functions import neutral
from recursive_dyn.dynamics.model_functions import ModelFunctions
from recursive_dyn.joint.joint_check import FAR
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.context import RECURSIVE

MET = 1e-8  # m or rad; a singular solution is approached linearly, so that less is out of reach
REACH = 0.6  # largest change of a coordinate an iteration
ZERO = 1e-10
_STARTS = 12
_ITERATIONS = 60
_GROWTH = 1.15  # of that from one iteration to the next: mechanisms may be a millimetre or a kilometre in size
_BESIDE = 3  # states, and ways from each
_SOFT = 1e-12  # of the rows' squares, so that those that depend on others take part
_ROUNDING = 1e-12  # of a row's slope by velocities of bodies: what is left of it where the joints leave it none
_WILD = 1e9  # in place of a row that is no number, and of damping
_FLAT = 1e-3  # share of a row's usual gradient that is none: Gauss-Newton stops some 1e-5 before a double zero


class Gradients(NamedTuple):
    """Of m rows at n states: C (n, m, nv); psi (n, m) at rest, what rows that ask for a given velocity ask for; flat
    (n, m): where they have next to none of their gradient."""

    rows: np.ndarray
    offsets: np.ndarray
    flat: np.ndarray


class ConstraintSystem:
    """The rows' values and gradients by the interpreter, and Gauss-Newton to where they hold."""

    def __init__(self, model: Model) -> None:
        self.model = model
        functions = ModelFunctions(model, RECURSIVE)
        self._rows = BatchProgram(functions.build("constraint_positions"))
        self._jacobian = BatchProgram(functions.build("constraint_jacobian"))
        self._speeds = BatchProgram(functions.build("constraint_velocities"))
        self._integrate = BatchProgram(functions.build("integrate"))
        self.parameters = np.array([value for _, value in model.parameters])
        self.holonomic = [c.holonomic for c in model.constraints]
        self.starts = self._starting_states()
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of rows that are finite nowhere
            self._still = np.zeros(len(self.holonomic), dtype=bool)
            self.sizes = np.nanmedian(np.linalg.norm(self.jacobian(np.array(self.starts)), axis=2), axis=0)
            self._still = self.sizes <= _ROUNDING * np.array([c.slope for c in model.constraints])
            self.sizes[self._still] = 0.0

    @property
    def usual(self) -> list[float]:
        """Sizes of gradients where the search for solutions starts, to the next power of 16, so that bodies that come
        and go elsewhere change none; 0 of what has none."""
        return [16.0 ** round(math.log(x, 16.0)) if 0.0 < x < np.inf else 0.0 for x in self.sizes.tolist()]

    def _starting_states(self) -> list[np.ndarray]:
        rng = np.random.default_rng(3)
        states = [neutral(self.model)]
        for k in range(1, _STARTS):
            q = neutral(self.model)
            for place, slot in self.model.plain_slots:
                if slot in self.model.prescribed:
                    continue
                low, high = self.model.coordinates[slot].limits
                q[place] = rng.uniform(low, high) if max(-low, high) < FAR else rng.normal() * (0.1 if k < 3 else 1.0)
            for _, factor, place, _ in self.model.owners:
                q[place : place + factor.nq] += rng.normal(size=factor.nq) * (0.1 if k < 3 else 1.0)
            for first, end in self.model.units:
                q[first:end] /= np.linalg.norm(q[first:end])
            states.append(q)
        return states

    def outside(self, q: np.ndarray) -> float:
        """By how much the worst coordinate is beyond its limits."""
        worst = 0.0
        for place, slot in self.model.plain_slots:
            low, high = self.model.coordinates[slot].limits
            worst = max(worst, low - q[place], q[place] - high)
        return round(worst, 6)

    def values(self, q: np.ndarray) -> np.ndarray:
        """phi (..., m)."""
        return self._rows({"q": q, "parameters": self.parameters})["phi"]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """C (..., m, nv), zeros of what is prescribed, as no force moves that, and of rows that nothing moves."""
        flat = self._jacobian({"q": q, "parameters": self.parameters})["C"]
        C = flat.reshape(*q.shape[:-1], len(self.holonomic), self.model.nv)
        C[..., sorted(self.model.prescribed)] = 0.0
        C[..., self._still, :] = 0.0
        return C

    def gradients(self, states: Sequence[np.ndarray]) -> Gradients:
        """All rows at some states."""
        C, inputs = self.jacobian(q := np.array(states)), {"v": np.zeros(self.model.nv), "parameters": self.parameters}
        return Gradients(C, self._speeds({"q": q} | inputs)["psi"], self.flat(C))

    def beside(self, states: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Configurations some way along the motions that the constraints allow at some states, and back to where all
        of them hold."""
        rng, starts = np.random.default_rng(7), []
        for q in states[:_BESIDE]:
            C = np.nan_to_num(self.jacobian(q))
            way = rng.normal(size=(_BESIDE, self.model.nv)) @ (np.eye(self.model.nv) - np.linalg.pinv(C, 1e-6) @ C)
            way *= REACH / np.maximum(np.abs(way).max(axis=1, keepdims=True, initial=0.0), ZERO)
            starts += list(self.moved(np.repeat(q[None], _BESIDE, axis=0), way))
        return self.solutions(range(len(self.holonomic)), starts)

    def around(self, states: Sequence[np.ndarray], far: float) -> list[np.ndarray]:
        """Some configurations that are so far from some states, rad or m, in any direction."""
        q = np.repeat(np.array(states[:_BESIDE]), _BESIDE, axis=0)
        return list(self.moved(q, np.random.default_rng(7).uniform(-far, far, (len(q), self.model.nv))))

    def solutions(
        self, rows: Sequence[int], starts: Sequence[np.ndarray] | None = None, unless: int | None = None
    ) -> list[np.ndarray]:
        """Configurations in which these rows hold, from several starts: Gauss-Newton, all starts at once. unless: a row
        of which no more is asked than whether it holds there too: one where it does not is the last that is found."""
        rows = [i for i in rows if self.holonomic[i]]
        q = np.array(self.starts if starts is None else starts)
        left = np.arange(len(q))  # starts that have not arrived
        there = np.zeros(len(q), dtype=bool)
        for k in range(_ITERATIONS):
            every = self.values(q[left])
            phi, far = every[:, rows], ~there  # they take one more step than they need, which leaves but rounding
            error = np.abs(phi).max(axis=1, initial=0.0)
            if unless is not None and (there & (error < MET) & (np.abs(every[:, unless]) >= MET)).any():
                break
            there = error < ZERO
            left, phi, there = left[far], phi[far], there[far]
            if not len(left):
                break
            C = self.jacobian(q[left])[:, rows]
            wild = ~(np.isfinite(phi).all(axis=1) & np.isfinite(C).all(axis=(1, 2)))
            phi[wild], C[wild] = 0.0, 0.0
            step = -_least(C, phi)
            step *= np.minimum(1.0, REACH * _GROWTH**k / np.maximum(np.abs(step).max(axis=1, initial=0.0), ZERO))[
                :, None
            ]
            q[left] = self.moved(q[left], step)
        error = np.abs(self.values(q)[:, rows]).max(axis=1, initial=0.0)
        return [state for state, e in zip(q, error, strict=True) if e < MET]

    def least_missed(self, rows: Sequence[int]) -> float:
        """The least norm of these rows that is found from all starts: Levenberg and Marquardt's steps."""
        q, damping = np.array(self.starts), np.ones(len(self.starts))
        phi = np.nan_to_num(self.values(q)[:, rows], nan=_WILD)
        for _ in range(_ITERATIONS):
            C = np.nan_to_num(self.jacobian(q)[:, rows])
            A = np.swapaxes(C, -1, -2) @ C + damping[:, None, None] * np.eye(self.model.nv)
            step = -np.linalg.solve(A, np.swapaxes(C, -1, -2) @ phi[..., None])[..., 0]
            tried = self.moved(q, np.clip(step, -REACH, REACH))
            there = np.nan_to_num(self.values(tried)[:, rows], nan=_WILD)
            better = np.linalg.norm(there, axis=1) < np.linalg.norm(phi, axis=1)
            q[better], phi[better] = tried[better], there[better]
            damping = np.clip(np.where(better, damping / 3.0, damping * 4.0), ZERO, _WILD)
        return float(np.linalg.norm(phi, axis=1).min())

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """q (n, nq) moved by steps (n, nv)."""
        dt = np.ones((len(q), 1))
        return self._integrate({"q": q, "v": step, "dt": dt, "parameters": self.parameters})["q"]

    def vanishing(self, states: Sequence[np.ndarray]) -> list[int]:
        """Rows that change on the way to where they hold, and there no longer, even where they hold alone: others hold
        them in positions that are singular."""
        flat = np.flatnonzero(np.array(self.holonomic) & self.flat(self.jacobian(np.array(states))).all(axis=0))
        if not len(flat):
            return []
        one = np.repeat(flat, _BESIDE)
        each, q = np.arange(len(one)), np.array(self.starts[1 : 1 + _BESIDE] * len(flat))
        for _ in range(_ITERATIONS):
            phi, C = self.values(q)[each, one], self.jacobian(q)[each, one]
            phi[~np.isfinite(phi)] = np.inf
            if np.all((np.abs(phi) < MET) | ~np.isfinite(C).all(axis=1)):
                break
            step = -np.nan_to_num(C * (phi / ((C * C).sum(axis=1) + ZERO**2))[:, None], posinf=0.0, neginf=0.0)
            q = self.moved(q, np.clip(step, -REACH, REACH))
        regular = (np.abs(phi) < MET) & ~self.flat(self.jacobian(q))[each, one]
        alone = regular.reshape(len(flat), -1).any(axis=1)
        return flat[~alone].tolist()

    def flat(self, C: np.ndarray) -> np.ndarray:
        """Where rows C (n, m, nv) have next to none of their gradient (n, m)."""
        with np.errstate(invalid="ignore"):
            return np.linalg.norm(C, axis=2) < _FLAT * self.sizes


def _least(C: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """The least steps (n, nv) with C step = phi (n, m), as far as rows do not depend on each other."""
    square = C @ np.swapaxes(C, -1, -2)
    softness = _SOFT * np.einsum("nii->n", square) + ZERO
    multipliers = np.linalg.solve(square + softness[:, None, None] * np.eye(C.shape[1]), phi[..., None])
    return (np.swapaxes(C, -1, -2) @ multipliers)[..., 0]
