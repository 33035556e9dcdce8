"""What floats has the momenta that it had before its bodies were moved: it moves on as one rigid body besides.

Impulses of contacts and limits move positions too, by the time since each would have acted. Velocities are carried
along to first order of that, and what moves turns what it carries about the others.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.maximal.acting.joint_landing import carried, put, turned_inertia
from recursive_dyn.maximal.acting.triples import Matrices, Triples, add_about, cross, solve, times
from recursive_dyn.maximal.sparse.tree_ldlt import Blocks, Sixes

Fours = Annotated[np.ndarray, float, 4]


@compiled
def keep_momenta(
    M: Blocks, assemblies: Integers, roots: Integers, q: Floats, v: Floats, moved: Floats, after: Floats
) -> None:
    """Change twists ``after`` (6 n,) of bodies ``moved`` (7 n,) from q (7 n,), where they had twists v (6 n,); inertias
    M (n, 6, 6), assemblies and roots (n,) as in Joints."""
    n = len(M)
    centers, rates, spins, inertias = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3, 3))
    momenta, gone, masses = np.zeros((n, 6)), np.zeros((n, 6)), np.zeros((n, 4))
    _measured(M, roots, q, v, centers, rates, spins, inertias, masses, momenta)
    _measured(M, roots, moved, after, centers, rates, spins, inertias, masses, gone)
    moments, arm, turn, y = np.zeros((n, 3, 3)), np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(n):
        k, m = roots[i], M[i, 3, 3]
        for a in range(3):
            arm[a] = centers[i, a] - masses[k, 1 + a] / masses[k, 0]
        add_about(inertias[i], m, arm, moments[k])
    for i in range(n):
        k = roots[i]
        if assemblies[i] >= 0:
            for a in range(3):
                arm[a] = centers[i, a] - masses[k, 1 + a] / masses[k, 0]
                y[a] = momenta[k, a] - gone[k, a]
            solve(moments[k], y, turn)
            cross(turn, arm, y)
            for a in range(3):
                rates[i, a] += y[a] + (momenta[k, 3 + a] - gone[k, 3 + a]) / masses[k, 0]
            times(inertias[i], turn, y)
            for a in range(3):
                spins[i, a] += y[a]
            pose = moved[7 * i : 7 * i + 7]
            put(M[i], centers[i], rates[i], spins[i], inertias[i], pose, after[6 * i : 6 * i + 6])


@compiled
def _measured(
    M: Blocks, roots: Integers, q: Floats, v: Floats, centers: Triples, rates: Triples, spins: Triples,
    inertias: Matrices, masses: Fours, momenta: Sixes,
) -> None:  # fmt: skip
    """Masses with first moments (n, 4), and momenta (n, 6), spins about centres of mass and linear, of what hangs
    together, at its root; of bodies their centres, velocities, spins (n, 3) and inertias (n, 3, 3), world axes."""
    still, way, arm, y = np.zeros(6), np.zeros(3), np.zeros(3), np.zeros(3)
    masses[:] = 0.0
    for i in range(len(M)):
        k, m, pose = roots[i], M[i, 3, 3], q[7 * i : 7 * i + 7]
        carried(M[i], pose, v[6 * i : 6 * i + 6], still, centers[i], rates[i], spins[i], way)
        turned_inertia(M[i], pose, inertias[i])
        masses[k, 0] += m
        for a in range(3):
            masses[k, 1 + a] += m * centers[i, a]
            momenta[k, 3 + a] += m * rates[i, a]
    for i in range(len(M)):
        k, m = roots[i], M[i, 3, 3]
        for a in range(3):
            arm[a] = centers[i, a] - masses[k, 1 + a] / masses[k, 0]
        cross(arm, rates[i], y)
        for a in range(3):
            momenta[k, a] += spins[i, a] + m * y[a]
