"""Pictures and films: what is in the scene is in the picture, where the camera says, in its colour."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pybullet
import pytest
import trimesh

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror, save_animation
from bridge.meshes.triangle_mesh import Triangles
from bridge.meshes.tube import tube
from bridge.picture import egl
from scene import Body, Scene, joints, shapes

RED = (0.9, 0.1, 0.1, 1.0)
FRONT = Camera(distance=4.0, yaw=0.0, pitch=0.0, target=(0.0, 0.0, 0.0))


@pytest.fixture(params=["egl", "tiny"])
def renderer(request):
    if request.param == "egl" and not egl.usable():
        pytest.skip("Bullet's EGL renderer does not work here (no EGL or no OpenGL driver)")
    return request.param


def view(shape, renderer, at=None, **options):
    scene = Scene()
    body = Body("body", [shape], mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3))
    scene.world.attach(body, joints.free(), at=np.eye(4) if at is None else at)
    options = {"gui": False, "ground": False} | options
    return PyBulletMirror(scene, rd.Simulation(scene.compile()), renderer=renderer, **options)


def red(picture):
    """Where the picture is red, (h, w)."""
    p = picture.astype(int)
    return (p[..., 0] > p[..., 1] + 40) & (p[..., 0] > p[..., 2] + 40)


def extent(mask):
    """Width and height in pixels of what is seen."""
    rows, columns = np.nonzero(mask)
    return np.ptp(columns) + 1, np.ptp(rows) + 1


def pixels(length, height=240, camera=FRONT):
    """Of a length across the view at the camera's target."""
    return length * height / (2.0 * camera.distance * np.tan(np.radians(camera.fov) / 2.0))


@pytest.mark.parametrize(
    ("shape", "width", "height"),
    [
        (lambda: shapes.Box((1.0, 0.01, 0.5), color=RED), 1.0, 0.5),
        (lambda: shapes.Cylinder(radius=0.2, length=1.0, color=RED), 0.4, 1.0),
        (lambda: shapes.Capsule(radius=0.2, length=0.8, color=RED), 0.4, 1.2),
        (lambda: shapes.Ellipsoid((0.6, 0.1, 0.3), color=RED), 1.2, 0.6),
        (lambda: shapes.Torus(0.5, 0.1, color=RED), 1.2, 0.2 * 4.0 / 3.5),  # its near side
        (lambda: shapes.Mesh(trimesh.creation.box((0.5, 0.01, 0.5)), scale=(2, 1, 1), color=RED), 1.0, 0.5),
    ],
    ids=["box", "cylinder", "capsule", "ellipsoid", "torus", "mesh"],
)
def test_shapes_are_as_large_as_they_are(shape, width, height, renderer):
    with view(shape(), renderer) as shown:
        picture = shown.image(320, 240, FRONT)
        assert picture.shape == (240, 320, 3) and picture.dtype == np.uint8
        seen = extent(red(picture))
        # Perspective and tessellation, of bodies at most 1.2 m across seen from 4 m, and a pixel at each edge.
        assert seen[0] == pytest.approx(pixels(width), rel=0.06, abs=2.5)
        assert seen[1] == pytest.approx(pixels(height), rel=0.06, abs=2.5)


def test_picture_follows_the_body_and_its_frame(renderer):
    with view(shapes.Sphere(0.1, at=rd.pose(xyz=(0.5, 0, 0)), color=RED), renderer) as shown:
        right = shown.image(320, 240, FRONT)
        assert np.nonzero(red(right))[1].mean() == pytest.approx(160 + pixels(0.5), abs=2.0)
        shown.sim.q = [0, 0, 0.5, 0, 0, 1, 0]  # up, and half a turn about z
        shown.sync()
        left = shown.image(320, 240, FRONT)
        rows, columns = np.nonzero(red(left))
        assert columns.mean() == pytest.approx(160 - pixels(0.5), abs=2.0)
        assert rows.mean() == pytest.approx(120 - pixels(0.5), abs=2.0)


def test_cameras_agree_with_bullets_own_angles():
    for camera in (Camera(3.0, 30.0, -20.0, (1.0, 2.0, 3.0)), Camera(0.5, -120.0, 45.0, (0.0, 0.0, -1.0))):
        ours = camera.view().T.ravel()
        bullets = pybullet.computeViewMatrixFromYawPitchRoll(
            camera.target, camera.distance, camera.yaw, camera.pitch, 0, 2
        )
        np.testing.assert_allclose(ours, bullets, atol=1e-5)  # theirs are single precision


def test_automatic_camera_frames_scenes_of_any_size_and_place(renderer):
    for size, place in ((0.01, 0.0), (1.0, 0.0), (1.0, 200.0), (50.0, 0.0)):
        shape = shapes.Box((size, size, size), color=RED)
        with view(shape, renderer, at=rd.pose(xyz=(place, -place, size)), ground=True) as shown:
            mask = red(shown.image(160, 120))
            assert not (mask[0].any() or mask[-1].any() or mask[:, 0].any() or mask[:, -1].any())
            assert 0.6 * 120 < extent(mask)[1] < 120
            assert mask.mean() > 0.15


def test_ground_goes_on_for_ever(renderer):
    with view(shapes.Sphere(0.3, color=RED), renderer, at=rd.pose(xyz=(0, 0, 0.3)), ground=True) as shown:
        here = shown.image(160, 120, Camera(4.0, target=(0.0, 0.0, 0.3)))
        shown.sim.q = [1000.0, -500.0, 0, 0, 0, 0, 1]  # whole tiles away
        shown.sync()
        there = shown.image(160, 120, Camera(4.0, target=(1000.0, -500.0, 0.3)))
        assert np.abs(here.astype(int) - there).mean() < 0.05


def test_large_pictures_are_not_enlarged_small_ones(renderer):
    """EGL draws on 1024 x 768 pixels at most; a larger picture's edges are as sharp."""
    with view(shapes.Sphere(0.5, color=RED), renderer) as shown:
        small, large = (shown.image(w, h, FRONT) for w, h in ((800, 600), (1600, 1200)))
        assert extent(red(large))[0] == pytest.approx(2 * extent(red(small))[0], abs=3)
        # Enlarging repeats columns.
        row = large[600].astype(int)
        repeated = np.abs(np.diff(row, axis=0)).sum(axis=1) == 0
        assert repeated[red(large)[600][1:]].mean() < 0.95


def test_more_samples_smooth_edges(renderer):
    with view(shapes.Sphere(0.5, color=(0, 0, 0, 1)), renderer) as shown:
        one, four = (len(np.unique(shown.image(160, 120, FRONT, samples=n)[60], axis=0)) for n in (1, 4))
        assert four > one


def test_drawings_are_seen_from_both_sides(renderer):
    with view(shapes.Sphere(0.01), renderer) as shown:
        shown.image(32, 24, FRONT)
        vertices, faces = [(-0.5, 0, -0.5), (0.5, 0, -0.5), (0, 0, 0.5)], [(0, 1, 2)]
        shown.add_surface(vertices, faces, color=RED)
        for yaw in (0.0, 180.0):
            seen = red(shown.image(160, 120, Camera(4.0, yaw, 0.0, (0.0, 0.0, 0.0))))
            # A triangle fills half of its box.
            assert seen.sum() == pytest.approx(0.5 * pixels(1.0, 120) ** 2, rel=0.1)
        shown.add_polyline([(-1, 0, 0.7), (1, 0, 0.7)], color=RED, radius=0.05)
        width, height = extent(red(shown.image(160, 120, FRONT))[:35])
        assert width == pytest.approx(pixels(2.0, 120), abs=3)
        assert height == pytest.approx(pixels(0.1, 120), abs=2)
        assert shown.contacts == ()


def test_scenery_and_foreign_bodies_are_seen(renderer):
    client = pybullet.connect(pybullet.DIRECT)
    with view(shapes.Sphere(0.01), renderer, client=client) as shown:
        assert not red(shown.image(160, 120, FRONT)).any()
        shape = pybullet.createVisualShape(
            pybullet.GEOM_BOX, halfExtents=[0.1, 0.1, 0.2], rgbaColor=RED, physicsClientId=client
        )
        body = pybullet.createMultiBody(1.0, -1, shape, [0.3, 0, 0], physicsClientId=client)
        there = red(shown.image(160, 120, FRONT))
        assert extent(there) == pytest.approx((pixels(0.2, 120), pixels(0.4, 120)), abs=2)
        pybullet.resetBasePositionAndOrientation(body, [-0.3, 0, 0], [0, 0, 0, 1], client)
        moved = red(shown.image(160, 120, FRONT))
        assert np.nonzero(there)[1].mean() - np.nonzero(moved)[1].mean() == pytest.approx(pixels(0.6, 120), abs=2)
        pybullet.removeBody(body, physicsClientId=client)
        assert not red(shown.image(160, 120, FRONT)).any()
    pybullet.disconnect(client)
    scene = Scene()
    scene.world.shapes.append(shapes.Box((1, 1, 1), color=RED))
    scene.world.attach(Body("body", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose(xyz=(3, 0, 0)))
    sim = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, sim, gui=False, ground=False, renderer=renderer) as shown:
        assert red(shown.image(160, 120, FRONT)).sum() > pixels(1.0, 120) ** 2 * 0.9


def test_mirrors_take_turns(renderer):
    """Two mirrors alive at once each show their own scene."""
    with view(shapes.Sphere(0.3, color=RED), renderer) as first:
        alone = first.image(160, 120, FRONT)
        with view(shapes.Box((1.0, 1.0, 0.1), color=RED), renderer) as second:
            other = second.image(160, 120, FRONT)
            np.testing.assert_array_equal(first.image(160, 120, FRONT), alone)
            np.testing.assert_array_equal(second.image(160, 120, FRONT), other)
        np.testing.assert_array_equal(first.image(160, 120, FRONT), alone)
    assert (alone != other).any()


def test_bodies_without_a_colour_differ(renderer):
    scene = Scene()
    for k in range(4):
        scene.world.attach(Body(f"b{k}", [shapes.Sphere(0.2)]), joints.free(), at=rd.pose(xyz=(0.6 * k - 0.9, 0, 0)))
    sim = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, sim, gui=False, ground=False, renderer=renderer) as shown:
        picture = shown.image(320, 240, FRONT).astype(int)
        colors = [picture[120, round(160 + pixels(0.6 * k - 0.9))] for k in range(4)]
        for a in range(4):
            for b in range(a):
                assert np.abs(colors[a] - colors[b]).max() > 40


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


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="a window needs a display; xvfb-run makes one")
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
    command = ["xvfb-run", "-a", "-s", "-screen 0 800x600x24", sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0 and "done" in result.stdout, result.stdout + result.stderr


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
