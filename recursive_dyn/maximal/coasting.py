"""How twists of bodies that nothing acts on change: their centres of mass go straight on, and they tumble."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.maximal.tree_ldlt import Block, Blocks, Sixes


@compiled
def coasting(M: Blocks, inverses: Blocks, V: Sixes, to: Sixes) -> None:
    """to (n, 6) <- rates of the twists V (n, 6) at the bodies' origins in axes that stay; M (n, 6, 6): inertias."""
    for i in range(len(M)):
        _coasting(M[i], inverses[i], V[i], to[i])


@compiled
def _coasting(M: Block, inverse: Block, V: Floats, to: Floats) -> None:
    """M V-dot = -[w x n + v x l; w x l] with momenta [n; l] = M V, and [0; w x v] as own axes turn."""
    n, f = np.zeros(6), np.zeros(6)
    for k in range(6):
        for m in range(6):
            n[k] += M[k, m] * V[m]
    add_cross(V, n, -1.0, f)
    add_cross(V[3:], n[3:], -1.0, f)
    add_cross(V, n[3:], -1.0, f[3:])
    for k in range(6):
        to[k] = 0.0
        for m in range(6):
            to[k] += inverse[k, m] * f[m]
    add_cross(V, V[3:], 1.0, to[3:])


@compiled
def add_cross(a: Floats, b: Floats, scale: float, to: Floats) -> None:
    """to (3,) <- to + scale a x b."""
    to[0] += scale * (a[1] * b[2] - a[2] * b[1])
    to[1] += scale * (a[2] * b[0] - a[0] * b[2])
    to[2] += scale * (a[0] * b[1] - a[1] * b[0])
