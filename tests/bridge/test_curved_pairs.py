"""Curved shapes on convex meshes and on each other: by what a distance is, and rolling."""

import math

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from rollers import gained_downhill
from scipy.spatial.transform import Rotation

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.bodies.true_shapes import convex_parts
from bridge.curved.curved_pairs import POINTS, meet_curved
from bridge.curved.distances import BOX, CYLINDER, ELLIPSOID, HULL, ROUND, TORUS
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import box_polytope, gathered_polytopes, polytope_of
from scene import Body, Scene, joints, shapes

STONE = np.random.default_rng(5).normal(size=(40, 3))
STONE /= 2.0 * np.linalg.norm(STONE, axis=1, keepdims=True)
SOLIDS = gathered_polytopes([polytope_of(STONE), box_polytope((0.5, 0.5, 0.5))])
SIZES = {
    ROUND: (0.1, 0.2, 0.0), CYLINDER: (0.15, 0.25, 0.0), ELLIPSOID: (0.1, 0.2, 0.3), TORUS: (0.3, 0.1, 0.0),
    HULL: (0.0, 0.0, 0.0), BOX: (0.5, 0.5, 0.5),
}  # fmt: skip
CONVEX = [
    (ROUND, HULL), (CYLINDER, HULL), (ELLIPSOID, HULL), (ELLIPSOID, ELLIPSOID), (CYLINDER, ELLIPSOID),
    (CYLINDER, CYLINDER), (ROUND, CYLINDER), (ROUND, ELLIPSOID), (ROUND, ROUND),
]  # fmt: skip
SLOPE, LYING = math.radians(10.0), math.pi / 2


def met(kinds, centre, axes, other_axes, margin=0.2, radius=None):
    """Points of a shape, or a ball of this radius, at a centre and another at the origin: on that one, the normal out
    of it, the gap."""
    known = np.array([{HULL: 0, BOX: 1}.get(kind, -1) for kind in kinds])
    sizes = np.array([SIZES[kind] for kind in kinds])
    sizes[0] = sizes[0] if radius is None else (radius, 0.0, 0.0)
    placed = InWorld(
        np.array([centre, np.zeros(3)]), np.array([axes, other_axes]), sizes, np.zeros((0, 3)), np.zeros((0, 3))
    )
    found = Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
    meet_curved(np.array(kinds), known, placed, SOLIDS, 0, 1, margin, found)
    return found.rows[: found.size[0]].copy()


def reach(kind, axes, n):
    """How far a convex shape about the origin reaches along directions n (m, 3)."""
    m, (one, two, _) = n @ axes.T, SIZES[kind]
    if kind == HULL:
        return (m @ STONE.T).max(axis=1)
    if kind == ELLIPSOID:
        return np.linalg.norm(m * SIZES[kind], axis=1)
    return two * np.abs(m[:, 2]) + one * (np.hypot(m[:, 0], m[:, 1]) if kind == CYLINDER else 1.0)


placements = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(placements, st.sampled_from(CONVEX), st.sampled_from([-0.01, -1e-4, 0.0, 1e-4, 0.05]), st.booleans())
def test_convex_shapes_are_as_far_apart_as_in_the_direction_in_which_they_are_farthest(seed, kinds, gap, turned):
    rng, kinds = np.random.default_rng(seed), kinds[::-1] if turned else kinds
    axes, others = Rotation.random(2, random_state=seed).as_matrix()
    away, n = rng.normal(size=3), rng.normal(size=(3000, 3))
    away /= np.linalg.norm(away)
    n /= np.linalg.norm(n, axis=1, keepdims=True)

    def apart(far, n):
        return n @ (far * away) - reach(kinds[0], axes, -n) - reach(kinds[1], others, n)

    low, high = 0.0, 2.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if apart(middle, n).max() > gap else (middle, high)
    rows = met(kinds, high * away, axes, others)
    row = rows[rows[:, 6].argmin()] if ROUND in kinds else rows[0]
    near = row[3:6] + 1e-5 * n
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    assert row[6] >= apart(high, n).max() - 1e-10
    assert apart(high, row[None, 3:6])[0] == pytest.approx(row[6], abs=1e-9)
    assert apart(high, near).max() <= row[6] + 1e-9


@settings(max_examples=40, deadline=None)
@given(placements, st.sampled_from([HULL, CYLINDER, ELLIPSOID, TORUS]))
def test_a_torus_is_as_near_as_the_nearest_ball_along_its_circle(seed, other):
    """As long as its circle is outside."""
    rng = np.random.default_rng(seed)
    axes, others = Rotation.random(2, random_state=seed).as_matrix()
    centre, t = rng.uniform(-0.6, 0.6, 3), np.linspace(0.0, 2 * math.pi, 181)
    balls = centre + 0.3 * (np.cos(t)[:, None] * axes[0] + np.sin(t)[:, None] * axes[1])
    least = min(met((ROUND, other), ball, axes, others, margin=1.0, radius=0.1)[0, 6] for ball in balls)
    if -0.09 < least < 0.19:
        assert least - 0.01 <= met((TORUS, other), centre, axes, others)[:, 6].min() <= least + 1e-9


@settings(max_examples=40, deadline=None)
@given(placements, st.sampled_from([CYLINDER, HULL]), st.floats(0.0, 0.29), st.sampled_from([0.0, 1e-14, 1e-11, 1e-8]))
def test_a_cylinder_stands_on_another_or_on_a_slab_however_both_are_turned(seed, other, aside, tilt):
    """Flat to rounding, or all but flat."""
    turn = Rotation.random(random_state=seed).as_matrix()
    axes = (Rotation.from_rotvec([tilt, 0.0, 0.0]).as_matrix() @ np.eye(3)).T @ turn
    half = 0.25 if other == CYLINDER else 0.5
    rows = met((CYLINDER, BOX if other == HULL else other), (aside, 0.0, 0.25 + half) @ turn, axes, turn, margin=0.01)
    within = {CYLINDER: 0.15, HULL: 1.0}[other]
    assert len(rows) >= 3
    np.testing.assert_allclose(rows[:, 6], 0.0, atol=0.3 * tilt + 1e-12)
    np.testing.assert_allclose(rows[:, 3:6] @ turn.T, [(0.0, 0.0, 1.0)] * len(rows), atol=tilt + 1e-12)
    assert (np.linalg.norm((rows[:, :3] @ turn.T)[:, :2], axis=1) < within + 1e-6).all()


@pytest.mark.parametrize(
    ("shape", "turn", "height", "axis"),
    [
        (shapes.Sphere(0.1), 0.0, 0.1, 0), (shapes.Capsule(0.1, 0.3), LYING, 0.1, 2),
        (shapes.Cylinder(0.1, 0.3), LYING, 0.1, 2), (shapes.Ellipsoid((0.1, 0.2, 0.1)), 0.0, 0.1, 1),
        (shapes.Torus(0.3, 0.1), LYING, 0.4, 2),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, shapes.Shape) else "",
)  # fmt: skip
def test_what_is_round_rolls_down_a_mesh_as_on_paper(shape, turn, height, axis):
    tilt, scene = rd.pose(rpy=(0.0, SLOPE, 0.0)), Scene()
    slab = trimesh.creation.box((40, 20, 1), transform=rd.pose((0, 0, -0.5)))
    scene.world.shapes.append(shapes.Mesh(slab, at=tilt))
    at = tilt @ rd.pose((-3.0, 0.013, height), rpy=(turn, 0.0, 0.0))
    scene.world.attach(Body("roller", [shape], mass=2.0), joints.free(), at=at)
    own = shape.mass_properties(1.0)
    gained = gained_downhill(scene, tilt, 48)
    rolling = 9.81 * math.sin(SLOPE) / (1.0 + own.inertia[axis, axis] / own.mass / height**2)
    np.testing.assert_allclose(gained, (rolling, 0.0, 0.0), atol=1e-8)


def test_a_ball_within_a_hollow_mesh_stays_within():
    """Scenery's triangles hold from both sides."""
    scene, room = Scene(), trimesh.creation.box((1.0, 1.0, 1.0))
    scene.world.shapes.append(shapes.Mesh(room))
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free())
    sim = rd.Simulation(scene.compile(), 1 / 240)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(240)
    assert sim.dynamics.poses(sim.q)[0, 2, 3] == pytest.approx(-0.4, abs=1e-3)


def test_which_meshes_are_known():
    """A stone is one polytope, a box has six faces, dents and open surfaces are left to Bullet's triangles."""
    (box,) = convex_parts(shapes.Mesh(trimesh.creation.box((1, 2, 3))), moves=False)
    assert (len(box.corners), len(box.edges), len(box.normals)) == (8, 12, 6)
    dented = trimesh.creation.icosphere(subdivisions=1)
    dented.vertices[0] *= 0.5
    assert convex_parts(shapes.Mesh(dented), moves=False) is None
    opened = trimesh.creation.box((1, 2, 3))
    opened.update_faces(np.arange(12) > 0)
    assert convex_parts(shapes.Mesh(opened), moves=False) is None
    (stone,) = convex_parts(shapes.Mesh(trimesh.Trimesh(STONE).convex_hull), moves=True)
    assert len(stone.corners) - len(stone.edges) + len(stone.normals) == 2
