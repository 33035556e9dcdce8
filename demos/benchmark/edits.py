"""What it costs to add a body to a running scene, and to remove one, as CPU time until the first step after is done.

An ordinary step is taken off. Grounded balls and boxes in a grid, of which none moves; a ball comes and goes above.
Then balls come that stay, so that there are more bodies than ever before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from time import process_time
from typing import NamedTuple

import numpy as np

import recursive_dyn as rd
from bridge import PyBulletMirror
from demos.benchmark.report import print_table
from scene import Body, Scene, joints, shapes

COUNTS = (10, 100, 300)  # bodies
RADIUS, HALF, APART, ABOVE = 0.1, 0.1, 0.4, 1.0  # m
TIMESTEP = 1 / 240
SETTLING, BETWEEN = 60, 3  # steps before the first edit, and between two
STAYING = 20  # balls, which do not reach the ground
BAR = 2.0  # ms


class Cost(NamedTuple):
    """Seconds of CPU: of both edits, of one that makes more bodies than there ever were, and of an ordinary step."""

    add: float
    remove: float
    more: float
    step: float


class Running(ABC):
    """An engine's scene of ``count`` bodies, in which a ball comes and goes."""

    label = ""
    module = ""

    @abstractmethod
    def __init__(self, count: int) -> None: ...

    @abstractmethod
    def add(self, number: int, place: tuple[float, float, float]) -> None:
        """A ball more, at rest."""

    @abstractmethod
    def remove(self) -> None:
        """The ball that was added goes."""

    @abstractmethod
    def step(self) -> None:
        """One timestep."""

    @abstractmethod
    def bodies(self) -> int:
        """How many bodies there are that move."""

    @abstractmethod
    def close(self) -> None:
        """Free what the engine holds."""


class Ours(Running):
    """A mirror follows its scene."""

    label = "ours"
    module = "pybullet"

    def __init__(self, count: int) -> None:
        self.scene = Scene()
        for k, place in enumerate(places(count)):
            shape = shapes.Sphere(RADIUS) if k % 2 else shapes.Box((2 * HALF,) * 3)
            self.scene.world.attach(Body(f"b{k}", [shape], mass=1.0), joints.free(), at=rd.pose(xyz=place))
        self.sim = rd.Simulation(self.scene.compile(), TIMESTEP)
        self.mirror = PyBulletMirror(self.scene, self.sim, gui=False)
        self.sim.warm_up(optimized=True)

    def add(self, number: int, place: tuple[float, float, float]) -> None:
        self.new = Body(f"new {number}", [shapes.Sphere(RADIUS)], mass=1.0)
        self.scene.world.attach(self.new, joints.free(), at=rd.pose(xyz=place))
        self.mirror.update()

    def remove(self) -> None:
        self.new.detach()
        self.mirror.update()

    def step(self) -> None:
        self.mirror.step()

    def bodies(self) -> int:
        return len(self.sim.dynamics.bodies)

    def close(self) -> None:
        self.mirror.close()


class Bullet(Running):
    """PyBullet's own simulation: createMultiBody and removeBody."""

    label = "PyBullet"
    module = "pybullet"

    def __init__(self, count: int) -> None:
        import pybullet

        self.pybullet, self.client = pybullet, pybullet.connect(pybullet.DIRECT)
        pybullet.setTimeStep(TIMESTEP, physicsClientId=self.client)
        pybullet.setGravity(0.0, 0.0, -9.81, physicsClientId=self.client)
        ground = pybullet.createCollisionShape(
            pybullet.GEOM_BOX, halfExtents=[100.0, 100.0, 1.0], physicsClientId=self.client
        )
        pybullet.createMultiBody(0.0, ground, basePosition=(0.0, 0.0, -1.0), physicsClientId=self.client)
        for k, place in enumerate(places(count)):
            self._make(self._ball() if k % 2 else self._box(), place)

    def _ball(self) -> int:
        return self.pybullet.createCollisionShape(self.pybullet.GEOM_SPHERE, radius=RADIUS, physicsClientId=self.client)

    def _box(self) -> int:
        return self.pybullet.createCollisionShape(
            self.pybullet.GEOM_BOX, halfExtents=[HALF] * 3, physicsClientId=self.client
        )

    def _make(self, shape: int, place: tuple[float, float, float]) -> int:
        return self.pybullet.createMultiBody(1.0, shape, basePosition=place, physicsClientId=self.client)

    def add(self, number: int, place: tuple[float, float, float]) -> None:
        self.new = self._make(self._ball(), place)

    def remove(self) -> None:
        self.pybullet.removeBody(self.new, physicsClientId=self.client)

    def step(self) -> None:
        self.pybullet.stepSimulation(self.client)

    def bodies(self) -> int:
        return self.pybullet.getNumBodies(self.client) - 1

    def close(self) -> None:
        self.pybullet.disconnect(self.client)


class Mujoco(Running):
    """MuJoCo's specification, compiled again with the state that there was: ``MjSpec.recompile``."""

    label = "MuJoCo"
    module = "mujoco"

    def __init__(self, count: int) -> None:
        import mujoco

        self.mujoco, self.spec = mujoco, mujoco.MjSpec()
        self.spec.option.timestep = TIMESTEP
        self.spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[100, 100, 1])
        for k, place in enumerate(places(count)):
            self._make(f"b{k}", bool(k % 2), place)
        self.model = self.spec.compile()
        self.data = mujoco.MjData(self.model)

    def _make(self, name: str, ball: bool, place: tuple[float, float, float]):
        body = self.spec.worldbody.add_body(name=name, pos=place)
        body.add_freejoint()
        kinds = self.mujoco.mjtGeom
        kind, size = (kinds.mjGEOM_SPHERE, [RADIUS, 0, 0]) if ball else (kinds.mjGEOM_BOX, [HALF] * 3)
        body.add_geom(type=kind, size=size, mass=1.0)
        return body

    def add(self, number: int, place: tuple[float, float, float]) -> None:
        self.new = self._make(f"new {number}", True, place)
        self._again()

    def remove(self) -> None:
        self.spec.delete(self.new)
        self._again()

    def _again(self) -> None:
        self.model, self.data = self.spec.recompile(self.model, self.data)

    def step(self) -> None:
        self.mujoco.mj_step(self.model, self.data)

    def bodies(self) -> int:
        return self.model.nbody - 1

    def close(self) -> None:
        pass


ENGINES = (Ours, Bullet, Mujoco)


def places(count: int) -> list[tuple[float, float, float]]:
    """Centres on the ground, m."""
    side = int(np.ceil(np.sqrt(count)))
    return [(APART * (k % side), APART * (k // side), RADIUS) for k in range(count)]


def measure(engine: type[Running], count: int, edits: int = 200) -> Cost:
    """The least of ``edits`` balls that came and went, and of a few that stay, less the least of ordinary steps."""
    running = engine(count)
    try:
        for _ in range(SETTLING):
            running.step()
        added, removed, more, steps = [], [], [], []
        for k in range(edits):
            added.append(_seconds(lambda k=k: (running.add(k, (0.0, -APART, ABOVE)), running.step())))
            steps += [_seconds(running.step) for _ in range(BETWEEN)]
            removed.append(_seconds(lambda: (running.remove(), running.step())))
            steps += [_seconds(running.step) for _ in range(BETWEEN)]
        for k in range(STAYING):
            place = APART * k, -2 * APART, ABOVE
            more.append(_seconds(lambda k=k, place=place: (running.add(edits + k, place), running.step())))
            for _ in range(BETWEEN):
                running.step()
        if running.bodies() != count + STAYING:
            raise SystemExit(f"{engine.label}: {running.bodies()} bodies are left of {count + STAYING}")
    finally:
        running.close()
    return Cost(*(min(every) - min(steps) for every in (added, removed, more)), min(steps))


def _seconds(run: Callable[[], object]) -> float:
    """CPU time."""
    start = process_time()
    run()
    return process_time() - start


def table() -> None:
    """Each engine that is installed, at each number of bodies."""
    engines = [engine for engine in ENGINES if find_spec(engine.module) is not None]
    rows = []
    for count in COUNTS:
        costs = [measure(engine, count) for engine in engines]
        rows.append([str(count), *(f"{1e3 * x:.3f}" for cost in costs for x in cost), f"{BAR:g}"])
    head = [f"{engine.label}: {part}" for engine in engines for part in ("add", "remove", "add more", "a step")]
    print_table("a ball comes or goes, ms of CPU to the first step after", ["bodies", *head, "to be reached"], rows)
