"""Momenta of links that move along chords, from one configuration to the next, and the factors of their derivative.

Every point of a link goes from x to x' in a step h with the velocity (x' - x) / h (Moser & Veselov 1991, Discrete
versions of some classical integrable systems and factorization of matrix polynomials, Communications in Mathematical
Physics 139). About a point of the world, over all that hangs on a joint, its momentum is

    N = [l; n],   h l = sum of m x cross x',   h n = sum of m (x' - x),

which is the same about where the step starts and where it ends. With the joint's screws J there and J' here the
discrete Lagrangian's momenta are p = J . N and p' = J' . N. What N gains by a twist of the end is a matrix A (6, 6) a
link, the inertia between both ends, of which in world axes only rows are carried from place to place on the way inward.
d p / d q' = J . A J' is factored in ``chord_factors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import WORLD, MassMoments
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.momenta.impulse import roots
from recursive_dyn.spatial.algebra import cross, dot, skew, vee_difference


@dataclass(frozen=True, eq=False)
class PlacedLink:
    """A link in world axes: R (3, 3), ``place`` about its tree's point and ``arm`` about its parent's place (3,); by
    slot its columns' angular velocities, and velocities of its place (3,); its first moment about it (3,)."""

    R: np.ndarray
    place: np.ndarray
    arm: np.ndarray
    columns: dict[int, tuple[np.ndarray, np.ndarray]]
    first: np.ndarray

    def screws(self, moved: np.ndarray) -> dict[int, np.ndarray]:
        """The columns (6,) about a point from which ``moved`` (3,) leads to the place."""
        return {slot: np.concatenate([omega, v + cross(moved, omega)]) for slot, (omega, v) in self.columns.items()}


def placing(tree: Tree, points: Sequence[np.ndarray], moments: Sequence[MassMoments]) -> Iterator[PlacedLink]:
    """The links of a tree, one after the other: what is made of one before the next is placed is near it in programs;
    points (3,): of the world, for the tree of each of them; moments: of their masses."""
    found = list[PlacedLink]()
    for k, point, own in zip(tree.links, points, moments, strict=True):
        R, p, parent = k.displacement.matrix, k.displacement.p, k.link.parent
        if parent == WORLD:
            arm = place = p - point
        else:
            R, arm = found[parent].R @ R, found[parent].R @ p
            place = found[parent].place + arm
        columns = {slot: (R @ s[:3], R @ s[3:]) for slot, s in k.columns}
        found.append(PlacedLink(R, place, arm, columns, R @ own.first))
        yield found[-1]


def points(tree: Tree) -> list[np.ndarray]:
    """For each link where the first one of its tree is (3,)."""
    return [tree.positions[first] for first in roots(tree.model)]


def moved_inward(wrench: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """A wrench (6,) about a link's place, about that of its parent, from where ``arm`` (3,) leads to it."""
    return np.concatenate([wrench[:3] + cross(arm, wrench[3:]), wrench[3:]])


def columns_inward(A: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """``moved_inward`` of every column of A (6, n)."""
    return np.stack([moved_inward(column, arm) for column in A.T], axis=1)


class Chords:
    """What moves along chords in a step of length h, from where links are placed ``here`` to ``there``; moments: of
    their masses; ways (3,): of their places.

    Momenta N (6,) are about each link's place here: about a point far away they would be differences of large numbers.
    wrenches (6,): h (N - h / 2 of gravity's wrench) of every link.
    """

    def __init__(
        self, tree: Tree, here: list[PlacedLink], there: Iterable[PlacedLink], moments: Sequence[MassMoments], h: Scalar
    ) -> None:
        self.tree, self.here, self.moments = tree, here, moments
        self.there = list[PlacedLink]()
        self.ways, self._turned, self._spins, self.wrenches = (list[np.ndarray]() for _ in range(4))
        for i, y in enumerate(there):
            parent, way = tree.links[i].link.parent, y.arm - here[i].arm
            self.there.append(y)
            self.ways.append(way if parent == WORLD else self.ways[parent] + way)
            self._turned.append(y.R @ (moments[i].second @ here[i].R.T))
            self._spins.append(vee_difference(self._turned[i]))
            self.wrenches.append(self._pulled(here, i, h * h * -0.5))

    @property
    def ends(self) -> tuple[list[dict[int, np.ndarray]], list[dict[int, np.ndarray]]]:
        """Screws of every link by slot, here about its place and there about its tree's point."""
        return [x.screws(array(np.zeros(3))) for x in self.here], [y.screws(y.place) for y in self.there]

    def inertia(self, i: int) -> np.ndarray:
        """A (6, 6) of a link: of a twist about its tree's point, about the link's place here."""
        k, x, y = self.moments[i], self.here[i], self.there[i]
        second = self._turned[i] + np.outer(y.place, x.first)  # sum of m x' x^T, x about the place here
        turning = array(np.eye(3)) * np.trace(second) - second
        lower = np.hstack([-skew(y.first + y.place * k.mass), array(np.eye(3)) * k.mass])
        return np.vstack([np.hstack([turning, skew(x.first)]), lower])

    def before(self) -> np.ndarray:
        """h (J . N - h / 2 of gravity's force) (nv,) where links are here."""
        return self._along(self.here, self.wrenches)

    def after(self, h: Scalar) -> np.ndarray:
        """h (J' . N + h / 2 of gravity's force) (nv,) where links are there."""
        share = h * h * 0.5
        return self._along(self.there, [self._pulled(self.there, i, share) for i in range(len(self.there))])

    def _pulled(self, links: list[PlacedLink], i: int, share: Scalar) -> np.ndarray:
        """h N with a share of gravity's wrench (6,) on a link, both about its place among ``links``, here or there: sum
        of m r cross x' is the same of r from either place but for the first moment there cross the way."""
        own, pulled = self.moments[i], self.ways[i] + self.tree.gravity * share
        spin = self._spins[i] + cross(links[i].first, pulled)
        return np.concatenate([spin, pulled * own.mass + (self.there[i].first - self.here[i].first)])

    def _along(self, links: list[PlacedLink], wrenches: list[np.ndarray]) -> np.ndarray:
        """What wrenches (6,) about the places of ``links`` come to along the coordinates (nv,) there."""
        result: list[Scalar] = [0.0] * self.tree.model.nv
        total = list(wrenches)
        for i in reversed(range(len(total))):
            moment, force, parent = total[i][:3], total[i][3:], self.tree.links[i].link.parent
            for slot, (omega, v) in links[i].columns.items():
                result[slot] = result[slot] + dot(omega, moment) + dot(v, force)
            if parent != WORLD:
                total[parent] = total[parent] + moved_inward(total[i], links[i].arm)
        return array(result)

    @property
    def own_inertias(self) -> list[Scalar]:
        """What every coordinate (nv,) moves where links are here; one that joints share as if each had its own."""
        result: list[Scalar] = [0.0] * self.tree.model.nv
        still = Chords(self.tree, self.here, self.here, self.moments, 0.0)
        total, (left, right) = [still.inertia(i) for i in range(len(self.here))], still.ends
        for i in reversed(range(len(total))):
            for slot, J in right[i].items():
                result[slot] = result[slot] + dot(left[i][slot], total[i] @ J)
            parent = self.tree.links[i].link.parent
            if parent != WORLD:
                total[parent] = total[parent] + columns_inward(total[i], self.here[i].arm)
        return result
