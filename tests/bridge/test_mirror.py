"""The mirror: Bullet shows what the dynamics compute, and finds the contacts that geometry says."""

import math
import os
from pathlib import Path

import numpy as np
import pybullet
import pytest
import trimesh

import recursive_dyn as rd
from bridge import Camera, Contact, PyBulletMirror
from scene import Body, Scene, joints, shapes

# Bullet keeps poses in double precision; quaternions cost a few roundings.
ROUNDING = 1e-12


def pose(x=0.0, y=0.0, z=0.0, rpy=(0.0, 0.0, 0.0)):
    return rd.pose(xyz=(x, y, z), rpy=rpy)


def free(scene, name, body_shapes, at=None):
    return scene.world.attach(Body(name, shapes=body_shapes), joints.free(), at=pose() if at is None else at)


def mirror(scene, **options):
    sim = rd.Simulation(scene.compile())
    options = {"gui": False, "renderer": "tiny", "ground": False} | options
    return PyBulletMirror(scene, sim, **options)


@pytest.fixture
def client():
    number = pybullet.connect(pybullet.DIRECT)
    yield number
    if pybullet.isConnected(number):
        pybullet.disconnect(number)


@pytest.fixture
def tree():
    """A branching mechanism of several kinds of joints and shapes."""
    scene = Scene()
    base = scene.world.attach(Body("base", [shapes.Box((0.4, 0.3, 0.2))]), joints.free(), at=pose(0.1, 0.2, 3.0))
    arm = base.attach(
        Body("arm", [shapes.Capsule(radius=0.05, length=0.4)], center_of_mass=(0.0, 0.1, 0.2)),
        joints.revolute((1.0, 2.0, 3.0)),
        at=pose(0.3, rpy=(0.3, 0.2, 0.1)),
    )
    arm.attach(Body("hand", [shapes.Sphere(0.1)]), joints.ball(), at=pose(z=0.4))
    arm.attach(Body("frame", mass=1.0, inertia=np.eye(3)), joints.prismatic("x"), at=pose(y=0.4))
    base.attach(Body("ring", [shapes.Torus(0.3, 0.1)]), joints.universal(), at=pose(-0.5))
    return scene


def test_poses_and_velocities_are_those_of_the_dynamics(tree):
    with mirror(tree) as shown:
        sim, rng = shown.sim, np.random.default_rng(1)
        for _ in range(5):
            sim.q, sim.v = sim.dynamics.random(rng), rng.normal(size=sim.dynamics.nv)
            shown.sync()
            X, V = sim.dynamics.poses(sim.q), sim.dynamics.velocities(sim.q, sim.v)
            for k, name in enumerate(sim.dynamics.bodies):
                assert shown.bullet_bodies[name], "every body has a Bullet body"
                for body in shown.bullet_bodies[name]:
                    position, quaternion = pybullet.getBasePositionAndOrientation(body, shown.client)
                    rotation = np.reshape(pybullet.getMatrixFromQuaternion(quaternion), (3, 3))
                    np.testing.assert_allclose(position, X[k, :3, 3], atol=ROUNDING)
                    np.testing.assert_allclose(rotation, X[k, :3, :3], atol=ROUNDING)
                    linear, angular = pybullet.getBaseVelocity(body, shown.client)
                    np.testing.assert_allclose(angular, V[k, :3], atol=ROUNDING)
                    np.testing.assert_allclose(linear, V[k, 3:], atol=ROUNDING)


def test_half_turns_are_mirrored():
    """Rotations by 180 degrees, where a quaternion's real part vanishes."""
    scene = Scene()
    turns = [(math.pi, 0, 0), (0, math.pi, 0), (0, 0, math.pi), (math.pi, math.pi / 2, 0), (math.pi, 0, 1.0)]
    for k, rpy in enumerate(turns):
        free(scene, f"b{k}", [shapes.Box((1, 2, 3))], pose(k, rpy=rpy))
    with mirror(scene) as shown:
        X = shown.sim.dynamics.poses(shown.sim.q)
        for k in range(len(turns)):
            _, quaternion = pybullet.getBasePositionAndOrientation(shown.bullet_bodies[f"b{k}"][0], shown.client)
            rotation = np.reshape(pybullet.getMatrixFromQuaternion(quaternion), (3, 3))
            np.testing.assert_allclose(rotation, X[k, :3, :3], atol=ROUNDING)


def test_step_advances_and_mirrors():
    scene = Scene()
    free(scene, "ball", [shapes.Sphere(0.1)], pose(z=5.0))
    with mirror(scene) as shown:
        shown.step(24)
        assert shown.sim.time == pytest.approx(0.1)
        (position, _) = pybullet.getBasePositionAndOrientation(shown.bullet_bodies["ball"][0], shown.client)
        assert position[2] == pytest.approx(shown.sim.dynamics.poses(shown.sim.q)[0, 2, 3], abs=ROUNDING)
        assert position[2] < 5.0 - 0.04


def only_contact(shown) -> Contact:
    assert len(shown.contacts) == 1, shown.contacts
    return shown.contacts[0]


@pytest.mark.parametrize("gap", [0.004, 0.0, -0.03])
def test_ball_over_plane(gap):
    scene = Scene()
    free(scene, "ball", [shapes.Sphere(0.25)], pose(1.0, -2.0, 0.25 + gap))
    with mirror(scene, ground=True) as shown:
        contact = only_contact(shown)
        assert (contact.body_a, contact.body_b) == ("ball", "world")
        assert contact.distance == pytest.approx(gap, abs=1e-9)
        np.testing.assert_allclose(contact.normal, (0, 0, 1), atol=1e-9)
        np.testing.assert_allclose(contact.point_on_a, (1.0, -2.0, gap), atol=1e-9)
        np.testing.assert_allclose(contact.point_on_b, (1.0, -2.0, 0.0), atol=1e-9)


@pytest.mark.parametrize("ground", (shapes.Plane(), "low", float("nan"), None, (0, 0, 1)))
def test_a_ground_that_is_none_is_told(ground):
    with pytest.raises(rd.ModelError, match="a mirror's ground"):
        mirror(Scene(), ground=ground)


def test_ground_height_and_scenes_own_plane():
    scene = Scene()
    free(scene, "ball", [shapes.Sphere(0.25)], pose(z=1.25))
    with mirror(scene, ground=1.0) as shown:
        assert only_contact(shown).distance == pytest.approx(0.0, abs=1e-9)
    with mirror(scene, ground=False) as shown:
        assert shown.contacts == ()
    slope = (0.6, 0.0, 0.8)
    scene.world.shapes.append(shapes.Plane(normal=slope, at=pose(z=1.25 - 0.25 / 0.8)))
    with mirror(scene, ground=True) as shown:
        contact = only_contact(shown)  # no second plane beneath
        assert contact.distance == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(contact.normal, slope, atol=1e-9)


def test_normal_points_from_b_to_a_and_a_is_attached_first():
    scene = Scene()
    free(scene, "first", [shapes.Sphere(0.2)], pose(0.39, 0.0, 1.0))
    free(scene, "second", [shapes.Sphere(0.2)], pose(0.0, 0.0, 1.0))
    with mirror(scene) as shown:
        contact = only_contact(shown)
        assert (contact.body_a, contact.body_b) == ("first", "second")
        np.testing.assert_allclose(contact.normal, (1, 0, 0), atol=1e-9)
        assert contact.distance == pytest.approx(-0.01, abs=1e-9)
        np.testing.assert_allclose(contact.point_on_a, (0.19, 0, 1), atol=1e-9)
        np.testing.assert_allclose(contact.point_on_b, (0.2, 0, 1), atol=1e-9)


def test_parent_and_child_do_not_touch_but_grandchild_does():
    scene = Scene()
    a = free(scene, "a", [shapes.Sphere(0.3)], pose(z=2))
    b = a.attach(Body("b", [shapes.Torus(0.3, 0.05)]), joints.revolute("y"), at=pose(0.1))
    b.attach(Body("c", [shapes.Sphere(0.3)]), joints.revolute("y"), at=pose(0.1))
    with mirror(scene) as shown:
        assert {(c.body_a, c.body_b) for c in shown.contacts} == {("a", "c")}


def test_contacts_are_found_anew_after_each_sync():
    scene = Scene()
    free(scene, "ball", [shapes.Sphere(0.1)], pose(z=0.1))
    with mirror(scene, ground=True) as shown:
        assert len(shown.contacts) == 1
        assert shown.contacts is shown.contacts
        shown.sim.q = shown.sim.q + np.eye(7)[2]
        shown.sync()
        assert shown.contacts == ()


def test_more_shapes_than_bullet_allows_in_one_body():
    scene = Scene()
    balls = [shapes.Sphere(0.1, at=pose(0.15 * k)) for k in range(40)]
    free(scene, "row", balls, pose(z=0.1))
    with mirror(scene, ground=True) as shown:
        assert len(shown.contacts) == 40
        assert {(c.body_a, c.body_b) for c in shown.contacts} == {("row", "world")}


def test_collision_and_visual_can_be_left_out(client):
    scene = Scene()
    ghost = shapes.Sphere(0.2, collision=False, color=(1, 0, 0, 1))
    hidden = shapes.Box((0.3, 0.3, 0.3), visual=False)
    free(scene, "ghost", [ghost], pose(z=0.1))
    free(scene, "hidden", [hidden], pose(2, z=0.1))
    with mirror(scene, ground=True, client=client) as shown:
        assert {c.body_a for c in shown.contacts} == {"hidden"}
        colors = [v[7] for v in pybullet.getVisualShapeData(shown.bullet_bodies["ghost"][0], physicsClientId=client)]
        assert colors == [(1, 0, 0, 1)]
        seen = pybullet.getVisualShapeData(shown.bullet_bodies["hidden"][0], physicsClientId=client)
        assert all(v[7][3] == 0.0 for v in seen)


def test_scenery_and_hollow_meshes():
    """A ball in a bowl of triangles touches the bowl's inside; its convex hull would have swallowed it."""
    bowl = trimesh.creation.icosphere(subdivisions=4, radius=1.0)
    bowl.update_faces(bowl.triangles_center[:, 2] < 0.0)
    bowl.invert()
    scene = Scene()
    scene.world.shapes += [shapes.Mesh(bowl, at=pose(z=2.0)), shapes.Box((1, 1, 1), at=pose(3.0))]
    free(scene, "in_bowl", [shapes.Sphere(0.3)], pose(0.0, 0.0, 1.3))
    free(scene, "on_box", [shapes.Sphere(0.3)], pose(3.0, 0.0, 0.8))
    with mirror(scene) as shown:
        nearest = sorted(shown.contacts, key=lambda c: -c.distance)
        found = {c.body_a: c for c in nearest}
        assert set(found) == {"in_bowl", "on_box"}
        assert {c.body_b for c in shown.contacts} == {"world"}
        assert found["on_box"].distance == pytest.approx(0.0, abs=1e-6)
        # 4 subdivisions: the flat faces lie up to 0.3 % of the radius inside.
        assert found["in_bowl"].distance == pytest.approx(0.0, abs=0.004)
        np.testing.assert_allclose(found["in_bowl"].normal, (0, 0, 1), atol=0.1)


def test_foreign_bodies_are_named_by_their_id(client):
    ball = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.2, physicsClientId=client)
    foreign = [pybullet.createMultiBody(1.0, ball, -1, [x, 0, 1.0], physicsClientId=client) for x in (0.38, 0.70)]
    scene = Scene()
    free(scene, "ours", [shapes.Sphere(0.2)], pose(z=1.0))
    with mirror(scene, client=client) as shown:
        contact = only_contact(shown)  # that of the two foreign bodies is none of ours
        assert (contact.body_a, contact.body_b) == ("ours", f"bullet:{foreign[0]}")
        np.testing.assert_allclose(contact.normal, (-1, 0, 0), atol=1e-9)
        assert contact.distance == pytest.approx(-0.02, abs=1e-9)
    assert pybullet.getNumBodies(client) == 2, "only the mirror's own bodies go"


def test_bullets_bodies_collide_with_the_mirror(client):
    """A falling Bullet ball comes to rest on a mirrored box."""
    scene = Scene()
    scene.world.attach(Body("table", [shapes.Box((1, 1, 0.2))]), joints.prismatic("x"), at=pose(z=0.4))
    with mirror(scene, client=client):
        shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=client)
        ball = pybullet.createMultiBody(1.0, shape, -1, [0, 0, 0.8], physicsClientId=client)
        pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
        for _ in range(480):
            pybullet.stepSimulation(physicsClientId=client)
        assert pybullet.getBasePositionAndOrientation(ball, client)[0][2] == pytest.approx(0.6, abs=0.005)


def test_nothing_is_left_after_many_mirrors(tree, client):
    scene = Scene()
    free(scene, "ring", [shapes.Torus(0.3, 0.1, visual=False), shapes.Box((1, 1, 1))], pose(z=2))
    scene.world.shapes.append(shapes.Box((1, 2, 3), color=(1, 0, 0, 1)))
    dynamics = scene.compile()
    for _ in range(12):
        shown = PyBulletMirror(scene, rd.Simulation(dynamics), client=client, renderer="tiny")
        shown.add_polyline([(0, 0, 0), (1, 0, 0)])
        folder = Path(shown._mirrored.files.get("unseen", None).path).parent
        assert os.path.isdir(folder)
        shown.close()
        shown.close()
        assert pybullet.getNumBodies(client) == 0
        assert not os.path.exists(folder)
    with mirror(tree) as shown:
        own = shown.client
    assert not pybullet.isConnected(own)
    assert pybullet.isConnected(client)


def test_lost_connection_is_a_state_error(tree, client):
    shown = mirror(tree, client=client)
    pybullet.disconnect(client)
    for call in (shown.sync, shown.step, lambda: shown.contacts, shown.image, lambda: shown.add_polyline(np.eye(3))):
        with pytest.raises(rd.StateError, match="create a new PyBulletMirror"):
            call()
    shown.close()
    with pytest.raises(rd.StateError, match="closed"):
        shown.sync()
    with pytest.raises(rd.StateError, match="no Bullet connection"):
        mirror(tree, client=client)


def test_errors_say_what_to_do(tree):
    shown = mirror(tree)
    other = Scene()
    free(other, "other", [shapes.Sphere(1)])
    with pytest.raises(rd.ModelError, match="compile the scene again"):
        PyBulletMirror(other, shown.sim)
    with pytest.raises(rd.ModelError, match="'egl' or 'tiny'"):
        mirror(tree, renderer="glossy")
    with pytest.raises(rd.ModelError, match="samples"):
        shown.image(samples=3)
    with pytest.raises(rd.ModelError, match="pixel"):
        shown.image(0, 10)
    with pytest.raises(rd.ModelError, match="two different points"):
        shown.add_polyline([(0, 0, 0), (0, 0, 0)])
    with pytest.raises(rd.ModelError, match="not among its 3"):
        shown.add_surface(np.eye(3), [(0, 1, 3)])
    with pytest.raises(rd.ModelError, match="finite"):
        shown.add_surface(np.full((3, 3), np.nan), [(0, 1, 2)])
    with pytest.raises(rd.ModelError, match="color"):
        shown.add_polyline(np.eye(3), color=(1, 2, 3))
    with pytest.raises(rd.ModelError, match="distance"):
        Camera(distance=-1.0)
    shown.close()
    scene = Scene()
    scene.world.attach(
        Body("floor", [shapes.Plane()], mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3)), joints.free()
    )
    connections = [c for c in range(20) if pybullet.isConnected(c)]
    with pytest.raises(rd.ModelError, match=r"'floor'.*scene\.world\.shapes"):
        mirror(scene)
    assert connections == [c for c in range(20) if pybullet.isConnected(c)], "a mirror that failed leaves nothing open"
