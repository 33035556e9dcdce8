"""Memory and Bullet's shapes over 10^6 steps with contacts that come and go."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from pathlib import Path

import pybullet

from demos.benchmark.contact.description import Ball, Solid, Task
from demos.benchmark.contact.engines import OursEngine
from recursive_dyn.codegen.making.progress import each

STEPS = 1_000_000
LOOKS = 20
SETTLING = 2  # looks at the start that do not count: caches fill


@dataclass(frozen=True)
class Look:
    """After so many steps: resident memory in MB, bodies and collision shapes that Bullet holds."""

    steps: int
    memory: float
    bodies: int
    shapes: int


def bouncing_ball() -> Task:
    """Three balls in a row bounce without loss for ever, each with its own period."""
    balls = tuple(Solid(f"ball {k}", Ball(0.1), 1.0, (float(k), 0.0, 0.3 + 0.1 * k)) for k in range(3))
    return Task("endurance", 1 / 240, 1.0, balls, restitution=1.0, sample=lambda engine: engine.positions(),
                error=lambda t, x: 0.0)  # fmt: skip


def memory() -> float:
    """Resident memory of this process, MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def watch(steps: int = STEPS, looks: int = LOOKS) -> list[Look]:
    """Run, and look ``looks`` times."""
    engine, seen = OursEngine(bouncing_ball()), []
    client = engine.mirror.client
    for k in each(range(looks), "endurance"):
        for _ in range(steps // looks):
            engine.advance()
        gc.collect()
        numbers = [pybullet.getBodyUniqueId(i, physicsClientId=client) for i in
                   range(pybullet.getNumBodies(physicsClientId=client))]  # fmt: skip
        shapes = sum(len(pybullet.getCollisionShapeData(b, -1, physicsClientId=client)) for b in numbers)
        seen.append(Look((k + 1) * (steps // looks), memory(), len(numbers), shapes))
    engine.close()
    return seen


def growth(seen: list[Look]) -> float:
    """Memory gained a step since the settling looks, bytes."""
    first, last = seen[min(SETTLING, len(seen) - 1)], seen[-1]
    return (last.memory - first.memory) * 2**20 / max(1, last.steps - first.steps)
