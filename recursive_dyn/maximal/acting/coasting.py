"""How twists of bodies that nothing acts on change: their centres of mass go straight on, and they tumble."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.maximal.sparse.tree_ldlt import Block, Blocks, Sixes


@compiled
def coasting(M: Blocks, V: Sixes, to: Sixes) -> None:
    """to (n, 6) <- rates of the twists V (n, 6) at the bodies' origins in axes that stay; M (n, 6, 6): inertias."""
    for i in range(len(M)):
        _coasting(M[i], V[i], to[i])


@compiled
def _coasting(M: Block, V: Floats, to: Floats) -> None:
    """I w-dot = -w x I w about the centre c, which has no acceleration: the origin's is -w-dot x c - w x (w x c)."""
    m, x, y, z = M[3, 3], V[0], V[1], V[2]
    a, b, c = -M[1, 5] / m, M[0, 5] / m, -M[0, 4] / m
    xx, yy, zz = M[0, 0] - m * (b * b + c * c), M[1, 1] - m * (a * a + c * c), M[2, 2] - m * (a * a + b * b)
    xy, xz, yz = M[0, 1] + m * a * b, M[0, 2] + m * a * c, M[1, 2] + m * b * c
    p, q, r = xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z
    p, q, r = q * z - r * y, r * x - p * z, p * y - q * x  # -w x I w
    i, j, k = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    scale = 1.0 / (xx * i + xy * j + xz * k)
    u = scale * (i * p + j * q + k * r)
    v = scale * (j * p + (xx * zz - xz * xz) * q + (xy * xz - xx * yz) * r)
    w = scale * (k * p + (xy * xz - xx * yz) * q + (xx * yy - xy * xy) * r)
    along, square = x * a + y * b + z * c, x * x + y * y + z * z
    to[0], to[1], to[2] = u, v, w
    to[3] = w * b - v * c + square * a - along * x
    to[4] = u * c - w * a + square * b - along * y
    to[5] = v * a - u * b + square * c - along * z
