"""Anderson's mixing: from the last iterates of a sweep, the impulses at which it would change nothing."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.tuning import DEPENDENT


@compiled
def read(it: Island, x: np.ndarray) -> None:
    """x = the island's impulses, six a contact, then those of its scalar rows."""
    contacts, scalars, P, Q = it.contacts, it.scalars, it.P, it.Q
    k = 0
    for c in contacts:
        x[k : k + 6] = P[c]
        k += 6
    for s in scalars:
        x[k] = Q[s]
        k += 1


@compiled
def write(it: Island, x: np.ndarray) -> None:
    """The island's impulses = x, as ``read`` has them."""
    contacts, scalars, P, Q = it.contacts, it.scalars, it.P, it.Q
    k = 0
    for c in contacts:
        P[c] = x[k : k + 6]
        k += 6
    for s in scalars:
        Q[s] = x[k]
        k += 1


@compiled
def scales(it: Island, scale: np.ndarray) -> None:
    """Square roots of the mobilities: in these units an impulse's square is an energy."""
    G, g, contacts, scalars = it.G, it.g, it.contacts, it.scalars
    k = 0
    for c in contacts:
        for i in range(6):
            scale[k] = np.sqrt(max(G[c, i, i], 0.0))
            k += 1
    for s in scalars:
        scale[k] = np.sqrt(max(g[s], 0.0))
        k += 1


@compiled
def mixed(dR: np.ndarray, r: np.ndarray, used: int) -> np.ndarray:
    """Least squares gamma of |r - dR^T gamma|, by orthogonalisation, newest first; what adds nothing gets 0."""
    n = len(r)
    basis, upper = np.zeros((used, n)), np.zeros((used, used))
    target, gamma = r.copy(), np.zeros(used)
    coefficients = np.zeros(used)
    for i in range(used):
        column = dR[i].copy()
        size = np.sqrt(np.dot(column, column))
        for j in range(i):
            upper[j, i] = np.dot(basis[j], column)
            column -= basis[j] * upper[j, i]
        length = np.sqrt(np.dot(column, column))
        if length > DEPENDENT * size:
            upper[i, i] = length
            basis[i] = column / length
            coefficients[i] = np.dot(basis[i], target)
            target -= basis[i] * coefficients[i]
    for i in range(used - 1, -1, -1):
        if upper[i, i] > 0.0:
            total = coefficients[i]
            for j in range(i + 1, used):
                total -= upper[i, j] * gamma[j]
            gamma[i] = total / upper[i, i]
    return gamma
