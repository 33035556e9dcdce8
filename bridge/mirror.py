"""The mirror: a scene's bodies as Bullet bodies that follow a simulation, their contacts, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from types import TracebackType
from typing import Any, Protocol

import pybullet

from bridge import quaternion
from bridge.collision.bullet_bodies import Bodies
from bridge.collision.colliders import colliders, placed
from bridge.collision.contact_record import Contact
from bridge.collision.detector import Collisions
from bridge.collision.plane_contacts import Ground
from bridge.connection import Connection
from bridge.picture.camera import Camera
from bridge.picture.meshes import MeshFiles, Triangles, checked, tube
from bridge.picture.renderer import check_picture, studio
from bridge.picture.stage import Stage
from bridge.picture.visuals import PALETTE, SCENERY, Visual, checkered, rgba, tile_size, visuals
from bridge.quaternion import Array
from bridge.queries import Queries
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.material import Material
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from recursive_dyn.model.model import WORLD as WORLD_LINK
from recursive_dyn.simulation.surroundings import Surroundings
from recursive_dyn.spatial.algebra import pose
from scene import Scene, shapes

WINDOW = 90.0  # degrees: the vertical field of view of Bullet's window, which cannot be changed


class Moving(Protocol):
    """What a mirror needs of a simulation."""

    @property
    def dynamics(self) -> Dynamics: ...

    @property
    def contacts(self) -> Contacts: ...

    surroundings: Surroundings | None

    def frames(self) -> tuple[Array, Array]: ...

    def step(self, count: int = 1) -> None: ...


class PyBulletMirror:
    """Bullet bodies without mass at the poses and velocities of a simulation's bodies.

    client: a Bullet connection, which stays the caller's; without one the mirror opens a window if there is a display
    (``gui`` decides otherwise), else a connection without one, and closes it itself. ground: a checkered plane at
    z = 0, or at the height given in m; False, or a Plane among scene.world.shapes, for none. renderer: "egl" or "tiny"
    for ``image``; the first that works if None. contact: let the simulation feel what its bodies touch, as its
    ``detect``; Bullet's own bodies are then stepped along, and felt. They fall with the scene's gravity in a connection
    of the mirror's own, with what Bullet was told in the caller's.

    Scenery meets all bodies, also those hung on the world; parent and child never touch, nor scenery and scenery. Mesh
    scenery is hollow, a moving mesh is cut into convex parts, once. Raises ModelError for shapes that Bullet cannot
    take, StateError once the connection is gone.
    """

    def __init__(
        self,
        scene: Scene,
        sim: Moving,
        client: int | None = None,
        ground: bool | float = True,
        gui: bool | None = None,
        renderer: str | None = None,
        contact: bool = True,
    ) -> None:
        names = sim.dynamics.bodies
        if sorted(names) != sorted(body.name for body in scene.bodies):
            raise ModelError("the scene's bodies are not those of the simulation; compile the scene again")
        check_picture(renderer)
        self.scene, self.sim = scene, sim
        self._renderer = renderer
        self._scenery = _scenery(scene, ground)
        self._ranks = {name: k for k, name in enumerate(names)}
        self._poses = sim.frames()[0]
        self._pairs = scene.pairs
        self._contacts: tuple[Contact, ...] | None = None
        self._stepped = False
        self._files = MeshFiles()
        self._connection = Connection(client, gui)
        # Nobody looks into a connection of our own without a window, and ``image`` has its own meshes.
        self._shown = self._connection.window or not self._connection.owned
        self._bodies = Bodies(self.client, self._files, self._shown)
        self._ground = Ground(self._scenery, self._pairs)
        self._collisions = Collisions(
            self._connection, self._bodies, self._ranks, self._pairs, self._ground, self._place
        )
        self._queries = Queries(self.client, self._bodies.names, self._bodies.of)
        try:
            with self._connection.guard(), self._connection.paused():
                self._create()
                if self._connection.owned:
                    pybullet.setGravity(*self.scene.gravity.tolist(), physicsClientId=self.client)
                self.sync()
                if contact:
                    sim.surroundings = self._collisions
                if self._connection.window and self._connection.owned:
                    self._connection.aim(Camera(fov=WINDOW).framed(self._stage.outline(self._poses), 4 / 3))
        except Exception:
            self.close()
            raise

    @property
    def client(self) -> int:
        """Bullet's connection, the physicsClientId of its functions."""
        return self._connection.id

    @property
    def bullet_bodies(self) -> dict[str, tuple[int, ...]]:
        """Bullet's ids of each body: several for one with more shapes or colours than Bullet lets a body have."""
        return dict(self._bodies.of)

    def sync(self) -> None:
        """Give Bullet's bodies the poses and velocities of the simulation's state, and forget contacts found before."""
        with self._connection.guard():
            self._place(*self.sim.frames())
        self._contacts, self._stepped = None, False

    def step(self, count: int = 1) -> None:
        """Advance the simulation by ``count`` timesteps and mirror where it got to.

        Bullet's own bodies, if there are any, are stepped along. ``contacts`` are then those of the last step, with
        their impulses.
        """
        with self._connection.guard():
            self.sim.step(count)
            self._place(*self.sim.frames())
        self._contacts, self._stepped = None, bool(count) and self.sim.surroundings is self._collisions

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Contacts of the scene's bodies: of the last ``step``, or at the last ``sync``, found when first asked for."""
        if self._contacts is None:
            with self._connection.guard():
                if self._stepped:
                    self._contacts = self._collisions.named(self.sim.contacts)
                else:
                    self._contacts = self._collisions.look(*self.sim.frames())
        return self._contacts

    @property
    def queries(self) -> Queries:
        """Rays, boxes and distances among the bodies by name, where Bullet has them: ``queries.ray(start, end)``."""
        with self._connection.guard():
            return self._queries

    def pair(self, a: Any, b: Any, collide: bool = True, material: Material | None = None) -> None:
        """Let two bodies collide or not from now on, with a material of their own; see :meth:`Scene.pair`."""
        self.scene.pair(a, b, collide, material)
        self._collisions.forget_pairs()
        with self._connection.guard():
            self._filter(getattr(a, "name", a), getattr(b, "name", b), collide)

    def image(self, width: int = 640, height: int = 480, camera: Camera | None = None, samples: int = 1) -> Array:
        """A picture of the last ``sync``: red, green, blue, (height, width, 3), uint8. It needs no display.

        A camera that leaves its target and distance open frames the scene as it was at the first picture, so that a
        film does not shake. ``samples=4`` smooths edges and takes four times as long.
        """
        check_picture(self._renderer, width, height, samples)
        with self._connection.guard():
            place = studio(self._renderer)
            view = Camera() if camera is None else camera
            return self._stage.picture(place, self._poses, view, (int(width), int(height)), samples)

    def add_polyline(self, points: Any, color: Sequence[float] = (0.25, 0.27, 0.30, 1.0), radius: float = 0.01) -> None:
        """Draw a tube of ``radius`` m along points (n, 3) in the world; it collides with nothing."""
        self._draw(tube(points, radius), color)

    def add_surface(self, vertices: Any, faces: Any, color: Sequence[float] = SCENERY) -> None:
        """Draw triangles in the world, seen from both sides: vertices (n, 3) in m, faces (m, 3). Nothing hits them."""
        self._draw(Triangles.shaded(*checked(vertices, faces)).two_sided(), color)

    def close(self) -> None:
        """Remove the mirror's bodies and files, and the connection if the mirror opened it; harmless when repeated.

        The simulation then touches nothing any more.
        """
        if self.sim.surroundings is self._collisions:
            self.sim.surroundings = None
        if self._connection.close(list(self._bodies.names)):
            if "_stage" in vars(self):
                self._stage.leave()
            self._files.close()

    def __enter__(self) -> PyBulletMirror:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _place(self, poses: Array, twists: Array | None) -> None:
        """Bullet's bodies at poses (nb, 4, 4) with twists (nb, 6), or wherever they are on the way with none."""
        positions = poses[:, :3, 3].tolist()
        orientations = quaternion.from_rotations(poses[:, :3, :3]).tolist()
        client = self.client
        for bodies, position, orientation in zip(self._bodies.of.values(), positions, orientations, strict=True):
            for body in bodies:
                pybullet.resetBasePositionAndOrientation(body, position, orientation, client)
        if twists is not None:  # after the poses, which zero them
            for bodies, twist in zip(self._bodies.of.values(), twists.tolist(), strict=True):
                for body in bodies:
                    pybullet.resetBaseVelocity(body, twist[3:], twist[:3], client)
        self._poses = poses

    def _create(self) -> None:
        known = {body.name: body for body in self.scene.bodies}
        for k, name in enumerate(self._ranks):
            seen = self._visuals(k, name) if self._shown else []
            try:
                solid = [(part, s.material) for s in known[name].shapes for part in placed([s], self._files)]
            except ModelError as problem:
                raise ModelError(f"body '{name}': {problem}") from None
            self._bodies.add(name, solid, seen)
            if len(self._ground):
                self._ground.add(k, name, known[name].shapes)
        for shape in self._scenery:
            for part in colliders(shape, self._files) if shape.collision else ():
                plane = isinstance(shape, shapes.Plane)
                self._bodies.add_scenery(part, shape.at @ part.at, shape.material, plane)
        for name in self._ground.on:
            self._bodies.leave_planes(name)
        for pair in _neighbours(self.sim.dynamics):
            self._bodies.ignore(*pair)
        for names, rule in self._pairs.items():
            if not rule.collide:
                a, b = sorted(names)
                self._filter(a, b, False)
        if self._shown:
            for visual in self._stage.scenery():
                self._bodies.draw(visual)

    def _filter(self, a: str, b: str, collide: bool) -> None:
        if collide:
            self._bodies.restore(a, b)
            for name in (a, b):
                if name in self._ground.on:
                    self._bodies.leave_planes(name)
        else:
            self._bodies.ignore(a, b)

    @cached_property
    def _stage(self) -> Stage:
        """What pictures show; made when first needed, as its meshes take a moment."""
        stage = Stage(self.client, self._bodies.names, self._files)
        for k, name in enumerate(self._ranks):
            for visual in self._visuals(k, name):
                stage.add(visual, k)
        for shape in self._scenery:
            if not isinstance(shape, shapes.Plane):
                for visual in visuals(shape, SCENERY, self._files):
                    stage.add(visual)
        tile = tile_size(stage.outline(self._poses))
        for shape in self._scenery:
            if isinstance(shape, shapes.Plane):
                for visual in checkered(shape, tile, self._files):
                    stage.add_ground(visual, 2.0 * tile)
        return stage

    def _visuals(self, index: int, name: str) -> list[Visual]:
        color = PALETTE[index % len(PALETTE)]
        return [visual for shape in self.scene[name].shapes for visual in visuals(shape, color, self._files)]

    def _draw(self, mesh: Triangles, color: Sequence[float]) -> None:
        visual = Visual(self._files.add(mesh), rgba(color))
        with self._connection.guard():
            self._bodies.draw(visual)
            self._stage.add(visual)


def _neighbours(dynamics: Dynamics) -> Iterator[tuple[str, str]]:
    """Pairs of bodies that a joint ties together, or that are one rigid piece: they overlap at their joints."""
    model = dynamics.model
    for (i, a), (j, b) in combinations(enumerate(model.bodies), 2):
        near = a.link != WORLD_LINK and b.link != WORLD_LINK
        tied = a.link == b.link or model.links[a.link].parent == b.link or model.links[b.link].parent == a.link
        if (near and tied) or b.parent == i or a.parent == j:
            yield a.name, b.name


def _scenery(scene: Scene, ground: bool | float) -> list[shapes.Shape]:
    result = list(scene.world.shapes)
    if ground is True and any(isinstance(shape, shapes.Plane) for shape in result):
        return result
    if ground is not False:
        height = 0.0 if ground is True else float(ground)
        result.append(shapes.Plane(at=pose(xyz=(0.0, 0.0, height))))
    return result
