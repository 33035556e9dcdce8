"""One contact alone: the impulse that meets its law exactly, all other impulses given.

Open, stick or slide: the normal velocity is at least its target, friction is bounded by the cone and opposes sliding.
This is the nonlinear complementarity problem of Coulomb's law itself, no polyhedral or convex stand-in.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.tuning import CONE_EXACT, CONE_ROUNDS, IMMOBILE, IMMOBILE_RIDGE


@compiled
def bounded(a: float, b: float, d: float, r0: float, r1: float, radius: float, x: np.ndarray) -> float:
    """x (2,) with (S + z) x = -r for S = [[a, b], [b, d]] and the least z >= 0 for which |x| <= radius; returns z."""
    det = a * d - b * b
    x[0], x[1] = (-d * r0 + b * r1) / det, (b * r0 - a * r1) / det
    size = np.sqrt(x[0] * x[0] + x[1] * x[1])
    if size <= radius:
        return 0.0
    length = np.sqrt(r0 * r0 + r1 * r1)
    if radius <= 1e-300:
        x[0], x[1] = 0.0, 0.0
        return np.inf
    if radius <= CONE_EXACT * size:  # z outweighs S
        x[0], x[1] = -r0 * (radius / length), -r1 * (radius / length)
        return length / radius
    z = 0.0
    for _ in range(CONE_ROUNDS):  # Newton on 1/|x|, which is nearly linear in z
        p, q = a + z, d + z
        det = p * q - b * b
        u0, u1 = (q * x[0] - b * x[1]) / det, (p * x[1] - b * x[0]) / det
        slope = (x[0] * u0 + x[1] * u1) / (size * size)
        step = (size / radius - 1.0) / slope
        z += step
        p, q = a + z, d + z
        det = p * q - b * b
        x[0], x[1] = (-q * r0 + b * r1) / det, (b * r0 - p * r1) / det
        size = np.sqrt(x[0] * x[0] + x[1] * x[1])
        if abs(size - radius) <= CONE_EXACT * radius:
            break
    return z


@compiled
def _slide(
    G: np.ndarray,
    a: float,
    b: float,
    d: float,
    mu: float,
    base: float,
    r0: float,
    r1: float,
    p: np.ndarray,
    x: np.ndarray,
) -> None:
    """p (3,) sliding: v_n on target and p_t = -v_t / z of length mu p_n, the root in z > 0 of |x| = mu n.

    S = [[a, b], [b, d]] and r are what is left for the tangents once the normal is on target; x = -(S + z)^-1 r.
    """
    g, size = G[0, 0], np.sqrt(r0 * r0 + r1 * r1)
    z = size * g / (mu * base)  # exact where friction is weak against the slip
    low, high = 0.0, np.inf
    normal = base / g
    for _ in range(CONE_ROUNDS):
        q0, q1 = a + z, d + z
        det = q0 * q1 - b * b
        x[0], x[1] = (-q1 * r0 + b * r1) / det, (b * r0 - q0 * r1) / det
        size = np.sqrt(x[0] * x[0] + x[1] * x[1])
        normal = (base - G[0, 1] * x[0] - G[0, 2] * x[1]) / g
        error = size - mu * normal
        if abs(error) <= CONE_EXACT * size or high - low <= CONE_EXACT * z or size == 0.0:
            break
        if error > 0.0:
            low = z
        else:
            high = z
        ahead = -1.0
        if normal > 0.0:  # Newton on 1 / |x| - 1 / (mu n), which is nearly linear in z
            u0, u1 = (q1 * x[0] - b * x[1]) / det, (q0 * x[1] - b * x[0]) / det
            slope = (x[0] * u0 + x[1] * u1) / size**3 + (G[0, 1] * u0 + G[0, 2] * u1) / (g * mu * normal * normal)
            ahead = z + (1.0 / (mu * normal) - 1.0 / size) / slope if slope != 0.0 else -1.0
        if not low < ahead < high:
            ahead = 4.0 * z + a + d if high == np.inf else 0.5 * (low + high)
        z = ahead
    p[0] = max(normal, 0.0)
    if size > 0.0:
        p[1], p[2] = x[0] * (mu * p[0] / size), x[1] * (mu * p[0] / size)
    else:
        p[1], p[2] = 0.0, 0.0


@compiled
def coulomb(G: np.ndarray, c: np.ndarray, target: float, mu: np.ndarray, p: np.ndarray, x: np.ndarray) -> None:
    """Impulse p (3,) of a contact whose velocity is c + G p; mu: sticking and sliding coefficient; x (2,): scratch."""
    p[0], p[1], p[2] = 0.0, 0.0, 0.0
    base, g = target - c[0], G[0, 0]
    whole = g + G[1, 1] + G[2, 2]
    if base <= 1e-200 or g <= IMMOBILE * whole:
        return
    if mu[0] <= 1e-200:
        p[0] = base / g
        return
    a, d = G[1, 1] - G[0, 1] * G[0, 1] / g, G[2, 2] - G[0, 2] * G[0, 2] / g
    b = G[1, 2] - G[0, 1] * G[0, 2] / g
    det = a * d - b * b
    if det <= IMMOBILE * whole * whole:  # a mechanism that cannot slip in some direction
        a, d = a + IMMOBILE_RIDGE * whole, d + IMMOBILE_RIDGE * whole
        det = a * d - b * b
    r0, r1 = c[1] + G[0, 1] * base / g, c[2] + G[0, 2] * base / g
    x[0], x[1] = (-d * r0 + b * r1) / det, (b * r0 - a * r1) / det
    normal = (base - G[0, 1] * x[0] - G[0, 2] * x[1]) / g
    if x[0] * x[0] + x[1] * x[1] <= mu[0] * mu[0] * normal * normal and normal >= 0.0:
        p[0], p[1], p[2] = normal, x[0], x[1]
    else:
        _slide(G, a, b, d, mu[1], base, r0, r1, p, x)
