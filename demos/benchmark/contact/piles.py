"""Piles that must stand, and scenes to time: a stack, a heavy box on a light one, many boxes, a standing robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from demos.benchmark.contact.description import GROUND, Ball, Block, Solid, Task
from demos.benchmark.contact.robots import STANDING_HEIGHT, STANDING_POSE, quadruped

SIDE = 0.2  # m
OVERLAP = 2e-5  # m, of neighbours at the start: Bullet's boxes touch only where they overlap, if by rounding
FRAME = 1 / 60  # s
STANDING = 60.0  # s
MILLIMETRE = 1e-3


def sinking(samples: np.ndarray) -> np.ndarray:
    """How far the topmost of n boxes is below where rigid ones would hold it, mm (k,); samples (k, n, 3)."""
    return (SIDE * (samples.shape[1] - 0.5) - samples[:, -1, 2]) / MILLIMETRE


def drift(samples: np.ndarray) -> float:
    """How far any box is from the place in the plane where it started, at worst, mm; samples (k, n, 3)."""
    return float(np.linalg.norm(samples[..., :2] - samples[0, :, :2], axis=-1).max() / MILLIMETRE)


def _pile(name: str, masses: list[float]) -> Task:
    boxes = tuple(
        Solid(f"box {k + 1}", Block((SIDE,) * 3), mass, (0.0, 0.0, SIDE * (k + 0.5) - OVERLAP * (k + 1)))
        for k, mass in enumerate(masses)
    )
    return Task(
        name, FRAME, STANDING, boxes, friction=0.5, ground_friction=0.5, correction=True,
        sample=lambda engine: engine.positions(), error=lambda t, x: float(sinking(x).max()), unit="mm",
    )  # fmt: skip


def stack() -> Task:
    """Ten boxes of 1 kg; by how much the topmost is too low at worst in 60 s."""
    return _pile("stack of 10", [1.0] * 10)


def heavy_on_light() -> Task:
    """1000 kg on 1 kg."""
    return _pile("1000:1", [1.0, 1000.0])


def tasks() -> dict[str, Task]:
    """By name."""
    return {task.name: task for task in (stack(), heavy_on_light())}


def boxes(count: int) -> Task:
    """``count`` boxes side by side on the ground, four contacts each, for timing."""
    across = int(np.ceil(np.sqrt(count)))
    standing = tuple(
        Solid(f"box {k + 1}", Block((SIDE,) * 3), 1.0, (0.5 * (k % across), 0.5 * (k // across), SIDE / 2))
        for k in range(count)
    )
    return Task(
        f"{count} boxes", 1 / 240, 1.0, standing, friction=0.5, ground_friction=0.5, correction=True,
        sample=lambda engine: engine.positions(),
        error=lambda t, x: float((SIDE / 2 - x[..., 2]).max() / MILLIMETRE), unit="mm",
    )  # fmt: skip


def heaps(sleep: bool, ball: bool) -> Task:
    """300 flat boxes in ten heaps at rest, which may sleep, and perhaps a ball that rolls on and on beside them."""
    flat = Block((SIDE, SIDE, SIDE / 2))
    solids = [
        Solid(f"box {k + 1}", flat, 1.0, (k // 30, 0.23 * (k % 6), SIDE / 2 * (k % 30 // 6 + 0.5))) for k in range(300)
    ]
    if ball:
        solids.append(Solid("ball", Ball(0.1), 1.0, (-1.0, 0.0, 0.1), (0.0, 1.0, 0.0), spin=(-10.0, 0.0, 0.0)))
    return Task(
        "300 boxes in 10 heaps", 1 / 240, 1.0, tuple(solids), friction=0.6, ground_friction=0.6, correction=True,
        sleep=sleep, sample=lambda engine: engine.positions(), error=lambda t, x: 0.0,
    )  # fmt: skip


def standing_quadruped() -> Task:
    """Laikago on its four feet, its hinges held by springs, for timing; by how much its root sinks."""
    robot = quadruped((0.0, 0.0, STANDING_HEIGHT), STANDING_POSE, stiffness=300.0, damping=6.0, feet_only=True)
    return Task(
        "Laikago standing", 1 / 240, 10.0, (), robot=robot, friction=0.8, ground_friction=0.8, correction=True,
        sample=lambda engine: engine.robot_height(), error=lambda t, z: float((z[0] - z.min()) / MILLIMETRE),
        unit="mm",
    )  # fmt: skip


def quadruped_on_a_box() -> Task:
    """The same on a box in every engine."""
    return replace(standing_quadruped(), name="Laikago standing on a box", ground=False, walls=(GROUND,))
