"""What hangs together by joints and loops, and what of that floats."""

from __future__ import annotations

import numpy as np

from recursive_dyn.maximal.sparse.sparse_order import MoreSides
from recursive_dyn.model.model import WORLD

Array = np.ndarray

GROUNDED = -1


def roots_of(links: int, parents: Array, children: Array, more: MoreSides) -> Array:
    """The first link (links,) of what hangs together with each link: joints lead from parents to children (n,), WORLD
    for none, some of them to ``more``."""
    roots = list(range(links))

    def root(i: int) -> int:
        while roots[i] != i:
            roots[i] = i = roots[roots[i]]
        return i

    ends = [*zip(parents.tolist(), children.tolist(), strict=True)]
    ends += [*zip(more.links.tolist(), children[more.rows].tolist(), strict=True)]
    for parent, child in ends:
        if parent != WORLD:
            a, b = sorted((root(parent), root(child)))
            roots[b] = a
    return np.array([root(i) for i in range(links)], dtype=np.int64)


def assemblies_of(roots: Array, grounded: Array) -> Array:
    """The number (links,) of what floats together with each link, GROUNDED of what hangs together with links
    ``grounded``."""
    result = np.unique(roots, return_inverse=True)[1]
    result[np.isin(roots, roots[grounded])] = GROUNDED
    return result
