"""A ball in a bowl of triangles: every edge that it crosses is an impact, from which nothing is won."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from trimesh.triangles import closest_point

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.contact.contact_record import Contact
from scene import Body, Scene, joints, shapes

RATES = pytest.mark.parametrize("rate", [60, 240])
GRIDS = pytest.mark.parametrize(
    "cells, starts",
    [(80, [0.6]), *(pytest.param(cells, [0.5, 0.55, 0.6, 0.65], marks=pytest.mark.slow) for cells in (40, 80, 160))],
)
SEEDS = pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 20), marks=pytest.mark.slow)])
ROUGH = 0.03
RUBBING = rd.Material(friction=0.5)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "implicit_midpoint"])
@RATES
@GRIDS
def test_a_ball_climbs_no_higher_than_it_was(cells, starts, rate, integrator):
    """No more energy than at the start at any time."""
    for start in starts:
        simulation, mirror = bowl(cells, rate, integrator, start, RUBBING)
        first = energy(simulation)
        with mirror:
            for _ in range(rate):
                mirror.step(3)
                assert energy(simulation) <= first + 1e-9


@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "implicit_midpoint", "semi_implicit_euler"])
@RATES
@GRIDS
def test_a_ball_that_bounces_in_it_climbs_as_high_as_it_was(cells, starts, rate, integrator):
    """For ten seconds, off one face and off several within a step."""
    for start in starts:
        simulation, mirror = bowl(cells, rate, integrator, start, rd.Material(friction=0.0, restitution=1.0))
        first = energy(simulation)
        with mirror:
            for _ in range(10 * rate):
                mirror.step()
                assert energy(simulation) == pytest.approx(first, abs=2e-3)


@pytest.mark.parametrize("friction, restitution", [(0.0, 0.0), (0.5, 0.0), (0.5, 1.0)])
@RATES
@SEEDS
def test_a_ball_in_a_rough_bowl_wins_nothing(seeds, rate, friction, restitution):
    """Of steps between steep triangles, whatever edges and corners it hits; on a height field and a mesh by turns."""
    for seed in seeds:
        material = rd.Material(friction=friction, restitution=restitution)
        simulation, mirror = bowl(
            40, rate, "implicit_midpoint", 0.5, material, meshed=seed % 2 == 1, lift=0.02, seed=seed
        )
        first = energy(simulation)
        with mirror:
            for _ in range(rate):
                mirror.step(3)
                assert energy(simulation) <= first + 1e-9


@SEEDS
def test_a_ball_that_bounces_in_a_rough_bowl_keeps_its_energy(seeds):
    """But for edges that it passes within a step."""
    for seed in seeds:
        material = rd.Material(friction=0.0, restitution=1.0)
        simulation, mirror = bowl(80, 240, "semi_implicit_euler", 0.5, material, meshed=True, lift=0.02, seed=seed)
        first = energy(simulation)
        with mirror:
            for _ in range(960):
                mirror.step()
                assert energy(simulation) == pytest.approx(first, abs=2e-3)


@RATES
@SEEDS
def test_a_ball_in_a_rough_bowl_is_as_near_as_the_nearest_triangle(seeds, rate):
    """After every step no triangle is within it, beyond the slop, and where something presses one is there."""
    for seed in seeds:
        simulation, mirror = bowl(
            40, rate, "implicit_midpoint", 0.5, RUBBING, meshed=seed % 2 == 1, lift=0.02, seed=seed
        )
        corners = np.array(shapes.to_trimesh(mirror.scene.world.shapes[0]).triangles)
        with mirror:
            for _ in range(rate):
                mirror.step()
                middle = np.tile(simulation.dynamics.poses(simulation.q)[0, :3, 3], (len(corners), 1))
                gap = np.linalg.norm(closest_point(corners, middle) - middle, axis=1).min() - 0.1
                assert gap > -2.1e-5
                if any(np.dot(contact.impulse, contact.normal) > 0.0 for contact in mirror.contacts):
                    assert gap < 0.5 * 9.81 / rate**2


@pytest.mark.parametrize("restitution", [0.0, 1.0])
@pytest.mark.parametrize("meshed", [False, True])
def test_nothing_spins_a_ball_without_friction(meshed, restitution):
    """Bullet remembers points on triangles that it left, whose normals miss its middle."""
    material = rd.Material(friction=0.0, restitution=restitution)
    simulation, mirror = bowl(80, 240, "rk4", 0.55, material, meshed=meshed)
    with mirror:
        mirror.step(1200)
        assert np.abs(simulation.v[:3]).max() < 1e-12


@pytest.mark.parametrize("radii", [pytest.param((0.1, 0.1, 0.1), marks=pytest.mark.slow), (0.1, 0.07, 0.05)])
def test_what_is_smooth_touches_with_its_normal(radii):
    """Where the gradient of its own equation is, as it rolls through the bowl and turns."""
    seen, squares = 0, np.square(radii)
    for own, normal, contact in touches(shapes.Ellipsoid(radii)):
        assert own @ (own / squares) == pytest.approx(1.0, abs=1e-12)
        assert -normal == pytest.approx(own / squares / np.linalg.norm(own / squares), abs=1e-12)
        apart = np.subtract(contact.point_on_a, contact.point_on_b)
        assert apart == pytest.approx(contact.distance * np.array(contact.normal), abs=1e-12)
        seen += 1
    assert seen > 200


def test_each_ball_of_a_body_touches_with_its_own_surface():
    """A dumbbell."""
    sizes, seen = ((0.1, 0.12), (0.07, -0.12)), [0, 0]
    for own, normal, _ in touches(*(shapes.Sphere(r, at=rd.pose((x, 0, 0))) for r, x in sizes), lift=0.1):
        off = [np.abs(own + r * normal - (x, 0, 0)).max() for r, x in sizes]
        assert min(off) < 1e-12
        seen[int(np.argmin(off))] += 1
    assert min(seen) > 20


def test_a_capsule_touches_it_a_radius_from_its_core():
    """With its normal, as it rolls to and fro."""
    seen = 0
    for own, normal, _ in touches(shapes.Capsule(0.1, 0.2), lift=0.11):
        core = own + 0.1 * normal
        assert core == pytest.approx([0, 0, np.clip(core[2], -0.1, 0.1)], abs=1e-12)
        seen += 1
    assert seen > 200


@pytest.mark.parametrize("slope, speed", [(0.1, 3.5), (0.5, 3.5), (0.5, 5.0), (1.0, 3.5)])
def test_a_ball_that_slides_over_a_ridge_is_neither_spun_nor_lifted(slope, speed):
    """Of the face beyond Bullet tells its normal as soon as the ridge is near."""
    x, material = np.linspace(-1, 1, 41), rd.Material(friction=0.0)
    scene, ridge = Scene(), np.repeat(-slope * np.abs(x)[:, None], 41, axis=1)
    scene.world.shapes.append(shapes.HeightField(ridge, (0.05, 0.05), material=material))
    along, up = np.array([(1, 0, slope), (-slope, 0, 1)]) / np.hypot(1, slope)
    ball = Body("ball", [shapes.Sphere(0.1, material=material)], mass=1.0)
    at = rd.pose(tuple(np.array([-0.5, 0.013, -0.5 * slope]) + 0.1 * up))
    scene.world.attach(ball, joints.free(), at=at)
    simulation = rd.Simulation(scene.compile(), 1 / 240)
    simulation.v = [0, 0, 0, *(speed * along)]
    first, before = energy(simulation), simulation.v
    with PyBulletMirror(scene, simulation, gui=False, ground=False) as mirror:
        for _ in range(70):
            mirror.step()
            assert energy(simulation) <= first + 1e-3
            assert np.abs(simulation.v[[0, 1, 2, 4]] - before[[0, 1, 2, 4]]).max() < 1e-9


def touches(*given: shapes.Shape, lift: float = 0.01) -> Iterator[tuple[np.ndarray, np.ndarray, Contact]]:
    """Contacts of a body in the bowl, for a second: its own point and the normal, in its frame, and the contact."""
    simulation, mirror = bowl(160, 240, "rk4", 0.55, RUBBING, shape=[*given], lift=lift)
    with mirror:
        for _ in range(240):
            mirror.step()
            mirror.sync()  # contacts of a step are where its flight ended
            X = simulation.dynamics.poses(simulation.q)[0]
            for contact in mirror.contacts:
                yield X[:3, :3].T @ (np.array(contact.point_on_a) - X[:3, 3]), X[:3, :3].T @ contact.normal, contact


def bowl(
    cells: int, rate: int, integrator: str, start: float, material: rd.Material, *, meshed: bool = False,
    shape: Sequence[shapes.Shape] = (shapes.Sphere(0.1),), lift: float = 0.01, seed: int | None = None,
) -> tuple[rd.Simulation, PyBulletMirror]:  # fmt: skip
    """A ball, or a body of other shapes, in a paraboloid, z = (x^2 + y^2) / 2, of so many cells a side; one with a seed
    has corners up to ROUGH m higher."""
    scene, x = Scene(), np.linspace(-1, 1, cells + 1)
    heights = 0.5 * (x[:, None] ** 2 + x**2)
    if seed is not None:
        heights += np.random.default_rng(seed).uniform(0.0, ROUGH, heights.shape)
        lift += ROUGH
    surface = mesh(x, heights, material) if meshed else shapes.HeightField(heights, (2 / cells,) * 2, material=material)
    scene.world.shapes.append(surface)
    ball = Body("ball", [replace(one, material=material) for one in shape], mass=1.0)
    above = 0.5 * start**2 + 0.1 * np.sqrt(1 + start**2) + lift
    scene.world.attach(ball, joints.free(), at=rd.pose((start, 0.05, above)))
    simulation = rd.Simulation(scene.compile(), 1 / rate, integrator)
    return simulation, PyBulletMirror(scene, simulation, gui=False, ground=False)


def mesh(x: np.ndarray, heights: np.ndarray, material: rd.Material) -> shapes.Mesh:
    """The same surface as triangles."""
    n = len(x)
    corners = np.stack([*np.meshgrid(x, x, indexing="ij"), heights], axis=-1).reshape(-1, 3)
    first = (n * np.arange(n - 1)[:, None] + np.arange(n - 1)).ravel()
    faces = np.concatenate([first[:, None] + (0, n, 1), first[:, None] + (1, n, n + 1)])
    return shapes.Mesh(trimesh.Trimesh(corners, faces, process=False), material=material)


def energy(simulation: rd.Simulation) -> float:
    """Where velocities lie half a step behind positions, of those half a step later."""
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    later = v + (simulation.position_share - 0.5) * simulation.timestep * d.forward_dynamics(q, v)
    return float(d.kinetic_energy(q, later) + d.potential_energy(q))
