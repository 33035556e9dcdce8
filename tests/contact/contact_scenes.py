"""Scenes of the contact tests: bodies of simple shapes, mirrors without a window, what is measured of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pybullet

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

G = 9.81
INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint")


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, rpy=(0.0, 0.0, 0.0)) -> np.ndarray:
    return rd.pose(xyz=(x, y, z), rpy=rpy)


def put(scene: Scene, name: str, shape: shapes.Shape, pose: np.ndarray, mass: float = 1.0, joint=None) -> Body:
    """Hang a homogeneous body on the world, free if no joint is given."""
    return scene.world.attach(Body(name, [shape], mass=mass), joint or joints.free(), at=pose)


def mirror(scene: Scene, h: float = 1 / 240, integrator: str = "rk4", **options) -> PyBulletMirror:
    """A simulation of the scene with contacts; it closes with the mirror."""
    sim = rd.Simulation(scene.compile(), h, integrator)
    return PyBulletMirror(scene, sim, **{"gui": False, "renderer": "tiny", **options})


def twist(sim: rd.Simulation, body: int | str = 0) -> np.ndarray:
    """[omega; v] (6,) of a body's origin, world axes."""
    return sim.frames()[1][_index(sim, body)]


def position(sim: rd.Simulation, body: int | str = 0) -> np.ndarray:
    return sim.frames()[0][_index(sim, body), :3, 3]


def set_twist(sim: rd.Simulation, body: str, omega=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0)) -> None:
    """Let a free body move with that twist, world axes."""
    k = _index(sim, body)
    J = np.asarray(sim.dynamics.jacobian(sim.q, body))
    own = np.flatnonzero(np.abs(J).any(axis=0))
    sim.v[own] = np.linalg.solve(J[:, own], np.concatenate([omega, velocity]))
    np.testing.assert_allclose(twist(sim, k), [*omega, *velocity], atol=1e-12)


def energy(sim: rd.Simulation) -> float:
    return float(sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q))


def _index(sim: rd.Simulation, body: int | str) -> int:
    return body if isinstance(body, int) else list(sim.dynamics.bodies).index(body)


@contextmanager
def bullet(gravity: float = -G) -> Iterator[int]:
    """A Bullet connection of the test's own."""
    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, gravity, physicsClientId=client)
    try:
        yield client
    finally:
        if pybullet.isConnected(client):
            pybullet.disconnect(client)


def bullet_body(client: int, shape: int, place, mass: float, material: rd.Material | None = None, **sizes) -> int:
    """A body of Bullet's own, without Bullet's hidden damping."""
    m = material or rd.Material()
    form = pybullet.createCollisionShape(shape, physicsClientId=client, **sizes)
    body = pybullet.createMultiBody(mass, form, -1, list(place), physicsClientId=client)
    pybullet.changeDynamics(
        body, -1, linearDamping=0, angularDamping=0, lateralFriction=m.friction, restitution=m.restitution,
        rollingFriction=m.rolling_friction, spinningFriction=m.spinning_friction, physicsClientId=client,
    )  # fmt: skip
    return body


def bullet_ball(client: int, place, mass: float = 1.0, radius: float = 0.1, material: rd.Material | None = None) -> int:
    return bullet_body(client, pybullet.GEOM_SPHERE, place, mass, material, radius=radius)


def bullet_box(client: int, place, half, mass: float = 0.0, material: rd.Material | None = None) -> int:
    return bullet_body(client, pybullet.GEOM_BOX, place, mass, material, halfExtents=list(half))


def bullet_twist(client: int, body: int) -> np.ndarray:
    velocity, omega = pybullet.getBaseVelocity(body, client)
    return np.array([*omega, *velocity])


def bullet_position(client: int, body: int) -> np.ndarray:
    return np.array(pybullet.getBasePositionAndOrientation(body, client)[0])
