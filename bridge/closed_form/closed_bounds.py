"""Boxes about all that closed forms tell of as touching, and planes: what is nowhere near need not be looked at."""

from __future__ import annotations

import numpy as np

from bridge.closed_form.closed_scene import ClosedScene
from bridge.closed_form.near_pairs import APART
from bridge.closed_form.solids import place_solids, room_of
from bridge.planes.half_spaces import MARGIN
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.simulation.bounds import Bounds, apart_keys

_ROUNDING = 1.01  # times the gap up to which contacts are told


def bounds_of(scene: ClosedScene) -> Bounds:
    """Those of a scene."""
    nb, solids, planes = len(scene.names), scene.solids, scene.planes.table().planes
    room = room_of(solids)
    place_solids(solids, np.tile(np.eye(4), (nb, 1, 1)), 0.0, room)
    moving = solids.bodies != STATIC
    low, high = np.full((nb, 3), np.inf), np.full((nb, 3), -np.inf)
    np.minimum.at(low, solids.bodies[moving], room.low[moving])
    np.maximum.at(high, solids.bodies[moving], room.high[moving])
    bare = np.isinf(scene.reach[:, 0])
    low[bare] = high[bare] = 0.0
    gaps = np.where(bare, -1.0, _ROUNDING * MARGIN)
    walls = _boxes(room.low[~moving], room.high[~moving])
    keys = scene.rules.keys[scene.rules.rows == APART]
    sides = np.stack([keys // scene.rules.most, keys % scene.rules.most], axis=1) - 1
    return Bounds(
        _boxes(low, high), gaps, scene.reach[:, 1].copy(), walls, np.hstack([planes.origins, planes.normals]),
        apart_keys(np.where(sides < 0, nb, sides), nb), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


def _boxes(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.hstack([0.5 * (low + high), 0.5 * (high - low)])
