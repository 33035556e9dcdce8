"""Boxes and convex meshes on height fields and meshes: points by what distances are, corner by corner."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from trimesh.triangles import closest_point

import recursive_dyn as rd
from bridge.curved.curved_pairs import POINTS
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import Polytope, box_polytope, gathered_polytopes, polytope_of
from bridge.faceted.facet_search import is_below
from bridge.faceted.facets import Triangulation, gathered_facets, grid_surface, mesh_surface
from bridge.faceted.polytope_on_facets import polytope_on_facets
from scene import shapes

SEEDS = st.integers(0, 2**32 - 1)
MARGIN, NO_TURN = 0.005, np.eye(3)
BOX = box_polytope((0.1, 0.1, 0.1))
ROOF = shapes.HeightField([[-0.5, -0.5], [0.0, 0.0], [-0.5, -0.5]], (1.0, 1.0))
FLAT = shapes.HeightField(np.zeros((41, 41)), (0.05, 0.05))
LEANS = 2e-3  # share of a gap: what lies flat is held at borders along their faces' normals


def met(surface: Triangulation, shape: Polytope, centre, axes=NO_TURN, at=None) -> np.ndarray:
    """Points (n, 7) of a polytope on a surface at a pose: there, the normal out of it, the gap."""
    X, none = np.eye(4) if at is None else at, np.zeros((0, 3))
    places = np.array([X[:3, :3] @ centre + X[:3, 3], X[:3, 3]])
    placed = InWorld(places, np.array([axes @ X[:3, :3].T, X[:3, :3].T]), np.zeros((2, 3)), none, none)
    found, solids = Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64)), gathered_polytopes([BOX, shape])
    facets = gathered_facets([grid_surface(ROOF.heights, ROOF.spacing), surface])  # the second of two
    polytope_on_facets(placed, solids, 1, facets, 1, 0, 1, MARGIN, found)
    return found.rows[: found.size[0]].copy()


def corners_of(field: shapes.HeightField) -> np.ndarray:
    return np.array(shapes.to_trimesh(field).triangles)


def both(field: shapes.HeightField) -> list[Triangulation]:
    """It as a grid, and as a mesh of triangles in any order, wound either way."""
    rng, corners = np.random.default_rng(0), corners_of(field)
    for k in rng.permutation(len(corners))[::2]:
        corners[k] = corners[k, ::-1]
    return [grid_surface(field.heights, field.spacing), mesh_surface(rng.permutation(corners))]


def in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(np.round(rows, 7).T)]


def rough(rng) -> shapes.HeightField:
    """A few steep cells, or flat ones."""
    heights = rng.uniform(0.0, rng.choice([0.0, 0.02, 0.1, 0.2]), (int(rng.integers(3, 9)), int(rng.integers(3, 9))))
    return shapes.HeightField(heights, rng.uniform(0.05, 0.15, 2))


def over(rng, field: shapes.HeightField) -> tuple[Polytope, np.ndarray, np.ndarray]:
    """A box or a hull, its centre and its axes, that is near."""
    sides = (np.array(field.heights.shape) - 1) * field.spacing
    centre = np.array([*(rng.uniform(-0.4, 0.4, 2) * sides), rng.uniform(0.1, 0.35)])
    half = rng.uniform(0.05, 0.15, 3)
    shape = box_polytope(half) if rng.random() < 0.5 else polytope_of(rng.uniform(-1.0, 1.0, (12, 3)) * half)
    return shape, centre, Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()


def between(p, u, q, w) -> np.ndarray:
    """Distances of segments (n) from each other that are nearest within both, else infinite."""
    r, a, e, b = p - q, (u * u).sum(-1), (w * w).sum(-1), (u * w).sum(-1)
    c, f = (u * r).sum(-1), (w * r).sum(-1)
    det = np.where(a * e - b * b > 1e-12 * a * e, a * e - b * b, np.nan)
    s, t = (b * f - c * e) / det, (a * f - b * c) / det
    inside = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    return np.where(inside, np.linalg.norm(r + s[..., None] * u - t[..., None] * w, axis=-1), np.inf)


def distance(corners: np.ndarray, shape: Polytope, centre, axes) -> tuple[float, bool]:
    """How far a polytope is from triangles, by all corners and edges; whether neither a corner nor an edge of it is
    nearest to an edge or a corner, which are told as they overlap."""
    own = centre + shape.corners @ axes
    feet = [closest_point(corners, np.tile(x, (len(corners), 1))) for x in own]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    away = np.array([np.linalg.norm(foot - x, axis=1) for foot, x in zip(feet, own, strict=True)])
    plane = np.array([np.abs(((x - corners[:, 0]) * n).sum(1)) for x in own])
    on_faces = np.where(away - plane < 1e-9, away, np.inf).min()
    p, q = own[shape.edges[:, 0]], own[shape.edges[:, 1]]
    a, b = corners.reshape(-1, 3), np.roll(corners, -1, axis=1).reshape(-1, 3)
    edges = between(p[:, None], (q - p)[:, None], a[None], (b - a)[None]).min()
    hull = np.array([own[loop] for first, last in shape.borders for loop in fan(shape.rim[first:last, 0])])
    onto = np.array([np.linalg.norm(closest_point(hull, np.tile(x, (len(hull), 1))) - x, axis=1) for x in a])
    m = np.cross(hull[:, 1] - hull[:, 0], hull[:, 2] - hull[:, 0])
    m /= np.linalg.norm(m, axis=1)[:, None]
    flat = np.abs(((a[:, None] - hull[None, :, 0]) * m[None]).sum(-1))
    faces = np.where(onto - flat < 1e-9, onto, np.inf).min()
    least = min(on_faces, edges, faces)
    return least, least <= min(away.min(), onto.min()) + 1e-12


def fan(loop: np.ndarray) -> list[np.ndarray]:
    return [loop[[0, k, k + 1]] for k in range(1, len(loop) - 1)]


def overlaps(corners: np.ndarray, shape: Polytope, centre, axes) -> bool:
    """Whether a side of a triangle passes the polytope, or an edge of that a triangle."""
    out = np.einsum("tci,fi->tcf", (corners - centre) @ axes.T, shape.normals) - shape.offsets
    low, high = np.zeros((len(corners), 3)), np.ones((len(corners), 3))
    there = np.roll(out, -1, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = out / (out - there)
    low = np.where(there < out, share, 0.0).max(axis=2, where=~np.isnan(share), initial=0.0)
    high = np.where(there > out, share, 1.0).min(axis=2, where=~np.isnan(share), initial=1.0)
    outside = ((out > 0) & (there > 0)).any(axis=2)
    if (~outside & (low < high)).any():
        return True
    own = centre + shape.corners @ axes
    p, d = own[shape.edges[:, 0]], own[shape.edges[:, 1]] - own[shape.edges[:, 0]]
    u, w = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    m = np.cross(d[:, None], w[None])
    det, s = (m * u).sum(-1), p[:, None] - corners[None, :, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        one, q = (s * m).sum(-1) / det, np.cross(s, u[None])
        other, way = (q * d[:, None]).sum(-1) / det, (q * w).sum(-1) / det
    return bool(((one >= 0) & (other >= 0) & (one + other <= 1) & (way >= 0) & (way <= 1)).any())


def away(corners, x):
    """How far a point is from triangles."""
    return np.linalg.norm(closest_point(corners, np.tile(x, (len(corners), 1))) - x, axis=1).min()


@settings(max_examples=200, deadline=None)
@given(SEEDS)
def test_what_is_near_is_as_near_as_its_nearest_corner_edge_or_face(seed):
    """Of what does not overlap; the point on the surface is on it, and nothing is told to be nearer than it is."""
    rng = np.random.default_rng(seed)
    field = rough(rng)
    shape, centre, axes = over(rng, field)
    corners, own = corners_of(field), centre + shape.corners @ axes
    if overlaps(corners, shape, centre, axes) or any(is_below(gathered_facets(both(field)[:1]), 0, x) for x in own):
        return
    least, between_faces = distance(corners, shape, centre, axes)
    for surface in both(field):
        rows = met(surface, shape, centre, axes)
        for row in rows:
            assert away(corners, row[:3]) < 1e-9
            assert row[6] >= least * (1.0 - LEANS) - 1e-9
        if between_faces and least < 0.9 * MARGIN:
            assert rows[:, 6].min() <= least + 1e-9


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_a_corner_that_sank_in_comes_out_where_the_surface_is_nearest(seed):
    rng = np.random.default_rng(seed)
    field = rough(rng)
    shape, centre, axes = over(rng, field)
    corners, grid = corners_of(field), both(field)[0]
    rows = met(grid, shape, centre, axes)
    if len(rows) == POINTS:
        return
    for x in centre + shape.corners @ axes:
        if is_below(gathered_facets([grid]), 0, x):
            depth = away(corners, x)
            own = np.linalg.norm(rows[:, :3] + rows[:, 6:] * rows[:, 3:6] - x, axis=1) < 1e-9
            assert own.any()
            assert -rows[own, 6].max() <= depth + 1e-9
            assert (rows[own, 6] > -depth - 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_a_surface_at_a_pose_is_touched_as_where_it_is_not(seed):
    rng = np.random.default_rng(seed)
    field = rough(rng)
    shape, centre, axes = over(rng, field)
    X = rd.pose(rng.uniform(-5, 5, 3), rpy=rng.uniform(-3, 3, 3))
    for surface in both(field):
        plain, turned = met(surface, shape, centre, axes), met(surface, shape, centre, axes, X)
        assert len(plain) == len(turned)
        moved = np.column_stack(
            [plain[:, :3] @ X[:3, :3].T + X[:3, 3], plain[:, 3:6] @ X[:3, :3].T, plain[:, 6]]
        )  # fmt: skip
        np.testing.assert_allclose(in_order(turned), in_order(moved), atol=1e-8)


@pytest.mark.parametrize("turn", [0.0, 0.3, math.pi / 4])
@pytest.mark.parametrize("sunk", [-2e-3, 1e-4, 0.03])
@pytest.mark.parametrize("place", [(0.0, 0.0), (0.05, 0.0), (0.025, 0.025), (0.013, 0.021)])
def test_on_what_is_flat_a_box_has_its_four_corners(place, sunk, turn):
    """Over sides, diagonals and corners of triangles; a mesh holds from below just so."""
    axes = Rotation.from_rotvec((0.0, 0.0, turn)).as_matrix().T
    corners = np.array([(x, y) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]) @ axes[:2, :2] + place
    for k, surface in enumerate((*both(FLAT), both(FLAT)[1])):
        side = 1.0 if k < 2 else -1.0
        rows = met(surface, BOX, np.array([*place, side * (0.1 - sunk)]), axes)
        wanted = np.column_stack([corners, np.tile((0.0, 0.0, 0.0, side, -sunk), (4, 1))])
        np.testing.assert_allclose(in_order(rows), in_order(wanted), atol=1e-12)


def test_a_hull_with_more_faces_has_the_corners_that_lie_on_a_flat_surface():
    angles = 2.0 * math.pi * np.arange(6) / 6.0
    ring = 0.1 * np.column_stack([np.cos(angles), np.sin(angles), np.full(6, -0.5)])
    shape = polytope_of(np.vstack([ring, [(0.0, 0.0, 0.1)]]))
    for surface in both(FLAT):
        rows = met(surface, shape, np.array([0.01, 0.02, 0.0499]))
        assert rows[:, 2:] == pytest.approx(np.tile((0.0, 0.0, 0.0, 1.0, -1e-4), (6, 1)), abs=1e-12)


def test_beyond_a_border_a_box_is_held_by_the_border():
    """By a corner of its own, where two of its edges pass the border, and by the corner of the surface."""
    wanted = [(0.85, 0.88), (0.85, 1.0), (1.0, 0.88), (1.0, 1.0)]
    for surface in both(FLAT):
        rows = met(surface, BOX, np.array([0.95, 0.98, 0.0999]))
        assert sorted(map(tuple, np.round(rows[:, :2], 9))) == wanted
        assert rows[:, 2:] == pytest.approx(np.tile((0.0, 0.0, 0.0, 1.0, -1e-4), (4, 1)), abs=1e-12)


def test_a_ridge_is_touched_where_edges_cross_and_a_valley_on_both_sides():
    tilt = np.array([0.5, 0.0, 1.0]) / math.hypot(0.5, 1.0)
    for surface in both(ROOF):
        for lean in (-0.2, 0.0, 0.4):
            axes, n = (
                Rotation.from_rotvec((0.0, lean, 0.0)).as_matrix().T,
                np.array([math.sin(lean), 0, math.cos(lean)]),
            )
            rows = met(surface, BOX, 0.0999 * n + (0.0, 0.02, 0.0), axes)
            np.testing.assert_allclose(in_order(rows)[:, 1], (-0.08, 0.12), atol=1e-12)
            np.testing.assert_allclose(rows[:, [0, 2]], np.zeros((2, 2)), atol=1e-12)
            np.testing.assert_allclose(rows[:, 3:], np.tile((*n, -1e-4), (2, 1)), atol=1e-12)
    for surface in both(shapes.HeightField(-ROOF.heights, ROOF.spacing)):
        rows = met(surface, BOX, np.array([0.0, 0.02, 0.1499]))
        assert sorted(rows[:, 3]) == pytest.approx([-tilt[0], -tilt[0], tilt[0], tilt[0]], abs=1e-12)
        assert rows[:, 6] == pytest.approx(np.full(4, -1e-4 * tilt[2]), abs=1e-12)
        edge = Rotation.from_rotvec((0.0, math.pi / 4, 0.0)).as_matrix().T
        rows = met(surface, BOX, np.array([0.0, 0.02, 0.1 * math.sqrt(2.0) - 1e-4]), edge)
        assert sorted(rows[:, 3]) == pytest.approx([-tilt[0], -tilt[0], tilt[0], tilt[0]], abs=1e-12)


def test_the_top_of_a_pyramid_is_touched_along_the_normal_of_the_face_above():
    heights = np.zeros((5, 5))
    heights[2, 2] = 0.1
    for surface in both(shapes.HeightField(heights, (0.1, 0.1))):
        for lean in (0.0, 0.2):
            axes, n = (
                Rotation.from_rotvec((0.0, lean, 0.0)).as_matrix().T,
                np.array([math.sin(lean), 0, math.cos(lean)]),
            )
            (row,) = met(surface, BOX, (0.0, 0.0, 0.1) + 0.0999 * n + 0.02 * axes[0], axes)
            assert row == pytest.approx([0.0, 0.0, 0.1, *n, -1e-4], abs=1e-12)


def test_where_sides_end_within_others_a_flat_mesh_is_flat():
    wedged = np.array(
        [[(-9, -9, 0), (0.1, -9, 0), (0.1, 9, 0)], [(0.1, -9, 0), (9, 0, 0), (0.1, 0.03, 0)],
         [(0.1, 0.03, 0), (9, 0, 0), (0.1, 9, 0)]]
    )  # fmt: skip
    lean = Rotation.from_rotvec((0.01, 0.02, 0.0)).as_matrix().T
    assert len(met(mesh_surface(np.array(wedged, dtype=float)), BOX, np.array([0.1, 0.03, 0.0999]))) == 4
    rows = met(mesh_surface(np.array(wedged, dtype=float)), BOX, np.array([0.1, 0.03, 0.1]), lean)
    assert rows[:, 3:6] == pytest.approx(np.tile((0.0, 0.0, 1.0), (len(rows), 1)), abs=1e-12)
