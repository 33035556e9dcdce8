"""A robot swings a chain of rings and a ball through bricks; a person on a chairlift kicks over what is in the way.

Joints that engines with a list of them do not have, in one solve with contact: the arm is a KUKA read from its file, a
ring on a ring is the tangent frames of two tori made to coincide, S1 S2^-1 (Guenter & Lee 2009, eq. 15), the chair's
carriage runs along a closed spline, one coordinate, and the person's balls and hinges are held by motors.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.kuka import HEIGHT, PEDESTAL, arm
from demos.leg import rod
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.joints import Joint

RADIUS, TUBE, RINGS = 0.10, 0.022, 5
BALL = 0.085
REST = (0.0, 0.55, 0.0, -1.35, 0.0, np.pi - 1.9, 0.0)  # hand down
HOLD, DAMPING, TURN = 800.0, 20.0, 220.0  # N m/rad, N m s/rad of the arm's springs; N m/rad of its base's motion
SWEEP, PACE = 1.25, 1.9  # rad, rad/s
LOOP, UP, WAVE = 1.7, 1.12, 0.1  # of the chairlift: radius, height above the robot's foot, m
POSTS, OUT = 5, 1.42  # of the track, and how much farther out they stand
CHAIR = 1.05  # below its carriage, m
SPEED, PULL = 1.1, 600.0  # m/s, N
STRENGTH = 250.0  # of the person, N m
START = -2.3  # rad around the robot
PERSON = Path(__file__).parent / "robots" / "person.urdf"
# how the person sits: turns of balls and angles of hinges about y, rad
SITTING = {"chest": -0.1, "head": 0.1, "thigh": -1.45, "shank": 1.1, "foot": 0.2, "upper_arm": -0.7, "forearm": -0.9}
BRICK, CUBE = (0.11, 0.24, 0.12), 0.24  # m
GOLD, STEEL, IRON = (0.9, 0.68, 0.2, 1), (0.55, 0.6, 0.68, 1), (0.3, 0.32, 0.36, 1)
CLAY, RED, BLUE, TEAL = (0.72, 0.38, 0.28, 1), (0.66, 0.3, 0.22, 1), (0.24, 0.42, 0.68, 1), (0.2, 0.6, 0.6, 1)
SKIN, DARK, WOOD = (0.93, 0.78, 0.65, 1), (0.2, 0.22, 0.26, 1), (0.62, 0.47, 0.3, 1)
LIGHT = rd.Material(friction=0.5, restitution=0.1)


def add_chain(scene: Scene) -> None:
    """The robot's springs, and rings from its hand to a ball."""
    for k, angle in enumerate(REST):
        body = scene[f"lbr_iiwa_link_{k + 1}"]
        body.joint = body.joint.adjusted(stiffness=HOLD if k else 0.0, rest=angle, damping=DAMPING)
    torus = joints.surfaces.torus(RADIUS, TUBE)
    link = joints.surface_on_surface(torus, torus, turn=np.pi / 2, damping=4e-3)
    node, joint = scene["lbr_iiwa_link_7"], joints.fixed()
    place = rd.pose((0, 0, 0.045 + RADIUS + TUBE), (np.pi / 2, 0, 0))
    for i in range(RINGS):
        look = shapes.Torus(RADIUS, TUBE, color=STEEL if i % 2 else GOLD, material=LIGHT)
        node = node.attach(Body(f"ring{i}", [look], density=600), joint, at=None if i else place)
        joint = link
    ball = shapes.Sphere(BALL, color=IRON, material=LIGHT)
    node.attach(Body("ball", [ball], density=2500), joints.fixed(), at=rd.pose((0, RADIUS + 0.9 * BALL, 0)))


def around(angle: float, radius: float, z: float) -> np.ndarray:
    """A pose (4, 4) at an angle around the robot, x ahead on a circle, y towards its middle."""
    return rd.pose((radius * np.cos(angle), radius * np.sin(angle), z), (0, 0, angle + np.pi / 2))


@cache
def track() -> Joint:
    """The carriage's joint, metres along a loop that goes up and down."""
    angles = START + np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
    points = [(LOOP * np.cos(a), LOOP * np.sin(a), UP + WAVE * np.sin(3 * a)) for a in angles]
    return joints.bspline(points, degree=5, closed=True, interpolate=True, arc_length=True, frame="up", up=(0, 0, 1))


def add_chairlift(scene: Scene) -> None:
    """Carriage, chair and person, who sits with a belt."""
    wheels = [shapes.Cylinder(0.05, 0.05, at=rd.pose((x, 0, 0.04), (np.pi / 2, 0, 0)), color=DARK) for x in (-0.1, 0.1)]
    box = shapes.Box((0.3, 0.08, 0.06), at=rd.pose((0, 0, -0.03)), color=RED)
    parts = [replace(shape, collision=False) for shape in (box, *wheels)]
    carriage = scene.world.attach(Body("carriage", parts, mass=8.0, center_of_mass=(0, 0, 0), inertia=0.1 * np.eye(3)),
                                  track())  # fmt: skip
    back = [np.array(p) for p in ((0, 0, 0), (-0.26, 0, -0.28), (-0.26, 0, -CHAIR), (0.16, 0, -CHAIR))]
    bars = [rod(a, b, 0.018, STEEL) for a, b in pairwise(back)]
    seat = shapes.Box((0.36, 0.4, 0.03), at=rd.pose((-0.02, 0, -CHAIR)), color=WOOD)
    chair = Body("chair", [replace(shape, collision=False) for shape in (*bars, seat)], mass=6.0,
                 center_of_mass=(-0.1, 0, -CHAIR), inertia=0.3 * np.eye(3))  # fmt: skip
    carriage.attach(chair, joints.universal("x", "y", damping=12.0))
    pelvis = scene.add_urdf(PERSON)
    for body in pelvis.walk():
        bare = any(part in body.name for part in ("head", "forearm"))
        color = SKIN if bare else DARK if "foot" in body.name or "shank" in body.name else BLUE
        body.shapes = [replace(shape, color=color, material=LIGHT) for shape in body.shapes]
        if body is not pelvis:
            body.joint = body.joint.adjusted(armature=0.02)
    pelvis.detach()
    belt = joints.universal("x", "y", stiffness=900.0, damping=60.0)
    chair.attach(pelvis, belt, at=rd.pose((-0.06, 0, -CHAIR + 0.09)))


def add_bricks(scene: Scene) -> None:
    """A wall in the ball's way, and towers in the chair's."""
    for k, angle in enumerate((0.8, 1.1, -1.0)):
        for row in range(4):
            for column in range(2):
                place = around(angle, 0.62 + 0.26 * column, -HEIGHT + (row + 0.5) * BRICK[2])
                look = shapes.Box(BRICK, color=CLAY if (row + column) % 2 else RED, material=LIGHT)
                scene.world.attach(Body(f"brick{k}.{row}.{column}", [look], density=250), joints.free(), at=place)
    for k, angle in enumerate((-1.05, 0.95, 2.6)):
        for row in range(3):
            look = shapes.Box((CUBE, CUBE, CUBE), color=(TEAL, GOLD, BLUE)[(row + k) % 3], material=LIGHT)
            place = around(angle, LOOP, -HEIGHT + (row + 0.5) * CUBE)
            scene.world.attach(Body(f"cube{k}.{row}", [look], density=60), joints.free(), at=place)


def posts() -> list[shapes.Shape]:
    """What carries the track: arms from outside, past which the chair goes."""
    result: list[shapes.Shape] = []
    path = track().path
    assert path is not None
    for X in path.frames((np.arange(POSTS) + 0.36) * path.length / POSTS):
        foot, top = X[:3, 3] * (OUT, OUT, 0) - (0, 0, HEIGHT), X[:3, 3] * (OUT, OUT, 1) + (0, 0, 0.25)
        result += [rod(foot, top, 0.03, IRON), rod(top, X[:3, 3] + (0, 0, 0.02), 0.022, IRON)]
    return result


def build() -> Stage:
    """All of it; the chain hangs, the person sits."""
    scene = arm(self_collision=False)
    add_chain(scene)
    add_chairlift(scene)
    add_bricks(scene)
    scene.world.shapes += [PEDESTAL, *posts()]
    simulation = compiled(scene, 1 / 240)
    names = simulation.dynamics.coordinates
    simulation.q[names.index("lbr_iiwa_link_1.angle") :][:7] = REST
    for i in range(1, RINGS):  # each touches the inside of the one above at its lowest point
        first = next(k for k, name in enumerate(names) if name.startswith(f"ring{i}."))
        simulation.q[first : first + 4] = np.pi / 2, np.pi, -np.pi / 2, np.pi
    sit(simulation)
    simulation.v[simulation.dynamics.velocity_coordinates.index("carriage.s")] = SPEED
    simulation.motors["carriage.s"] = rd.Motor(velocity=SPEED, max_force=PULL)
    return Stage(scene, simulation, seconds=8.0, ground=-HEIGHT, control=swing, contact=True, decorate=draw,
                 camera=Camera(target=(0.05, 0, 0.02), distance=5.9, yaw=20, pitch=-19))  # fmt: skip


def sit(simulation: rd.Simulation) -> None:
    """Put the person into the chair, and let motors hold the posture."""
    names = simulation.dynamics.coordinates
    for part, angle in SITTING.items():
        for body in (part, f"left_{part}", f"right_{part}"):
            if f"{body}.angle" in names:
                simulation.q[names.index(f"{body}.angle")] = angle
                simulation.motors[f"{body}.angle"] = rd.Motor(position=angle, max_force=STRENGTH)
            elif f"{body}.qy" in names:
                first = names.index(f"{body}.qx")
                turn = (0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2))
                simulation.q[first : first + 4] = turn
                simulation.motors[body] = rd.Motor(position=turn, max_force=STRENGTH)


def swing(simulation: rd.Simulation) -> None:
    """Turn the robot's base to and fro."""
    slot = simulation.dynamics.velocity_coordinates.index("lbr_iiwa_link_1.angle")
    simulation.tau[slot] = TURN * (SWEEP * np.sin(PACE * simulation.time) - simulation.q[slot])


def draw(mirror: PyBulletMirror) -> None:
    """The track."""
    path = track().path
    assert path is not None
    points = path.points(200)
    mirror.add_polyline(points, STEEL, 0.016)
