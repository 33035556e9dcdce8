"""Keys of contacts, by which their impulses are found again, after bodies or scenery came or went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bridge.bodies.mirrored_scene import Changed, MirroredScene
from bridge.collision.contact_points import BITS
from bridge.planes.plane_contacts import plane_key, plane_numbers
from scene import shapes

NEVER = -(1 << 62)  # a key that no contact has


class KeyNumbers(NamedTuple):
    """What keys count: Bullet's ids by rank, the first shape of each body on planes (see ``PlaneContacts``), planes."""

    ids: Sequence[int]
    firsts: Mapping[str, int]
    planes: Sequence[shapes.Shape]

    @classmethod
    def of(cls, scene: MirroredScene) -> KeyNumbers:
        """Those of a scene at present."""
        return cls(scene.bodies.ranked, scene.planes.firsts, scene.planes.planes)


def renumbered(keys: np.ndarray, before: KeyNumbers, after: KeyNumbers, changed: Changed) -> np.ndarray:
    """Keys (n,) as those of a mirror that was made after the change; NEVER where something went."""
    result, low = np.full(len(keys), NEVER), (1 << BITS) - 1
    pairs = keys >= 0
    now = _ranks(before, after, changed)
    first, second = (_beyond(now, r, len(after.ids)) for r in (keys[pairs] >> BITS, keys[pairs] & low))
    result[pairs] = np.where((first < 0) | (second < 0), NEVER, (first << BITS) + second)
    shape, feature, plane = plane_numbers(keys[~pairs])
    shape, plane = _shapes(before, after, changed)[shape], _planes(before, after)[plane]
    result[~pairs] = np.where((shape < 0) | (plane < 0), NEVER, plane_key(shape, feature, plane))
    return result


def _beyond(now: np.ndarray, ranks: np.ndarray, count: int) -> np.ndarray:
    """Ranks now; those behind the mirror's bodies stay behind them."""
    return np.where(ranks < len(now), now[np.minimum(ranks, len(now) - 1)], ranks - len(now) + count)


def _ranks(before: KeyNumbers, after: KeyNumbers, changed: Changed) -> np.ndarray:
    now = {body: rank for rank, body in enumerate(after.ids)}
    return np.array([-1 if body in changed.ids else now[body] for body in before.ids] or [-1], dtype=np.int64)


def _shapes(before: KeyNumbers, after: KeyNumbers, changed: Changed) -> np.ndarray:
    """The number now of each shape that may lie on planes."""
    stay = after.firsts.keys() - changed.names
    names, firsts = list(before.firsts), np.array(list(before.firsts.values()))
    to = np.array([after.firsts[name] if name in stay else -1 for name in names[:-1]], dtype=np.int64)
    counts = np.diff(firsts)
    within = np.arange(firsts[-1]) - np.repeat(firsts[:-1], counts)
    first = np.repeat(to, counts)
    return np.append(np.where(first < 0, -1, first + within), -1)


def _planes(before: KeyNumbers, after: KeyNumbers) -> np.ndarray:
    now = {id(plane): k for k, plane in enumerate(after.planes)}
    return np.array([*(now.get(id(plane), -1) for plane in before.planes), -1], dtype=np.int64)
