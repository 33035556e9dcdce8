"""Three discs roll over the floor in curves: five coordinates each, two of them bound by a rim that does not slip.

A joint of the user's own, place, heading, lean and spin, with the velocity of the rim's lowest point constrained to
zero: nonholonomic rows in a body's own quantities (Guenter & Lee 2009, section 5). A disc whose lean, turn and spin
balance runs round a circle, the others sway about one. One RK4 step a frame of 1/60 s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp
import trimesh

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

G = 9.81
DENSITY = 700.0
SECONDS = 12.0
DARK = (0.16, 0.17, 0.2, 1)


@dataclass(frozen=True)
class Disc:
    """A disc of ``radius`` and ``thickness``, m, that leans by ``lean`` from the floor and turns at ``turn`` rad/s.

    push: what its lean's rate, rad/s, is more than on a circle; place: where it starts, m; heading, rad.
    """

    name: str
    radius: float
    thickness: float
    lean: float
    turn: float
    push: float
    place: tuple[float, float]
    heading: float
    color: tuple[float, ...]

    @property
    def mass(self) -> float:
        """Of a solid disc, kg."""
        return DENSITY * np.pi * self.radius**2 * self.thickness

    @property
    def inertia(self) -> tuple[float, float]:
        """(about a diameter, about the axis) of a thin disc, kg m^2."""
        return self.mass * self.radius**2 / 4, self.mass * self.radius**2 / 2

    def start(self) -> tuple[list[float], list[float]]:
        """(q, v): on the circle on which gravity, centrifugal and gyroscopic moments balance, and the push."""
        A, C = self.inertia
        s, c, m, r, W = np.sin(self.lean), np.cos(self.lean), self.mass, self.radius, self.turn
        n = (A * W**2 * s * c - m * G * r * c) / ((C + m * r**2) * W * s)  # spin about the axis, all told
        along = -n * r
        v = [along * np.cos(self.heading), along * np.sin(self.heading), W, self.push, n - W * c]
        return [*self.place, self.heading, self.lean, 0.0], v


DISCS = (
    Disc("hoop", 0.5, 0.05, 1.15, 1.2, 0.0, (0.0, -1.1), 0.0, (0.9, 0.45, 0.15, 1)),
    Disc("wheel", 0.36, 0.05, 1.2, 1.7, 2.4, (-0.6, 0.05), 0.5, (0.2, 0.5, 0.8, 1)),
    Disc("coin", 0.26, 0.035, 0.75, 4.0, 1.6, (1.55, 0.95), 2.0, (0.95, 0.78, 0.25, 1)),
)


def rolling_joint(radius: float) -> joints.Joint:
    """Place of the centre over the floor, heading, lean from the floor, turn about the own axis."""
    x, y, heading, lean, spin = sp.symbols("x y heading lean spin", real=True)
    turned = sp.rot_axis3(-heading) * sp.rot_axis1(-lean) * sp.rot_axis3(-spin)
    transform = turned.row_join(sp.Matrix([x, y, radius * sp.sin(lean)])).col_join(sp.Matrix([[0, 0, 0, 1]]))
    return joints.Joint(transform, (x, y, heading, lean, spin))


def patches(disc: Disc) -> list[shapes.Shape]:
    """Both faces in six sectors of two colours, and the rim."""
    found: list[shapes.Shape] = [shapes.Cylinder(disc.radius, disc.thickness, color=disc.color, collision=False)]
    for k in range(3):
        angles = 2 * np.pi / 3 * k + np.linspace(0, np.pi / 3, 13)
        arc = 0.86 * disc.radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        sector = trimesh.creation.extrude_triangulation(
            np.vstack([[0, 0], arc]), [[0, i, i + 1] for i in range(1, len(arc))], 1.2 * disc.thickness
        )
        at = rd.pose((0, 0, -0.6 * disc.thickness))
        found.append(shapes.Mesh(sector, at=at, color=DARK, collision=False))
    return found


def rolling(discs: tuple[Disc, ...] = DISCS) -> Scene:
    """Discs on the floor, whose rims do not slip."""
    scene = Scene()
    for disc in discs:
        A, C = disc.inertia
        body = Body(disc.name, patches(disc), mass=disc.mass, center_of_mass=(0, 0, 0), inertia=np.diag([A, A, C]))
        scene.world.attach(body, rolling_joint(disc.radius))
        spin, r = body.q[4], disc.radius
        lowest = body.point_velocity((-r * sp.sin(spin), -r * sp.cos(spin), 0))
        scene.constrain(lowest[0], lowest[1], name=f"rim of the {disc.name}")
    return scene


def ways(start: rd.Simulation, seconds: float, discs: tuple[Disc, ...] = DISCS) -> np.ndarray:
    """Where the rims are going to touch the floor (discs, n, 3), m."""
    ahead = rd.Simulation(start.dynamics, start.timestep, start.integrator)
    ahead.q, ahead.v = start.q, start.v
    places = []
    for _ in range(round(seconds / ahead.timestep)):
        states = ahead.q.reshape(len(discs), 5)
        places.append([_touching(q, disc.radius) for q, disc in zip(states, discs, strict=True)])
        ahead.step()
    return np.swapaxes(np.array(places), 0, 1)


def _touching(q: np.ndarray, radius: float) -> tuple[float, float, float]:
    reach = radius * np.cos(q[3])
    return q[0] + reach * np.sin(q[2]), q[1] - reach * np.cos(q[2]), 0.0


def build() -> Stage:
    """One disc on a circle, two that sway; their ways are drawn ahead."""
    scene = rolling()
    simulation = compiled(scene, 1 / 60)
    states = [disc.start() for disc in DISCS]
    simulation.q, simulation.v = simulation.dynamics.project(*(np.concatenate(x) for x in zip(*states, strict=True)))
    drawn = ways(simulation, SECONDS)

    def decorate(mirror: PyBulletMirror) -> None:
        for way, disc in zip(drawn, DISCS, strict=True):
            mirror.add_polyline(way, color=disc.color, radius=0.008)

    return Stage(scene, simulation, seconds=SECONDS, decorate=decorate,
                 camera=Camera(target=(0, 0.75, 0.1), distance=5.4, yaw=15, pitch=-30))  # fmt: skip
