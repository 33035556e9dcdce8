"""A picture of many bodies, ours and by PyBullet's EGL renderer, 800 x 600 pixels, read back; and poses sent."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from bridge.bodies.visuals import GROUND, PALETTE
from bridge.drawing.gl_context import offscreen
from bridge.drawing.instances import Instances
from bridge.drawing.painter import FAST, FINE, Quality, offscreen_painter
from bridge.drawing.pieces import Ground, Piece
from bridge.meshes.shape_meshes import TURN, tessellated
from scene import Body, Scene, joints, shapes

SIZE = (800, 600)
COUNTS = (10, 100, 1000)
MOST_OF_BULLETS = 100  # bodies: each is placed by a call of its own
SHAPES = (shapes.Box((0.3, 0.2, 0.1)), shapes.Capsule(0.06, 0.3), shapes.Cylinder(0.1, 0.2), shapes.Sphere(0.1))


def poses(count: int) -> np.ndarray:
    """A cloud of bodies above the ground, X_WB (count, 4, 4)."""
    rng, side = np.random.default_rng(0), count ** (1 / 3)
    at = rng.uniform(-0.5, 0.5, (count, 3)) * side + (0.0, 0.0, 0.6 * side)
    return np.array([rd.pose(place, rng.uniform(-3.0, 3.0, 3)) for place in at])


def camera(count: int) -> Camera:
    """From where all of them are seen."""
    side = count ** (1 / 3)
    return Camera(2.2 * side, target=(0.0, 0.0, 0.5 * side))


def ours(count: int) -> dict[str, float]:
    """Milliseconds of a picture at each quality, of CPU for it, and of sending the poses."""
    meshes = [tessellated(shape, TURN) for shape in SHAPES]
    pieces = [Piece(meshes[k % 4], PALETTE[k % len(PALETTE)], frame=k) for k in range(count)]
    places, ground, result = poses(count), [Ground(np.eye(4), 0.5, *GROUND)], {}
    context = offscreen()
    with context.current():
        painter, things = offscreen_painter(), Instances(context, pieces, count)

        def picture(quality: Quality) -> None:
            things.place(places)
            painter.picture(things, ground, camera(count), SIZE, quality)

        for name, quality in (("fine", FINE), ("fast", FAST)):
            result[name], result[f"{name}, CPU"] = least(lambda q=quality: picture(q))

        def send() -> None:
            things.place(places)
            things.upload(np.zeros(3))

        result["poses"] = least(send, 300)[0]
    return result


def bullets(count: int) -> dict[str, float]:
    """The same by PyBullet's EGL renderer, with a sample a pixel and with four."""
    scene = Scene()
    for k, place in enumerate(poses(count)):
        scene.world.attach(Body(f"b{k}", [SHAPES[k % 4]]), joints.free(), at=place)
    simulation = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, simulation, gui=False, renderer="egl", contact=False) as mirror:
        view = camera(count)
        found = {n: least(lambda n=n: mirror.image(*SIZE, view, samples=n)) for n in (1, 4)}
        return {f"{n}{what}": t[k] for n, t in found.items() for k, what in enumerate(("", ", CPU"))}


def least(run: Callable[[], object], repeats: int = 12) -> tuple[float, float]:
    """Milliseconds of a call, and of CPU in all threads: the least of so many, after one that is not counted."""
    run()
    best = np.full(2, np.inf)
    for _ in range(repeats):
        before = time.perf_counter(), time.process_time()
        run()
        best = np.minimum(best, (time.perf_counter() - before[0], time.process_time() - before[1]))
    return float(1e3 * best[0]), float(1e3 * best[1])


def table() -> None:
    """Rows by number of bodies."""
    from demos.benchmark.report import print_table

    rows = []
    for count in COUNTS:
        own = ours(count)
        other = bullets(count) if count <= MOST_OF_BULLETS else {}
        row = [f"{own[name]:.3g} ({own[f'{name}, CPU']:.3g})" for name in ("fine", "fast")]
        row += [f"{other[name]:.3g} ({other[f'{name}, CPU']:.3g})" if other else "-" for name in ("1", "4")]
        rows.append([f"{count}", *row, f"{own['poses']:.3g}"])
    heads = ["bodies", "shadows, 4 samples", "neither", "PyBullet's EGL, 1 sample", "4 samples", "poses sent"]
    print_table("A picture of 800 x 600 pixels, ms (and of CPU)", heads, rows)
