"""What tests of maximal coordinates share: the ways to step, a rod, and runs beside the motion in joint coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene

WAYS = [
    ("velocity_constraints", "semi_implicit_euler"),
    ("penalty", "implicit_euler"),
    ("penalty", "semi_implicit_euler"),
]
EACH = pytest.mark.parametrize("method, integrator", WAYS)


def rod(name: str, k: int = 0) -> Body:
    """Half a metre along x, heavier as k grows."""
    return Body(name, mass=1.0 + 0.3 * k, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))


def runs_beside(
    scene: Scene,
    method: str,
    integrator: str,
    rates: tuple[int, int] = (1000, 2000),
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[rd.Simulation, list[rd.Simulation], list[float]]:
    """0.1 s of a motion as rk4 has it in joint coordinates, the same by a formulation at each of these rates, 1/s, and
    by how much its bodies' places, m, and turns are off. start: q, v in joint coordinates, if not as scenes begin."""
    exact, sims, off = rd.Simulation(scene.compile(), 1 / 1000, "rk4"), [], []
    if start is not None:
        exact.q, exact.v = start
    exact.step(100)
    d = scene.compile(method)
    for rate in rates:
        sim = rd.Simulation(d, 1 / rate, integrator)
        if start is not None:
            sim.q, sim.v = d.from_reduced(*start)
        sim.step(rate // 10)
        sims.append(sim)
        off.append(float(np.abs(d.poses(sim.q) - exact.dynamics.poses(exact.q)).max()))
    return exact, sims, off
