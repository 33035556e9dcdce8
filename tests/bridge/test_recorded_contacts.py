"""Recorded contacts of a mirror: the impulses of every frame are what moves bodies, Bullet's own have their names."""

import numpy as np
import pybullet
import pytest

import recursive_dyn as rd
from bridge import Plugin, PyBulletMirror
from bridge.viewer.overlays import contacts
from scene import Body, Scene, joints, shapes

G, STEP = 9.81, 1 / 240


def balls(count=2):
    scene = Scene(gravity=(0, 0, -G))
    scene.world.shapes.append(shapes.Plane())
    for k in range(count):
        ball = Body(f"ball{k}", [shapes.Sphere(0.1)], mass=1.0 + k)
        scene.world.attach(ball, joints.free(), at=rd.pose((0.6 * k, 0, 0.3)))
    return scene


def test_contacts_with_bullets_bodies_are_recorded_by_name_and_kept_in_files(tmp_path):
    scene = balls()
    simulation = rd.Simulation(scene.compile(), STEP)
    with PyBulletMirror(scene, simulation, gui=False) as mirror:
        client = mirror.client
        sphere = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=client)
        for x in (5.0, 0.0):
            falling = pybullet.createMultiBody(0.5, sphere, -1, [x, 0, 0.75], physicsClientId=client)
        with rd.Recorder(simulation) as recorder:
            mirror.step(200)
    recording = rd.Recording.load(recorder.save(tmp_path / "balls.npz"))
    name = f"bullet:{falling}"
    (met,) = [k for k, known in enumerate(recording.names.touched) if known == name]
    pairs = {frozenset((event.body_a, event.body_b)) for _, event in recording.events if event.kind == "begin"}
    assert {frozenset(("ball0", "world")), frozenset(("ball1", "world")), frozenset(("ball0", name))} <= pairs
    checked = 0
    for k in range(1, len(recording)):
        found = recording.contacts(k)
        for body, mass in enumerate((1.0, 2.0)):
            impulse = found.impulse[found.a == body].sum(axis=0) - found.impulse[found.b == body].sum(axis=0)
            v = recording.names.velocities.index(f"ball{body}.vz")
            q = recording.q[:, recording.names.coordinates.index(f"ball{body}.qx") :][:, :4]
            if np.abs(q[k, :2]).max() < 1e-3:  # child axes are the world's, nearly
                checked += len(found) > 0
                change = mass * (recording.v[k, v] - recording.v[k - 1, v] + G * STEP)
                assert impulse[2] == pytest.approx(change, abs=2e-3)
    assert checked > 50
    assert any((recording.contacts(k).a == met).any() or (recording.contacts(k).b == met).any() for k in range(200))


def test_a_replay_shows_the_forces_of_its_moment():
    scene = balls(1)
    simulation = rd.Simulation(scene.compile(), STEP)
    with PyBulletMirror(scene, simulation, gui=False) as mirror, rd.Recorder(simulation) as recorder:
        mirror.step(200)
    replay = rd.Replay(recorder.recording, scene.compile())
    assert not len(contacts(replay.simulation, 1.0).lines)
    replay.seek(0.8)
    lines = contacts(replay.simulation, 1.0).lines
    assert np.linalg.norm(lines[-1, 1] - lines[-1, 0]) == pytest.approx(1.0)  # the greatest force, upwards
    assert lines[-1, 1, 2] - lines[-1, 0, 2] == pytest.approx(1.0, abs=1e-3)


def test_a_plugins_simulation_is_recorded_however_frames_fall():
    plugin = Plugin(balls(1), timestep=STEP)
    recorder = rd.Recorder(plugin.simulation, every=2)
    for frame in np.random.default_rng(3).uniform(0.002, 0.03, 40):
        plugin.on_frame(frame)
    time = recorder.recording.time
    np.testing.assert_allclose(np.diff(time), 2 * STEP, atol=1e-12)
    assert plugin.simulation.time - time[-1] < 2 * STEP
    plugin.close()
