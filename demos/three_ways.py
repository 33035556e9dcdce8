"""The same scene in four formulations, side by side: springs, implicit springs, constraints, joint coordinates.

The lecture's three ways to simulate an articulated body, of a chain of hinges, of rings in rings (torus on torus) and
of a four-bar linkage, whose loop is closed by a pin. Red, zero-length springs stepped explicitly, as stiff as the step
allows; orange, stiffer ones stepped implicitly; blue, forces A^T lambda that bring C-dot to its target; green, joint
coordinates, in which joints cannot open. All are let go alike and take steps of 1/240 s. The plots: by how much joints
are open, how far the bodies' energy is off, and what a step costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import process_time
from typing import NamedTuple

import numpy as np

import recursive_dyn as rd
from bridge import Camera
from demos import torus_chain
from demos.curves_over_time import Curve, Plot
from demos.stage import Stage, compiled
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from scene import Body, Scene, joints, shapes

STEP = 1 / 240
LINK, LINKS, RINGS = 0.3, 5, 3
BARS = (0.25, 0.7, 0.55)  # crank, coupler, rocker
GROUND = 0.75
RED, ORANGE, BLUE, GREEN = (0.84, 0.28, 0.2, 1), (0.93, 0.6, 0.2, 1), (0.2, 0.42, 0.78, 1), (0.2, 0.6, 0.34, 1)
WOOD = (0.55, 0.42, 0.3, 1)
APART, SHRUNK = 2.3, 0.34  # m between columns; of a ring of the torus chain
Color = tuple[float, float, float, float]


class Way(NamedTuple):
    """A formulation: its name, the method and integrator behind it, its colour."""

    name: str
    method: str
    integrator: str
    color: Color


WAYS = (
    Way("springs", "penalty", "semi_implicit_euler", RED),
    Way("implicit springs", "penalty", "implicit_euler", ORANGE),
    Way("constraints", "velocity_constraints", "semi_implicit_euler", BLUE),
    Way("joint coordinates", "recursive", "linearly_implicit_rk4", GREEN),
)


class System(NamedTuple):
    """A scene, and the joint coordinates in which it is let go."""

    scene: Scene
    start: np.ndarray


def pendulum() -> System:
    """A chain of hinges, level."""
    scene, node = Scene(), None
    for k in range(LINKS):
        look = shapes.Capsule(0.035, LINK - 0.07, at=rd.pose((0, 0, -LINK / 2)))
        at = rd.pose((0, 0, -LINK)) if node else rd.pose()
        node = (node or scene.world).attach(Body(f"link {k}", [look], density=800.0), joints.revolute("y"), at=at)
    return System(scene, np.array([-1.2, *[0.1] * (LINKS - 1)]))


def rings() -> System:
    """Rings in one another, at a slant."""
    scene = Scene()
    torus_chain.hang(scene.world, RINGS, torus_chain.BELOW)
    start = torus_chain.at_rest(RINGS)
    start[0] = 0.9
    return System(scene, start)


def four_bar() -> System:
    """Three bars, and the pin that closes the loop."""
    scene, node, at = Scene(), None, rd.pose()
    for name, length in zip(("crank", "coupler", "rocker"), BARS, strict=True):
        look = shapes.Capsule(0.03, length, at=rd.pose((length / 2, 0, 0), (0, np.pi / 2, 0)))
        node = (node or scene.world).attach(Body(name, [look], density=800.0), joints.revolute("y"), at=at)
        at = rd.pose((length, 0, 0))
    assert node is not None
    scene.pin(node, scene.world, point_a=(BARS[2], 0, 0), point_b=(GROUND, 0, 0))
    dynamics = scene.compile()
    return System(scene, dynamics.project(np.array([-1.2, 1.0, 1.6]))[0])


PLACES = {"pendulum": (-0.55, 0.0, 1.0), "rings": (0.55, 0.0, SHRUNK), "four-bar": (-0.3, -2.1, 1.0)}  # x, z, scale
SYSTEMS: dict[str, Callable[[], System]] = {"pendulum": pendulum, "rings": rings, "four-bar": four_bar}


def most_kinetic(dynamics: rd.Dynamics, start: np.ndarray) -> float:
    """The most kinetic energy, J, of the first two seconds in joint coordinates: the energy in play."""
    simulation, most = rd.Simulation(dynamics, 1 / 240, "linearly_implicit_rk4"), 0.0
    simulation.q[:] = start
    for _ in range(48):
        simulation.step(10)
        most = max(most, float(dynamics.kinetic_energy(simulation.q, simulation.v)))
    return most


@dataclass
class Run:
    """A system under way in a formulation; start: joint coordinates; energy: of the start, J; range: in play; ``lost``
    once a step failed; cost: CPU of a step, s, a running mean, the first left out, which looks for joints anywhere."""

    simulation: rd.Simulation
    start: np.ndarray
    energy: float
    range: float
    lost: bool = False
    cost: float = 0.0

    @classmethod
    def of(cls, system: System, way: Way, timestep: float = STEP) -> Run:
        """Let go."""
        dynamics = system.scene.compile(way.method)
        simulation = rd.Simulation(dynamics, timestep, way.integrator)
        maximal = isinstance(dynamics, MaximalDynamics)
        simulation.q[:] = dynamics.from_reduced(system.start)[0] if maximal else system.start
        simulation.warm_up()
        run = cls(simulation, system.start, 0.0, most_kinetic(dynamics.reduced if maximal else dynamics, system.start))
        run.energy = run.total()
        return run

    def total(self) -> float:
        """Kinetic energy and that of gravity, J."""
        d, q, v = self.simulation.dynamics, self.simulation.q, self.simulation.v
        return float(d.kinetic_energy(q, v) + d.potential_energy(q))

    def step(self) -> None:
        """One more, if none failed yet."""
        if self.lost:
            return
        start, first = process_time(), self.simulation.time == 0.0
        try:
            self.simulation.step()
        except rd.StateError:
            self.lost = True
        spent = process_time() - start
        if not first:
            self.cost += 0.02 * (spent - self.cost) if self.cost else spent

    def opening(self) -> float:
        """By how much joints, or the constraints that close loops, are not met, m or rad."""
        d, sim = self.simulation.dynamics, self.simulation
        if self.lost:
            return float("inf")
        if isinstance(d, MaximalDynamics):
            followed = sim.joint_coordinates
            near = followed if np.isfinite(followed).all() else self.start
            missed = [errors(sim.q, sim.v, near)[0] for errors in (d.joint_errors, d.constraint_errors)]
        else:
            missed = [d.constraint_errors(sim.q, sim.v)[0]] if d.constraints else []
        return max((float(np.abs(own).max(initial=0.0)) for own in missed), default=0.0)

    def drift(self) -> float:
        """Share of the energy in play that came or went."""
        return abs(self.total() - self.energy) / self.range


class Comparison:
    """All systems in all formulations, and one scene of free bodies that shows them."""

    def __init__(self) -> None:
        self.shown = Scene(gravity=(0, 0, 0))
        self.runs: list[list[Run]] = []
        self._places: list[tuple[np.ndarray, float]] = []  # of each body: where its system stands, its scale
        names = [Curve(way.name, _rgb(way.color)) for way in WAYS]
        share = (0.31, 0.36)
        titles = (
            ("joints open by, m", 1e-14, 1.0),
            ("bodies' energy off by, share", 1e-8, 10.0),
            ("a step, us", 1.0, 1e4),
        )
        self.plots = [
            Plot(title, [replace(c, values=[]) for c in names], low, high, share=share, column=k, named=k == 0)
            for k, (title, low, high) in enumerate(titles)
        ]
        for column, way in enumerate(WAYS):
            self.runs.append([self._add(column, way, name) for name in SYSTEMS])
            beam = shapes.Box((1.9, 0.1, 0.06), at=rd.pose((column * APART, 0, 0.06)), color=WOOD, collision=False)
            self.shown.world.shapes.append(beam)

    def _add(self, column: int, way: Way, name: str) -> Run:
        system = SYSTEMS[name]()
        x, z, scale = PLACES[name]
        X = rd.pose((column * APART + x, 0, z))
        for body in system.scene.bodies:
            looks = [_shrunk(look, scale, way.color) for look in body.shapes]
            copy = Body(f"{way.name} {body.name}", looks, mass=1.0, inertia=np.eye(3))
            self.shown.world.attach(copy, joints.free())
            self._places.append((X, scale))
        return Run.of(system, way)

    def control(self, simulation: rd.Simulation) -> None:
        """Let all runs catch up with the simulation that shows them."""
        runs = [run for way in self.runs for run in way]
        while runs[0].simulation.time < simulation.time - STEP / 2:
            for run in runs:
                run.step()
        poses = np.concatenate([run.simulation.dynamics.poses(run.simulation.q) for run in runs])
        state = simulation.q.reshape(-1, 7)
        poses[:, :3, 3] *= np.array([scale for _, scale in self._places])[:, None]
        at = np.array([X for X, _ in self._places]) @ poses
        state[:, :3], state[:, 3:] = at[:, :3, 3], matrix_to_quaternion(at[:, :3, :3])
        simulation.v[:] = 0.0
        values = [
            [max(run.opening() for run in way) for way in self.runs],
            [max(run.drift() for run in way) for way in self.runs],
            [1e6 * max(run.cost for run in way) for way in self.runs],
        ]
        for plot, value in zip(self.plots, values, strict=True):
            plot.add(simulation.time, *value)

    def overlay(self, picture: np.ndarray) -> np.ndarray:
        """The picture with all plots."""
        for plot in self.plots:
            picture = plot.drawn(picture)
        return picture

    def energy(self) -> float:
        """Kinetic energy and that of gravity in all systems, in all formulations, J."""
        return sum(run.total() for way in self.runs for run in way)

    def report(self) -> str:
        """Where each formulation stands at the end."""
        return "; ".join(
            f"{way.name}: open by {max(run.opening() for run in runs):.1e}, energy off by"
            f" {max(run.drift() for run in runs):.1%}{', lost' if any(run.lost for run in runs) else ''}"
            for way, runs in zip(WAYS, self.runs, strict=True)
        )


def _shrunk(look: shapes.Shape, scale: float, color: Color) -> shapes.Shape:
    """A smaller one, of another colour."""
    if isinstance(look, shapes.Torus):
        return shapes.Torus(look.major * scale, look.minor * scale, at=look.at, color=color)
    return replace(look, color=color, collision=False)


def _rgb(color: Color) -> tuple[int, int, int]:
    return round(255 * color[0]), round(255 * color[1]), round(255 * color[2])


def build() -> Stage:
    """All let go at once."""
    both = Comparison()
    simulation = compiled(both.shown, 1 / 100, "semi_implicit_euler")
    return Stage(both.shown, simulation, seconds=8.0, ground=False, control=both.control, report=both.report,
                 energy=both.energy, overlay=both.overlay,
                 camera=Camera(target=(1.5 * APART, 0, -1.75), distance=9.5, yaw=0, pitch=-8))  # fmt: skip
