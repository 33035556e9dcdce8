"""A roller coaster: a train of five cars on a closed B-spline with a loop, one coordinate, and passengers that sway.

A car is a joint along the track (Guenter & Lee 2009, section 5, has it as an example), which is banked: every control
point has its own upward direction. All cars are driven by one shared coordinate, the leading car's way s in metres: car
k is at s - k GAP. The passengers sit on springs. A chain lift gives back on the last climb what friction took. One
step a frame of 1/60 s, by the default rule.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import trimesh

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.joints import CurvePath, Joint

CONTROL = np.array([  # points of the track, m, and which way is up for the cars there
    (-15.5, -7.0, 12.0, 0.0, 0.0, 1.0), (-11.0, -7.0, 11.6, 0.0, 0.0, 1.0), (-7.0, -7.0, 7.5, 0.0, 0.0, 1.0),
    (-3.5, -7.0, 2.6, 0.0, 0.0, 1.0), (0.5, -7.0, 0.4, 0.0, 0.0, 1.0), (5.0, -7.0, 0.4, 0.0, 0.0, 1.0),
    (9.6, -6.9, 1.6, -1.0, 0.0, 0.6), (10.6, -6.6, 6.0, -1.0, 0.0, -0.2), (7.6, -6.2, 9.6, -0.3, 0.0, -1.0),
    (3.4, -5.6, 9.6, 0.3, 0.0, -1.0), (0.4, -5.2, 6.0, 1.0, 0.0, -0.2), (1.4, -4.9, 1.6, 1.0, 0.0, 0.6),
    (6.0, -4.8, 0.4, 0.0, 0.0, 1.0), (11.0, -4.6, 0.6, 0.0, 0.2, 1.0), (16.5, -3.4, 1.2, -0.5, 0.9, 1.0),
    (19.8, 0.8, 2.2, -1.2, 0.0, 1.0), (18.4, 5.6, 2.6, -0.7, -1.0, 1.0), (13.4, 7.6, 1.4, 0.0, -0.5, 1.0),
    (8.6, 7.4, 1.4, 0.0, 0.0, 1.0), (4.4, 7.0, 4.6, 0.0, 0.0, 1.0), (0.6, 6.8, 4.6, 0.0, 0.0, 1.0),
    (-3.6, 7.0, 1.2, 0.0, 0.0, 1.0), (-8.4, 7.6, 1.0, 0.0, -0.3, 1.0), (-13.6, 7.4, 2.0, 0.3, -0.6, 1.0),
    (-18.2, 4.6, 4.2, 0.5, -0.3, 1.0), (-20.4, 0.0, 7.4, 0.4, 0.0, 1.0), (-19.4, -4.8, 10.6, 0.3, 0.2, 1.0),
])  # fmt: skip
DEGREE = 5
CARS, GAP = 5, 2.0  # m
CAR_MASS, PERSON_MASS = 320.0, 60.0  # kg
GAUGE, RAIL = 0.46, 0.05  # half the distance of the rails and their radius, m
SEAT_STIFFNESS, SEAT_DAMPING = 1500.0, 90.0  # N m/rad and N m s/rad of a passenger's hip
DRAG = 25.0  # N s/m
LIFT, LIFT_SPEED, LIFT_GAIN = (0.80, 0.24), 5.0, 9000.0  # where it begins and how long, of the lap, m/s, N s/m
START, SPEED = 0.035, 4.0  # of the lap, m/s
RED, STEEL, BLUE, DARK = (0.80, 0.18, 0.16, 1), (0.86, 0.87, 0.90, 1), (0.17, 0.38, 0.66, 1), (0.16, 0.17, 0.20, 1)
SKIN, SHIRTS = (0.91, 0.74, 0.62, 1), ((0.95, 0.73, 0.2, 1), (0.3, 0.65, 0.42, 1), (0.25, 0.6, 0.85, 1))


@cache
def rail() -> Joint:
    """The joint of a car on the track, metres along it."""
    return joints.bspline(CONTROL[:, :3], degree=DEGREE, closed=True, arc_length=True, frame="up", up=CONTROL[:, 3:])


def path() -> CurvePath:
    """The track as numbers: poses of a car at metres along it."""
    found = rail().path
    assert found is not None
    return found


def car(k: int) -> Body:
    """A car: x forward, z up, its wheels on the rails; the first one has a nose."""
    parts: list[shapes.Shape] = [
        shapes.Box((1.5, 0.86, 0.10), at=rd.pose((0, 0, 0.33)), color=DARK),
        shapes.Box((1.5, 0.07, 0.34), at=rd.pose((0, 0.43, 0.52)), color=RED),
        shapes.Box((1.5, 0.07, 0.34), at=rd.pose((0, -0.43, 0.52)), color=RED),
        shapes.Box((0.08, 0.86, 0.40), at=rd.pose((0.72, 0, 0.54)), color=RED),
        shapes.Box((0.10, 0.82, 0.75), at=rd.pose((-0.55, 0, 0.72), (0, -0.15, 0)), color=DARK),
        shapes.Cylinder(0.05, 0.6, at=rd.pose((1.0, 0, 0.30), (0, np.pi / 2, 0)), color=DARK),
    ]
    if k == 0:
        parts[-1] = shapes.Ellipsoid((0.55, 0.44, 0.24), at=rd.pose((0.74, 0, 0.52)), color=RED)
    for x in (-0.5, 0.5):
        for side in (-1, 1):
            wheel = rd.pose((x, side * GAUGE, RAIL + 0.13), (np.pi / 2, 0, 0))
            guide = rd.pose((x, side * (GAUGE + 0.11), -0.01))
            parts.append(shapes.Cylinder(0.14, 0.09, at=wheel, color=DARK))
            parts.append(shapes.Cylinder(0.07, 0.06, at=guide, color=DARK))
    return Body(f"car{k}", parts, mass=CAR_MASS)


def passenger(name: str, shirt: tuple[float, ...]) -> Body:
    """A torso with its head and raised arms, above the hip."""
    arms = [
        shapes.Capsule(0.05, 0.42, at=rd.pose((0.06, 0.2 * side, 0.66), (-0.25 * side, 0.2, 0)), color=SKIN)
        for side in (-1, 1)
    ]
    torso = shapes.Capsule(0.15, 0.26, at=rd.pose((0, 0, 0.26)), color=shirt)
    return Body(name, [torso, shapes.Sphere(0.13, at=rd.pose((0.02, 0, 0.66)), color=SKIN), *arms], mass=PERSON_MASS)


def train(damping: float = 1.0) -> Scene:
    """The train, 1 + 4 CARS coordinates; ``damping`` multiplies that of passengers and track."""
    scene = Scene()
    s = scene.coordinate("s", damping=damping * DRAG)
    for k in range(CARS):
        body = scene.world.attach(car(k), rail().driven(s - k * GAP))
        for side, y in enumerate((-0.21, 0.21)):
            hip = joints.universal("x", "y", stiffness=SEAT_STIFFNESS, damping=damping * SEAT_DAMPING)
            someone = passenger(f"passenger{k}{'ab'[side]}", SHIRTS[(2 * k + side) % len(SHIRTS)])
            body.attach(someone, hip, at=rd.pose((-0.22, y, 0.42)))
    return scene


def set_off(simulation: rd.Simulation) -> None:
    """The train over the top of the lift hill."""
    simulation.q[0], simulation.v[0] = START * path().length, SPEED


def lift(simulation: rd.Simulation) -> None:
    """The chain pulls a train that is slower than it on the last climb."""
    share = (simulation.q[0] / path().length - LIFT[0]) % 1.0
    slow = max(0.0, LIFT_SPEED - simulation.v[0])
    simulation.tau[0] = LIFT_GAIN * slow if share < LIFT[1] else 0.0


def build() -> Stage:
    """The train at the top of the lift hill."""
    scene = train()
    scene.world.shapes += pylons()
    simulation = compiled(scene, 1 / 60)
    set_off(simulation)
    return Stage(scene, simulation, seconds=16.0, decorate=draw, control=lift,
                 camera=Camera(target=(-0.6, 0.0, 3.4), distance=44.0, yaw=12, pitch=-21))  # fmt: skip


def draw(mirror: PyBulletMirror) -> None:
    """Rails, the tube that carries them, and sleepers."""
    X = path().frames(np.linspace(0.0, path().length, 900))
    for y in (-GAUGE, GAUGE):
        mirror.add_polyline(X[:, :3, 3] + y * X[:, :3, 1], color=STEEL, radius=RAIL)
    mirror.add_polyline(X[:, :3, 3] - 0.42 * X[:, :3, 2], color=BLUE, radius=0.15)
    places = path().frames(np.arange(0.0, path().length, 0.9))
    ties = [trimesh.creation.box((0.09, 2 * GAUGE, 0.07), place @ rd.pose((0, 0, -0.06))) for place in places]
    ties += [trimesh.creation.box((0.12, 0.12, 0.36), place @ rd.pose((0, 0, -0.24))) for place in places]
    mesh = trimesh.util.concatenate(ties)
    mirror.add_surface(mesh.vertices, mesh.faces, color=BLUE)


def pylons() -> list[shapes.Shape]:
    """Posts below the track where it is upright, but not where they would stand on the track underneath."""
    every = path().frames(np.linspace(0.0, path().length, 600))[:, :3, 3]
    found: list[shapes.Shape] = []
    for X in path().frames(np.linspace(0.0, path().length, 27, endpoint=False)):
        x, y, z = X[:3, 3] - 0.42 * X[:3, 2]
        near = np.hypot(every[:, 0] - x, every[:, 1] - y) < 1.2
        if X[2, 2] > 0.5 and z > 0.5 and not (near & (every[:, 2] < z - 1.0)).any():
            found.append(shapes.Cylinder(0.13, z, at=rd.pose((x, y, z / 2)), color=STEEL, collision=False))
            found.append(shapes.Cylinder(0.4, 0.12, at=rd.pose((x, y, 0.06)), color=DARK, collision=False))
    return found
