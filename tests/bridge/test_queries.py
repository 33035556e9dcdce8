"""Rays, boxes and distances among bodies, by name."""

import math

import numpy as np
import pybullet
import pytest
import trimesh

import recursive_dyn as rd
from bridge.bodies.bullet_shapes import collision_shape, create_body
from bridge.bodies.colliders import colliders
from bridge.collision.queries import RAYS, Queries
from bridge.connection import Connection
from bridge.meshes.files import MeshFiles
from scene import shapes


def body(client, files, shape, *place):
    parts = colliders(shape, files)
    at = rd.pose(xyz=place or (0, 0, 0)) @ parts[0].at
    return create_body(collision_shape(parts, client, concave=True), -1, client, at)


def queries(client, names, of):
    """Queries in a connection in which bodies of these names were made."""
    connection = Connection(client, None)
    connection.bodies.update(names)
    return Queries(connection, of)


@pytest.fixture
def bullet():
    client, files = pybullet.connect(pybullet.DIRECT), MeshFiles()
    yield lambda shape, *place: body(client, files, shape, *place), client
    pybullet.disconnect(client)
    files.close()


@pytest.fixture
def asked(bullet):
    """A ball and a body of two boxes above the ground, a body without shapes, and a ball of Bullet's own."""
    make, client = bullet
    ground = make(shapes.Plane())
    ball = make(shapes.Sphere(0.5), 0, 0, 2)
    boxes = make(shapes.Box((1, 1, 1)), 3, 0, 2), make(shapes.Box((1, 1, 1)), 5, 0, 2)
    make(shapes.Sphere(0.5), 0, 5, 2)
    names = {ground: "world", ball: "ball", boxes[0]: "boxes", boxes[1]: "boxes"}
    return queries(client, names, {"ball": (ball,), "boxes": boxes, "frame": ()})


def test_a_ray_finds_what_comes_first(asked):
    hit = asked.ray((0, 0, 10), (0, 0, -10))
    assert hit.body == "ball"
    np.testing.assert_allclose(hit.point, (0, 0, 2.5), atol=1e-6)
    np.testing.assert_allclose(hit.normal, (0, 0, 1), atol=1e-6)
    assert hit.fraction == pytest.approx(7.5 / 20)
    assert hit.distance == pytest.approx(7.5)
    assert asked.ray((0.0, 0.0, 1.0), np.array([1.0, 1.0, -1.0])).body == "world"
    assert asked.ray((5, 0, 10), (5, 0, 0)).body == "boxes"
    assert asked.ray((0, 5, 10), (0, 5, 0)).body.startswith("bullet:")
    assert asked.ray((0, 0, 10), (0, 0, 9)) is None


def test_slanted_ray_against_the_closed_form(asked):
    """A ray at the ball's rim: the root of a quadratic."""
    start, end = np.array([-3.0, 0.3, 2.1]), np.array([4.0, 0.3, 2.1])
    hit = asked.ray(start, end)
    half = math.sqrt(0.5**2 - 0.3**2 - 0.1**2)
    np.testing.assert_allclose(hit.point, (-half, 0.3, 2.1), atol=1e-5)
    np.testing.assert_allclose(hit.normal, np.array([-half, 0.3, 0.1]) / 0.5, atol=1e-4)


@pytest.mark.parametrize(
    "shape",
    [
        shapes.Box((1, 1, 1)),
        shapes.Cylinder(0.5, 1.0),
        shapes.Capsule(0.2, 0.6),
        shapes.Ellipsoid((0.4, 0.4, 0.5)),
        shapes.Mesh(trimesh.creation.box((1, 1, 1))),
        shapes.HeightField(np.full((3, 3), 0.5), (1.0, 1.0)),
    ],
)
def test_rays_meet_every_shape(bullet, shape):
    """Without a margin they would pass through boxes, cylinders and hulls."""
    make, client = bullet
    one = make(shape, 0, 0, 0)
    asked = queries(client, {one: "one"}, {"one": (one,)})
    for x, y in np.random.default_rng(2).uniform(-0.03, 0.03, (50, 2)):
        hit = asked.ray((x, y, 3), (0.5 * y, x, -0.3))
        assert hit is not None
        assert hit.point[2] == pytest.approx(0.5, abs=0.01)


def test_many_rays_are_the_same_as_one_by_one(asked):
    """More than Bullet takes at once; it drops some without a word."""
    rng = np.random.default_rng(0)
    ends = np.column_stack(
        [rng.uniform(-2, 7, 2 * RAYS + 5), rng.uniform(-2, 7, 2 * RAYS + 5), np.full(2 * RAYS + 5, -1)]
    )
    starts = ends + np.array([0, 0, 9])
    hits = asked.rays(starts, ends)
    assert len(hits) == len(ends)
    assert {hit.body for hit in hits if hit} >= {"ball", "boxes", "world"}
    for k in (0, RAYS - 1, RAYS, RAYS + 1, 2 * RAYS + 4):
        assert hits[k] == asked.ray(starts[k], ends[k])
    assert asked.rays([], []) == []


def test_rays_see_a_body_where_it_was_moved_to(bullet):
    make, client = bullet
    ball = make(shapes.Sphere(0.5), 0, 0, 2)
    asked = queries(client, {ball: "ball"}, {"ball": (ball,)})
    pybullet.resetBasePositionAndOrientation(ball, [0, 0, 5], [0, 0, 0, 1], physicsClientId=client)
    assert asked.ray((0, 0, 9), (0, 0, 0)).point[2] == pytest.approx(5.5)
    assert asked.overlapping((-1, -1, 4), (1, 1, 6)) == ("ball",)


def test_overlapping_boxes(asked):
    assert asked.overlapping((-0.1, -0.1, 1.9), (0.1, 0.1, 2.1)) == ("ball",)
    assert asked.overlapping((2.9, -0.1, -1), (5.1, 0.1, 3)) == ("boxes", "world")
    assert asked.overlapping((0, 0, 40), (1, 1, 50)) == ()


def test_closest_points(asked):
    near = asked.closest("ball", "boxes", 10.0)
    assert near.distance == pytest.approx(2.0, abs=1e-6)  # to the nearer of the two boxes
    np.testing.assert_allclose(near.point_on_a, (0.5, 0, 2), atol=1e-6)
    np.testing.assert_allclose(near.point_on_b, (2.5, 0, 2), atol=1e-6)
    np.testing.assert_allclose(near.normal, (-1, 0, 0), atol=1e-6)
    assert asked.closest("boxes", "ball", 10.0).normal[0] == pytest.approx(1.0)
    assert asked.closest("ball", "boxes", 1.99) is None
    assert asked.closest("ball", "world", 2.0).distance == pytest.approx(1.5, abs=1e-6)
    assert asked.closest("ball", "frame", 2.0) is None
    assert asked.closest("ball", asked.ray((0, 5, 10), (0, 5, 0)).body, 9.0).distance == pytest.approx(4.0, abs=1e-6)


def test_depth_of_an_overlap(bullet):
    make, client = bullet
    a, b = make(shapes.Sphere(0.5), 0, 0, 0), make(shapes.Sphere(0.5), 0.9, 0, 0)
    near = queries(client, {a: "a", b: "b"}, {"a": (a,), "b": (b,)}).closest("a", "b", 0.0)
    assert near.distance == pytest.approx(-0.1, abs=1e-9)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda q: q.ray((0, 0), (0, 0, 1)), rd.StateError, r"start.*shape"),
        (lambda q: q.ray((0, 0, math.nan), (0, 0, 1)), rd.StateError, "finite"),
        (lambda q: q.ray((0, 0, 1), (0, 0, 1)), rd.StateError, "two different points"),
        (lambda q: q.ray((0, 0, 1), "down"), rd.StateError, "end must be numbers"),
        (lambda q: q.rays([(0, 0, 1)], [(0, 0, 0), (0, 0, 2)]), rd.StateError, "as many starts as ends"),
        (lambda q: q.rays(np.zeros((2, 2)), np.zeros((2, 2))), rd.StateError, "starts.*shape"),
        (lambda q: q.overlapping((0, 0, 1), (0, 0, 0)), rd.StateError, "low"),
        (lambda q: q.overlapping((0, 0, math.inf), (0, 0, 0)), rd.StateError, "finite"),
        (lambda q: q.closest("ball", "boxes", -1.0), rd.StateError, "distance"),
        (lambda q: q.closest("ball", "boxes", math.nan), rd.StateError, "distance"),
        (lambda q: q.closest("ball", "balloon", 1.0), rd.ModelError, "'balloon'.*'ball', 'boxes', 'frame', 'world'"),
        (lambda q: q.closest("bullet:99", "ball", 1.0), rd.ModelError, "no body 'bullet:99'"),
    ],
)
def test_bad_questions_are_told_by_name(asked, ask, error, message):
    with pytest.raises(error, match=message):
        ask(asked)
