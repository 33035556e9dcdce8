"""A scene in a Bullet connection: its bodies, its scenery, and who may touch whom."""

from __future__ import annotations

import pybullet

from bridge.bodies.apart import apart, neighbours, ordered, still
from bridge.bodies.colliders import colliders, placed
from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.bodies.visuals import PALETTE, Visual, visuals
from bridge.connection import Connection
from bridge.meshes.files import MeshFiles
from bridge.planes.plane_contacts import PlaneContacts
from recursive_dyn.errors import ModelError
from recursive_dyn.simulation import moving
from recursive_dyn.spatial.algebra import pose
from scene import Body, Scene, shapes


class MirroredScene:
    """Bullet's bodies for a scene; whoever holds it puts them where they are.

    names: of the bodies, in the order of what moves them; still: of those that nothing moves; scenery: the world's
    shapes and the ground; planes: contacts with the planes among them. It knows nothing of what moves, so that
    surroundings that a simulation holds keep no simulation alive. Raises ModelError for shapes that Bullet cannot take.
    """

    def __init__(self, scene: Scene, dynamics: moving.Bodies, connection: Connection, ground: bool | float) -> None:
        self.names = _names(scene, dynamics)
        self.still = still(dynamics)
        self._scene, self._neighbours = scene, tuple(neighbours(scene, dynamics))
        self._made: dict[str, tuple[Body, tuple[shapes.Shape, ...]]] = {}  # what each body was made of
        self.connection = connection
        self.scenery = _scenery(scene, ground)
        self.files = MeshFiles()
        # Nobody looks into a connection of our own without a window, and pictures have their own meshes.
        self.shown = connection.window or not connection.owned
        self.bodies = MirroredBodies(connection, self.files, self.shown)
        self.planes = PlaneContacts(self.scenery, scene.pairs)
        self.pairs = scene.pairs
        with connection.guard(hold=False), connection.paused():
            self._create()
            if connection.owned:
                pybullet.setGravity(*scene.gravity.tolist(), physicsClientId=connection.id)

    def pair_again(self, a: str, b: str) -> None:
        """The scene now says something else of two bodies, or of one and all scenery."""
        if ordered(a, b) in apart(self._scene, self._neighbours):
            self.bodies.ignore(a, b)
            return
        self.bodies.restore(a, b)
        for name in (a, b):
            if name in self.planes.on:
                self.bodies.leave_planes(name)

    def looks(self, index: int) -> list[Visual]:
        """What is drawn of a body, by its number, in its frame."""
        color = PALETTE[index % len(PALETTE)]
        own = self._scene[self.names[index]].shapes
        return [visual for shape in own for visual in visuals(shape, color, self.files)]

    def update(self, dynamics: moving.Bodies) -> None:
        """Bodies of the scene came or went, or got other shapes; the scenery stays."""
        before, names = self.names, _names(self._scene, dynamics)
        new = [name for name in names if self._made.get(name) != self._content(name)]
        gone = sorted(self._made.keys() - set(names))
        replaced = [name for name in new if name in self._made]
        kept = {name: k for k, name in enumerate(names)}
        for name in (*gone, *replaced):
            self.bodies.remove(name)
            del self._made[name]
        numbers = {k: kept[name] for k, name in enumerate(before) if name in self._made}
        self.planes.renumber(numbers, self._made)
        self.names, self._neighbours = names, tuple(neighbours(self._scene, dynamics))
        self.still = still(dynamics)
        for name in new:
            self._add(kept[name], name)
        self.bodies.arrange(names)
        for name in new:
            if name in self.planes.on:
                self.bodies.leave_planes(name)
        for pair in apart(self._scene, self._neighbours):
            if pair[0] in new or pair[1] in new:
                self.bodies.ignore(*pair)

    def _content(self, name: str) -> tuple[Body, tuple[shapes.Shape, ...]]:
        body = self._scene[name]
        return body, tuple(body.shapes)

    def _add(self, number: int, name: str) -> None:
        """Make a body of the scene."""
        own = self._scene[name].shapes
        seen = self.looks(number) if self.shown else []
        try:
            solid = [(part, s.material) for s in own for part in placed([s], self.files)]
        except ModelError as problem:
            raise ModelError(f"body '{name}': {problem}") from None
        self.bodies.add(name, solid, seen)
        if len(self.planes):
            self.planes.add(number, name, own)
        self._made[name] = self._content(name)

    def _create(self) -> None:
        for k, name in enumerate(self.names):
            self._add(k, name)
        for shape in self.scenery:
            for part in colliders(shape, self.files) if shape.collision else ():
                plane = isinstance(shape, shapes.Plane)
                self.bodies.add_scenery(part, shape.at @ part.at, shape.material, plane)
        for name in self.planes.on:
            self.bodies.leave_planes(name)
        for pair in apart(self._scene, self._neighbours):
            self.bodies.ignore(*pair)


def _names(scene: Scene, dynamics: moving.Bodies) -> tuple[str, ...]:
    names = tuple(dynamics.bodies)
    if sorted(names) != sorted(body.name for body in scene.bodies):
        raise ModelError("the scene's bodies are not those of the simulation; compile the scene again")
    return names


def _scenery(scene: Scene, ground: bool | float) -> list[shapes.Shape]:
    result = list(scene.world.shapes)
    if ground is True and any(isinstance(shape, shapes.Plane) for shape in result):
        return result
    if ground is not False:
        height = 0.0 if ground is True else float(ground)
        result.append(shapes.Plane(at=pose(xyz=(0.0, 0.0, height))))
    return result
