"""Control forces in generalized coordinates drive Bullet's bodies in maximal ones: ours beside two twins of it.

Liu & Jain's question, "how do I convert them to Cartesian forces so that I can use simulators like ODE, PhysX or
Bullet?". Green, reduced coordinates: a chain of hinges and balls waves under computed torques, and a bar turns about a
pin that runs along a figure eight as it turns, a joint made up for this. Blue, the chain as free bodies that Bullet's
constraints hold: each step its controller reads q and v off them, and its torques act as pairs of wrenches. Red, all
bodies free and held by nothing, led by what their joints would transmit: the made-up one, too. The plot is how far
bodies are from ours. All take steps of 1/240 s; twins by semi-implicit Euler, whose error falls as the step does.
"""

from __future__ import annotations

import numpy as np
import pybullet
import sympy as sp

import recursive_dyn as rd
from bridge import Camera, ForceTwin, PyBulletMirror
from demos.curves_over_time import Curve, Plot
from demos.stage import Stage, compiled
from recursive_dyn.control import ComputedTorque
from scene import Body, Scene, joints, shapes

STEP, PERIOD = 1 / 240, 2.5  # s; of the waves
LINK, THICK, DENSITY = 0.34, 0.045, 700.0  # m, m, kg/m^3
TOP, APART = 2.1, 1.9  # m: where chains hang, and from one column to the next
BESIDE, EIGHT = 0.62, (0.22, 0.12)  # m: from the chain to the bar, and how far its pin runs
GREEN, BLUE, RED = (0.20, 0.62, 0.34, 1), (0.18, 0.42, 0.78, 1), (0.84, 0.28, 0.20, 1)
WOOD, WIRE = (0.55, 0.42, 0.30, 1), (0.30, 0.32, 0.36, 1)


def hang_chain(scene: Scene) -> None:
    """Hinges and balls, one after the other."""
    node, place = scene.world, rd.pose((0, 0, TOP))
    chain = (joints.revolute("y"), joints.ball(), joints.revolute("x"), joints.ball(), joints.revolute("y"))
    for k, joint in enumerate(chain):
        shape = shapes.Capsule(THICK, LINK - 2 * THICK, at=rd.pose((0, 0, -LINK / 2)), color=GREEN)
        node = node.attach(Body(f"link{k + 1}", [shape], density=DENSITY), joint, at=place)
        place = rd.pose((0, 0, -LINK))


def hang_bar(scene: Scene) -> None:
    """A joint that no engine has: a rotation whose axis runs along a figure eight."""
    q = sp.Symbol("turn", real=True)
    transform = sp.eye(4)
    transform[:3, :3] = sp.rot_axis2(-q)
    transform[0, 3], transform[2, 3] = EIGHT[0] * sp.sin(q), EIGHT[1] * sp.sin(2 * q)
    bar = Body("bar", [shapes.Capsule(0.04, 0.5, at=rd.pose((0, 0, -0.3)), color=GREEN)], density=DENSITY)
    scene.world.attach(bar, joints.Joint(transform, q), at=rd.pose((BESIDE, 0, TOP)))


def waves(dynamics: rd.Dynamics) -> ComputedTorque:
    """The controller: every coordinate follows a wave that grows in the first seconds."""
    rest = dynamics.neutral()

    def target(time: float) -> np.ndarray:
        phases = 2 * np.pi * time / PERIOD + 0.7 * np.arange(dynamics.nv)
        return dynamics.integrate(rest, 0.45 * np.tanh(time**2 / 2) * np.sin(phases), 1.0)

    return ComputedTorque(dynamics, target, frequency=2.0)


class Comparison:
    """Our simulation and its two twins, which take the steps that it has taken, and how far they are from it."""

    def __init__(self, scene: Scene, simulation: rd.Simulation) -> None:
        self.scene, self.simulation = scene, simulation
        self.plot = Plot(
            "distance from ours, m",
            [Curve("held by Bullet's constraints", rgb(BLUE)), Curve("held by nothing", rgb(RED))],
            low=1e-5,
            high=1e-1,
        )
        self.held: ForceTwin | None = None

    def draw(self, mirror: PyBulletMirror) -> None:
        """The twins, in the mirror's own Bullet world, what all hang on, and the bar's path."""
        chain = Scene()
        hang_chain(chain)
        alone = rd.Simulation(chain.compile(), STEP)
        self.held = ForceTwin(chain, alone, mirror.client, at=(APART, 0, 0), color=BLUE)
        self.free = ForceTwin(
            self.scene, self.simulation, mirror.client, constrained=False, at=(2 * APART, 0, 0), color=RED
        )
        self._controllers = [waves(twin.dynamics) for twin in (self.held, self.free)]
        t = np.linspace(0, 2 * np.pi, 200)
        path = np.stack([BESIDE + EIGHT[0] * np.sin(t), 0 * t - 0.06, TOP + EIGHT[1] * np.sin(2 * t)], axis=1)
        for column in (0, 2):
            mirror.add_polyline(path + np.array([column * APART, 0, 0]), color=WIRE, radius=0.008)

    def control(self, simulation: rd.Simulation) -> None:
        """Let the twins take the steps that they are behind by, and note the distances."""
        if self.held is None or self.held.time > simulation.time - STEP / 2:
            return
        while self.held.time < simulation.time - STEP / 2:
            for twin, controller in zip((self.held, self.free), self._controllers, strict=True):
                twin.push(controller)
            pybullet.stepSimulation(physicsClientId=self.held.client)
        ours = simulation.frames()[0][:, :3, 3]
        away = [
            np.linalg.norm(twin.frames()[0][:, :3, 3] - ours[: len(twin.dynamics.bodies)], axis=1).max()
            for twin in (self.held, self.free)
        ]
        self.plot.add(simulation.time, *away)

    def report(self) -> str:
        """The largest distances, and how far the free bodies' joints are open."""
        held, free = (max(curve.values, default=0.0) for curve in self.plot.curves)
        return (
            f"farthest from ours: {held:.2g} m held by Bullet's constraints, {free:.2g} m held by nothing, where joints"
            f" are {self.free.gap:.2g} m open now"
        )


def rgb(color: tuple[float, float, float, float]) -> tuple[int, int, int]:
    """Of 255."""
    return round(255 * color[0]), round(255 * color[1]), round(255 * color[2])


def build() -> Stage:
    """Chain and bar at rest, about to wave."""
    scene = Scene()
    hang_chain(scene)
    hang_bar(scene)
    for column in range(3):
        beam = shapes.Box((1.1, 0.12, 0.08), at=rd.pose((column * APART + 0.22, 0.12, TOP + 0.06)), color=WOOD,
                          collision=False)  # fmt: skip
        scene.world.shapes.append(beam)
    simulation = compiled(scene, STEP, "semi_implicit_euler")
    simulation.control = waves(simulation.dynamics)
    both = Comparison(scene, simulation)
    return Stage(scene, simulation, seconds=8.0, decorate=both.draw, control=both.control, report=both.report,
                 overlay=both.plot.drawn,
                 camera=Camera(target=(APART + 0.1, 0, 1.05), distance=6.6, yaw=0, pitch=-8))  # fmt: skip
