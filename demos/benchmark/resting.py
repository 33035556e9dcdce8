"""What a step costs in which all rests on something, by the default rule and by semi-implicit Euler."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import recursive_dyn as rd
from bridge import PyBulletMirror
from demos.benchmark.report import print_table
from scene import Body, Scene, joints, shapes

RULES = ("semi_implicit_euler", "linearly_implicit_rk4")
SETTLED, TIMED, REPEATS = 480, 60, 20  # steps before, steps of which the CPU time is taken, and how often


def boxes(count: int) -> Scene:
    """On top of each other."""
    scene = Scene()
    for i in range(count):
        at = rd.pose((0.01 * (i % 2), 0, 0.1 + 0.2 * i))
        scene.world.attach(Body(f"box {i}", [shapes.Box((0.2, 0.2, 0.2))], mass=1.0), joints.free(), at=at)
    return scene


def legs(stiffness: float, damping: float) -> Scene:
    """A trunk on four legs of two links."""
    scene = Scene()
    trunk = Body("trunk", [shapes.Box((0.3, 0.3, 0.1))], mass=5.0)
    scene.world.attach(trunk, joints.free(), at=rd.pose((0, 0, 0.72)))
    for x in (-0.12, 0.12):
        for y in (-0.12, 0.12):
            node, at = trunk, rd.pose((x, y, -0.05))
            for part in ("thigh", "shin"):
                body = Body(f"{part} {x} {y}", [shapes.Capsule(0.02, 0.2, at=rd.pose((0, 0, -0.15)))], mass=0.25)
                node = node.attach(body, joints.revolute("y", stiffness=stiffness, damping=damping), at=at)
                at = rd.pose((0, 0, -0.3))
    return scene


SCENES: dict[str, Callable[[], Scene]] = {
    "4 boxes": lambda: boxes(4),
    "legs that dampers hold": lambda: legs(0.0, 500.0),
    "legs on stiff springs": lambda: legs(1e4, 0.0),
}


def cost(scene: Scene, rule: str) -> float:
    """CPU time of a step at 240 Hz, s."""
    times = []
    with PyBulletMirror(scene, rd.Simulation(scene.compile(), integrator=rule), gui=False) as mirror:
        mirror.step(SETTLED)
        for _ in range(REPEATS):
            begin = process_time()
            mirror.step(TIMED)
            times.append(process_time() - begin)
    return min(times) / TIMED


def table() -> None:
    """One line a scene."""
    rows = []
    for name, make in SCENES.items():
        old, new = (cost(make(), rule) for rule in RULES)
        rows.append([name, f"{1e6 * old:.0f}", f"{new / old:.2f}"])
    print_table("CPU time of a step at rest in contact: us, then times as much", ["", *RULES], rows)
