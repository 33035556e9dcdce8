"""A scene of many kinds of shapes, the steps it takes, and what sends all calls through PyBullet."""

import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.collision import bullet_functions, bullet_surroundings
from scene import Body, Scene, joints, shapes

H = 1 / 240
direct = pytest.mark.skipif(bullet_functions.functions() is None, reason="Bullet's functions are out of reach here")


def ordinary(monkeypatch) -> None:
    monkeypatch.setattr(bullet_surroundings, "reached", lambda client: None)


def courses(scene, dynamics, steps, client=None, each=None) -> list[bytes]:
    """Everything that a simulation and its contacts say, step by step."""
    sim = rd.Simulation(dynamics, H)
    told = []
    with PyBulletMirror(scene, sim, client=client, gui=False) as shown:
        for k in range(steps):
            if each:
                each(k, shown)
            shown.step()
            c = sim.contacts
            arrays = sim.q, sim.v, c.a, c.b, c.key, c.point_a, c.point_b, c.normal, c.distance, c.friction, c.drift
            told.append(b"".join(x.tobytes() for x in arrays) + repr(shown.contacts).encode())
    return told


# Connections that come and go


def ball_over_ground() -> Scene:
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.1)))
    scene.world.shapes.append(shapes.Box((1, 1, 0.2), at=rd.pose((0, 0, -0.1))))
    return scene
