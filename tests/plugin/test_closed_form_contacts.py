"""Spheres, capsules and boxes in closed form: against definitions, against PyBullet, and at rest."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pybullet
import pytest

import bridge
import recursive_dyn as rd
from bridge.closed_form.closed_contacts import POINTS, meet
from bridge.closed_form.solids import place_solids, room_of, solids_of
from bridge.curved.manifold_points import Found
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_to_matrix
from scene import Body, Scene, joints, shapes

KINDS = {
    "sphere": shapes.Sphere(0.3),
    "capsule": shapes.Capsule(0.2, 0.8),
    "box": shapes.Box((0.5, 0.7, 0.9)),
}
PAIRS = [*itertools.product(KINDS, KINDS)]


def random_pose(rng, spread):
    X = np.eye(4)
    q = rng.normal(size=4)
    X[:3, :3] = quaternion_to_matrix(q / np.linalg.norm(q))
    X[:3, 3] = rng.uniform(-spread, spread, 3)
    return X


def points(a, b, poses, margin=10.0):
    """Rows of point on B, normal, gap."""
    solids = solids_of([(0, a), (1, b)], [0, 0], [False, False])
    placed, found = room_of(solids), Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
    place_solids(solids, np.ascontiguousarray(poses), margin, placed)
    meet(solids, placed, 0, 1, margin, found)
    return found.rows[: found.size[0]]


def support(shape, X, n):
    """How far a shape reaches along n."""
    local, middle = X[:3, :3].T @ n, X[:3, 3] @ n
    match shape:
        case shapes.Sphere():
            return middle + shape.radius
        case shapes.Capsule():
            return middle + shape.radius + 0.5 * shape.length * abs(local[2])
    return middle + 0.5 * np.abs(local) @ np.asarray(shape.size)


def outside(shape, X, x):
    """How far a point is from a shape's surface, negative within."""
    y = X[:3, :3].T @ (x - X[:3, 3])
    match shape:
        case shapes.Sphere():
            return np.linalg.norm(y) - shape.radius
        case shapes.Capsule():
            y[2] -= np.clip(y[2], -0.5 * shape.length, 0.5 * shape.length)
            return np.linalg.norm(y) - shape.radius
    d = np.abs(y) - 0.5 * np.asarray(shape.size)
    return np.linalg.norm(np.maximum(d, 0.0)) + min(d.max(), 0.0)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_nearest_points_meet_their_definition(a, b):
    """Points on both surfaces, as far apart as their gap; apart, a plane across the normal separates the shapes: no
    two points are nearer. Overlapping, no other direction parts them sooner, but for the twentieth by which boxes are
    rather parted over faces than past edges."""
    directions = np.random.default_rng(8).normal(size=(100, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rng, shape, other = np.random.default_rng(7), KINDS[a], KINDS[b]
    seen = set()
    for _ in range(200):
        poses = np.stack([random_pose(rng, 0.7), random_pose(rng, 0.7)])
        rows = points(shape, other, poses)
        lowest = rows[rows[:, 6].argmin()]
        on_b, n, gap = lowest[:3], lowest[3:6], lowest[6]
        seen.add(gap > 0)
        assert np.isclose(np.linalg.norm(n), 1.0)
        assert abs(outside(other, poses[1], on_b)) < 1e-9 and abs(outside(shape, poses[0], on_b + gap * n)) < 1e-9
        between = -support(shape, poses[0], -n) - support(other, poses[1], n)  # of planes across n
        if gap > 0:
            assert abs(between - gap) < 1e-8
        else:
            others = [-support(shape, poses[0], -m) - support(other, poses[1], m) for m in directions]
            assert 1.05 * max(others) - 1e-9 <= between <= gap + 1e-9
    assert seen == {True, False}


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_distances_are_those_of_bullet(client, a, b):
    rng, shape, other = np.random.default_rng(3), KINDS[a], KINDS[b]
    ids = [body_of(KINDS[kind], client) for kind in (a, b)]
    compared = 0
    for _ in range(60):
        poses = np.stack([random_pose(rng, 0.8), random_pose(rng, 0.8)])
        for body, X in zip(ids, poses, strict=True):
            q = matrix_to_quaternion(X[:3, :3])
            pybullet.resetBasePositionAndOrientation(body, X[:3, 3].tolist(), q.tolist(), client)
        (bullet,) = pybullet.getClosestPoints(*ids, distance=10.0, physicsClientId=client)[:1]
        rows = points(shape, other, poses)
        lowest = rows[rows[:, 6].argmin()]
        if bullet[8] > 1e-3:  # overlapping, Bullet's depth is an iteration's
            compared += 1
            # Bullet rounds boxes by a margin of 1 mm: of a corner up to (sqrt(3) - 1) mm are missing
            rounding = 1e-3 * (np.sqrt(3.0) - 1.0) * [a, b].count("box")
            assert -2e-5 < bullet[8] - lowest[6] < rounding + 2e-5
            assert np.allclose(lowest[3:6], bullet[7], atol=1e-3 + rounding / bullet[8])
    assert compared > 15


@pytest.mark.parametrize("spin", [0.0, 0.3])
def test_a_stack_stands(spin):
    """Ten boxes on each other, each turned a little against the one below, where they were after half a second."""
    scene = Scene()
    scene.world.shapes.append(shapes.Box((4, 4, 1), at=rd.pose((0, 0, -0.5))))
    for k in range(10):
        box = Body(f"box {k}", [shapes.Box((0.2, 0.2, 0.2))])
        scene.world.attach(box, joints.free(), at=rd.pose((0, 0, 0.1 + 0.2 * k), rpy=(0, 0, spin * k)))
    with bridge.Plugin(scene) as plugin:
        assert plugin.collisions == "closed form"
        start = plugin.simulation.present.poses.copy()
        plugin.step(120)
        assert np.abs(plugin.simulation.present.poses - start).max() < 1e-3
        assert plugin.simulation.solution.converged


def test_logs_lie_on_two_points_each():
    """Capsules along each other, and across a box, do not tip."""
    scene = Scene()
    scene.world.shapes.append(shapes.Box((2, 2, 1), at=rd.pose((0, 0, -0.5))))
    for k, (y, z) in enumerate(((-0.101, 0.1), (0.101, 0.1), (0.0, 0.1 + np.sqrt(0.04 - 0.101**2)))):
        log = Body(f"log {k}", [shapes.Capsule(0.1, 1.0)])
        scene.world.attach(log, joints.free(), at=rd.pose((0, y, z), rpy=(0, np.pi / 2, 0)))
    scene.world.shapes += [shapes.Box((1, 0.1, 0.3), at=rd.pose((0, side * 0.251, 0.1))) for side in (-1, 1)]
    with bridge.Plugin(scene) as plugin:
        start = plugin.simulation.present.poses.copy()
        plugin.step(240)
        assert np.abs(plugin.simulation.present.poses[:, :3, 3] - start[:, :3, 3]).max() < 2e-3
        contacts = plugin.simulation.contacts
        pairs = [(a, b) for a, b in zip(contacts.a.tolist(), contacts.b.tolist(), strict=True)]
        assert pairs.count((0, 2)) == pairs.count((1, 2)) == 2


def test_fast_bodies_pass_through_nothing():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.02, 2, 2)))
    for k, shape in enumerate((shapes.Sphere(0.05), shapes.Capsule(0.05, 0.1), shapes.Box((0.1, 0.1, 0.1)))):
        scene.world.attach(Body(f"b{k}", [shape]), joints.free(), at=rd.pose((-1, 0.5 * k - 0.5, 0)))
    with bridge.Plugin(scene) as plugin:
        plugin.simulation.v[3::6] = 80.0  # 0.33 m a step, 13 parts of a step
        plugin.step(8)
        assert (plugin.simulation.present.poses[:, 0, 3] < 0.0).all()
        hits = [event for event in plugin.events if event.kind == "hit"]
        assert len(hits) == 3 and np.allclose([event.speed for event in hits], 80.0)


@pytest.mark.parametrize("collisions", ["closed form", "bullet"])
def test_a_speed_of_more_parts_than_whole_numbers_count_cuts_a_step(collisions):
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.02, 2, 2)))
    scene.world.attach(Body("ball", [shapes.Sphere(0.05)]), joints.free(), at=rd.pose((-1, 0, 0)))
    with bridge.Plugin(scene, collisions=collisions) as plugin:
        plugin.simulation.v[3] = 1e30
        plugin.step()
        assert plugin.simulation.report.steps_cut == 1


def test_contacts_depend_on_where_bodies_are_alone():
    """The same state, reached or set, goes on alike to the last bit; many pairs make room for themselves."""

    def heap():
        scene = Scene()
        scene.world.shapes += [shapes.Plane(), shapes.Box((1, 1, 0.2), at=rd.pose((0, 0, 0.1)))]
        rng = np.random.default_rng(2)
        for k in range(40):
            body = Body(f"b{k}", [list(KINDS.values())[k % 3]])
            at = random_pose(rng, 0.6)
            at[2, 3] += 1.5
            scene.world.attach(body, joints.free(), at=at)
        return bridge.Plugin(scene)

    with heap() as one, heap() as two:
        one.step(10)
        two.simulation.restore(one.simulation.snapshot())
        one.step(10)
        two.step(10)
        assert one.simulation.q.tobytes() == two.simulation.q.tobytes()
        assert len(one.simulation.contacts.a) > 64


def test_pairs_materials_and_neighbours_are_the_scenes():
    scene = Scene()
    scene.world.shapes.append(shapes.Box((4, 4, 1), at=rd.pose((0, 0, -0.5)), material=rd.Material(friction=0.0)))
    for name, x in (("ghost", -1.0), ("slider", 0.0), ("sticker", 1.0)):
        scene.world.attach(Body(name, [shapes.Box((0.2, 0.2, 0.2))]), joints.free(), at=rd.pose((x, 0, 0.1)))
    arm = scene["sticker"].attach(Body("arm", [shapes.Box((0.2, 0.2, 0.2))], mass=0.1), joints.revolute("z"))
    scene.pair("ghost", scene.world, collide=False)
    scene.pair("sticker", scene.world, material=rd.Material(friction=1.0))
    with bridge.Plugin(scene) as plugin:
        plugin.simulation.v[[9, 15]] = 1.0
        plugin.step(48)
        x, z = plugin.simulation.present.poses[:, 0, 3], plugin.simulation.present.poses[:, 2, 3]
        assert z[0] < 0.0 and np.isclose(x[1], 0.2, atol=1e-3) and x[2] < 1.1
        assert arm.name not in {event.body_b for event in plugin.events if event.body_a == "sticker"}


def test_what_stays_keeps_its_impulses_when_others_go():
    """Contacts are called after an edit as the next step calls them, so that it starts from their impulses."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    for k in range(4):
        body = Body(f"b{k}", [shapes.Box((0.2, 0.2, 0.2)), shapes.Sphere(0.05, at=rd.pose((0.1, 0, 0)))])
        scene.world.attach(body, joints.free(), at=rd.pose((0, 0, 0.2 * k - 0.1)) if k else rd.pose((3, 0, 0.1)))
    with bridge.Plugin(scene) as plugin:
        plugin.step(200)
        before = plugin.simulation.contacts
        scene["b0"].detach()
        scene.world.shapes.insert(0, shapes.Box((1, 1, 1), at=rd.pose((9, 0, 0))))
        plugin.update()
        kept = plugin.simulation._timesteps.memory.contacts
        keys = kept.table.keys[: kept.count].copy()
        plugin.step()
        after = plugin.simulation.contacts
        assert len(keys) == len(after) == np.count_nonzero(before.a != 0) and (keys == after.key).all()
        carried, was = np.abs(after.impulse[:, 2]), np.abs(before.impulse[before.a != 0, 2])
        assert np.isclose(carried.sum(), was.sum(), rtol=1e-3)


def test_a_game_of_simple_shapes_runs_where_there_is_no_pybullet():
    program = """
import sys
sys.modules["pybullet"] = None
import bridge, recursive_dyn as rd
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.shapes.append(shapes.Plane())
scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((0, 0, 0.2)))
with bridge.Plugin(scene) as plugin:
    plugin.on_frame(0.05)
    scene.world.attach(Body("box", [shapes.Box((1, 1, 1))]), joints.free(), at=rd.pose((2, 0, 2)))
    plugin.update()
    plugin.on_frame(0.05)
    print(plugin.collisions, len(plugin.poses()))
"""
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True
    )
    assert done.stdout.strip() == "closed form 2", done.stderr


def test_other_shapes_are_bullets():
    scene = Scene()
    scene.world.attach(Body("can", [shapes.Cylinder(0.1, 0.2)]), joints.free())
    with bridge.Plugin(scene) as plugin:
        assert plugin.collisions == "bullet"
    with pytest.raises(rd.ModelError, match="Cylinder of 'can'"):
        bridge.Plugin(scene, collisions="closed form")


def test_an_edit_that_is_refused_leaves_the_game_as_it_was():
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free())
    with bridge.Plugin(scene) as plugin:
        scene.world.attach(Body("can", [shapes.Cylinder(0.1, 0.2)]), joints.free())
        with pytest.raises(rd.ModelError, match="collisions='bullet'"):
            plugin.update()
        plugin.step(2)
        assert plugin.bodies == ("ball",) and plugin.poses().shape == (1, 4, 4)


def body_of(shape, client):
    match shape:
        case shapes.Sphere():
            made = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=shape.radius, physicsClientId=client)
        case shapes.Capsule():
            made = pybullet.createCollisionShape(
                pybullet.GEOM_CAPSULE, radius=shape.radius, height=shape.length, physicsClientId=client
            )
        case _:
            half = [0.5 * s for s in shape.size]
            made = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half, physicsClientId=client)
    return pybullet.createMultiBody(0, made, physicsClientId=client)


@pytest.fixture
def client():
    number = pybullet.connect(pybullet.DIRECT)
    yield number
    pybullet.disconnect(number)
