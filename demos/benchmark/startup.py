"""From the start of a program to its first contact step, each time in a process of its own: CPU time and where it went.

Run as a module it is that process: it prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

PARTS = ("imports", "scene", "mirror", "first step")
BARS = {"a ball on a box": 2.0, "Laikago from its file": 3.0}  # s of CPU that the first start may take
Steps = Iterator[None]


def ball_on_a_box() -> Steps:
    """A ball that lies on a box."""
    import recursive_dyn as rd
    from bridge import PyBulletMirror
    from scene import Body, Scene, joints, shapes

    yield
    scene = Scene()
    scene.world.shapes.append(shapes.Box((4, 4, 1), at=rd.pose((0, 0, -0.5))))
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.1)))
    sim = rd.Simulation(scene.compile(), 1 / 240)
    yield
    yield from _first_step(PyBulletMirror(scene, sim, gui=False, ground=False))


def laikago() -> Steps:
    """PyBullet's Laikago, on its toes."""
    import pybullet_data

    import recursive_dyn as rd
    from bridge import PyBulletMirror
    from scene import Scene

    yield
    scene = Scene.from_urdf(pybullet_data.getDataPath() + "/laikago/laikago_toes_zup.urdf")
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.q[2] = 0.518  # its toes reach the ground, by a fraction of a millimetre
    yield
    yield from _first_step(PyBulletMirror(scene, sim, gui=False))


def _first_step(mirror) -> Steps:
    yield
    with mirror:
        mirror.step()
        yield
        if not mirror.contacts:
            raise SystemExit("the first step has no contact")


PROGRAMS: dict[str, Callable[[], Steps]] = dict(zip(BARS, (ball_on_a_box, laikago), strict=True))


def measure(name: str, folder: str) -> dict[str, float]:
    """CPU seconds of each part of a program whose cache is ``folder``, and of its optimizing process, if it waited."""
    command = [sys.executable, "-m", "demos.benchmark.startup", name]
    environment = os.environ | {"RECURSIVE_DYN_CACHE": folder}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(rounds: int = 3) -> None:
    """Every program from an empty cache, and again from the one that the first run leaves after a while."""
    from demos.benchmark.report import print_table  # not in the process that is measured

    rows = []
    for name, bar in BARS.items():
        best: dict[str, dict[str, float]] = {}
        for _ in range(rounds):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                for state in ("empty", "filled"):
                    told = measure(name, folder)
                    if state not in best or told["all"] < best[state]["all"]:
                        best[state] = told
                    if state == "empty":
                        time.sleep(1.0)  # what it left running
        for state, told in best.items():
            cells = [f"{told[part]:.2f}" for part in (*PARTS, "all")]
            rows.append([f"{name}, {state} cache", *cells, f"{bar:g}" if state == "empty" else "-"])
    head = ["CPU seconds", *PARTS, "in all", "to be reached"]
    print_table("from the start of a program to its first contact step", head, rows)


def main(name: str) -> None:
    """One program in this process, from its very start."""
    moments = [0.0]
    for _ in PROGRAMS[name]():
        moments.append(time.process_time())
    parts = {part: end - start for part, start, end in zip(PARTS, moments[:-1], moments[1:], strict=True)}
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps(parts | {"all": moments[-1], "children": children.ru_utime + children.ru_stime}))


if __name__ == "__main__":
    main(sys.argv[1])
