"""How far two solids are apart along a direction, which is kept if it is better; compiled."""

from __future__ import annotations

import numpy as np

from bridge.curved.solid import Solid, lowest
from recursive_dyn.codegen.compiled import Floats, compiled


@compiled
def gap_along(one: Solid, other: Solid, n: Floats, a: Floats, b: Floats) -> float:
    """How far one is beyond the other along n, by the lowest point a of the one and the highest b of the other."""
    against = np.empty(3)
    for i in range(3):
        against[i] = -n[i]
    return lowest(one, n, a) + lowest(other, against, b)


@compiled
def keep_better(one: Solid, other: Solid, n: Floats, best: Floats) -> None:
    """Keep a direction, if the gap along it is larger."""
    a, b = np.empty(3), np.empty(3)
    gap = gap_along(one, other, n, a, b)
    if gap > best[3]:
        best[0], best[1], best[2], best[3] = n[0], n[1], n[2], gap
