"""Balls, capsules and ellipsoids on height fields and meshes: by what a distance is, triangle by triangle."""

import math

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from rollers import gained_downhill
from routes_to_bullet import courses, direct, ordinary
from scipy.spatial.transform import Rotation
from trimesh.triangles import closest_point

import recursive_dyn as rd
from bridge.curved.curved_pairs import POINTS
from bridge.curved.distances import ELLIPSOID, ROUND, distance_to
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import gathered_polytopes
from bridge.faceted.facet_search import is_below
from bridge.faceted.facets import Triangulation, gathered_facets, grid_surface, mesh_surface
from bridge.faceted.round_on_facets import round_on_facets
from scene import Body, Scene, joints, shapes

NO_SOLIDS = gathered_polytopes(())
SEEDS = st.integers(0, 2**32 - 1)
MARGIN, NO_TURN, LYING = 0.02, np.eye(3), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
ROOF = shapes.HeightField([[-0.5, -0.5], [0.0, 0.0], [-0.5, -0.5]], (1.0, 1.0))


def met(surface: Triangulation, size, centre, axes=NO_TURN, kind=ROUND, at=None, margin=MARGIN) -> np.ndarray:
    """Points (n, 7) of a shape on a surface at a pose: there, the normal out of it, the gap."""
    X = np.eye(4) if at is None else at
    places = np.array([X[:3, :3] @ centre + X[:3, 3], X[:3, 3]])
    sizes, none = np.array([np.resize([*size, 0.0, 0.0], 3), np.zeros(3)]), np.zeros((0, 3))
    placed = InWorld(places, np.array([axes @ X[:3, :3].T, X[:3, :3].T]), sizes, none, none)
    found = Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
    facets = gathered_facets([grid_surface(ROOF.heights, ROOF.spacing), surface])  # the second of two
    round_on_facets(kind, placed, NO_SOLIDS, facets, 1, 0, 1, margin, found)
    return found.rows[: found.size[0]].copy()


def rough(rng) -> shapes.HeightField:
    """A few steep cells, or flat ones."""
    heights = rng.uniform(0.0, rng.choice([0.0, 0.02, 0.1, 0.2]), (int(rng.integers(3, 9)), int(rng.integers(3, 9))))
    return shapes.HeightField(heights, rng.uniform(0.03, 0.15, 2))


def over(rng, field: shapes.HeightField) -> np.ndarray:
    """A place over it, or beyond its borders."""
    sides = np.array(field.heights.shape) * field.spacing
    return np.array([*(rng.uniform(-0.6, 0.6, 2) * sides), rng.uniform(0.0, 0.35)])


def both(field: shapes.HeightField) -> tuple[np.ndarray, list[Triangulation]]:
    """Its triangles, and the surface as a grid and as a mesh of corners that nothing says are the same."""
    corners = np.array(shapes.to_trimesh(field).triangles)
    return corners, [grid_surface(field.heights, field.spacing), mesh_surface(corners)]


def apart(corners: np.ndarray, point: np.ndarray) -> np.ndarray:
    """The distance of a point from each triangle."""
    return np.linalg.norm(closest_point(corners, np.tile(point, (len(corners), 1))) - point, axis=1)


def nearest_places(corners: np.ndarray, centre: np.ndarray, reach: float) -> list[tuple[np.ndarray, float]]:
    """Places of a surface than which none next to them is nearer to a point, by all triangles, and their distances."""
    feet, found = closest_point(corners, np.tile(centre, (len(corners), 1))), list[tuple[np.ndarray, float]]()
    distances = np.linalg.norm(feet - centre, axis=1)
    for foot, distance in zip(feet, distances, strict=True):
        there = apart(corners, foot) < 1e-9
        if distance < reach and distances[there].min() >= distance - 1e-11:
            found += [] if any(np.abs(foot - other).max() < 1e-6 for other, _ in found) else [(foot, distance)]
    return found


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_ball_touches_where_the_surface_is_nearer_than_all_around(seed):
    rng = np.random.default_rng(seed)
    field, radius = rough(rng), rng.uniform(0.05, 0.2)
    centre, (corners, surfaces) = over(rng, field), both(field)
    if is_below(gathered_facets(surfaces[:1]), 0, centre):
        return
    wanted = nearest_places(corners, centre, radius + MARGIN)
    for surface in surfaces if len(wanted) <= POINTS else ():
        rows = met(surface, (radius,), centre)
        assert len(rows) == len(wanted)
        for row in rows:
            foot, distance = min(wanted, key=lambda place: np.abs(place[0] - row[:3]).max())
            assert row[:3] == pytest.approx(foot, abs=1e-9)
            assert row[3:6] == pytest.approx((centre - foot) / distance, abs=1e-7)
            assert row[6] == pytest.approx(distance - radius, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans())
def test_a_capsule_is_as_near_as_the_nearest_ball_along_its_core(seed, lying):
    rng = np.random.default_rng(seed)
    field, radius, half = rough(rng), rng.uniform(0.05, 0.1), rng.uniform(0.02, 0.2)
    centre, (corners, surfaces) = over(rng, field), both(field)
    axes = LYING if lying else Rotation.random(random_state=seed).as_matrix()
    core = centre + np.linspace(-half, half, 101)[:, None] * axes[2]
    if any(is_below(gathered_facets(surfaces[:1]), 0, ball.copy()) for ball in core):
        return
    least = min(apart(corners, ball).min() for ball in core) - radius
    for surface in surfaces if least < 0.5 * MARGIN else ():
        rows = met(surface, (radius, half), centre, axes)
        spacing = half / 50
        assert least - spacing**2 / (8 * (radius + least)) - 1e-9 <= rows[:, 6].min() <= least + 1e-9
        for row in rows:
            ball = row[:3] + (radius + row[6]) * row[3:6] - centre
            assert ball == pytest.approx(np.clip(ball @ axes[2], -half, half) * axes[2], abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_an_ellipsoid_is_as_near_as_the_nearest_point_of_all_triangles(seed):
    """Of a net of points on them; where it touches, its surface has the normal that is told."""
    rng = np.random.default_rng(seed)
    field, size, axes = rough(rng), rng.uniform(0.05, 0.12, 3), Rotation.random(random_state=seed).as_matrix()
    centre, (corners, surfaces) = over(rng, field), both(field)
    if is_below(gathered_facets(surfaces[:1]), 0, centre):
        return
    net = np.array([(i, j, 30 - i - j) for i in range(31) for j in range(31 - i)]) / 30.0
    seen = (np.einsum("pc,tci->tpi", net, corners).reshape(-1, 3) - centre) @ axes.T
    scaled = np.linalg.norm(seen / size, axis=1)
    close, n = seen[scaled < scaled.min() + 0.1], np.empty(3)
    least = min(distance_to(ELLIPSOID, size, NO_SOLIDS, 0, x, n) for x in close[:: len(close) // 2000 + 1])
    for surface in surfaces if -2e-3 < least < 0.5 * MARGIN else ():
        rows = met(surface, size, centre, axes, ELLIPSOID)
        side = 0.15 / 30
        assert least - side**2 / (2 * size.min() ** 2 / size.max()) - 1e-5 < rows[:, 6].min() < least + 1e-5
        for row in rows:
            own = axes @ (row[:3] + row[6] * row[3:6] - centre)
            assert own @ (own / size**2) == pytest.approx(1.0, abs=1e-9)
            out = own / size**2
            assert axes @ row[3:6] == pytest.approx(-out / np.linalg.norm(out), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_a_surface_at_a_pose_is_touched_as_where_it_is_not(seed):
    rng = np.random.default_rng(seed)
    field, size = rough(rng), rng.uniform(0.05, 0.12, 3)
    centre, X = over(rng, field), rd.pose(rng.uniform(-5, 5, 3), rpy=rng.uniform(-3, 3, 3))
    for surface in both(field)[1]:
        plain = met(surface, size, centre, kind=ELLIPSOID)
        turned = met(surface, size, centre, kind=ELLIPSOID, at=X)
        assert len(plain) == len(turned)
        moved = np.column_stack(
            [plain[:, :3] @ X[:3, :3].T + X[:3, 3], plain[:, 3:6] @ X[:3, :3].T, plain[:, 6]]
        )  # fmt: skip
        np.testing.assert_allclose(turned, moved, atol=1e-8)


@pytest.mark.parametrize("place", [(0.0, 0.0), (0.1, 0.0), (0.05, 0.05), (0.1, 0.03), (0.025, 0.075)])
def test_where_a_surface_is_flat_a_ball_touches_it_once(place):
    """Over a corner, a side, the middle of a diagonal, beside them, and where a corner lies on another's side."""
    flat = shapes.HeightField(np.zeros((9, 9)), (0.1, 0.1))
    wedged = np.array(
        [[(-9, -9, 0), (0.1, -9, 0), (0.1, 9, 0)], [(0.1, -9, 0), (9, 0, 0), (0.1, 0.03, 0)],
         [(0.1, 0.03, 0), (9, 0, 0), (0.1, 9, 0)]]
    )  # fmt: skip
    for surface in (*both(flat)[1], mesh_surface(np.array(wedged, dtype=float))):
        (row,) = met(surface, (0.1,), np.array([*place, 0.101]))
        assert row == pytest.approx([*place, 0.0, 0.0, 0.0, 1.0, 0.001], abs=1e-12)
        along = met(surface, (0.1, 0.23), np.array([*place, 0.101]), LYING)
        np.testing.assert_allclose(along[:, 2:], [(0.0, 0.0, 0.0, 1.0, 0.001)] * 2, atol=1e-12)
        assert np.abs(along[:, 0] - place[0]) == pytest.approx([0.23, 0.23], abs=1e-12)


def test_on_a_ridge_the_normal_is_its_own_and_in_a_valley_both_faces_have_theirs():
    tilt = np.array([0.5, 0.0, 1.0]) / math.hypot(0.5, 1.0)
    for surface in both(ROOF)[1]:
        for lean in (-0.2, 0.0, 0.4):
            n = np.array([math.sin(lean), 0.0, math.cos(lean)])
            (row,) = met(surface, (0.1,), 0.103 * n)
            assert row == pytest.approx([0.0, 0.0, 0.0, *n, 0.003], abs=1e-12)
        (row,) = met(surface, (0.1, 0.3), np.array([0.0, 0.0, 0.099]), LYING)  # a capsule across it
        assert row[2:] == pytest.approx([0.0, 0.0, 0.0, 1.0, -0.001], abs=1e-12)
    valley = shapes.HeightField(-ROOF.heights, ROOF.spacing)
    for surface in both(valley)[1]:
        rows = met(surface, (0.1,), np.array([0.0, 0.0, 0.101 / tilt[2]]))
        assert sorted(rows[:, 3]) == pytest.approx([-tilt[0], tilt[0]], abs=1e-12)
        assert rows[:, 6] == pytest.approx([0.001, 0.001], abs=1e-12)


@pytest.mark.parametrize("sunk", [0.09, 0.1, 0.11, 0.14])
def test_what_sank_into_the_ground_is_told_how_to_get_out(sunk):
    """Also with its middle below; on a mesh the side on which the middle is counts."""
    flat = shapes.HeightField(np.zeros((9, 9)), (0.1, 0.1))
    for shape, size, turn in (
        (ROUND, (0.1,), NO_TURN),
        (ROUND, (0.1, 0.2), LYING),
        (ELLIPSOID, (0.3, 0.2, 0.1), NO_TURN),
    ):
        for row in met(grid_surface(flat.heights, flat.spacing), size, np.array([0.03, 0.02, 0.1 - sunk]), turn, shape):
            assert row[3:] == pytest.approx([0.0, 0.0, 1.0, -sunk], abs=1e-9)


@pytest.mark.parametrize(
    "shape",
    [shapes.Sphere(0.1), shapes.Ellipsoid((0.1, 0.2, 0.1)), shapes.Capsule(0.1, 0.3), shapes.Cylinder(0.1, 0.3)],
)
@pytest.mark.parametrize("meshed", [True, False])
def test_what_is_round_rolls_down_triangles_as_on_paper(shape, meshed):
    """g sin(a) / (1 + I / (m r^2)), straight, over sides and corners; the mesh is scaled, and turned over by it."""
    slope = math.radians(10.0)
    tilt, scene = rd.pose(rpy=(0.0, slope, 0.0)), Scene()
    field = shapes.HeightField(np.zeros((81, 21)), (0.1, 0.1), at=tilt)
    if meshed:
        triangles = trimesh.Trimesh(*field.triangles(), process=False).apply_scale((2.0, -0.5, 1.0))
        scene.world.shapes.append(shapes.Mesh(triangles, scale=(0.5, -2.0, 3.0), at=tilt))
    else:
        scene.world.shapes.append(field)
    lying = isinstance(shape, (shapes.Capsule, shapes.Cylinder))
    at = tilt @ rd.pose((-3.0, 0.0, 0.1), rpy=(math.pi / 2 if lying else 0.0, 0.0, 0.0))
    scene.world.attach(Body("roller", [shape], mass=2.0), joints.free(), at=at)
    own = shape.mass_properties(1.0)
    axis = 2 if lying else 1
    rolling = 9.81 * math.sin(slope) / (1.0 + own.inertia[axis, axis] / own.mass / 0.1**2)
    np.testing.assert_allclose(gained_downhill(scene, tilt, 96), (rolling, 0.0, 0.0), atol=1e-8)


@direct
def test_both_routes_tell_the_same_of_triangles(monkeypatch):
    """Bodies of several shapes, a mesh beside a height field; scenery that comes and goes."""
    rng, scene = np.random.default_rng(4), Scene()
    field = shapes.HeightField(rng.uniform(0.0, 0.1, (21, 21)), (0.1, 0.1))
    hill = trimesh.creation.icosphere(subdivisions=2, radius=0.4)
    hill.vertices[::7] *= 0.9
    more = shapes.Mesh(shapes.to_trimesh(field), at=rd.pose((0.0, 0.0, 0.12)))
    scene.world.shapes.extend([field, shapes.Mesh(hill, scale=(1.5, 1.0, 0.5))])
    kinds = [shapes.Sphere(0.1), shapes.Capsule(0.06, 0.2), shapes.Ellipsoid((0.1, 0.08, 0.05)), shapes.Box((0.1,) * 3)]
    for k in range(8):
        own = [kinds[k % 4], shapes.Sphere(0.07, at=rd.pose((0.1, 0.0, 0.0)))][: 1 + k // 4]
        place = rd.pose((*rng.uniform(-0.7, 0.7, 2), 0.4 + 0.2 * k), rpy=rng.uniform(-3, 3, 3))
        scene.world.attach(Body(f"b{k}", own, mass=1.0), joints.free(), at=place)

    def each(step, shown):
        if step in (60, 100):
            (scene.world.shapes.append if step == 60 else scene.world.shapes.remove)(more)
            shown.update()

    dynamics = scene.compile()
    by_address = courses(scene, dynamics, 150, each=each)
    ordinary(monkeypatch)
    assert courses(scene, dynamics, 150, each=each) == by_address
