"""Constraints written as expressions: one row phi = 0 or psi = 0, its gradient and its bias, all from the graph.

A row may hold coordinates and their rates, parameters, and for every body the position of its origin, its rotation
matrix, the velocity of its origin and its angular velocity, all in world axes. Differentiating phi once gives a row psi
that is affine in velocities; the gradient of psi by them is the row P of P v = 0, and its rate at zero acceleration is
P-dot v (Guenter & Lee 2009, section 5, after eq. 16).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array
from recursive_dyn.graph.program import content_hash
from recursive_dyn.graph.traversal import evaluate, reachable, substitute
from recursive_dyn.spatial.algebra import cross

POSITION, ROTATION, VELOCITY, SPIN, COORDINATE, RATE = "position", "rotation", "velocity", "spin", "coordinate", "rate"
BIAS = "bias"  # the rate of a velocity at zero acceleration of all coordinates
_AXES = "xyz"


def rate_name(coordinate: str) -> str:
    """Name of a coordinate's rate."""
    return f"rate({coordinate})"


@dataclass(frozen=True, eq=False)
class Rows:
    """One row's phi (None for a row between velocities), psi, gradient by velocity inputs, and psi's rate at a = 0."""

    phi: Scalar | None
    psi: Scalar
    gradient: dict[Any, Scalar]
    bias: Scalar


@dataclass(frozen=True, eq=False)
class Constraint:
    """A row named ``name`` over inputs (quantity, owner, component ...) of ``graph``.

    usual: the size that its gradient by velocities usually has, a power of 16, against which it is small where a
    mechanism is singular; 0 where that is not known. spare: whether the rows that are not have, together, all that
    there is to say wherever the mechanism was looked at, so that one row less is to count at each state.
    """

    name: str
    graph: Graph
    expression: Scalar
    holonomic: bool
    usual: float = 0.0
    spare: bool = False

    @cached_property
    def key(self) -> str:
        """Content hash."""
        return content_hash(
            f"{self.name} {self.holonomic} {self.usual}{' spare' if self.spare else ''}", [self.expression]
        )

    @property
    def inputs(self) -> list[Expression]:
        """The inputs that the row holds."""
        return [n for n in reachable([self.expression]) if n.op == "input"]

    @cached_property
    def rows(self) -> Rows:
        """phi, psi = phi-dot (or the row itself), gradient and bias in the row's own graph."""
        phi = self.expression if self.holonomic else None
        psi = self.expression
        if self.holonomic:
            psi = directional_derivative([psi], self._rates([psi]))[0]
        velocities = [n for n in reachable([psi]) if n.op == "input" and n.args[0][0] in (VELOCITY, SPIN, RATE)]
        gradient = {n.args[0]: directional_derivative([psi], {n: 1.0})[0] for n in velocities}
        self._refuse_curved(gradient)
        return Rows(phi, psi, gradient, directional_derivative([psi], self._rates([psi]))[0])

    @property
    def slope(self) -> float:
        """Size of the gradient by velocities of bodies and rates, at one random state of each; 1 where it has none."""
        slopes = list(self.rows.gradient.values())
        size = float(np.linalg.norm(np.array(evaluate(slopes, _anywhere(slopes)), dtype=float)))
        return size if 0.0 < size < np.inf else 1.0

    def changes(self, outputs: list[Scalar]) -> list[Scalar]:
        """Rates of scalars of positions, in the velocities by which these change."""
        return directional_derivative(outputs, self._rates(outputs))

    def _rates(self, outputs: list[Scalar]) -> dict[Expression, Scalar]:
        """Rate of every input below the outputs at zero acceleration."""
        g = self.graph
        result: dict[Expression, Scalar] = {}
        for node in reachable(outputs):
            if node.op != "input":
                continue
            kind, *where = node.args[0]
            if kind == COORDINATE:
                result[node] = g.input((RATE, *where))
            elif kind == POSITION:
                result[node] = g.input((VELOCITY, *where))
            elif kind == ROTATION:
                owner, i, j = where
                omega = array([g.input((SPIN, owner, k)) for k in range(3)])
                column = array([g.input((ROTATION, owner, k, j)) for k in range(3)])
                result[node] = cross(omega, column)[i]
            elif kind in (VELOCITY, SPIN):
                result[node] = g.input((BIAS, kind, *where))
        return result

    def _refuse_curved(self, gradient: Mapping[Any, Scalar]) -> None:
        """ModelError unless the row is affine in the velocities."""
        common, values = _anywhere(list(gradient.values())), []
        for scale in (1.0, -1.7):
            moving = {k: x * scale if k[0] in (VELOCITY, SPIN, RATE) else x for k, x in common.items()}
            values.append(np.array(evaluate(list(gradient.values()), moving), dtype=float))
        if not np.allclose(values[0], values[1], rtol=1e-9, atol=1e-9, equal_nan=True):
            raise ModelError(
                f"constraint '{self.name}' is not linear in the velocities; write rows P(q) v = 0, or a position"
                " constraint phi(q) = 0"
            )


def _anywhere(outputs: list[Scalar]) -> dict[Any, float]:
    """Random values of the inputs that some outputs hold, the same ones each time."""
    rng = np.random.default_rng(5)
    return {n.args[0]: rng.uniform(0.3, 0.9) for n in reachable(outputs) if n.op == "input"}


def quantity(name: str, bodies: Mapping[str, int]) -> tuple[Any, ...] | None:
    """The input that a name such as "arm.position.x" or "arm.rotation.xz" stands for, or None."""
    front, _, component = name.rpartition(".")
    body, _, kind = front.rpartition(".")
    if body not in bodies or any(letter not in _AXES for letter in component):
        return None
    place = tuple(_AXES.index(letter) for letter in component)
    if kind in (POSITION, VELOCITY, SPIN) and len(place) == 1:
        return (kind, bodies[body], *place)
    return (kind, bodies[body], *place) if kind == ROTATION and len(place) == 2 else None


def bound(
    name: str,
    expression: Scalar,
    bodies: Mapping[str, int],
    slots: Mapping[str, Any],
    parameters: frozenset[str],
    what: str | None = None,
) -> Constraint:
    """The row over inputs as of ``resolved``; ``what`` it is in messages. ModelError also where nothing moves."""
    what = what or f"constraint '{name}'"
    scalar, kinds = resolved(what, expression, bodies, slots, parameters)
    if not kinds - {"parameter"}:
        raise ModelError(f"{what} holds nothing that moves: {expression!r}")
    graph = next(n.graph for n in reachable([scalar]))
    return Constraint(name, graph, scalar, kinds.isdisjoint((VELOCITY, SPIN, RATE)))


def _of_what_went(what: str, symbol: str, bodies: Mapping[str, int]) -> str:
    """What to do where a symbol is of a body that is no more there."""
    kind, _, name = what.partition(" '")
    quantities = (f".{kind}." for kind in (POSITION, ROTATION, VELOCITY, SPIN))
    body = next((symbol.partition(x)[0] for x in quantities if x in symbol), symbol.rpartition(".")[0])
    body = body.removeprefix(rate_name("")[:-1])
    if not body or body in bodies or not name:
        return ""
    taken = "forces" if kind == "force element" else "constraints"
    part = re.sub(r"(\[\d+\])?'$", "", name)
    return f"; if body '{body}' was detached, take out what it had too: scene.{taken}.remove({part!r})"


def resolved(
    what: str, expression: Scalar, bodies: Mapping[str, int], slots: Mapping[str, Any], parameters: frozenset[str]
) -> tuple[Scalar, set[str]]:
    """An expression over what its names stand for, and the kinds of these; ``slots`` maps coordinate and rate names.

    The expression's inputs are ("parameter", name). ModelError names what is unknown.
    """
    graph = Graph()
    inputs: dict[Any, Scalar] = {}
    kinds: set[str] = set()
    for node in reachable([expression]):
        if node.op != "input":
            continue
        symbol = node.args[0][1]
        known = slots.get(symbol) or quantity(symbol, bodies)
        if known is None and symbol not in parameters:
            raise ModelError(
                f"{what} uses '{symbol}', which is no coordinate, rate, parameter or quantity of a body"
                " attached in this scene; take symbols from body.q, body.v, body.position, body.rotation,"
                f" body.velocity, body.spin{_of_what_went(what, symbol, bodies)}"
            )
        found = known or ("parameter", symbol)
        inputs[node.args[0]] = graph.input(found)
        kinds.add(found[0])
    return substitute([expression], inputs)[0], kinds
