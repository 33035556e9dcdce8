"""Ground of sampled heights: where its samples are, the surface between them, files, and what is refused."""

import json

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from test_file import round_trip

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

NAN, INF = float("nan"), float("inf")
GRID = [[0.0, 0.1, 0.3], [0.2, -0.1, 0.0]]


@st.composite
def fields(draw):
    shape = draw(st.tuples(st.integers(2, 6), st.integers(2, 6)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    spacing = draw(st.tuples(st.floats(0.01, 3.0), st.floats(0.01, 3.0)))
    return shapes.HeightField(rng.normal(size=shape), spacing)


def height_at(field, x, y):
    """z of the surface above a point, by the barycentric coordinates of the triangle below it."""
    points, faces = field.triangles()
    for a, b, c in points[faces]:
        edges = np.stack([b[:2] - a[:2], c[:2] - a[:2]], axis=1)
        s, t = np.linalg.solve(edges, (x - a[0], y - a[1]))
        if s >= -1e-12 and t >= -1e-12 and s + t <= 1.0 + 1e-12:
            return a[2] + s * (b[2] - a[2]) + t * (c[2] - a[2])
    raise AssertionError("no triangle there")


@given(fields())
def test_samples_are_where_the_grid_says(field):
    (nx, ny), (dx, dy) = field.heights.shape, field.spacing
    points, _ = field.triangles()
    for i in range(nx):
        for j in range(ny):
            expected = (i - (nx - 1) / 2) * dx, (j - (ny - 1) / 2) * dy, field.heights[i, j]
            np.testing.assert_array_equal(points[i * ny + j], expected)


@given(fields())
def test_the_surface_covers_the_grid_once_and_faces_up(field):
    (nx, ny), (dx, dy) = field.heights.shape, field.spacing
    mesh = shapes.to_trimesh(field)
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    shadows = 0.5 * np.cross(b - a, c - a)[:, 2]
    assert (shadows > 0.0).all()
    assert shadows.sum() == pytest.approx((nx - 1) * (ny - 1) * dx * dy, rel=1e-13)
    _, uses = np.unique(mesh.edges_sorted, axis=0, return_counts=True)
    assert uses.max() <= 2 and (uses == 1).sum() == 2 * (nx - 1 + ny - 1)  # open along its border only


def test_a_slope_is_flat():
    x, y = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-3, 3, 4), indexing="ij")
    mesh = shapes.to_trimesh(shapes.HeightField(0.3 * x - 0.2 * y + 1.0, (0.5, 2.0)))
    normal = np.array([-0.3, 0.2, 1.0]) / np.sqrt(1.13)
    np.testing.assert_allclose(mesh.face_normals, np.tile(normal, (24, 1)), atol=1e-15)
    np.testing.assert_allclose(mesh.vertices @ normal, normal[2], atol=1e-15)


def test_the_surface_is_bullets():
    """Bullet centres a field between its lowest and highest sample; the heights are read along its rows of x."""
    bullet = pytest.importorskip("pybullet")
    heights = np.random.default_rng(3).normal(size=(5, 4))
    field = shapes.HeightField(heights, (0.5, 0.8))
    middle = (heights.min() + heights.max()) / 2
    client = bullet.connect(bullet.DIRECT)
    try:
        shape = bullet.createCollisionShape(
            bullet.GEOM_HEIGHTFIELD,
            meshScale=[0.5, 0.8, 1],
            heightfieldData=heights.T.ravel().tolist(),
            numHeightfieldRows=5,
            numHeightfieldColumns=4,
            physicsClientId=client,
        )
        bullet.createMultiBody(0, shape, physicsClientId=client)
        for x, y in np.random.default_rng(4).uniform((-0.99, -1.19), (0.99, 1.19), size=(40, 2)):
            ((_, _, _, place, _),) = bullet.rayTest([x, y, 9], [x, y, -9], physicsClientId=client)
            assert place[2] + middle == pytest.approx(height_at(field, x, y), abs=1e-5)  # its rays are floats of 18 m
    finally:
        bullet.disconnect(client)


def test_it_is_scenery_without_mass():
    field = shapes.HeightField(GRID, (1, 1), at=rd.pose((1, 2, 3)))
    assert field.volume == 0.0 and field.mass_properties(1000.0).mass == 0.0
    assert Body("ground", [field]).mass == 0.0
    with pytest.raises(rd.ModelError, match="'ground': no shape has volume"):
        Body("ground", [field], density=1.0)
    whole = Body("rock", [field, shapes.Sphere(0.1)])
    assert whole.mass == Body("ball", [shapes.Sphere(0.1)]).mass


def test_a_field_keeps_its_own_copy():
    heights = np.zeros((2, 2))
    field = shapes.HeightField(heights, (1, 2))
    heights[0, 0] = 5.0
    assert field.heights[0, 0] == 0.0 and field.spacing == (1.0, 2.0)
    with pytest.raises(ValueError, match="read-only"):
        field.heights[0, 0] = 1.0
    assert heights.flags.writeable


@pytest.mark.parametrize(
    ("heights", "message"),
    [
        ([1.0, 2.0], r"at least 2 x 2 samples, not \(2,\)"),
        ([[1.0, 2.0]], r"at least 2 x 2 samples, not \(1, 2\)"),
        ([[1.0], [2.0]], r"at least 2 x 2 samples, not \(2, 1\)"),
        (np.zeros((2, 2, 2)), r"at least 2 x 2"),
        (np.zeros((0, 2)), r"at least 2 x 2"),
        (1.0, r"at least 2 x 2 samples, not \(\)"),
        ([[1.0, 2.0], [3.0]], r"rows of one length"),
        ([[1.0, NAN], [3.0, 4.0]], r"heights has an entry that is NaN or infinite"),
        ([[1.0, 2.0], [-INF, 4.0]], r"heights has an entry that is NaN or infinite"),
        ([[1e300, 2.0], [3.0, 4.0]], r"out of range"),
        ([["1", "2"], ["3", "4"]], r"grid of real numbers"),
        ([[1j, 2.0], [3.0, 4.0]], r"grid of real numbers"),
        ([[True, False], [True, True]], r"grid of real numbers"),
        ([[None, 1.0], [1.0, 1.0]], r"grid of real numbers"),
        ([[sp.Symbol("h"), 1.0], [1.0, 1.0]], r"cannot depend on scene parameters"),
        (None, r"grid of real numbers"),
    ],
)
def test_bad_heights_are_refused(heights, message):
    with pytest.raises(rd.ModelError, match=f"HeightField: heights .*{message}|HeightField: {message}"):
        shapes.HeightField(heights, (1, 1))


@pytest.mark.parametrize("spacing", [(0, 1), (1, -1), (1, NAN), (INF, 1), (1, 1, 1), 1.0, "far", None, (1e60, 1)])
def test_bad_spacing_is_refused(spacing):
    with pytest.raises(rd.ModelError, match="HeightField: spacing"):
        shapes.HeightField(GRID, spacing)


# Files


def ground(**settings) -> Scene:
    scene = Scene()
    scene.world.shapes.append(shapes.HeightField(GRID, (0.5, 0.25), **settings))
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free())
    return scene


@given(fields())
def test_a_file_keeps_every_bit(tmp_path_factory, field):
    scene = Scene()
    scene.world.shapes.append(field)
    (loaded,) = round_trip(scene, tmp_path_factory.getbasetemp()).world.shapes
    assert loaded.heights.tobytes() == field.heights.tobytes() and loaded.heights.shape == field.heights.shape
    assert loaded.spacing == field.spacing and not loaded.heights.flags.writeable


def test_a_file_keeps_what_all_shapes_have(tmp_path):
    given = {"at": rd.pose((1, 2, 3), (0.1, 0.2, 0.3)), "color": (0.1, 0.2, 0.3, 1.0), "collision": False}
    scene = ground(**given, material=rd.Material(0.9))
    (loaded,) = round_trip(scene, tmp_path).world.shapes
    np.testing.assert_array_equal(loaded.at, scene.world.shapes[0].at)
    assert (loaded.color, loaded.collision, loaded.material) == (given["color"], False, rd.Material(0.9))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("heights", None, r"has no field 'heights'"),
        ("heights", 3, r"heights of HeightField must be a list of rows of numbers, not 3"),
        ("heights", [], r"must be a list of rows of numbers"),
        ("heights", [1, 2], r"must be a list of rows of numbers"),
        ("heights", [[1, 2], [3]], r"heights of HeightField must be 2 x 2 entries"),
        ("heights", [[1, 2], [3, "4"]], r"heights of HeightField must be a finite number, not '4'"),
        ("heights", [[1, 2], [3, True]], r"heights of HeightField must be a finite number, not True"),
        ("heights", [[1, 2], [3, 10**400]], r"heights of HeightField must be a finite number"),
        ("heights", [[1, 2]], r"HeightField: heights must be a grid \(nx, ny\) of at least 2 x 2"),
        ("spacing", None, r"has no field 'spacing'"),
        ("spacing", [1], r"spacing of HeightField must be 2 entries"),
        ("spacing", [1, 0], r"HeightField: spacing must be positive"),
        ("normal", [0, 0, 1], r"HeightField has the unknown field 'normal'"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(field, value, message, tmp_path):
    path = tmp_path / "scene.json"
    ground().save(path)
    content = json.loads(path.read_text())
    content["scenery"][0][field] = value
    if value is None:
        del content["scenery"][0][field]
    path.write_text(json.dumps(content))
    with pytest.raises(rd.SceneFileError, match=rf"scene\.json: the world: .*{message}"):
        Scene.load(path)
