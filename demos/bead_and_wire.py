"""A bead on a wire at 30 steps a second: in reduced coordinates it stays on it (green), in Bullet's it cannot (red).

Guenter & Lee (2009), figure 8. Left, the bead of one coordinate: its place is a point of the curve, whatever the step;
the default rule keeps its energy. Right, the same bead in maximal coordinates as a user of PyBullet would have it: a
body of mass 1 without damping, on a prismatic constraint to the world (createConstraint, JOINT_PRISMATIC) that before
every step is made anew through the nearest point of the wire, along the wire's tangent there; Bullet then steps along
the tangent and corrects what it finds with its own error reduction. (A point-to-point constraint moved to the nearest
point would not let the bead slide at all; without any constraint, its velocity projected onto the tangent, it drifts
off by more than the wire's size.) Both take one step of 1/30 s a frame and leave a dot at each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import pybullet
import sympy as sp

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.joints import Joint

STEP = 1 / 30  # s, as in the paper
RADIUS, MASS = 0.075, 1.0  # of the bead, m and kg
START, SPEED = 0.84, 1.5  # the bead's arc length, m, and rate, m/s
OURS, BULLETS = np.array([-1.4, 0.0, 0.0]), np.array([1.4, 0.0, 0.0])  # where the wires stand
GREEN, RED, WIRE = (0.16, 0.62, 0.30, 1), (0.84, 0.22, 0.18, 1), (0.30, 0.32, 0.36, 1)
POSTS = np.array([0.1, 2.2, 4.3])  # parameters of the wire where a post carries it
WOOD = (0.55, 0.42, 0.30, 1)
DOTS = 60  # the last steps of a bead that are seen


def wire(t: sp.Expr) -> list[sp.Expr]:
    """A bent, wavy ring about 2 m wide, m, closed over 2 pi."""
    reach = 1 + sp.Rational(3, 10) * sp.cos(3 * t)
    height = sp.Rational(17, 10) + sp.Rational(2, 5) * sp.sin(2 * t + sp.Rational(2, 5)) + sp.sin(t) / 4
    return [reach * sp.cos(t), reach * sp.sin(t), height]


def along() -> Joint:
    """The joint of a bead on the wire by arc length: with constant inertia midpoint steps keep its energy."""
    t = sp.Symbol("t", real=True)
    return joints.curve(wire(t), t, "translation", domain=(0.0, 2 * np.pi), closed=True, arc_length=True)


class Wire:
    """The wire as numbers: points, tangents, and the point nearest to a place."""

    def __init__(self) -> None:
        t = sp.Symbol("t", real=True)
        f = sp.Matrix(wire(t))
        self._levels = [sp.lambdify(t, list(f.diff(t, k)), cse=True) for k in range(3)]
        self._samples = np.linspace(0.0, 2 * np.pi, 2000, endpoint=False)
        self._points = self.point(self._samples)

    def point(self, t: float | np.ndarray) -> np.ndarray:
        """Points (..., 3)."""
        return np.stack(np.broadcast_arrays(*self._levels[0](t)), axis=-1)

    def tangent(self, t: float) -> np.ndarray:
        """The unit tangent (3,)."""
        slope = np.array(self._levels[1](t))
        return slope / np.linalg.norm(slope)

    def nearest(self, x: np.ndarray) -> float:
        """The parameter of the point nearest to x: of the samples, then where x - f is across f', by Newton."""
        t = float(self._samples[np.argmin(((self._points - x) ** 2).sum(axis=1))])
        for _ in range(8):
            f, slope, bend = (np.array(level(t)) for level in self._levels)
            away = x - f
            t += float(away @ slope) / max(float(slope @ slope - away @ bend), 0.1 * float(slope @ slope))
        return t

    def distance(self, x: np.ndarray) -> float:
        """How far x is from the wire, m."""
        return float(np.linalg.norm(x - self.point(self.nearest(x))))


class BulletBead:
    """The bead as a body of a Bullet world, on a prismatic constraint that is aimed along the wire at every step."""

    def __init__(self, wire: Wire, client: int, place: np.ndarray) -> None:
        self.wire, self.client, self.place = wire, client, place
        self.time, self.farthest = 0.0, 0.0
        pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
        pybullet.setPhysicsEngineParameter(fixedTimeStep=STEP, numSubSteps=1, physicsClientId=client)
        ball = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=RADIUS, physicsClientId=client)
        look = pybullet.createVisualShape(pybullet.GEOM_SPHERE, radius=RADIUS, rgbaColor=RED, physicsClientId=client)
        path = along().path
        assert path is not None
        t = wire.nearest(path(START))
        start = place + wire.point(t)
        self.body = pybullet.createMultiBody(MASS, ball, look, start.tolist(), physicsClientId=client)
        pybullet.changeDynamics(self.body, -1, linearDamping=0, angularDamping=0, physicsClientId=client)
        velocity = SPEED * wire.tangent(t)
        pybullet.resetBaseVelocity(self.body, velocity.tolist(), [0, 0, 0], physicsClientId=client)
        self.constraint: int | None = None

    @property
    def position(self) -> np.ndarray:
        """Where Bullet has it, in the wire's own axes (3,)."""
        return np.array(pybullet.getBasePositionAndOrientation(self.body, self.client)[0]) - self.place

    def energy(self) -> float:
        """Kinetic and gravity's, J."""
        velocity = np.array(pybullet.getBaseVelocity(self.body, self.client)[0])
        return float(MASS * (velocity @ velocity / 2 + 9.81 * self.position[2]))

    def step(self) -> None:
        """Aim the constraint at the wire, and let Bullet take one step."""
        t = self.wire.nearest(self.position)
        if self.constraint is not None:
            pybullet.removeConstraint(self.constraint, physicsClientId=self.client)
        pivot = (self.place + self.wire.point(t)).tolist()
        self.constraint = pybullet.createConstraint(
            self.body, -1, -1, -1, pybullet.JOINT_PRISMATIC, self.wire.tangent(t).tolist(), [0, 0, 0], pivot,
            [0, 0, 0, 1], [0, 0, 0, 1], physicsClientId=self.client,
        )  # fmt: skip
        pybullet.changeConstraint(self.constraint, maxForce=1e6, physicsClientId=self.client)
        pybullet.stepSimulation(physicsClientId=self.client)
        self.time += STEP
        self.farthest = max(self.farthest, self.wire.distance(self.position))


class Trail:
    """Dots of a colour in a Bullet world where something was."""

    def __init__(self, client: int, color: Sequence[float]) -> None:
        self._client = client
        dot = pybullet.createVisualShape(pybullet.GEOM_SPHERE, radius=0.022, rgbaColor=color, physicsClientId=client)
        below = [0, 0, -1.0]  # out of sight until it is its turn
        bodies = [pybullet.createMultiBody(0, -1, dot, below, physicsClientId=client) for _ in range(DOTS)]
        self._next = cycle(bodies)

    def add(self, point: np.ndarray) -> None:
        """A dot here; the oldest goes."""
        pybullet.resetBasePositionAndOrientation(
            next(self._next), point.tolist(), [0, 0, 0, 1], physicsClientId=self._client
        )


class Comparison:
    """Both beads, step by step, and how far each has been from its wire."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.farthest, self._steps = 0.0, 0
        self.bullet: BulletBead | None = None

    def draw(self, mirror: PyBulletMirror) -> None:
        """The wires, the other bead and the trails' dots, in the mirror's own Bullet world."""
        points = self.wire.point(np.linspace(0, 2 * np.pi, 300))
        for place in (OURS, BULLETS):
            mirror.add_polyline(points + place, color=WIRE, radius=0.013)
        self.bullet = BulletBead(self.wire, mirror.client, BULLETS)
        self._trails = [Trail(mirror.client, color) for color in ((0.45, 0.82, 0.5, 1), (0.95, 0.55, 0.45, 1))]

    def control(self, simulation: rd.Simulation) -> None:
        """Called before each of our steps: Bullet takes those that it is behind by, and both leave their dots."""
        if self.bullet is None or round(simulation.time / STEP) == self._steps:
            return
        self._steps = round(simulation.time / STEP)
        here = simulation.dynamics.poses(simulation.q)[0, :3, 3]
        self.farthest = max(self.farthest, self.wire.distance(here - OURS))
        self.bullet.step()
        self._trails[0].add(here)
        self._trails[1].add(self.bullet.position + BULLETS)

    def report(self) -> str:
        """The distances and energies so far."""
        assert self.bullet is not None
        return (
            f"farthest from the wire in {self._steps} steps of 1/30 s: ours {self.farthest:.2g} m,"
            f" Bullet's {self.bullet.farthest:.2g} m"
        )


def bead() -> tuple[Scene, np.ndarray, np.ndarray]:
    """The scene of our bead, one coordinate, with its (q, v) at the start."""
    scene = Scene()
    ball = Body("bead", [shapes.Sphere(RADIUS, color=GREEN)], mass=MASS)
    scene.world.attach(ball, along(), at=rd.pose(OURS.tolist()))
    return scene, np.array([START]), np.array([SPEED])


def build() -> Stage:
    """Both beads let go near the top with the same push."""
    scene, q, v = bead()
    simulation = compiled(scene, STEP)
    simulation.q, simulation.v = q, v
    both = Comparison(Wire())
    for place in (OURS, BULLETS):
        for x, y, z in both.wire.point(POSTS) + place:
            post = shapes.Cylinder(0.022, z, at=rd.pose((x, y, z / 2)), color=WOOD, collision=False)
            scene.world.shapes.append(post)
    return Stage(scene, simulation, seconds=10.0, decorate=both.draw, control=both.control, report=both.report,
                 camera=Camera(target=(0, 0, 1.25), distance=6.2, yaw=0, pitch=-27))  # fmt: skip
