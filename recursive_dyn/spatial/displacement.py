"""The place of a link in its parent, kept as one translation and a list of rotations so that structure pays.

A rotation about a coordinate axis turns a vector in 4 multiplications (9 for a dense one) and a symmetric matrix in 8
(45). Which rotations are of that kind is read off the entries of the transform, not off the joint's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recursive_dyn.graph.expression import Expression, Scalar, array, is_constant
from recursive_dyn.spatial.algebra import cross, skew


class StructuredRotation(Protocol):
    """A rotation R from child to parent axes."""

    def apply(self, v: np.ndarray) -> np.ndarray:
        """R v."""

    def invert(self, v: np.ndarray) -> np.ndarray:
        """R^T v."""

    def symmetric(self, A: np.ndarray) -> np.ndarray:
        """R A R^T of a symmetric matrix."""

    def congruence(self, B: np.ndarray) -> np.ndarray:
        """R B R^T of any matrix."""


@dataclass(frozen=True, eq=False)
class AxisRotation:
    """Rotation about coordinate axis 0, 1 or 2 by the angle with cosine ``c`` and sine ``s``."""

    axis: int
    c: Scalar
    s: Scalar

    def apply(self, v: np.ndarray) -> np.ndarray:
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        result = v.copy()
        result[i] = self.c * v[i] - self.s * v[j]
        result[j] = self.s * v[i] + self.c * v[j]
        return result

    def invert(self, v: np.ndarray) -> np.ndarray:
        return AxisRotation(self.axis, self.c, -self.s).apply(v)

    def symmetric(self, A: np.ndarray) -> np.ndarray:
        return self.congruence(A)

    def congruence(self, B: np.ndarray) -> np.ndarray:
        # Only the trace-free symmetric part of the 2 x 2 block turns: with w = s (Bii - Bjj) + c (Bij + Bji) the
        # block becomes Bii - s w, Bjj + s w, c w - Bji, c w - Bij.
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        c, s = self.c, self.s
        result = B.copy()
        w = s * (B[i, i] - B[j, j]) + c * (B[i, j] + B[j, i])
        sw, cw = s * w, c * w
        result[i, i], result[j, j] = B[i, i] - sw, B[j, j] + sw
        result[i, j], result[j, i] = cw - B[j, i], cw - B[i, j]
        result[i, k], result[j, k] = c * B[i, k] - s * B[j, k], s * B[i, k] + c * B[j, k]
        result[k, i], result[k, j] = c * B[k, i] - s * B[k, j], s * B[k, i] + c * B[k, j]
        return result


@dataclass(frozen=True, eq=False)
class DenseRotation:
    """Rotation by a full (3, 3) matrix."""

    R: np.ndarray

    def apply(self, v: np.ndarray) -> np.ndarray:
        return self.R @ v

    def invert(self, v: np.ndarray) -> np.ndarray:
        return self.R.T @ v

    def symmetric(self, A: np.ndarray) -> np.ndarray:
        half = self.R @ A
        result = np.empty((3, 3), dtype=object)
        for i in range(3):
            for j in range(i, 3):
                result[i, j] = result[j, i] = half[i] @ self.R[j]
        return result

    def congruence(self, B: np.ndarray) -> np.ndarray:
        return self.R @ B @ self.R.T


def rotations_of(R: np.ndarray) -> list[StructuredRotation]:
    """R as a list of structured rotations (outermost first); empty for the identity."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if any(not _equals(R[a, b], 1.0 if a == b else 0.0) for a, b in ((k, k), (k, i), (k, j), (i, k), (j, k))):
            continue
        c, s = R[i, i], R[j, i]
        if _equals(c, 1.0) and _equals(s, 0.0) and _equals(R[i, j], 0.0) and _equals(R[j, j], 1.0):
            return []
        if _same(R[j, j], c) and _same(R[i, j], -s):
            return [AxisRotation(k, c, s)]
    return [DenseRotation(R)]


def _equals(x: Scalar, value: float) -> bool:
    return is_constant(x) and bool(abs(x - value) < 1e-15)


def _same(x: Scalar, y: Scalar) -> bool:
    if is_constant(x) and is_constant(y):
        return bool(abs(x - y) < 1e-15)
    return isinstance(x - y, float) and x - y == 0.0


@dataclass(frozen=True, eq=False)
class Displacement:
    """Child in parent: origin ``p`` (3,) in parent axes and rotations, outermost first."""

    p: np.ndarray
    rotations: tuple[StructuredRotation, ...]

    @staticmethod
    def product(transforms: Sequence[np.ndarray]) -> Displacement:
        """The displacement of a product of (4, 4) poses."""
        p = array(np.zeros(3))
        rotations: list[StructuredRotation] = []
        for transform in _merge_constants(transforms):
            step = transform[:3, 3].copy()
            for rotation in reversed(rotations):
                step = rotation.apply(step)
            p = p + step
            rotations += rotations_of(transform[:3, :3])
        return Displacement(p, tuple(rotations))

    def outward(self, v: np.ndarray) -> np.ndarray:
        """A free vector from parent to child axes."""
        for rotation in self.rotations:
            v = rotation.invert(v)
        return v

    def inward(self, v: np.ndarray) -> np.ndarray:
        """A free vector from child to parent axes."""
        for rotation in reversed(self.rotations):
            v = rotation.apply(v)
        return v

    def wrench_inward(self, moment: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ad*: a wrench about the child origin in child axes to one about the parent origin in parent axes."""
        force = self.inward(force)
        return self.inward(moment) + cross(self.p, force), force

    def inertia_inward(self, J: Inertia) -> Inertia:
        """Ad* J Ad: a spatial inertia from the child frame to the parent frame."""
        A, B, M = J.A, J.B, J.M
        for rotation in reversed(self.rotations):
            A, B, M = rotation.symmetric(A), rotation.congruence(B), rotation.symmetric(M)
        return shift_inertia(Inertia(A, B, M), self.p)

    @property
    def matrix(self) -> np.ndarray:
        """The dense rotation matrix (3, 3), child to parent."""
        R = array(np.eye(3))
        return array([self.inward(R[:, j]) for j in range(3)]).T


def _merge_constants(transforms: Sequence[np.ndarray]) -> list[np.ndarray]:
    merged: list[np.ndarray] = []
    for transform in transforms:
        if merged and _constant(merged[-1]) and _constant(transform):
            merged[-1] = merged[-1] @ transform
        else:
            merged.append(transform)
    return merged


def _constant(transform: np.ndarray) -> bool:
    return not any(type(x) is Expression for x in transform.flat)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Spatial inertia [[A, B], [B^T, M]]: [moment; force] = J [angular; linear acceleration], blocks (3, 3)."""

    A: np.ndarray
    B: np.ndarray
    M: np.ndarray

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.A + other.A, self.B + other.B, self.M + other.M)

    def times(self, twist: np.ndarray) -> np.ndarray:
        """J times a 6-vector."""
        angular, linear = twist[:3], twist[3:]
        return np.concatenate([self.A @ angular + self.B @ linear, self.B.T @ angular + self.M @ linear])

    def minus_outer(self, u: np.ndarray, w: np.ndarray) -> Inertia:
        """J - u w^T for parallel u and w (the result stays symmetric)."""
        n, f, wn, wf = u[:3], u[3:], w[:3], w[3:]
        return Inertia(_symmetric_minus(self.A, n, wn), self.B - np.outer(n, wf), _symmetric_minus(self.M, f, wf))


def _symmetric_minus(A: np.ndarray, u: np.ndarray, w: np.ndarray) -> np.ndarray:
    result = A.copy()
    for i in range(3):
        for j in range(i, 3):
            # the factor whose w is a bare number or shorter expression is not known here: u_i w_j = u_j w_i
            result[i, j] = result[j, i] = A[i, j] - (u[i] * w[j] if _simpler(w[j], w[i]) else u[j] * w[i])
    return result


def _simpler(x: Scalar, y: Scalar) -> bool:
    return is_constant(x) or not is_constant(y)


def shift_inertia(J: Inertia, p: np.ndarray) -> Inertia:
    """The same inertia about a point: its old origin lies at ``p`` as seen from the new one (same axes)."""
    P = skew(p)
    B = J.B + P @ J.M
    A = J.A.copy()
    for i in range(3):
        for j in range(i, 3):
            A[i, j] = A[j, i] = J.A[i, j] + (P[i] @ B[j]) + (P[j] @ J.B[i])
    return Inertia(A, B, J.M)
