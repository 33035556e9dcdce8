"""Mechanisms that constraints hold by their curvature, as a chain that is stretched to its full length.

There rows depend on each other: forces along them balance (a self-stress s, s^T C = 0), and no row forbids what the
others allow, v = N y with C N = 0, at first order. At second order they move by y^T H y / 2, H = N^T (s . d C / dq) N.
Where H has both signs a mechanism goes on in two ways, as a parallelogram that lies flat; where it has one it is stuck
in all directions that H has (second-order rigidity: Connelly & Whiteley 1996, Second-order rigidity and prestress
stability for tensegrity frameworks). An error of its rows is quadratic in what moved, and Newton's steps, with every
row at its own scale, halve that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import MET, NARROW, missed_by

_FAR = 1e-4  # m or rad that rows may be missed by: what moved is some 1e-2 then
_STAYS = 1e-5  # rad or m that it may have moved, and rows be the same
_NEXT = 0.5  # the same from one step to the next
RESTS, NEARLY_RESTS = 1e-9, 1e-2  # m or rad a second of a row that is none; where nothing else explains what is stuck
_LEADS = 1e-5  # of a row's usual size, from where on what is left of it is more than rounding
_STEPS = 40
_SAME = 1e-6  # of the largest singular value of rows of length 1: below that they say the same
_STEP = 1e-4  # rad or m, of differences of the rows' gradients
_CURVED, _FLAT = 1e-3, 1e-20  # of the largest curvature, that is none, and that needs no more steps
_NEW, _TRIES = 1e-2, 4  # of a way that is none of those known; and how often one is looked for in vain
_Array = np.ndarray


class Stuck(NamedTuple):
    """What is stuck at q (nq,): rows (k, nv) of the ways that it cannot go."""

    q: _Array
    rows: _Array


def still_stuck(dynamics: Dynamics, stuck: Stuck | None, q: _Array) -> Stuck | None:
    """What is stuck at q of what was; the rows turn with what moves on, as links that spin."""
    if stuck is None or np.abs(q - stuck.q).max() <= _STAYS:
        return stuck
    if np.abs(q - stuck.q).max() > _NEXT or not missed_by(dynamics, q) <= MET:
        return None
    rows = _stuck_rows(dynamics, q, _free(dynamics))
    return None if rows is None else Stuck(q.copy(), rows)


def tautened(dynamics: Dynamics, q: _Array, v: _Array, rests: float = RESTS) -> tuple[_Array, _Array, Stuck] | None:
    """(q, v, what is stuck), this at rest on the constraints, from where they are missed by next to nothing; None where
    nothing is stuck, or what is prescribed changes rows by more than ``rests``, m or rad a second."""
    slots = _free(dynamics)
    if not _is_near(dynamics, q) or _led(dynamics, q, v, slots, rests):
        return None
    q = _met(dynamics, q, slots)
    if not missed_by(dynamics, q) <= MET or (rows := _stuck_rows(dynamics, q, slots)) is None:
        return None
    every = np.vstack([dynamics.constraint_jacobian(q), rows])  # no speed of theirs makes up for what hardly moves
    return q, v + _change(dynamics, q, every, every[:, slots] @ v[slots], slots), Stuck(q, rows)


def brought_near(dynamics: Dynamics, q: _Array, v: _Array) -> tuple[_Array, _Array] | None:
    """(q, v) on the constraints, from where they are missed by next to nothing so near a singular position that rows
    nearly say the same; None if that leads nowhere."""
    slots = _free(dynamics)
    if not _is_near(dynamics, q):
        return None
    q = _met(dynamics, q, slots)
    if not missed_by(dynamics, q) <= MET:
        return None
    missed = dynamics.call("constraint_velocities", q, v)
    return q, v + _change(dynamics, q, dynamics.constraint_jacobian(q), missed, slots)


def led_on(dynamics: Dynamics, q: _Array, v: _Array) -> tuple[_Array, _Array] | None:
    """``brought_near`` in a position that a prescribed motion leads through, where rows are taken at their own scale
    while they have any; None elsewhere."""
    near = brought_near(dynamics, q, v) if _led(dynamics, q, v, _free(dynamics)) else None
    if near is None:
        return None
    C = dynamics.constraint_jacobian(near[0])
    return None if (np.linalg.norm(C, axis=1) < _LEADS * _sizes(dynamics, C)).any() else near


def met(dynamics: Dynamics, q: _Array) -> _Array:
    """Where Newton's steps lead from q (nq,), every row at its own scale, as near to the constraints as they get."""
    return _met(dynamics, q, _free(dynamics))


def led(dynamics: Dynamics, q: _Array, v: _Array) -> bool:
    """Whether rows feel what is prescribed move at (q, v)."""
    return _led(dynamics, q, v, _free(dynamics))


def stress(dynamics: Dynamics, q: _Array) -> tuple[int, float]:
    """The row with most of the forces along rows that nearly balance at q (nq,), and how nearly: the sine of an angle
    between rows."""
    C, slots = dynamics.constraint_jacobian(q), _free(dynamics)
    left, singular, _ = np.linalg.svd(C[:, slots] / _sizes(dynamics, C)[:, None], full_matrices=True)
    sines = np.append(singular, np.zeros(len(C) - len(singular)))
    return int(np.abs(left[:, -1]).argmax()), float(sines[-1])


def _is_near(dynamics: Dynamics, q: _Array) -> bool:
    """Whether constraints of positions, and no others, are missed by next to nothing."""
    return all(c.holonomic for c in dynamics.model.constraints) and bool(missed_by(dynamics, q) <= _FAR)


def _met(dynamics: Dynamics, q: _Array, slots: _Array) -> _Array:
    """Where Newton's steps from q lead, every row at its own scale."""
    for _ in range(_STEPS):
        phi = dynamics.call("constraint_positions", q)
        if np.abs(phi).max() <= MET:
            break
        q = dynamics.integrate(q, _change(dynamics, q, dynamics.constraint_jacobian(q), phi, slots), 1.0)
    return q


def at_rest(dynamics: Dynamics, stuck: Stuck, q: _Array, v: _Array) -> _Array:
    """v (nv,) at q without what goes the ways that are stuck, by the least change that keeps to the constraints."""
    missed = np.append(dynamics.call("constraint_velocities", q, v), stuck.rows @ v)
    return v + _change(dynamics, q, np.vstack([dynamics.constraint_jacobian(q), stuck.rows]), missed, _free(dynamics))


def held(dynamics: Dynamics, stuck: Stuck, q: _Array, v: _Array, tau: _Array) -> _Array:
    """tau (nv,) with the forces that keep what is stuck from accelerating: those of constraints, by their curvature."""
    C, a = dynamics.constraint_jacobian(q), dynamics.forward_dynamics(q, v, tau)
    shares = np.linalg.norm(C, axis=1) / _sizes(dynamics, C)  # of rows that are left out of that next to nothing
    rows = np.vstack([C, stuck.rows])
    missed = np.append(np.zeros(len(C)), stuck.rows @ a)
    weights = np.append(shares, np.ones(len(stuck.rows)))
    return tau + dynamics.mass_matrix(q) @ _change(dynamics, q, rows, missed, _free(dynamics), weights)


def _led(dynamics: Dynamics, q: _Array, v: _Array, slots: _Array, rests: float = RESTS) -> bool:
    """Whether rows feel what is prescribed move: that may be what leads a mechanism on."""
    given = v.copy()
    given[slots] = 0.0
    return bool(np.abs(dynamics.call("constraint_velocities", q, given)).max() > rests)


def _free(dynamics: Dynamics) -> _Array:
    """Slots in v of what is not prescribed."""
    model = dynamics.model
    return np.array([s for s in range(model.nv) if s not in model.prescribed], dtype=int)


def _stuck_rows(dynamics: Dynamics, q: _Array, slots: _Array) -> _Array | None:
    """Rows (k, nv) of what is stuck; None if nothing is, or what would be can go on in several ways."""
    C = dynamics.constraint_jacobian(q)
    sizes = _sizes(dynamics, C)
    left, singular, right = np.linalg.svd(C[:, slots] / sizes[:, None])
    rank = int((singular >= NARROW).sum())
    if rank in (len(C), len(slots)):  # no row is spare, or nothing that is free goes on in any way
        return None
    free = np.zeros((dynamics.model.nv, len(slots) - rank))
    free[slots] = right[rank:].T
    turned = np.array([_turned(dynamics, q, way) @ free for way in free.T]).reshape(-1, len(C), free.shape[1])
    H = np.einsum("sm,amb->sab", left[:, rank:].T / sizes, turned)
    bars = _barred(0.5 * (H + np.swapaxes(H, 1, 2)))
    return bars @ free.T if len(bars) else None


def _barred(H: _Array) -> _Array:
    """Orthonormal rows (k, n) of the ways that forms H (m, n, n), of forces along rows, bar: a force does that which
    has no curvature along any way that can go on, and some along others."""
    most, free = _CURVED * max(np.abs(H).max(initial=0.0), _CURVED), _ways_on(H)
    left, singular, _ = np.linalg.svd((H @ free).reshape(len(H), -1))
    forces = left[:, int((singular > most).sum()) :].T
    _, singular, right = np.linalg.svd(np.tensordot(forces, H, 1).reshape(-1, H.shape[1]))
    return right[: int((singular > most).sum())]


def _ways_on(H: _Array) -> _Array:
    """Ways (n, k) that span all y on which every y^T H y is zero, found by Newton's steps from ways across those that
    are known."""
    most, n, rng = max(np.abs(H).max(initial=0.0), _CURVED), H.shape[1], np.random.default_rng(0)
    found, across, tries = np.zeros((n, 0)), np.eye(n), 0
    while across.shape[1] and tries < _TRIES:
        y = across @ rng.normal(size=across.shape[1])
        for _ in range(_STEPS):
            y = y / np.linalg.norm(y)
            Hy = H @ y
            if np.abs(Hy @ y).max(initial=0.0) <= _FLAT * most:
                break
            y = y - np.linalg.lstsq(np.vstack([2.0 * Hy, most * y]), np.append(Hy @ y, 0.0), rcond=_SAME)[0]
        tries += 1
        if np.abs(H @ y @ y).max(initial=0.0) <= _CURVED * most and np.linalg.norm(across.T @ y) > _NEW:
            found, tries = np.column_stack([found, y]), 0
            across = np.linalg.svd(found)[0][:, found.shape[1] :]
    return found


def _sizes(dynamics: Dynamics, C: _Array) -> _Array:
    """Sizes (m,) of rows C (m, nv), as they usually are where they are less."""
    usual = np.array([c.usual for c in dynamics.model.constraints])
    return np.maximum(np.linalg.norm(C, axis=1), np.maximum(usual, 1e-200))


def _turned(dynamics: Dynamics, q: _Array, way: _Array) -> _Array:
    """The change of C (m, nv) along a way (nv,)."""
    ahead, behind = (dynamics.constraint_jacobian(dynamics.integrate(q, way, h)) for h in (_STEP, -_STEP))
    return (ahead - behind) / (2.0 * _STEP)


def _change(
    dynamics: Dynamics, q: _Array, rows: _Array, missed: _Array, slots: _Array, weights: _Array | None = None
) -> _Array:  # fmt: skip
    """The least change (nv,), by mass, of velocities with these slots that takes from rows what they are missed by;
    weights: of the rows, all alike if None."""
    L = np.linalg.cholesky(dynamics.mass_matrix(q)[np.ix_(slots, slots)])
    reduced = np.linalg.solve(L, rows[:, slots].T).T
    lengths = np.linalg.norm(reduced, axis=1)
    known = lengths > 0.0
    scales = (np.ones(len(rows)) if weights is None else weights)[known] / lengths[known]
    least = np.linalg.lstsq(reduced[known] * scales[:, None], missed[known] * scales, rcond=_SAME)[0]
    change = np.zeros(dynamics.nv)
    change[slots] = -np.linalg.solve(L.T, least)
    return change
