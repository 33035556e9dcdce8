"""One contact alone: the impulse that meets its law exactly, all other impulses given.

Open, stick or slide: the normal velocity is at least its target, friction is bounded by the cone and opposes sliding.
This is the nonlinear complementarity problem of Coulomb's law itself, no polyhedral or convex stand-in.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.tuning import CONE_CLOSE, CONE_EXACT, CONE_ROUNDS, IMMOBILE, IMMOBILE_RIDGE


@compiled
def solved_pair(a: float, b: float, d: float, r0: float, r1: float) -> tuple[float, float]:
    """x with [[a, b], [b, d]] x = -r."""
    det = a * d - b * b
    return (-d * r0 + b * r1) / det, (b * r0 - a * r1) / det


@compiled
def bounded(a: float, b: float, d: float, r0: float, r1: float, radius: float) -> tuple[float, float, float]:
    """(z, x) with (S + z) x = -r for S = [[a, b], [b, d]] and the least z >= 0 for which |x| <= radius."""
    x0, x1 = solved_pair(a, b, d, r0, r1)
    size = np.sqrt(x0 * x0 + x1 * x1)
    if size <= radius:
        return 0.0, x0, x1
    length = np.sqrt(r0 * r0 + r1 * r1)
    if radius <= 1e-300:
        return np.inf, 0.0, 0.0
    if radius <= CONE_EXACT * size:  # z outweighs S
        return length / radius, -r0 * (radius / length), -r1 * (radius / length)
    z = 0.0
    for _ in range(CONE_ROUNDS):  # Newton on 1/|x|, which is nearly linear in z
        p, q = a + z, d + z
        det = p * q - b * b
        u0, u1 = (q * x0 - b * x1) / det, (p * x1 - b * x0) / det
        slope = (x0 * u0 + x1 * u1) / (size * size)
        z += (size / radius - 1.0) / slope
        x0, x1 = solved_pair(a + z, b, d + z, r0, r1)
        size = np.sqrt(x0 * x0 + x1 * x1)
        if abs(size - radius) <= CONE_EXACT * radius:
            break
    return z, x0, x1


@compiled
def _slide(
    g: float,
    g01: float,
    g02: float,
    a: float,
    b: float,
    d: float,
    mu: float,
    base: float,
    r0: float,
    r1: float,
    x0: float,
    x1: float,
) -> tuple[float, float, float]:
    """Impulse sliding: v_n on target and p_t = -v_t / z of length mu p_n, the root in z > 0 of |x| = mu n.

    S = [[a, b], [b, d]] and r are what is left for the tangents once the normal is on target; x = -(S + z)^-1 r. It is
    looked for near that of the x given, as of the sweep before.
    """
    square, z = x0 * x0 + x1 * x1, 0.0
    if square > 0.0:
        z = -(r0 * x0 + r1 * x1 + a * x0 * x0 + 2.0 * b * x0 * x1 + d * x1 * x1) / square
    if not 0.0 < z < np.inf:
        z = np.sqrt(r0 * r0 + r1 * r1) * g / (mu * base)  # exact where friction is weak against the slip
    low, high, each, size, normal, ended = 0.0, np.inf, 1.0 / g, 0.0, base / g, False
    for _ in range(CONE_ROUNDS):
        q0, q1 = a + z, d + z
        over = 1.0 / (q0 * q1 - b * b)
        x0, x1 = (b * r1 - q1 * r0) * over, (b * r0 - q0 * r1) * over
        square = x0 * x0 + x1 * x1
        size = np.sqrt(square)
        normal = (base - g01 * x0 - g02 * x1) * each
        bound = mu * normal
        error = size - bound
        if ended or abs(error) <= CONE_EXACT * size or high - low <= CONE_EXACT * z or size == 0.0:
            break
        if error > 0.0:
            low = z
        else:
            high = z
        ahead = -1.0
        if normal > 0.0:  # Newton on 1 / |x| - 1 / (mu n), which is nearly linear in z, times |x|^3 (mu n)^2
            u0, u1 = (q1 * x0 - b * x1) * over, (q0 * x1 - b * x0) * over
            slope = (x0 * u0 + x1 * u1) * bound * bound + (g01 * u0 + g02 * u1) * each * mu * size * square
            if slope != 0.0:
                ahead = z + error * square * bound / slope
                ended = abs(ahead - z) <= CONE_CLOSE * z  # the step after this one would be below rounding
        if not low < ahead < high:
            ahead, ended = 4.0 * z + a + d if high == np.inf else 0.5 * (low + high), False
        z = ahead
    normal = max(normal, 0.0)
    if size > 0.0:
        return normal, x0 * (mu * normal / size), x1 * (mu * normal / size)
    return normal, 0.0, 0.0


@compiled
def coulomb(
    g: float,
    g01: float,
    g02: float,
    g11: float,
    g12: float,
    g22: float,
    c0: float,
    c1: float,
    c2: float,
    target: float,
    sticking: float,
    sliding: float,
    before1: float,
    before2: float,
) -> tuple[float, float, float]:
    """Impulse p (3,) of a contact whose velocity is c + G p, G = [[g, g01, g02], [., g11, g12], [., ., g22]].

    before: friction (2,) near which one that slides is looked for.
    """
    base, whole = target - c0, g + g11 + g22
    if base <= 1e-200 or g <= IMMOBILE * whole:
        return 0.0, 0.0, 0.0
    if sticking <= 1e-200:
        return base / g, 0.0, 0.0
    a, b, d = g11 - g01 * g01 / g, g12 - g01 * g02 / g, g22 - g02 * g02 / g
    if a * d - b * b <= IMMOBILE * whole * whole:  # a mechanism that cannot slip in some direction
        a, d = a + IMMOBILE_RIDGE * whole, d + IMMOBILE_RIDGE * whole
    r0, r1 = c1 + g01 * base / g, c2 + g02 * base / g
    x0, x1 = solved_pair(a, b, d, r0, r1)
    normal = (base - g01 * x0 - g02 * x1) / g
    if x0 * x0 + x1 * x1 <= sticking * sticking * normal * normal and normal >= 0.0:
        return normal, x0, x1
    return _slide(g, g01, g02, a, b, d, sliding, base, r0, r1, before1, before2)
