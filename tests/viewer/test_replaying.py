"""A recording in a window: nothing is stepped, any moment is shown, and nobody reaches in."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Camera, Pictures, Viewer
from bridge.drawing.gl_context import usable
from bridge.viewer.replaying import replaying
from scene import Body, Scene, joints, shapes


def swinging():
    scene = Scene()
    rod = Body("rod", [shapes.Capsule(0.06, 0.5, at=rd.pose((0, 0, -0.25)), color=(0.9, 0.1, 0.1, 1))])
    scene.world.attach(rod, joints.revolute("y"), at=rd.pose((0, 0, 1)))
    simulation = rd.Simulation(scene.compile(), 1 / 240)
    simulation.q = [1.2]
    with rd.Recorder(simulation, every=24) as recorder:
        simulation.step(240)
    return scene, recorder.recording


SCENE, RECORDING = swinging()
CAMERA = Camera(3.0, 0.0, 0.0, (0, 0, 0.7))


def test_a_recording_plays_by_the_clock_pauses_at_its_end_and_starts_over():
    playback = replaying(SCENE, RECORDING)
    playback.speed = 0.5
    frames = sum(playback.advance(0.1) for _ in range(15))
    assert frames == 7 and playback.moving.time == pytest.approx(0.75, abs=1e-9) and not playback.paused
    playback.speed = 8.0
    playback.advance(0.1)
    assert playback.paused and playback.share == 1.0 and playback.moving.time == RECORDING.time[-1]
    assert playback.advance(0.1) == 0
    playback.paused, playback.speed = False, 1.0
    playback.advance(0.05)
    assert playback.moving.time == pytest.approx(0.05)
    playback.one()
    assert playback.moving.q == RECORDING.q[1]
    playback.back()
    assert playback.moving.q == RECORDING.q[0] and playback.history.at == 0
    with pytest.raises(rd.StateError, match="frame time"):
        playback.advance(-1.0)


def test_the_timeline_shows_what_was_between_frames():
    playback = replaying(SCENE, RECORDING)
    for share in (0.0, 0.333, 0.5, 1.0):
        playback.scrub(share)
        assert playback.share == pytest.approx(share, abs=1e-12)
        assert playback.moving.q == pytest.approx(np.interp([share], RECORDING.time, RECORDING.q[:, 0]), abs=1e-12)


@pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")
def test_a_window_shows_what_pictures_of_the_recording_show():
    simulation = rd.Simulation(SCENE.compile())
    with Viewer(SCENE, RECORDING, camera=CAMERA, size=(320, 240), hidden=True) as viewer:
        viewer.playback.paused = True
        for time in (0.0, 0.55, 1.0):
            viewer.playback.scrub(time)
            simulation.q = viewer.playback.moving.q
            seen = viewer.picture()[40:-40].astype(int)
            pictured = Pictures(SCENE, simulation).image(320, 240, CAMERA)[40:-40].astype(int)
            assert np.abs(seen - pictured).max() < 40 and np.abs(seen - pictured).mean() < 0.5
        viewer.shown.add("panel")
        key = viewer._context.window
        with viewer._context.current():
            key.dispatch_event("on_mouse_press", 160, 120, 1, 2)  # Ctrl and the left button: a push
            key.dispatch_events()
        assert not viewer.playback.before
        assert viewer.frame()
    replay = rd.Replay(RECORDING, SCENE.compile())
    first = Pictures(SCENE, replay).image(160, 120, CAMERA)
    replay.step(5)
    assert (Pictures(SCENE, replay).image(160, 120, CAMERA) != first).any()
