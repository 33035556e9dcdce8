"""A velocity coordinate and what its joint does by itself: limits, damping, spring, rotor, dry friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recursive_dyn.joint.turn_limits import TurnLimits


class CoordinateLimits(NamedTuple):
    """What a coordinate and its drive are made for; infinite where nothing was said.

    position: (low, high), which stops hold; velocity: the most, either way; effort: the most that a motor gives, N or
    N m, either way; turn: of the first coordinate of a ball, how far that turns.
    """

    position: tuple[float, float]
    velocity: float
    effort: float
    turn: TurnLimits | None = None


@dataclass(frozen=True)
class Coordinate:
    """One velocity coordinate: limits (low, high), damping and stiffness of its spring to ``rest``, rotor inertia.

    torsion: stiffness where the position is no number but a point on a manifold (recursion.joint_torsion), of which
    ``rest`` is a tangent. friction: the largest force of the joint's dry friction; effort, velocity: see
    CoordinateLimits; turn: of the first of a ball's three, what limits the turning. These four enter no generated code.
    """

    name: str
    limits: tuple[float, float] = (-np.inf, np.inf)
    damping: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    armature: float = 0.0
    friction: float = 0.0
    effort: float = np.inf
    velocity: float = np.inf
    torsion: float = 0.0
    turn: TurnLimits | None = None

    @property
    def elasticity(self) -> float:
        """Stiffness of its spring, whatever its position is."""
        return self.stiffness or self.torsion


CLOCK = "time"  # the name of time, and of the symbol that stands for it
TIME = Coordinate(CLOCK)  # which joints may share as they share others; see model.clock
