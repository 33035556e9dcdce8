"""A quadrotor starts upside down, recovers, and flies its load on a rod along a figure eight.

Its equations of motion are those on R^3 x S^2 x SO(3), derived and compiled without coordinates; the bodies are shown
where that motion has them. The geometric controller (Sreenath, Lee & Kumar 2013; demos/manifolds/load_controller.py) is
of the same kind, so that nothing is singular on the way. Blue: the figure eight; orange: where the load will go. One
step of the motion and of the controller takes 1/480 s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.manifolds import quadrotor
from demos.manifolds.load_controller import E3, Craft, CraftState, LoadController
from demos.stage import Stage
from recursive_dyn.manifold.motion.motion import Motion
from scene import Body, Scene, joints, shapes

CRAFT = Craft(mQ=1.8, mL=0.6, l=1.0, J=np.diag([0.02, 0.02, 0.036]))
TIMESTEP = 1 / 480  # s
ARM, ROTOR = 0.3, 0.17  # m
LOAD = 0.11  # radius, m
POLE = 1.5  # height, m
SHELL, DARK, STEEL, WHITE = (0.93, 0.93, 0.95, 1), (0.16, 0.17, 0.20, 1), (0.55, 0.58, 0.62, 1), (0.98, 0.98, 0.98, 1)
FRONT, REAR, CARGO, BLUE, ORANGE = ((0.88, 0.20, 0.15, 1), (0.20, 0.22, 0.26, 1), (0.20, 0.55, 0.34, 1),
                                    (0.16, 0.38, 0.75, 1), (0.95, 0.58, 0.15, 1))  # fmt: skip


@dataclass(frozen=True)
class FigureEight:
    """Once across x, twice across y and once up and down in a period (s); sizes in m."""

    period: float = 5.0
    size: tuple[float, float, float] = (2.0, 1.0, 0.25)
    middle: tuple[float, float, float] = (0.0, 0.0, 1.3)

    def __call__(self, t: float, n: int) -> np.ndarray:
        """Position at t and its derivatives up to the n-th (n + 1, 3): each is a quarter of a turn ahead."""
        k = np.arange(n + 1)[:, None]
        frequency = 2 * np.pi / self.period * np.array([1, 2, 1])
        path = np.array(self.size) * frequency**k * np.sin(frequency * t + np.array([0, 0, 0.7]) + k * np.pi / 2)
        path[0] += self.middle
        return path


@dataclass
class LoadFlight:
    """The compiled motion under its controller; ``errors``: the load's distance from its place, m, at each step."""

    controller: LoadController = field(default_factory=lambda: LoadController(CRAFT, FigureEight()))
    timestep: float = TIMESTEP
    errors: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        system, craft = quadrotor.with_load(), self.controller.craft
        self.symbols = s = system.symbols
        bodies = {"quadrotor": (s.xL - s.l * s.q, s.R), "load": (s.xL, -s.q)}
        self.motion = Motion(system.derive().compile(), self.timestep, bodies)
        for name in ("mQ", "mL", "l", "J", "g"):
            self.motion.parameters[name] = getattr(craft, name)
        self.motion.parameters["e3"] = E3
        self.state = self.controller.matched(0.0)

    @property
    def state(self) -> CraftState:
        """Positions and rates; may be set."""
        m, s = self.motion, self.symbols
        return CraftState(m[s.xL], m.rate(s.xL), m[s.q], m.rate(s.q), m[s.R], m.rate(s.R))

    @state.setter
    def state(self, value: CraftState) -> None:
        m, s = self.motion, self.symbols
        m.place(s.xL, value.x, value.v)
        m.place(s.q, value.q, value.dq)
        m.place(s.R, value.R, value.Omega)

    def control(self, motion: Motion) -> None:
        """Thrust and moment of the next step."""
        state = self.state
        motion.forces["f"], motion.forces["M"] = self.controller(motion.time, state)
        self.errors.append(float(np.linalg.norm(state.x - self.controller.path(motion.time, 0)[0])))


def upset(start: CraftState) -> CraftState:
    """A matched state turned upside down, with the load beside its path and the rod aslant."""
    roll, lean = rd.pose(rpy=(np.radians(175), 0, 0))[:3, :3], rd.pose(rpy=(-0.4, 0.15, 0))[:3, :3]
    q = lean @ start.q
    x = start.x + np.array([-0.5, 0.5, 0.55])
    return CraftState(x, np.zeros(3), q, np.zeros(3), start.R @ roll, np.zeros(3))


def craft_body() -> Body:
    """Shell, four arms in the shape of an X, red at the front (x), and rotors."""
    parts: list[shapes.Shape] = [
        shapes.Ellipsoid((0.15, 0.11, 0.06), at=rd.pose((0, 0, 0.02)), color=SHELL),
        shapes.Cylinder(0.03, 0.05, at=rd.pose((0.12, 0, 0.0), (0, np.pi / 2, 0)), color=DARK),
    ]
    for k in range(4):
        angle = np.pi / 4 + k * np.pi / 2
        turned = rd.pose(rpy=(0, 0, angle))
        color = FRONT if k in (0, 3) else REAR
        parts += [
            shapes.Capsule(0.017, ARM, at=turned @ rd.pose((ARM / 2, 0, 0), (0, np.pi / 2, 0)), color=color),
            shapes.Cylinder(0.03, 0.07, at=turned @ rd.pose((ARM, 0, 0.02)), color=DARK),
            shapes.Cylinder(ROTOR, 0.008, at=turned @ rd.pose((ARM, 0, 0.06)), color=color),
            shapes.Cylinder(0.022, 0.03, at=turned @ rd.pose((ARM, 0, 0.065)), color=WHITE),
        ]
    return Body("quadrotor", parts, mass=CRAFT.mQ, center_of_mass=(0, 0, 0), inertia=CRAFT.J)


def load_body() -> Body:
    """A ball with the rod above it; its inertia is not that of the motion, whose load is a point."""
    return Body("load", [
        shapes.Sphere(LOAD, color=CARGO),
        shapes.Torus(LOAD, 0.018, color=WHITE),
        shapes.Cylinder(0.013, CRAFT.l, at=rd.pose((0, 0, CRAFT.l / 2)), color=STEEL),
    ], mass=CRAFT.mL, center_of_mass=(0, 0, 0), inertia=1e-9 * np.eye(3))  # fmt: skip


def pylon(x: float) -> list[shapes.Shape]:
    """A striped pole to fly around."""
    rings = 8
    parts = [shapes.Cylinder(0.05, POLE / rings, at=rd.pose((x, 0, (k + 0.5) * POLE / rings)),
                             color=WHITE if k % 2 else FRONT) for k in range(rings)]  # fmt: skip
    return [shapes.Cylinder(0.22, 0.05, at=rd.pose((x, 0, 0.025)), color=DARK), *parts]


def forecast(flight: LoadFlight, seconds: float) -> np.ndarray:
    """Places (n, 3) of the load from the flight's present state on."""
    copy = LoadFlight(flight.controller, flight.timestep)
    copy.state = flight.state
    places = [copy.state.x]
    for _ in range(round(seconds / 0.05)):
        for _ in range(round(0.05 / copy.timestep)):
            copy.control(copy.motion)
            copy.motion.step()
        places.append(copy.state.x)
    return np.array(places)


def build() -> Stage:
    """Upside down, off the path; a figure eight takes five seconds."""
    flight = LoadFlight()
    flight.state = upset(flight.state)
    flight.motion.control = flight.control
    scene = Scene()
    for body in (craft_body(), load_body()):
        scene.world.attach(body, joints.free())
    scene.world.shapes += [*pylon(-1.35), *pylon(1.35)]
    path = flight.controller.path

    def decorate(mirror: PyBulletMirror) -> None:
        eight = [path(t, 0)[0] for t in np.linspace(0, 5.0, 161)]
        mirror.add_polyline(eight, color=BLUE, radius=0.014)
        mirror.add_polyline(forecast(flight, 4.0), color=ORANGE, radius=0.009)

    def report() -> str:
        last = flight.errors[-round(1 / flight.timestep) :]
        return f"the load is off its path by at most {max(flight.errors):.3g} m, in the last second {max(last):.2g} m"

    return Stage(scene, flight.motion, seconds=10.0, decorate=decorate, report=report,
                 camera=Camera(target=(0.03, 0, 1.4), distance=5.5, yaw=24, pitch=-20))  # fmt: skip
