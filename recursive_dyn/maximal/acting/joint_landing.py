"""Bodies displaced onto their joints at the velocities that they have.

Their momenta stay in world axes, but a displacement of what moves turns what it carries about the others: what floats
gets back, turning as one rigid body, the angular momentum that it had.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.maximal.sparse.tree_ldlt import Block, Blocks, Sixes

Triple = Annotated[np.ndarray, float, 3]


@compiled
def displaced(M: Blocks, assemblies: Integers, q: Floats, v: Floats, x: Sixes) -> None:
    """Bodies q (7 n,), v (6 n,) of inertias M (n, 6, 6) moved by twists x (n, 6), own axes; assemblies (n,) as in
    Joints."""
    displaced_grounded(M, assemblies, q, v, x, 0, len(x))
    displaced_floating(M, assemblies, q, v, x)


@compiled
def displaced_grounded(M: Blocks, assemblies: Integers, q: Floats, v: Floats, x: Sixes, begin: int, end: int) -> None:
    """``displaced`` for those from ``begin`` to ``end`` that do not float."""
    for i in range(begin, end):
        if assemblies[i] < 0:
            _move(M[i], q[7 * i : 7 * i + 7], v[6 * i : 6 * i + 6], x[i])


@compiled
def displaced_floating(M: Blocks, assemblies: Integers, q: Floats, v: Floats, x: Sixes) -> None:
    """``displaced`` for those that float."""
    n, some = len(x), False
    for k in assemblies:
        some = some or k >= 0
    if not some:
        return
    centers, rates, spins, ways = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    inertias = np.zeros((n, 3, 3))
    for i in range(n):
        if assemblies[i] >= 0:
            pose = q[7 * i : 7 * i + 7]
            _carried(M[i], pose, v[6 * i : 6 * i + 6], x[i], centers[i], rates[i], spins[i], ways[i])
            _turn(pose, x[i])
            _turned_inertia(M[i], pose, inertias[i])
    _give_back(M, assemblies, centers, rates, spins, ways, inertias)
    for i in range(n):
        if assemblies[i] >= 0:
            _put(M[i], centers[i], rates[i], spins[i], inertias[i], q[7 * i : 7 * i + 7], v[6 * i : 6 * i + 6])


@compiled
def _move(M: Block, pose: Floats, V: Floats, x: Floats) -> None:
    """One body at its momenta, in its own axes, which it turns by T: R' = R T, I omega' = T^T I omega, its
    centre's rate is T^T times what it was, and p' = p + R (c + way - T c)."""
    R, T, I = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    c, rate, way, spin = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    half = 0.5 * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    scale = 0.5 * sin(half) / half if half > 0.0 else 0.5
    turn = np.empty(7)
    turn[3], turn[4], turn[5], turn[6] = scale * x[0], scale * x[1], scale * x[2], cos(half)
    _matrix(turn, T)
    _matrix(pose, R)
    _center(M, c)
    _about_center(M, I)
    _cross(V, c, rate)
    _cross(x, c, way)
    for k in range(3):
        rate[k] += V[3 + k]
        way[k] += x[3 + k] + c[k]
    _times(I, V, spin)
    _times_back(T, spin, spin)
    _times_back(T, rate, rate)
    _solve(I, spin, spin)
    for k in range(3):
        V[k] = spin[k]
    _times(T, c, spin)
    for k in range(3):
        way[k] -= spin[k]
    _times(R, way, way)
    _cross(V, c, spin)
    for k in range(3):
        pose[k] += way[k]
        V[3 + k] = rate[k] - spin[k]
    _turn(pose, x)


@compiled
def _cross(a: Floats, b: Floats, to: Floats) -> None:
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    to[0], to[1], to[2] = x, y, z


@compiled
def _times(R: Triple, x: Floats, to: Floats) -> None:
    """to <- R x."""
    a, b, c = x[0], x[1], x[2]
    for k in range(3):
        to[k] = R[k, 0] * a + R[k, 1] * b + R[k, 2] * c


@compiled
def _times_back(R: Triple, x: Floats, to: Floats) -> None:
    """to <- R^T x."""
    a, b, c = x[0], x[1], x[2]
    for k in range(3):
        to[k] = R[0, k] * a + R[1, k] * b + R[2, k] * c


@compiled
def _solve(A: Triple, b: Floats, x: Floats) -> None:
    """x <- A^-1 b by cofactors."""
    columns = np.zeros((3, 3))
    for k in range(3):
        _cross(A[(k + 1) % 3], A[(k + 2) % 3], columns[k])
    size = A[0, 0] * columns[0, 0] + A[0, 1] * columns[0, 1] + A[0, 2] * columns[0, 2]
    _times_back(columns, b, x)
    for k in range(3):
        x[k] /= size


@compiled
def _matrix(pose: Floats, R: Triple) -> None:
    """Of a position and quaternion."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)


@compiled
def _center(M: Block, c: Floats) -> float:
    """The centre of mass, own axes; the mass is told."""
    m = M[3, 3]
    c[0], c[1], c[2] = M[2, 4] / m, M[0, 5] / m, M[1, 3] / m
    return m


@compiled
def _about_center(M: Block, I: Triple) -> None:
    """Moments of inertia about the centre of mass, own axes."""
    c = np.zeros(3)
    m = _center(M, c)
    square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    for a in range(3):
        for b in range(3):
            I[a, b] = M[a, b] + m * c[a] * c[b]
        I[a, a] -= m * square


@compiled
def _carried(
    M: Block, pose: Floats, V: Floats, x: Floats, center: Floats, rate: Floats, spin: Floats, way: Floats
) -> None:
    """In world axes: where the centre of mass is to be, its velocity, its way there, and the spin about it."""
    R, I, c = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
    _matrix(pose, R)
    _center(M, c)
    _cross(V, c, rate)
    _cross(x, c, way)
    for k in range(3):
        rate[k] += V[3 + k]
        way[k] += x[3 + k]
    _times(R, rate, rate)
    _times(R, way, way)
    _times(R, c, center)
    for k in range(3):
        center[k] += pose[k] + way[k]
    _about_center(M, I)
    _times(I, V, spin)
    _times(R, spin, spin)


@compiled
def _turn(pose: Floats, x: Floats) -> None:
    """Turn a quaternion by a rotation vector in own axes."""
    half = 0.5 * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    scale, w = 0.5 * sin(half) / half if half > 0.0 else 0.5, cos(half)
    a, b, c = scale * x[0], scale * x[1], scale * x[2]
    i, j, k, r = pose[3], pose[4], pose[5], pose[6]
    i, j, k, r = (
        r * a + i * w + j * c - k * b,
        r * b - i * c + j * w + k * a,
        r * c + i * b - j * a + k * w,
        r * w - i * a - j * b - k * c,
    )
    size = sqrt(i * i + j * j + k * k + r * r)
    pose[3], pose[4], pose[5], pose[6] = i / size, j / size, k / size, r / size


@compiled
def _turned_inertia(M: Block, pose: Floats, to: Triple) -> None:
    """R I R^T."""
    R, I, y = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
    _matrix(pose, R)
    _about_center(M, I)
    for k in range(3):
        _times(I, R[k], y)
        _times(R, y, to[k])


@compiled
def _give_back(
    M: Blocks,
    assemblies: Integers,
    centers: Annotated[np.ndarray, float, 3],
    rates: Annotated[np.ndarray, float, 3],
    spins: Annotated[np.ndarray, float, 3],
    ways: Annotated[np.ndarray, float, 3],
    inertias: Annotated[np.ndarray, float, 3, 3],
) -> None:
    """Add to rates and spins of what floats the turn that undoes what ways of moving centres added."""
    count = 0
    for k in assemblies:
        count = max(count, k + 1)
    total, middle, excess = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3))
    moments, arm, y = np.zeros((count, 3, 3)), np.zeros(3), np.zeros(3)
    for i in range(len(M)):
        k, m = assemblies[i], M[i, 3, 3]
        if k >= 0:
            total[k] += m
            _cross(ways[i], rates[i], y)
            for a in range(3):
                middle[k, a] += m * centers[i, a]
                excess[k, a] += m * y[a]
    for i in range(len(M)):
        k, m = assemblies[i], M[i, 3, 3]
        if k >= 0:
            _arm(centers[i], middle[k], total[k], arm)
            square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]
            for a in range(3):
                for b in range(3):
                    moments[k, a, b] += inertias[i, a, b] - m * arm[a] * arm[b]
                moments[k, a, a] += m * square
    for i in range(len(M)):
        k = assemblies[i]
        if k >= 0:
            _arm(centers[i], middle[k], total[k], arm)
            turn = np.zeros(3)
            _solve(moments[k], excess[k], turn)
            _cross(turn, arm, y)
            for a in range(3):
                rates[i, a] -= y[a]
            _times(inertias[i], turn, y)
            for a in range(3):
                spins[i, a] -= y[a]


@compiled
def _arm(center: Floats, middle: Floats, total: float, to: Floats) -> None:
    """From the centre of an assembly, of mass ``total`` with first moments ``middle``, to that of one of its bodies."""
    for k in range(3):
        to[k] = center[k] - middle[k] / total


@compiled
def _put(M: Block, center: Floats, rate: Floats, spin: Floats, inertia: Triple, pose: Floats, V: Floats) -> None:
    """Position and twist of a body that is turned already."""
    R, c, arm, omega = np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.zeros(3)
    _matrix(pose, R)
    _center(M, c)
    _times(R, c, arm)
    _solve(inertia, spin, omega)
    _times_back(R, omega, omega)
    _times_back(R, rate, rate)
    _cross(omega, c, arm)
    for k in range(3):
        V[k], V[3 + k] = omega[k], rate[k] - arm[k]
    _times(R, c, arm)
    for k in range(3):
        pose[k] = center[k] - arm[k]
