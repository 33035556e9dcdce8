"""An ellipsoid rolls without slipping around a larger one: four coordinates and a turn, two of them bound by rolling.

Guenter & Lee (2009), figure 5e and eq. 15, 16: the joint makes the surfaces touch, two nonholonomic rows of
``scene.roll`` keep the ways over both alike. The contact holds from both sides, so that the ball also hangs beneath.
The poles of both surfaces lie on the y axis, which the way round does not reach, so that one chart serves and its
coordinates draw the way. Gravity is the moon's; one RK4 step a frame of 1/60 s.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sympy as sp
import trimesh

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.joints import surfaces

MOON = (0.0, 0.0, -1.62)  # m/s^2: slow enough for steps of 1/60 s
LARGE, SMALL = (0.9, 1.1, 0.7), (0.4, 0.3, 0.36)  # semi-axes, m
HEIGHT, SECONDS = 1.7, 20.0
START, PUSH = (np.pi / 2, 0.3, 0.0, 0.1, 0.0), (2.0, 0.3, 0.0, 0.0, 0.0)
STONE, TRAIL = (0.72, 0.74, 0.78, 1), (0.15, 0.3, 0.5, 1)
STRIPES = ((0.9, 0.35, 0.2, 1), (0.97, 0.93, 0.85, 1))


def striped(surface: surfaces.Surface, count: int = 8) -> list[shapes.Shape]:
    """The surface in ``count`` wedges of two colours between its poles, so that its turning is seen."""
    edges = np.linspace(0.0, 2 * np.pi, count + 1)
    wedges = [surface.mesh(13, 33, u=(low, high)) for low, high in pairwise(edges)]
    return [
        shapes.Mesh(trimesh.Trimesh(*wedge, process=False), color=STRIPES[i % 2], collision=False)
        for i, wedge in enumerate(wedges)
    ]


def rolling() -> Scene:
    """The small ellipsoid on the large one, which stands in the world."""
    scene = Scene(gravity=MOON)
    scene.world.shapes.append(shapes.Ellipsoid(LARGE, at=rd.pose((0, 0, HEIGHT)), color=STONE))
    under, over = surfaces.ellipsoid(*LARGE, poles="y"), surfaces.ellipsoid(*SMALL, poles="y")
    a, b, c = SMALL
    mass = 60.0
    solid = mass / 5 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    ball = Body("ball", striped(over), mass=mass, center_of_mass=(0, 0, 0), inertia=solid)
    joint = joints.surface_on_surface(under, over, spin=True, charts=False)
    scene.world.attach(ball, joint, at=rd.pose((0, 0, HEIGHT)))
    scene.roll(ball)
    return scene


def trail(start: rd.Simulation, seconds: float) -> np.ndarray:
    """Where the ball is going to touch the large ellipsoid (n, 3), m."""
    ahead = rd.Simulation(start.dynamics, start.timestep, start.integrator)
    ahead.q, ahead.v = start.q, start.v
    places = []
    for _ in range(round(seconds / ahead.timestep)):
        places.append(ahead.q[:2].copy())
        ahead.step()
    under = surfaces.ellipsoid(*LARGE, poles="y")
    u, v = np.array(places).T
    return np.stack(sp.lambdify(under.coordinates, under.f)(u, v), axis=-1) + np.array([0, 0, HEIGHT])


def build() -> Stage:
    """The ball starts on the side, fast enough to go over the top; its way on the large ellipsoid is drawn ahead."""
    scene = rolling()
    simulation = compiled(scene, 1 / 60)
    simulation.q, simulation.v = simulation.dynamics.project(START, PUSH)
    way = trail(simulation, SECONDS)

    def decorate(mirror: PyBulletMirror) -> None:
        mirror.add_polyline(way, color=TRAIL, radius=0.008)

    return Stage(scene, simulation, seconds=SECONDS, decorate=decorate,
                 camera=Camera(target=(0, 0, HEIGHT - 0.15), distance=5.0, yaw=28, pitch=-14))  # fmt: skip
