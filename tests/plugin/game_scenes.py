"""Scenes that games' tests step."""

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes


def yard(balls: int = 2, gap: float = 0.5) -> Scene:
    """Balls of 0.1 m over a plane, and a door between two limits."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    for k in range(balls):
        scene.world.attach(Body(f"ball {k}", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((k, 0, 0.1 + gap)))
    door = Body("door", [shapes.Box((0.4, 0.05, 0.4), at=rd.pose((0.2, 0, 0)))])
    scene.world.attach(door, joints.revolute("y", limits=(-0.5, 0.5)), at=rd.pose((0, 3, 1)))
    return scene
