"""Barrels that lie along each other, nearly: they come to rest, and are as near as they are."""

import math

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.curved.curved_pairs import POINTS, meet_curved
from bridge.curved.distances import CYLINDER, ROUND
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import gathered_polytopes
from scene import Body, Scene, joints, shapes

RADIUS, LENGTH, LYING, ROUGH = 0.1, 1.0, math.pi / 2, rd.Material(friction=0.5)
# J, of 5 kg; share of the energy: one log of 20 is moved by 0.4 mJ once, others by less than 1e-6
STILL, RISES = 1e-9, 4e-5
KINDS = {"cylinder": shapes.Cylinder, "capsule": shapes.Capsule}
NO_SOLIDS, NONE = gathered_polytopes(()), np.full(2, -1)


def log(kind: str, at: np.ndarray | None = None) -> shapes.Shape:
    return KINDS[kind](RADIUS, LENGTH, at=at, material=ROUGH)


def followed(scene: Scene, h: float, seconds: float, pushed: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Kinetic and whole energy after each step."""
    sim = rd.Simulation(scene.compile(), h)
    sim.v[:] = pushed * np.random.default_rng(85).normal(size=len(sim.v))
    moving, whole = [], []
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        for _ in range(round(seconds / h)):
            mirror.step()
            moving.append(float(sim.dynamics.kinetic_energy(sim.q, sim.v)))
            whole.append(moving[-1] + float(sim.dynamics.potential_energy(sim.q)))
    return np.array(moving), np.array(whole)


@pytest.mark.filterwarnings("ignore:bodies overlap")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("turned", [(0.0, 0.0), (1e-3, 0.0), (0.01, -0.01), (0.03, 0.0), (0.1, 0.0)])
def test_a_log_on_two_others_comes_to_rest(kind, h, turned):
    scene = Scene()
    for x, angle in zip((-0.105, 0.105), turned, strict=True):
        scene.world.shapes.append(log(kind, rd.pose((x, 0.0, RADIUS), rpy=(LYING, 0.0, angle))))
    at = rd.pose((0.0, 0.02, 0.2724), rpy=(LYING, 0.0, 0.5 * sum(turned) + 0.003))
    scene.world.attach(Body("log", [log(kind)], mass=5.0), joints.free(), at=at)
    moving, whole = followed(scene, h, 3.0)
    second = round(1.0 / h)
    assert moving[-second:].max() < STILL
    assert np.diff(whole[second:]).max() < RISES * whole[-1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_heap_of_logs_between_walls_comes_to_rest(kind, h):
    """27, thrown together; one that nothing presses may turn on about its axis, as one did with 6e-5 J."""
    scene, rng = Scene(), np.random.default_rng(85)
    scene.world.shapes.append(shapes.Plane(material=ROUGH))
    for x in (-0.62, 0.62):
        scene.world.shapes.append(shapes.Box((0.1, 2.0, 1.2), at=rd.pose((x, 0.0, 0.6)), material=ROUGH))
    for row in range(6):
        for k in range(5 - row % 2):
            at = rd.pose(
                (-0.42 + 0.21 * k + 0.105 * (row % 2), 0.02 * rng.normal(), 0.11 + 0.19 * row), rpy=(LYING, 0, 0)
            )
            scene.world.attach(Body(f"log{row}{k}", [log(kind)], mass=5.0), joints.free(), at=at)
    moving, whole = followed(scene, h, 6.0, pushed=0.3)
    second = round(1.0 / h)
    assert moving[-second:].max() < 1e-4
    assert np.diff(whole[-second:]).max() < RISES * whole[-1]


def met(kind: int, away: np.ndarray, angle: float, tilt: float) -> np.ndarray:
    """Points (n, 7) of a barrel, turned against another one along y at the origin, and tilted along it."""
    c, s, along = math.cos(angle), math.sin(angle), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    way = np.array([s, c * math.cos(tilt), math.sin(tilt)])
    way /= np.linalg.norm(way)
    across = np.cross(way, [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    axes, sizes = np.array([np.cross(across, way), across, way]), np.array([[RADIUS, 0.5 * LENGTH, 0.0]] * 2)
    placed = InWorld(np.array([away, np.zeros(3)]), np.array([axes, along]), sizes, np.zeros((0, 3)), np.zeros((0, 3)))
    found = Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
    meet_curved(np.array([kind, kind]), NONE, placed, NO_SOLIDS, 0, 1, 5e-3, found)
    return found.rows[: found.size[0]].copy()


@pytest.mark.parametrize("kind", [ROUND, CYLINDER])
@pytest.mark.parametrize("angle", [0.0, 1e-6, 1e-3, 0.01, 0.05, 0.09])
@pytest.mark.parametrize("tilt", [0.0, 1e-7, 1e-4])
def test_the_nearest_of_several_points_is_as_near_as_barrels_are(kind, angle, tilt):
    """Each has the gap that there is where it is, with its normal through both axes."""
    away = np.array([0.0, 0.02, 2 * RADIUS])
    rows, t = met(kind, away, angle, tilt), np.linspace(-0.5, 0.5, 200_001)
    way = np.array([math.sin(angle), math.cos(angle) * math.cos(tilt), math.sin(tilt)])
    core = away + t[:, None] * way / np.linalg.norm(way)
    core[:, 1] -= np.clip(core[:, 1], -0.5, 0.5)
    assert rows[:, 6].min() == pytest.approx(np.linalg.norm(core, axis=1).min() - 2 * RADIUS, abs=2e-9)
    assert len(rows) >= 2
    assert np.ptp(rows[:, 1]) > 0.9 or angle == 0.09  # where ends are farther away than points are told
    for row in rows:
        axis = row[:3] - RADIUS * row[3:6]
        assert axis[[0, 2]] == pytest.approx(0.0, abs=1e-9)
        other = row[:3] + (RADIUS + row[6]) * row[3:6] - away
        assert np.linalg.norm(np.cross(other, way)) < 1e-6


@pytest.mark.parametrize("kind", [ROUND, CYLINDER])
def test_barrels_that_cross_touch_once(kind):
    assert all(len(met(kind, np.array([0.0, 0.0, 2 * RADIUS]), angle, 1e-3)) == 1 for angle in (0.11, 0.5, 1.5))
