"""What a mirror shows over time, Bullet's own bodies and drawings included."""

import numpy as np
import pybullet
import pytest
from gltf_reading import Gltf

import recursive_dyn as rd
from bridge import Camera, Capture, Player, PyBulletMirror, export_gltf
from bridge.drawing.camera import Camera as Looking
from scene import Body, Scene, joints, shapes


def crate(mirror, height):
    client = mirror.client
    shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1] * 3, physicsClientId=client)
    return pybullet.createMultiBody(1.0, shape, -1, [0.5, 0, height], physicsClientId=client)


def test_bullets_bodies_and_drawings_come_along(tmp_path):
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((0, 0, 1)))
    simulation = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, simulation, gui=False) as mirror:
        box = crate(mirror, 1.0)
        mirror.add_polyline([[0, 0, 0], [1, 0, 0], [1, 1, 0.5]])
        capture, places = Capture(mirror), []
        for step in range(30):
            if step == 15:
                late = crate(mirror, 2.0)
            mirror.step(4)
            capture.note()
            capture.note()  # time has not gone on: nothing
            places.append(pybullet.getBasePositionAndOrientation(box, mirror.client)[0])
        track = capture.track()
        assert track.bodies == ("ball", "bullet 1", "bullet 2") and len(track.time) == 31
        np.testing.assert_allclose(track.poses[1:, 1, :3, 3], places, atol=1e-12)
        assert (track.poses[:16, 2, :3, 3] == track.poses[16, 2, :3, 3]).all()  # it stands where it came
        gltf = Gltf(export_gltf(scene, capture, tmp_path / "all.glb"))
        np.testing.assert_allclose(gltf.poses(gltf.named("bullet 1"), 31)[1:, :3, 3], places, rtol=1e-6, atol=1e-7)
        assert "ball" in Player(scene, capture, Camera(target="ball")).html()
        pybullet.removeBody(late, mirror.client)
        mirror.step()
        with pytest.raises(rd.StateError, match="went while it was captured"):
            capture.note()


def test_a_camera_looks_at_a_body_by_its_name_or_at_an_array():
    poses = np.stack([np.eye(4), rd.pose((1.0, 2.0, 3.0))])
    camera = Camera(2.0, target="foot")
    assert camera.aimed(("hand", "foot"), poses) == Camera(2.0, target=(1.0, 2.0, 3.0))
    assert Camera(2.0, target=np.array([1, 2, 3])) == Camera(2.0, target=(1.0, 2.0, 3.0))
    with pytest.raises(rd.ModelError, match="'foot'; there are hand"):
        camera.aimed(("hand",), poses)
    with pytest.raises(rd.ModelError, match="'foot'"):
        camera.framed(np.zeros((2, 3)), 1.0)
    for target in ((1.0, 2.0), (1.0, 2.0, np.nan), np.zeros((2, 3))):
        with pytest.raises(rd.ModelError, match="target"):
            Looking(target=target)
