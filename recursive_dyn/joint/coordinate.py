"""A velocity coordinate and what its joint does by itself: limits, damping, spring, rotor, dry friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class CoordinateLimits(NamedTuple):
    """What a coordinate and its drive are made for; infinite where nothing was said.

    position: (low, high), which stops hold; velocity: the most, either way; effort: the most that a motor gives, N or
    N m, either way.
    """

    position: tuple[float, float]
    velocity: float
    effort: float


@dataclass(frozen=True)
class Coordinate:
    """One velocity coordinate: limits (low, high), damping and stiffness of its spring to ``rest``, rotor inertia.

    friction: the largest force of the joint's dry friction; effort, velocity: see CoordinateLimits. These three enter
    no generated code.
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
