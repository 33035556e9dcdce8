"""Rays of a mirror against what a point is outside of: where a ray is told to enter a shape it is on the surface, and
was outside all the way there; where it is told to miss it is outside all along."""

from inspect import signature

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

HULL = trimesh.convex.convex_hull(np.random.default_rng(4).normal(size=(30, 3)) * (0.5, 0.3, 0.4))
POSE = rd.pose((0.3, -0.2, 0.1), (0.3, 0.4, 0.5))


def capsule(x):
    return np.linalg.norm(x - np.clip(x * (0, 0, 1), -0.3, 0.3), axis=-1) - 0.2


def torus(x):
    return np.hypot(np.linalg.norm(x[..., :2], axis=-1) - 0.5, x[..., 2]) - 0.15


def hull(x):
    return (x @ HULL.face_normals.T - (HULL.face_normals * HULL.triangles[:, 0]).sum(axis=1)).max(axis=-1)


# how far outside a point is, or a measure of it that is 0 on the surface and rises by about as much
CASES = {
    "box": (shapes.Box((0.6, 0.4, 0.9)), lambda x: (np.abs(x) - (0.3, 0.2, 0.45)).max(axis=-1)),
    "sphere": (shapes.Sphere(0.4), lambda x: np.linalg.norm(x, axis=-1) - 0.4),
    "capsule": (shapes.Capsule(0.2, 0.6), capsule),
    "cylinder": (
        shapes.Cylinder(0.3, 0.8),
        lambda x: np.maximum(np.linalg.norm(x[..., :2], axis=-1) - 0.3, np.abs(x[..., 2]) - 0.4),
    ),
    "ellipsoid": (
        shapes.Ellipsoid((0.5, 0.3, 0.2)),
        lambda x: 0.3 * (np.linalg.norm(x / (0.5, 0.3, 0.2), axis=-1) - 1.0),
    ),
    "torus": (shapes.Torus(0.5, 0.15), torus),
    "hull": (shapes.Mesh(HULL), hull),
}


def rays(count, size=1.0):
    """From a sphere through about the middle to the other side, some of them along axes."""
    rng = np.random.default_rng(0)
    starts = rng.normal(size=(count, 3))
    starts *= 3.0 * size / np.linalg.norm(starts, axis=1)[:, None]
    ends = rng.normal(size=(count, 3)) * 0.4 * size - starts
    starts[:50] = rng.uniform(-0.5, 0.5, (50, 3)) + POSE[:3, 3] + 3 * POSE[:3, 2]
    ends[:50] = starts[:50] - 6 * POSE[:3, 2]
    return starts, ends


def mirrored(scene):
    sim = rd.Simulation(scene.compile())
    sim.detect = None
    return PyBulletMirror(scene, sim, gui=False, ground=False)


@pytest.mark.parametrize("moves", [True, False], ids=["body", "scenery"])
@pytest.mark.parametrize("name", CASES)
def test_a_ray_is_outside_until_it_enters(name, moves):
    shape, outside = CASES[name]
    scene, places = Scene(gravity=(0, 0, 0)), rd.pose((0.1, 0, 0.2), (0.2, 0, 0))
    if moves:
        own = type(shape)(**{**vars(shape), "at": places}) if name in ("box", "torus") else shape
        places = POSE @ own.at
        scene.world.attach(Body("b", [own], mass=1, inertia=np.eye(3)), joints.free(), at=POSE)
    else:
        places = POSE
        args = {k: v for k, v in vars(shape).items() if k in signature(type(shape)).parameters}
        scene.world.shapes.append(type(shape)(**{**args, "at": POSE}))
        scene.world.attach(Body("b", mass=1, inertia=np.eye(3)), joints.free())
    starts, ends = rays(1500)
    with mirrored(scene) as mirror:
        hits = mirror.queries.rays(starts, ends)
    R, p, steps = places[:3, :3], places[:3, 3], np.linspace(0.0, 1.0, 400)
    met = np.array([hit.fraction if hit else 1.0 for hit in hits])
    assert 300 < (met < 1.0).sum() < 1500
    way = starts[:, None] + (met[:, None] * steps)[..., None] * (ends - starts)[:, None]
    assert outside((way - p) @ R).min() > -1e-10
    at = [(hit, k) for k, hit in enumerate(hits) if hit]
    points, normals = (np.array([getattr(hit, what) for hit, _ in at]) for what in ("point", "normal"))
    assert np.abs(outside((points - p) @ R)).max() < 1e-9
    assert {hit.body for hit, _ in at} == {"b" if moves else "world"}
    ways = np.array([ends[k] - starts[k] for _, k in at])
    np.testing.assert_allclose(points, starts[[k for _, k in at]] + met[[k for _, k in at], None] * ways, atol=1e-12)
    assert ((normals * ways).sum(axis=1) < 1e-9).all()
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
    off = 1e-6
    rises = outside((points + off * normals - p) @ R) / off
    assert rises.min() > 0.3 and (name in ("ellipsoid",) or np.abs(rises - 1.0).max() < 1e-3)


def test_what_a_ray_starts_inside_of_it_does_not_see():
    """But for the far side of a ring, which it enters from outside."""
    scene = Scene(gravity=(0, 0, 0))
    for k, (shape, _) in enumerate(CASES.values()):
        at = rd.pose((10 * k, 0, 0))
        scene.world.attach(Body(f"b{k}", [shape], mass=1, inertia=np.eye(3)), joints.free(), at=at)
    with mirrored(scene) as mirror:
        for k, name in enumerate(CASES):
            x = 10.0 * k + (0.5 if name == "torus" else 0.0)
            assert mirror.queries.ray((x, 0, 0), (x + 3, 0, 0)) is None
        far = mirror.queries.ray((10 * 5 + 0.5, 0, 0), (10 * 5 - 3, 0, 0))
        assert far.point == pytest.approx((10 * 5 - 0.35, 0, 0), abs=1e-12) and far.normal == pytest.approx((1, 0, 0))


def test_planes_and_what_stands_before_what_bullet_alone_knows():
    """Boxes over a height field, and on it: the box where there is one, the ground beside it, by the closed form."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.HeightField(np.full((5, 5), 0.25), (1.0, 1.0)))
    scene.world.shapes.append(shapes.Plane(at=rd.pose((0, 0, -1))))
    for k in range(3):
        at = rd.pose((0.7 * k - 0.7, 0, 0.25 + 0.1 + 0.3 * k))
        scene.world.attach(Body(f"b{k}", [shapes.Box((0.2, 0.2, 0.2))], mass=1), joints.free(), at=at)
    xs = np.linspace(-1.9, 1.9, 381)
    with mirrored(scene) as mirror:
        starts = np.column_stack([xs, 0.013 * np.ones_like(xs), 5 * np.ones_like(xs)])
        for hit, x in zip(mirror.queries.rays(starts, starts - (0, 0, 9)), xs, strict=True):
            below = [k for k in range(3) if abs(x - (0.7 * k - 0.7)) < 0.1 - 1e-9]
            beside = [k for k in range(3) if abs(x - (0.7 * k - 0.7)) > 0.1 + 1e-9]
            if len(below) + len(beside) < 3:
                continue
            height = 0.25 + 0.2 + 0.3 * below[0] if below else 0.25
            assert hit.body == (f"b{below[0]}" if below else "world")
            assert hit.point[2] == pytest.approx(height, abs=1e-12 if below else 1e-6)
        outside = mirror.queries.ray((9, 9, 5), (9, 9, -4))
        assert outside.body == "world" and outside.distance == pytest.approx(6.0, abs=1e-12)


def test_rays_follow_what_comes_goes_and_is_written():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("a", [shapes.Sphere(0.5)], mass=1), joints.free(), at=rd.pose((0, 0, 2)))
    with mirrored(scene) as mirror:
        assert mirror.queries.ray((0, 0, 9), (0, 0, -9)).distance == pytest.approx(6.5, abs=1e-12)
        mirror.sim.place("a", rd.pose((0, 0, 4)))
        assert mirror.queries.ray((0, 0, 9), (0, 0, -9)).distance == pytest.approx(4.5, abs=1e-12)
        scene.world.attach(Body("c", [shapes.Cylinder(0.5, 1)], mass=1), joints.free(), at=rd.pose((0, 0, 6)))
        scene.world.shapes.append(shapes.Plane())
        mirror.update()
        assert mirror.queries.ray((0, 0, 9), (0, 0, -9)).body == "c"
        assert mirror.queries.ray((3, 0, 9), (3, 0, -9)).body == "world"
        scene["c"].detach()
        mirror.update()
        assert mirror.queries.ray((0, 0, 9), (0, 0, -9)).body == "a"
