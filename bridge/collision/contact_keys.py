"""Keys of contacts, by which their impulses are found again, after bodies or scenery came or went."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, repeat
from typing import NamedTuple

import numpy as np

from bridge.bodies.mirrored_scene import Changed, MirroredScene
from bridge.collision.raw_points import BITS
from bridge.planes.plane_contacts import plane_key, plane_numbers
from recursive_dyn.model.splice import Splice
from scene import shapes

NEVER = -(1 << 62)  # a key that no contact has


class KeyNumbers(NamedTuple):
    """What keys count: Bullet's ids by rank, the first shape of each body on planes (see ``PlaneContacts``), planes."""

    ids: np.ndarray
    names: Sequence[str]
    firsts: np.ndarray
    planes: Sequence[shapes.Shape]

    @classmethod
    def of(cls, scene: MirroredScene) -> KeyNumbers:
        """Those of a scene at present."""
        return cls(scene.bodies.ranked, *scene.planes.lying, scene.planes.planes)

    def is_followed_by(self, after: KeyNumbers) -> bool:
        """Whether on the same planes others only came behind the bodies there."""
        return self.planes is after.planes and self.names == after.names[: len(self.names)]


def renumbered(keys: np.ndarray, before: KeyNumbers, after: KeyNumbers, changed: Changed) -> np.ndarray:
    """Keys (n,) as those of a mirror that was made after the change; NEVER where something went."""
    result, pairs = np.full(len(keys), NEVER), keys >= 0
    if pairs.any():
        now, own, low = _ranks(before, after, changed), keys[pairs], (1 << BITS) - 1
        first, second = (_beyond(now, ranks, len(after.ids)) for ranks in (own >> BITS, own & low))
        result[pairs] = np.where((first < 0) | (second < 0), NEVER, (first << BITS) + second)
    if not pairs.all() and not changed.names and before.is_followed_by(after):
        result[~pairs] = keys[~pairs]
    elif not pairs.all():
        shape, feature, plane = plane_numbers(keys[~pairs])
        shape, plane = _shapes(before, after, changed)[shape], _planes(before, after)[plane]
        result[~pairs] = np.where((shape < 0) | (plane < 0), NEVER, plane_key(shape, feature, plane))
    return result


def _beyond(now: np.ndarray, ranks: np.ndarray, count: int) -> np.ndarray:
    """Ranks now; those behind the mirror's bodies stay behind them."""
    return np.where(ranks < len(now), now[np.minimum(ranks, len(now) - 1)], ranks - len(now) + count)


def _ranks(before: KeyNumbers, after: KeyNumbers, changed: Changed) -> np.ndarray:
    now = np.full(max(before.ids.max(initial=0), after.ids.max(initial=0)) + 1, -1)
    now[after.ids] = np.arange(len(after.ids))
    ranks = now[before.ids]
    if changed.ids:
        ranks[np.isin(before.ids, [*changed.ids])] = -1
    return ranks if len(ranks) else np.array([-1])


def _shapes(before: KeyNumbers, after: KeyNumbers, changed: Changed) -> np.ndarray:
    """The number now of each shape that may lie on planes."""
    names, firsts, gone = before.names, before.firsts, changed.names
    splice = Splice.between(names, after.names)
    first, end = splice.first, splice.end
    if not (splice.gone and splice.came) and gone.issubset(names[first:end]):
        numbers = np.arange(firsts[-1] + 1)
        numbers[firsts[first] : firsts[end]] = numbers[-1] = -1
        numbers[firsts[end] : -1] += after.firsts[first + splice.came] - firsts[end]
        return numbers
    number = dict(zip(after.names, count()))
    at = np.fromiter(map(number.get, names, repeat(-1)), np.int64, len(names))
    at[[k for k, name in enumerate(names) if name in gone] if not gone.isdisjoint(number) else []] = -1
    shift = np.where(at < 0, NEVER, after.firsts[at] - firsts[:-1])
    return np.append(np.maximum(np.arange(firsts[-1]) + shift.repeat(np.diff(firsts)), -1), -1)


def _planes(before: KeyNumbers, after: KeyNumbers) -> np.ndarray:
    now = {id(plane): k for k, plane in enumerate(after.planes)}
    return np.array([*(now.get(id(plane), -1) for plane in before.planes), -1], dtype=np.int64)
