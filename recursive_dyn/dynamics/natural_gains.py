"""Gains of a spring and a damper on every coordinate that make it as quick as a frequency says, from inertia alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.functions import columns
from recursive_dyn.errors import StateError
from recursive_dyn.model.model import WORLD

FREQUENCY, DAMPING_RATIO = 10.0, 1.0  # Hz: a rod of 0.5 m held level sags by less than half a degree; no overshoot
_HELD = 1e-6  # share of a link's velocity that its tree's first joint may leave when it holds the link in place
_STILL = 1e-9  # share of its coordinates' velocities below which constraints let nothing move
_ROWS = 64  # velocities whose energy is asked for at once: memory that does not grow with the scene's square


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
    slots = list(slots)
    at, result = np.asarray(q, dtype=float), np.zeros(len(slots))
    motions = _motions(dynamics, at, slots)
    while some := list(islice(motions, _ROWS)):
        energies = dynamics.kinetic_energy(at, np.array([motion for _, motion in some]))
        np.maximum.at(result, [k for k, _ in some], 2.0 * energies)
    if dynamics.model.constraints:
        result = np.maximum(result, _by_constraints(dynamics, at)[slots])
    return result


def _motions(dynamics: Dynamics, q: np.ndarray, slots: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
    """(k, v (nv,)): unit velocities of coordinate slots[k], alone, and with each link held that it moves."""
    links, first = dynamics.model.links, dict[int, int]()  # of every link's tree
    number, unit = {slot: k for k, slot in enumerate(slots)}, np.eye(dynamics.nv)
    for k, slot in enumerate(slots):
        yield k, unit[slot].copy()
    screws = iter(zip(columns(dynamics.model), dynamics.call("screws", q), strict=True))
    twists: list[dict[int, np.ndarray]] = []  # of every link by slot, about the world's origin
    for i, link in enumerate(links):
        first[i] = i if link.parent == WORLD else first[link.parent]
        own = {} if link.parent == WORLD else dict(twists[link.parent])
        for (_, slot), screw in islice(screws, len(link.slots)):
            own[slot] = own[slot] + screw if slot in own else screw
        twists.append(own)
        base = links[first[i]].slots
        for slot in (s for s in link.slots if s in number and s not in base and i != first[i]):
            back = np.linalg.lstsq(np.array([own[s] for s in base]).T.reshape(6, -1), -own[slot], rcond=None)[0]
            left = own[slot] + sum((own[s] * x for s, x in zip(base, back, strict=True)), np.zeros(6))
            if np.linalg.norm(left) <= _HELD * np.linalg.norm(own[slot]):
                motion = unit[slot].copy()
                motion[list(base)] = back
                yield number[slot], motion


def _by_constraints(dynamics: Dynamics, q: np.ndarray) -> np.ndarray:
    """What each coordinate (nv,) moves where all others are free but for the constraints; 0 where these hold it."""
    C, M = dynamics.constraint_jacobian(q), dynamics.mass_matrix(q)
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
