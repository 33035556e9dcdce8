"""From one chart of a joint to another: coordinates of a pose, rates of a twist, forces of a power.

Of any parameterisations the pose is searched for (``SearchedCharts``); of those that are one formula between turns all
of it is known in closed form (``KnownCharts``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from recursive_dyn.graph import expression as ex
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.chart import Chart, Place, spans
from recursive_dyn.joint.charted_program import TurnedProgram
from recursive_dyn.joint.joint_program import Carried, JointProgram

_SAME_POSE = 1e-12  # rad, or share of the distance
_SAME_TWIST = 1e-9  # what rounding leaves of S_a v_a - S_b v_b at a quality near 0


@dataclass(frozen=True, eq=False)
class Change:
    """Coordinates q and rates v (d,) in another chart, forces W tau there, W (d, d), and the chart's quality."""

    q: np.ndarray
    v: np.ndarray
    W: np.ndarray
    quality: float


class JointCharts(Protocol):
    """The charts of one joint at values of the scene's parameters."""

    typical: np.ndarray
    """What ``chart_quality`` says of each (charts, 2) where it is as it typically is."""

    def quality(self, chart: int, q: np.ndarray) -> float:
        """1 where a chart is as it typically is, 0 where singular; NaN where it has no pose at q (d,)."""

    def change(self, chart: int, to: int, q: np.ndarray, v: np.ndarray) -> Change | None:
        """From a chart to another at q, v (d,); None where that one does not have this pose and twist."""

    def best(self, chart: int, q: np.ndarray, v: np.ndarray, least: float) -> tuple[int, Change] | None:
        """(number, change) to the best chart from another at q, v (d,), if one is of more than ``least`` quality."""


class SearchedCharts:
    """Charts of which nothing but their programs is known: q by Newton's method, v by least squares."""

    def __init__(self, joint: JointProgram, parameters: Mapping[str, float]) -> None:
        self._charts = [Chart(chart, parameters) for chart in joint.charts]
        self.typical = np.array([chart.typical for chart in self._charts])

    def quality(self, chart: int, q: np.ndarray) -> float:
        """As ``JointCharts`` says."""
        return self._quality(self._charts[chart].place(q))

    def change(self, chart: int, to: int, q: np.ndarray, v: np.ndarray) -> Change | None:
        """As ``JointCharts`` says."""
        place = self._charts[chart].place(q)
        found, twist = self._charts[to].find(place.pose, _SAME_POSE), place.S @ v
        if found is None or not spans(found.S, twist, _SAME_TWIST):
            return None
        power = (np.linalg.pinv(place.S) @ found.S).T
        return Change(found.q, np.linalg.lstsq(found.S, twist, rcond=None)[0], power, found.quality)

    def best(self, chart: int, q: np.ndarray, v: np.ndarray, least: float) -> tuple[int, Change] | None:
        """As ``JointCharts`` says."""
        found = {c: self.change(chart, c, q, v) for c in range(len(self._charts)) if c != chart}
        better = {c: x for c, x in found.items() if x is not None and x.quality > least}
        return max(better.items(), key=lambda item: item[1].quality, default=None)

    @staticmethod
    def _quality(place: Place) -> float:
        return place.quality if np.isfinite(place.pose).all() and np.isfinite(place.S).all() else np.nan


class KnownCharts:
    """Charts of one formula: q' = f(q), v' = f'(q) v, tau' = f'(q)^-T tau."""

    def __init__(self, joint: TurnedProgram, parameters: Mapping[str, float]) -> None:
        self._joint, self._parameters = joint, {("parameter", p): parameters[p] for p in joint.parameters}
        self.typical = np.ones((len(joint.charts), 2))

    def quality(self, chart: int, q: np.ndarray) -> float:
        """As ``JointCharts`` says."""
        return float(np.min(self._values(list(self._joint.quality), q)))

    def change(self, chart: int, to: int, q: np.ndarray, v: np.ndarray) -> Change | None:
        """As ``JointCharts`` says."""
        there, columns = _with_derivatives(self._joint.key, chart, to, Carried(self._joint))
        d = len(there)
        values = self._values([*there, *columns], q)
        if not np.isfinite(values).all():  # just on a pole of that one
            return None
        J = values[d:].reshape(d, d).T
        power = np.linalg.pinv(J).T  # a pole moves nothing along its longitude, and takes no force there
        return Change(values[:d], J @ v, power, self.quality(to, values[:d]))

    def best(self, chart: int, q: np.ndarray, v: np.ndarray, least: float) -> tuple[int, Change] | None:
        """As ``JointCharts`` says."""
        others = [c for c in range(len(self.typical)) if c != chart]
        there = self._values([x for c in others for x in self._joint.changes[chart][c]], q).reshape(len(others), -1)
        found = {c: self.quality(c, x) for c, x in zip(others, there, strict=True)}
        best = max(found, key=lambda c: found[c])
        change = self.change(chart, best, q, v) if found[best] > least else None
        return None if change is None else (best, change)

    def _values(self, scalars: list[ex.Scalar], q: np.ndarray) -> np.ndarray:
        inputs = {("q", i): float(x) for i, x in enumerate(q)} | self._parameters
        return np.array(evaluate(scalars, inputs), dtype=float)


@lru_cache(maxsize=256)
def _with_derivatives(key: str, chart: int, to: int, carrier: Carried) -> tuple[list[ex.Scalar], list[ex.Scalar]]:
    """Coordinates in another chart, and their derivatives by each of those in this one, one after the other."""
    assert isinstance(carrier.joint, TurnedProgram)
    there = list(carrier.joint.changes[chart][to])
    graph = next(x.graph for x in there if not ex.is_constant(x))
    columns = [directional_derivative(there, {graph.input(("q", i)): 1.0}) for i in range(len(there))]
    return there, [x for column in columns for x in column]


def charts_of(joint: JointProgram, parameters: Mapping[str, float]) -> JointCharts:
    """The charts of a joint that has several."""
    if isinstance(joint, TurnedProgram):
        return KnownCharts(joint, parameters)
    return SearchedCharts(joint, parameters)
