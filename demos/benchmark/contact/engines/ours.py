"""This project: PyBullet finds the contacts, recursive_dyn resolves them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

import recursive_dyn as rd
from bridge import PyBulletMirror
from demos.benchmark.contact.description import ROBOT, Ball, Drum, Pill, Robot, Solid, Task
from demos.benchmark.contact.engines.engine import Engine
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from scene import Body, Scene, joints, shapes


@dataclass(frozen=True)
class Settings:
    """Integrator and contact settings that differ from the defaults."""

    integrator: str = "rk4"
    iterations: int | None = None
    tolerance: float | None = None
    restitution_threshold: float | None = None
    slop: float | None = None


ASLEEP_AFTER = 0.5  # s
ROLLING = Settings(iterations=60, tolerance=1e-17, slop=4e-5)
BEST = {
    "rolling": ROLLING,
    "rolling along y": ROLLING,
    "bouncing": Settings(restitution_threshold=0.0),
    "elastic 666": Settings(restitution_threshold=0.0),
}
PILE = Settings("semi_implicit_euler")
LIMBS = Settings("linearly_implicit_rk4")  # of figures that whirl undamped: semi-implicit Euler gives them 1 J a step


class OursEngine(Engine):
    """Free bodies are six-coordinate joints of one scene on a plane; RK4, in piles semi-implicit Euler, for figures
    the default integrator, and default settings.

    ``BEST`` was chosen from what was tried, as for the others: "rolling" is solved to
    rounding, with a slop that leaves the overlap it starts from alone.
    """

    label = "ours"

    def build(self, task: Task) -> None:
        scene = self._scene(task)
        scene.gravity = np.array([0.0, 0.0, -task.gravity])
        self.dynamics = scene.compile()
        settings = BEST.get(task.name, LIMBS if task.dolls else PILE if task.correction else Settings())
        self.simulation = rd.Simulation(self.dynamics, task.timestep, settings.integrator)
        self._start(task)
        self.mirror = self.held.enter_context(PyBulletMirror(scene, self.simulation, gui=False, ground=False))
        for name in ("iterations", "tolerance", "restitution_threshold", "slop"):
            if getattr(settings, name) is not None:
                setattr(self.simulation.contact, name, getattr(settings, name))
        if task.iterations is not None:
            self.simulation.contact.iterations = task.iterations
        if task.sleep:
            self.simulation.contact.sleep_after = ASLEEP_AFTER

    def push(self, body: str, force: tuple[float, float, float]) -> None:
        self.simulation.apply_force(self.root if body == ROBOT else body, force, (0.0, 0.0, 0.0))

    def advance(self) -> None:
        self.mirror.step()

    def positions(self) -> np.ndarray:
        return self.simulation.q[self.places]

    def velocities(self) -> np.ndarray:
        return self._twists()[:, 3:]

    def spins(self) -> np.ndarray:
        return self._twists()[:, :3]

    def robot_energy(self) -> float:
        """Of everything: solids are bodies of the same scene."""
        q, v = self.simulation.q, self.simulation.v
        return float(self.dynamics.kinetic_energy(q, v) + self.dynamics.potential_energy(q))

    def robot_momentum(self) -> np.ndarray:
        """Of everything, as its energy."""
        return np.asarray(self.dynamics.momentum(self.simulation.q, self.simulation.v))[3:]

    energy, momentum, whole_energy = robot_energy, robot_momentum, robot_energy

    def robot_height(self) -> float:
        return float(self.simulation.q[2])

    def contacts(self) -> int:
        return int(self.simulation.solution.contacts)

    def times(self) -> dict[str, float]:
        return dict(self.simulation.solution.times)

    def sweeps(self) -> int:
        return int(self.simulation.solution.iterations)

    def residual(self) -> float:
        return float(self.simulation.solution.residual)

    def converged(self) -> bool:
        return bool(self.simulation.solution.converged)

    def _twists(self) -> np.ndarray:
        return self.simulation.frames()[1][self.numbers]

    def _scene(self, task: Task) -> Scene:
        scene = Scene() if task.robot is None else self._robot(task.robot, task.friction)
        material = rd.Material(friction=task.friction, restitution=task.restitution)
        # A pair's friction is the geometric mean.
        share = task.ground_friction**2 / task.friction if task.friction else 0.0
        ground = rd.Material(friction=share, restitution=task.restitution)
        if task.ground:
            scene.world.shapes.append(shapes.Plane(material=ground))
        for size, place in task.walls:
            scene.world.shapes.append(shapes.Box(size, at=rd.pose(place), material=ground))
        for k, doll in enumerate(task.dolls):
            self._doll(scene, doll, f"doll{k + 1}.", material)
        for solid in task.solids:
            body = Body(solid.name, [_shape(solid, material)], mass=solid.mass)
            scene.world.attach(body, joints.free())
        return scene

    def _robot(self, robot: Robot, friction: float) -> Scene:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(robot.urdf)
            scene = Scene.from_urdf(path, fixed_base=False)
        self.root, material = scene.bodies[0].name, rd.Material(friction=friction)
        self.hinges = {scene.joint_names[name]: angle for name, angle in robot.angles.items()}
        for body in scene.bodies:
            for shape in body.shapes:
                object.__setattr__(shape, "material", material)
            if body.name in self.hinges and body.joint is not None:
                body.joint = body.joint.adjusted(
                    stiffness=robot.stiffness, damping=robot.damping, rest=self.hinges[body.name]
                )
        for a, b in combinations(scene.bodies, 2):
            scene.pair(a, b, collide=False)
        return scene

    def _doll(self, scene: Scene, doll: Robot, prefix: str, material: rd.Material) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "doll.urdf"
            path.write_text(doll.urdf)
            root = scene.add_urdf(path, prefix, at=rd.pose(doll.position))
        parts = list(root.walk())
        for body in parts:
            for shape in body.shapes:
                object.__setattr__(shape, "material", material)
        for a, b in combinations(parts, 2):
            scene.pair(a, b, collide=False)

    def _start(self, task: Task) -> None:
        """Solids and the robot's root at their places; a free body's v is [omega; v] in its own axes."""
        names, q, v = self.dynamics.bodies, self.simulation.q, self.simulation.v
        coordinates, speeds = list(self.dynamics.coordinates), list(self.dynamics.velocity_coordinates)
        self.numbers = [names.index(solid.name) for solid in task.solids]
        first = len(coordinates) - 7 * len(task.solids), len(speeds) - 6 * len(task.solids)  # attached last
        self.places = first[0] + 7 * np.arange(len(task.solids)).reshape(-1, 1) + np.arange(3)
        for k, solid in enumerate(task.solids):
            start, turn = rd.pose(rpy=solid.rpy)[:3, :3], first[1] + 6 * k
            q[self.places[k]] = solid.position
            q[self.places[k, 2] + 1 : self.places[k, 2] + 5] = matrix_to_quaternion(start)
            v[turn : turn + 3], v[turn + 3 : turn + 6] = solid.spin, start.T @ solid.velocity
        if task.robot is not None:
            q[:3] = task.robot.position
            for body, angle in self.hinges.items():
                q[next(i for i, name in enumerate(coordinates) if name.split(".")[0] == body)] = angle


def _shape(solid: Solid, material: rd.Material) -> shapes.Shape:
    match solid.shape:
        case Ball(radius):
            return shapes.Sphere(radius, material=material)
        case Pill(radius, length):
            return shapes.Capsule(radius, length, material=material)
        case Drum(radius, length):
            return shapes.Cylinder(radius, length, material=material)
    return shapes.Box(solid.shape.size, material=material)
