"""Riders run over the poles of a globe, and a handle on three Euler angles tumbles through gimbal lock.

A sphere has no coordinates without poles and a rotation no three angles without a lock, so these joints have two charts
each, and the simulation goes on in the other where one becomes singular (Si & Guenter 2011, section 6). The globe shows
both: circles of longitude and latitude about the vertical axis, and about the horizontal one. The handle turns over
again and again, as free bodies do that turn about their middle axis. Runge-Kutta steps of a frame, 1/60 s.
"""

from __future__ import annotations

import numpy as np
from trimesh import creation

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

RADIUS, CENTER = 0.75, np.array([0.0, -0.65, 1.05])
PIVOT, TILT = np.array([0.0, 0.85, 1.15]), (1.1, 0.0, 0.0)
RED, YELLOW, GREEN, VIOLET = (0.85, 0.22, 0.16, 1), (0.95, 0.68, 0.14, 1), (0.26, 0.60, 0.32, 1), (0.55, 0.36, 0.70, 1)
VERTICAL, HORIZONTAL, GLOBE = (0.16, 0.36, 0.62, 1), (0.86, 0.50, 0.20, 1), (0.80, 0.86, 0.90, 1)
STEEL, BRASS = (0.62, 0.65, 0.70, 1), (0.86, 0.66, 0.24, 1)
SIZE = 0.07  # radius of a rider, m
RIDES = (  # rates of longitude, latitude and spin at the start, rad/s
    (RED, (0.0, 6.6, 1.0)),
    (YELLOW, (0.06, 6.9, -3.0)),
    (GREEN, (-0.25, 7.2, 2.0)),
    (VIOLET, (0.5, 7.0, -1.0)),
)


def rider(color: tuple[float, ...], name: str) -> Body:
    """A ball that touches the globe, with a bar that shows its spin."""
    ball = shapes.Sphere(SIZE, at=rd.pose((0, 0, SIZE)), color=color)
    bar = shapes.Capsule(0.022, 0.26, at=rd.pose((0, 0, SIZE), (0, np.pi / 2, 0)), color=(0.22, 0.24, 0.27, 1))
    return Body(name, [ball, bar], density=800)


def handle() -> Body:
    """A stem along y with a crossbar along x; the middle moment of inertia is that about the stem."""
    bar = shapes.Capsule(0.08, 0.8, at=rd.pose((0, 0, 0), (0, np.pi / 2, 0)), color=STEEL)
    stem = shapes.Cylinder(0.07, 0.44, at=rd.pose((0, 0.26, 0), (np.pi / 2, 0, 0)), color=BRASS)
    return Body("handle", [bar, stem], density=1000)


def globe() -> joints.Joint:
    """Gliding on the globe and turning about its normal, with poles on z, or on x."""
    glides = (joints.surface(joints.surfaces.sphere(RADIUS, poles=axis)) for axis in "zx")
    return joints.charts(*(glide @ joints.revolute("z") for glide in glides))


def build() -> Stage:
    """Four riders, fast enough for the top, and the handle, started with a slight wobble."""
    scene = Scene()
    track = globe()
    for i, (color, _) in enumerate(RIDES):
        scene.world.attach(rider(color, f"rider{i}"), track, at=rd.pose(CENTER, (0, 0, 1.6 * i)))
    body = handle()
    angles = joints.charts(joints.euler("xyz"), joints.euler("zxz"))
    scene.world.attach(body, angles @ joints.fixed(rd.pose(-body.center_of_mass)), at=rd.pose(PIVOT, TILT))
    simulation = compiled(scene, 1 / 60)
    for i, (_, rates) in enumerate(RIDES):
        simulation.q[3 * i : 3 * i + 3] = 0.0, -0.9 + 0.6 * i, 0.4 * i
        simulation.v[3 * i : 3 * i + 3] = rates
    simulation.v[-3:] = 0.05, 7.0, 0.02  # about the stem: through the lock of xyz twice a turn
    return Stage(scene, simulation, seconds=8.0, decorate=draw,
                 camera=Camera(target=(0, 0.12, 0.98), distance=4.0, yaw=68, pitch=-18))  # fmt: skip


def draw(mirror: PyBulletMirror) -> None:
    """The globe on its stand, with the circles of both charts."""
    ball = creation.icosphere(subdivisions=4, radius=RADIUS - 0.004)
    mirror.add_surface(ball.vertices + CENTER, ball.faces, color=GLOBE)
    turned = np.roll(np.eye(3), 1, axis=1)  # z becomes x
    for frame, color in ((np.eye(3), VERTICAL), (turned, HORIZONTAL)):
        for circle in circles():
            mirror.add_polyline(circle @ frame + CENTER, color=color, radius=0.005)
    foot = CENTER * (1, 1, 0)
    mirror.add_polyline(np.array([foot, CENTER]), color=(0.3, 0.32, 0.35, 1), radius=0.03)


def circles() -> list[np.ndarray]:
    """Circles of longitude and latitude (n, 3) about z, 30 degrees apart."""
    t = np.linspace(0.0, 2 * np.pi, 97)
    step = np.pi / 6
    around = [
        np.stack([np.cos(a) * np.cos(t), np.sin(a) * np.cos(t), np.sin(t)], axis=1) for a in np.arange(0.0, np.pi, step)
    ]
    across = [
        np.stack([np.cos(b) * np.cos(t), np.cos(b) * np.sin(t), np.sin(b) + 0.0 * t], axis=1)
        for b in np.arange(-2, 3) * step
    ]
    return [RADIUS * circle for circle in around + across]
