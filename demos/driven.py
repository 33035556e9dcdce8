"""What moves as it is told: a shaking table, a turntable, a crank, and what they carry and push.

Time stands in the joints of both tables: boxes ride until the table accelerates by more than mu g, as they do in closed
form, one after the other. The crank is prescribed by a function of time, and tells what it takes to move the piston,
and the bag that it hits, as that says.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

SHAKE, GROWTH = 8.0, 0.012  # rad/s; m/s by which the table's amplitude grows
TURN = 0.5  # rad/s^2 of the turntable
SPEED = 5.0  # rad/s of the crank, in the end
CRANK, ROD, HEIGHT = 0.2, 0.6, 0.45  # m
FRICTIONS = (0.2, 0.35, 0.5)  # of the boxes on what carries them
RADII = (0.75, 0.5, 0.28)  # m, of theirs on the turntable
COLORS = ((0.85, 0.33, 0.2, 1), (0.95, 0.72, 0.2, 1), (0.35, 0.65, 0.35, 1))
STEEL, DARK, WOOD = (0.62, 0.66, 0.72, 1), (0.25, 0.27, 0.3, 1), (0.75, 0.58, 0.4, 1)
ROUGH = rd.Material(friction=1.0)
SLIDING = 1e-3  # m/s against the table that counts as slipping


def transform(x: sp.Expr | float = 0, turn: sp.Expr | float = 0) -> sp.Matrix:
    """A way along x and a turn about z."""
    c, s = sp.cos(turn), sp.sin(turn)
    return sp.Matrix([[c, -s, 0, x], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def tables(scene: Scene) -> None:
    """Boxes of three frictions on a table that shakes more and more, and on one that turns faster and faster."""
    t = scene.time
    plate = shapes.Box((1.0, 1.2, 0.08), at=rd.pose((0, 0, -0.04)), color=STEEL, material=ROUGH)
    foot = shapes.Box((0.5, 0.6, 0.28), at=rd.pose((0, 0, -0.22)), color=DARK, collision=False)
    shaking = joints.Joint(transform(x=GROWTH * t * sp.sin(SHAKE * t)), ())
    scene.world.attach(Body("table", [plate, foot]), shaking, at=rd.pose((-1.9, 0, 0.4)))
    disc = shapes.Cylinder(1.0, 0.08, at=rd.pose((0, 0, -0.04)), color=STEEL, material=ROUGH)
    mark = shapes.Box((0.9, 0.03, 0.004), at=rd.pose((0.5, 0, 0.001)), color=DARK, collision=False)
    post = shapes.Cylinder(0.12, 0.36, at=rd.pose((0, 0, -0.22)), color=DARK, collision=False)
    turning = joints.Joint(transform(turn=TURN * t**2 / 2), ())
    scene.world.attach(Body("turntable", [disc, mark, post]), turning, at=rd.pose((0, 0, 0.4)))
    for k, (mu, radius, color) in enumerate(zip(FRICTIONS, RADII, COLORS, strict=True)):
        box = shapes.Box((0.16, 0.16, 0.16), color=color, material=rd.Material(friction=mu**2))  # geometric means
        scene.world.attach(Body(f"box {k}", [box], mass=1.0), joints.free(), at=rd.pose((-1.9, 0.4 * k - 0.4, 0.48)))
        angle = 2.1 * k
        place = rd.pose((radius * np.cos(angle), radius * np.sin(angle), 0.48), (0, 0, angle))
        scene.world.attach(Body(f"rider {k}", [box], mass=1.0), joints.free(), at=place)


def engine(scene: Scene) -> None:
    """A crank, its rod and piston, which are functions of its angle, and a bag in the piston's way."""
    wheel = shapes.Cylinder(0.3, 0.08, at=rd.pose((0, 0.1, 0), (np.pi / 2, 0, 0)), color=DARK, collision=False)
    knob = shapes.Sphere(0.045, at=rd.pose((CRANK, 0.03, 0)), color=WOOD, collision=False)
    crank = scene.world.attach(
        Body("crank", [wheel, knob], mass=8.0), joints.revolute("y"), at=rd.pose((1.55, 0, HEIGHT))
    )
    q = crank.q[0]
    lean = sp.asin(CRANK * sp.sin(q) / ROD)  # of the rod, below the horizontal, as the crank turns down from +x
    rod = shapes.Capsule(0.03, ROD, at=rd.pose((ROD / 2, 0, 0), (0, np.pi / 2, 0)), color=STEEL, collision=False)
    crank.attach(Body("rod", [rod], mass=1.5), joints.revolute("y").driven(-q - lean), at=rd.pose((CRANK, 0, 0)))
    reach = CRANK * sp.cos(q) + ROD * sp.cos(lean)
    head = shapes.Box((0.2, 0.24, 0.24), at=rd.pose((0.1, 0, 0)), color=COLORS[0], material=ROUGH)
    scene.world.attach(
        Body("piston", [head], mass=3.0), joints.prismatic("x").driven(reach), at=rd.pose((1.55, 0, HEIGHT))
    )
    bag = [
        shapes.Sphere(0.2, at=rd.pose((0, 0, -1.3)), color=WOOD, material=ROUGH),
        shapes.Capsule(0.012, 1.1, at=rd.pose((0, 0, -0.55)), color=DARK, collision=False),
    ]
    scene.world.attach(Body("bag", bag, mass=6.0), joints.revolute("y", damping=0.4), at=rd.pose((2.68, 0, 1.75)))
    for side in (-0.4, 0.4):
        post = shapes.Capsule(0.03, 1.75, at=rd.pose((2.68, side, 0.875)), color=DARK, collision=False)
        scene.world.shapes.append(post)
    beam = shapes.Capsule(0.03, 0.8, at=rd.pose((2.68, 0, 1.75), (np.pi / 2, 0, 0)), color=DARK, collision=False)
    scene.world.shapes.append(beam)


def at_turns(when: float) -> tuple[float, float]:
    """The table's acceleration, m/s^2, at the turning point next to a time, s, and at the one before."""
    last = np.pi * round(SHAKE * when / np.pi - 0.5) + 0.5 * np.pi
    return GROWTH * SHAKE * (last - np.pi), GROWTH * SHAKE * last


class Log:
    """When boxes began to slip, and the most that the crank took."""

    def __init__(self, simulation: rd.Simulation) -> None:
        self.simulation, self.slipped = simulation, dict[str, float]()
        self.torque = self.power = 0.0

    def note(self, running: rd.Simulation) -> None:
        """Look at the present state."""
        names = running.dynamics.bodies
        speeds = running.dynamics.velocities(running.q, running.v)[:, 3]
        for k in range(len(FRICTIONS)):
            if abs(speeds[names.index(f"box {k}")] - speeds[names.index("table")]) > SLIDING:
                self.slipped.setdefault(f"box {k}", running.time)
        told = running.prescribed["crank.angle"]
        self.torque, self.power = max(self.torque, abs(told.force)), max(self.power, told.power)

    def report(self) -> str:
        """Accelerations of the table at turning points: of the last at which boxes held, of the first at which they
        slipped, and between the two what friction allows."""
        said = []
        for name, when in self.slipped.items():
            held, slipped = at_turns(when)
            allowed = FRICTIONS[int(name[-1])] * 9.81
            said.append(f"{name} holds at {held:.2f} m/s^2 and slips at {slipped:.2f} (mu g = {allowed:.2f})")
        return "; ".join([*said, f"the crank takes up to {self.torque:.0f} N m and {self.power:.0f} W"])


def build() -> Stage:
    """Both tables start at rest; the crank turns up to its speed in about a second."""
    scene = Scene()
    tables(scene), engine(scene)
    simulation = compiled(scene, 1 / 240)
    simulation.q[simulation.dynamics.coordinates.index("crank.angle")] = np.pi  # the piston drawn back
    simulation.prescribe("crank.angle", lambda t: np.pi + SPEED * (t - 1.0 + np.exp(-t)))
    log = Log(simulation)
    camera = Camera(target=(0.3, 0, 0.6), distance=6.1, yaw=10, pitch=-24)
    return Stage(scene, simulation, seconds=8.0, camera=camera, contact=True, control=log.note, report=log.report)
