"""What a picture of something that moves needs: bodies by name, where they are, and how they get on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np


class Bodies(Protocol):
    """What moves: names of the bodies, in the order of ``frames``."""

    @property
    def bodies(self) -> Sequence[str]: ...


@runtime_checkable
class Posed(Protocol):
    """Rigid bodies that are somewhere."""

    @property
    def dynamics(self) -> Bodies:
        """What knows the names of the bodies."""
        ...

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses (nb, 4, 4) and twists (nb, 6) of all bodies at the present state, world axes at their origins."""
        ...


class Moving(Posed, Protocol):
    """Rigid bodies that move step by step: a ``Simulation``, or a motion on a manifold whose bodies are given."""

    @property
    def time(self) -> float:
        """Time of the present state, s."""
        ...

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` timesteps."""
        ...
