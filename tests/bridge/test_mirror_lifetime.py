"""Who keeps a mirror and Bullet's world, and what else than a simulation it shows."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pybullet
import pytest
import trimesh

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from bridge.meshes.files import LONGEST
from scene import Body, Scene, joints, shapes


def connections() -> list[int]:
    return [client for client in range(64) if pybullet.isConnected(client)]


def ball_over_ground() -> Scene:
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose(xyz=(0, 0, 0.1)))
    return scene


def test_mirrors_that_nobody_holds_any_more_are_gone():
    """At once, without the collector of circles: connections, bodies, files and the mirror itself."""
    scene = ball_over_ground()
    dynamics, before = scene.compile(), connections()
    gc.collect()
    gc.disable()
    try:
        for k in range(20):
            sim = rd.Simulation(dynamics)
            mirror = PyBulletMirror(scene, sim, gui=False, renderer="tiny")
            mirror.step(2)
            if k == 0:
                assert mirror.image(32, 24).any()  # pictures keep nobody alive
            folder = mirror._mirrored.files._folders.get(None)
            gone = weakref.ref(mirror), weakref.ref(mirror._connection)
            del mirror, sim
            assert [reference() for reference in gone] == [None, None]
            assert folder is None or not folder.exists()
            assert len(set(connections()) - set(before)) <= 1  # pictures have one, for good
    finally:
        gc.enable()


def test_a_simulation_keeps_the_world_that_it_feels():
    scene = ball_over_ground()
    sim, before = rd.Simulation(scene.compile()), connections()
    for _ in range(20):
        PyBulletMirror(scene, sim, gui=False)
        assert len(connections()) == len(before) + 1, "the one before is gone"
    sim.step(240)
    assert sim.frames()[0][0, 2, 3] == pytest.approx(0.1, abs=1e-3), "it lies on the mirror's ground"
    sim.surroundings = None
    assert connections() == before


def test_a_callers_connection_is_left_as_it_was():
    scene, client = ball_over_ground(), pybullet.connect(pybullet.DIRECT)
    dynamics = scene.compile()
    shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=client)
    pybullet.createMultiBody(1.0, shape, -1, (3, 0, 1), physicsClientId=client)
    for _ in range(3):
        PyBulletMirror(scene, rd.Simulation(dynamics), client=client)
        assert pybullet.getNumBodies(client) == 1
    late = PyBulletMirror(scene, rd.Simulation(dynamics), client=client)
    pybullet.disconnect(client)
    again = pybullet.connect(pybullet.DIRECT)
    assert again == client, "Bullet gives the number to the next one"
    for k in range(5):
        pybullet.createMultiBody(1.0, -1, -1, (k, 0, 1), physicsClientId=again)
    late.close()
    assert pybullet.getNumBodies(again) == 5, "bodies of the same numbers are not the mirror's"
    pybullet.disconnect(again)


class Carousel:
    """Two bodies that circle, without dynamics."""

    def __init__(self) -> None:
        self.dynamics, self.time = SimpleNamespace(bodies=("horse", "swan")), 0.0

    def step(self, count: int = 1) -> None:
        self.time += 0.1 * count

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        poses, twists = np.zeros((2, 4, 4)), np.zeros((2, 6))
        for k in range(2):
            angle = self.time + np.pi * k
            poses[k] = rd.pose(xyz=(np.cos(angle), np.sin(angle), 0.5), rpy=(0, 0, angle))
            twists[k] = 0, 0, 1, -np.sin(angle), np.cos(angle), 0
        return poses, twists


def test_whatever_moves_is_shown():
    scene, ride = Scene(), Carousel()
    for name in ride.dynamics.bodies:
        scene.world.attach(Body(name, [shapes.Box((0.2, 0.1, 0.1), color=(1, 0, 0, 1))]), joints.free())
    with PyBulletMirror(scene, ride, gui=False, renderer="tiny") as mirror:
        camera = Camera(distance=4.0, yaw=0.0, pitch=-60.0, target=(0, 0, 0.5))
        first = mirror.image(96, 72, camera)
        mirror.step(7)
        assert ride.time == pytest.approx(0.7)
        for (body,), pose, twist in zip(mirror.bullet_bodies.values(), *ride.frames(), strict=True):
            position, turn = pybullet.getBasePositionAndOrientation(body, mirror.client)
            R = np.reshape(pybullet.getMatrixFromQuaternion(turn), (3, 3))
            velocity, omega = pybullet.getBaseVelocity(body, mirror.client)
            np.testing.assert_allclose(position, pose[:3, 3], atol=1e-12)
            np.testing.assert_allclose(R, pose[:3, :3], atol=1e-12)
            np.testing.assert_allclose([*omega, *velocity], twist, atol=1e-12)
        assert (mirror.image(96, 72, camera) != first).any()
        assert mirror.contacts == ()
        assert mirror.queries.ray((2 * np.cos(0.7), 2 * np.sin(0.7), 0.5), (0, 0, 0.5)).body == "horse"


@pytest.mark.parametrize("moves", [True, False])
def test_an_obj_file_far_down_is_read(tmp_path, moves):
    """Bullet crashes on paths of 1024 characters and more."""
    folder = tmp_path
    while len(str(folder)) < LONGEST + 100:
        folder = folder / ("far" * 60)
    folder.mkdir(parents=True)
    file = folder / "box.obj"
    trimesh.creation.box((1, 1, 1)).export(file)
    scene = ball_over_ground()
    if moves:
        scene.world.attach(Body("box", [shapes.Mesh(file)]), joints.free(), at=rd.pose(xyz=(0, 0, 3)))
    else:
        scene.world.shapes.append(shapes.Mesh(file, at=rd.pose(xyz=(0, 0, 3))))
    with PyBulletMirror(scene, rd.Simulation(scene.compile()), gui=False, renderer="tiny") as mirror:
        hit = mirror.queries.ray((0, 0, 9), (0, 0, 1))
        assert hit.body == ("box" if moves else "world")
        assert hit.point[2] == pytest.approx(3.5, abs=1e-3)


def test_a_folder_for_temporary_files_that_is_too_far_down_is_passed_over(tmp_path, monkeypatch):
    folder = tmp_path
    while len(str(folder)) < LONGEST:
        folder = folder / ("far" * 60)
    folder.mkdir(parents=True)
    scene = ball_over_ground()
    scene["ball"].shapes.append(shapes.Ellipsoid((0.1, 0.2, 0.3)))
    sim = rd.Simulation(scene.compile())
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with PyBulletMirror(scene, sim, gui=False) as mirror:  # /dev/shm serves
        assert len(mirror.contacts) >= 1
