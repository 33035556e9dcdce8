"""A curve before it is a joint: its position over a parameter, its numbers at samples, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.traversal import evaluate
from scene.joints.curves.piecewise import Cells, tangents
from scene.joints.curves.spline import Pieces

Points = Callable[[Scalar], np.ndarray]
_SAMPLES = 1024
_CANDIDATES = 5  # of the places where something is smallest, looked at closely
_LEAST_SPEED = 1e-6  # of the mean speed
_LEAST_CURVATURE = 1e-6  # times the length
_LEAST_SINE = 1e-3  # of the angle between the tangent and up
_LEAST_UP = 1e-3  # of the longest upward direction
UPRIGHT = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class ParametricCurve:
    """A curve over the parameter from ``start`` to ``stop``: polynomial ``pieces``, or ``function`` on the graph.

    A closed one begins again at ``stop``. ``up``: the upward direction (3,) of its frame, or pieces of one over the
    same borders.
    """

    what: str
    start: float
    stop: float
    closed: bool
    pieces: Pieces | None = None
    function: Points | None = None
    up: np.ndarray | Pieces = field(default_factory=UPRIGHT.copy)

    def point(self, t: Scalar) -> np.ndarray:
        """Position (3,) at a scalar from start to stop."""
        if self.pieces is None:
            assert self.function is not None
            return self.function(t)
        return _value(self.pieces, t)

    def upward(self, t: Scalar) -> np.ndarray:
        """The direction (3,) that is up at a scalar from start to stop."""
        return array(self.up) if isinstance(self.up, np.ndarray) else _value(self.up, t)


def _value(pieces: Pieces, t: Scalar) -> np.ndarray:
    cells = Cells(pieces.borders, "none")
    number, x = cells.locate(t)
    widths = np.diff(pieces.borders)
    return cells.polynomial(number, x, pieces.coefficients, widths, *tangents(pieces.coefficients, widths))


def derivatives(point: Points, order: int) -> Callable[[np.ndarray], list[np.ndarray]]:
    """A function that gives the vector (n, k) and its derivatives up to ``order`` at parameters (n,)."""
    graph = Graph()
    q = graph.input(("q", 0))
    levels = [list(point(q))]
    for _ in range(order):
        levels.append(directional_derivative(levels[-1], {q: 1.0}))
    flat = [x for level in levels for x in level]

    def sample(t: np.ndarray) -> list[np.ndarray]:
        t = np.asarray(t, dtype=float)
        values = [np.broadcast_to(np.asarray(v, dtype=float), t.shape) for v in evaluate(flat, {("q", 0): t})]
        width = len(levels[0])
        return [np.stack(values[width * i : width * (i + 1)], axis=-1) for i in range(order + 1)]

    return sample


def goes_on(course: ParametricCurve) -> bool:
    """Whether its expressions are finite well beyond its ends, too."""
    reach = course.stop - course.start
    beyond = np.linspace(0.0, 1.0, 200) * reach
    t = np.concatenate([course.start - beyond, course.stop + beyond])
    return all(np.isfinite(level).all() for level in derivatives(course.point, 2)(t))


def check_samples(course: ParametricCurve, function: bool) -> None:
    """Refuse a curve that stands still somewhere, is not finite, or is said to be closed and is not."""
    sample = derivatives(course.point, 1)
    position, velocity = sample(_grid(course))
    if not (np.isfinite(position).all() and np.isfinite(velocity).all()):
        raise ModelError(f"{course.what}: it is not finite everywhere from {course.start:g} to {course.stop:g}")
    speed = np.linalg.norm(velocity, axis=1)
    if not speed.mean() > 0.0:
        raise ModelError(f"{course.what}: it does not move; use another curve")

    def least(t: np.ndarray) -> np.ndarray:
        return np.linalg.norm(sample(t)[1], axis=1) / speed.mean()

    _refuse_small(course, least, _LEAST_SPEED, "its tangent vanishes", "move the points or use another curve")
    if course.closed and function:
        ends = np.abs(np.diff(np.concatenate([position, velocity], axis=1)[[0, -1]], axis=0))[0]
        size = np.ptp(position, axis=0).max()
        if ends[:3].max() > 1e-9 * size or ends[3:].max() > 1e-9 * speed.max():
            raise ModelError(
                f"{course.what}: it is not closed: position or tangent at {course.stop:g} are not those at"
                f" {course.start:g}; correct the domain or leave closed out"
            )


def check_frame(course: ParametricCurve, kind: str) -> None:
    """Refuse a "frenet" frame where there is no curvature, an "up" frame where the curve goes up or nothing is up."""
    sample, upward = derivatives(course.point, 2), derivatives(course.upward, 0)

    def curvature(t: np.ndarray) -> np.ndarray:
        _, velocity, bend = sample(t)
        return np.linalg.norm(np.cross(velocity, bend), axis=1) / np.linalg.norm(velocity, axis=1) ** 3

    def sine(t: np.ndarray) -> np.ndarray:
        velocity, up = sample(t)[1], upward(t)[0]
        sizes = np.linalg.norm(velocity, axis=1) * np.linalg.norm(up, axis=1)
        return np.linalg.norm(np.cross(velocity, up), axis=1) / sizes

    if kind == "frenet":
        t = _grid(course)
        length = float(np.linalg.norm(sample(t)[1], axis=1).mean() * (course.stop - course.start))
        _refuse_small(
            course, lambda t: curvature(t) * length, _LEAST_CURVATURE, "it is straight, so that it has no Frenet frame",
            'use frame="minimal", "up" or "translation"',
        )  # fmt: skip
    if kind == "up":
        _refuse_small(
            course, lambda t: np.linalg.norm(upward(t)[0], axis=1), _LEAST_UP, "up vanishes between directions",
            "turn neighbours among them by less than half a turn",
        )  # fmt: skip
        _refuse_small(course, sine, _LEAST_SINE, "it goes along up", 'use another up, or frame="minimal"')


def _grid(course: ParametricCurve) -> np.ndarray:
    """Parameters of samples, more of them where there are many pieces."""
    borders = np.array([course.start, course.stop]) if course.pieces is None else course.pieces.borders
    parts = -(-_SAMPLES // (len(borders) - 1))
    inner = borders[:-1, None] + np.diff(borders)[:, None] * np.arange(parts) / parts
    return np.append(inner.ravel(), borders[-1])


def _refuse_small(
    course: ParametricCurve, size: Callable[[np.ndarray], np.ndarray], least: float, problem: str, advice: str
) -> None:
    """ModelError where ``size`` of the curve has a value below ``least``: sampled, then looked for between samples."""
    from scipy.optimize import minimize_scalar

    t = _grid(course)
    values = size(t)
    around = np.concatenate([[np.inf], values, [np.inf]])
    places = np.flatnonzero(values <= np.minimum(around[:-2], around[2:]))
    for i in places[np.argsort(values[places])][:_CANDIDATES]:
        low, high = t[max(i - 1, 0)], t[min(i + 1, len(t) - 1)]
        found = minimize_scalar(
            lambda x: float(size(np.array([x]))[0]), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        )
        place = found.x if found.fun < values[i] else t[i]
        if min(found.fun, values[i]) < least:
            x, y, z = derivatives(course.point, 0)(np.array([place]))[0][0]
            raise ModelError(f"{course.what}: {problem} near ({x:.4g}, {y:.4g}, {z:.4g}); {advice}")
