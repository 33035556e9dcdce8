"""Who there is in a Bullet connection: the scene's mirrors and scenery, and bodies that Bullet has from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import pybullet

from bridge.bodies.mirrored_scene import MirroredScene
from bridge.bodies.true_shapes import TrueShapesTable
from bridge.collision.bullet_bounds import bounds_of
from bridge.collision.bullet_calls import Census, nobody
from bridge.collision.contact_points import Known
from bridge.collision.free_bodies import Crowd, FreeBody, articulated
from bridge.collision.looking import Haste
from bridge.collision.raw_points import BITS
from bridge.collision.sweeping import Sweep, most_parts, who_is_fast
from bridge.curved.moving_boxes import HALF
from bridge.outsiders import WORLD
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.bounds import UNKNOWN, Bounds
from recursive_dyn.simulation.present import Present

_AROUND = 0.05  # m besides a step's motion within which a free body of Bullet's takes part


class Population:
    """``free``: single bodies of Bullet's own with mass; ``lively``: whether Bullet has anything to move at all.

    ``shared``: whether it has anything of its own; ``census`` of all; ``known``: what each id is to a solve;
    ``true_shapes``: what ids stand for; ``reach`` (nb, 3) and ``boxes`` (nb, 6) of the scene's bodies, ``walls`` of
    scenery. All are those of the last ``count``.
    """

    def __init__(self, scene: MirroredScene, ids: Callable[[], list[int]]) -> None:
        """ids: tells who there is, in Bullet's order."""
        self._ids, self._connection, self._client = ids, scene.connection, scene.connection.id
        self._scene, self._bodies = scene, scene.bodies
        self._names: Sequence[str] = scene.names
        self._numbers = np.zeros(0, dtype=np.int64)
        self._ignored: np.ndarray | None = None
        self._bounds = UNKNOWN
        self._nobody = np.zeros(0, dtype=np.int64)
        none, counts = np.zeros(0, dtype=bool), (_integers([len(self._names)]), _integers([0]))
        self.known = Known(self._numbers, self._numbers, np.zeros(0), none, none, none, self._numbers, *counts)
        self.census, self.true_shapes = nobody(), TrueShapesTable()
        self.reach, self.boxes, self.walls = scene.bodies.reach, scene.bodies.boxes, np.zeros((0, 6))
        self.round = scene.bodies.round
        self.free: list[FreeBody] = []
        self.lively = self.shared = False

    def renew(self, names: Sequence[str]) -> None:
        """The scene's bodies have these names now. That ids still are the mirror's is for the next look to see."""
        self._names = names
        self._note(self._ids(), trusting=True)

    def count(self) -> None:
        """Look who is there. Raises StateError where a body of the mirror's was removed."""
        self._note(self._ids(), trusting=False)

    def _note(self, ids: list[int], trusting: bool) -> None:
        client, names = self._client, self._connection.bodies
        now = {*ids} if trusting else {k for k in ids if k not in names or self._connection.is_own(k)}
        lost = sorted(names.keys() - now)
        if lost:
            raise StateError(
                f"Bullet's body {lost[0]} of '{names[lost[0]]}' was removed behind the mirror's back; close this mirror"
                " and create a new PyBulletMirror"
            )
        others = sorted(now - names.keys())
        self.free = [body for body in (FreeBody.of(k, client) for k in others) if body is not None]
        self.lively = bool(self.free) or any(articulated(k, client) for k in others)
        self.shared = bool(others)
        self.census = Census(_integers(ids), _integers(self._connection.marks.values()), self._connection.mark_words)
        self.reach, self.boxes, self.round = self._bodies.reach, self._bodies.boxes, self._bodies.round
        self.forget_pairs()
        self._tell(max(now, default=-1) + 1, others)

    def let_move(self, movable: Sequence[FreeBody], touching: Collection[tuple[int, int]] = ()) -> None:
        """Let these, and no others of the free bodies, take part in what is ``known``; touching: pairs of ids, of which
        free ones take part together."""
        numbers, together = self.known.numbers, self.known.together
        numbers[:] = self._numbers
        for k, body in enumerate(movable):
            numbers[body.id] = len(self._names) + k
        self.known.free[0] = len(movable)
        together[:] = np.arange(len(together))
        for a, b in touching:
            if min(numbers[a], numbers[b]) >= len(self._names) and together[a] != together[b]:
                together[together == together[b]] = together[a]

    def solved(self, contacts: Contacts) -> set[int]:
        """Ids of the free bodies of which contacts are, and of those that take part together with them."""
        numbers, together, first = self.known.numbers, self.known.together, len(self._names)
        moved = np.concatenate((contacts.a, contacts.b))
        labels = together[np.isin(numbers, moved[moved >= first])]
        return {*(np.isin(together, labels) & (numbers >= first)).nonzero()[0].tolist()}

    def hampering(self, crowd: Crowd, solved: Collection[int]) -> list[int]:
        """Ids of the scene's bodies that Bullet would push free bodies away from, none of which were solved for."""
        names = self._connection.bodies
        left = {body.id for body in self.free} - {*solved}
        pairs = [pair for a, b in crowd.touching for pair in ((a, b), (b, a))]
        return [mirror for mirror, body in pairs if body in left and names.get(mirror, WORLD) != WORLD]

    def near(self, poses: np.ndarray, twists: np.ndarray, h: float) -> list[FreeBody]:
        """Free bodies that a step of length h may bring near the scene's, which it leads to poses (nb, 4, 4), or near
        one that it brings there.

        The others are left where they are: moving them to look would make Bullet forget what they touch. All goes by
        where bodies are: Bullet's own boxes are those of when it looked last.
        """
        if not self.free:
            return []
        around = _AROUND + h * min(float(np.abs(twists[:, 3:]).max(initial=0.0)), 1e3)
        boxes = np.array([pybullet.getAABB(body.id, -1, physicsClientId=self._client) for body in self.free])
        ways = h * np.array([pybullet.getBaseVelocity(body.id, self._client)[0] for body in self.free])
        low, high = boxes[:, 0] - around + np.minimum(ways, 0.0), boxes[:, 1] + around + np.maximum(ways, 0.0)
        solid = np.isfinite(self.reach[:, 0])
        X, middles, halves = poses[solid], self.boxes[solid, :3], self.boxes[solid, 3:]
        at = X[:, :3, 3] + np.einsum("nij,nj->ni", X[:, :3, :3], middles)
        half = np.einsum("nij,nj->ni", np.abs(X[:, :3, :3]), halves)
        near = np.asarray(_met(low, high, at - half, at + half).any(axis=1))
        known, meets = 0, _met(low, high, boxes[:, 0], boxes[:, 1])
        while known < (known := int(near.sum())):
            near |= meets[near].any(axis=0)
        return [self.free[k] for k in near.nonzero()[0].tolist()]

    def haste(self, present: Present, h: np.ndarray) -> Haste:
        """What says who is too fast for a step of length h (1,) whose flight ends at present."""
        return Haste(self.census, present.twists, present.start_twists, self.reach, h)

    def sweep(self, present: Present, h: np.ndarray) -> Sweep:
        """What says into how many parts it is cut."""
        haste = self.haste(present, h)
        return Sweep(haste, present.poses, self.boxes, self.round, self.walls, self.known.numbers, self.ignored())

    def parts(self, sweep: Sweep) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        count, h = len(sweep.poses), float(sweep.haste.h[0])
        fast, around = np.zeros(count, dtype=np.int64), np.zeros((count, 6))
        some = who_is_fast(sweep, fast, around)
        pairs = [(int(fast[i]), body) for i in range(some) for body in self._within(around[i, :3], around[i, 3:])]
        parts = most_parts(sweep, np.array(pairs, dtype=np.int64).reshape(-1, 2)) if pairs else 1
        speeds = [np.linalg.norm(pybullet.getBaseVelocity(b.id, physicsClientId=self._client)[0]) for b in self.free]
        shares = {b.id: h * float(v) / (HALF * b.radius) for b, v in zip(self.free, speeds, strict=True)}
        if max(shares.values(), default=0.0) > 1.0:  # what nothing of the scene's is near is Bullet's alone
            for body in self.near(sweep.poses, sweep.haste.twists, h):
                parts = max(parts, int(np.ceil(shares[body.id])))
        return parts

    def ignored(self) -> np.ndarray:
        """Numbers of the scene's bodies, and Bullet's ids of those that each never touches, as keys in order."""
        if self._ignored is None:
            parted = {name: others for name, others in self._bodies.parted.items() if others}
            number = {name: k for k, name in enumerate(self._names)} if parted else {}
            keys = [(k << BITS) + other for name, k in number.items() for other in parted.get(name, ())]
            self._ignored = np.sort(_integers(keys))
        return self._ignored

    def bounds(self) -> Bounds:
        """Boxes about all there is of the mirror's, if nothing else moves."""
        if self._bounds is UNKNOWN and not self.lively:
            self._bounds = bounds_of(self._scene, self.ignored(), self.known.numbers, self.shared)
        return self._bounds

    def parted(self) -> np.ndarray:
        """``ignored``, as far as anyone seeks its neighbours without Bullet."""
        return self.ignored() if len(self.true_shapes.table.seekers.order) else self._nobody

    def forget_pairs(self) -> None:
        """Others may touch each other from now on."""
        self._ignored, self._bounds = None, UNKNOWN

    def _tell(self, size: int, others: Sequence[int]) -> None:
        """Tables of what each id below ``size`` is."""
        bodies, own = self._bodies, self._bodies.ranked
        self._numbers, self.walls = np.full(size, STATIC), bodies.walls(size)
        self.walls[[k for k in others if self._is_bare(k)]] = -1.0
        ranks, skins = np.zeros(size, dtype=np.int64), np.zeros(size)
        foreign, boxy, gathering = np.zeros((3, size), dtype=bool)
        foreign[others], ranks[own], ranks[others] = True, np.arange(len(own)), len(own) + np.arange(len(others))
        self._numbers[bodies.ids], skins[bodies.ids], boxy[bodies.ids] = bodies.owners, bodies.skins, bodies.boxy
        for body, skin in bodies.static_skins.items():
            skins[body] = skin
        boxy[_integers(bodies.static_boxes)] = True
        self.true_shapes.tell(bodies.groups, self._numbers)
        counts = _integers([len(self._names)]), _integers([0])
        self.known = Known(self._numbers.copy(), ranks, skins, foreign, boxy, gathering, np.arange(size), *counts)

    def _is_bare(self, body: int) -> bool:
        """Whether one of Bullet's own has no shapes: its box is a point then."""
        low, high = pybullet.getAABB(body, -1, physicsClientId=self._client)
        return low == high and pybullet.getNumJoints(body, physicsClientId=self._client) == 0

    def _within(self, low: np.ndarray, high: np.ndarray) -> set[int]:
        found = pybullet.getOverlappingObjects(low.tolist(), high.tolist(), physicsClientId=self._client) or ()
        return {body for body, _ in found}


def _integers(values: Collection[int]) -> np.ndarray:
    return np.fromiter(values, np.int64, len(values))


def _met(low: np.ndarray, high: np.ndarray, lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """Which boxes from low to high (n, 3) meet which from lows to highs (m, 3): (n, m)."""
    return np.asarray(((low[:, None] <= highs) & (high[:, None] >= lows)).all(axis=2))
