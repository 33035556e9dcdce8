"""A point inside the cones and bounds of an island's laws, and a step from it."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled

Threes = Annotated[np.ndarray, float, 3]


class Interior(NamedTuple):
    """Of contacts (n of them), s and z in the cone x_0 >= |(x_1, x_2)| (``interior_contacts``), their changes ds and
    dz, apart (n, 2), s_0 - |s_t|, which is to stay positive and is linear in velocities, and its change, the scaling
    eta (n,), w (n, 3) of ``second_order_cone`` with scaled = W z, what is aimed at, aim, by how much s misses its
    definition, miss, M (n, 9), by which z answers s, and slope (n, 2), how s_0 grows with sliding. Of scalar rows (m of
    them), the velocities low and high with which they press on their bounds, the changes dlow, dhigh and dQ, and what
    is aimed at, wanted (m,).
    """

    s: Threes
    z: Threes
    ds: Threes
    dz: Threes
    apart: Annotated[np.ndarray, float, 2]
    scaled: Threes
    eta: Floats
    w: Threes
    aim: Threes
    miss: Threes
    M: Annotated[np.ndarray, float, 9]
    slope: Annotated[np.ndarray, float, 2]
    low: Floats
    high: Floats
    dlow: Floats
    dhigh: Floats
    dQ: Floats
    wanted: Floats


@compiled
def interior(n: int, m: int) -> Interior:
    """Room for n contacts and m scalar rows."""
    return Interior(
        np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 2)), np.zeros((n, 3)),
        np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9)), np.zeros((n, 2)),
        np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m),
    )  # fmt: skip
