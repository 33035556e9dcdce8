"""Piles that are disturbed, to see whether their solves converge: kicked walls, heavy on light, ragdolls on stairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demos.benchmark.contact import moving
from demos.benchmark.contact.description import Block, Robot, Solid, Task

WALLS = {9: 3, 30: 6, 100: 10, 240: 20}  # bricks, and how many of them side by side
BRICK = (0.2, 0.1, 0.1)  # m
KICK = 0.2  # m/s, across the wall, and of heavy boxes in all directions
SIDE = 0.2  # m, of boxes on each other
MASSES = ((1.0, 1e3), (1.0, 1e3, 1.0, 1e3), (1.0, 1e4, 1.0, 1e4), (1.0, 1e6), (1.0, 1e2, 1e4, 1e6), (1e6, 1.0, 1e6))
SEEDS = (0, 1)
PATIENT = 1000  # iterations, by which what begins to slide is solved to the end


def kicked(bricks: int, seed: int) -> Task:
    """A wall, each brick of which is kicked across it, until it is at rest again."""
    across, kicks = WALLS[bricks], KICK * np.random.default_rng(seed).normal(size=bricks)
    solids = []
    for k in range(bricks):
        row, column = divmod(k, across)
        place = (column * (BRICK[0] + 5e-4) + 0.5 * BRICK[0] * (row % 2), 0.0, (row + 0.5) * BRICK[2])
        solids.append(Solid(f"brick {k + 1}", Block(BRICK), 1.0, place, (0.0, float(kicks[k]), 0.0)))
    return moving.task(f"wall of {bricks} bricks, kicked, seed {seed}", 1.0, solids)


def heavy(masses: Sequence[float], seed: int) -> Task:
    """Boxes of such masses, kg, on each other, from below, thrown about a little."""
    rng = np.random.default_rng(seed)
    solids = [
        Solid(
            f"box {k + 1}", Block((SIDE, SIDE, SIDE)), mass, (0.02 * k, 0.0, SIDE * (k + 0.5)),
            moving.vector(KICK * rng.normal(size=3)), spin=moving.vector(KICK * rng.normal(size=3)),
        )
        for k, mass in enumerate(masses)
    ]  # fmt: skip
    return moving.task(f"{', '.join(f'{mass:g}' for mass in masses)} kg, thrown, seed {seed}", 0.5, solids)


def stairs(seed: int, count: int = 4) -> Task:
    """Limp figures that fall down stairs."""
    rng = np.random.default_rng(seed)
    steps = [((0.4, 12.0, 0.2 * (k + 1)), (-0.2 - 0.4 * k, 3.0, 0.1 * (k + 1))) for k in range(8)]
    dolls = [
        Robot(moving.ragdoll(), (-1.4 + 0.3 * (k % 2), 1.0 + 0.9 * k, 3.0 + 0.3 * float(rng.uniform())), {})
        for k in range(count)
    ]
    return moving.task(f"{count} ragdolls on stairs, seed {seed}", 2.0, [], steps, dolls)


def tasks() -> dict[str, Task]:
    """All of them, by name."""
    found = [kicked(bricks, seed) for bricks in WALLS for seed in SEEDS]
    found += [moving.allowed(kicked(bricks, seed), PATIENT) for bricks in (30, 100) for seed in SEEDS]
    found += [heavy(masses, seed) for masses in MASSES for seed in SEEDS]
    found += [stairs(seed) for seed in SEEDS]
    return {task.name: task for task in found}
