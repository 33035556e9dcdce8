"""Keys of contacts, by which their impulses are found again, after bodies or scenery came or went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
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
    result, pairs = np.full(len(keys), NEVER), keys >= 0
    if pairs.any():
        now, own, low = _ranks(before, after, changed), keys[pairs], (1 << BITS) - 1
        first, second = (_beyond(now, ranks, len(after.ids)) for ranks in (own >> BITS, own & low))
        result[pairs] = np.where((first < 0) | (second < 0), NEVER, (first << BITS) + second)
    if not pairs.all():
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
    firsts, gone = np.fromiter(before.firsts.values(), np.int64, len(before.firsts)), changed.names
    if not gone and [*after.firsts][: len(firsts) - 1] == [*before.firsts][:-1]:  # others came behind them
        numbers = np.arange(firsts[-1] + 1)
        numbers[-1] = -1
        return numbers
    if gone:
        to = np.array([-1 if name in gone else after.firsts.get(name, -1) for name in before.firsts])[:-1]
    else:
        to = np.fromiter(map(after.firsts.get, before.firsts, repeat(-1)), np.int64, len(firsts))[:-1]
    counts, shift = np.diff(firsts), to - firsts[:-1]
    shift[to < 0] = NEVER
    return np.append(np.maximum(np.arange(firsts[-1]) + shift.repeat(counts), -1), -1)


def _planes(before: KeyNumbers, after: KeyNumbers) -> np.ndarray:
    now = {id(plane): k for k, plane in enumerate(after.planes)}
    return np.array([*(now.get(id(plane), -1) for plane in before.planes), -1], dtype=np.int64)
