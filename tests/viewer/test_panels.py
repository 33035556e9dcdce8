"""Panels: sliders set what they are of, both kinds alike; numbers are typed; what is not there is told."""

import gc

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Viewer
from bridge.drawing.gl_context import usable
from bridge.viewer import imgui_panel
from bridge.viewer.playback import Playback
from bridge.viewer.sliders import sliders
from recursive_dyn import control
from scene import Body, Scene, joints, shapes

pytestmark = pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")
with_imgui = pytest.mark.skipif(not imgui_panel.available(), reason="imgui-bundle and PyOpenGL are not installed")
SIZE = (640, 600)


@pytest.fixture(scope="module")
def arm():
    scene = Scene()
    mass = scene.parameter("mass", 2.0)
    upper = scene.world.attach(
        Body("upper", [shapes.Capsule(0.06, 0.5)], mass=mass), joints.revolute("y", limits=(-2, 2))
    )
    upper.attach(Body("lower", [shapes.Capsule(0.05, 0.4)]), joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
    return scene, scene.compile()


@pytest.fixture
def simulation(arm):
    sim = rd.Simulation(arm[1])
    sim.motors["upper.angle"] = rd.Motor(position=0.1, kp=50.0)
    sim.control = control.PD(arm[1], kp=3.0, kd=0.2, actuated=["lower.angle"])
    return sim


def test_sliders_move_coordinates_motors_gains_and_parameters(simulation):
    sim = simulation
    by_name = {slider.caption: slider for slider in sliders(Playback(sim))}
    assert set(by_name) == {
        "upper.angle", "lower.angle", "motor upper.angle", "upper.angle: kp", "upper.angle: damping ratio",
        "controller's kp, times", "controller's kd, times", "parameter mass",
    }  # fmt: skip
    assert (by_name["upper.angle"].low, by_name["upper.angle"].high) == (-2.0, 2.0)
    for name, value in (
        ("upper.angle", 1.25), ("motor upper.angle", -0.5), ("upper.angle: kp", 120.0),
        ("upper.angle: damping ratio", 0.5), ("controller's kp, times", 2.0), ("parameter mass", 3.5),
    ):  # fmt: skip
        by_name[name].write(value)
        assert by_name[name].read() == value
    assert sim.q[0] == 1.25 and sim.parameters["mass"] == 3.5
    assert sim.motors["upper.angle"] == rd.Motor(position=-0.5, kp=120.0, damping_ratio=0.5)
    np.testing.assert_array_equal(sim.control.kp, 6.0)
    by_name["controller's kp, times"].write(0.0)  # and back from nothing
    by_name["controller's kp, times"].write(1.0)
    np.testing.assert_array_equal(sim.control.kp, 3.0)
    sim.step()


def send(viewer, *event):
    with viewer._context.current():
        viewer._context.window.dispatch_event(*event)
        viewer._context.window.dispatch_events()
    viewer.picture()


@with_imgui
def test_sliders_of_imgui_are_dragged_and_typed(arm, simulation):
    from pyglet.window import key, mouse

    with Viewer(arm[0], simulation, size=SIZE, hidden=True, panel="imgui") as viewer:
        camera, panel = viewer.camera, viewer._stand._panel
        viewer.playback.paused = True
        for _ in range(9):
            viewer.playback.one()
        bare = viewer.picture()
        viewer.shown.add("panel")
        assert (viewer.picture() != bare).any(axis=2)[:, 300:].mean() > 0.5
        left, low, right, high = panel.places["upper.angle"]
        y = (low + high) / 2
        send(viewer, "on_mouse_motion", left + 5, y, 1, 1)
        send(viewer, "on_mouse_press", (left + right) / 2, y, mouse.LEFT, 0)
        assert abs(simulation.q[0]) < 0.05  # the middle of its limits
        send(viewer, "on_mouse_drag", right, y, 100, 0, mouse.LEFT, 0)
        assert simulation.q[0] == pytest.approx(2.0)
        send(viewer, "on_mouse_release", right, y, mouse.LEFT, 0)
        send(viewer, "on_mouse_motion", left, y, 1, 1)
        assert simulation.q[0] == pytest.approx(2.0)

        send(viewer, "on_key_press", key.LCTRL, key.MOD_CTRL)
        send(viewer, "on_mouse_press", left + 50, y, mouse.LEFT, key.MOD_CTRL)
        send(viewer, "on_mouse_release", left + 50, y, mouse.LEFT, key.MOD_CTRL)
        send(viewer, "on_key_release", key.LCTRL, 0)
        for letter in "-1.25":
            send(viewer, "on_text", letter)
        send(viewer, "on_key_press", key.SPACE, 0)  # it is typed, and does not let time pass
        assert viewer.playback.paused
        send(viewer, "on_key_press", key.ENTER, 0)
        assert simulation.q[0] == -1.25

        assert viewer.playback.moving.time > 0.0
        left, low, right, high = panel.places[""]
        send(viewer, "on_mouse_motion", left + 5, (low + high) / 2, 1, 1)
        send(viewer, "on_mouse_press", left, (low + high) / 2, mouse.LEFT, 0)
        send(viewer, "on_mouse_release", left, (low + high) / 2, mouse.LEFT, 0)
        assert viewer.playback.moving.time == 0.0 and viewer.camera == camera


@with_imgui
def test_two_windows_have_panels_of_their_own(arm):
    """Each has a context of ImGui's, which goes with it."""
    sims = [rd.Simulation(arm[1]) for _ in range(2)]
    viewers = [Viewer(arm[0], sim, size=SIZE, hidden=True, panel="imgui") for sim in sims]
    for viewer in viewers:
        viewer.shown.add("panel")
    sims[0].q = [1.0, 0.0]
    pictures = [viewer.picture() for viewer in viewers]
    assert (pictures[0] != pictures[1]).any(axis=2)[:, 300:].any()
    viewers[0].close()
    del viewers[0], viewer
    gc.collect()
    np.testing.assert_array_equal(viewers[0].picture().shape, (SIZE[1], SIZE[0], 3))
    viewers[0].close()


def test_a_panel_that_is_not_there_is_told(arm, simulation, monkeypatch):
    with pytest.raises(rd.StateError, match="panel is 'imgui' or 'plain', not 'qt'"):
        Viewer(arm[0], simulation, hidden=True, panel="qt")
    monkeypatch.setattr(imgui_panel, "available", lambda: False)
    with pytest.raises(rd.StateError, match=r"pip install '.\[panel\]'"):
        Viewer(arm[0], simulation, hidden=True, panel="imgui")
    with Viewer(arm[0], simulation, size=SIZE, hidden=True) as viewer:  # its own instead
        viewer.shown.add("panel")
        assert viewer.picture().shape == (SIZE[1], SIZE[0], 3)
