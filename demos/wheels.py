"""Wheels that roll without slipping: two in a half circle, a pinion with a pendulum on a rack, a pair of gears.

Guenter & Lee (2009), figure 5c: the position and the turn of a rolling wheel are functions of one coordinate, so that
there is nothing to constrain. The yellow and green wheel rolls in a half circle and a smaller one rolls in it; a pinion
carries a pendulum to and fro on its rack; of two gears, 12 teeth in 24, the smaller one has a heavy spot. Five
coordinates. One step a frame of 1/60 s, by the default rule: its energy is true to a part in fifty thousand, that
of semi-implicit Euler, stable as well, only to seven in a hundred.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import trimesh

import recursive_dyn as rd
from bridge import Camera
from demos.plates import gear, rack, sector
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

TRACK, WHEEL, HOLE, SMALL = 1.0, 0.42, 0.34, 0.13  # radii, m: half circle, its wheel outside and inside, the smallest
PINION, PINION_TEETH, RACK_TEETH = 0.24, 16, 22
GEAR, TEETH = 0.22, (12, 24)  # radius of the smaller gear, m
CENTRE, RACK, PAIR = (-1.12, 1.35), (1.12, 1.72), (0.7, 0.62)  # x, z of half circle, rack and smaller gear, m
ROD = 0.62  # of the pendulum, m
WIDTH = 0.1
YELLOW, GREEN, RED, BLUE = (0.95, 0.77, 0.20, 1), (0.30, 0.62, 0.36, 1), (0.82, 0.28, 0.22, 1), (0.22, 0.46, 0.76, 1)
STEEL, DARK, BOARD = (0.72, 0.74, 0.78, 1), (0.22, 0.23, 0.26, 1), (0.95, 0.93, 0.88, 1)
IRON = 7000.0  # kg/m^3, of what is heavy; wheels are of wood
WOOD = 600.0


def upright(x: float, z: float, y: float = 0.0) -> np.ndarray:
    """The place in the world of a mechanism in the xy-plane: its y is up, its z towards the viewer."""
    return rd.pose((x, y, z), (np.pi / 2, 0, 0))


def hollow(solid: trimesh.Trimesh, color: tuple[float, ...], at: np.ndarray | None = None) -> shapes.Shape:
    """A ring or a wheel with teeth, only to be seen: nothing collides here, and convex parts take long to find."""
    return shapes.Mesh(solid, color=color, at=at, collision=False)


def painted_ring(inner: float, outer: float, parts: int, width: float) -> list[shapes.Shape]:
    """A ring in sectors of two colours."""
    edges = np.linspace(0, 2 * np.pi, parts + 1)
    return [
        hollow(sector(inner, outer, a, b, width, 12), GREEN if i % 2 else YELLOW)
        for i, (a, b) in enumerate(pairwise(edges))
    ]


def spokes(reach: float, count: int, color: tuple[float, ...], z: float = 0.0) -> list[shapes.Shape]:
    """Bars from the hub to the rim; the first is dark, to be followed by the eye."""
    turns = [2 * np.pi * i / count for i in range(count)]
    return [
        shapes.Box((reach, 0.16 * reach, 0.5 * WIDTH), color=color if i else DARK,
                   at=rd.pose((reach / 2 * np.cos(a), reach / 2 * np.sin(a), z), (0, 0, a)))
        for i, a in enumerate(turns)
    ]  # fmt: skip


def disc(radius: float, width: float, color: tuple[float, ...], x: float = 0.0, z: float = 0.0) -> shapes.Shape:
    """A cylinder about z."""
    return shapes.Cylinder(radius, width, at=rd.pose((x, 0, z)), color=color)


def attach_rollers(scene: Scene, damping: float) -> None:
    """Figure 5c: a wheel in a half circle, a smaller wheel in the wheel."""
    big = Body("wheel", painted_ring(HOLE, WHEEL, 12, WIDTH), density=WOOD)
    scene.world.attach(big, joints.wheel(WHEEL, TRACK, inside=True, damping=8 * damping), at=upright(*CENTRE))
    rim = hollow(sector(0.75 * SMALL, SMALL, 0, 2 * np.pi, WIDTH), RED)
    small = Body("small_wheel", [rim, *spokes(0.8 * SMALL, 3, RED), disc(0.03, WIDTH, STEEL)], density=4 * WOOD)
    big.attach(small, joints.wheel(SMALL, HOLE, inside=True, damping=damping))


def attach_rack(scene: Scene, damping: float) -> None:
    """A pinion rolls on the rack and carries a pendulum in front of it."""
    wheel = hollow(gear(PINION_TEETH, PINION, 0.7 * PINION, WIDTH), BLUE, rd.pose(rpy=(0, 0, -np.pi / 2)))
    parts = [wheel, *spokes(0.75 * PINION, 5, BLUE), disc(0.04, 1.6 * WIDTH, STEEL, z=0.3 * WIDTH)]
    pinion = Body("pinion", parts, density=WOOD)
    scene.world.attach(pinion, joints.rack(PINION, damping=6 * damping), at=upright(*RACK))
    bar = shapes.Box((0.035, ROD, 0.02), at=rd.pose((0, -ROD / 2, 0)), color=DARK)
    bob = shapes.Cylinder(0.11, 0.05, at=rd.pose((0, -ROD, 0)), color=RED)
    pinion.attach(Body("pendulum", [bar, bob], density=0.4 * IRON), joints.revolute("z", damping=damping),
                  at=rd.pose((0, 0, 1.15 * WIDTH)))  # fmt: skip


def attach_gears(scene: Scene, damping: float) -> None:
    """Two gears: the smaller one has a heavy spot, the larger one follows."""
    first, second = TEETH
    small = Body("gear", [
        hollow(gear(first, GEAR, 0.6 * GEAR, WIDTH), YELLOW), *spokes(0.65 * GEAR, 4, YELLOW),
        disc(0.03, 1.4 * WIDTH, STEEL),
    ], density=WOOD)  # fmt: skip
    scene.world.attach(small, joints.revolute("z", damping=0.4 * damping), at=upright(*PAIR))
    weight = disc(0.06, 0.6 * WIDTH, RED, x=0.72 * GEAR, z=0.85 * WIDTH)
    small.attach(Body("weight", [weight], density=IRON), joints.fixed())
    radius = GEAR * second / first
    large = Body("large_gear", [
        hollow(gear(second, radius, 0.78 * radius, WIDTH), GREEN), *spokes(0.82 * radius, 6, GREEN),
        disc(0.05, 1.4 * WIDTH, STEEL),
    ], density=WOOD)  # fmt: skip
    # a gap of the larger one, between two teeth, meets the tooth on the smaller one's x axis
    meshed = joints.gear("z", small, TEETH, offset=np.pi - np.pi / second)
    scene.world.attach(large, meshed, at=upright(PAIR[0] + GEAR + radius, PAIR[1]))


def exhibit(damping: float = 0.05) -> Scene:
    """The scene of five coordinates; ``damping`` N m s/rad, more of it where more turns."""
    scene = Scene()
    attach_rollers(scene, damping)
    attach_rack(scene, damping)
    attach_gears(scene, damping)
    module = 2 * PINION / PINION_TEETH
    half = sector(TRACK, TRACK + 0.09, np.pi, 2 * np.pi, 1.3 * WIDTH, 96)
    scene.world.shapes += [
        shapes.Mesh(half, at=upright(*CENTRE), color=STEEL),
        shapes.Mesh(rack(RACK_TEETH, module, 0.1, 1.1 * WIDTH), at=upright(*RACK), color=STEEL),
        shapes.Box((5.1, 0.06, 2.7), at=rd.pose((0, 0.14, 1.35)), color=BOARD),
    ]
    return scene


def build() -> Stage:
    """Everything let go from where it leans; friction stops it after a while."""
    scene = exhibit()
    simulation = compiled(scene, 1 / 60)
    simulation.q = start()
    return Stage(scene, simulation, seconds=8.0,
                 camera=Camera(target=(0.02, 0, 1.27), distance=5.0, yaw=9, pitch=-5))  # fmt: skip


def start() -> np.ndarray:
    """q (5,): the wheel up the half circle, the small one at its wheel's lowest point, pendulum and heavy spot up."""
    wheel = -np.pi / 2 + 1.1
    turned = -(TRACK - WHEEL) / WHEEL * wheel
    return np.array([wheel, -np.pi / 2 - turned, 0.0, 1.9, 2.0])
