"""Demos in which things collide: how deep, and whether energy ever grows, at 1/240 s.

A demo joins by a line in ``FACTORIES``: a function without arguments that gives ``demos.stage.Stage``, whose simulation
has the timestep to be judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from demos import chain_on_floor, laikago_terrain, ragdolls, rover, stack, windmill_balls
from demos.stage import Stage, bullets_energy, mirrored, most_work, total_energy

FACTORIES: dict[str, Callable[[], Stage]] = {
    "four ragdolls on stairs": ragdolls.build,
    "chains of rings on the floor": chain_on_floor.build,
    "windmill and balls": windmill_balls.build,
    "laikago on uneven ground": laikago_terrain.build,
    "wall and wrecking ball": stack.build,
    "rover on rubble": rover.build,
}

DEEPEST = 2.0  # mm, what is to be reached


@dataclass(frozen=True)
class Conduct:
    """Of one run: bodies, coordinates, most contacts at once, deepest penetration in mm, largest growth of energy in
    one step, beyond what motors may have done, as a share of the energy range of the run, steps that did not converge,
    median step in s."""

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
    stage = replace(build(), contact=True)
    simulation = stage.simulation
    steps = round(stage.seconds / simulation.timestep)
    work, times, deepest, contacts, unsettled = [], [], 0.0, 0, 0
    with mirrored(stage) as mirror:
        energies = [total_energy(simulation) + bullets_energy(mirror)]
        for _ in range(steps):
            if stage.control:
                stage.control(simulation)
            before, start = simulation.v.copy(), perf_counter()
            mirror.step()
            times.append(perf_counter() - start)
            solution = simulation.solution
            deepest, contacts = max(deepest, solution.penetration), max(contacts, solution.contacts)
            unsettled += not solution.converged
            work.append(most_work(simulation, before))
            energies.append(total_energy(simulation) + bullets_energy(mirror))
    span = max(energies) - min(energies)
    growth = float((np.diff(energies) - work).max() / span) if span > 0.0 else 0.0
    return Conduct(len(simulation.dynamics.bodies), simulation.dynamics.nv, contacts, 1e3 * deepest, max(growth, 0.0),
                   unsettled, steps, float(np.median(times)))  # fmt: skip
