"""Parts of a step of the variational rule: three where mass points turn by much of their speed within it.

A rule whose points move along chords keeps H + h^2 / 24 sum of m |x'' - g|^2, so that it misses energy while links whip
round. A middle part in which the velocities of points change by ``BENT`` of their speed, or by ``SLOW`` times what
gravity gives if that is more, and both rests alike, have s^3 + (1 - s)^3 / 4 of that for a middle's share s. What the
whole step would turn them by says s at both its ends alike: a motion that is turned round goes in the same parts. s is
continuous in that, so that what h^2 / 24 gives and takes while it changes comes back when the whip is over, but for
what differs from one step to the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BENT = 0.1  # of their speed, by which points may turn within a step
SLOW = 2.0  # times what gravity gives within it, by which they may besides
QUICK = BENT / 2.0  # rad or m, by which a coordinate has to move within a step that is looked at
LONGEST, SHORTEST = 0.98, 1.0 / 3.0  # share of a middle part: a step of which it would be more is whole


def middle_share(ends: Sequence[np.ndarray], middle: np.ndarray, h: np.ndarray) -> np.ndarray:
    """s (...,) of steps of lengths h (...,) at whose two ends there are these ``point_velocities`` (..., n), along a
    velocity of the middle (..., nv); 1 of whole ones."""
    before, after = ends
    turned = np.square(after - before)[..., :-1].sum(axis=-1)
    speeds = np.square((after + before)[..., :-1] / 2.0).sum(axis=-1)
    allowed = BENT**2 * speeds + SLOW**2 * after[..., -1] * h**2
    bent = np.sqrt(np.divide(turned, allowed, out=np.ones_like(turned * h), where=turned > allowed))
    quick = (np.abs(middle) > QUICK / h[..., None]).any(axis=-1)
    share = np.maximum(1.0 / bent, SHORTEST)
    return np.where(quick & (share < LONGEST), share, 1.0)


def lengths(share: float, h: float) -> list[float]:
    """Those of the parts of a step h; a whole one is the only one."""
    rest = (1.0 - share) / 2.0 * h
    return [rest, h - 2.0 * rest, rest] if share < 1.0 else [h]
