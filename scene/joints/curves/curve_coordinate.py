"""A curve with its coordinate: what lies beyond its ends, metres along it, normals that turn as little as can be.

Rotation-minimising normals by double reflection: Wang, Juttler, Zheng & Liu, Computation of Rotation Minimizing Frames,
ACM Transactions on Graphics 27(1), 2008.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array
from scene.joints.curves.parametric_curve import ParametricCurve, derivatives
from scene.joints.curves.piecewise import Cells, refined, tangents
from scene.joints.curves.spline import Pieces

CLAMPED = "clamped"
_SPEED_TOLERANCE = 2e-7  # of |df/ds| = 1
_TURN_TOLERANCE = 2e-4  # of the tangent's greatest angular velocity: what the frame may turn about it
_MOST_CELLS = 8192
_MOST_BINS = 100_000  # length of the curve by that of its shortest cell
_STEPS = 16  # of the double reflection a cell
_GAUSS = np.polynomial.legendre.leggauss(16)


class CurveCoordinate:
    """Position and reference normal of a curve over its coordinate q, as expressions that share one cell of q.

    ends: as of Cells, or CLAMPED, for which what lies beyond need only be finite. arc_length: q is metres; minimal:
    with normals. ``domain``, ``length`` (m).
    """

    def __init__(self, course: ParametricCurve, ends: str, arc_length: bool, minimal: bool) -> None:
        self.course, self.ends = course, ends
        self.motion = derivatives(course.point, 2)
        parts = 1 if course.pieces is not None else 8 if arc_length or minimal else 1
        while not self._fit(parts, arc_length, minimal):
            parts *= 2
        self.domain = (float(self.cells.borders[0]), float(self.cells.borders[-1]))
        finer = np.interp(np.arange(0.0, len(self.natural) - 1 + 1e-9, 1 / 32), range(len(self.natural)), self.natural)
        self.length = self.domain[1] if arc_length else float(_lengths(self.motion, finer).sum())

    def _fit(self, parts: int, arc_length: bool, minimal: bool) -> bool:
        """Tables with that many cells a piece; False when they are not close enough to what they stand for."""
        course = self.course
        if course.pieces is None:
            self.natural = np.linspace(course.start, course.stop, parts + 1)
        else:
            self.natural, self.coefficients = refined(course.pieces.borders, course.pieces.coefficients, parts)
        if isinstance(course.up, Pieces):
            self.ups = refined(course.up.borders, course.up.coefficients, parts)[1]
        lengths = _lengths(self.motion, self.natural)
        uneven = arc_length and not lengths.min() * _MOST_BINS > lengths.sum()
        if len(self.natural) > _MOST_CELLS or uneven:
            raise ModelError(
                f"{course.what}: it bends too sharply somewhere to be followed by tables; smooth it, or use no"
                ' arc_length and another frame than "minimal"'
            )
        self.times: np.ndarray | None = None
        self.normals: np.ndarray | None = None
        borders = self.natural
        if arc_length:
            borders = np.concatenate([[0.0], np.cumsum(lengths)])
            self.times = _inverse_of_length(self.motion, self.natural, lengths)
        # one cell goes on by itself, but its upward direction is to stay
        ends = "straight" if len(borders) > 2 or isinstance(course.up, Pieces) else "none"
        self.cells = Cells(borders, ends if self.ends == CLAMPED else self.ends)
        if arc_length and self._speed_error() > _SPEED_TOLERANCE:
            return False
        if minimal:
            normals, turning = minimal_normals(self.motion, self.natural, course.closed)
            self.normals = _cubic(borders, normals, course.closed)
            return self._turn_error(turning) <= _TURN_TOLERANCE
        return True

    def place(self, q: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """(number of q's cell, q from its start on, the curve's parameter from its start on)."""
        number, x = self.cells.locate(q)
        if self.times is None:
            return number, x, x
        widths = np.diff(self.cells.borders)
        before, after = tangents(self.times, widths)
        after[0] = 0.0  # the straight piece starts at the end
        return number, x, self.cells.polynomial(number, x, self.times, widths, before, after)[0]

    def point(self, q: Scalar) -> np.ndarray:
        """Position (3,)."""
        number, x, local = self.place(q)
        if self.course.pieces is not None:
            widths = np.diff(self.natural)
            lines = tangents(self.coefficients, widths)
            return self.cells.polynomial(number, local, self.coefficients, widths, *lines)
        return self._of_function(number, x, local)

    def normal(self, q: Scalar) -> np.ndarray:
        """A vector (3,) near the rotation-minimising normal."""
        assert self.normals is not None
        number, x = self.cells.locate(q)
        widths = np.diff(self.cells.borders)
        ends = tangents(self.normals, widths)
        for line in ends:
            line[1] = 0.0  # a straight line does not turn it
        return self.cells.polynomial(number, x, self.normals, widths, *ends)

    def up(self, q: Scalar) -> np.ndarray:
        """The upward direction (3,), beyond an end that of the end."""
        if isinstance(self.course.up, np.ndarray):
            return array(self.course.up)
        number, _, local = self.place(q)
        widths = np.diff(self.natural)
        ends = tangents(self.ups, widths)
        for line in ends:
            line[1] = 0.0
        return self.cells.polynomial(number, local, self.ups, widths, *ends)

    def _of_function(self, number: Scalar, x: Scalar, local: Scalar) -> np.ndarray:
        """f inside and straight lines outside; factors that are 1 or 0 keep f from being asked beyond its ends."""
        course, cells = self.course, self.cells
        assert course.function is not None
        starts = self.natural[:-1]
        if cells.ends != "straight":
            return course.function(local + cells.lookup(number, starts, 0.0, 0.0))
        inside = cells.lookup(number, np.ones(cells.count), 0.0, 0.0)
        t = local * inside + cells.lookup(number, starts, course.start, course.stop)
        f = course.function(t)
        rates = (1.0, 1.0) if self.times is None else (self.times[0, 1, 0], self._last_rate())
        before, after = self._lines(rates)
        none = np.zeros(cells.count)
        lines = [cells.lookup(number, none, a, b) for a, b in zip(before[0], after[0], strict=True)]
        slopes = [cells.lookup(number, none, a, b) for a, b in zip(before[1], after[1], strict=True)]
        return array([f[i] * inside + lines[i] + slopes[i] * x for i in range(3)])

    def _last_rate(self) -> float:
        assert self.times is not None
        width = self.cells.borders[-1] - self.cells.borders[-2]
        powers = np.arange(1, self.times.shape[1])
        return float((powers * width ** (powers - 1.0)) @ self.times[-1, 1:, 0])

    def _lines(self, rates: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        """Value and slope (2, 3) at either end, the parameter running at these rates there."""
        position, velocity, _ = self.motion(np.array([self.course.start, self.course.stop]))
        return (np.stack([position[0], velocity[0] * rates[0]]), np.stack([position[1], velocity[1] * rates[1]]))

    def _inner(self) -> np.ndarray:
        """Coordinates between borders at which tables are judged."""
        borders = self.cells.borders
        return (borders[:-1, None] + np.diff(borders)[:, None] * np.linspace(0.05, 0.95, 7)).ravel()

    def _speed_error(self) -> float:
        velocity = derivatives(self.point, 1)(self._inner())[1]
        return float(np.abs(np.linalg.norm(velocity, axis=1) - 1.0).max())

    def _turn_error(self, turning: float) -> float:
        """How much faster than meant the normal turns about the tangent, by the tangent's greatest angular velocity."""
        q = self._inner()
        _, velocity, bend = derivatives(self.point, 2)(q)
        normal, rate = derivatives(self.normal, 1)(q)
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        tangent = velocity / speed
        swing = (bend - _along(bend, tangent)) / speed  # the tangent's rate
        across = normal - _along(normal, tangent)
        size = np.linalg.norm(across, axis=1)
        # y = across / |across|; its rate along z = tangent x y, which is the same as the rate of `across` by its size
        z = np.cross(tangent, across) / size[:, None]
        turn = np.sum((rate - np.sum(normal * tangent, axis=1, keepdims=True) * swing) * z, axis=1) / size
        borders = self.cells.borders
        greatest = max(float(np.linalg.norm(swing, axis=1).max()), 1e-3 / float(borders[-1] - borders[0]))
        return float(np.abs(turn - turning * speed[:, 0]).max()) / greatest


def _along(v: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    return np.sum(v * tangent, axis=1, keepdims=True) * tangent


Motion = Callable[[np.ndarray], list[np.ndarray]]


def _lengths(motion: Motion, borders: np.ndarray) -> np.ndarray:
    """Length of the curve (n,) in every cell of its parameter."""
    nodes, weights = _GAUSS
    half = np.diff(borders)[:, None] / 2.0
    t = (borders[:-1, None] + half) + half * nodes
    speed = np.linalg.norm(motion(t.ravel())[1], axis=1).reshape(t.shape)
    return (speed * half) @ weights


def _inverse_of_length(motion: Motion, borders: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The parameter as quintics (n, 6, 1) of the length from each cell's start, exact to the second derivative there.

    dt/ds = 1 / |f'|, d2t/ds2 = -f'.f'' / |f'|^4.
    """
    from scipy.interpolate import BPoly, PPoly

    rows = []
    for side, ends in enumerate((borders[:-1], borders[1:])):
        _, velocity, bend = motion(ends)
        square = np.sum(velocity**2, axis=1)
        value = np.diff(borders) if side else np.zeros(len(lengths))
        rows.append(np.stack([value, square**-0.5, -np.sum(velocity * bend, axis=1) / square**2], axis=1))
    coefficients = []
    for k, length in enumerate(lengths):
        quintic = PPoly.from_bernstein_basis(BPoly.from_derivatives([0.0, length], [rows[0][k], rows[1][k]]))
        coefficients.append(quintic.c[::-1, 0, None])
    return np.array(coefficients)


def minimal_normals(motion: Motion, borders: np.ndarray, closed: bool) -> tuple[np.ndarray, float]:
    """(Normals (n + 1, 3) at the borders, what they turn about the tangent, rad/m).

    They do not turn but for the angle that is missing to close, which is spread evenly over a closed curve's length.
    """
    t = np.append((borders[:-1, None] + np.diff(borders)[:, None] * np.arange(_STEPS) / _STEPS).ravel(), borders[-1])
    position, velocity, _ = motion(t)
    tangent = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    normal = np.empty_like(tangent)
    normal[0] = _some_normal(tangent[0])
    for i in range(len(t) - 1):
        normal[i + 1] = _reflected_twice(position[i : i + 2], tangent[i : i + 2], normal[i])
    if not closed:
        return normal[::_STEPS], 0.0
    travelled = np.concatenate([[0.0], np.cumsum(_lengths(motion, t))])
    side = np.cross(tangent[0], normal[0])
    missing = -float(np.arctan2(normal[-1] @ side, normal[-1] @ normal[0]))
    angle = missing * travelled / travelled[-1]
    normal = normal * np.cos(angle)[:, None] + np.cross(tangent, normal) * np.sin(angle)[:, None]
    normal[-1] = normal[0]
    return normal[::_STEPS], missing / float(travelled[-1])


def _some_normal(tangent: np.ndarray) -> np.ndarray:
    """Horizontal where there is such a normal, so that z is upwards at the start."""
    side = np.cross([0.0, 0.0, 1.0], tangent)
    if np.linalg.norm(side) < 1e-3:
        side = np.cross([1.0, 0.0, 0.0], tangent)
        side = np.cross(tangent, side)
    return side / np.linalg.norm(side)


def _reflected_twice(x: np.ndarray, t: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The normal at x[1] from that at x[0] (Wang et al., table 1): reflected between points, then onto the tangent."""
    v = x[1] - x[0]
    c = v @ v
    r_left = r - 2.0 / c * (v @ r) * v
    t_left = t[0] - 2.0 / c * (v @ t[0]) * v
    v = t[1] - t_left
    c = v @ v
    return r_left - 2.0 / c * (v @ r_left) * v


def _cubic(borders: np.ndarray, values: np.ndarray, closed: bool) -> np.ndarray:
    """Coefficients (n, 4, 3) of the C2 cubic spline through values at the borders."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(borders, values, bc_type="periodic" if closed else "not-a-knot")
    return np.moveaxis(spline.c[::-1], 0, 1)
