"""A window: keys, mouse, pictures, several at once; hidden ones need no display, and Xvfb shows real ones."""

import os
import subprocess
import sys

import numpy as np
import pytest
from on_a_display import ON_A_DISPLAY, needs_display

import recursive_dyn as rd
from bridge import Camera, Pictures, PyBulletMirror, Viewer
from bridge.drawing.gl_context import usable
from scene import Body, Scene, joints, shapes

pytestmark = pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")

SIZE = (320, 240)


@pytest.fixture(scope="module")
def pendulum():
    scene = Scene()
    mass = scene.parameter("mass", 2.0)
    rod = Body("rod", [shapes.Capsule(0.06, 0.5, at=rd.pose((0, 0, -0.25)), color=(0.9, 0.1, 0.1, 1))], mass=mass)
    scene.world.attach(rod, joints.revolute("y", limits=(-2, 2)), at=rd.pose((0, 0, 1)))
    return scene, scene.compile()


@pytest.fixture
def viewer(pendulum):
    scene, dynamics = pendulum
    simulation = rd.Simulation(dynamics)
    simulation.q = [0.5]
    camera = Camera(3.0, 0.0, 0.0, (0, 0, 0.7))
    with Viewer(scene, simulation, camera=camera, size=SIZE, hidden=True, panel="plain") as shown:
        yield shown


def keys():
    import pyglet

    return pyglet.window.key, pyglet.window.mouse


def send(viewer, *event):
    """An event as the window would get it from a person."""
    with viewer._context.current():
        viewer._context.window.dispatch_event(*event)
        viewer._context.window.dispatch_events()


def test_keys_do_what_the_help_says(viewer):
    key, _ = keys()
    sim = viewer.playback.moving
    send(viewer, "on_key_press", key.SPACE, 0)
    assert viewer.playback.paused
    start = sim.q.copy()
    for _ in range(5):
        send(viewer, "on_key_press", key.RIGHT, 0)
    assert sim.time == pytest.approx(5 / 240)
    send(viewer, "on_key_press", key.LEFT, 0)
    assert sim.time == pytest.approx(4 / 240)
    send(viewer, "on_key_press", key.BACKSPACE, 0)
    assert sim.time == 0.0 and (sim.q == start).all()
    send(viewer, "on_key_press", key.PLUS, 0)
    assert viewer.playback.speed == 2.0
    for _ in range(2):
        send(viewer, "on_key_press", key.MINUS, 0)
    assert viewer.playback.speed == 0.5
    for symbol, name in ((key._1, "frames"), (key._7, "names"), (key.TAB, "panel"), (key.F1, "help")):
        bare = viewer.picture()
        send(viewer, "on_key_press", symbol, 0)
        assert name in viewer.shown and (viewer.picture() != bare)[:200].any()
        send(viewer, "on_key_press", symbol, 0)
        assert name not in viewer.shown


def test_frames_let_the_time_pass_that_has_passed(viewer):
    assert viewer.frame()
    before = viewer.playback.moving.time
    viewer.run(0.3)
    # It never runs ahead of the clock, whose first part may be lost to a slow machine.
    assert 0.0 < viewer.playback.moving.time - before < 0.5


def test_a_double_click_selects_and_ctrl_drag_pushes(viewer):
    key, mouse = keys()
    sim = viewer.playback.moving
    viewer.playback.paused = True
    place = sim.frames()[0][0, :3, :3] @ [0, 0, -0.25] + [0, 0, 1]
    from bridge.viewer.navigation import seen_at

    x, y = seen_at(viewer.camera, place, SIZE)
    bare = viewer.picture()
    for _ in range(2):
        send(viewer, "on_mouse_press", x, y, mouse.LEFT, 0)
        send(viewer, "on_mouse_release", x, y, mouse.LEFT, 0)
    assert (viewer.picture() != bare)[:200].any()  # its name and the box around it
    send(viewer, "on_mouse_press", x, y, mouse.LEFT, key.MOD_CTRL)
    send(viewer, "on_mouse_drag", x + 40, y, 40, 0, mouse.LEFT, key.MOD_CTRL)
    free, pushed = sim.snapshot(), []
    viewer.playback.one()
    pushed = sim.v[0]
    send(viewer, "on_mouse_release", x + 40, y, mouse.LEFT, key.MOD_CTRL)
    sim.restore(free)
    viewer.playback.one()
    # +x is to the right for this camera, and a positive turn about y takes what hangs down to -x.
    assert pushed < sim.v[0]
    with pytest.raises(rd.ModelError, match="nobody"):
        viewer.select("nobody")


def test_the_mouse_moves_the_camera_and_the_panel_keeps_it(viewer):
    _, mouse = keys()
    first = viewer.camera
    send(viewer, "on_mouse_press", 20, 200, mouse.LEFT, 0)
    send(viewer, "on_mouse_drag", 30, 205, 10, 5, mouse.LEFT, 0)
    send(viewer, "on_mouse_release", 30, 205, mouse.LEFT, 0)
    assert viewer.camera.yaw != first.yaw and viewer.camera.distance == first.distance
    send(viewer, "on_mouse_scroll", 20, 200, 0, 2)
    assert viewer.camera.distance < first.distance
    viewer.camera = first
    viewer.playback.paused = True
    viewer.shown.add("panel")
    for _ in range(9):
        viewer.playback.one()
    now = viewer.playback.moving.time
    send(viewer, "on_mouse_press", 12, 10, mouse.LEFT, 0)  # the left end of the timeline
    assert viewer.playback.moving.time == 0.0 and viewer.camera == first
    send(viewer, "on_mouse_drag", 308, 10, 296, 0, mouse.LEFT, 0)
    assert viewer.playback.moving.time == now


def test_several_windows_show_their_own_and_close_alone(pendulum, tmp_path):
    scene, dynamics = pendulum
    sims = [rd.Simulation(dynamics) for _ in range(2)]
    sims[1].q = [1.5]
    camera = Camera(3.0, 0.0, 0.0, (0, 0, 0.7))
    first, second = (Viewer(scene, sim, camera=camera, size=SIZE, hidden=True) for sim in sims)
    a, b = first.picture(), second.picture()
    assert (a != b)[:200].any() and (first.picture() == a)[:200].all()  # below, the frames a second differ
    from PIL import Image

    saved = np.asarray(Image.open(first.save(tmp_path / "first.png")))
    assert saved.shape == (240, 320, 3)
    with pytest.raises(rd.StateError, match="cannot be written"):
        first.save(tmp_path / "nowhere" / "first.png")
    first.close()
    first.close()
    assert first.closed and not first.frame() and second.frame()
    send(second, "on_key_press", keys()[0].ESCAPE, 0)
    assert second.closed and not second.frame()
    with pytest.raises(rd.StateError, match="closed"):
        first.picture()


def test_a_step_that_fails_is_told_and_pauses(pendulum):
    scene, dynamics = pendulum

    def fails():
        raise rd.StateError("the rod broke")

    with Viewer(scene, rd.Simulation(dynamics), step=fails, size=SIZE, hidden=True) as viewer:
        viewer._stand.advance(0.1)
        assert viewer.playback.paused
        assert viewer.frame()


def test_without_a_display_it_is_said_what_draws_without_one():
    code = """
import recursive_dyn as rd
from bridge import Viewer
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.attach(Body("ball", [shapes.Sphere(0.5)]), joints.free())
try:
    Viewer(scene, rd.Simulation(scene.compile()))
except rd.StateError as error:
    print("Pictures" in str(error) and "display" in str(error))
"""
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == "True", done.stdout + done.stderr


@needs_display
def test_real_windows_open_side_by_side_and_show_what_hidden_ones_do():
    code = """
import numpy as np, recursive_dyn as rd
from bridge import Camera, Pictures, Viewer
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.attach(Body("ball", [shapes.Sphere(0.5)]), joints.free(), at=rd.pose((0, 0, 1)))
camera = Camera(5.0, target=(0, 0, 0.5))
simulations = [rd.Simulation(scene.compile()) for _ in range(2)]
first, second = (Viewer(scene, s, camera=camera, size=(320, 240)) for s in simulations)
pictures = Pictures(scene, simulations[0])
bare = pictures.image(320, 240, camera).astype(int)
first.playback.paused = True
for _ in range(3):
    assert first.frame() and second.frame()
shown = first.picture().astype(int)
assert (np.abs(shown - bare).max(axis=2) > 8).mean() < 0.15, "they differ by the text only"
second.close()
assert first.frame() and not second.frame()
print("done")
"""
    command = [*ON_A_DISPLAY, sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and "done" in done.stdout, done.stdout + done.stderr


def test_a_mirrors_window_shows_and_steps_bullets_bodies_too():
    import pybullet

    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((-0.6, 0, 0.5)))
    simulation = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, simulation, gui=False) as mirror:
        camera = Camera(3.0, 0.0, 0.0, (0, 0, 0.5))
        with mirror.viewer(camera=camera, size=SIZE, hidden=True) as viewer:
            bare = viewer.picture()[:200]
            look = pybullet.createVisualShape(
                pybullet.GEOM_BOX, halfExtents=[0.1] * 3, rgbaColor=(1, 0, 0, 1), physicsClientId=mirror.client
            )
            solid = pybullet.createCollisionShape(
                pybullet.GEOM_BOX, halfExtents=[0.1] * 3, physicsClientId=mirror.client
            )
            box = pybullet.createMultiBody(1.0, solid, look, [0.6, 0, 0.9], physicsClientId=mirror.client)
            there = viewer.picture()[:200]
            assert (there != bare)[:, 160:].any() and (there != bare)[:, :100].mean() < 0.02  # a shadow changes
            viewer.playback.one()
            assert simulation.time == pytest.approx(simulation.timestep)
            assert pybullet.getBasePositionAndOrientation(box, physicsClientId=mirror.client)[0][2] < 0.9
            mirror.add_polyline([(-1, 0, 1.2), (-0.4, 0, 1.2)], color=(0, 0, 0, 1))
            assert (viewer.picture()[:200] != there)[:60, :160].any()


def test_demos_run_in_the_window():
    from demos import kuka
    from demos.stage import run_window

    stage = kuka.build()
    run_window(stage, 0.5, hidden=True, size=SIZE)
    assert 0.0 < stage.simulation.time < 0.6


def test_a_window_without_a_mirror_follows_edits_too():
    scene = Scene()
    for k in range(2):
        ball = Body(f"ball {k}", [shapes.Sphere(0.1)])
        scene.world.attach(ball, joints.prismatic("x"), at=rd.pose((0, k, 1)))
    simulation = rd.Simulation(scene.compile())
    pictures = Pictures(scene, simulation)
    with Viewer(scene, simulation, size=SIZE, hidden=True) as viewer:
        both = viewer.picture()
        scene["ball 1"].detach()
        simulation.update(scene.compile())
        assert (viewer.picture() != both).any() and viewer.frame()
    with pytest.raises(rd.ModelError, match="make others"):
        pictures.image()
    for wrong in (None, "motion.npz"):
        with pytest.raises(rd.StateError, match="a viewer shows a Simulation"):
            Viewer(scene, wrong, hidden=True)
        with pytest.raises(rd.ModelError, match="Pictures is of a simulation"):
            Pictures(scene, wrong)


def test_a_window_follows_edits_of_its_scene():
    scene = Scene()
    first = scene.world.attach(Body("first", [shapes.Sphere(0.1)]), joints.prismatic("x"), at=rd.pose((0, 0, 1)))
    second = scene.world.attach(Body("second", [shapes.Sphere(0.1)]), joints.prismatic("y"), at=rd.pose((0, 0, 0.5)))
    simulation = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, simulation, gui=False) as mirror, mirror.viewer(size=SIZE, hidden=True) as viewer:
        viewer.shown.update({"panel", "frames", "axes", "paths", "traces", "names"})
        viewer.select("second")
        for _ in range(3):
            viewer.playback.one()
            viewer.picture()
        second.detach()
        mirror.update()
        viewer.picture()
        viewer.playback.back()  # to nothing: all that was is of another scene
        assert simulation.dynamics.bodies == ("first",) and len(viewer.playback.history) == 1
        viewer.playback.one()
        viewer.playback.back()
        assert len(viewer.playback.history) == 2 and viewer.frame()
        assert first.name in viewer._stand.names
