"""A scene in a Bullet connection: its bodies, its scenery, and who may touch whom."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import pybullet

from bridge.bodies.apart import Pair, apart, neighbours, ordered
from bridge.bodies.colliders import Collider, colliders, placed
from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.bodies.visuals import PALETTE, Visual, visuals
from bridge.connection import Connection
from bridge.meshes.files import MeshFiles
from bridge.outsiders import WORLD
from bridge.planes.plane_contacts import PlaneContacts
from recursive_dyn.contact.material import Material
from recursive_dyn.errors import ModelError
from recursive_dyn.model.splice import Splice
from recursive_dyn.simulation import moving
from recursive_dyn.spatial.algebra import pose
from scene import Body, Scene, shapes
from scene.number_checks import numbers

_SHAPES = attrgetter("shapes")


class Changed(NamedTuple):
    """What went, or was replaced: bodies by name, Bullet's ids."""

    names: set[str]
    ids: set[int]


class _Parts(NamedTuple):
    """What a body of the scene is made of in Bullet, and of what shapes."""

    body: Body
    shapes: list[shapes.Shape]
    solid: list[tuple[Collider, Material | None]]
    seen: list[Visual]


class MirroredScene:
    """Bullet's bodies for a scene; whoever holds it puts them where they are.

    names: of the bodies, in the order of what moves them; scenery: the world's shapes and the ground; planes: contacts
    with the planes among them. It knows nothing of what moves, so that surroundings that a simulation holds keep no
    simulation alive. Raises ModelError for shapes that Bullet cannot take.
    """

    def __init__(self, scene: Scene, dynamics: moving.Bodies, connection: Connection, ground: bool | float) -> None:
        self.names: tuple[str, ...] = ()
        self._scene, self._neighbours = scene, dict[Pair, None]()
        self._made: dict[str, Body] = {}
        self._shapes: dict[str, list[shapes.Shape]] = {}  # what each of them was made of
        self._standing: dict[shapes.Shape, list[int]] = {}  # ids of each shape of the scenery
        self._ground = _ground(ground)
        self.connection = connection
        self.scenery: list[shapes.Shape] = []
        self.files = MeshFiles()
        # Nobody looks into a connection of our own without a window, and pictures have their own meshes.
        self.shown = connection.window or not connection.owned
        self.bodies = MirroredBodies(connection, self.files, self.shown)
        self.planes = PlaneContacts((), scene.pairs)
        self.pairs = scene.pairs
        with connection.guard(hold=False), connection.paused():
            self.update(dynamics)

    def pair_again(self, a: str, b: str) -> None:
        """The scene now says something else of two bodies, or of one and all scenery."""
        if ordered(a, b) in apart(self._scene, self._neighbours):
            self.bodies.ignore(a, b)
            return
        self.bodies.restore(a, b)

    def looks(self, index: int) -> list[Visual]:
        """What is drawn of a body, by its number, in its frame."""
        return self._looks(index, self._scene[self.names[index]])

    def update(self, dynamics: moving.Bodies) -> Changed:
        """Follow the scene: bodies and scenery that came or went, other shapes, gravity. Whoever stayed stays as it is.

        Raises ModelError for what Bullet cannot take, and leaves everything as it was.
        """
        names, current = tuple(dynamics.bodies), self._scene.named()
        if names != tuple(current) and (len(names) != len(current) or not current.keys() >= {*names}):
            raise ModelError("the scene's bodies are not those of the simulation; compile the scene again")
        gone, came = self._changes(current)
        new = [name for name in names if name in came] if len(came) > 1 else [*came]
        parts = {name: self._parts(names.index(name), current[name]) for name in new}
        scenery = self._scenery()
        standing = {shape: self._colliders(shape) for shape in scenery if shape not in self._standing}
        # nothing is refused from here on
        ids = self._remove(gone, [shape for shape in self._standing if shape not in scenery])
        for name in new:
            self._add(name, parts[name])
        for shape, own in standing.items():
            self._stand(shape, own)
        if scenery != self.scenery:
            self._arrange_scenery(scenery)
        self.names = names
        self.bodies.arrange(names)
        self.planes.arrange(names)
        self._keep_apart(dynamics, set(new), anew=bool(standing))
        if self.connection.owned:
            down = self._scene.gravity_now()
            pybullet.setGravity(*down.tolist(), physicsClientId=self.connection.id)
        return Changed(gone, ids)

    def _changes(self, current: Mapping[str, Body]) -> tuple[set[str], set[str]]:
        """Names of bodies that went, or that are others, or of other shapes, now; and of those that are new or are."""
        before, now = [*self._made], [*current]
        first, gone, came = splice = Splice.between(before, now)
        if not (gone and came):
            made, bodies, own = [*self._made.values()], [*current.values()], [*self._shapes.values()]
            del made[first : splice.end], own[first : splice.end], bodies[first : first + came]
            if bodies == made and [*map(_SHAPES, made)] == own:
                return {*before[first : splice.end]}, {*now[first : first + came]}
        stay = self._made.keys() & current.keys()
        others = {k for k in stay if current[k] is not self._made[k] or current[k].shapes != self._shapes[k]}
        return (self._made.keys() - stay) | others, (current.keys() - stay) | others

    def _looks(self, index: int, body: Body) -> list[Visual]:
        color = PALETTE[index % len(PALETTE)]
        return [visual for shape in body.shapes for visual in visuals(shape, color, self.files)]

    def _parts(self, number: int, body: Body) -> _Parts:
        try:
            solid = [(part, s.material) for s in body.shapes for part in placed([s], self.files)]
        except ModelError as problem:
            raise ModelError(f"body '{body.name}': {problem}") from None
        seen = self._looks(number, body) if self.shown else []
        for visual in seen:
            visual.mesh.write()
        return _Parts(body, list(body.shapes), solid, seen)

    def _colliders(self, shape: shapes.Shape) -> list[Collider]:
        return colliders(shape, self.files) if shape.collision else []

    def _scenery(self) -> list[shapes.Shape]:
        """The world's shapes, and the ground unless there is a plane where one is the usual one."""
        own = list(self._scene.world.shapes)
        ground, usual = self._ground
        if ground is None or (usual and any(isinstance(shape, shapes.Plane) for shape in own)):
            return own
        return [*own, ground]

    @property
    def grounded(self) -> bool:
        """Whether there is a ground that is none of the world's shapes."""
        return any(shape is self._ground[0] for shape in self.scenery)

    def _remove(self, gone: Collection[str], scenery: Sequence[shapes.Shape]) -> set[int]:
        """Bodies and scenery went: their ids."""
        ids = {body for name in gone for body in self.bodies.of[name]}
        ids |= {body for shape in scenery for body in self._standing[shape]}
        for name in gone:
            self.bodies.remove(name)
            self.planes.remove(name)
            del self._made[name], self._shapes[name]
        for shape in scenery:
            for body in self._standing.pop(shape):
                self.bodies.remove_scenery(body)
        return ids

    def _add(self, name: str, parts: _Parts) -> None:
        self.bodies.add(name, parts.solid, parts.seen)
        if len(self.planes):
            self.planes.add(name, parts.shapes)
        self._made[name], self._shapes[name] = parts.body, parts.shapes

    def _stand(self, shape: shapes.Shape, parts: Sequence[Collider]) -> None:
        plane = isinstance(shape, shapes.Plane)
        self._standing[shape] = [
            self.bodies.add_scenery(replace(part, shape=shape), shape.at @ part.at, shape.material, plane)
            for part in parts
        ]
        self.bodies.stand_for(self._standing[shape], shape)

    def _arrange_scenery(self, scenery: list[shapes.Shape]) -> None:
        """The scenery is this, and comes in this order."""
        known, self.scenery = len(self.planes), scenery
        self._standing = {shape: self._standing[shape] for shape in scenery}
        self.bodies.arrange_scenery([body for ids in self._standing.values() for body in ids])
        self.planes.stand(scenery)
        if len(self.planes) and not known:
            for name, own in self._shapes.items():
                self.planes.add(name, own)

    def _keep_apart(self, dynamics: moving.Bodies, new: set[str], anew: bool) -> None:
        """Part who must not touch of new bodies, and of all if there is new scenery; others are parted already."""
        for name in (self._made if anew else new) if len(self.planes) else ():
            if name not in self.planes.on:
                self.bodies.meet_planes(name)
        stayed = [pair for pair in self._neighbours if new.isdisjoint(pair) and self._made.keys() >= {*pair}]
        found = [ordered(*pair) for pair in neighbours(self._scene, dynamics, new)]
        self._neighbours = dict.fromkeys([*stayed, *found])
        for pair in apart(self._scene, self._neighbours, {*new, WORLD} if anew else new):
            self.bodies.ignore(*pair)


def _ground(ground: bool | float) -> tuple[shapes.Plane | None, bool]:
    """The plane that is asked for, if any, and whether it is only the usual one."""
    if ground is False:
        return None, False
    if isinstance(ground, shapes.Shape):
        raise ModelError(
            f"a mirror's ground is True, False or a height, not {type(ground).__name__}; add your own plane, with its"
            " material, to scene.world.shapes"
        )
    height = 0.0 if ground is True else float(numbers("a mirror's ground", "a height, or True or False,", ground, ()))
    return shapes.Plane(at=pose(xyz=(0.0, 0.0, height))), ground is True
