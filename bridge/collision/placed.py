"""The scene's bodies in Bullet, put where they are: those that moved, and only those that something can meet or see."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bridge.bodies.bullet_groups import STATICS, regroup
from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.collision.placing import Placement, Placing, groups_of, placing_of

# Bullet drops a point that has drifted by this share of the smaller body's radius (its contactBreakingThreshold); a
# detection replaces it, but not all of several at once. Two bodies may have moved towards each other.
_FORGIVEN = 0.5 * 0.02
_KEPT = 3  # pairs of arrays: a step's, a mirror's, and those of who looks besides


class Placed:
    """Where Bullet's bodies were put: those with shapes, and bare ones, of whose poses only Bullet can tell."""

    def __init__(self, bodies: MirroredBodies) -> None:
        self._bodies, self._version = bodies, -1
        self._woken = 0
        self._solid = self._bare = placing_of((), (), (), (), ())
        self._known: list[tuple[Placement, Placement]] = []  # those asked for last

    def at(self, poses: np.ndarray, twists: np.ndarray) -> tuple[Placement, Placement]:
        """Bodies with shapes, and bare ones, that belong where poses (nb, 4, 4) and twists (nb, 6) say.

        Also when these arrays change. The same object for the same arrays, as long as there are the same bodies.
        """
        bodies = self._bodies
        if self._version != bodies.version:
            bare = np.isin(bodies.ids, [*bodies.bare]) if bodies.bare else None
            self._solid = self._placing(None if bare is None else ~bare, self._solid)
            if bare is not None or len(self._bare.ids):
                self._bare = self._placing(np.zeros(len(bodies.ids), dtype=bool) if bare is None else bare, self._bare)
            self._version, self._known, self._woken = bodies.version, [], bodies.woken
            self.forgive()
        for known in self._known:
            if poses is known[0].poses and twists is known[0].twists:
                return known
        fresh = Placement(self._solid, poses, twists), Placement(self._bare, poses, twists)
        self._known = [fresh, *self._known[: _KEPT - 1]]
        return fresh

    def forget(self) -> None:
        """Bullet's bodies may be anywhere: all are put where they belong next time, and looked at twice."""
        for placing in (self._solid, self._bare):
            placing.poses[:] = np.nan
        self.forget_seen()

    def drop(self, gone: Collection[int]) -> None:
        """These ids were others' so far."""
        for placing in (self._solid, self._bare) if gone else ():
            away = (placing.ids[:, None] == np.array([*gone])).any(axis=1)
            placing.poses[away] = placing.seen[away] = np.nan
            placing.dormant[away] = 0

    def rouse(self, client: int) -> None:
        """Have Bullet meet pairs in the order as if none had ever slept; who sleeps will be noted anew."""
        it = self._solid
        if it.regrouped[0]:
            for body, group, mask in zip(it.ids.tolist(), it.groups.tolist(), it.masks.tolist(), strict=True):
                regroup(body, group, mask, client)
            it.dormant[:] = it.regrouped[:] = 0

    @contextmanager
    def hidden(self, ids: Collection[int], client: int) -> Iterator[None]:
        """Let Bullet have these meet nothing in between; it forgets what they touched."""
        it = self._solid
        rows = np.isin(it.ids, [*ids]).nonzero()[0].tolist() if ids else []
        for k in rows:
            regroup(int(it.ids[k]), 0, 0, client)
        try:
            yield
        finally:
            for k in rows:
                group, mask = groups_of.python(it, k)
                regroup(int(it.ids[k]), int(group), int(mask), client)
                it.regrouped[0] = 1

    def forget_seen(self) -> None:
        """Bullet must look twice next time."""
        self._solid.seen[:] = np.nan

    def forgive(self) -> None:
        """Note how far bodies may move, of those that there are."""
        self._solid.forgiven[0] = _FORGIVEN * min(self._bodies.sizes.values(), default=np.inf)

    def _placing(self, chosen: np.ndarray | None, before: Placing) -> Placing:
        """Bullet's bodies, or the chosen ones, and the scene's numbers of them, where they were put before."""
        bodies = self._bodies
        some = slice(None) if chosen is None else chosen
        ids, own, filters = bodies.ids[some], bodies.owners[some], bodies.filters[some]
        placing = placing_of(ids, own, bodies.reach[own, 2], *filters.T)
        for name, meets in bodies.on_planes.items():
            if meets:
                placing.masks[np.isin(ids, bodies.of[name])] |= STATICS
        known = min(len(ids), len(before.ids))
        if (ids[:known] == before.ids[:known]).all():  # as where somebody came, or the last one went
            stayed: Any = slice(known)
            rows: Any = stayed
        else:
            table = np.full(max(ids.max(initial=-1), before.ids.max(initial=-1)) + 1, -1)
            table[before.ids] = np.arange(len(before.ids))
            rows = table[ids]
            stayed, rows = (rows >= 0).nonzero()[0], rows[rows >= 0]
        for now, then in zip(placing, before, strict=True):
            if now.ndim > 1:
                now[stayed] = then[rows]
        asleep = before.dormant[rows]
        placing.dormant[stayed] = asleep if bodies.woken == self._woken else -asleep
        return placing
