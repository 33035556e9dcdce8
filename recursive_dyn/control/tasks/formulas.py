"""What tasks of one body want, as formulas of its pose: the error, its rates and how the body's motion changes it.

An error e (k,) is what is left to go. Its derivatives are those of the formula along the motions of the body and of
the goal, so that nothing but e is written by hand:

    e' = goal's part - W V,   e'' = drift - W A,   V = [omega; v] of the body, at the world origin, world axes
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import factorial

import numpy as np

from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array, atan2, less, reciprocal, select, sqrt
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.log_rates import rotation_log_rate
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_log

Array = np.ndarray
Rates = dict[Expression, Scalar]
BODY = 24  # inputs of every formula: rotation (9,), position, omega, v, alpha, a (3,) of the body at its origin


@dataclass(frozen=True)
class BodyFormula:
    """error(R, p, constants, goal): e (size,) of a body's rotation (3, 3), origin and constants.

    goal (point,): a point of the goal's space, whose velocity has ``tangent`` numbers; goal_rate(goal, velocity): the
    derivative of its numbers. rate(e, omega, goal velocity): e' where it is not to come from differentiating e.
    """

    name: str
    size: int
    constants: int
    point: int
    tangent: int
    error: Callable[[Array, Array, Array, Array], Array]
    goal_rate: Callable[[Array, Array], Array]
    rate: Callable[[Array, Array, Array], Array] | None = None

    @property
    def given(self) -> int:
        """Inputs behind those of the body: constants, goal, its velocity and acceleration."""
        return self.constants + self.point + 2 * self.tangent

    def program(self) -> Program:
        """e, e', drift (size,) each and W (size, 6)."""
        graph = Graph()
        sizes = {"rotation": 9, "position": 3, "omega": 3, "v": 3, "alpha": 3, "a": 3, "constants": self.constants,
                 "goal": self.point, "goal v": self.tangent, "goal a": self.tangent}  # fmt: skip
        x = {name: graph.inputs(name, size) for name, size in sizes.items()}
        R, p, omega, goal = x["rotation"].reshape(3, 3), x["position"], x["omega"], x["goal"]
        e = self.error(R, p, x["constants"], goal)
        turning = array([cross(omega, column) for column in R.T]).T
        moving = _along(R, turning) | _along(p, x["v"]) | _along(goal, self.goal_rate(goal, x["goal v"]))
        if self.rate is None:
            rate = array(directional_derivative(list(e), moving))
        else:
            rate = self.rate(e, omega, x["goal v"])
            moving |= _along(e, rate)
        pushing = _along(omega, x["alpha"]) | _along(x["v"], x["a"]) | _along(x["goal v"], x["goal a"])
        drift = directional_derivative(list(rate), moving | pushing)
        by = [-array(directional_derivative(list(rate), {own: 1.0})) for own in (*omega, *x["v"])]
        W = [[*(array([w[i] for w in by[:3]]) + cross(p, array([w[i] for w in by[3:]]))), *(w[i] for w in by[3:])]
             for i in range(self.size)]  # fmt: skip
        outputs = [("e", list(e)), ("rate", list(rate)), ("drift", drift), ("W", [w for row in W for w in row])]
        return schedule(f"task of a {self.name}", list(sizes.items()), outputs)

    @property
    def kernel(self) -> Kernel:
        """Its machine code."""
        return _kernel(self)


@cache
def _kernel(formula: BodyFormula) -> Kernel:
    return Kernel(f"task of a {formula.name}", formula.program, 1)


def _along(values: Array, rates: Array) -> Rates:
    pairs = zip(np.ravel(values), np.ravel(rates), strict=True)
    return {value: rate for value, rate in pairs if isinstance(value, Expression)}


def _point(R: Array, p: Array, constants: Array, goal: Array) -> Array:
    """The way from a point of the body to the goal."""
    return goal - (p + R @ constants)


def _turn(R: Array, p: Array, constants: Array, goal: Array) -> Array:
    """The rotation vector, world axes, that turns the body to the goal."""
    return quaternion_log(matrix_to_quaternion(goal.reshape(3, 3) @ R.T))


def _turn_rate(e: Array, omega: Array, goal_omega: Array) -> Array:
    # log(R_d R^T) of rotations with world axes is that of R_d^T, R^T, whose own axes are the world's, backwards
    return rotation_log_rate(e, -goal_omega, -omega)


def _turned(goal: Array, omega: Array) -> Array:
    return array([cross(omega, column) for column in goal.reshape(3, 3).T]).T.ravel()


_LOOK_SERIES = tuple(2**n * factorial(n) ** 2 / factorial(2 * n + 1) for n in range(14))
_ALIGNED = 0.1  # 1 - cos of the angle up to which the series has all digits
_OPPOSITE = 1e-8  # sine of the angle behind which any way round is the shortest


def _look(R: Array, p: Array, constants: Array, goal: Array) -> Array:
    """The rotation vector that turns an axis of the body towards the goal, along two others that are at right angles.

    constants: the point (3,) that the axis goes through, the axis and the two others, each (3,), in body axes. With u
    the direction to the goal and angle t between it and axis a, e_i = (t / sin t) (a x u) . b_i.
    """
    eye, axis, first, second = (R @ constants[i : i + 3] for i in (0, 3, 6, 9))
    way = goal - (p + eye)
    u = way * reciprocal(sqrt(dot(way, way)))
    cosine = dot(axis, u)
    near = less(1.0 - cosine, _ALIGNED)
    y = select(near, 1.0 - cosine, 0.0)
    ratio: Scalar = 0.0  # t / sin t = sum of 2^n n!^2 / (2 n + 1)! (1 - cos t)^n
    for coefficient in reversed(_LOOK_SERIES):
        ratio = ratio * y + coefficient
    normal = cross(axis, u)
    sine = sqrt(select(near, 1.0, dot(normal, normal) + _OPPOSITE**2))
    ratio = select(near, ratio, atan2(sine, cosine) * reciprocal(sine))
    opposite = less(cosine, 0.0) * less(dot(normal, normal), _OPPOSITE**2)
    return array([select(opposite, np.pi, dot(normal, first) * ratio), dot(normal, second) * ratio])


POINT = BodyFormula("point", 3, 3, 3, 3, _point, lambda goal, v: v)
TURN = BodyFormula("turn", 3, 0, 9, 3, _turn, _turned, _turn_rate)
LOOK = BodyFormula("look", 2, 12, 3, 3, _look, lambda goal, v: v)
