"""Gains of a spring and a damper on every coordinate that make it as quick as a frequency says, from inertia alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.momenta.impulse import event_size, roots

FREQUENCY, DAMPING_RATIO = 10.0, 1.0  # Hz: a rod of 0.5 m held level sags by less than half a degree; no overshoot
_HELD = 1e-6  # share of a link's velocity that its tree's first joint may leave when it holds the link in place
_STILL = 1e-9  # share of its coordinates' velocities below which constraints let nothing move
_ROWS = 64  # velocities that are looked at together: memory that does not grow with the scene's square


def natural_gains(
    dynamics: Dynamics, q: Any, frequency: Any = FREQUENCY, damping_ratio: Any = DAMPING_RATIO
) -> tuple[np.ndarray, np.ndarray]:
    """kp (nv,), N/m or N m/rad, and kd (nv,), N s/m or N m s/rad: I (2 pi f)^2 and 2 zeta I (2 pi f).

    I is ``carried_inertia`` at q (nq,); the frequency f, Hz, and the damping ratio zeta are numbers, or one a
    coordinate (nv,). Where a coordinate moves less than I it is damped more and comes as fast: kp / kd is the same.
    Raises StateError for a frequency that is not positive, a damping ratio that is negative, what is no number.
    """
    rates = 2.0 * np.pi * _each("frequency", frequency, dynamics.nv, least=0.0, above=True)
    ratios = _each("damping_ratio", damping_ratio, dynamics.nv, least=0.0, above=False)
    inertia = carried_inertia(dynamics, q, range(dynamics.nv))
    return inertia * rates**2, 2.0 * ratios * inertia * rates


def carried_inertia(dynamics: Dynamics, q: Any, slots: Iterable[int]) -> np.ndarray:
    """The most that each of the coordinates ``slots`` may have to move at q (nq,), kg or kg m^2, all others locked.

    That is what hangs on it, the diagonal of M. In a robot that stands on what it hangs on it is the rest of it: a knee
    carries the body. So each link that the coordinate moves is also held in place by the first joint of its tree, where
    that can hold it. In a loop it is what the coordinate moves by way of the constraints, if that is more.
    """
    slots, at = list(slots), np.asarray(q, dtype=float)
    factors, result = _Factors(dynamics, at), np.zeros(len(slots))
    motions = factors.motions(slots)
    while some := list(islice(motions, _ROWS)):
        whitened = factors.whitened(np.array([motion for _, motion in some]))
        np.maximum.at(result, [k for k, _ in some], (whitened**2).sum(axis=1))
    if dynamics.model.constraints:
        moved, through = factors.moved(), np.zeros(dynamics.nv)
        C, M = dynamics.constraint_jacobian(at)[:, moved], factors.mass_matrix()[np.ix_(moved, moved)]
        through[moved] = _by_constraints(C, M)
        result = np.maximum(result, through[slots])
    return result


class _Factors:
    """M = L^T D L at q (nq,), of which every simulation has the program: see ``momenta.impulse.factors``."""

    def __init__(self, dynamics: Dynamics, q: np.ndarray) -> None:
        self.model, nv = dynamics.model, dynamics.nv
        self.numbers = dynamics.call("impulse_factors", q, np.zeros(1), np.zeros(1), *np.zeros((2, nv)))
        self.order = self.model.elimination.events
        self.starts = np.cumsum([0, *(sum(map(event_size, own)) for own in self.order)]).tolist()
        self.first = [*roots(self.model), WORLD]  # link of every link's tree, then of the world's events
        self.trees: dict[int, set[int]] = {}  # that each slot moves, by their first links
        for i, link in enumerate(self.model.links):
            for slot in link.slots:
                self.trees.setdefault(slot, {WORLD}).add(self.first[i])

    def events(self, i: int) -> list[tuple[int, np.ndarray, Sequence[int] | None]]:
        """Of link i, or of the world: slot; twist of a column, or w, 1 / D and ratios of a pivot; the pivot's ports."""
        found, at = [], self.starts[i]
        for event in self.order[i]:
            end = at + event_size(event)
            found.append((event.slot, self.numbers[at:end], getattr(event, "ports", None)))
            at = end
        return found

    def moving(self, slots: Iterable[int]) -> list[int]:
        """The links of all trees that these slots move, then the world."""
        trees = set[int]().union(*(self.trees.get(slot, {WORLD}) for slot in slots))
        return [i for i, first in enumerate(self.first) if first in trees]

    def whitened(self, motions: np.ndarray) -> np.ndarray:
        """D^1/2 L v (r, nv) of velocities (r, nv): its square is twice the kinetic energy."""
        result, twists = np.zeros_like(motions), dict[int, np.ndarray]()
        for i in self.moving(np.flatnonzero(motions.any(axis=0)).tolist()):
            parent = self.model.links[i].parent if i < len(self.model.links) else WORLD
            twist = np.zeros((len(motions), 6)) if parent == WORLD else twists[parent].copy()
            for slot, numbers, ports in reversed(self.events(i)):
                if ports is None:
                    twist += np.outer(motions[:, slot], numbers)
                elif numbers[6] > 0.0:  # of what is prescribed, which stays, it is 0
                    open_ones = motions[:, list(ports)] @ numbers[7:]
                    result[:, slot] = (motions[:, slot] + twist @ numbers[:6] + open_ones) / np.sqrt(numbers[6])
            twists[i] = twist
        return result

    def mass_matrix(self) -> np.ndarray:
        """M (nv, nv)."""
        rows = self.whitened(np.eye(self.model.nv))
        return rows @ rows.T

    def moved(self) -> np.ndarray:
        """The slots (k,) that forces move: neither time's nor those of what is prescribed, whose 1 / D is 0."""
        found = [
            slot for i in range(len(self.order)) for slot, own, ports in self.events(i) if ports is not None and own[6]
        ]
        return np.array(sorted(found), dtype=np.int64)

    def _moving(self, slots: Sequence[int], rates: Sequence[float]) -> np.ndarray:
        v = np.zeros(self.model.nv)
        v[list(slots)] = rates
        return v

    def motions(self, slots: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
        """(k, v (nv,)): unit velocities of coordinate slots[k], alone, and with each link held that it moves."""
        links, first = self.model.links, self.first
        number = {slot: k for k, slot in enumerate(slots)}
        for k, slot in enumerate(slots):
            yield k, self._moving([slot], [1.0])
        twists: dict[int, dict[int, np.ndarray]] = {}  # of every link by slot
        for i in self.moving(slots)[:-1]:
            link = links[i]
            own = twists[i] = {} if link.parent == WORLD else dict(twists[link.parent])
            for slot, screw, ports in self.events(i):
                if ports is None:
                    own[slot] = own[slot] + screw if slot in own else screw
            base = links[first[i]].slots
            for slot in (s for s in link.slots if s in number and s not in base and i != first[i]):
                back = np.linalg.lstsq(np.array([own[s] for s in base]).T.reshape(6, -1), -own[slot], rcond=None)[0]
                left = own[slot] + sum((own[s] * x for s, x in zip(base, back, strict=True)), np.zeros(6))
                if np.linalg.norm(left) <= _HELD * np.linalg.norm(own[slot]):
                    yield number[slot], self._moving([slot, *base], [1.0, *back])


def _by_constraints(C: np.ndarray, M: np.ndarray) -> np.ndarray:
    """What each coordinate (nv,) moves where all others are free but for C v = 0; 0 where that holds it."""
    _, sizes, rows = np.linalg.svd(C)
    rank = int((sizes > _STILL * sizes.max(initial=0.0)).sum())
    free = rows[rank:].T
    mobility = np.einsum("ij,ij->i", free @ np.linalg.inv(free.T @ M @ free), free)
    moving = mobility * np.diag(M) > _STILL
    return np.where(moving, 1.0 / np.where(moving, mobility, 1.0), 0.0)


def _each(name: str, value: Any, count: int, least: float, above: bool) -> np.ndarray:
    """A number for each coordinate."""
    try:
        numbers = np.broadcast_to(np.asarray(value, dtype=float), (count,))
    except (TypeError, ValueError):
        raise StateError(f"{name} must be a number, or {count} numbers, one a coordinate, not {value!r}") from None
    good = np.isfinite(numbers) & ((numbers > least) if above else (numbers >= least))
    if not good.all():
        raise StateError(f"{name} must be {'above' if above else 'at least'} {least:g} and finite, not {value!r}")
    return numbers
