"""Demos in which things collide: how deep, and whether energy ever grows, at 1/240 s.

A demo joins by a line in ``FACTORIES``: a function without arguments that gives ``demos.stage.Stage``, whose simulation
has the timestep to be judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from bridge import PyBulletMirror
from demos.stage import Stage, total_energy

FACTORIES: dict[str, Callable[[], Stage]] = {}  # "ragdolls on stairs": stairs.build, ...

DEEPEST = 2.0  # mm, what is to be reached


@dataclass(frozen=True)
class Conduct:
    """Of one run: bodies, coordinates, most contacts at once, deepest penetration in mm, largest growth of energy in
    one step as a share of the energy range of the run, steps that did not converge, median step in s."""

    bodies: int
    coordinates: int
    contacts: int
    penetration: float
    growth: float
    unsettled: int
    steps: int
    step: float


def conduct(build: Callable[[], Stage]) -> Conduct:
    """One demo, headless, for as long as it lasts. Its control counts as part of the scene: it must do no work."""
    stage = build()
    simulation = stage.simulation
    steps = round(stage.seconds / simulation.timestep)
    energies, times, deepest, contacts, unsettled = [total_energy(simulation)], [], 0.0, 0, 0
    with PyBulletMirror(stage.scene, simulation, gui=False, ground=stage.ground) as mirror:
        for _ in range(steps):
            if stage.control:
                stage.control(simulation)
            start = perf_counter()
            mirror.step()
            times.append(perf_counter() - start)
            solution = simulation.solution
            deepest, contacts = max(deepest, solution.penetration), max(contacts, solution.contacts)
            unsettled += not solution.converged
            energies.append(total_energy(simulation))
    span = max(energies) - min(energies)
    growth = float(np.diff(energies).max() / span) if span > 0.0 else 0.0
    return Conduct(len(simulation.dynamics.bodies), simulation.dynamics.nv, contacts, 1e3 * deepest, max(growth, 0.0),
                   unsettled, steps, float(np.median(times)))  # fmt: skip
