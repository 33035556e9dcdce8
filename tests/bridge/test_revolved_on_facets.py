"""Cylinders and tori on height fields and meshes: as near as they are, by normals that meet their axis."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from test_facets import LYING, NO_SOLIDS, NO_TURN, both, met, over, rough

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.curved.distances import CYLINDER, TORUS, distance_to
from bridge.faceted.facet_search import is_below
from bridge.faceted.facets import gathered_facets
from scene import Body, Scene, joints, shapes

SIZES = {CYLINDER: np.array([0.08, 0.06, 0.0]), TORUS: np.array([0.08, 0.03, 0.0])}
PLACED = [(CYLINDER, LYING, 0.08, 2), (CYLINDER, NO_TURN, 0.06, 4), (TORUS, LYING, 0.11, 1), (TORUS, NO_TURN, 0.03, 4)]
SPUN = 4.0  # rad/s, of 86 before; 2.9 at most
SMOOTH = rd.Material(friction=0.0)
ROUNDS = {"cylinder": shapes.Cylinder(0.06, 0.1, material=SMOOTH), "torus": shapes.Torus(0.06, 0.02, material=SMOOTH)}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(list(SIZES)), st.booleans())
def test_they_are_as_near_as_the_nearest_point_of_all_triangles(seed, kind, lying):
    """Of a net of points on them. No normal has a moment about the axis."""
    rng = np.random.default_rng(seed)
    field, size, n = rough(rng), SIZES[kind], np.empty(3)
    axes = LYING if lying else Rotation.random(random_state=seed).as_matrix()
    centre, (corners, surfaces) = over(rng, field), both(field)
    if is_below(gathered_facets(surfaces[:1]), 0, centre):
        return
    net = np.array([(i, j, 30 - i - j) for i in range(31) for j in range(31 - i)]) / 30.0
    seen = (np.einsum("pc,tci->tpi", net, corners).reshape(-1, 3) - centre) @ axes.T
    seen = np.ascontiguousarray(seen[np.linalg.norm(seen, axis=1) < 0.2])
    least = min([distance_to(kind, size, NO_SOLIDS, 0, x, n) for x in seen], default=math.inf)
    for surface in surfaces:
        rows = met(surface, size, centre, axes, kind)
        assert len(rows) or not 0.0 < least < 0.01
        for row in rows:
            away = row[:3] - centre
            assert np.cross(away, row[3:6]) @ axes[2] == pytest.approx(0.0, abs=1e-12)
        if 0.0 < least < 0.01:
            row = rows[rows[:, 6].argmin()]
            assert row[6] <= least + 1e-9
            assert distance_to(kind, size, NO_SOLIDS, 0, axes @ (row[:3] - centre), n) == pytest.approx(
                row[6], abs=1e-9
            )


@pytest.mark.parametrize("place", [(0.0, 0.0), (0.013, 0.02), (0.05, 0.05), (0.1, 0.03)])
def test_where_a_surface_is_flat_they_touch_it_as_a_plane(place):
    """Over corners and sides, too: a line under a barrel, a circle under what stands."""
    flat = shapes.HeightField(np.zeros((9, 9)), (0.1, 0.1))
    for surface in both(flat)[1]:
        for kind, axes, height, count in PLACED:
            rows = met(surface, SIZES[kind], np.array([*place, height + 1e-3]), axes, kind)
            np.testing.assert_allclose(rows[:, 2:], [(0.0, 0.0, 0.0, 1.0, 1e-3)] * count, atol=1e-12)
            assert rows[:, :2].mean(axis=0) == pytest.approx(place, abs=1e-9)


@pytest.mark.parametrize("sunk", [0.05, 0.079, 0.09])
def test_a_cylinder_that_sank_into_the_ground_is_told_how_to_get_out(sunk):
    surface = both(shapes.HeightField(np.zeros((9, 9)), (0.1, 0.1)))[1][0]
    rows = met(surface, SIZES[CYLINDER], np.array([0.03, 0.02, 0.08 - sunk]), LYING, CYLINDER)
    np.testing.assert_allclose(rows[:, 3:], [(0.0, 0.0, 1.0, -sunk)] * 2, atol=1e-9)


def bowl(seed: int, meshed: bool) -> shapes.Shape:
    """Rough by 6 mm, in cells of 60 mm."""
    x = 0.06 * (np.arange(41) - 20)
    heights = 0.6 * (x[:, None] ** 2 + x**2) + 0.006 * np.random.default_rng(seed).normal(size=(41, 41))
    field = shapes.HeightField(heights, (0.06, 0.06), material=SMOOTH)
    return shapes.Mesh(shapes.to_trimesh(field), material=SMOOTH) if meshed else field


def thrown(kind: str, seed: int, meshed: bool, h: float) -> tuple[float, float]:
    """How far energy gets above that of the start in 4 s, as a share, and spin about its own axis changes, rad/s."""
    rng, scene = np.random.default_rng(seed), Scene()
    scene.world.shapes.append(bowl(seed, meshed))
    angle = rng.uniform(0.0, 2.0 * math.pi)
    at = rd.pose((0.5 * math.cos(angle), 0.5 * math.sin(angle), 0.4), rpy=rng.uniform(-3, 3, 3))
    scene.world.attach(Body("round", [ROUNDS[kind]], mass=1.0), joints.free(), at=at)
    sim = rd.Simulation(scene.compile(), h)
    sim.v[:] = rng.normal(size=6)

    def energy() -> float:
        return float(sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q))

    start, most, spins = energy(), -math.inf, []
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        for _ in range(round(4.0 / h)):
            mirror.step()
            most = max(most, energy())
            poses, twists = sim.frames()
            spins.append(twists[0][:3] @ poses[0][:3, 2])
    return (most - start) / start, float(np.ptp(spins))


@pytest.mark.parametrize("kind", ROUNDS)
@pytest.mark.parametrize("meshed", [False, True])
def test_without_friction_nothing_comes_of_nothing(kind, meshed):
    """It spun itself up to 86 rad/s on height fields. What is left is bounded: contacts act where a flight ends, and
    their impulses turn the axis from there on."""
    won, spun = thrown(kind, 4, meshed, 1 / 60)
    assert won < 1e-8
    assert spun < SPUN


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROUNDS)
@pytest.mark.parametrize("meshed", [False, True])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_nor_does_it_from_anywhere(kind, meshed, h):
    for seed in range(30):
        won, spun = thrown(kind, seed, meshed, h)
        assert won < 1e-8
        assert spun < SPUN


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("meshed", [False, True])
def test_a_wheel_goes_straight_over_flat_triangles(h, meshed):
    """14 m at 6 m/s, askew; it met bumps, and was 36 mm off."""
    scene, rough_one, heading = Scene(), rd.Material(friction=0.8), 0.13
    field = shapes.HeightField(np.zeros((81, 41)), (0.25, 0.25), material=rough_one)
    scene.world.shapes.append(shapes.Mesh(shapes.to_trimesh(field), material=rough_one) if meshed else field)
    wheel = shapes.Cylinder(0.3, 0.2, at=rd.pose(rpy=(math.pi / 2, 0.0, 0.0)), material=rough_one)
    at = rd.pose((-8.0, -2.0, 0.3), rpy=(0.0, 0.0, heading))
    scene.world.attach(Body("wheel", [wheel], density=300.0), joints.free(), at=at)
    sim = rd.Simulation(scene.compile(), h)
    sim.v[:] = (0.0, 20.0, 0.0, 6.0, 0.0, 0.0)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(round(2.4 / h))
    way = 14.4 * np.array([math.cos(heading), math.sin(heading), 0.0])
    assert sim.dynamics.poses(sim.q)[0, :3, 3] == pytest.approx(np.array([-8.0, -2.0, 0.3]) + way, abs=1e-4)
