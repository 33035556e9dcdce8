"""Scenes whose islands come to rest and fall asleep, and what is compared of them."""

import trimesh
from contact_scenes import at, mirror, put

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

H, AFTER, DROP = 1 / 240, 0.5, 8.0
BOX, ROUGH = (0.2, 0.2, 0.1), rd.Material(friction=0.8)
DEFAULT = "linearly_implicit_rk4"


def floor(scene: Scene) -> Scene:
    scene.world.shapes.append(shapes.Box((20.0, 20.0, 1.0), at=at(z=-0.5), material=ROUGH))
    return scene


def stack(scene: Scene, name: str, x: float, count: int = 4) -> None:
    for k in range(count):
        put(scene, f"{name}{k}", shapes.Box(BOX, material=ROUGH), at(x, 0.0, 0.05 + 0.1 * k))


def two_stacks() -> Scene:
    """Of boxes, and a ball far above the first."""
    scene = floor(Scene())
    stack(scene, "a", 0.0)
    stack(scene, "b", 2.0)
    put(scene, "ball", shapes.Sphere(0.05, material=ROUGH), at(0.03, 0.02, DROP))
    return scene


def drums() -> Scene:
    """Convex meshes on each other, and a ball far above."""
    scene, drum = floor(Scene()), trimesh.creation.cylinder(radius=0.1, height=0.1, sections=6)
    for k in range(3):
        put(scene, f"b{k + 1}", shapes.Mesh(drum), at(0.0, 0.0, 0.05 + 0.1 * k, (0.0, 0.0, 0.2 * k)))
    put(scene, "ball", shapes.Sphere(0.05, material=ROUGH), at(0.03, 0.02, DROP))
    return scene


def sleepy(scene: Scene, **options) -> PyBulletMirror:
    shown = mirror(scene, H, DEFAULT, **options)
    shown.sim.contact.sleep_after = AFTER
    return shown


def asleep(scene: Scene, **options) -> PyBulletMirror:
    """A mirror of a scene in which all that can sleep does."""
    shown = sleepy(scene, **options)
    shown.step(180)
    assert shown.sim.asleep
    return shown


NAMES = tuple(f"{name}{k}" for name in "ab" for k in range(4))


def trace(shown, count: int = 200) -> list[bytes]:
    """States, who sleeps and what touches in steps that follow."""
    rows = []
    for _ in range(count):
        shown.step()
        told = sorted((e.kind, e.body_a, e.body_b, e.impulse) for e in shown.sim.contact_events)
        rows.append(shown.sim.q.tobytes() + shown.sim.v.tobytes() + repr((told, shown.sim.asleep)).encode())
    return rows


def flap() -> Scene:
    """A flap that its stop holds up, with a box on it; another one that dry friction holds, and a box on the floor."""
    scene = floor(Scene())
    for name, y, options in (("flap", 0.0, {"limits": (-1.0, 0.0)}), ("rough", 1.0, {"friction": 20.0})):
        board = Body(name, [shapes.Box((0.6, 0.3, 0.02), at=at(0.3), material=ROUGH)], mass=1.0)
        scene.world.attach(board, joints.revolute("y", **options), at=at(0.0, y, 0.5))
        put(scene, f"{name} box", shapes.Box((0.1, 0.1, 0.1), material=ROUGH), at(0.3, y, 0.56))
    stack(scene, "a", 2.0, 1)
    put(scene, "ball", shapes.Sphere(0.05, material=ROUGH), at(0.3, 0.0, DROP))
    return scene
