"""Changes of Newton's method and of those by its factors: how long they are, what the next one would be, by trees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from recursive_dyn.graph.expression import Scalar, less, reciprocal, select
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.momenta.impulse import roots
from recursive_dyn.spatial.algebra import dot

ONE, FEW, MANY = 1, 2, 3  # changes of the middle's velocity: Newton's, and those by its factors
# times the square of Newton's own change is the next one at most, both relative: chains of 10 to 300 links at 60 Hz to
# 1 kHz have 0.03 to 3, one of 100 that whips by a fifth of a radian a step up to 10
CURVED = 20.0
_LEAST = 1e-100  # of a change, squared, so that there are a reciprocal of none, and its derivative
LARGE = 18  # coordinates of a tree, of which more make one more change cheaper than what it saves


def at_most(first: Scalar, size: Scalar) -> Scalar:
    """The square of the next change after Newton's own, at most; size: of what changes, squared, and 1 more."""
    return first * first * reciprocal(size) * (CURVED * CURVED)


def following(first: Scalar, *others: Scalar) -> Scalar:
    """The square of the next change after these: as much shorter than the last as that is than the one before, but no
    more than twice as long as what the second is to the first says, as the last may be rounding."""
    *before, last = others
    shorter = last * reciprocal([first, *before][-1] + _LEAST)
    for second in before[:1]:
        usual = second * reciprocal(first + _LEAST) * 4.0
        shorter = select(less(usual, shorter), usual, shorter)
    return last * shorter


def updated(s: np.ndarray, taken: Sequence[np.ndarray]) -> np.ndarray:
    """What Broyden's updates by the changes that were taken make of one by the first matrix (Kelley 1995, Iterative
    methods for linear and nonlinear equations, 7.3); of one that is not small against the last, rounding, nothing."""
    for before, after in pairwise(taken):
        s = s + after * _share(s, before)
    for last in taken[-1:]:
        s = s * reciprocal(1.0 - _share(s, last))
    return s


def _share(s: np.ndarray, way: np.ndarray) -> Scalar:
    """How much of a way there is in s, 0 where that is a quarter or more."""
    share = dot(way, s) * reciprocal(dot(way, way) + _LEAST)
    return select(less(share * share, 1.0 / 16.0), share, 0.0)


def by_root(model: Model) -> dict[int, list[int]]:
    """Slots of each tree, by its first link."""
    trees: dict[int, set[int]] = {}
    for first, link in zip(roots(model), model.links, strict=True):
        trees.setdefault(first, set()).update(link.slots)
    return {first: sorted(own) for first, own in trees.items()}


def apart(model: Model) -> list[list[int]]:
    """Slots of each of the trees, which know nothing of each other; all of them, where these are held together."""
    slots = list(by_root(model).values())
    together = bool(model.constraints) or sum(map(len, slots)) > model.nv
    return [list(range(model.nv))] if together else slots


def relative(error: list[Scalar]) -> list[Scalar]:
    """Squared relative changes, of velocities below 1 against 1."""
    *changes, size = error
    return [change * reciprocal(size + 1.0) for change in changes]


def changes_of(model: Model) -> int:
    """How many changes are made at most before what is left is looked at. One more is a seventh of a sweep of a large
    tree, of which a second one would be made without it where some part moves fast."""
    largest = max(map(len, by_root(model).values()), default=0)
    return MANY if model.constraints or largest > LARGE else FEW
