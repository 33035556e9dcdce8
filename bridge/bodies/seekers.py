"""Ellipsoids that move, and what may be near them, as the compiled search for their neighbours reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bridge.curved.distances import CYLINDER, ELLIPSOID, FACETS, HULL, ROUND, TORUS
from bridge.curved.manifold_points import Rows3
from bridge.faceted.facets import Triangulation
from recursive_dyn.codegen.compiled import Integers
from recursive_dyn.contact.contacts import STATIC


class Seekers(NamedTuple):
    """Shapes (n of them) of which some seek their neighbours among all; none where nothing seeks.

    rows, ids (n,): of ``TrueShapes``, and Bullet's; middles, halves (n, 3), m: boxes about them in their own frames,
    of a ROUND one its radius about, then half the length of its core; low, high (n, 3): room for boxes in the world.
    order (k,): those that seek, room for their order; places (n,): of each its number among those, or -1.
    """

    rows: Integers
    ids: Integers
    middles: Rows3
    halves: Rows3
    low: Rows3
    high: Rows3
    order: Integers
    places: Integers


def seekers_among(
    kinds: np.ndarray, sizes: np.ndarray, bodies: np.ndarray, ids: np.ndarray, surfaces: Sequence[Triangulation]
) -> Seekers:
    """Those among shapes of kinds (m,), sizes (m, 3), bodies (m,) and ids (m,); surfaces: of those that are FACETS."""
    seeking = (kinds == ELLIPSOID) & (bodies != STATIC)
    rows = np.flatnonzero((kinds != HULL) & seeking.any())
    kinds, middles, halves = kinds[rows], np.zeros((len(rows), 3)), sizes[rows].copy()
    r, half = halves[:, 0].copy(), halves[:, 1].copy()
    for kind, box in ((CYLINDER, (r, r, half)), (TORUS, (r + half, r + half, half)), (ROUND, (r, half, 0.0 * r))):
        halves[kinds == kind] = np.stack(box, axis=1)[kinds == kind]
    faceted = np.flatnonzero(kinds == FACETS)
    for k, surface in zip(faceted.tolist(), surfaces if len(faceted) else (), strict=True):
        low, high = _box_of(surface)
        middles[k], halves[k] = 0.5 * (low + high), 0.5 * (high - low)
    order, places = np.flatnonzero(seeking[rows]), np.full(len(rows), -1)
    places[order] = np.arange(len(order))
    rooms = np.empty((2, len(rows), 3))
    return Seekers(rows, ids[rows], middles, halves, rooms[0], rooms[1], order, places)


def _box_of(surface: Triangulation) -> tuple[np.ndarray, np.ndarray]:
    """Low and high ends (3,) of a box about it."""
    if surface.heights.size:
        extent = 0.5 * np.asarray(surface.spacing) * (np.array(surface.heights.shape) - 1)
        return np.append(-extent, surface.heights.min()), np.append(extent, surface.heights.max())
    if not len(surface.corners):
        return np.zeros(3), np.zeros(3)
    return surface.corners.min(axis=(0, 1)), surface.corners.max(axis=(0, 1))
