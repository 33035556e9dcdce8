"""Momenta of links that move along chords, from one configuration to the next, and the factors of their derivative.

Every point of a link goes from x to x' in a step h with the velocity (x' - x) / h (Moser & Veselov 1991, Discrete
versions of some classical integrable systems and factorization of matrix polynomials, Communications in Mathematical
Physics 139). About a point of the world, over all that hangs on a joint, its momentum is

    N = [l; n],   h l = sum of m x cross x',   h n = sum of m (x' - x),

which is the same about where the step starts and where it ends. With the joint's screws J there and J' here the
discrete Lagrangian's momenta are p = J . N and p' = J' . N. What N gains by a twist of the end is a matrix A (6, 6) a
link, the inertia between both ends, which sums over links as it is: in world axes nothing is carried from link to link.
d p / d q' = J . A J' is factored in ``chord_factors``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, reciprocal
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.impulse import roots
from recursive_dyn.recursion.kinematics import Tree
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


def placed(tree: Tree, points: Sequence[np.ndarray]) -> list[PlacedLink]:
    """The links of a tree; points (3,): of the world, for the tree of each of them."""
    found = []
    for i, k in enumerate(tree.links):
        R, place, parent = tree.rotations[i], tree.positions[i] - points[i], k.link.parent
        arm = place if parent == WORLD else tree.rotations[parent] @ k.displacement.p
        columns = {slot: (R @ s[:3], R @ s[3:]) for slot, s in k.columns}
        found.append(PlacedLink(R, place, arm, columns, R @ k.moments.first))
    return found


def points(tree: Tree) -> list[np.ndarray]:
    """For each link where the first one of its tree is (3,)."""
    return [tree.positions[first] for first in roots(tree.model)]


class Chords:
    """What moves along chords in a step, from where links are placed ``here`` to ``there``.

    Momenta N (6,) are about each link's place here: about a point far away they would be differences of large numbers.
    """

    def __init__(self, tree: Tree, here: list[PlacedLink], there: list[PlacedLink]) -> None:
        self.tree, self.here, self.there = tree, here, there
        self._turned = [(y.R @ k.moments.second) @ x.R.T for k, x, y in zip(tree.links, here, there, strict=True)]
        self._ways: list[np.ndarray] = []
        for k, x, y in zip(tree.links, here, there, strict=True):
            way = y.arm - x.arm
            self._ways.append(way if k.link.parent == WORLD else self._ways[k.link.parent] + way)

    @property
    def ends(self) -> tuple[list[dict[int, np.ndarray]], list[dict[int, np.ndarray]]]:
        """Screws of every link by slot about its tree's point, here and there."""
        return [x.screws(x.place) for x in self.here], [y.screws(y.place) for y in self.there]

    @property
    def inertias(self) -> list[np.ndarray]:
        """A (6, 6) of every link about its tree's point."""
        result = []
        for k, x, y, turned in zip(self.tree.links, self.here, self.there, self._turned, strict=True):
            mass = k.moments.mass
            start, end = x.first + x.place * mass, y.first + y.place * mass
            second = turned + np.outer(end, x.place) + np.outer(y.place, x.first)  # sum of m x' x^T
            turning = array(np.eye(3)) * np.trace(second) - second
            lower = np.hstack([-skew(end), array(np.eye(3)) * mass])
            result.append(np.vstack([np.hstack([turning, skew(start)]), lower]))
        return result

    def before(self, h: Scalar, speeds: np.ndarray) -> np.ndarray:
        """J . N - h / 2 of gravity's force (nv,) where links are here; speeds (nv,): the rotors'."""
        still = array(np.zeros(3))
        weighed = [(x.first, k.moments.mass) for x, k in zip(self.here, self.tree.links, strict=True)]
        return self._along([x.screws(still) for x in self.here], weighed, h, -0.5, speeds)

    def after(self, h: Scalar, speeds: np.ndarray) -> np.ndarray:
        """J' . N + h / 2 of gravity's force (nv,) where links are there."""
        links = zip(self.there, self._ways, self.tree.links, strict=True)
        weighed = [(y.first + way * k.moments.mass, k.moments.mass) for y, way, k in links]
        screws = [y.screws(way) for y, way in zip(self.there, self._ways, strict=True)]
        return self._along(screws, weighed, h, 0.5, speeds)

    def _along(
        self,
        screws: list[dict[int, np.ndarray]],
        weighed: list[tuple[np.ndarray, Scalar]],
        h: Scalar,
        share: float,
        speeds: np.ndarray,
    ) -> np.ndarray:
        tree, rate, g = self.tree, reciprocal(h), self.tree.gravity * (h * share)
        result: list[Scalar] = [c.armature * v for c, v in zip(tree.model.coordinates, speeds, strict=True)]
        total: list[np.ndarray] = []
        for x, y, way, turned, (first, mass) in zip(
            self.here, self.there, self._ways, self._turned, weighed, strict=True
        ):
            spin, n = vee_difference(turned) + cross(x.first, way), way * mass + (y.first - x.first)
            total.append(np.concatenate([spin * rate + cross(first, g), n * rate + g * mass]))
        for i in reversed(range(len(total))):
            for slot, J in screws[i].items():
                result[slot] = result[slot] + dot(J, total[i])
            parent, N = tree.links[i].link.parent, total[i]
            if parent != WORLD:
                moved = np.concatenate([N[:3] + cross(self.here[i].arm, N[3:]), N[3:]])
                total[parent] = total[parent] + moved
        return array(result)

    @property
    def own_inertias(self) -> list[Scalar]:
        """What every coordinate (nv,) moves where links are here; one that joints share as if each had its own."""
        result: list[Scalar] = [0.0] * self.tree.model.nv
        total = Chords(self.tree, self.here, self.here).inertias
        for i in reversed(range(len(total))):
            for slot, J in self.here[i].screws(self.here[i].place).items():
                result[slot] = result[slot] + dot(J, total[i] @ J)
            parent = self.tree.links[i].link.parent
            if parent != WORLD:
                total[parent] = total[parent] + total[i]
        return result
