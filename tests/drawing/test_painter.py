"""Pictures by OpenGL: silhouettes, depths and numbers in closed form; many at once as one by one; bounded uploads."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from bridge import Camera, Pictures
from bridge.drawing.gl_context import offscreen, usable
from bridge.drawing.instances import Instances
from bridge.drawing.painter import FAST, Quality, offscreen_painter
from bridge.drawing.pieces import Ground, Piece
from bridge.meshes.shape_meshes import tessellated
from bridge.meshes.triangle_mesh import Triangles
from scene import Body, Scene, joints, shapes

pytestmark = pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")

SIZE = (320, 240)
FRONT = Camera(4.0, 0.0, 0.0, (0.0, 0.0, 0.0))
RED, GREEN = (0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.1, 1.0)
BALL = tessellated(shapes.Sphere(0.5), 64)
BOX = tessellated(shapes.Box((0.3, 0.2, 0.4)), 36)


def drawn(pieces, poses, camera=FRONT, grounds=(), quality=FAST):
    context = offscreen()
    with context.current():
        things = Instances(context, pieces, len(poses))
        things.place(np.asarray(poses, dtype=float))
        painter = offscreen_painter()
        return (
            painter.picture(things, grounds, camera, SIZE, quality),
            *painter.measured(things, grounds, camera, SIZE),
            things.calls,
        )


def rays(camera):
    """Directions (h, w, 3) through the middles of pixels, with 1 along the view, in the camera's axes."""
    width, height = SIZE
    tangent = np.tan(np.radians(camera.fov) / 2.0)
    x = ((np.arange(width) + 0.5) / width * 2.0 - 1.0) * tangent * width / height
    y = (1.0 - (np.arange(height) + 0.5) / height * 2.0) * tangent
    return np.stack([*np.meshgrid(x, y), -np.ones((height, width))], axis=2)


def test_a_ball_has_the_outline_and_the_depths_of_a_ball():
    """|s d - c| = r has a solution s where the discriminant is not negative, and the lesser one is the depth."""
    place = np.array([0.4, 0.5, 0.2])
    camera = Camera(4.0, 30.0, -20.0, (0.1, 0.2, 0.3))
    _, depth, number, _ = drawn([Piece(BALL, RED, frame=0)], [rd.pose(place)], camera)
    d = rays(camera)
    c = camera.rotation() @ (place - camera.eye())
    a, b = (d * d).sum(axis=2), d @ c
    discriminant = b * b - a * (c @ c - 0.25)
    clear = np.abs(discriminant) > 0.02  # the outline is a polygon's, and pixels have a width
    np.testing.assert_array_equal((number == 0)[clear], (discriminant > 0.0)[clear])
    assert (number[discriminant < -0.02] == -2).all() and np.isinf(depth[discriminant < -0.02]).all()
    exact = (b - np.sqrt(np.maximum(discriminant, 0.0))) / a
    inside = discriminant > 0.05
    # The faces of 5120 triangles lie within r (1 - cos(half an edge's angle)) of the ball, seen obliquely.
    assert np.abs(depth - exact)[inside].max() < 0.5 * (1.0 - np.cos(0.045)) * 8.0


def test_the_ground_has_the_depths_of_a_plane_up_to_the_horizon():
    camera = Camera(3.0, 20.0, -15.0, (5.0, -2.0, 0.5))
    ground = Ground(rd.pose((0, 0, 0.1)), 0.5, (1, 1, 1, 1), (0, 0, 0, 1))
    _, depth, number, _ = drawn([], np.zeros((0, 4, 4)), camera, [ground])
    along = (rays(camera) @ camera.rotation())[..., 2]
    down = along < -1e-3
    exact = (0.1 - camera.eye()[2]) / along
    assert (number[down] == -1).all() and (number[along > 1e-3] == -2).all()
    # A depth buffer has 1 - nearest / z in 24 bits, rounded in two places.
    assert (np.abs(depth - exact)[down] <= 2.0**-22 * exact[down] ** 2 / camera.nearest).all()


def test_every_body_has_its_number_and_nearer_ones_hide_others():
    pieces = [Piece(BOX, RED, frame=0), Piece(BALL, GREEN, frame=1), Piece(BOX, RED)]
    _, _, number, _ = drawn(pieces, [rd.pose((-1.0, 0, 0)), rd.pose((1.0, 0, 0))])
    assert set(np.unique(number)) == {-2, -1, 0, 1}
    assert number[120, 160] == -1 and number[120, 80] == 0 and number[120, 240] == 1
    _, _, hidden, _ = drawn(pieces, [rd.pose((0, 1.0, 0)), rd.pose((0, -1.0, 0))])
    assert set(np.unique(hidden)) == {-2, 1}


def test_many_at_once_are_as_one_by_one():
    """One draw call a mesh; a mesh that is copied for every body takes one each and gives the same picture."""
    rng = np.random.default_rng(0)
    poses = [rd.pose(rng.uniform(-0.8, 0.8, 3), rng.uniform(-3, 3, 3)) for _ in range(12)]
    shared = [Piece(BOX, RED if k % 2 else GREEN, frame=k) for k in range(12)]
    single = [Piece(Triangles(BOX.vertices, BOX.faces, BOX.normals), p.color, p.at, p.frame) for p in shared]
    quality = Quality(4, shadows=True)
    together, apart = drawn(shared, poses, quality=quality), drawn(single, poses, quality=quality)
    assert together[-1] == 1 and apart[-1] == 12
    np.testing.assert_array_equal(together[0], apart[0])
    np.testing.assert_array_equal(together[2], apart[2])


def test_far_from_the_origin_pictures_are_as_sharp():
    """What is sent to the card is relative to what is looked at, as it has seven digits only."""
    here = drawn([Piece(BALL, RED, frame=0)], [np.eye(4)])
    place = np.array([3e6, -2e6, 1e6])
    there = drawn([Piece(BALL, RED, frame=0)], [rd.pose(place)], Camera(4.0, 0.0, 0.0, tuple(place)))
    assert np.abs(here[0].astype(int) - there[0]).max() <= 2
    np.testing.assert_array_equal(here[2], there[2])


def test_shadows_fall_away_from_the_light_and_only_where_they_are_asked_for():
    ground = [Ground(np.eye(4), 0.5, (0.8, 0.8, 0.8, 1), (0.8, 0.8, 0.8, 1))]
    camera = Camera(6.0, 0.0, -60.0, (0.0, 0.0, 0.0))
    poses = [rd.pose((0, 0, 1.0))]
    lit, shaded = (
        drawn([Piece(BALL, RED, frame=0)], poses, camera, ground, Quality(1, s))[0].astype(int) for s in (False, True)
    )
    dark = (lit - shaded).sum(axis=2) > 60
    rows, columns = np.nonzero(dark)
    # Light comes from the camera's right and from behind it: the shadow is to the left of the middle, and above.
    assert dark.sum() > 500 and columns.mean() < 140 and rows.mean() < 150


def test_shadows_of_what_stands_still_do_not_flicker():
    ground = [Ground(np.eye(4), 0.5, (0.8, 0.8, 0.8, 1), (0.8, 0.8, 0.8, 1))]
    pieces = [Piece(BOX, RED, rd.pose((1.0, 0, 0.4))), Piece(BOX, GREEN, frame=0)]
    camera = Camera(6.0, 0.0, -60.0, (0.0, 0.0, 0.0))
    pictures = [
        drawn(pieces, [rd.pose((-1.0 - 0.01 * k, 0, 0.5))], camera, ground, Quality(1, True))[0] for k in range(4)
    ]
    for picture in pictures[1:]:
        assert (picture[:, 170:] == pictures[0][:, 170:]).all()


def test_colours_and_pictures_of_meshes_are_seen():
    from PIL import Image

    board = trimesh.creation.box((1.0, 0.01, 1.0))
    half = np.zeros((8, 8, 3), dtype=np.uint8)
    half[:, :4], half[:, 4:] = (255, 0, 0), (0, 255, 0)
    uv = np.stack([board.vertices[:, 0] + 0.5, board.vertices[:, 2] + 0.5], axis=1)
    board.visual = trimesh.visual.TextureVisuals(uv=uv, image=Image.fromarray(half))
    painted = trimesh.creation.box((1.0, 0.01, 1.0))
    painted.visual.face_colors = np.tile([0, 0, 255, 255], (len(painted.faces), 1))
    for mesh, left, right in ((board, 0, 1), (painted, 2, 2)):
        scene = Scene()
        scene.world.attach(Body("b", [shapes.Mesh(mesh)], mass=1, inertia=np.eye(3)), joints.free())
        picture = Pictures(scene, rd.Simulation(scene.compile()), ground=False).image(*SIZE, FRONT).astype(int)
        assert picture[120, 130].argmax() == left and picture[120, 190].argmax() == right
        assert picture[120, 130].max() > 150  # an image is as bright as it is


def test_glass_lets_through_what_is_behind_it():
    behind = Piece(BOX, RED, at=rd.pose((0, 1.0, 0)))
    pane = Piece(BALL, (0.1, 0.1, 0.9, 0.5))
    bare, glazed, alone = (
        drawn(p, np.zeros((0, 4, 4)))[0][120, 160].astype(int) for p in ([behind], [behind, pane], [pane])
    )
    assert glazed[2] > bare[2] + 20 and glazed[0] > alone[0] - 60 and (glazed != alone).any()


def test_pictures_need_no_bullet_and_no_display():
    """In a process of its own, as pyglet chooses once."""
    code = """
import os, sys
os.environ.pop("DISPLAY", None)
import recursive_dyn as rd
from bridge import Camera, Pictures
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.attach(Body("ball", [shapes.Sphere(0.5)]), joints.free(), at=rd.pose((0, 0, 1)))
simulation = rd.Simulation(scene.compile())
pictures = Pictures(scene, simulation)
first = pictures.image(160, 120)
depth, body = pictures.measure(160, 120)
simulation.q[2] += 0.3
assert (pictures.image(160, 120) != first).any() and set(body.ravel().tolist()) == {-1, 0}
print(first.shape, depth.shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "(120, 160, 3) (120, 160)", done.stdout + done.stderr


def test_what_cannot_be_drawn_is_refused():
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.5)]), joints.free())
    simulation = rd.Simulation(scene.compile())
    pictures = Pictures(scene, simulation)
    with pytest.raises(rd.ModelError, match="pixel"):
        pictures.image(0, 10)
    with pytest.raises(rd.ModelError, match="pixels wide and high"):
        pictures.image(10**6, 10)
    with pytest.raises(rd.ModelError, match="samples"):
        pictures.image(samples=3)
    with pytest.raises(rd.ModelError, match="ball"):
        Pictures(Scene(), simulation)


def test_other_threads_are_told_who_draws():
    """Two threads in one context would end the process."""
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.5)]), joints.free())
    pictures = Pictures(scene, rd.Simulation(scene.compile()))
    first, told = pictures.image(32, 24), []

    def draw():
        with pytest.raises(rd.StateError, match="thread"):
            pictures.image(32, 24)
        told.append(True)

    thread = threading.Thread(target=draw)
    thread.start()
    thread.join()
    assert told and (pictures.image(32, 24) == first).all()
