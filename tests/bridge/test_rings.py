"""Where rings touch: every place where a circle is nearer to something than beside it, against looking everywhere."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bridge.curved.curved_pairs import POINTS, meet_curved
from bridge.curved.distances import BOX, CYLINDER, ELLIPSOID, ROUND, TORUS, distance_to
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import box_polytope, gathered_polytopes

MAJOR, MINOR, MARGIN = 0.1, 0.015, 5e-3
SIZES = {
    TORUS: (MAJOR, MINOR, 0.0), ROUND: (0.03, 0.1, 0.0), CYLINDER: (0.05, 0.08, 0.0), ELLIPSOID: (0.05, 0.08, 0.15),
    BOX: (0.05, 0.04, 0.1),
}  # fmt: skip
SOLIDS = gathered_polytopes([box_polytope(SIZES[BOX])])
NAMES = {"capsule": ROUND, "cylinder": CYLINDER, "ellipsoid": ELLIPSOID, "box": BOX}


def met(kind, centre, axes, size=None):
    """Points of a ring and a shape about the origin: on that, the normal out of it, the gap."""
    sizes = np.array([(MAJOR, MINOR, 0.0), SIZES[kind] if size is None else size])
    placed = InWorld(np.array([centre, np.zeros(3)]), np.array([axes, np.eye(3)]), sizes, *np.zeros((2, 0, 3)))
    found = Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
    meet_curved(np.array([TORUS, kind]), np.array([-1, 0]), placed, SOLIDS, 0, 1, MARGIN, found)
    return found.rows[: found.size[0]].copy()


def circle(centre, axes, count):
    t = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
    return centre + MAJOR * (np.cos(t)[:, None] * axes[0] + np.sin(t)[:, None] * axes[1])


def from_ring(x, major=MAJOR):
    """Distances of points from a circle about the z axis."""
    return np.hypot(np.hypot(x[:, 0], x[:, 1]) - major, x[:, 2])


def least_places(gaps):
    """Numbers of those nearer than both beside them, and near enough to be told."""
    return np.flatnonzero((gaps < np.roll(gaps, 1) - 1e-12) & (gaps <= np.roll(gaps, -1)) & (gaps < MARGIN - 1e-3))


def check_told(rows, x, gaps):
    """Every place that is nearest is told, as near as it is; how many there are."""
    places = least_places(gaps)
    balls = rows[:, :3] + rows[:, 3:6] * (rows[:, 6:] + MINOR)
    for k in places:
        away = np.linalg.norm(balls - x[k], axis=1)
        assert away.min() < 1e-3
        assert rows[away.argmin(), 6] == pytest.approx(gaps[k], abs=5e-5)
    return len(places)


@pytest.mark.parametrize("seed", range(4))
def test_two_rings_touch_wherever_their_circles_are_nearest(seed):
    """However they lie, and of all sizes."""
    rng, several = np.random.default_rng(seed), 0
    for _ in range(300):
        axes, major = Rotation.random(random_state=rng).as_matrix(), rng.choice([0.07, MAJOR, 0.15])
        centre = rng.normal(size=3)
        centre *= rng.uniform(0.02, 0.25) / np.linalg.norm(centre)
        x = circle(centre, axes, 1800)
        gaps = from_ring(x, major) - 2 * MINOR
        if gaps.min() > -0.02:
            several += check_told(met(TORUS, centre, axes, (major, MINOR, 0.0)), x, gaps) > 1
    assert several > 10


def hooked(rng):
    """Centre and axes of a ring that hangs in one about the z axis, their planes 15 to 65 degrees apart."""
    tilt, turn, centre = np.radians(rng.uniform(15, 65)), rng.uniform(0.0, 2 * math.pi), 0.25 * rng.normal(size=3)
    axes = Rotation.from_rotvec([0.0, 0.0, turn]).as_matrix().T @ Rotation.from_rotvec([tilt, 0.0, 0.0]).as_matrix().T
    centre[0] += 1.0
    return centre * rng.uniform(0.15, 0.18) / np.linalg.norm(centre), axes


def test_hooked_rings_touch_at_both_places_where_their_planes_are_near():
    """These come out of one at about 45 degrees, so that one is hardly nearer than what is between them; what lies
    between contacts is nowhere much deeper than they are."""
    rng, several, looked = np.random.default_rng(5), 0, 0
    while looked < 300:
        centre, axes = hooked(rng)
        x = circle(centre, axes, 1800)
        gaps = from_ring(x) - 2 * MINOR
        if -0.004 < gaps.min() < 0.001:
            looked += 1
            several += check_told(met(TORUS, centre, axes), x, gaps) > 1
    assert several > 10


@pytest.mark.parametrize("name", NAMES)
def test_a_ring_touches_a_solid_wherever_its_circle_is_nearest(name):
    rng, kind, looked, several, n = np.random.default_rng(7), NAMES[name], 0, 0, np.empty(3)
    size = np.array(SIZES[kind])
    while looked < 40:
        axes, centre = Rotation.random(random_state=rng).as_matrix(), 0.08 * rng.normal(size=3)
        few = [distance_to(kind, size, SOLIDS, 0, x, n) - MINOR for x in circle(centre, axes, 24)]
        if -0.012 < min(few) < 0.004:
            x = circle(centre, axes, 720)
            gaps = np.array([distance_to(kind, size, SOLIDS, 0, p, n) for p in x]) - MINOR
            if gaps.min() > -0.012:
                looked += 1
                several += check_told(met(kind, centre, axes), x, gaps) > 1
    assert several > 0


@pytest.mark.parametrize("turn", [0.0, 0.1, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("aside", [0.0, 1e-9, 1e-4, 2e-3])
def test_a_ball_in_a_ring_is_held_all_around(turn, aside):
    """By balls of the ring that stay where they are on it, with their own gaps, and by the nearest."""
    axes = Rotation.from_rotvec([0.0, 0.0, turn]).as_matrix()
    height = math.sqrt((0.13 + MINOR) ** 2 - MAJOR**2)
    rows = met(ROUND, (aside, 0.0, -height), axes, (0.13, 0.0, 0.0))
    ways = np.sort(np.arctan2(rows[:, 1], rows[:, 0]))
    assert 4 <= len(rows) <= 5
    assert np.diff([*ways, ways[0] + 2 * math.pi]).max() < math.radians(100)
    balls = rows[:, :3] + rows[:, 3:6] * (rows[:, 6:] + MINOR)
    np.testing.assert_allclose(rows[:, 6], np.linalg.norm(balls, axis=1) - 0.13 - MINOR, atol=1e-12)
    assert rows[:, 6].min() == pytest.approx(math.hypot(MAJOR - aside, height) - 0.13 - MINOR, abs=1e-9)


def test_contacts_of_hooked_rings_have_no_moment_about_their_axes():
    """Those beside the nearest ones too: none spins a ring about its own axis without friction."""
    rng, looked, beside = np.random.default_rng(9), 0, 0
    while looked < 200:
        centre, axes = hooked(rng)
        gaps = from_ring(circle(centre, axes, 360)) - 2 * MINOR
        if -0.004 < gaps.min() < 0.001:
            looked += 1
            for row in met(TORUS, centre, axes):
                point, n = row[:3], row[3:6]
                crossing = np.linalg.norm(np.cross(np.cross([0.0, 0.0, 1.0], point), np.cross(axes[2], point - centre)))
                if crossing > 0.5 * MAJOR**2:
                    beside += 1
                    assert abs(np.cross(point, n)[2]) < 1e-9
                    assert abs(np.cross(point - centre, n) @ axes[2]) < 1e-9
    assert beside > 100
