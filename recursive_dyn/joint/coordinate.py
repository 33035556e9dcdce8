"""A velocity coordinate and what its joint does by itself: limits, damping, spring, rotor, dry friction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Coordinate:
    """One velocity coordinate: limits (low, high), damping and stiffness of its spring to ``rest``, rotor inertia.

    friction: the largest force of the joint's dry friction; it enters no generated code.
    """

    name: str
    limits: tuple[float, float] = (-np.inf, np.inf)
    damping: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    armature: float = 0.0
    friction: float = 0.0
