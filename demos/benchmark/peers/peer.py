"""The shape that every peer has: what it can time, and what it computes, on one case at one state."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from itertools import repeat

import numpy as np

from demos.benchmark.cases import Case, to_urdf

Run = Callable[[int], None]


class Peer(ABC):
    """One library on one case; a timed method gives `run(count)`, or None when it cannot: `reason` then says why.

    q, v, tau: of the case's hinges, in the case's order. A free base and balls rest in their zero pose.
    """

    label = ""
    module = ""

    @classmethod
    def available(cls) -> bool:
        """Whether the library is installed; does not import it."""
        return find_spec(cls.module) is not None

    def __init__(self, case: Case, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        self.loaded, self.reason = False, ""
        if not self.available():
            self.reason = f"{self.module} is not installed"
            return
        try:
            self.load(case, to_urdf(case), np.asarray(q, float), np.asarray(v, float), np.asarray(tau, float))
            self.loaded = True
        except Exception as error:  # each library has its own types; all mean that it cannot take this case
            self.reason = f"{self.label} cannot load it: {error}"

    @abstractmethod
    def load(self, case: Case, urdf: str, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        """Build the library's model and put it in the state."""

    def forward_dynamics(self) -> Run | None:
        """Accelerations from q, v, tau."""
        return None

    def inverse_dynamics(self) -> Run | None:
        """Torques from q, v and the accelerations that forward dynamics gives."""
        return None

    def mass_matrix(self) -> Run | None:
        """The joint-space inertia at q."""
        return None

    @abstractmethod
    def acceleration(self) -> np.ndarray:
        """Hinge accelerations (n,), as forward_dynamics computes them."""

    @abstractmethod
    def torque(self) -> np.ndarray:
        """Hinge torques (n,) that inverse_dynamics finds for this peer's own accelerations: tau again."""

    @abstractmethod
    def mass(self) -> np.ndarray:
        """The hinges' block (n, n) of the mass matrix."""


def times(function: Callable[..., object], *arguments: object) -> Run:
    """`run(count)` that calls the function count times, with as little of Python around it as can be."""

    def run(count: int) -> None:
        for _ in repeat(None, count):
            function(*arguments)

    return run
