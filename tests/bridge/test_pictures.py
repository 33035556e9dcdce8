"""Pictures and films: what is in the scene is in the picture, where the camera says, in its colour."""

import numpy as np
import pybullet
import pytest
import trimesh

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from bridge.drawing.gl_context import usable
from bridge.picture import egl
from scene import Body, Scene, joints, shapes

RED = (0.9, 0.1, 0.1, 1.0)
FRONT = Camera(distance=4.0, yaw=0.0, pitch=0.0, target=(0.0, 0.0, 0.0))


@pytest.fixture(params=["opengl", "egl", "tiny"])
def renderer(request):
    if request.param == "opengl" and not usable():
        pytest.skip("OpenGL 3.3 does not work here (no display and no EGL, or no driver)")
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
