"""What hangs together slowed about itself, at the momenta that it has, to no more energy than it had.

Rigid motion of what floats stays, which has its momenta, and the rest is made the less; both have their energies apart,
as the one is the nearest to all motion by the masses. What hangs on the world has no rigid motion.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.maximal.acting.triples import Matrices, Triples, add_about, cross, solve, square, times
from recursive_dyn.maximal.sparse.tree_ldlt import Blocks


@compiled
def energies_of(
    M: Blocks, roots: Integers, rates: Triples, spins: Triples, inertias: Matrices, energies: Floats
) -> None:
    """Twice the kinetic energies (n,) of what hangs together, at its root: masses in M (n, 6, 6), velocities of centres
    and spins about them (n, 3), inertias (n, 3, 3), world axes."""
    omega = np.zeros(3)
    energies[:] = 0.0
    for i in range(len(M)):
        solve(inertias[i], spins[i], omega)
        spin = spins[i, 0] * omega[0] + spins[i, 1] * omega[1] + spins[i, 2] * omega[2]
        energies[roots[i]] += M[i, 3, 3] * square(rates[i]) + spin


@compiled
def calm(
    M: Blocks, assemblies: Integers, roots: Integers, centers: Triples, rates: Triples, spins: Triples,
    inertias: Matrices, before: Floats,
) -> None:  # fmt: skip
    """Slow down rates and spins of what has more energy than before (n,), twice, at its root."""
    n = len(M)
    now = np.zeros(n)
    energies_of(M, roots, rates, spins, inertias, now)
    more = False
    for i in range(n):
        more = more or now[i] > before[i]
    if not more:
        return
    ways, turns, rigid = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    _rigid_motion(M, assemblies, roots, centers, rates, spins, inertias, ways, turns)
    _energies_with(M, roots, ways, turns, inertias, rigid)
    own = np.zeros(3)
    for i in range(n):
        k = roots[i]
        if now[k] > before[k]:
            share = sqrt(max(before[k] - rigid[k], 0.0) / max(now[k] - rigid[k], 1e-300))
            share = min(share, 1.0)
            times(inertias[i], turns[i], own)
            for a in range(3):
                rates[i, a] = ways[i, a] + share * (rates[i, a] - ways[i, a])
                spins[i, a] = own[a] + share * (spins[i, a] - own[a])


@compiled
def _energies_with(
    M: Blocks, roots: Integers, rates: Triples, turns: Triples, inertias: Matrices, energies: Floats
) -> None:
    """``energies_of`` for angular velocities."""
    own = np.zeros(3)
    for i in range(len(M)):
        times(inertias[i], turns[i], own)
        spin = own[0] * turns[i, 0] + own[1] * turns[i, 1] + own[2] * turns[i, 2]
        energies[roots[i]] += M[i, 3, 3] * square(rates[i]) + spin


@compiled
def _rigid_motion(
    M: Blocks, assemblies: Integers, roots: Integers, centers: Triples, rates: Triples, spins: Triples,
    inertias: Matrices, ways: Triples, turns: Triples,
) -> None:  # fmt: skip
    """Velocities of centres and angular velocities (n, 3) of the rigid motion that has the momenta; 0 of what hangs on
    the world."""
    n = len(M)
    total, middle, momentum, spin = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    moments, arm, y, omega = np.zeros((n, 3, 3)), np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(n):
        k, m = roots[i], M[i, 3, 3]
        total[k] += m
        for a in range(3):
            middle[k, a] += m * centers[i, a]
            momentum[k, a] += m * rates[i, a]
    for i in range(n):
        k, m = roots[i], M[i, 3, 3]
        for a in range(3):
            arm[a] = centers[i, a] - middle[k, a] / total[k]
        cross(arm, rates[i], y)
        for a in range(3):
            spin[k, a] += spins[i, a] + m * y[a]
        add_about(inertias[i], m, arm, moments[k])
    for i in range(n):
        k = roots[i]
        if assemblies[i] >= 0:
            solve(moments[k], spin[k], omega)
            for a in range(3):
                arm[a] = centers[i, a] - middle[k, a] / total[k]
            cross(omega, arm, y)
            for a in range(3):
                turns[i, a] = omega[a]
                ways[i, a] = momentum[k, a] / total[k] + y[a]
