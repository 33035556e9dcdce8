"""Windows, drivers and films: what draws, and what is kept of it."""

import os
import subprocess
import sys

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from on_a_display import ON_A_DISPLAY, needs_display
from test_pictures import FRONT, RED, pixels, red, view

import recursive_dyn as rd
from bridge import Camera, save_animation
from bridge.meshes.triangle_mesh import Triangles, distinct
from bridge.meshes.tube import tube
from bridge.picture import egl
from scene import shapes


@pytest.mark.skipif(not egl.usable(), reason="Bullet's EGL renderer does not work here")
def test_renderer_keeps_quiet_and_shadows_fall():
    code = """
import numpy as np, recursive_dyn as rd
from bridge import PyBulletMirror, Camera
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.attach(Body("b", [shapes.Sphere(0.3)]), joints.free(), at=rd.pose(xyz=(0, 0, 1)))
mirror = PyBulletMirror(scene, rd.Simulation(scene.compile()), gui=False, renderer="egl")
camera = Camera(5.0, 0.0, -89.0, (0, 0, 0))
first, second = mirror.image(160, 120, camera), mirror.image(160, 120, camera)
assert (first == second).all(), "the first picture lacks something"
mirror.sim.q[2] += 1000.0
mirror.sync()
empty = mirror.image(160, 120, camera)
print("darker", int((first.sum(axis=2) + 60.0 < empty.sum(axis=2)).sum()))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    word, count = result.stdout.split()
    assert word == "darker"
    assert int(count) > 1.5 * np.pi * pixels(0.3, 120, Camera(distance=5.0)) ** 2  # the ball and as much shadow


def test_software_renderer_takes_over(monkeypatch):
    monkeypatch.setattr(egl, "usable", lambda: False)
    with view(shapes.Sphere(0.5, color=RED), None) as shown:
        assert red(shown.image(160, 120, FRONT)).any()
    with pytest.raises(rd.StateError, match="libegl1"):
        view(shapes.Sphere(0.5), "egl")


@pytest.mark.skipif(not egl.usable(), reason="Bullet's EGL renderer does not work here")
def test_drivers_that_are_missing_are_noticed():
    """Bullet's plugin would end the process; we ask before it is loaded."""
    code = "from bridge.picture import egl; print(egl.usable())"
    environment = os.environ | {"__EGL_VENDOR_LIBRARY_FILENAMES": os.devnull}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert result.stdout.split() == ["False"]


@needs_display
def test_window_opens_where_there_is_a_display():
    code = """
import numpy as np, pybullet, time, recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes
scene = Scene()
red, blue = (1, 0, 0, 1), (0, 0, 1, 1)
two = [shapes.Sphere(0.3, color=red), shapes.Sphere(0.3, color=blue, at=rd.pose(xyz=(0.6, 0, 0)))]
scene.world.attach(Body("b", two), joints.free(), at=rd.pose(xyz=(0, 0, 1)))
sim = rd.Simulation(scene.compile())
with PyBulletMirror(scene, sim) as mirror:
    assert pybullet.getConnectionInfo(mirror.client)["connectionMethod"] == pybullet.GUI
    mirror.step(3)
    for attempt in range(50):  # the window draws in a thread of its own, in its own time
        view, projection = pybullet.getDebugVisualizerCamera(mirror.client)[2:4]
        pixels = pybullet.getCameraImage(160, 120, view, projection, physicsClientId=mirror.client)[2]
        color = np.reshape(pixels, (-1, 4))[:, :3].astype(int)
        seen = [(color[:, a] > color[:, b] + 80).sum() > 50 for a, b in ((0, 2), (2, 0))]
        if all(seen):
            break
        time.sleep(0.2)
    assert all(seen), "both colours are in the window"
    with PyBulletMirror(scene, sim) as second:
        assert pybullet.getConnectionInfo(second.client)["connectionMethod"] == pybullet.DIRECT
    try:
        PyBulletMirror(scene, sim, gui=True)
    except rd.StateError as error:
        assert "gui=False" in str(error)
    else:
        raise AssertionError("there are no two windows")
    assert mirror.image(80, 60).shape == (60, 80, 3)
print("done")
"""
    command = [*ON_A_DISPLAY, sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0 and "done" in result.stdout, result.stdout + result.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")
@pytest.mark.parametrize("display", [None, ":9731"])
def test_a_window_without_a_display_is_refused_before_bullet_ends_the_process(display):
    """None, or a server that nobody runs; where nobody asked for a window there is none."""
    code = """
import pybullet, recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.attach(Body("b", [shapes.Sphere(0.3)]), joints.free(), at=rd.pose(xyz=(0, 0, 1)))
sim = rd.Simulation(scene.compile())
try:
    PyBulletMirror(scene, sim, gui=True)
except rd.StateError as error:
    print(error)
with PyBulletMirror(scene, sim) as mirror:
    print(pybullet.getConnectionInfo(mirror.client)["connectionMethod"] == pybullet.DIRECT)
"""
    environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"} | ({"DISPLAY": display} if display else {})
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    told = result.stdout.splitlines()[-2:]
    assert result.returncode == 0 and "no display" in told[0] and "gui=False" in told[0] and told[1] == "True"


def test_normals_are_smooth_on_round_and_sharp_on_square_bodies():
    ball = trimesh.creation.icosphere(subdivisions=3)
    shaded = Triangles.shaded(ball.vertices, ball.faces)
    corners = shaded.vertices[shaded.faces]
    assert np.abs(shaded.normals - corners).max() < 0.02  # a unit ball's normals are its points
    box = trimesh.creation.box((1, 2, 3))
    assert set(np.abs(Triangles.shaded(box.vertices, box.faces).normals).round(9).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("closed", [False, True])
def test_tube_has_its_radius_everywhere_and_faces_outward(closed):
    angle = np.linspace(0.0, 2.0 * np.pi if closed else 5.0, 200)
    points = np.stack([np.cos(angle), np.sin(angle), 0.3 * np.sin(2.0 * angle)], axis=1)
    wire = tube(points, 0.05)
    distance = np.linalg.norm(wire.vertices[:, None] - points, axis=2).min(axis=1)
    np.testing.assert_allclose(distance, 0.05, atol=1e-3)
    mesh = trimesh.Trimesh(wire.vertices, wire.faces)
    assert mesh.is_watertight and mesh.is_winding_consistent
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    # Sixteen sides: the area of a regular polygon.
    assert mesh.volume == pytest.approx(length * 0.05**2 * 8.0 * np.sin(np.pi / 8.0), rel=2e-3)


def film(count=12):
    for k in range(count):
        frame = np.full((60, 80, 3), (200, 210, 220), dtype=np.uint8)
        frame[20:30, 3 * k : 3 * k + 10] = (220, 30, 30)
        yield frame


def test_film_keeps_time_colours_and_pictures(tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = save_animation(tmp_path / "film.gif", film(), fps=30)
    with image.open(path) as gif:
        assert (gif.n_frames, gif.info["loop"], gif.size) == (12, 0, (80, 60))
        total = 0
        for k, frame in enumerate(film()):
            gif.seek(k)
            total += gif.info["duration"]
            assert np.abs(np.asarray(gif.convert("RGB")).astype(int) - frame).max() <= 8
        assert total == 400  # ms
    still = save_animation(tmp_path / "film.png", film())
    with image.open(still) as png:
        np.testing.assert_array_equal(np.asarray(png), list(film())[-1])


def test_an_mp4_keeps_time_colours_and_pictures(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    odd = [np.pad(frame, ((0, 1), (0, 1), (0, 0)), "edge") for frame in film()]
    path = save_animation(tmp_path / "film.mp4", odd, fps=30)
    reader = ffmpeg.read_frames(str(path))
    about = next(reader)
    shown = [np.frombuffer(data, dtype=np.uint8).reshape(62, 82, 3) for data in reader]
    assert about["size"] == (82, 62) and about["fps"] == 30 and len(shown) == 12
    for k, frame in enumerate(film()):
        middle = shown[k][22:28, 3 * k + 3 : 3 * k + 7].astype(int)  # away from edges, which are blurred in colour
        assert np.abs(middle - frame[25, 3 * k + 5]).max() <= 24
    with pytest.raises(rd.StateError, match="cannot be written"):
        save_animation(tmp_path / "nowhere" / "film.mp4", film())


@pytest.mark.parametrize("name", ["film.gif", "film.png"])
def test_films_that_cannot_be_written_say_so(name, tmp_path):
    with pytest.raises(rd.StateError, match="cannot be written"):
        save_animation(tmp_path / "nowhere" / name, film())


def test_without_the_encoder_it_is_said_what_does_without(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(rd.StateError, match=r"pip install imageio-ffmpeg.*\.gif"):
        save_animation(tmp_path / "film.mp4", film())


def test_film_errors(tmp_path):
    pytest.importorskip("PIL")
    with pytest.raises(rd.ModelError, match=r"\.gif"):
        save_animation(tmp_path / "film.avi", film())
    with pytest.raises(rd.ModelError, match="at least one"):
        save_animation(tmp_path / "film.gif", [])
    with pytest.raises(rd.ModelError, match="fps"):
        save_animation(tmp_path / "film.gif", film(), fps=100)
    with pytest.raises(rd.ModelError, match="one shape"):
        save_animation(tmp_path / "film.gif", [*film(1), np.zeros((2, 2, 3), np.uint8)])


@given(st.lists(st.tuples(*[st.sampled_from([-1.5, -0.0, 0.0, 2.0])] * 3), max_size=20))
def test_rows_are_told_apart_as_numpy_does(rows):
    rows = np.array(rows, dtype=float).reshape(-1, 3)
    found, index = distinct(rows)
    np.testing.assert_array_equal(found, np.unique(rows, axis=0))
    np.testing.assert_array_equal(found[index], rows)
