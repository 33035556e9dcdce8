"""A person and a Laikago, read from URDF files, stand on uneven ground and keep their balance while balls hit them.

One quadratic program a timestep finds all torques: trunks are to keep their poses, bodies their postures, feet their
places, with forces inside the cones of friction.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pybullet
import pybullet_data

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.laikago_terrain import GRASS, GREY, GROUND, SAMPLES, SPACING, STANCE, YELLOW, heights
from demos.stage import Stage, compiled
from recursive_dyn import control
from scene import Body, Scene, shapes

PERSON = Path(__file__).parent / "robots" / "person.urdf"
PLACES = {"pelvis": (-0.4, 0.4), "dog.chassis": (0.35, -0.45)}
BENT = {"thigh": -0.35, "shank": 0.7, "foot": -0.35, "forearm": -0.6}  # rad, about y
# where feet carry at first, m from their origins: the person's soles, and the dog's toes, which are balls
Feet = dict[str, list[tuple[float, float, float]]]
SOLE = [(x, y, -0.08) for x in (-0.06, 0.16) for y in (-0.04, 0.04)]
FEET: Feet = {side + "_foot": SOLE for side in ("left", "right")}
TOE = 0.03
TOES: Feet = {f"dog.toe{leg}": [(0.0, 0.0, -TOE)] for leg in ("FL", "FR", "RL", "RR")}
# root, where it stands, feet, what stays upright
ROBOTS = (("pelvis", FEET, ("pelvis", "chest")), ("dog.chassis", TOES, ("dog.chassis",)))
UP = (0.0, 0.0, 1.0)
FRICTION, STRENGTH = 0.5, 250.0  # counted on; N m
BLUE, SKIN, DARK, RED = (0.24, 0.42, 0.68, 1), (0.93, 0.78, 0.65, 1), (0.2, 0.22, 0.26, 1), (0.8, 0.2, 0.16, 1)
# balls: when, s, whom they hit, how far above its origin, m, flying in which direction, rad
BALLS = (
    (1.0, "chest", 0.25, 0.4),
    (1.9, "dog.chassis", 0.0, -1.9),
    (2.8, "chest", 0.2, -2.2),
    (3.7, "dog.chassis", 0, 1.2),
)
BALL, BALL_MASS, BALL_SPEED = 0.09, 1.2, 4.0  # m, kg, m/s along the ground


def yard() -> Scene:
    """Both, and the ground."""
    scene = Scene()
    scene.world.shapes.append(shapes.HeightField(heights(), (SPACING, SPACING), color=GRASS, material=GROUND))
    for root, _, _ in ROBOTS:
        _add(scene, root)
    return scene


def _add(scene: Scene, root: str) -> None:
    if root == "pelvis":
        for body in scene.add_urdf(PERSON).walk():
            bare = any(part in body.name for part in ("head", "forearm"))
            _dress(body, SKIN if bare else DARK if "foot" in body.name or "shank" in body.name else BLUE)
            if body.parent is not body.root():
                body.joint = body.joint.adjusted(armature=0.05, damping=1.0)
        return
    dog = scene.add_urdf(Path(pybullet_data.getDataPath()) / "laikago" / "laikago_toes_zup.urdf", "dog.")
    for body in dog.walk():
        _dress(body, GREY if "leg" in body.name or "toe" in body.name else YELLOW, "toe" in body.name or body is dog)
        if body is not dog and body.joint.coordinates:  # rotors behind gears, without which legs are too light to brace
            body.joint = body.joint.adjusted(armature=0.03, damping=0.5)


def _dress(body: Body, color: tuple[float, ...], touches: bool = True) -> None:
    body.shapes = [replace(s, collision=s.collision and touches, color=color, material=GROUND) for s in body.shapes]


def stance(scene: Scene, dynamics: rd.Dynamics) -> np.ndarray:
    """q (nq,): knees bent, the lowest foot of each just on the ground."""
    q, names = dynamics.neutral(), dynamics.coordinates
    for name, angle in BENT.items():
        for body in (f"left_{name}", f"right_{name}"):
            if f"{body}.angle" in names:
                q[names.index(f"{body}.angle")] = angle
            else:
                at = names.index(f"{body}.qy")
                q[at], q[at + 2] = np.sin(angle / 2), np.cos(angle / 2)
    for joint, body in scene.joint_names.items():
        for part, angle in STANCE.items():
            if f"{part}_2_" in joint:
                q[names.index(f"{body}.angle")] = angle
    for root, (x, y) in PLACES.items():
        at = names.index(f"{root}.x")
        q[at : at + 2] = x, y
    X, index = dynamics.poses(q), dynamics.bodies.index
    soles = [(X[index(foot)] @ [*point, 1.0])[:3] for foot, points in FEET.items() for point in points]
    toes = [X[index(toe), :3, 3] - (0, 0, TOE) for toe in TOES]
    for root, feet in zip(PLACES, (soles, toes), strict=True):
        q[names.index(f"{root}.z")] += max(ground(x, y) - z for x, y, z in feet)
    return q


def ground(x: float, y: float) -> float:
    """Height of the highest corner of the ground's grid around a place, m."""
    i, j = (int(np.floor(c / SPACING)) + SAMPLES // 2 for c in (x, y))
    return float(heights()[i : i + 2, j : j + 2].max())


class Balance:
    """The controllers of both, each of its own model: they stand where they start.

    Feet are counted on where they touched the ground last, with three points at least if they ever had as many. They
    are asked once a step, as a robot's computer would be.
    """

    held = True

    def __init__(self, simulation: rd.Simulation) -> None:
        self._simulation = simulation
        self.programs: list[control.WholeBodyQP] = []
        self._spans: list[tuple[slice, slice]] = []
        self._standing: dict[str, tuple[control.Foothold, ...]] = {}
        self.failed = 0
        nq = nv = 0
        for root, feet, upright in ROBOTS:
            scene = Scene()
            _add(scene, root)
            dynamics = scene.compile()
            span = slice(nq, nq + dynamics.nq), slice(nv, nv + dynamics.nv)
            nq, nv = span[0].stop, span[1].stop
            self.programs.append(_program(dynamics, simulation.q[span[0]], upright, feet))
            self._spans.append(span)
            X = simulation.present.poses
            for foot, points in feet.items():
                turn = X[simulation.dynamics.bodies.index(foot), :3, :3]
                self._standing[foot] = tuple(control.Foothold(foot, turn.T @ p, UP, FRICTION) for p in points)

    def __call__(self, q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
        touching: dict[str, list[control.Foothold]] = {}
        for foothold in control.touching(self._simulation, self._standing):
            touching.setdefault(foothold.body, []).append(foothold)
        for foot, found in touching.items():
            if len(found) >= min(3, len(self._standing[foot])):
                self._standing[foot] = tuple(found)
        tau = np.zeros(len(v))
        for program, (places, slots), (_, feet, _) in zip(self.programs, self._spans, ROBOTS, strict=True):
            program.footholds = [foothold for foot in feet for foothold in self._standing[foot]]
            tau[slots] = program(q[places], v[slots], time)
            self.failed += not program.feasible
        return tau


def _program(dynamics: rd.Dynamics, q: np.ndarray, upright: tuple[str, ...], feet: Feet) -> control.WholeBodyQP:
    """Centre of mass over the middle of the feet, trunk and posture as they are.

    What a blow gives is taken up by the centre of mass first: it counts most, and spin about it is to vanish.
    """
    X, index = dynamics.poses(q), dynamics.bodies.index
    soles = [X[index(foot), :2, 3] + point[:2] for foot, points in feet.items() for point in points]
    center = np.append(np.mean(soles, axis=0), dynamics.center_of_mass(q)[2])
    tasks: list[control.Task] = [control.CenterOfMass(center, frequency=1.0, weight=10.0)]
    tasks += [control.Orientation(body, X[index(body), :3, :3], frequency=1.0) for body in upright]
    tasks += [
        control.Posture(dynamics, q, coordinates=dynamics.velocity_coordinates[6:], weight=0.01, frequency=1.0),
        control.AngularMomentum(weight=0.01),
    ]
    return control.WholeBodyQP(dynamics, tasks, limits=STRENGTH)


def throw(mirror: PyBulletMirror, simulation: rd.Simulation) -> None:
    """Balls of Bullet's own, on their way from the start."""
    client, g = mirror.client, 9.81
    X, bodies = simulation.present.poses, simulation.dynamics.bodies
    solid = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=BALL, physicsClientId=client)
    look = pybullet.createVisualShape(pybullet.GEOM_SPHERE, radius=BALL, rgbaColor=RED, physicsClientId=client)
    for when, body, above, direction in BALLS:
        way = np.array([np.cos(direction), np.sin(direction), 0.0])
        velocity = BALL_SPEED * way + [0, 0, g * when / 2]
        start = X[bodies.index(body), :3, 3] + [0, 0, above] - BALL_SPEED * when * way
        ball = pybullet.createMultiBody(BALL_MASS, solid, look, start.tolist(), physicsClientId=client)
        pybullet.resetBaseVelocity(ball, velocity.tolist(), physicsClientId=client)
        pybullet.changeDynamics(ball, -1, lateralFriction=0.6, linearDamping=0, angularDamping=0, rollingFriction=0.005,
                                physicsClientId=client)  # fmt: skip


def build() -> Stage:
    """Standing, balls in the air."""
    scene = yard()
    simulation = compiled(scene, 1 / 240)
    simulation.q = stance(scene, simulation.dynamics)
    balance = Balance(simulation)
    simulation.control = balance
    return Stage(scene, simulation, seconds=5.0, ground=False, contact=True,
                 decorate=lambda mirror: throw(mirror, simulation),
                 camera=Camera(target=(0, 0, 0.65), distance=3.6, yaw=-35, pitch=-12))  # fmt: skip
