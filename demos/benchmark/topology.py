"""Twenty bodies at once come, or come apart, in a running game: when that takes effect, and how long frames take.

Each in processes of its own: cold, with a cache that knows the scene before but not after, and again with what the
first left there; and with what a joint breaks into prepared ahead. Frames at 60 a second, four steps each, of which the
first has the edit in it, until nothing is prepared in the background any more. As the machine may be busy, CPU time
stands beside the wall's: of all threads until the edit takes effect, of the one that steps for frames.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time, sleep, thread_time

import numpy as np

import recursive_dyn as rd
from bridge import Plugin
from demos.benchmark.report import print_table
from demos.ragdolls import figure_file
from recursive_dyn.codegen.making import optimizing
from scene import Body, Scene, joints, shapes
from scene.body import Node

LINKS, LENGTH, FRAME, MOST = 20, 0.4, 1 / 60, 1800
BAR_EFFECT, BAR_FRAME = 0.3, 1e3 / 60  # s, ms
_ROOT = Path(__file__).resolve().parents[2]


def _chain(scene: Scene, joint: Callable[[int], joints.Joint], name: str, x: float) -> None:
    node: Node = scene.world
    for k in range(LINKS):
        link = Body(f"{name} {k}", [shapes.Capsule(0.05, 0.3, at=rd.pose((0, 0, -LENGTH / 2)))], mass=1.0)
        node = node.attach(link, joint(k), rd.pose((0, 0, -LENGTH)) if k else rd.pose((x, 0, 9.0)))


def _hinge(k: int) -> joints.Joint:
    return joints.revolute("xy"[k % 2], damping=0.01)


def _hinges(scene: Scene) -> None:
    _chain(scene, _hinge, "link", 0.0)


def _balls(scene: Scene) -> None:
    _chain(scene, lambda k: joints.ball(damping=0.01), "link", 0.0)


def _doll(scene: Scene) -> None:
    scene.add_urdf(figure_file(), "doll.", at=rd.pose((0, 0, 9.0)))


def _cut(scene: Scene) -> None:
    scene.cut(f"link {LINKS // 2}")


def _swap(scene: Scene) -> None:
    scene.swap(f"link {LINKS // 2}", joints.revolute("z", damping=0.01))  # which cannot be where it was


def _lose_an_arm(scene: Scene) -> None:
    scene.cut("doll.right_shoulder")


def _come(scene: Scene) -> None:
    _chain(scene, lambda k: joints.universal("x", "y", damping=0.01) if k else _hinge(k), "new", 2.0)


def _both(scene: Scene) -> None:
    _hinges(scene)
    _come(scene)


def _go(scene: Scene) -> None:
    scene["new 0"].detach()


def _heap(scene: Scene) -> None:
    for k in range(LINKS):
        box = Body(f"box {k}", [shapes.Box((0.2, 0.2, 0.2))], mass=1.0)
        scene.world.attach(box, joints.free(), rd.pose((3.0 + 0.3 * (k % 5), 0, 0.1 + 0.3 * (k // 5))))


EDITS = {  # what there is before, and what is done to it
    "a chain of 20 hinges is cut in the middle": (_hinges, _cut),
    "a chain of 20 balls is cut in the middle": (_balls, _cut),
    "a chain of 20 hinges has one swapped": (_hinges, _swap),
    "a ragdoll of 16 bodies loses an arm": (_doll, _lose_an_arm),
    "a chain of 20 links comes, of another kind": (_hinges, _come),
    "a chain of 20 links goes": (_both, _go),
    "20 boxes come, of a kind that was not there": (_hinges, _heap),
}


def measure(name: str, ahead: bool) -> None:
    """Print seconds to effect, those of CPU, and milliseconds of frames till all is done: the worst, and the switch."""
    build, edit = EDITS[name]
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    build(scene)
    if ahead:
        scene[f"link {LINKS // 2}"].breaks_at(force=1e5)
    game = Plugin(scene, prompt=False)
    game.simulation.warm_up(optimized=True)
    game.simulation.v[:3] = 1.0
    for _ in range(30):
        game.on_frame(FRAME)
    while not game.simulation.preparing.idle:
        sleep(0.01)
    if os.environ.get("TOPOLOGY_BEFORE"):  # only what there is before the edit gets into the cache
        return
    wall, cpu, switch, effect, spent = [], [], 0, np.nan, np.nan
    start, begun = perf_counter(), process_time()
    while not wall or ((game.updating or not game.simulation.preparing.idle) and len(wall) < MOST):
        wall.append(-perf_counter())
        cpu.append(-thread_time())
        if len(wall) == 1:
            edit(scene)
            game.update(wait=ahead)
        game.on_frame(FRAME)
        wall[-1] += perf_counter()
        cpu[-1] += thread_time()
        if not game.updating and not switch:
            switch, effect, spent = len(wall), perf_counter() - start, process_time() - begun
        sleep(max(0.0, FRAME - wall[-1]))
    optimizing.finish()  # the game goes on
    frames = [
        1e3 * x for own in (wall, cpu) for x in (max([*own[: switch - 1], *own[switch:]], default=0.0), own[switch - 1])
    ]
    print(json.dumps([effect, spent, *frames]))


def _row(name: str, cache: str, ahead: bool = False) -> list[float]:
    environment = os.environ | {"RECURSIVE_DYN_CACHE": cache, "PYTHONPATH": str(_ROOT), "RECURSIVE_DYN_PROGRESS": "off"}
    program = f"from demos.benchmark.topology import measure; measure({name!r}, {ahead})"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return list(np.round(json.loads(done.stdout.splitlines()[-1]), 2)) if done.stdout.strip() else []


def table() -> None:
    """Each edit, cold, again, and, of a cut, prepared."""
    rows = []
    for name, (_, edit) in EDITS.items():
        with tempfile.TemporaryDirectory() as cache:
            os.environ["TOPOLOGY_BEFORE"] = "1"
            _row(name, cache)
            del os.environ["TOPOLOGY_BEFORE"]
            kinds = {"cold": False, "again": False} | ({"prepared": True} if edit is _cut else {})
            for kind, ahead in kinds.items():
                rows.append([name, kind, *(f"{x:g}" for x in _row(name, cache, ahead))])
    head = ["to effect, s", "CPU, s", "worst frame, ms", "that switches", "worst, CPU", "that switches, CPU"]
    title = f"20 bodies at once; to be reached: {BAR_EFFECT:g} s, {BAR_FRAME:.1f} ms"
    print_table(title, ["edit", "code", *head], rows)
