"""Rows that the others make up for wherever a mechanism goes, as some of those that close a loop of Bennett's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.dynamics.constraint_system import ZERO, ConstraintSystem

_SAME = 1e-7  # of a row of usual size, from where on it is one
_BOTH = 1e-4, -1e-4  # rad or m, of differences of gradients
_TURNED = 1e-4  # m or rad of what is left of a row's turn that is more than rounding


def spare_rows(
    system: ConstraintSystem,
    kept: Sequence[int],
    droppable: Sequence[int],
    states: Sequence[np.ndarray],
    gradients: np.ndarray,
) -> list[int]:
    """Rows, droppable ones of those that are kept, that the others make up for wherever the mechanism goes, by that
    state, with the gradients (n, m, nv) of all rows there, that leaves fewest.

    Forces along rows that balance, s^T C = 0, do so on all ways on if no such way (n) turns them, s^T C-dot n = 0.
    States in which one is turned, as that of a chain at its full length, are singular, and tell nothing, nor do those
    in which no way on turns any row.
    """
    sizes, fewest = np.maximum(system.sizes[list(kept)], ZERO)[:, None], np.zeros((len(kept) + 1, len(kept)))
    for q, C in zip(states, gradients, strict=True) if droppable else ():
        left, singular, right = np.linalg.svd(C[list(kept)] / sizes)
        rank = int((singular > _SAME).sum())
        forces, free = left[:, rank:].T, right[rank:]
        if len(forces) >= len(fewest) or not len(free):
            continue
        ahead, behind = (system.jacobian(system.moved(np.repeat(q[None], len(free), 0), x * free)) for x in _BOTH)
        turned = (ahead - behind)[:, list(kept)] / (sizes * (_BOTH[0] - _BOTH[1]))
        most = np.abs(turned).max()
        if most > _TURNED and not (np.abs(forces @ turned @ free.T) > _TURNED * max(1.0, most)).any():
            fewest = forces
        if not len(fewest):
            break
    if not droppable or len(fewest) > len(kept):
        return []
    return [droppable[k] for k in _pivots(fewest[:, [kept.index(k) for k in droppable]])]


def _pivots(rows: np.ndarray) -> list[int]:
    """Columns of independent rows (k, m) by which these can be eliminated."""
    rows, found = rows.copy(), list[int]()
    for k in range(len(rows)):
        i, j = np.unravel_index(np.abs(rows[k:]).argmax(), rows[k:].shape)
        rows[[k, k + i]] = rows[[k + i, k]]
        if abs(rows[k, j]) <= _SAME:  # what is left balances among rows that all have to count
            break
        rows[k + 1 :] -= np.outer(rows[k + 1 :, j] / rows[k, j], rows[k])
        found.append(int(j))
    return found
