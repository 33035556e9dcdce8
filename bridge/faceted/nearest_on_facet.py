"""The point of a triangle nearest to the origin; compiled (Ericson, Real-Time Collision Detection, 5.1.5)."""

from __future__ import annotations

from bridge.curved.manifold_points import Rows3
from recursive_dyn.codegen.compiled import Floats, compiled


@compiled
def nearest_to_origin(corners: Rows3, weights: Floats) -> None:
    """Write the weights (3,) that the corners (3, 3) have in it, none of them 0 within the triangle."""
    a, b, c = corners[0], corners[1], corners[2]
    d1, d2, d3, d4, d5, d6 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        ab, ac = b[i] - a[i], c[i] - a[i]
        d1 -= ab * a[i]
        d2 -= ac * a[i]
        d3 -= ab * b[i]
        d4 -= ac * b[i]
        d5 -= ab * c[i]
        d6 -= ac * c[i]
    u, v, w = 0.0, 0.0, 0.0
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    if d1 <= 0.0 and d2 <= 0.0:
        u = 1.0
    elif d3 >= 0.0 and d4 <= d3:
        v = 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        u = 1.0 - v
    elif d6 >= 0.0 and d5 <= d6:
        w = 1.0
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        u = 1.0 - w
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    else:
        v, w = vb / (va + vb + vc), vc / (va + vb + vc)
        u = 1.0 - v - w
    weights[0], weights[1], weights[2] = u, v, w
