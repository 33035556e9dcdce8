"""Transforms, curves and surfaces as SymPy writes them, straight from their definitions."""

from __future__ import annotations

import numpy as np
import sympy as sp

import recursive_dyn as rd


def product(matrices) -> sp.Matrix:
    total = sp.eye(4)
    for m in matrices:
        total = total * m
    return total


def random_pose(rng: np.random.Generator, reach: float = 0.4) -> np.ndarray:
    """A general pose, or one of the structured ones (identity, translation, quarter turns) that code may exploit."""
    style = rng.integers(4)
    if style == 0:
        return rd.pose(xyz=rng.uniform(-reach, reach, 3) * rng.integers(0, 2, 3))
    if style == 1:
        return rd.pose(xyz=rng.uniform(-reach, reach, 3), rpy=rng.integers(-1, 3, 3) * np.pi / 2)
    return rd.pose(xyz=rng.uniform(-reach, reach, 3), rpy=rng.uniform(-3, 3, 3))


def named(names: str) -> tuple:
    return tuple(sp.symbols(f"{names}", real=True, seq=True))


def rigid(R=None, p=(0, 0, 0)) -> sp.Matrix:
    G = sp.eye(4)
    G[:3, :3] = sp.eye(3) if R is None else R
    G[:3, 3] = sp.Matrix(list(p))
    return G


def cross_matrix(a) -> sp.Matrix:
    return sp.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rodrigues(axis, angle) -> sp.Matrix:
    K = cross_matrix(axis)
    return sp.eye(3) + sp.sin(angle) * K + (1 - sp.cos(angle)) * K * K


def turned(axis, angle, advance=0) -> sp.Matrix:
    return rigid(rodrigues(axis, angle), [advance * x for x in axis])


def slid(axis, distance) -> sp.Matrix:
    return rigid(None, [distance * x for x in axis])


def from_quaternion(q) -> sp.Matrix:
    return sp.eye(3) + 2 * q[3] * cross_matrix(q) + 2 * cross_matrix(q) ** 2


def normed(v: sp.Matrix) -> sp.Matrix:
    return v / sp.sqrt(v.dot(v))


def frenet(f, s) -> sp.Matrix:
    point = sp.Matrix(f)
    tangent, binormal = normed(point.diff(s)), normed(point.diff(s).cross(point.diff(s, 2)))
    return rigid(sp.Matrix.hstack(tangent, binormal.cross(tangent), binormal), f)


def tangent_frame(f, u, v) -> sp.Matrix:
    point = sp.Matrix(f)
    x, normal = normed(point.diff(u)), normed(point.diff(u).cross(point.diff(v)))
    return rigid(sp.Matrix.hstack(x, normal.cross(x), normal), f)


def ellipsoid_point(u, v, axes):
    a, b, c = axes
    return [a * sp.cos(u) * sp.cos(v), b * sp.sin(u) * sp.cos(v), c * sp.sin(v)]


def torus_point(u, v, R, r):
    return [(R + r * sp.cos(v)) * sp.cos(u), (R + r * sp.cos(v)) * sp.sin(u), r * sp.sin(v)]
