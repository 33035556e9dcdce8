"""The Bullet bodies of a scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product, zip_longest

import pybullet

from bridge.contacts import WORLD
from bridge.meshes import MeshFiles
from bridge.quaternion import Array
from bridge.shapes import COMPOUND, Collider, collision_shape, create_body
from bridge.visuals import Visual, unseen, visual_shape

MIRRORS = 4  # collision group: in Bullet's own for static bodies, where mass 0 belongs, they would never meet


class Bodies:
    """Bullet's ids of each body of the scene, ``of``, and what each of our ids stands for, ``names``.

    ``shown`` says whether anyone looks at the connection, so that visual shapes are worth making.
    """

    def __init__(self, client: int, files: MeshFiles, shown: bool) -> None:
        self._client, self._files, self._shown = client, files, shown
        self.of: dict[str, tuple[int, ...]] = {}
        self.names: dict[int, str] = {}

    def add(self, name: str, parts: Sequence[Collider], seen: Sequence[Visual]) -> None:
        """Mirror a body of the scene, by one Bullet body or, where Bullet's limits ask for it, several."""
        ids = []
        shapes = zip_longest(_chunks(parts), _by_color(seen) if self._shown else (), fillvalue=())
        for solid, look in list(shapes) or [((), ())]:
            body = self._create(name, solid, look)
            ids.append(body)
            if solid:
                pybullet.setCollisionFilterGroupMask(body, -1, MIRRORS, -1, physicsClientId=self._client)
                if any(part.kind in (pybullet.GEOM_MESH, pybullet.GEOM_CYLINDER) for part in solid):
                    # Hulls would touch a millimetre early, cylinders have rims rounded by as much.
                    pybullet.changeDynamics(body, -1, collisionMargin=0.0, physicsClientId=self._client)
        for a, b in combinations(ids, 2):
            self._separate(a, b)
        self.of[name] = tuple(ids)

    def ignore(self, a: str, b: str) -> None:
        """Report no contacts between two bodies of the scene."""
        for pair in product(self.of[a], self.of[b]):
            self._separate(*pair)

    def add_scenery(self, part: Collider, at: Array) -> None:
        """Put something static into the world; a mesh keeps its hollows."""
        self._create(WORLD, [part], (), at, concave=True)

    def draw(self, visual: Visual) -> None:
        """Show something in the world, if anyone looks."""
        if self._shown:
            self._create(WORLD, (), [visual])

    def _create(
        self,
        name: str,
        solid: Sequence[Collider],
        look: Sequence[Visual],
        at: Array | None = None,
        concave: bool = False,
    ) -> int:
        if self._shown and not look:
            look = [unseen(self._files)]  # Bullet would draw the collision shape instead
        shape = collision_shape(solid, self._client, concave)
        body = create_body(shape, visual_shape(look, self._client), self._client, at)
        self.names[body] = name
        return body

    def _separate(self, a: int, b: int) -> None:
        pybullet.setCollisionFilterPair(a, b, -1, -1, 0, physicsClientId=self._client)


def _chunks(parts: Sequence[Collider]) -> Iterator[Sequence[Collider]]:
    return (parts[k : k + COMPOUND] for k in range(0, len(parts), COMPOUND))


def _by_color(seen: Sequence[Visual]) -> Iterator[Sequence[Visual]]:
    """Groups of one colour: Bullet's window paints a body in its first one."""
    for color in dict.fromkeys(visual.color for visual in seen):
        group = [visual for visual in seen if visual.color == color]
        yield from (group[k : k + COMPOUND] for k in range(0, len(group), COMPOUND))
