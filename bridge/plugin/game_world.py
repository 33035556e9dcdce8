"""What a plugin's bodies collide by: chosen by what there is to collide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bridge.closed_form.closed_scene import ClosedScene, foreign
from bridge.closed_form.closed_surroundings import ClosedSurroundings
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.simulation import Simulation
from scene import Scene

if TYPE_CHECKING:
    from bridge.collision.queries import Queries
    from bridge.mirror import PyBulletMirror

CLOSED_FORM, BULLET = "closed form", "bullet"


class GameWorld(Protocol):
    """A scene and its simulation among what may be touched; collisions: by which it is found."""

    collisions: str

    @property
    def queries(self) -> Queries:
        """Rays, boxes and distances; StateError where there are none."""
        ...

    def step(self) -> None:
        """One timestep."""
        ...

    def update(self) -> None:
        """Follow edits of the scene. What it raises leaves everything as it was."""
        ...

    def close(self) -> None:
        """Touch nothing any more."""
        ...


class BulletWorld:
    """Collisions by PyBullet, whatever the shapes are."""

    collisions = BULLET

    def __init__(self, scene: Scene, simulation: Simulation) -> None:
        from bridge.mirror import PyBulletMirror  # who needs no PyBullet does without

        self._mirror: PyBulletMirror = PyBulletMirror(scene, simulation, ground=False, gui=False)
        self.step, self.update, self.close = self._mirror.step, self._mirror.update, self._mirror.close

    @property
    def queries(self) -> Queries:
        """Those of the mirror."""
        return self._mirror.queries


class ClosedWorld:
    """Collisions in closed form."""

    collisions = CLOSED_FORM

    def __init__(self, scene: Scene, simulation: Simulation) -> None:
        self._scene, self._simulation = scene, simulation
        self._surroundings = ClosedSurroundings(ClosedScene(scene, simulation.dynamics))
        simulation.surroundings = self._surroundings
        simulation.warm_up()
        self.step = simulation.step

    @property
    def queries(self) -> Queries:
        """None: StateError that says who answers them."""
        raise StateError(
            "this plugin's contacts are found in closed form, which answers no queries: make it with"
            f" collisions='{BULLET}', whose plugin.queries are those of a PyBulletMirror"
        )

    def update(self) -> None:
        """Compile the scene again, and go on with what stayed."""
        sim, before = self._simulation, self._surroundings.scene
        dynamics = self._scene.compile(sim.dynamics.method, **sim.dynamics.settings)
        after = ClosedScene(self._scene, dynamics)
        sim.surroundings = None
        try:
            sim.update(dynamics, lambda keys: after.renumbered(keys, before))
            self._surroundings.renew(after)
        finally:
            sim.surroundings = self._surroundings

    def close(self) -> None:
        """Touch nothing any more."""
        self._simulation.surroundings = None


def world_of(scene: Scene, simulation: Simulation, collisions: str | None) -> GameWorld:
    """As asked for; None: in closed form where that is known of all that collides."""
    if collisions not in (None, CLOSED_FORM, BULLET):
        raise StateError(f"collisions are '{CLOSED_FORM}', '{BULLET}', or None to choose, not {collisions!r}")
    if collisions == BULLET or (collisions is None and foreign(scene)):
        return BulletWorld(scene, simulation)
    return ClosedWorld(scene, simulation)
