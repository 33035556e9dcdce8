"""The last step's impulses as those to start from, and those found in world axes for the next step."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.given import ContactArrays, EarlierArrays
from recursive_dyn.contact.rows import ContactRows


@compiled
def started(contacts: ContactArrays, rows: ContactRows, earlier: EarlierArrays) -> np.ndarray:
    """Impulses (n, 6) of contacts from the last step's: of the same pair's nearest points."""
    P = np.zeros((len(contacts.keys), 6))
    order = np.argsort(earlier.keys, kind="mergesort")
    ordered = earlier.keys[order]
    used = np.zeros(len(ordered), dtype=np.bool_)
    for c in range(len(P)):
        best, found = np.inf, -1
        for k in range(np.searchsorted(ordered, contacts.keys[c]), len(ordered)):
            if ordered[k] != contacts.keys[c]:
                break
            i = order[k]
            if not used[i]:
                distance = 0.0
                for j in range(3):
                    distance += (contacts.points[c, 1, j] - earlier.points[i, j]) ** 2
                if distance < best:
                    best, found = distance, i
        if found >= 0:
            used[found] = True
            for r in range(3):
                for k in range(3):
                    P[c, r] += rows.axes[c, r, k] * earlier.impulses[found, 0, k]
                    P[c, 3 + r] += rows.axes[c, r, k] * earlier.impulses[found, 1, k]
    return P


@compiled
def in_world_axes(rows: ContactRows, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Impulses (n, 3) and moments (n, 3) on A in world axes, of the components P (n, 6)."""
    impulse, moment = np.zeros((len(P), 3)), np.zeros((len(P), 3))
    for c in range(len(P)):
        for k in range(3):
            moment[c, k] = rows.axes[c, 0, k] * P[c, 3]
            for r in range(3):
                impulse[c, k] += rows.axes[c, r, k] * P[c, r]
            for r in range(1, 3):
                moment[c, k] += rows.axes[c, r, k] * P[c, 3 + r]
    return impulse, moment
