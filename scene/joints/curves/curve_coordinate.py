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
from scene.joints.curves.run_out import POSITION, UPWARD, around, inside, longer, run_outs
from scene.joints.curves.spline import Pieces

CLAMPED = "clamped"
_SPEED_TOLERANCE = 2e-7  # of |df/ds| = 1
_TURN_TOLERANCE = 2e-4  # of the tangent's greatest angular velocity: what the frame may turn about it
_MOST_CELLS = 8192
_MOST_BINS = 100_000  # length of the curve by that of its shortest cell
_STEPS = 16  # of the double reflection a cell
_AT_ENDS = {"wrap": "periodic", "straight": "clamped", "none": "not-a-knot"}  # of splines over cells
_GAUSS = np.polynomial.legendre.leggauss(16)


class CurveCoordinate:
    """Position and reference normal of a curve over its coordinate q, as expressions that share one cell of q.

    ends: as of Cells, or CLAMPED, for which what lies beyond need only be finite. arc_length: q is metres; kind: the
    frame's, of which "minimal" has normals. ``domain``, ``length`` (m).
    """

    def __init__(self, course: ParametricCurve, ends: str, arc_length: bool, kind: str) -> None:
        self.course, self.kind = course, kind
        one = course.pieces is None or len(course.pieces.borders) == 2
        goes_on = (
            ends == CLAMPED and one and not isinstance(course.up, Pieces)
        )  # by itself, if tables of it need not end
        if not (goes_on and self._with_ends("none", arc_length, parts=1)):
            self._with_ends("straight" if ends == CLAMPED else ends, arc_length)
        first, last = (int(np.searchsorted(self.natural, end)) for end in (course.start, course.stop))
        self.domain = (float(self.cells.borders[first]), float(self.cells.borders[last]))
        finer = np.interp(np.arange(first, last + 1e-9, 1 / 32), range(len(self.natural)), self.natural)
        self.length = self.domain[1] if arc_length else float(_lengths(self.motion, finer).sum())

    def _with_ends(self, ends: str, arc_length: bool, parts: int | None = None) -> bool:
        """Make what there is of the curve with such ends, in as many parts as it takes or says."""
        course, minimal = self.course, self.kind == "minimal"
        self.ends = ends
        self.beyond = run_outs(course, self.kind == "up") if ends == "straight" else None
        self.whole = course if self.beyond is None else longer(course, self.beyond)
        self.motion = derivatives(self.whole.point, 2)
        if parts is not None:
            return self._fit(parts, arc_length, minimal)
        parts = 8 if (arc_length or minimal) and course.pieces is None else 1
        while not self._fit(parts, arc_length, minimal):
            parts *= 2
        return True

    def _fit(self, parts: int, arc_length: bool, minimal: bool) -> bool:
        """Tables with that many cells a piece; False when they are not close enough to what they stand for."""
        course, beyond = self.course, self.beyond
        coefficients = None if beyond is None else np.zeros((parts, 1, 3))
        self.natural = np.linspace(course.start, course.stop, parts + 1)
        if course.pieces is not None:
            self.natural, coefficients = refined(course.pieces.borders, course.pieces.coefficients, parts)
        ends, self.coefficients = self.natural, coefficients
        if beyond is not None and coefficients is not None:
            self.natural, self.coefficients = around(beyond, POSITION, ends, coefficients)
        if isinstance(course.up, Pieces):
            self.ups = refined(course.up.borders, course.up.coefficients, parts)[1]
            if beyond is not None:
                self.ups = around(beyond, UPWARD, ends, self.ups)[1]
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
            borders = borders - borders[np.searchsorted(self.natural, course.start)]
            self.times = _inverse_of_length(self.motion, self.natural, lengths)
        self.cells = Cells(borders, self.ends)
        if arc_length and self._speed_error() > _SPEED_TOLERANCE:
            return False
        if minimal:
            normals, turning = minimal_normals(self.motion, self.natural, course)
            self.normals = _cubic(borders, normals, self.ends)
            return self._turn_error(turning) <= _TURN_TOLERANCE
        return True

    def place(self, q: Scalar) -> tuple[Scalar, Scalar]:
        """(number of q's cell, the curve's parameter from the cell's start on)."""
        number, x = self.cells.locate(q)
        if self.times is None:
            return number, x
        widths = np.diff(self.cells.borders)
        before, after = tangents(self.times, widths)
        after[0] = 0.0  # the straight piece starts at the end
        return number, self.cells.polynomial(number, x, self.times, widths, before, after)[0]

    def point(self, q: Scalar) -> np.ndarray:
        """Position (3,)."""
        number, x = self.place(q)
        course, cells = self.course, self.cells
        if self.coefficients is None:
            assert course.function is not None
            return course.function(x + cells.lookup(number, self.natural[:-1], 0.0, 0.0))
        widths = np.diff(self.natural)
        position = cells.polynomial(number, x, self.coefficients, widths, *tangents(self.coefficients, widths))
        return position if course.function is None else position + inside(course, cells, self.natural, number, x)

    def normal(self, q: Scalar) -> np.ndarray:
        """A vector (3,) near the rotation-minimising normal."""
        assert self.normals is not None
        return self._staying(*self.cells.locate(q), self.normals, self.cells.borders)

    def up(self, q: Scalar) -> np.ndarray:
        """The upward direction (3,)."""
        if isinstance(self.whole.up, np.ndarray):
            return array(self.whole.up)
        return self._staying(*self.place(q), self.ups, self.natural)

    def _staying(self, number: Scalar, x: Scalar, coefficients: np.ndarray, borders: np.ndarray) -> np.ndarray:
        """Polynomials of cells; where the curve is straight they stay what they are at its end."""
        widths = np.diff(borders)
        ends = tangents(coefficients, widths)
        for line in ends:
            line[1] = 0.0
        return self.cells.polynomial(number, x, coefficients, widths, *ends)

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


def minimal_normals(motion: Motion, borders: np.ndarray, course: ParametricCurve) -> tuple[np.ndarray, float]:
    """(Normals (n + 1, 3) at the borders, what they turn about the tangent, rad/m).

    They do not turn but for the angle that is missing to close, which is spread evenly over a closed curve's length.
    Where the curve starts, behind its run-out, the normal is that which a person would expect.
    """
    t = np.append((borders[:-1, None] + np.diff(borders)[:, None] * np.arange(_STEPS) / _STEPS).ravel(), borders[-1])
    position, velocity, _ = motion(t)
    tangent = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    normal = np.empty_like(tangent)
    normal[0] = _some_normal(tangent[0])
    for i in range(len(t) - 1):
        normal[i + 1] = _reflected_twice(position[i : i + 2], tangent[i : i + 2], normal[i])
    if not course.closed:
        first = _STEPS * int(np.searchsorted(borders, course.start))
        wanted, across = _some_normal(tangent[first]), np.cross(tangent, normal)
        cosine, sine = wanted @ normal[first], wanted @ across[first]
        return (normal * cosine + across * sine)[::_STEPS], 0.0
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


def _cubic(borders: np.ndarray, values: np.ndarray, ends: str) -> np.ndarray:
    """Coefficients (n, 4, 3) of the C2 cubic spline through values at the borders, level at straight ends."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(borders, values, bc_type=_AT_ENDS[ends])
    return np.moveaxis(spline.c[::-1], 0, 1)
