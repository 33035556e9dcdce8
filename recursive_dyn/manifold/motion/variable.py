"""Configuration variables in numbers: what the space of each means for coordinates, velocities and a step.

q: 3 numbers of a unit vector, a quaternion x, y, z, w of a rotation, the numbers themselves of a flat variable.
v: omega (q' = omega x q, world axes) of a unit vector, Omega (R' = R hat(Omega), body axes) of a rotation, x' of a flat
variable. What a space does to symbols stands in ``formula.calculus``. Arrays hold floats or scalars of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.nodes import Cross, Formula
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.motion.quantities import numbers, rotation, unit
from recursive_dyn.manifold.normal.forms import Factors, Form, common, divided
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_to_matrix
from recursive_dyn.spatial.spaces import Rotation, Space, UnitSphere

_TANGENT = 1e-9  # q . q' may be this share of |q'|
Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Variable:
    """A flat variable and where its numbers lie: in coordinates q, velocities v, and unknown accelerations y."""

    symbol: Symbol
    q: slice
    v: slice
    y: slice

    @property
    def space(self) -> Space:
        """The space of its positions."""
        return self.symbol.base.space

    @property
    def name(self) -> str:
        """Its symbol's name."""
        return self.symbol.base.name

    @property
    def neutral(self) -> Array:
        """Coordinates to start from: 0, 1 of rotations, -e3 of unit vectors."""
        return np.array(self.space.neutral)

    def value(self, q: Array) -> Any:
        """The variable's value, (..., *shape), in coordinates (..., nq)."""
        return self._shaped(q[..., self.q])

    def rate(self, q: Array, v: Array) -> Any:
        """x' of a flat variable, q' of a unit vector, Omega of a rotation, with leading axes."""
        return self._shaped(v[..., self.v])

    def acceleration(self, q: Array, v: Array, a: Array) -> Any:
        """x'' of a flat variable, q'' of a unit vector, Omega' of a rotation, with leading axes."""
        return self.rate(q, a)

    def _shaped(self, own: Array) -> Any:
        return own if self.symbol.shape else own[..., 0][()]

    def read(self, value: Any) -> Array:
        """Coordinates of what a person gives: numbers of the variable's shape; StateError for anything else."""
        return numbers(self._what, value, self.symbol.shape).reshape(-1)

    def read_rate(self, q: Array, value: Any, angular: bool = False) -> Array:
        """Velocities at coordinates (nq,) of a rate, or an angular velocity, that a person gives."""
        if angular and self.space.flat:
            raise StateError(f"'{self.name}' is flat and has no angular velocity: give rate=")
        shape = self.symbol.shape if self.space.flat else (3,)
        return numbers(f"the rate of '{self.name}'", value, shape).reshape(-1)

    @property
    def _what(self) -> str:
        return f"the position of '{self.name}'"

    def errors(self, q: Array, v: Array) -> tuple[float, float]:
        """How far from 1 its length is (of a unit vector or quaternion); how large the velocity that moves nothing."""
        point = q[self.q]
        lengths = [np.linalg.norm(point[first:end]) for first, end in self.space.units]
        along = [float(n @ v[self.v]) for n in self.space.normals(point)]
        return max((abs(float(x) - 1.0) for x in lengths), default=0.0), max(map(abs, along), default=0.0)

    def symbols(self, q: Array, v: Array, y: Array, B: Array) -> dict[Symbol, Any]:
        """Value, rate and acceleration by symbol at v (nv,), for unknowns y (n,) and the basis B."""
        own = self.symbol
        return {own: self.value(q), own.velocity: self.rate(q, v), own.acceleration: self._shaped(y[self.y])}

    def row(self, form: Form, evaluate: Evaluation, y: Array, B: Array) -> tuple[Array, Array]:
        """(what a row says in the directions of the unknowns, what of it is not written as q x (...))."""
        rest = array(np.zeros(self.space.tangent_size))
        for atom, weight in _terms(form, evaluate):
            rest = rest + weight * _flat(atom, evaluate)
        return rest, rest


class UnitVector(Variable):
    """A point of S^2, with two unknowns: omega' = B y, the columns of B (3, 2) at right angles to q.

    B is the basis of the space, q x b1 = b2 and q x b2 = -b1, so that no product with q is left in the equations:
    omega' x q = y2 b1 - y1 b2, and a row q x w says B^T (q x w) = (-b2 . w, b1 . w). Nothing that is solved for depends
    on where B jumps.
    """

    @property
    def neutral(self) -> Array:
        return -np.array(self.space.neutral)

    def rate(self, q: Array, v: Array) -> Any:
        return cross(v[..., self.v], q[..., self.q])

    def acceleration(self, q: Array, v: Array, a: Array) -> Any:
        return cross(a[..., self.v], q[..., self.q]) + cross(v[..., self.v], self.rate(q, v))

    def read(self, value: Any) -> Array:
        return unit(self._what, numbers(self._what, value, (3,)))

    def read_rate(self, q: Array, value: Any, angular: bool = False) -> Array:
        what, mark = ("angular velocity", "") if angular else ("rate", " q'")
        own, given = q[self.q], numbers(f"the {what} of '{self.name}'", value, (3,))
        along = own @ given
        if abs(along) > _TANGENT * max(1.0, float(np.linalg.norm(given))):
            raise StateError(
                f"the {what}{mark} of '{self.name}' has the part {along:.3g} along the unit vector and must be at right"
                " angles to it: subtract q (q . q')"
            )
        given = given - own * along
        return given if angular else np.cross(own, given)

    def symbols(self, q: Array, v: Array, y: Array, B: Array) -> dict[Symbol, Any]:
        """As above; omega x (omega x q) = -|omega|^2 q."""
        known, own, omega = super().symbols(q, v, y, B), q[self.q], v[self.v]
        turned = B[:, 0] * y[self.y][1] - B[:, 1] * y[self.y][0]
        return known | {self.symbol.acceleration: turned - own * dot(omega, omega)}

    def row(self, form: Form, evaluate: Evaluation, y: Array, B: Array) -> tuple[Array, Array]:
        rest, lever, inertia = array(np.zeros(3)), array(np.zeros(3)), 0.0
        for atom, weight in _terms(form, evaluate):
            other, sign = self._across(atom)
            if other is None:
                rest = rest + weight * _flat(atom, evaluate)
            elif other == self.symbol.acceleration:  # q x q'' = omega'
                inertia = inertia + sign * weight
            else:
                lever = lever + sign * weight * evaluate(other)
        turned = array([-dot(B[:, 1], lever), dot(B[:, 0], lever)])
        return turned + B.T @ rest + inertia * y[self.y], rest

    def _across(self, atom: Formula | None) -> tuple[Formula | None, float]:
        """(w, 1) of an atom q x w, (w, -1) of w x q, (None, 1) of any other."""
        if not isinstance(atom, Cross) or self.symbol not in atom.children:
            return None, 1.0
        return (atom.right, 1.0) if atom.left == self.symbol else (atom.left, -1.0)


class RotationMatrix(Variable):
    """A rotation of SO(3)."""

    def value(self, q: Array) -> Any:
        return quaternion_to_matrix(q[..., self.q])

    def _shaped(self, own: Array) -> Any:
        return own

    def read(self, value: Any) -> Array:
        if np.shape(value) == (4,):
            return unit(self._what, numbers(self._what, value, (4,)), "unit quaternion x, y, z, w")
        return matrix_to_quaternion(rotation(self._what, numbers(self._what, value, (3, 3))))


def variables(configuration: Sequence[Symbol]) -> tuple[Variable, ...]:
    """The variables, their numbers one after the other."""
    result: list[Variable] = []
    ends = [0, 0, 0]
    for symbol in configuration:
        space = symbol.base.space
        if len(symbol.shape) == 2 and space.flat:
            raise ModelError(f"'{symbol}' is a matrix; of matrices only rotations can be in the configuration")
        starts, ends = ends, np.add(ends, (space.size, space.tangent_size, space.dimension)).tolist()
        kind = {UnitSphere: UnitVector, Rotation: RotationMatrix}.get(type(space), Variable)
        result.append(kind(symbol, *map(slice, starts, ends)))
    return tuple(result)


def _terms(form: Form, evaluate: Evaluation) -> Iterable[tuple[Formula | None, Scalar]]:
    """Atoms of a form with their weights; what all terms of a coefficient share is taken out of them."""

    def value(factors: Factors, result: Scalar = 1.0) -> Scalar:
        for f, exponent in factors:
            result = result * evaluate(f**exponent)
        return result

    for (factors, atom), coefficient in form.items():
        shared = common(coefficient)
        weight: Scalar = 0.0
        for constants, number in divided(coefficient, shared).items():
            weight = weight + value(constants) * float(number)
        yield atom, value(factors, value(shared) * weight)


def _flat(atom: Formula | None, evaluate: Evaluation) -> Any:
    return np.reshape(evaluate(atom), -1) if atom is not None else 1.0
