"""Beyond the ends of an open curve: its bend dies away evenly, then it goes straight on.

A line from the end on would stop the frame's turning at once, and with it a part of the body's momentum. So position
goes on with its second derivative and upward directions with their first, which is what frames turn by.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from scene.joints.curves.parametric_curve import ParametricCurve, derivatives
from scene.joints.curves.piecewise import Cells, refined, tangents
from scene.joints.curves.spline import Pieces

_TURN = 0.25  # rad by which tangent or upward direction turn beyond an end, at the most
_PART = 0.5  # of the sine between them at the end
POSITION, UPWARD = slice(0, 3), slice(3, 6)  # of run-outs
_PIECES = 8  # of a curve that is one function: a run-out is no longer than one


def run_outs(course: ParametricCurve, upright: bool) -> Pieces:
    """What lies beyond either end, position and upward direction (2, 4, 6), over borders (4,).

    The second of the three cells is the curve, of which they have no polynomial. upright: z of the frame is near to
    the upward direction, which the tangent must not meet.
    """
    ends = np.array([course.start, course.stop])
    position, velocity, bend = derivatives(course.point, 2)(ends)
    up, turning = derivatives(course.upward, 1)(ends)
    speed, size = np.linalg.norm(velocity, axis=1), np.linalg.norm(up, axis=1)
    turn = np.full(2, _TURN)
    if upright:
        turn = np.minimum(turn, _PART * np.linalg.norm(np.cross(velocity, up), axis=1) / (speed * size))
    rates = np.linalg.norm(bend, axis=1) / speed + np.linalg.norm(turning, axis=1) / size
    lengths = np.minimum(_widths(course), 2.0 * turn / np.maximum(rates, 1e-300))
    coefficients = np.zeros((2, 4, 6))
    for i, L in enumerate(lengths):
        p, t, b, u, w = position[i], velocity[i], bend[i], up[i], turning[i]
        if i == 0:  # from the straight line to the start
            coefficients[i, :, :3] = p - t * L + b * (L * L / 3.0), t - b * (L / 2.0), 0.0 * b, b / (6.0 * L)
            coefficients[i, :3, 3:] = u - w * (L / 2.0), 0.0 * w, w / (2.0 * L)
        else:
            coefficients[i, :, :3] = p, t, b / 2.0, -b / (6.0 * L)
            coefficients[i, :3, 3:] = u, w, -w / (2.0 * L)
    return Pieces(np.array([ends[0] - lengths[0], *ends, ends[1] + lengths[1]]), coefficients)


def _widths(course: ParametricCurve) -> np.ndarray:
    """Of the first and the last piece."""
    if course.pieces is None:
        return np.full(2, (course.stop - course.start) / _PIECES)
    return np.diff(course.pieces.borders)[[0, -1]]


def longer(course: ParametricCurve, beyond: Pieces) -> ParametricCurve:
    """The curve with its run-outs."""
    start, stop = float(beyond.borders[0]), float(beyond.borders[-1])
    if course.pieces is None:
        return replace(course, start=start, stop=stop, function=lambda t: _spliced(course, beyond, t))
    pieces, up = (
        known if isinstance(known, np.ndarray) else Pieces(*around(beyond, part, known.borders, known.coefficients))
        for known, part in ((course.pieces, POSITION), (course.up, UPWARD))
    )
    assert isinstance(pieces, Pieces)
    return replace(course, start=start, stop=stop, pieces=pieces, up=up)


def around(beyond: Pieces, part: slice, borders: np.ndarray, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Borders and polynomials of cells from end to end with run-outs about them, in cells that are about as wide."""
    ends = []
    for k, width in ((0, borders[1] - borders[0]), (1, borders[-1] - borders[-2])):
        own = beyond.borders[2 * k : 2 * k + 2]
        parts = max(1, round(float((own[1] - own[0]) / width)))
        ends.append(refined(own, beyond.coefficients[k : k + 1, :, part], parts))
    (before, first), (after, last) = ends
    order = max(first.shape[1], coefficients.shape[1])
    padded = [np.pad(x, ((0, 0), (0, order - x.shape[1]), (0, 0))) for x in (first, coefficients, last)]
    return np.concatenate([before[:-1], borders, after[1:]]), np.concatenate(padded)


def inside(course: ParametricCurve, cells: Cells, borders: np.ndarray, number: Scalar, x: Scalar) -> np.ndarray:
    """The function (3,) at x from the start of a cell on, and 0 beyond its ends, where it is not asked."""
    assert course.function is not None
    starts = borders[:-1]
    within = np.where((starts >= course.start) & (starts < course.stop), 1.0, 0.0)
    factor = cells.lookup(number, within, 0.0, 0.0)
    at = cells.lookup(number, np.clip(starts, course.start, course.stop), course.start, course.stop)
    return array([value * factor for value in course.function(x * factor + at)])


def _spliced(course: ParametricCurve, beyond: Pieces, t: Scalar) -> np.ndarray:
    """The function at a scalar between the far ends of its run-outs."""
    ends = beyond.borders[1:3]
    borders, coefficients = around(beyond, POSITION, ends, np.zeros((1, 1, 3)))
    cells = Cells(borders, "none")
    number, x = cells.locate(t)
    lines = tangents(coefficients, np.diff(borders))
    return inside(course, cells, borders, number, x) + cells.polynomial(
        number, x, coefficients, np.diff(borders), *lines
    )
