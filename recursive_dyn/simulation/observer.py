"""Whoever is told of every timestep."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """What a simulation tells of its steps; see ``Simulation.observers``."""

    def begin(self) -> None:
        """A call of ``step`` begins, at the present state."""
        ...

    def note(self) -> None:
        """A timestep of it has been taken."""
        ...
