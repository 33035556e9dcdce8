"""A KUKA arm draws a lemniscate on a slanted board while its elbow swings: tasks by rank in operational space.

First of all the pen's tip follows the curve, then the pen stands upright on the board; only what these two leave of the
seven joints swings the elbow, and the line does not feel it (control.OperationalSpace). The start is found by
control.inverse_kinematics. Blue: what the pen has drawn. One step takes 1/240 s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.kuka import HEIGHT, PEDESTAL, arm
from demos.stage import Stage, compiled
from recursive_dyn import control
from scene import Body, Scene, joints, shapes

PERIOD, APPROACH = 7.0, 1.0  # s
SIZE = 0.28  # half the width of the curve, m
TILT = 0.30  # of the board, rad
CENTER = np.array([0.53, 0.0, 0.10])  # of the curve, m
ACROSS, UP = np.array([0.0, 1.0, 0.0]), np.array([-np.cos(TILT), 0.0, np.sin(TILT)])  # in the board
NORMAL = np.cross(ACROSS, UP)
LIFT = 0.10  # of the pen at the start, m
PEN, NIB = 0.17, 0.008  # length, radius of the tip, m
SWING = 0.6  # of the third joint, which turns the elbow about, rad
REST = np.array([0.0, 0.5, 0.0, -1.7, 0.0, 0.9, 0.0])
GHOST, INK = (0.80, 0.84, 0.90, 1), (0.08, 0.20, 0.52, 1)
PAPER, WOOD, STEEL, DARK = (0.97, 0.96, 0.93, 1), (0.50, 0.36, 0.24, 1), (0.72, 0.74, 0.77, 1), (0.16, 0.17, 0.20, 1)


def curve(t: float) -> np.ndarray:
    """The lemniscate of Bernoulli, once in a period."""
    phase = 2 * np.pi * t / PERIOD
    scale = SIZE / (1 + np.sin(phase) ** 2)
    return CENTER + scale * np.cos(phase) * ACROSS + 1.6 * scale * np.sin(phase) * np.cos(phase) * UP


def tip(t: float) -> np.ndarray:
    """Where the pen is to be: down to the board from above, then along the curve, faster and faster at first."""
    share = min(t / APPROACH, 1.0)
    lift = LIFT * (1 - share**3 * (10 - 15 * share + 6 * share**2))
    along = max(t - APPROACH, 0.0)
    return curve(along**2 / (along + 0.5)) + lift * NORMAL


def elbow(t: float, swing: float = SWING) -> np.ndarray:
    """The posture (7,), whose third joint swings to both sides, from rest."""
    return REST + swing * np.sin(1.5 * t) ** 3 * np.eye(7)[2]


def board() -> list[shapes.Shape]:
    """Paper on a slab, with legs to the ground."""
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = np.column_stack([-UP, ACROSS, NORMAL]), CENTER - NIB * NORMAL
    parts: list[shapes.Shape] = [
        shapes.Box((0.50, 0.74, 0.004), at=frame @ rd.pose((0, 0, -0.002)), color=PAPER),
        shapes.Box((0.56, 0.80, 0.03), at=frame @ rd.pose((0, 0, -0.019)), color=WOOD),
    ]
    for x, y in ((-0.22, -0.34), (-0.22, 0.34), (0.22, -0.34), (0.22, 0.34)):
        top = (frame @ [x, y, -0.03, 1])[:3]
        length = top[2] + HEIGHT
        parts.append(shapes.Cylinder(0.022, length, at=rd.pose((top[0], top[1], top[2] - length / 2)), color=DARK))
    return parts


def scene_with_pen() -> Scene:
    """The arm with a pen in its hand, whose frame is the tip, z along it."""
    scene = arm()
    pen = Body("pen", [
        shapes.Cylinder(0.014, PEN - 0.05, at=rd.pose((0, 0, -0.05 - (PEN - 0.05) / 2)), color=INK),
        shapes.Cylinder(0.007, 0.05, at=rd.pose((0, 0, -0.025)), color=STEEL),
        shapes.Sphere(NIB, color=INK),
    ], mass=0.1, center_of_mass=(0, 0, -0.1), inertia=1e-4 * np.eye(3))  # fmt: skip
    scene["lbr_iiwa_link_7"].attach(pen, joints.fixed(), at=rd.pose((0, 0, 0.045 + PEN)))
    scene.world.shapes += [PEDESTAL, *board()]
    return scene


@dataclass
class Drawing:
    """What the pen has drawn, and how far it was off; ``mirror``: where it is shown."""

    simulation: rd.Simulation
    mirror: PyBulletMirror | None = None
    line: list[np.ndarray] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    elbow: list[float] = field(default_factory=list)

    def __call__(self, simulation: rd.Simulation) -> None:
        """Look at the pen; while it goes round for the first time, draw."""
        if simulation.time < APPROACH:
            return
        place = simulation.frames()[0][-1, :3, 3]
        self.errors.append(float(np.linalg.norm(place - tip(simulation.time))))
        self.elbow.append(float(simulation.q[2]))
        if self.mirror is None or simulation.time > APPROACH + PERIOD + 0.6:
            return
        self.line.append(place)
        if len(self.line) == 5:
            self.mirror.add_polyline(self.line, color=INK, radius=0.006)
            self.line = self.line[-1:]

    def report(self) -> str:
        """How well it went."""
        if not self.errors:
            return "the pen has not come to the board yet"
        return (
            f"the pen is off its curve by at most {1e3 * max(self.errors):.2g} mm while the third joint swings over"
            f" {np.ptp(self.elbow):.2g} rad"
        )


def build() -> Stage:
    """Above the curve's start, at rest."""
    scene = scene_with_pen()
    simulation = compiled(scene, 1 / 240)
    dynamics = simulation.dynamics
    place = control.Position("pen", tip, frequency=6.0)
    upright = control.LookAt("pen", lambda t: tip(t) - NORMAL, axis=(0, 0, 1), frequency=6.0)
    third = dynamics.velocity_coordinates[2:3]
    swing = control.Posture(dynamics, elbow, coordinates=third, frequency=1.5)
    near = control.inverse_kinematics(dynamics, [place, upright, control.Posture(dynamics, REST, weight=0.01)], REST)
    simulation.q = control.inverse_kinematics(dynamics, [place, upright], near.q).q
    simulation.control = control.OperationalSpace(dynamics, [place, upright, swing, control.Posture(dynamics, REST)])
    drawing = Drawing(simulation)

    def decorate(mirror: PyBulletMirror) -> None:
        drawing.mirror = mirror
        below = [curve(t) - 0.004 * NORMAL for t in np.linspace(0, PERIOD, 161)]
        mirror.add_polyline(below, color=GHOST, radius=0.004)

    return Stage(scene, simulation, seconds=7.2, ground=-HEIGHT, decorate=decorate, control=drawing,
                 report=drawing.report,
                 camera=Camera(target=(0.34, 0.03, 0.15), distance=2.0, yaw=62, pitch=-27))  # fmt: skip
