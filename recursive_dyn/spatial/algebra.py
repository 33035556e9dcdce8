"""Three-dimensional algebra over scalars (numbers or expressions): poses, products of vectors, skew matrices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array

TWO_TURNS = 4.0 * math.pi


def pose(xyz: Sequence[Any] = (0, 0, 0), rpy: Sequence[Any] = (0, 0, 0)) -> np.ndarray:
    """Pose from a position and roll, pitch, yaw about fixed axes, R = Rz(yaw) Ry(pitch) Rx(roll), as URDF has it.

    Returns a (4, 4) float array, or an object array of SymPy expressions when an entry is one (a scene parameter).
    Angles are in radians; a UserWarning says so of what looks like degrees.
    """
    if len(xyz) != 3 or len(rpy) != 3:
        raise ModelError("pose(xyz, rpy) takes three numbers each")
    if any(hasattr(x, "free_symbols") for x in (*xyz, *rpy)):
        import sympy

        cos, sin, result = sympy.cos, sympy.sin, np.empty((4, 4), dtype=object)
        result[:] = 0
    else:
        cos, sin, result = math.cos, math.sin, np.zeros((4, 4))
        if not np.all(np.isfinite([*xyz, *rpy])):
            raise ModelError("pose(xyz, rpy) got a number that is not finite")
        warn_of_degrees("rpy of a pose", rpy, 3)
    (cr, cp, cy), (sr, sp, sy) = ([f(a) for a in rpy] for f in (cos, sin))
    result[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    result[:3, 3] = list(xyz)
    result[3, 3] = 1
    return result


def warn_of_degrees(what: str, angles: Iterable[float], stacklevel: int) -> None:
    """Say so where angles look like degrees: beyond two turns in radians, within two in degrees, and round there.

    stacklevel: of the line that gave them, as ``warnings.warn`` counts it for who calls this.
    """
    given = [float(a) for a in angles]
    if any(TWO_TURNS < abs(a) <= math.degrees(TWO_TURNS) and 2.0 * a == round(2.0 * a) for a in given):
        told = ", ".join(f"{a:g}" for a in given)
        warnings.warn(
            f"{what}: angles are in radians, and ({told}) goes beyond two turns; degrees are np.radians(...)",
            stacklevel=stacklevel,
        )


def inverse_pose(X_AB: np.ndarray) -> np.ndarray:
    """Inverse of a rigid (4, 4) pose."""
    result = X_AB.copy()
    result[:3, :3] = X_AB[:3, :3].T
    result[:3, 3] = -(X_AB[:3, :3].T @ X_AB[:3, 3])
    return result


def components(a: Any) -> np.ndarray:
    """An array (..., n) with its last axis first, so that it unpacks into scalars or arrays (...)."""
    a = np.asarray(a)
    return a if a.ndim == 1 else np.moveaxis(a, -1, 0)


def gathered(parts: Sequence[Scalar], *sources: np.ndarray) -> np.ndarray:
    """The opposite: an array (..., n) of the sources' kind, floats or an object array of scalars."""
    if any(s.dtype == object for s in sources):
        return array(parts) if all(s.ndim == 1 for s in sources) else np.stack(np.broadcast_arrays(*parts), axis=-1)
    flat = np.array(parts, dtype=float)
    return flat if flat.ndim == 1 else np.moveaxis(flat, 0, -1)


def cross(a: Any, b: Any) -> np.ndarray:
    """Cross product of vectors (..., 3)."""
    a, b = components(a), components(b)
    return gathered([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], a, b)


def scaled(x: np.ndarray, factor: Scalar) -> np.ndarray:
    """Vectors (..., n) times factors (...)."""
    return np.asarray(x * (factor[..., None] if type(factor) is np.ndarray else factor))


def applied(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x (..., m) of matrices (..., m, n) and vectors (..., n)."""
    return np.asarray(A @ x if x.ndim == 1 else (A @ x[..., None])[..., 0])


def skew(a: np.ndarray) -> np.ndarray:
    """[a], the (3, 3) matrix with [a] b = a x b."""
    return array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def mirrored(A: np.ndarray) -> np.ndarray:
    """A (n, n) with its upper half below the diagonal too: equal entries are then one node."""
    result = A.copy()
    for i in range(len(A)):
        for j in range(i):
            result[i, j] = result[j, i]
    return result


def vee_difference(A: np.ndarray) -> np.ndarray:
    """Axial vector (3,) of A - A^T, that is sum of r x f when A = sum of f r^T."""
    return array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])


def axial_moment(W: np.ndarray, P: np.ndarray) -> np.ndarray:
    """``vee_difference(W P)`` of a symmetric P (3, 3), each product of its off-diagonal entries taken once."""
    total = []
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer = W[k, i] * P[i, j] - W[j, i] * P[i, k]
        total.append(outer + W[k, j] * P[j, j] - W[j, k] * P[k, k] + (W[k, k] - W[j, j]) * P[j, k])
    return array(total)


def dot(a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    """Sum of products of two scalar vectors, or of arrays component by component."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
