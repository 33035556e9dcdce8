"""The mirror: a scene's bodies as Bullet bodies that follow a simulation, their contacts, and pictures of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from bridge.bodies.apart import still
from bridge.bodies.mirrored_scene import MirroredScene
from bridge.bodies.scene_and_motion import check_scene_and_motion
from bridge.bodies.visuals import SCENERY, Visual, rgba
from bridge.collision.bullet_surroundings import BulletSurroundings
from bridge.collision.contact_keys import KeyNumbers, renumbered
from bridge.collision.overlaps import overlapping, warn_of
from bridge.collision.queries import Queries, queries_of
from bridge.collision.whereabouts import Whereabouts
from bridge.connection import Connection
from bridge.drawing.camera import Camera, camera_of
from bridge.meshes.triangle_mesh import Triangles, checked
from bridge.meshes.tube import tube
from bridge.picture import window
from bridge.picture.display_list import DisplayList
from bridge.picture.renderer import check_picture, renderer_of
from bridge.picture.shown import Shown
from bridge.viewer.history import Playable
from bridge.viewer.viewer import Viewer
from recursive_dyn.contact.contact_record import Contact
from recursive_dyn.contact.material import Material
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.loads.breaking import follow_breaks
from recursive_dyn.simulation.moving import Moving
from recursive_dyn.simulation.simulation import Simulation
from recursive_dyn.simulation.surroundings import PlainDetector, Surrounded
from scene import Scene


class PyBulletMirror:
    """Bullet bodies without mass at the poses and velocities of a simulation's bodies.

    sim: a simulation, or whatever else moves the scene's bodies, such as a motion on a manifold. client: a Bullet
    connection, which stays the caller's; without one the mirror opens a window if there is a display (``gui`` decides
    otherwise), else a connection without one, and closes it itself. ground: a checkered plane at z = 0, or at the
    height given in m, that bodies touch; False, or a Plane among scene.world.shapes, for none. renderer: "opengl", or
    Bullet's "egl" or "tiny", for ``image``; the first that works if None. contact: let a simulation feel what its
    bodies touch; Bullet's own are then stepped along, and felt. They fall with the scene's gravity in a connection of
    the mirror's own, with what Bullet was told in the caller's.

    Scenery meets all bodies, also those hung on the world, but no scenery. Neighbours never touch unless ``scene.pair``
    says so: a body and the next one towards the world that has shapes to collide with. Mesh scenery is hollow, a moving
    mesh is cut into convex parts, once. Bodies that a simulation feels and that overlap at the start are told by name,
    in a warning; ``overlaps`` are the deepest contact of each pair.

    After a step Bullet's bodies are where the simulation's are for all who may see them: in a window, in a connection
    of the caller's, or of which ``client`` or ``bullet_bodies`` was read, and for ``queries``.

    A mirror that nobody holds any more goes by itself, but for Bullet's world: that stays as long as a simulation feels
    it. Of the mirrors in one connection one is felt: the others' bodies are walls to it, whatever moves them. Raises
    ModelError for shapes that Bullet cannot take, StateError once the connection is gone, or for a second mirror to be
    felt in it.
    """

    def __init__(
        self, scene: Scene, sim: Moving, client: int | None = None, ground: bool | float = True,
        gui: bool | None = None, renderer: str | None = None, contact: bool = True,
    ) -> None:  # fmt: skip
        check_picture(renderer)
        check_scene_and_motion("PyBulletMirror", scene, sim)
        self.scene, self.sim, self._renderer = scene, sim, renderer
        self._feeling = sim if isinstance(sim, Surrounded) else None
        self._contacts: tuple[Contact, ...] | None = None
        self.overlaps: tuple[Contact, ...] = ()
        self._stepped = False  # whether contacts of the last step are those to be told
        self._drawn: list[Visual] = []
        self._connection = Connection(client, gui)
        try:
            if contact and self._feeling is not None:
                self._connection.check_alone()
            self._mirrored = MirroredScene(scene, sim.dynamics, self._connection, ground)
            self._surroundings = BulletSurroundings(self._mirrored)
            self._whereabouts = Whereabouts(sim, self._connection, self._surroundings)
            self.sync()
            self._fill_window()
            if contact and self._feeling is not None:
                self._connection.be_felt()
                self._feeling.surroundings = self._surroundings
                follow_breaks(sim, self.update)
                self._feeling.warm_up()
                self.overlaps = self._overlaps(self._feeling)
            elif self._feeling is not None:  # it is said that nothing is to be felt
                self._feeling.surroundings = self._feeling.surroundings
        except BaseException:
            self._connection.close()
            raise
        warn_of(self.overlaps, self._mirrored.grounded, stacklevel=2)

    @property
    def client(self) -> int:
        """Bullet's connection, the physicsClientId of its functions. Who was told it finds bodies in place there."""
        with suppress(StateError):  # of a mirror that is closed it is told too
            self._whereabouts.tell()
        return self._connection.id

    @property
    def bullet_bodies(self) -> dict[str, tuple[int, ...]]:
        """Bullet's ids of each body: several for one with more shapes or colours than Bullet lets a body have."""
        with suppress(StateError):  # of a mirror that is closed they are told too
            self._whereabouts.tell()
        return dict(self._mirrored.bodies.of)

    def sync(self) -> None:
        """Give Bullet's bodies the poses and velocities of the simulation's state, and forget contacts found before.

        All of them, also those that somebody else displaced: a step places those that moved, so that one which rests
        stays where another put it, and is met there, until then.
        """
        with self._connection.guard():
            self._whereabouts.follow(anew=True)
        self._contacts, self._stepped = None, False

    def step(self, count: int = 1) -> None:
        """Advance the simulation by ``count`` timesteps and mirror where it got to.

        Bullet's own bodies, if there are any, are stepped along. ``contacts`` are then those of the last step, with
        their impulses. A step that fails leaves everything at the end of the one before; so does a Ctrl-C.
        """
        self._contacts, self._stepped = None, False
        if self._whereabouts.watched:
            with self._connection.guard() as held:
                try:
                    with held.opened():  # what steps keeps its steps whole itself
                        self._advance(count)
                finally:
                    self._whereabouts.follow()
        else:
            self._connection.check()
            self._whereabouts.behind = True  # Ctrl-C may come before what is said afterwards
            try:
                self._advance(count)
            finally:
                self._whereabouts.went_on()

    def update(self) -> None:
        """Follow edits of the scene: bodies and scenery that came or went, other shapes, masses, joints and gravity.

        The scene is compiled again, which is quick for bodies of kinds that there were, and its simulation goes on with
        what stayed as it is (:meth:`Simulation.update`). Bullet keeps about 1 kB of a body that went, and 3.5 kB of a
        shape that was new to the mirror. Raises ModelError for what cannot be compiled or mirrored, and leaves
        everything as it was; StateError for what moves the bodies if that is no simulation.
        """
        sim = self.sim
        if not isinstance(sim, Simulation):
            raise StateError("only the mirror of a simulation follows edits; make another mirror")
        felt = self._felt
        own = felt or isinstance(sim.surroundings, PlainDetector | None)
        dynamics = self.scene.compile(sim.dynamics.method, **sim.dynamics.settings) if own else sim.dynamics
        with self._connection.guard(), self._connection.paused():
            before, scenery = KeyNumbers.of(self._mirrored), self._mirrored.scenery
            changed = self._mirrored.update(dynamics)
            if own:
                after = KeyNumbers.of(self._mirrored)
                sim.surroundings = None if felt else sim.surroundings
                try:
                    sim.update(dynamics, (lambda keys: renumbered(keys, before, after, changed)) if felt else None)
                finally:
                    sim.surroundings = self._surroundings if felt else sim.surroundings
            self._whereabouts.renew()
            if "_display" in vars(self):
                self._display.leave()
                del self._display
            if scenery is not self._mirrored.scenery:
                self._mirrored.bodies.undraw()
                self._show_scenery()
            self._surroundings.renew(changed.ids)
            if self._whereabouts.watched:
                self._whereabouts.follow()
        self._contacts = None

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Contacts of the scene's bodies: of the last ``step``, or at the last ``sync``, found when first asked for."""
        if self._contacts is None:
            with self._connection.guard():
                if self._stepped and self._feeling is not None:
                    self._contacts = self._surroundings.named(self._feeling.contacts)
                else:
                    self._contacts = self._surroundings.look(*self._whereabouts.present())
        return self._contacts

    @cached_property
    def queries(self) -> Queries:
        """Rays, boxes and distances among the bodies by name, where the state has them: ``queries.ray(start, end)``."""
        return queries_of(self._connection, self._mirrored.bodies, self._whereabouts)

    def pair(self, a: Any, b: Any, collide: bool | None = None, material: Material | None = None) -> None:
        """Let two bodies collide or not from now on, with a material of their own; see :meth:`Scene.pair`."""
        self.scene.pair(a, b, collide, material)
        self._surroundings.forget_pairs()
        if isinstance(self.sim, Simulation):
            self.sim.wake()
        with self._connection.guard():
            self._mirrored.pair_again(getattr(a, "name", a), getattr(b, "name", b))

    def image(self, width: int = 640, height: int = 480, camera: Camera | None = None, samples: int = 1) -> np.ndarray:
        """A picture of the present state: red, green, blue, (height, width, 3), uint8. It needs no display.

        A camera that leaves its target and distance open frames the scene as at the first picture, so that films do not
        shake. ``samples=4`` smooths edges and takes four times as long.
        """
        check_picture(self._renderer, width, height, samples)
        view = camera_of(camera)
        with self._connection.guard(hold=False):
            renderer = renderer_of(self._renderer)
            return self._display.picture(renderer, self._whereabouts.poses, view, (int(width), int(height)), samples)

    def viewer(self, **options: Any) -> Viewer:
        """A window that steps the mirror and shows all it has, Bullet's bodies and drawings; options as of Viewer."""
        if not isinstance(self.sim, Playable):
            raise StateError("a viewer shows what snapshot() and restore() take back: a simulation, or a motion")
        return Viewer(self.scene, self.sim, self.step, view=lambda: self, **options)

    def shown(self, poses: np.ndarray) -> Shown:
        """What is to be seen, Bullet's bodies and drawings too, with the scene's at ``poses``; see ``Capture``."""
        return self._display.shown(poses)

    def add_polyline(self, points: Any, color: Sequence[float] = (0.25, 0.27, 0.30, 1.0), radius: float = 0.01) -> None:
        """Draw a tube of ``radius`` m along points (n, 3) in the world; it collides with nothing."""
        self._draw(tube(points, radius), color)

    def add_surface(self, vertices: Any, faces: Any, color: Sequence[float] = SCENERY) -> None:
        """Draw triangles in the world, seen from both sides: vertices (n, 3) in m, faces (m, 3). Nothing hits them."""
        self._draw(Triangles.shaded(*checked(vertices, faces)).two_sided(), color)

    def close(self) -> None:
        """Remove the mirror's bodies and files, and the connection if the mirror opened it; harmless when repeated. The
        simulation then touches nothing any more."""
        if self._felt and self._feeling is not None:
            self._feeling.surroundings = None
        self._connection.close()
        if "_display" in vars(self):
            self._display.leave()
        self._mirrored.files.close()

    def __enter__(self) -> PyBulletMirror:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _felt(self) -> bool:
        """Whether it is this mirror's contacts that the simulation feels."""
        return self._feeling is not None and self._feeling.surroundings is self._surroundings

    def _overlaps(self, sim: Surrounded) -> tuple[Contact, ...]:
        """Overlaps at the simulation's state; Bullet remembers nothing of having been asked."""
        with self._connection.guard():
            found = self._surroundings.look(*self._whereabouts.present())
            self._surroundings.forget(sim)
        return overlapping(found, still(sim.dynamics))

    def _advance(self, count: int) -> None:
        try:
            self.sim.step(count)
            self._stepped = bool(count) and self._felt
        except KeyboardInterrupt:
            self._stepped = self._felt
            raise

    def _fill_window(self) -> None:
        """Show scenery and ground to whoever looks into the connection, and from where all of it is seen."""
        with self._connection.guard(hold=False), self._connection.paused():
            self._show_scenery()
            if self._connection.window and self._connection.owned:
                camera = Camera(fov=window.FIELD_OF_VIEW).framed(self._display.outline(self._whereabouts.poses), 4 / 3)
                window.aim(self._connection.id, camera)

    def _show_scenery(self) -> None:
        if self._mirrored.shown:
            for visual in self._display.scenery():
                self._mirrored.bodies.draw(visual)

    @cached_property
    def _display(self) -> DisplayList:
        """What pictures show; made when first needed, as its meshes take a moment."""
        result = DisplayList.of(self._mirrored, self._whereabouts.poses)
        for visual in self._drawn:
            result.add(visual)
        return result

    def _draw(self, mesh: Triangles, color: Sequence[float]) -> None:
        visual = Visual(self._mirrored.files.add(mesh), rgba(color))
        with self._connection.guard():
            self._mirrored.bodies.draw(visual)
            if "_display" in vars(self):
                self._display.add(visual)
            self._drawn.append(visual)
