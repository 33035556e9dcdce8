"""Ellipsoids find who is near them without Bullet: everyone whom they touch, whom they may touch, and nobody else."""

import numpy as np
import pybullet
import pytest
import trimesh

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

AROUND = np.random.default_rng(7).normal(size=(1500, 3))
AROUND /= np.linalg.norm(AROUND, axis=1, keepdims=True)
RADII = [(0.1, 0.08, 0.06), (0.12, 0.12, 0.012), (0.015, 0.015, 0.15)]
GROUND = {
    "field": shapes.HeightField(0.05 * np.sin(np.arange(21.0))[:, None] * np.ones(21), (0.1, 0.1)),
    "box": shapes.Box((2.0, 2.0, 0.2), at=rd.pose((0.0, 0.0, -0.1))),
    "mesh": shapes.Mesh(trimesh.creation.torus(0.5, 0.15)),
}


def other(kind, rng):
    size = rng.uniform(0.05, 0.1)
    if kind == "box":
        return shapes.Box(2.0 * size * rng.uniform(0.5, 1.0, 3))
    return shapes.Sphere(size) if kind == "ball" else shapes.Ellipsoid(RADII[rng.integers(3)])


def apart(shape, x):
    """At most how far points (n, 3) in its frame are from a shape, negative inside."""
    if isinstance(shape, shapes.Sphere):
        return np.linalg.norm(x, axis=1) - shape.radius
    if isinstance(shape, shapes.Box):
        beyond = np.abs(x) - 0.5 * np.asarray(shape.size)
        return np.linalg.norm(np.maximum(beyond, 0.0), axis=1) + np.minimum(beyond.max(axis=1), 0.0)
    return np.linalg.norm(x, axis=1) * (1.0 - 1.0 / np.linalg.norm(x / shape.radii, axis=1))


@pytest.mark.filterwarnings("ignore:bodies overlap")
@pytest.mark.parametrize(("seed", "ground"), enumerate(GROUND))
def test_whoever_is_near_an_ellipsoid_is_found(seed, ground):
    """By points all over its surface; of contacts both points are on the surfaces, and nobody is told far away."""
    rng, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(GROUND[ground])
    for k in range(8):
        shape = other("box" if k == 5 else "ball" if k > 5 else "ellipsoid", rng)
        at = rd.pose(tuple(np.array([0.0, 0.0, 0.2]) + rng.uniform(-0.15, 0.15, 3)), tuple(rng.normal(size=3)))
        scene.world.attach(Body(f"b{k}", [shape], mass=1.0), joints.free(), at=at)
    scene.pair("b0", "b1", collide=False)
    sim = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        poses, told = sim.dynamics.poses(sim.q), {}
        for contact in mirror._surroundings.look(poses, np.zeros((8, 6))):
            told.setdefault((contact.body_a, contact.body_b), []).append(contact.distance)
    assert ("b0", "b1") not in told
    for (a, b), gaps in told.items():
        assert max(gaps) < 5e-3
        assert b == "world" or len(gaps) == 1 or "b5" in (a, b)
    for i in range(5):
        points = (AROUND * scene[f"b{i}"].shapes[0].radii) @ poses[i, :3, :3].T + poses[i, :3, 3]
        for j in range(i + 1, 8):
            X, shape = poses[j], scene[f"b{j}"].shapes[0]
            if (i, j) != (0, 1) and apart(shape, (points - X[:3, 3]) @ X[:3, :3]).min() < 4e-3:
                assert (f"b{i}", f"b{j}") in told


@pytest.mark.parametrize("own", [True, False], ids=["Bullet's own", "a shell"])
def test_what_bullet_tells_of_ellipsoids_it_still_tells(own):
    """Its own balls rest on them, and within a closed convex mesh they rest on its floor."""
    scene, client = Scene(), pybullet.connect(pybullet.DIRECT)
    try:
        pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
        egg, mesh = shapes.Ellipsoid((0.3, 0.2, 0.1)), shapes.Mesh(trimesh.creation.box((1, 1, 1)))
        if own:
            scene.world.attach(Body("egg", [egg], mass=1.0), joints.fixed())
            form = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.05, physicsClientId=client)
            ball = pybullet.createMultiBody(0.2, form, -1, [0, 0, 0.16], physicsClientId=client)
        else:
            scene.world.shapes.append(mesh)
            scene.world.attach(Body("egg", [egg], mass=1.0), joints.prismatic("z"))
        sim = rd.Simulation(scene.compile())
        with PyBulletMirror(scene, sim, client=client, gui=False, ground=False) as mirror:
            mirror.step(120)
            if own:
                place = pybullet.getBasePositionAndOrientation(ball, client)[0]
                assert place[2] == pytest.approx(0.15, abs=1e-3)
            else:
                assert sim.q[0] == pytest.approx(-0.4, abs=1e-3)
    finally:
        pybullet.disconnect(client)
