"""Curved shapes on boxes, against closed forms of rolling and against the definition of a distance."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.curved.curved_pairs import POINTS, meet_curved
from bridge.curved.distances import BOX, CYLINDER, ELLIPSOID, ROUND, TORUS
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import box_polytope, gathered_polytopes
from scene import Body, Scene, joints, shapes

SLOPE, LYING = math.radians(10.0), math.pi / 2
ROLLERS = {  # each with how it lies to roll, its height and the axis that it rolls about
    "sphere": (shapes.Sphere(0.1), 0.0, 0.1, 0),
    "capsule": (shapes.Capsule(0.1, 0.3), LYING, 0.1, 2),
    "cylinder": (shapes.Cylinder(0.1, 0.3), LYING, 0.1, 2),
    "ellipsoid": (shapes.Ellipsoid((0.1, 0.2, 0.1)), 0.0, 0.1, 1),
    "torus": (shapes.Torus(0.3, 0.1), LYING, 0.4, 2),
}


def on_incline(shape, turn, height, friction=0.5, integrator="semi_implicit_euler"):
    """A simulation of a shape on a box that slopes along x, and the directions down it, across it and out of it."""
    material, tilt = rd.Material(friction=friction), rd.pose(rpy=(0.0, SLOPE, 0.0))
    scene = Scene()
    scene.world.shapes.append(shapes.Box((40, 20, 1), at=tilt @ rd.pose((0, 0, -0.5)), material=material))
    own = type(shape)(**{name: getattr(shape, name) for name in shape.measures}, material=material)
    at = tilt @ rd.pose((-3.0, 0.013, height), rpy=(turn, 0.0, 0.0))
    scene.world.attach(Body("roller", [own], mass=2.0), joints.free(), at=at)
    return scene, rd.Simulation(scene.compile(), 1 / 240, integrator=integrator), tilt[:3, :3].T


def velocity(sim):
    return sim.dynamics.velocities(sim.q, sim.v)[0, 3:]


def energy(sim):
    return float(sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q))


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
@pytest.mark.parametrize("name", ROLLERS)
def test_what_is_round_rolls_down_an_inclined_box_as_on_paper(name, integrator):
    """g sin(a) / (1 + I / (m r^2)), straight, and without leaving the slope."""
    shape, turn, height, axis = ROLLERS[name]
    own = shape.mass_properties(1.0)
    expected = 9.81 * math.sin(SLOPE) / (1.0 + own.inertia[axis, axis] / own.mass / height**2)
    scene, sim, axes = on_incline(shape, turn, height, integrator=integrator)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(24)
        start = axes @ velocity(sim)
        mirror.step(96)
        down, across, out = axes @ velocity(sim)
    assert (down - start[0]) / (96 / 240) == pytest.approx(expected, rel=1e-9)
    assert abs(across) < 1e-9
    assert abs(out) < 1e-8
    assert len(sim.contacts) == (2 if name in ("capsule", "cylinder") else 1)


@pytest.mark.parametrize("name", ROLLERS)
def test_what_slides_without_friction_keeps_its_energy(name):
    shape, turn, height, _ = ROLLERS[name]
    scene, sim, axes = on_incline(shape, turn, height, friction=0.0, integrator="rk4")
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(24)  # until it has settled, half the slop deep
        before, start = energy(sim), float((axes @ velocity(sim))[0])
        mirror.step(120)
    down, across, _ = axes @ velocity(sim)
    assert down - start == pytest.approx(9.81 * math.sin(SLOPE) / 2, rel=1e-9)
    assert energy(sim) == pytest.approx(before, abs=1e-8)
    assert abs(across) < 1e-9


# Where shapes touch, by what a distance is


BOX_HALF = (0.5, 0.4, 0.3)
SOLIDS = gathered_polytopes([box_polytope(BOX_HALF)])
SIZES = {ROUND: (0.1, 0.2, 0.0), CYLINDER: (0.15, 0.25, 0.0), ELLIPSOID: (0.1, 0.2, 0.3), TORUS: (0.3, 0.1, 0.0)}
CORNERS = np.array([*itertools.product(*((-h, h) for h in BOX_HALF))])


def met(kind, centre, axes, margin=0.2, exchanged=False):
    """Points of a shape and the box about the origin, as rows of point on the box, normal out of it, gap."""
    order = [1, 0] if exchanged else [0, 1]
    kinds, hulls = np.array([kind, BOX])[order], np.array([-1, 0])[order]
    centres, both = np.array([centre, np.zeros(3)])[order], np.array([axes, np.eye(3)])[order]
    sizes = np.array([SIZES[kind], BOX_HALF])[order]
    placed = InWorld(centres, both, sizes, np.zeros((0, 3)), np.zeros((0, 3)))
    found = Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
    meet_curved(kinds, hulls, placed, SOLIDS, 0, 1, margin, found)
    return found.rows[: found.size[0]].copy()


def lowest(kind, axes, n):
    """How far a convex shape reaches against directions n (m, 3) from its centre."""
    m, (one, two, _) = n @ axes.T, SIZES[kind]
    if kind == ELLIPSOID:
        return np.linalg.norm(m * SIZES[kind], axis=1)
    if kind == CYLINDER:
        return two * np.abs(m[:, 2]) + one * np.hypot(m[:, 0], m[:, 1])
    return two * np.abs(m[:, 2]) + one


def clearance(kind, centre, axes, n):
    """The gap between shape and box along directions n (m, 3)."""
    return n @ centre - lowest(kind, axes, n) - np.abs(n) @ BOX_HALF


placements = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(placements, st.sampled_from([ROUND, CYLINDER, ELLIPSOID]), st.sampled_from([-0.01, -1e-4, 0.0, 1e-4, 0.05]))
def test_no_direction_parts_two_shapes_more_than_the_normal_that_is_told(seed, kind, gap):
    """Convex shapes are as far apart as in the direction in which they are farthest apart."""
    rng = np.random.default_rng(seed)
    axes, away, n = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3), rng.normal(size=(4000, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    low, high = 0.0, 5.0 / np.linalg.norm(away)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if clearance(kind, middle * away, axes, n).max() > gap else (middle, high)
    centre = high * away
    rows = met(kind, centre, axes)
    row = rows[rows[:, 6].argmin()] if kind == ROUND else rows[0]
    told, best = row[3:6], clearance(kind, centre, axes, n).max()
    assert row[6] >= best - 1e-12
    assert clearance(kind, centre, axes, told[None])[0] == pytest.approx(row[6], abs=1e-10)
    near = told + 1e-5 * n
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    assert clearance(kind, centre, axes, near).max() <= row[6] + 1e-10
    assert (np.abs(row[:3]) <= np.array(BOX_HALF) + 1e-8).all()


@settings(max_examples=40, deadline=None)
@given(placements, st.sampled_from([*SIZES]))
def test_it_does_not_matter_which_shape_comes_first(seed, kind):
    rng = np.random.default_rng(seed)
    axes, centre = Rotation.random(random_state=seed).as_matrix(), rng.uniform(-0.8, 0.8, 3)
    rows, others = met(kind, centre, axes), met(kind, centre, axes, exchanged=True)
    others[:, :3] += others[:, 6:] * others[:, 3:6]
    others[:, 3:6] *= -1.0
    np.testing.assert_allclose(rows, others, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(placements)
def test_a_torus_is_as_near_as_the_nearest_ball_along_its_circle(seed):
    rng = np.random.default_rng(seed)
    axes, centre = Rotation.random(random_state=seed).as_matrix(), rng.uniform(-1.0, 1.0, 3)
    t = np.linspace(0.0, 2 * math.pi, 20001)
    x = centre + 0.3 * (np.cos(t)[:, None] * axes[0] + np.sin(t)[:, None] * axes[1])
    outside = np.maximum(np.abs(x) - BOX_HALF, 0.0)
    inside = np.minimum((np.abs(x) - BOX_HALF).max(axis=1), 0.0)
    least = (np.linalg.norm(outside, axis=1) + inside).min() - 0.1
    rows = met(TORUS, centre, axes)
    if least < 0.2:
        assert least - 1e-4 <= rows[:, 6].min() <= least + 1e-12  # between samples it may be nearer
    else:
        assert not len(rows)


@settings(max_examples=8, deadline=None)
@given(placements, st.sampled_from([*SIZES]), st.floats(-1.0, 1.0))
def test_gaps_do_not_jump_where_a_shape_passes_over_an_edge_or_a_corner(seed, kind, aside):
    """Drawn over the box 5 mm deep, by 2 mm each time: the nearest gap changes by no more."""
    axes, step, last = Rotation.random(random_state=seed).as_matrix(), 2e-3, None
    far = lowest(kind, axes, np.array([(0, 0, 1.0)]))[0] if kind != TORUS else 0.1 + 0.3 * np.hypot(*axes[:2, 2])
    way = np.array([1.0, aside, 0.0]) / math.hypot(1.0, aside)
    for k in range(550):
        rows = met(kind, k * step * way + (0.0, 0.0, BOX_HALF[2] + far - 5e-3), axes, margin=0.05)
        gap = rows[:, 6].min() if len(rows) else 0.05
        assert last is None or abs(gap - last) <= step * (1.0 + 1e-6)
        last = gap
    assert last == 0.05


def test_a_torus_that_lies_half_over_an_edge_carries_at_the_edge():
    rows = met(TORUS, np.array([0.5, 0.0, 0.4]), np.eye(3), margin=0.01)
    np.testing.assert_allclose(rows[:, 6], 0.0, atol=1e-12)
    np.testing.assert_allclose(rows[:, 3:6], [(0, 0, 1)] * len(rows), atol=1e-12)
    on_edge = rows[np.abs(rows[:, 0] - 0.5) < 1e-9, 1]
    assert sorted(on_edge) == pytest.approx([-0.3, 0.3])
    assert rows[:, 0].min() == pytest.approx(0.2)


def test_a_cylinder_lies_along_a_line_and_stands_on_a_circle():
    lying = np.array([(1.0, 0, 0), (0, 0, -1.0), (0, 1.0, 0)])
    rows = met(CYLINDER, np.array([0.1, 0.3, 0.45]), lying, margin=0.01)
    assert sorted(rows[:, 1]) == pytest.approx([0.05, 0.4])  # from its end to the box's side
    np.testing.assert_allclose(rows[:, 6], 0.0, atol=1e-12)
    standing = met(CYLINDER, np.array([0.1, 0.0, 0.55]), np.eye(3), margin=0.01)
    reach = np.linalg.norm(standing[:, :2] - (0.1, 0.0), axis=1)
    assert (np.abs(reach - 0.15) < 1e-9).sum() == 4
    np.testing.assert_allclose(standing[:, 6], 0.0, atol=1e-12)
