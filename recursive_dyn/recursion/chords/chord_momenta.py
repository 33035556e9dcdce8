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

from collections.abc import Sequence
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


def placed(tree: Tree, points: Sequence[np.ndarray], moments: Sequence[MassMoments]) -> list[PlacedLink]:
    """The links of a tree; points (3,): of the world, for the tree of each of them; moments: of their masses."""
    found = []
    for i, (k, own) in enumerate(zip(tree.links, moments, strict=True)):
        R, place, parent = tree.rotations[i], tree.positions[i] - points[i], k.link.parent
        arm = place if parent == WORLD else tree.rotations[parent] @ k.displacement.p
        columns = {slot: (R @ s[:3], R @ s[3:]) for slot, s in k.columns}
        found.append(PlacedLink(R, place, arm, columns, R @ own.first))
    return found


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
    """What moves along chords in a step, from where links are placed ``here`` to ``there``; moments: of their masses;
    ways (3,): of their places.

    Momenta N (6,) are about each link's place here: about a point far away they would be differences of large numbers.
    """

    def __init__(
        self, tree: Tree, here: list[PlacedLink], there: list[PlacedLink], moments: Sequence[MassMoments]
    ) -> None:
        self.tree, self.here, self.there, self.moments = tree, here, there, moments
        self._turned = [y.R @ (k.second @ x.R.T) for k, x, y in zip(moments, here, there, strict=True)]
        self.ways: list[np.ndarray] = []
        for k, x, y in zip(tree.links, here, there, strict=True):
            way = y.arm - x.arm
            self.ways.append(way if k.link.parent == WORLD else self.ways[k.link.parent] + way)

    @property
    def ends(self) -> tuple[list[dict[int, np.ndarray]], list[dict[int, np.ndarray]]]:
        """Screws of every link by slot, here about its place and there about its tree's point."""
        return [x.screws(array(np.zeros(3))) for x in self.here], [y.screws(y.place) for y in self.there]

    @property
    def inertias(self) -> list[np.ndarray]:
        """A (6, 6) of every link: of a twist about its tree's point, about the link's place here."""
        result = []
        for k, x, y, turned in zip(self.moments, self.here, self.there, self._turned, strict=True):
            second = turned + np.outer(y.place, x.first)  # sum of m x' x^T, x about the place here
            turning = array(np.eye(3)) * np.trace(second) - second
            lower = np.hstack([-skew(y.first + y.place * k.mass), array(np.eye(3)) * k.mass])
            result.append(np.vstack([np.hstack([turning, skew(x.first)]), lower]))
        return result

    def wrenches(self, h: Scalar) -> list[np.ndarray]:
        """h (N - h / 2 of gravity's wrench) (6,) of every link, about its place here."""
        return self._pulled(self.here, h * h * -0.5)

    def before(self, h: Scalar) -> np.ndarray:
        """h (J . N - h / 2 of gravity's force) (nv,) where links are here."""
        return self._along(self.wrenches(h), self.here)

    def after(self, h: Scalar) -> np.ndarray:
        """h (J' . N + h / 2 of gravity's force) (nv,) where links are there."""
        return self._along(self._pulled(self.there, h * h * 0.5), self.there)

    def _pulled(self, links: list[PlacedLink], share: Scalar) -> list[np.ndarray]:
        """h N with a share of gravity's wrench (6,) on every link, both about the places of ``links``, here or there:
        sum of m r cross x' is the same of r from either place but for the first moment there cross the way."""
        g, result = self.tree.gravity * share, list[np.ndarray]()
        for at, x, y, way, turned, own in zip(
            links, self.here, self.there, self.ways, self._turned, self.moments, strict=True
        ):
            pulled = way + g
            spin = vee_difference(turned) + cross(at.first, pulled)
            result.append(np.concatenate([spin, pulled * own.mass + (y.first - x.first)]))
        return result

    def _along(self, total: list[np.ndarray], links: list[PlacedLink]) -> np.ndarray:
        """What wrenches (6,) about the places of links come to along the coordinates (nv,) there."""
        result: list[Scalar] = [0.0] * self.tree.model.nv
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
        still = Chords(self.tree, self.here, self.here, self.moments)
        total, (left, right) = still.inertias, still.ends
        for i in reversed(range(len(total))):
            for slot, J in right[i].items():
                result[slot] = result[slot] + dot(left[i][slot], total[i] @ J)
            parent = self.tree.links[i].link.parent
            if parent != WORLD:
                total[parent] = total[parent] + columns_inward(total[i], self.here[i].arm)
        return result
