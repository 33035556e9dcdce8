"""Bodies displaced onto their joints at the velocities that they have.

Centres of mass keep their velocities, and bodies turn on as they did in their own axes: with their angular momenta in
world axes, what is long would come to spin about its length, step by step, as it is turned. Both together change the
angular momentum of what floats: it gets back, turning as one rigid body, what it had. What has more energy by that wins
none, what hangs together moves the less about itself (``calming``).
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.maximal.acting.calming import calm, energies_of
from recursive_dyn.maximal.acting.triples import Matrices, Triple, Triples, add_about, cross, solve, times, times_back
from recursive_dyn.maximal.sparse.tree_ldlt import Block, Blocks, Sixes


@compiled
def displaced(M: Blocks, assemblies: Integers, roots: Integers, q: Floats, v: Floats, x: Sixes) -> None:
    """Bodies q (7 n,), v (6 n,) of inertias M (n, 6, 6) moved by twists x (n, 6), own axes; assemblies, roots (n,) as
    in Joints."""
    n = len(x)
    centers, rates, spins, ways = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    inertias, turned = np.zeros((n, 3, 3)), np.zeros((n, 3))
    for i in range(n):
        pose = q[7 * i : 7 * i + 7]
        carried(M[i], pose, v[6 * i : 6 * i + 6], x[i], centers[i], rates[i], spins[i], ways[i])
        turned_inertia(M[i], pose, inertias[i])
    energies = np.zeros(n)
    energies_of(M, roots, rates, spins, inertias, energies)
    for i in range(n):
        pose = q[7 * i : 7 * i + 7]
        _turn(pose, x[i])
        turned_inertia(M[i], pose, inertias[i])
        _turn_spin(M[i], pose, v[6 * i : 6 * i + 6], spins[i], turned[i])
    _give_back(M, assemblies, centers, rates, spins, ways, turned, inertias)
    calm(M, assemblies, roots, centers, rates, spins, inertias, energies)
    for i in range(n):
        put(M[i], centers[i], rates[i], spins[i], inertias[i], q[7 * i : 7 * i + 7], v[6 * i : 6 * i + 6])


@compiled
def displaced_among(
    M: Blocks, assemblies: Integers, roots: Integers, q: Floats, v: Floats, x: Sixes, begin: int, end: int
) -> None:
    """``displaced`` for the bodies of whole trees, from ``begin`` to ``end``."""
    own = np.empty(end - begin, dtype=np.int64)
    for k in range(end - begin):
        own[k] = roots[begin + k] - begin
    poses, twists = q[7 * begin : 7 * end], v[6 * begin : 6 * end]
    displaced(M[begin:end], assemblies[begin:end], own, poses, twists, x[begin:end])


@compiled
def _matrix(pose: Floats, R: Triple) -> None:
    """Of a position and quaternion."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)


@compiled
def center_of(M: Block, c: Floats) -> float:
    """The centre of mass, own axes; the mass is told."""
    m = M[3, 3]
    c[0], c[1], c[2] = M[2, 4] / m, M[0, 5] / m, M[1, 3] / m
    return m


@compiled
def about_center(M: Block, I: Triple) -> None:
    """Moments of inertia about the centre of mass, own axes."""
    c = np.zeros(3)
    m = center_of(M, c)
    square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    for a in range(3):
        for b in range(3):
            I[a, b] = M[a, b] + m * c[a] * c[b]
        I[a, a] -= m * square


@compiled
def carried(
    M: Block, pose: Floats, V: Floats, x: Floats, center: Floats, rate: Floats, spin: Floats, way: Floats
) -> None:
    """In world axes: where the centre of mass is to be, its velocity, its way there, and the spin about it."""
    R, I, c = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
    _matrix(pose, R)
    center_of(M, c)
    cross(V, c, rate)
    cross(x, c, way)
    for k in range(3):
        rate[k] += V[3 + k]
        way[k] += x[3 + k]
    times(R, rate, rate)
    times(R, way, way)
    times(R, c, center)
    for k in range(3):
        center[k] += pose[k] + way[k]
    about_center(M, I)
    times(I, V, spin)
    times(R, spin, spin)


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
def _turn_spin(M: Block, pose: Floats, omega: Floats, spin: Floats, turned: Floats) -> None:
    """The spin of a body that is turned, at its angular velocity in own axes; turned: by how much it changes."""
    R, I, y = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
    _matrix(pose, R)
    about_center(M, I)
    times(I, omega, y)
    times(R, y, y)
    for k in range(3):
        turned[k] = y[k] - spin[k]
        spin[k] = y[k]


@compiled
def turned_inertia(M: Block, pose: Floats, to: Triple) -> None:
    """R I R^T."""
    R, I, y = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3)
    _matrix(pose, R)
    about_center(M, I)
    for k in range(3):
        times(I, R[k], y)
        times(R, y, to[k])


@compiled
def _give_back(
    M: Blocks, assemblies: Integers, centers: Triples, rates: Triples, spins: Triples, ways: Triples, turned: Triples,
    inertias: Matrices,
) -> None:  # fmt: skip
    """Add to rates and spins of what floats the turn that undoes what ways of moving centres, and spins that were
    turned, added."""
    count = 0
    for k in assemblies:
        count = max(count, k + 1)
    total, middle, excess = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3))
    moments, arm, y = np.zeros((count, 3, 3)), np.zeros(3), np.zeros(3)
    for i in range(len(M)):
        k, m = assemblies[i], M[i, 3, 3]
        if k >= 0:
            total[k] += m
            cross(ways[i], rates[i], y)
            for a in range(3):
                middle[k, a] += m * centers[i, a]
                excess[k, a] += m * y[a] + turned[i, a]
    for i in range(len(M)):
        k, m = assemblies[i], M[i, 3, 3]
        if k >= 0:
            _arm(centers[i], middle[k], total[k], arm)
            add_about(inertias[i], m, arm, moments[k])
    for i in range(len(M)):
        k = assemblies[i]
        if k >= 0:
            _arm(centers[i], middle[k], total[k], arm)
            turn = np.zeros(3)
            solve(moments[k], excess[k], turn)
            cross(turn, arm, y)
            for a in range(3):
                rates[i, a] -= y[a]
            times(inertias[i], turn, y)
            for a in range(3):
                spins[i, a] -= y[a]


@compiled
def _arm(center: Floats, middle: Floats, total: float, to: Floats) -> None:
    """From the centre of an assembly, of mass ``total`` with first moments ``middle``, to that of one of its bodies."""
    for k in range(3):
        to[k] = center[k] - middle[k] / total


@compiled
def put(M: Block, center: Floats, rate: Floats, spin: Floats, inertia: Triple, pose: Floats, V: Floats) -> None:
    """Position and twist of a body that is turned already."""
    R, c, arm, omega = np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.zeros(3)
    _matrix(pose, R)
    center_of(M, c)
    times(R, c, arm)
    solve(inertia, spin, omega)
    times_back(R, omega, omega)
    times_back(R, rate, rate)
    cross(omega, c, arm)
    for k in range(3):
        V[k], V[3 + k] = omega[k], rate[k] - arm[k]
    times(R, c, arm)
    for k in range(3):
        pose[k] = center[k] - arm[k]
