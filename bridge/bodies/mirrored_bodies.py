"""The Bullet bodies of a scene: without mass, moved by nothing but the mirror."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import accumulate, combinations, product, zip_longest

import numpy as np
import pybullet

from bridge.bodies.bullet_groups import OTHERS, STATICS, regroup, seekers
from bridge.bodies.bullet_shapes import by_color, collision_shape, content, create_body, visual_shape
from bridge.bodies.colliders import Collider, roundness
from bridge.bodies.skins import PLAIN, alike, chunks, grown, is_boxy, skin_of, stood_for
from bridge.bodies.true_shapes import Group, filter_of, is_curved
from bridge.bodies.visuals import Visual, unseen
from bridge.connection import Connection
from bridge.meshes.files import MeshFiles
from bridge.outsiders import WORLD
from bridge.planes.row_table import RowKind, RowTable, packed
from recursive_dyn.contact.material import Material
from scene.shapes import Shape

_ROWS = RowKind(np.int64), RowKind(float), RowKind(bool), RowKind(np.int64, (2,)), RowKind(float, (12,))


class MirroredBodies:
    """Bullet's ids of each body of the scene, ``of``; each id's ``materials``. ``bare``: ids of bodies with nothing to
    meet or see; ``sizes``: half the diagonals of boxes about what can be met, by id, m. version counts
    up when bodies were added. ``parted``: by body, ids of those that it never touches; ``on_planes``: by name, whether
    Bullet reports contacts with planes, of bodies of which it ever did; ``groups``: what ids stand for, where that is
    known; ``static_skins``, ``static_boxes``: of scenery, by id, by how much it is larger than its shapes, and ids of
    boxes; ``planes``: ids of what stands for planes.

    ``shown`` says whether anyone looks at the connection, so that visual shapes are worth making. As ``arrange`` left
    them: ids (m,), all of ``of``, owners (m,), the number of the body of each, skins (m,), by how much it is larger
    than its shapes, m, boxy (m,), whether it is nothing but boxes, filters (m, 2), its collision group and mask but for
    ``on_planes``; reach (nb, 3), m: of every body its inner radius, how far its surface moves by a turn of 1 rad, how
    far it extends; boxes (nb, 6), m: middle and half extents of what is about its shapes, in its frame, and round
    (nb, 3) of these, as ``roundness`` has it.
    """

    def __init__(self, connection: Connection, files: MeshFiles, shown: bool) -> None:
        self._connection, self._client, self._group = connection, connection.id, connection.group
        self._files, self._shown = files, shown
        self.of: dict[str, tuple[int, ...]] = {}
        self.materials: dict[int, Material] = {}
        self.static_skins: dict[int, float] = {}
        self.bare: set[int] = set()
        self.static_boxes: set[int] = set()
        self.sizes, self.version = dict[int, float](), 0
        self._rows = RowTable(_ROWS)  # ids with skins and whether they are boxes, reach, boxes, round
        self._groups: dict[str, list[Group]] = {}
        self.groups: dict[Group, None] = {}
        self._static_groups: dict[int, Group] = {}  # by the first of their ids
        self._walls: dict[int, np.ndarray] = {}  # boxes of scenery, axes of the world
        self.parted: dict[str, set[int]] = {}
        self._standing: list[int] = []  # scenery, in its order
        self.planes: list[int] = []  # of it, what stands for planes
        self.on_planes: dict[str, bool] = {}
        self.woken = 0  # how often one was taken anew that may have slept
        self._drawn: list[int] = []
        self._shapes: dict[Hashable, int] = {}  # Bullet's collision shapes by what they are
        self.arrange(())

    @property
    def ranked(self) -> np.ndarray:
        """All ids in the order in which a new mirror would make them: bodies, scenery, what is only drawn."""
        return np.concatenate((self.ids, np.array([*self._standing, *self._drawn], dtype=np.int64)))

    def ignored(self, name: str) -> set[int]:
        """Bullet's ids of the bodies that this one never touches."""
        return self.parted.get(name, set())

    def add(self, name: str, parts: Sequence[tuple[Collider, Material | None]], seen: Sequence[Visual]) -> None:
        """Mirror a body of the scene, by one Bullet body or, where limits or materials ask for it, several."""
        ids, skins, boxy, filters = list[int](), list[float](), list[bool](), list[tuple[int, int]]()
        groups = [list(chunks(*group)) for group in alike(parts)]
        stood = [stood_for(part for chunk, _ in group for part in chunk) for group in groups]
        solids = [(*chunk, own) for group, own in zip(groups, stood, strict=True) for chunk in group]
        looks = list(by_color(seen)) if self._shown else []
        for chunk, look in list(zip_longest(solids, looks)) or [(None, None)]:
            solid, material, own = chunk or ((), PLAIN, ())
            skin = min((skin_of(part) for part in solid), default=0.0)
            body = self._create(name, [grown(part, skin) for part in solid], look or ())
            self.materials[body] = material
            ids.append(body)
            skins.append(skin)
            boxy.append(is_boxy(solid))
            filters.append(filter_of(own, self._group))
            if solid:
                regroup(body, *filters[-1], self._client)
            elif not look:
                self.bare.add(body)
        for a, b in combinations(ids, 2):
            self._separate(a, b)
        self.of[name] = tuple(ids)
        ends = [*accumulate(map(len, groups), initial=0)]
        self._groups[name] = [
            Group(tuple(ids[first:last]), name, own)
            for own, first, last in zip(stood, ends[:-1], ends[1:], strict=True)
        ]
        self.groups |= {group: None for group in self._groups[name] if group.shapes}
        self.version += 1
        extent = np.array([self._extent(ids, [part for part, _ in parts])])
        self._rows.add(name, packed((np.array(ids), np.array(skins), np.array(boxy), np.array(filters), extent), _ROWS))

    def remove(self, name: str) -> None:
        """A body of the scene went. Bullet gives its ids to others, who shall meet whom they may meet."""
        ids, parted = self.of.pop(name), self.parted.pop(name, set()) - set(self.planes)
        self.on_planes.pop(name, None)
        for body in ids:
            for other in parted | set(ids) - {body}:
                pybullet.setCollisionFilterPair(body, other, -1, -1, 1, physicsClientId=self._client)
            self._connection.remove(body)
            self.bare.discard(body)
            self.sizes.pop(body, None)
            del self.materials[body]
        for others in self.parted.values():
            others.difference_update(ids)
        for group in self._groups.pop(name):
            self.groups.pop(group, None)
        self._rows.remove(name)
        self.version += 1

    def arrange(self, names: Sequence[str]) -> None:
        """Bodies are numbered in this order now."""
        if [*self.of] != [*names]:
            own = {name: self.of[name] for name in names}
            self.of.clear()
            self.of.update(own)
        self._rows.arrange(names)
        self.ids, self.skins, self.boxy, self.filters, extents = self._rows.arrays
        self.owners = np.arange(len(self.of)).repeat(self._rows.counts[:, 0])
        self.reach, self.boxes, self.round = extents[:, :3].copy(), extents[:, 3:9].copy(), extents[:, 9:].copy()
        self.version += 1

    def ignore(self, a: str, b: str) -> None:
        """Report no contacts between two bodies of the scene, or between one and all scenery."""
        self._let_meet(a, b, False)
        for one, other in ((a, b), (b, a)):
            self.parted.setdefault(one, set()).update(self._ids(other))

    def restore(self, a: str, b: str) -> None:
        """Report contacts between two bodies of the scene again."""
        self._let_meet(a, b, True)
        for one, other in ((a, b), (b, a)):
            self.parted.setdefault(one, set()).difference_update(self._ids(other))

    def meet_planes(self, name: str) -> None:
        """Let Bullet report contacts of a body with what stands for planes, as it does of no other."""
        self.on_planes[name] = True
        self._regroup(name)

    def _let_meet(self, a: str, b: str, meet: bool) -> None:
        for one, other in product(self._ids(a), self._ids(b)):
            if one not in self.planes and other not in self.planes:
                pybullet.setCollisionFilterPair(one, other, -1, -1, meet, physicsClientId=self._client)
        for name in self.on_planes.keys() & {a, b} if WORLD in (a, b) else ():
            self.on_planes[name] = meet
            self._regroup(name)

    def _regroup(self, name: str) -> None:
        """Let Bullet take a body anew, in its group and with its mask, as one that does not sleep."""
        for body, (group, mask) in zip(self.of[name], self._rows.of(name)[3].tolist(), strict=True):
            regroup(body, group, mask | STATICS if self.on_planes[name] else mask, self._client)
        self.version += 1
        self.woken += 1

    def _ids(self, name: str) -> tuple[int, ...]:
        if name in self.of:
            return self.of[name]
        return tuple(body for body, known in self._connection.bodies.items() if known == name)

    def add_scenery(self, part: Collider, at: np.ndarray, material: Material | None, plane: bool = False) -> int:
        """Put something static into the world; its id. A mesh keeps its hollows. ``plane``: it stands for a Plane."""
        skin = skin_of(part) if is_curved(part.shape) else 0.0
        body = self._create(WORLD, [grown(part, skin)], (), at, concave=True)
        self.materials[body], self.static_skins[body] = material or PLAIN, skin
        if is_boxy([part]):
            self.static_boxes.add(body)
        self._standing.append(body)
        self._walls[body] = np.array(self._box([body]))
        if plane:
            self.planes.append(body)
            regroup(body, STATICS, OTHERS & ~self._group & ~seekers(self._group), self._client)
        return body

    def stand_for(self, ids: Sequence[int], shape: Shape) -> None:
        """Something static is this, its ``at`` in the world."""
        if ids:
            self._static_groups[ids[0]] = group = Group(tuple(ids), "", (shape,))
            self.groups[group] = None
            if group.is_sought:
                for body in ids:
                    regroup(body, STATICS, OTHERS & ~seekers(self._group), self._client)

    def remove_scenery(self, body: int) -> None:
        """Something static went."""
        for name, ids in self.of.items():
            if body not in self.planes and body in self.ignored(name):
                for own in ids:
                    pybullet.setCollisionFilterPair(own, body, -1, -1, 1, physicsClientId=self._client)
        for others in self.parted.values():
            others.discard(body)
        for listed in (self._standing, self.planes):
            if body in listed:
                listed.remove(body)
        del self._walls[body]
        if group := self._static_groups.pop(body, None):
            del self.groups[group]
        self._leave(body)

    def walls(self, size: int) -> np.ndarray:
        """Boxes (size, 6) about scenery by Bullet's id, as ``boxes`` in axes of the world; of less than no size for
        what is only drawn, NaN for all else."""
        result = np.full((size, 6), np.nan)
        result[[k for k in self._drawn if k < size]] = -1.0
        for body, box in self._walls.items():
            result[body] = box
        return result

    def arrange_scenery(self, standing: Sequence[int]) -> None:
        """What is static comes in this order now."""
        self._standing = list(standing)

    def draw(self, visual: Visual) -> None:
        """Show something in the world, if anyone looks."""
        if self._shown:
            body = self._create(WORLD, (), [visual])
            self.materials[body] = PLAIN
            self._drawn.append(body)

    def undraw(self) -> None:
        """Show nothing in the world any more."""
        for body in self._drawn:
            self._leave(body)
        self._drawn.clear()

    def _leave(self, body: int) -> None:
        self._connection.remove(body)
        self.static_boxes.discard(body)
        self.sizes.pop(body, None)
        del self.materials[body]
        self.static_skins.pop(body, None)

    def _create(
        self,
        name: str,
        solid: Sequence[Collider],
        look: Sequence[Visual],
        at: np.ndarray | None = None,
        concave: bool = False,
    ) -> int:
        if self._shown and not look:
            look = [unseen(self._files)]  # Bullet would draw the collision shape instead
        visual = visual_shape(look, self._client) if self._shown else self._speck
        body = create_body(self._shape(solid, concave), visual, self._client, at)
        self._connection.add(body, name)
        if solid:
            low, high = pybullet.getAABB(body, -1, physicsClientId=self._client)
            self.sizes[body] = 0.5 * math.dist(high, low)
        return body

    def _shape(self, solid: Sequence[Collider], concave: bool) -> int:
        """Bullet's shape of colliders. It never frees one that a body was made of, so that equal ones are the same."""
        known = content(solid, concave)
        if known is None:
            return collision_shape(solid, self._client, concave)
        if known not in self._shapes:
            self._shapes[known] = collision_shape(solid, self._client, concave)
        return self._shapes[known]

    @cached_property
    def _speck(self) -> int:
        """What Bullet has to draw where nobody looks: a ball's collision shape takes it four times as long."""
        shape: int = pybullet.createVisualShape(pybullet.GEOM_BOX, halfExtents=[1e-6] * 3, physicsClientId=self._client)
        return shape

    def _separate(self, a: int, b: int) -> None:
        pybullet.setCollisionFilterPair(a, b, -1, -1, 0, physicsClientId=self._client)

    def _box(self, ids: Sequence[int]) -> list[float]:
        """Middle (3) and half extents (3) of what is about Bullet's bodies where they were made."""
        corners = [pybullet.getAABB(body, -1, physicsClientId=self._client) for body in ids]
        low = [min(x) for x in zip(*[c[0] for c in corners], strict=True)]
        high = [max(x) for x in zip(*[c[1] for c in corners], strict=True)]
        ends = list(zip(low, high, strict=True))
        return [0.5 * (a + b) for a, b in ends] + [0.5 * (b - a) for a, b in ends]

    def _extent(self, ids: Sequence[int], parts: Sequence[Collider]) -> list[float]:
        if not parts:
            return [math.inf, *[0.0] * 11]
        box = self._box(ids)
        middle, half = box[:3], box[3:]
        size = math.hypot(*[abs(x) + y for x, y in zip(middle, half, strict=True)])
        centred = all(p.kind == pybullet.GEOM_SPHERE and not p.at[:3, 3].any() for p in parts)
        return [min(half), 0.0 if centred else size, size, *box, *roundness(parts)]
