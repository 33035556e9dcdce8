"""Coordinates that joints show together: of several that they drive no joint by itself says them, or none everywhere.

Joints that such coordinates s drive have coordinates y of their own, which their bodies' poses say, and with z for
these and what else drives them,

    r(z, s) = y - f(s, z) = 0,   J = df/ds,   s where J^+ r = 0,

found by Gauss-Newton steps. Any joint that shows s tells it, also at dead centres of others, where their rows of J
vanish. What the joints miss is N^T r, N an orthonormal basis of what J does not reach; as N^T J = 0,

    N^T r-dot = 0,   s-dot = J^+ r-dot,   N^T (r-ddot - c) = 0,   s-ddot = J^+ (r-ddot - c),

rates of r where s stays, and c what f-ddot is where nothing accelerates. These are the rows that a joint G(q) has of
its bodies' twists (``joint_rows``), once more of joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array, is_constant
from recursive_dyn.graph.traversal import evaluate, reachable, substitute
from recursive_dyn.maximal.kinds.row_functions import complement_and_inverse
from recursive_dyn.model.constraint import COORDINATE, RATE, Rows
from recursive_dyn.spatial.algebra import dot

End = tuple[int, int]  # place and slot of a coordinate

_PLACES, _FLAT = 12, 1e-9  # where J is looked at; of its largest singular value, that is none


@dataclass(frozen=True, eq=False)
class ShownTogether:
    """Coordinates ``ends`` (k,) that joints ``names`` show by ``residuals`` (m,), m >= k, over inputs
    (COORDINATE, end) and ("parameter", name) of ``graph``; limits (k,): of these coordinates; turning: inputs whose
    rates are others than (RATE, end), with these."""

    graph: Graph
    ends: tuple[End, ...]
    names: tuple[str, ...]
    residuals: tuple[Scalar, ...]
    limits: tuple[tuple[float, float], ...]
    turning: tuple[tuple[Expression, Scalar], ...] = ()

    @property
    def inputs(self) -> list[Expression]:
        """The inputs that the residuals hold."""
        return [node for node in reachable(self.residuals) if node.op == "input"]

    @property
    def steady(self) -> bool:
        """Whether J is the same everywhere."""
        return all(map(is_constant, self.jacobian.flat))

    @cached_property
    def jacobian(self) -> np.ndarray:
        """J (m, k)."""
        columns = [self._along({self._value(end): -1.0}) for end in self.ends]
        return array(columns).reshape(len(self.ends), len(self.residuals)).T

    def unseen(self, parameters: Mapping[str, float]) -> int | None:
        """Which coordinate the joints tell from others nowhere, None for none."""
        if not self.ends:
            return None
        ways = np.eye(len(self.ends))
        rng, held = np.random.default_rng(7), {("parameter", name): value for name, value in parameters.items()}
        for _ in range(_PLACES):
            values = {node.args[0]: rng.uniform(-2.0, 2.0) for node in self.inputs} | held
            J = np.array(evaluate(list(self.jacobian.flat), values), dtype=float).reshape(self.jacobian.shape)
            if np.isfinite(J).all():
                sizes, ways = np.linalg.svd(J, full_matrices=True)[1:]
                if len(J) >= len(self.ends) and sizes[-1] > _FLAT * sizes[0]:
                    return None
        return int(np.abs(ways[-1]).argmax())

    @cached_property
    def _bases(self) -> tuple[np.ndarray, np.ndarray]:
        """N^T (m - k, m), J^+ (k, m)."""
        return complement_and_inverse(self.jacobian)

    @cached_property
    def step(self) -> list[Scalar]:
        """J^+ r (k,)."""
        return [dot(row, array(self.residuals)) for row in self._bases[1]]

    @cached_property
    def rows(self) -> list[Rows]:
        """Those of N^T (m - k of them), then those of J^+ (k), whose psi are the coordinates' rates."""
        rates = self._rates
        nodes = [node for node in reachable(list(rates.values())) if node.op == "input" and node.args[0][0] == RATE]
        slopes = dict[Any, np.ndarray]()
        for node in nodes:
            shares = directional_derivative(list(rates.values()), {node: 1.0})
            slopes[node.args[0]] = array(self._along(dict(zip(rates, shares, strict=True))))
        speeds = array(self._along(rates))
        across, back = self._bases
        c = array(self._curved(rates, [dot(row, speeds) for row in back]))
        return [
            Rows(
                dot(row, array(self.residuals)) if k < len(across) else None,
                dot(row, speeds),
                {key: dot(row, slope) for key, slope in slopes.items()},
                -dot(row, c),
            )
            for k, row in enumerate([*across, *back])
        ]

    @property
    def _rates(self) -> dict[Expression, Scalar]:
        """Of the coordinates that are known."""
        turning = dict(self.turning)
        known = [node for node in self.inputs if node.args[0][0] == COORDINATE and node.args[0][1] not in self.ends]
        return {node: turning.get(node, self.graph.input((RATE, node.args[0][1]))) for node in known}

    def _curved(self, rates: dict[Expression, Scalar], found: Sequence[Scalar]) -> list[Scalar]:
        """f-ddot (m,) where neither z nor s accelerates, at the rates that are found of s."""
        own = {self._value(end): self.graph.input((RATE, end)) for end in self.ends}
        moving: dict[Expression, Scalar] = rates | own
        twice = directional_derivative([-x for x in self._along(moving)], moving)
        inputs: dict[Any, Scalar] = {node.args[0]: node for node in reachable(twice) if node.op == "input"}
        inputs |= {(RATE, end): x for end, x in zip(self.ends, found, strict=True)}
        return substitute(twice, inputs)

    def _along(self, direction: dict[Expression, Scalar]) -> list[Scalar]:
        return directional_derivative(list(self.residuals), direction)

    def _value(self, end: End) -> Expression:
        return self.graph.input((COORDINATE, end))
