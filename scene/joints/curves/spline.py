"""Control points as polynomial pieces over integer knots: B-splines, splines through points, Bezier arcs.

A piece has the coefficients of the powers of the distance from its start; the pieces of one direction of a patch are
those of a curve. Farin, Curves and Surfaces for CAGD, 5th ed., chapters 5, 8 and 9.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import comb, factorial
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from scene.number_checks import SIZE_RANGE, as_floats

MAX_DEGREE = 7  # of a B-spline's pieces
MAX_ARC = 256  # control points of a Bezier arc: its pieces and powers grow with their square
_GROWTH = 100.0  # what rounding of a Bezier arc's power coefficients may be magnified by


@dataclass(frozen=True)
class Pieces:
    """``coefficients`` (n, order, k) of n pieces over ``borders`` (n + 1,), lowest power first."""

    borders: np.ndarray
    coefficients: np.ndarray


def control_points(what: str, points: Any, shape: tuple[str, ...] = ("n", "3")) -> np.ndarray:
    """Points (n, 3) or (m, n, 3) as floats. ModelError for another shape and for what is not finite."""
    given = as_floats(points)
    if given.ndim != len(shape) or given.shape[-1] != 3:
        raise ModelError(f"{what}: its points must be an array ({', '.join(shape)}), not {_shape(given)}; correct them")
    if not np.isfinite(given).all():
        place = np.argwhere(~np.isfinite(given))[0][:-1]
        raise ModelError(f"{what}: point {_place(place)} is not finite; correct it")
    if given.size and np.abs(given).max() > SIZE_RANGE[1]:
        place = np.argwhere(np.abs(given) > SIZE_RANGE[1])[0][:-1]
        raise ModelError(f"{what}: point {_place(place)} is out of range; points are in metres")
    return given


def _shape(points: np.ndarray) -> str:
    return str(points.shape) if points.size else "what is no array of numbers (scene parameters cannot stand in it)"


def _place(index: Any) -> str:
    return ", ".join(str(int(i)) for i in index)


def refuse_repeated(what: str, points: np.ndarray, closed: bool) -> None:
    """ModelError where two neighbouring points (n, 3) are one: the curve could stop there."""
    following = np.roll(points, -1, axis=0)
    same = np.linalg.norm(following - points, axis=1) <= 1e-12 * max(1e-300, float(np.ptp(points, axis=0).max()))
    if not closed:
        same[-1] = False
    if same[-1]:
        raise ModelError(f"{what}: its last point is its first; leave the last out, a closed curve returns by itself")
    if same.any():
        i = int(np.argmax(same))
        raise ModelError(f"{what}: points {i} and {i + 1} are the same; leave one out")


def check_degree(what: str, degree: Any, count: int, closed: bool) -> int:
    """A B-spline's degree. ModelError for one that is not from 2 to MAX_DEGREE, and for too few points."""
    if not isinstance(degree, (int, np.integer)) or not 2 <= degree <= MAX_DEGREE:
        raise ModelError(f"{what}: the degree is a whole number from 2 (smooth) to {MAX_DEGREE}, not {degree!r}")
    least = max(3, degree) if closed else degree + 1
    if count < least:
        raise ModelError(
            f"{what}: degree {degree} needs {least} points {'of a closed' if closed else 'of an open'} curve at least,"
            f" there are {count}; add points or lower the degree"
        )
    return int(degree)


def check_turning(what: str, degree: int, pieces: int, frame: str) -> None:
    """ModelError for a frame that would turn by jumps at the knots; a Frenet frame of cubics, which jerks, is told."""
    if degree == 2 and pieces > 1 and frame != "translation":
        raise ModelError(
            f"{what}: a spline of degree 2 bends by jumps at its knots, and so would the frame {frame!r} turn, which"
            ' loses energy there; use degree 3, or frame="translation"'
        )
    if degree == 3 and pieces > 1 and frame == "frenet":
        warnings.warn(
            f"{what}: the Frenet frame of a cubic spline turns by jumps at its knots, where it loses energy; use degree"
            ' 4, or frame="minimal"',
            stacklevel=3,
        )


def bspline_pieces(points: np.ndarray, degree: int, closed: bool) -> Pieces:
    """The uniform B-spline of control points (n, k), C^(degree - 1).

    Open: clamped, n - degree pieces from the first to the last point; closed: n pieces, the first starts near point 0.
    """
    from scipy.interpolate import BSpline

    count = len(points)
    if closed:
        wrapped = np.roll(points, (degree - 1) // 2, axis=0)[np.arange(count + degree) % count]
        return _taylor(BSpline(np.arange(-degree, count + degree + 1.0), wrapped, degree), count)
    pieces = count - degree
    knots = np.concatenate([np.zeros(degree), np.arange(pieces + 1.0), np.full(degree, float(pieces))])
    return _taylor(BSpline(knots, points, degree), pieces)


def interpolating_pieces(points: np.ndarray, degree: int, closed: bool) -> Pieces:
    """The spline of odd degree through points (n, k) at 0, 1, 2, ...; open ones end without a knot beside the ends."""
    from scipy.interpolate import make_interp_spline

    if closed:
        through = np.concatenate([points, points[:1]])
        return _taylor(make_interp_spline(np.arange(len(through)), through, degree, bc_type="periodic"), len(points))
    return _taylor(make_interp_spline(np.arange(len(points)), points, degree), len(points) - 1)


def _taylor(spline: Any, count: int) -> Pieces:
    starts = np.arange(count, dtype=float)
    powers = [spline(starts, nu=j) / factorial(j) for j in range(spline.k + 1)]
    return Pieces(np.arange(count + 1.0), np.stack(powers, axis=1))


def bezier_pieces(points: np.ndarray) -> Pieces:
    """The Bezier arc of degree n - 1 of points (n, k) over [0, 1], cut where power coefficients would lose digits.

    Power j at t is binom(n - 1, j) times the Bezier value at t of the j-th differences of the points. Over a piece of
    length h rounding grows by (1 + 2 h)^(n - 1) at the most.
    """
    degree = len(points) - 1
    count = max(1, int(np.ceil(2.0 / (_GROWTH ** (1.0 / degree) - 1.0))))
    borders = np.linspace(0.0, 1.0, count + 1)
    coefficients = np.zeros((count, degree + 1, points.shape[1]))
    differences = points
    for j in range(degree + 1):
        coefficients[:, j] = comb(degree, j) * de_casteljau(differences, borders[:-1])
        differences = np.diff(differences, axis=0)
    size = np.abs(coefficients * (1.0 / count) ** np.arange(degree + 1)[:, None]).max(axis=(0, 2))
    kept = int(np.max(np.flatnonzero(size > 1e-17 * size.max()), initial=0)) + 1
    return Pieces(borders, coefficients[:, :kept])


def de_casteljau(points: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Values (m, k) at t (m,) of the Bezier arc of points (n, k)."""
    level = np.broadcast_to(points, (len(t), *points.shape))
    u = t[:, None, None]
    while level.shape[1] > 1:
        level = (1.0 - u) * level[:, :-1] + u * level[:, 1:]
    return level[:, 0]


def cyclic_harmonics(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Constant (3,), cosine and sine coefficients (k, 3) of the closed curve of points (n, 3), period 2 pi.

    The cyclic basis of Roth, Juhasz, Schicho & Hoffmann (2009), eq. 2: f(t) = sum_i p_i c (1 + cos(t - 2 pi i / n))^k
    with k = (n - 1) // 2 and c such that the weights add up to one. (1 + cos x)^k = 2^k cos^(2k)(x / 2), whose j-th
    harmonic is binom(2k, k + j) / 2^k.
    """
    count = len(points)
    order = (count - 1) // 2
    angles = 2.0 * np.pi * np.arange(count) / count
    j = np.arange(1, order + 1)
    weights = np.array([2.0 * comb(2 * order, order + i) / comb(2 * order, order) / count for i in range(1, order + 1)])
    phases = np.outer(j, angles)
    mean = points.mean(axis=0)
    return mean, weights[:, None] * (np.cos(phases) @ points), weights[:, None] * (np.sin(phases) @ points)
