"""Boxes that spin and bounce, e = 1, in a room without gravity: how long their energy lasts."""

from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import INTEGRATORS, energy

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

ELASTIC = rd.Material(friction=0.0, restitution=1.0)
BOX, HALF = shapes.Box((0.3, 0.2, 0.25)), 1.0  # half the width of the room, m


def gas(
    count: int, seed: int, h: float, integrator: str, shape: shapes.Shape = BOX, gravity: float = 0.0, spin: float = 3.0
) -> tuple[rd.Simulation, PyBulletMirror]:
    """Some boxes, or others, in a room, which turn with some 3 rad/s, or as much as ``spin``."""
    rng, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, -gravity))
    for axis, side in np.ndindex(3, 2):
        sizes, place = np.full(3, 2 * HALF + 0.4), np.zeros(3)
        sizes[axis], place[axis] = 0.2, (2 * side - 1) * (HALF + 0.1)
        scene.world.shapes.append(shapes.Box(tuple(sizes), at=rd.pose(tuple(place)), material=ELASTIC))
    for k in range(count):
        cell = np.array([k & 1, (k >> 1) & 1, k >> 2]) - 0.5
        pose = rd.pose(tuple(cell), rpy=tuple(rng.uniform(-1, 1, 3)))
        scene.world.attach(Body(f"b{k}", [replace(shape, material=ELASTIC)], mass=1.0), joints.free(), at=pose)
    simulation = rd.Simulation(scene.compile(), h, integrator)
    simulation.contact.restitution_threshold = 0.0
    simulation.v = rng.normal(size=6 * count) * np.tile([spin, spin, spin, 1.5, 1.5, 1.5], count)
    return simulation, PyBulletMirror(scene, simulation, gui=False, ground=False)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    "count, seconds", [(1, 5), pytest.param(8, 30, marks=pytest.mark.slow)], ids=["one box", "eight boxes"]
)
@pytest.mark.parametrize("seed", range(2))
def test_energy_stays(count, seconds, integrator, seed):
    """Though no bounce is found where it begins, and axes of inertia turn between that and the step's end."""
    simulation, mirror = gas(count, seed, 1 / 240, integrator)
    start = energy(simulation)
    with mirror:
        for _ in range(10 * seconds):
            mirror.step(24)
            assert energy(simulation) == pytest.approx(start, rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["implicit_midpoint", "linearly_implicit_rk4"])
@pytest.mark.parametrize("spin", [10.0, 20.0])
def test_energy_of_what_spins_fast_stays(spin, integrator):
    """It won 4 % in 30 s by the implicit midpoint rule, in flight."""
    simulation, mirror = gas(8, 0, 1 / 240, integrator, spin=spin)
    start = energy(simulation)
    with mirror:
        for _ in range(300):
            mirror.step(24)
            assert energy(simulation) == pytest.approx(start, rel=5e-3)


@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize(
    "shape",
    [
        BOX,
        shapes.Sphere(0.15),
        shapes.Capsule(0.1, 0.2),
        shapes.Cylinder(0.12, 0.2),
        shapes.Ellipsoid((0.1, 0.15, 0.2)),
    ],
    ids=["boxes", "balls", "capsules", "cylinders", "ellipsoids"],
)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 3))])
def test_energy_stays_under_gravity(shape, rate, seed):
    """Off several places within a step, one after the other, and beside others. (0.17 of some 40 J came in at once.)"""
    simulation, mirror = gas(4, seed, 1 / rate, "linearly_implicit_rk4", shape, 9.81)
    start = energy(simulation)
    with mirror:
        for _ in range(5 * rate):
            mirror.step()
            assert energy(simulation) == pytest.approx(start, abs=0.02)
