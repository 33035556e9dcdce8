"""Lazy tongs of 32 bars stretch and fold on one coordinate, and a fish swings from their jaw: three in all.

Guenter & Lee (2009), figure 5d. Each bar hangs on a hinge whose angle is a function q_i(theta) of the one shared
coordinate, the half opening of the tongs, so that the scissor's loops close by construction: no multipliers, no drift.
Two chains of bars run from the fixed pin, a1 b2 a3 ... and b1 a2 b3 ...; their middles coincide. The fish hangs on a
universal joint. One step a frame of 1/60 s, by the default rule: semi-implicit Euler is stable too, but its implicit
springs halve the fish's sideways swing.
"""

from __future__ import annotations

import numpy as np
from trimesh import creation

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

CROSSES = 16
HALF = 0.15  # from a bar's middle to its ends, m
WIDTH, THICKNESS = 0.04, 0.016
HEIGHT = 1.45  # of the fixed pin
HANDLE = 0.55  # from the fixed pin
CLOSED, REST = 0.40, 0.78  # theta at which the jaws meet, and the spring's, rad
STIFFNESS, DAMPING = 130.0, 25.0  # N m/rad and N m s/rad of theta
PUSH, PACE = 22.0, 1.7  # N m, rad/s
DENSITY = 700.0
JAW = 1.25 * HALF
JAW_BEND = CLOSED + float(np.arcsin(HALF * np.sin(CLOSED) / JAW))  # so that the tips meet on the axis
LINE = 0.34  # from the hook to the fish's mouth, m
BLUE, ORANGE, STEEL = (0.20, 0.42, 0.68, 1), (0.93, 0.58, 0.20, 1), (0.78, 0.80, 0.83, 1)
GRIP, WOOD = (0.72, 0.18, 0.16, 1), (0.42, 0.3, 0.22, 1)
SCALES, FIN, WHITE, BLACK = (0.36, 0.62, 0.66, 1), (0.88, 0.42, 0.30, 1), (0.95, 0.95, 0.92, 1), (0.05, 0.05, 0.06, 1)
ACROSS = (np.pi / 2, 0, 0)  # turns a shape's z axis along the pins


def layer(chain: str) -> float:
    """y of the plane that the bars named a, or b, move in: they pass each other."""
    return THICKNESS * (-0.75 if chain == "a" else 0.75)


def slat(start: np.ndarray, end: np.ndarray, y: float, color: tuple[float, ...]) -> list[shapes.Shape]:
    """A flat bar with round ends from (x, z) to (x, z)."""
    dx, dz = end - start
    length, middle = float(np.hypot(dx, dz)), (start + end) / 2
    turn = (0, -np.arctan2(dz, dx), 0)
    flat = shapes.Box((length, THICKNESS, WIDTH), at=rd.pose((middle[0], y, middle[1]), turn), color=color)
    ends = [shapes.Cylinder(WIDTH / 2, THICKNESS, at=rd.pose((x, y, z), ACROSS), color=color) for x, z in (start, end)]
    return [flat, *ends]


def pin(x: float) -> shapes.Shape:
    """The rivet at ``x`` along a bar."""
    return shapes.Cylinder(0.3 * WIDTH, 3.4 * THICKNESS, at=rd.pose((x, 0, 0), ACROSS), color=STEEL)


def bar(chain: str, number: int) -> Body:
    """Bar 1 ... CROSSES of a or b, x along it; its origin is its left end, or the fixed pin of the first ones."""
    color, y = (BLUE if chain == "a" else ORANGE), layer(chain)
    side = 1.0 if chain == "a" else -1.0  # the right end is up, or down
    left, right = (-HANDLE, HALF) if number == 1 else (0.0, 2 * HALF)
    parts = [*slat(np.array([left, 0.0]), np.array([right, 0.0]), y, color), pin(right)]
    if number == 1:
        ring = rd.pose((-HANDLE - 0.08, y, 0), ACROSS)
        parts += [pin(0.0), shapes.Torus(0.085, 0.02, at=ring, color=GRIP)]
    elif chain == "a":
        parts.append(pin(HALF))  # one rivet for each crossing
    if number == CROSSES:
        parts += slat(np.array([right, 0.0]), jaw_tip(side), y, GRIP)
    return Body(f"{chain}{number}", parts, density=DENSITY)


def jaw_tip(side: float) -> np.ndarray:
    """(x, z) of the tip in the frame of the last a (side 1) or b (side -1)."""
    return np.array([2 * HALF + JAW * np.cos(JAW_BEND), -side * JAW * np.sin(JAW_BEND)])


def fish() -> Body:
    """Hung by its mouth on a line: head up, belly towards +x, the origin at the hook."""
    head, tail = -LINE, -LINE - 0.52
    body = rd.pose((0, 0, (head + tail) / 2))
    fan = creation.cone(radius=0.11, height=0.2, sections=40)
    fan.apply_scale((1.0, 0.16, 1.0))
    fin = creation.cone(radius=0.09, height=0.16, sections=40)
    fin.apply_scale((1.0, 0.14, 1.0))
    eyes = [(side * 0.047, color, radius) for side in (-1, 1) for color, radius in ((WHITE, 0.022), (BLACK, 0.014))]
    return Body("fish", [
        shapes.Cylinder(0.006, LINE, at=rd.pose((0, 0, -LINE / 2)), color=STEEL),
        shapes.Ellipsoid((0.115, 0.06, 0.26), at=body, color=SCALES),
        shapes.Mesh(fan, at=rd.pose((0, 0, tail - 0.14)), color=FIN),
        shapes.Mesh(fin, at=rd.pose((-0.07, 0, tail + 0.22), (0, 0.35, 0)), color=FIN),
        shapes.Mesh(fin, at=rd.pose((0.09, 0, tail + 0.2), (0, -0.5, 0)), color=FIN),
        *(shapes.Sphere(radius, at=rd.pose((0.035, y + np.sign(y) * (0.022 - radius) * 1.6, head - 0.12)), color=color)
          for y, color, radius in eyes),
    ], density=150.0)  # fmt: skip


def tong(stiffness: float = STIFFNESS, damping: float = DAMPING, swing: float = 0.04) -> Scene:
    """The scene; coordinates theta, then the fish's angles from the jaw, whose friction is ``swing``, N m s/rad."""
    scene = Scene()
    theta = scene.coordinate("theta", limits=(0.15, 1.4), stiffness=stiffness, rest=REST, damping=damping)
    hinge = joints.revolute("-y")  # positive angles lift the right end
    for first, second, side in (("a", "b", 1), ("b", "a", -1)):
        node = scene.world.attach(bar(first, 1), hinge.driven(side * theta), at=rd.pose((0, 0, HEIGHT)))
        end = HALF
        for number in range(2, CROSSES + 1):
            chain = first if number % 2 else second
            turn = 2 * theta if chain == "a" else -2 * theta
            node = node.attach(bar(chain, number), hinge.driven(turn), at=rd.pose((end, 0, 0)))
            end = 2 * HALF
    x, z = jaw_tip(-1.0)
    hook = rd.pose((x, layer("b"), z))
    scene[f"b{CROSSES}"].attach(fish(), joints.universal("-y", "x", damping=swing), at=hook)
    scene.world.shapes += stand()
    return scene


def stand() -> list[shapes.Shape]:
    """What holds the fixed pin, behind the bars."""
    return [
        shapes.Cylinder(0.05, HEIGHT + 0.12, at=rd.pose((0, 0.12, HEIGHT / 2 + 0.06)), color=WOOD),
        shapes.Cylinder(0.3, 0.06, at=rd.pose((0, 0.12, 0.03)), color=WOOD),
        shapes.Cylinder(0.02, 0.16, at=rd.pose((0, 0.06, HEIGHT), ACROSS), color=STEEL),
    ]


def build() -> Stage:
    """Let go at rest, half open, with the fish askew; a hand works the handles."""
    scene = tong()
    simulation = compiled(scene, 1 / 60)
    simulation.q = (REST, REST + 0.3, 0.25)  # the last bar leans by theta, and the fish hangs from it
    return Stage(scene, simulation, seconds=8.0, control=work,
                 camera=Camera(target=(2.1, 0, 0.92), distance=5.6, yaw=15, pitch=-5))  # fmt: skip


def work(simulation: rd.Simulation) -> None:
    """Squeeze and open the handles."""
    simulation.tau[0] = PUSH * np.sin(PACE * simulation.time)
