"""Masses that neighbours lend to bodies without inertia of their own, which joints do not tell from theirs.

What a joint does not move belongs to either of its bodies: a mass at the point where it turns, masses along its axis,
moments of inertia where it only shifts. The recursions regroup these towards the world, so that they have less to do
(``model.reframe``); here they go to who has none, so that every body moves by itself. As long as joints are met the
motion is exactly the same; of the world's there is as much as is needed. What neighbours have nothing for, as rings of
a gimbal behind one another, gets a little of its own, which every solve takes back (``light_bodies``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import array, is_constant
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.model.model import WORLD, Link, MassMoments, Model, once
from recursive_dyn.model.reframe import turning_axis
from recursive_dyn.spatial.algebra import inverse_pose, mirrored

Array = np.ndarray

_LEAST = 1e-12  # of the largest principal inertia, that the least one must have
_SHARE = 0.25  # of what a lender could lend at most
_LITTLE = 1e-3  # of the least inertia of a neighbour: what bodies get that nothing can be lent to


def whole(M: Array) -> Array:
    """Whether mass matrices (..., 6, 6) resist every motion, (...,)."""
    values = np.linalg.eigvalsh(M)
    return np.asarray(values[..., 0] > _LEAST * values[..., -1])


@once
def lacking(model: Model) -> set[int]:
    """The links that have no inertia of their own about some axis, at the parameters' initial values."""
    return set(np.flatnonzero(~whole(_matrices(model, [_own(link) for link in model.links]))).tolist())


@once
def lent(model: Model) -> Lent:
    """What links that lack inertia are lent."""
    return _Lending(model).lent(lacking(model))


def with_lent_masses(free: Model, reduced: Model, weak: set[int]) -> Model:
    """A free model whose links ``weak`` stand for themselves, with masses as they are, and with moments, of which
    recursions are made, that neighbours lend them where they can, and a little of their own where these cannot."""
    found = lent(reduced)
    frames = {body.link: inverse_pose(body.pose) for body in reduced.bodies if body.jointed}
    links = list(free.links)
    for i, own in enumerate(found.moments):
        link, X = reduced.links[i], frames[i]
        if i in weak:
            R = X[:3, :3]
            center, inertia = R @ link.center + X[:3, 3], mirrored(R @ link.inertia @ R.T)
            links[i] = replace(links[i], mass=link.mass, center=array(center), inertia=array(inertia))
        if own is not None:
            moved = _carried(own, X)
            if (little := found.light.get(i)) is not None:
                mass, second = moved.mass + little[1], moved.second + array(0.5 * little[0] * np.eye(3))
                moved = MassMoments(mass, moved.first, second)
            links[i] = replace(links[i], moments=moved)
    return free.changed(links=tuple(links))


@dataclass(frozen=True, eq=False)
class Lent:
    """moments: of links, None of those that have what is their own; light: of links that nothing could be lent to, the
    moment of inertia about any axis through their bodies' origin, and the mass there, that they get nevertheless."""

    moments: list[MassMoments | None]
    light: dict[int, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class _Loan:
    """What a joint does not tell, in its link's frame: mass at the origin, moment of second order (3, 3); to_parent:
    that frame's rotation in the placement."""

    mass: float
    second: Array
    to_parent: Array

    def times(self, amount: float) -> _Loan:
        return replace(self, mass=amount * self.mass, second=amount * self.second)

    def moments(self) -> MassMoments:
        return MassMoments(self.mass, array(np.zeros(3)), array(self.second))


class _Lending:
    """The moments of a model's links, while they are lent."""

    def __init__(self, model: Model) -> None:
        self._model, self._links = model, model.links
        self._moments = [_own(link) for link in model.links]
        self._whole = whole(_matrices(model, self._moments))
        self._changed = set[int]()

    def lent(self, weak: set[int]) -> Lent:
        """What links have then: from what they hang on, then from what hangs on them."""
        for i in sorted(weak):
            self._borrow(i, i, self._links[i].parent)
        for k in reversed(range(len(self._links))):
            parent = self._links[k].parent
            if parent != WORLD and not self._whole[parent]:
                self._borrow(parent, k, k)
        moments = [m if i in self._changed or i in weak else None for i, m in enumerate(self._moments)]
        return Lent(moments, {i: self._little(i) for i in np.flatnonzero(~self._whole).tolist()})

    def _little(self, i: int) -> tuple[float, float]:
        """Of the inertia of the lightest links around what is light together with a link, which may be one link."""
        around, light = set[int](), [i]
        for k in light:
            for other in self._joined(k):
                if self._whole[other]:
                    around.add(other)
                elif other not in light:
                    light.append(other)
        least, square = self._typical
        sizes = [self._least(k) for k in around] or [(least * square, least)]
        turning, mass = (_LITTLE * min(x) for x in zip(*sizes, strict=True))
        return turning, mass if self._matrix(i)[3, 3] <= _LEAST * least else 0.0

    def _joined(self, i: int) -> list[int]:
        """Links that joints lead to."""
        up = self._links[i].parent
        return [*([up] if up != WORLD else []), *(k for k, link in enumerate(self._links) if link.parent == i)]

    def _least(self, i: int) -> tuple[float, float]:
        """The least moment of inertia of a link about its centre, and its mass."""
        M = self._matrix(i)
        return float(1.0 / np.linalg.eigvalsh(np.linalg.inv(M)[:3, :3])[-1]), float(M[3, 3])

    def _borrow(self, borrower: int, joint: int, lender: int) -> None:
        """Move what the joint of a link does not tell from the one side to the other, if there is any."""
        if lender != WORLD and not self._whole[lender]:
            return
        loan = self._loan(self._links[joint], self._size(lender))
        if loan is None:
            return
        if lender == WORLD:
            self._give(borrower, joint, loan.times(self._typical[0]), 1.0)
        else:
            (N,) = _matrices(self._model, [self._placed(lender, joint, loan)])
            root = np.linalg.inv(np.linalg.cholesky(self._matrix(lender)))
            loan = loan.times(_SHARE / float(np.linalg.eigvalsh(root @ N @ root.T)[-1]))
            self._give(lender, joint, loan, -1.0)
            self._give(borrower, joint, loan, 1.0)
        self._whole[borrower] = whole(self._matrix(borrower))

    def _loan(self, link: Link, size: float) -> _Loan | None:
        """One of mass 1 and this square of a radius of gyration, m^2; None where a joint tells everything."""
        transforms = link.joint.kinematics().transforms
        if all(is_constant(x) for t in transforms for x in t[:3, :3].flat):
            turn = reduce(np.matmul, [t[:3, :3].astype(float) for t in transforms])
            return _Loan(0.0, 0.5 * size * np.eye(3), turn)
        if not all(is_constant(x) and x == 0.0 for t in transforms for x in t[:3, 3]):
            return None
        axis, second = turning_axis(link), np.zeros((3, 3))
        if axis is not None:
            second[axis, axis] = size
        return _Loan(1.0, second, np.eye(3))

    def _placed(self, i: int, joint: int, loan: _Loan) -> MassMoments:
        """A loan in the frame of a link, that of the joint or its parent."""
        if i == joint:
            return loan.moments()
        X = self._links[joint].placement
        turned = array(np.eye(4))
        turned[:3, :3] = array(loan.to_parent)
        return _carried(loan.moments(), X @ turned)

    def _give(self, i: int, joint: int, loan: _Loan, sign: float) -> None:
        own, more = self._moments[i], self._placed(i, joint, loan.times(sign))
        self._moments[i] = MassMoments(own.mass + more.mass, own.first + more.first, own.second + more.second)
        self._changed.add(i)

    def _matrix(self, i: int) -> Array:
        return _matrices(self._model, [self._moments[i]])[0]

    def _size(self, i: int) -> float:
        """Square of the radius of gyration of a link about its centre, m^2; a typical one for the world."""
        if i == WORLD:
            return self._typical[1]
        M = self._matrix(i)
        m, first = M[3, 3], np.array([M[2, 4], M[0, 5], M[1, 3]])
        return float(np.trace(M[:3, :3]) - 2.0 * (first @ first) / m) / (3.0 * m)

    @property
    def _typical(self) -> tuple[float, float]:
        """(mass, square of a length) of a link: those of all, with how far these are placed from each other."""
        M = _matrices(self._model, [_own(link) for link in self._links])
        mass = float(M[:, 3, 3].sum())
        ways = _numbers(self._model, [link.placement[:3, 3] for link in self._links if link.parent != WORLD])
        square = float(np.trace(M[:, :3, :3].sum(axis=0))) / mass if mass > 0.0 else 0.0
        square += float((ways**2).sum()) / len(self._links)
        return mass / len(M) if mass > 0.0 else 1.0, square if square > 0.0 else 1.0


def _own(link: Link) -> MassMoments:
    return MassMoments.of(link.mass, link.center, link.inertia)


def _carried(own: MassMoments, X: Array) -> MassMoments:
    """Moments in the frame in which theirs is at X (4, 4)."""
    R, p = X[:3, :3], X[:3, 3]
    first = R @ own.first
    mixed = np.outer(p, first)
    second = R @ own.second @ R.T + mixed + mixed.T + np.outer(p, p) * own.mass
    return MassMoments(own.mass, array(first + p * own.mass), mirrored(array(second)))


def mass_matrices(numbers: Array) -> Array:
    """On twists [omega; v], (n, 6, 6), of masses with their first moments and those of second order, (n, 13)."""
    (x, y, z), second = numbers[:, 1:4].T, numbers[:, 4:].reshape(-1, 3, 3)
    first, M = np.zeros((len(numbers), 3, 3)), np.zeros((len(numbers), 6, 6))
    first[:, 0, 1], first[:, 0, 2], first[:, 1, 2] = -z, y, -x
    first -= np.swapaxes(first, -1, -2)
    M[:, :3, :3] = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    M[:, :3, 3:], M[:, 3:, :3], M[:, 3:, 3:] = first, -first, numbers[:, :1, None] * np.eye(3)
    return M


def flattened(moments: Sequence[MassMoments]) -> Array:
    """Scalars (n, 13) of masses and their moments, for ``mass_matrices``."""
    return np.array([[m.mass, *m.first, *m.second.flat] for m in moments], dtype=object).reshape(-1, 13)


def _matrices(model: Model, moments: Sequence[MassMoments]) -> Array:
    """At the parameters' initial values."""
    return mass_matrices(_numbers(model, flattened(moments)))


def _numbers(model: Model, scalars: Any) -> Array:
    values = {("parameter", name): value for name, value in model.parameters}
    flat = np.asarray(scalars, dtype=object)
    return np.array(evaluate(list(flat.flat), values), dtype=float).reshape(flat.shape)
