"""Numbers of a tree that may be inputs of its program: masses, centres, inertias, placements.

A tree is its structure and its numbers. Trees of one structure are equal but for numbers. 0, 1 and -1 belong to the
structure, as recursions need fewer operations where they stand, but for places and masses; so do rotations about an
axis, of which the sine and the cosine are the numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from recursive_dyn.graph.expression import Expression, Scalar, array, is_constant
from recursive_dyn.model.model import BodyFrame, Link, MassMoments
from recursive_dyn.spatial.displacement import AxisRotation, rotations_of

Array = np.ndarray
_UPPER = tuple((i, j) for i in range(3) for j in range(i, 3))


class Exchange(Protocol):
    """Told, in one order, of everything that a tree's links and bodies hold."""

    def note(self, structure: Any) -> None:
        """What belongs to the structure."""

    def number(self, x: Scalar, free: bool = False) -> Scalar:
        """What shall stand in place of a scalar; free: 0, 1 and -1 are numbers too."""


class Reader:
    """Reads structure and numbers: ``structure`` holds what stands there, None for ``numbers``."""

    def __init__(self) -> None:
        self.structure: list[Any] = []
        self.numbers: list[float] = []

    def note(self, structure: Any) -> None:
        self.structure.append(structure)

    def number(self, x: Scalar, free: bool = False) -> Scalar:
        if type(x) is Expression:
            self.structure.append(("node", x.index))
        elif not free and x in (0.0, 1.0, -1.0):
            self.structure.append(float(x) + 0.0)  # -0.0 is 0.0
        else:
            self.structure.append(None)
            self.numbers.append(float(x))
        return x


class Writer:
    """Writes other scalars in place of some of the numbers that a Reader reads, by their places."""

    def __init__(self, others: dict[int, Scalar]) -> None:
        self.others, self.count = others, 0

    def note(self, structure: Any) -> None:
        pass

    def number(self, x: Scalar, free: bool = False) -> Scalar:
        if type(x) is Expression or (not free and x in (0.0, 1.0, -1.0)):
            return x
        self.count += 1
        return self.others.get(self.count - 1, x)


def exchanged_link(link: Link, exchange: Exchange) -> Link:
    """The link with its numbers exchanged."""
    assert link.moments is not None
    own = link.moments
    placement, mass = exchanged_pose(link.placement, exchange), exchange.number(link.mass, free=True)
    shared = own.mass is link.mass or (is_constant(own.mass) and is_constant(link.mass) and own.mass == link.mass)
    exchange.note(shared)
    moments = MassMoments(
        mass if shared else exchange.number(own.mass), _vector(own.first, exchange), _symmetric(own.second, exchange)
    )
    center, inertia = _vector(link.center, exchange), _symmetric(link.inertia, exchange)
    offset = exchange.number(link.offset)
    return replace(link, placement=placement, mass=mass, center=center, inertia=inertia, moments=moments, offset=offset)


def exchanged_body(body: BodyFrame, exchange: Exchange) -> BodyFrame:
    """The body with its numbers exchanged."""
    pose, center = exchanged_pose(body.pose, exchange), _vector(body.center, exchange)
    if body.mass is None or body.inertia is None:
        return replace(body, pose=pose, center=center)
    mass, inertia = exchange.number(body.mass, free=True), _symmetric(body.inertia, exchange)
    return replace(body, pose=pose, center=center, mass=mass, inertia=inertia)


def exchanged_pose(X: Array, exchange: Exchange) -> Array:
    """The pose (4, 4) with its numbers exchanged, those of the translation last."""
    result, R = array(X), X[:3, :3]
    rotations = rotations_of(R)
    if not rotations:
        exchange.note("no rotation")
    elif isinstance(rotations[0], AxisRotation):
        turn = rotations[0]
        exchange.note(turn.axis)
        c, s = exchange.number(turn.c), exchange.number(turn.s)
        i, j = (turn.axis + 1) % 3, (turn.axis + 2) % 3
        result[i, i] = result[j, j] = c
        result[j, i], result[i, j] = s, -s
    else:
        exchange.note("rotation")
        result[:3, :3] = np.array([exchange.number(x) for x in R.flat], dtype=object).reshape(3, 3)
    for i in range(3):
        result[i, 3] = exchange.number(X[i, 3], free=True)
    return result


def _vector(x: Array, exchange: Exchange) -> Array:
    return array([exchange.number(entry) for entry in x])


def _symmetric(A: Array, exchange: Exchange) -> Array:
    result = np.empty((3, 3), dtype=object)
    for i, j in _UPPER:
        result[i, j] = result[j, i] = exchange.number(A[i, j])
    return result
