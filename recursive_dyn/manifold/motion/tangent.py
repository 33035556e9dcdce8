"""Unknowns of the tangent spaces: y of accelerations (nv,) that keep unit vectors unit.

A unit vector q has two: omega' = B y, the columns of B (3, 2) at right angles to q; all else has as many as velocities.
B is orthonormal and right-handed, q x b1 = b2 and q x b2 = -b1, so that no product with q is left in the equations:
omega' x q = y2 b1 - y1 b2, and a row q x w says B^T (q x w) = (-b2 . w, b1 . w). B jumps where q_z changes its sign,
which nothing that is solved for depends on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, less, reciprocal, select
from recursive_dyn.manifold.formula.evaluation import Evaluator
from recursive_dyn.manifold.formula.formula import SPHERE, Cross, Formula, Symbol
from recursive_dyn.manifold.motion.segments import Place
from recursive_dyn.manifold.normal.forms import Form
from recursive_dyn.manifold.normal.polynomial import (
    Monomial,
    Polynomial,
    common_monomial,
    monomial_power,
    monomial_product,
)
from recursive_dyn.spatial.algebra import dot


def basis(q: np.ndarray) -> np.ndarray:
    """B (3, 2) of a unit vector (3,), everywhere on the sphere; not finite for q = 0.

    Duff et al. 2017, Building an Orthonormal Basis, Revisited, Journal of Computer Graphics Techniques 6.
    """
    x, y, z = q
    sign = select(less(z, 0.0), -1.0, 1.0)
    scale = reciprocal(sign * dot(q, q) + z)
    xx, xy, yy = x * x * scale, x * y * scale, y * y * scale
    return array([[1.0 - sign * xx, -xy], [-(sign * xy), sign - yy], [-(sign * x), -y]])


class Tangent:
    """The unknowns y (size,) of variables at their places, for a configuration (nq,).

    places: where each variable's unknowns lie in y, as ``v``; embedding E (nv, size): accelerations are E y, and what
    acts on them is E^T times what acts on velocities.
    """

    def __init__(self, places: Sequence[Place], q: np.ndarray) -> None:
        sizes = [2 if p.space == SPHERE else p.v.stop - p.v.start for p in places]
        self.size = sum(sizes)
        self.places: list[Place] = []
        self.embedding = array(np.zeros((places[-1].v.stop, self.size)))
        start = 0
        for p, size in zip(places, sizes, strict=True):
            own = slice(start, start + size)
            self.places.append(Place(p.symbol, p.q, own))
            self.embedding[p.v, own] = basis(q[p.q]) if p.space == SPHERE else array(np.eye(size))
            start += size
        self._bases = {p.symbol: self.embedding[p.v, t.v] for p, t in zip(places, self.places, strict=True)}

    def turned(self, place: Place, y: np.ndarray) -> np.ndarray:
        """omega x q of a unit vector at one of ``places`` for omega = B y."""
        B, (first, second) = self._bases[place.symbol], y[place.v]
        return B[:, 0] * second - B[:, 1] * first

    def row(self, place: Place, form: Form, evaluate: Evaluator, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(what a row says in the directions of y, what of it is not written as q x (...)), y those of ``evaluate``."""
        sphere = place.space == SPHERE
        rest, lever = (array(np.zeros(n)) for n in (3 if sphere else place.v.stop - place.v.start, 3))
        inertia: Scalar = 0.0
        for (dots, atom), polynomial in form.items():
            weight = _coefficient(polynomial, evaluate)
            for factor in dots:
                weight = weight * evaluate(factor)
            other, sign = _across(atom, place.symbol) if sphere else (None, 1.0)
            if other is None:
                rest = rest + weight * (np.reshape(evaluate(atom), -1) if atom is not None else 1.0)
            elif other == Symbol(place.symbol.base, 2):  # q x q'' = omega'
                inertia = inertia + sign * weight
            else:
                lever = lever + sign * weight * evaluate(other)
        if not sphere:
            return rest, rest
        B = self._bases[place.symbol]
        turned = array([-dot(B[:, 1], lever), dot(B[:, 0], lever)])
        return turned + B.T @ rest + inertia * y[place.v], rest

    def embedded(self, M: np.ndarray) -> np.ndarray:
        """E M E^T (nv, nv) of a symmetric M (size, size), whose lower half is read."""
        lower = array([[M[max(i, j), min(i, j)] for j in range(self.size)] for i in range(self.size)])
        full = self.embedding @ lower @ self.embedding.T
        return array([[full[max(i, j), min(i, j)] for j in range(len(full))] for i in range(len(full))])


def _across(atom: Formula | None, symbol: Symbol) -> tuple[Formula | None, float]:
    """(w, 1) of an atom q x w, (w, -1) of w x q, (None, 1) of any other."""
    if isinstance(atom, Cross):
        for one, other, sign in ((atom.left, atom.right, 1.0), (atom.right, atom.left, -1.0)):
            if one == symbol:
                return other, sign
    return None, 1.0


def _coefficient(polynomial: Polynomial, evaluate: Evaluator) -> Scalar:
    """The value of a polynomial, what all its terms share taken out of them."""
    shared = common_monomial(list(polynomial))
    inverse, total = monomial_power(shared, -1), 0.0
    for monomial, value in polynomial.items():
        total = total + _value(monomial_product(monomial, inverse), evaluate) * float(value)
    return _value(shared, evaluate) * total


def _value(monomial: Monomial, evaluate: Evaluator) -> Scalar:
    result: Scalar = 1.0
    for symbol, exponent in monomial:
        result = result * evaluate(symbol**exponent)
    return result
