"""What a contact test is: bodies, robot, surfaces, pushes, duration, and what is measured. Engines build from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

Vector = tuple[float, float, float]

GRAVITY = 9.81
# size and centre, m, of a box whose top is z = 0: the ground of an engine that lets a box stand on that with four
# corners, but not on its plane
GROUND: tuple[Vector, Vector] = (200.0, 200.0, 2.0), (0.0, 0.0, -1.0)


@dataclass(frozen=True)
class Ball:
    """A uniform ball of ``radius`` m."""

    radius: float


@dataclass(frozen=True)
class Block:
    """A uniform box; ``size`` is its full extents in m."""

    size: Vector


@dataclass(frozen=True)
class Pill:
    """A uniform capsule along z; ``length`` is that of its cylinder in m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Drum:
    """A uniform cylinder along z, m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Solid:
    """A free body: its shape, mass in kg, centre in m, velocity of the centre in m/s, roll, pitch and yaw in rad, and
    angular velocity in rad/s, which is that in its own axes where it is not turned.
    """

    name: str
    shape: Ball | Block | Pill | Drum
    mass: float
    position: Vector
    velocity: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Robot:
    """A floating robot of hinges that collides with everything but itself.

    urdf: text with absolute mesh files; position of its root link's frame, which is not turned; angles by joint, rad;
    stiffness, damping: springs that hold the hinges there, N m/rad and N m s/rad.
    """

    urdf: str
    position: Vector
    angles: Mapping[str, float]
    stiffness: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Push:
    """A constant force, N, world axes, on the centre of mass of a solid, or of the robot's root; s."""

    body: str
    force: Vector
    until: float = np.inf


class Measurable(Protocol):
    """What is read of an engine's state, in SI units and world axes; arrays are over a task's solids, in its order."""

    def positions(self) -> np.ndarray:
        """Centres (n, 3)."""

    def velocities(self) -> np.ndarray:
        """Of the centres (n, 3)."""

    def energy(self) -> float:
        """Kinetic and potential energy of everything, J."""

    def momentum(self) -> np.ndarray:
        """Linear momentum of everything (3,), kg m/s."""

    def robot_height(self) -> float:
        """Height of the root's frame, m."""


@dataclass(frozen=True)
class Task:
    """A test.

    friction: Coulomb's coefficient between solids; ground_friction: of everything with the ground. correction:
    whether an engine may push apart what overlaps (in SimBenchmark not: ERP 0). ground: whether there is one, z = 0,
    a plane or what serves an engine better; walls: boxes that stand still, by size and centre, rough like the ground;
    dolls: robots besides, of which nothing is read. sleep: whether what rests may sleep, as each engine has it.
    iterations: how many our solves may take, if not the default. sample: what is noted before each step and after the
    last, numbers; error: of times (k,) and samples (k, ...), the figure of the table. published: engine and figure;
    unit: of the figure.
    """

    name: str
    timestep: float
    duration: float
    solids: tuple[Solid, ...]
    sample: Callable[[Measurable], np.ndarray | float]
    error: Callable[[np.ndarray, np.ndarray], float]
    robot: Robot | None = None
    gravity: float = GRAVITY
    ground: bool = True
    friction: float = 0.0
    ground_friction: float = 0.0
    restitution: float = 0.0
    pushes: tuple[Push, ...] = ()
    walls: tuple[tuple[Vector, Vector], ...] = ()
    dolls: tuple[Robot, ...] = ()
    sleep: bool = False
    iterations: int | None = None
    correction: bool = False
    unit: str = ""
    published: Mapping[str, float] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Timesteps in its duration."""
        return round(self.duration / self.timestep)


ROBOT = "robot"  # the name of the robot in pushes: its root link
