"""The shape that every engine has: it builds a task, steps it and tells its state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import ExitStack
from importlib.util import find_spec

import numpy as np

from demos.benchmark.contact.description import Task
from demos.benchmark.contact.measures import balls_energy


class Unable(Exception):
    """An engine cannot express a task; the message says why."""


class Engine(ABC):
    """One engine with one task. Arrays are over the task's solids, in its order, world axes, SI units.

    Raises Unable when the engine is not installed or has no such thing.
    """

    label = ""
    modules: tuple[str, ...] = ()

    def __init__(self, task: Task) -> None:
        for module in self.modules:
            if find_spec(module) is None:
                raise Unable(f"{module} is not installed")
        self.task, self.time = task, 0.0
        self.held = ExitStack()  # what is to be closed in the end
        self.build(task)

    @abstractmethod
    def build(self, task: Task) -> None:
        """Make the engine's own scene."""

    def step(self) -> None:
        """One timestep, with the task's pushes."""
        for push in self.task.pushes:
            if self.time < push.until - 0.5 * self.task.timestep:
                self.push(push.body, push.force)
        self.advance()
        self.time += self.task.timestep

    @abstractmethod
    def push(self, body: str, force: tuple[float, float, float]) -> None:
        """A force on a centre of mass during the next step."""

    @abstractmethod
    def advance(self) -> None:
        """The engine's own step."""

    @abstractmethod
    def positions(self) -> np.ndarray:
        """Centres (n, 3)."""

    @abstractmethod
    def velocities(self) -> np.ndarray:
        """Of the centres (n, 3)."""

    @abstractmethod
    def spins(self) -> np.ndarray:
        """Angular velocities (n, 3)."""

    def energy(self) -> float:
        """Kinetic and potential energy of everything, J."""
        if self.task.robot is None:
            return balls_energy(self.task.solids, self.task.gravity, self.positions(), self.velocities(), self.spins())
        return self.robot_energy()

    def momentum(self) -> np.ndarray:
        """Linear momentum of everything (3,), kg m/s."""
        masses = np.array([solid.mass for solid in self.task.solids])
        own = masses @ self.velocities() if len(masses) else np.zeros(3)
        return own if self.task.robot is None else own + self.robot_momentum()

    @abstractmethod
    def robot_energy(self) -> float:
        """Kinetic and potential energy of the robot, without springs, J."""

    @abstractmethod
    def robot_momentum(self) -> np.ndarray:
        """Linear momentum of the robot (3,)."""

    @abstractmethod
    def robot_height(self) -> float:
        """Height of the root's frame, m."""

    @abstractmethod
    def contacts(self) -> int:
        """Number of contact points of the last step."""

    def times(self) -> dict[str, float]:
        """Seconds of each part of the last step, where the engine tells."""
        return {}

    def sweeps(self) -> int:
        """Sweeps of the last step's contact solve, the most of an island, where the engine tells."""
        return 0

    def residual(self) -> float:
        """What the last sweep still changed, m/s, where the engine tells."""
        return 0.0

    def converged(self) -> bool:
        """Whether the last step's contact solve reached its tolerance, where the engine tells."""
        return True

    def whole_energy(self) -> float:
        """Kinetic and potential energy of everything, J, where the engine tells it of all shapes."""
        return float("nan")

    def close(self) -> None:
        """Free what the engine holds."""
        self.held.close()
