"""Where twins start, and what Bullet says of their bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pybullet

import recursive_dyn as rd
from bridge import ForceTwin


def simulation(dynamics: rd.Dynamics, q: Any, v: Any, timestep: float = 1e-3) -> rd.Simulation:
    """A simulation in that state."""
    sim = rd.Simulation(dynamics, timestep)
    sim.q, sim.v = q, v
    return sim


def bullets(twin: ForceTwin) -> np.ndarray:
    """[v; omega] (parts, 2, 3) of the centres of mass as Bullet tells them."""
    return np.array([pybullet.getBaseVelocity(body, twin.client) for body in twin.bullet_bodies.values()])
