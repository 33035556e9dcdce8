"""A ball in a bowl of triangles: every edge that it crosses is an impact, from which nothing is won."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "implicit_midpoint"])
@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize(
    "cells, starts",
    [(80, [0.6]), *(pytest.param(cells, [0.5, 0.55, 0.6, 0.65], marks=pytest.mark.slow) for cells in (40, 80, 160))],
)
def test_a_ball_climbs_no_higher_than_it_was(cells, starts, rate, integrator):
    """No more energy than at the start at any time."""
    for start in starts:
        simulation, mirror = bowl(cells, rate, integrator, start, rd.Material(friction=0.5))
        first = energy(simulation)
        with mirror:
            for _ in range(rate):
                mirror.step(3)
                assert energy(simulation) <= first + 1e-9


@pytest.mark.xfail(
    strict=True,
    reason="up to 0.27 J of 1.8 J come in within 10 s, at 240 steps a second 0.012 J, in steps in which it"
    " bounces off two faces",
)
def test_a_ball_that_bounces_in_it_climbs_no_higher_than_it_was():
    simulation, mirror = bowl(80, 60, "rk4", 0.6, rd.Material(friction=0.0, restitution=1.0))
    first = energy(simulation)
    with mirror:
        for _ in range(200):
            mirror.step(3)
            assert energy(simulation) <= first + 1e-2


def bowl(
    cells: int, rate: int, integrator: str, start: float, material: rd.Material
) -> tuple[rd.Simulation, PyBulletMirror]:
    """A ball in a paraboloid, z = (x^2 + y^2) / 2, of so many cells a side."""
    scene, x = Scene(), np.linspace(-1, 1, cells + 1)
    field = shapes.HeightField(0.5 * (x[:, None] ** 2 + x**2), (2 / cells, 2 / cells), material=material)
    scene.world.shapes.append(field)
    ball = Body("ball", [shapes.Sphere(0.1, material=material)], mass=1.0)
    above = 0.5 * start**2 + 0.1 * np.sqrt(1 + start**2) + 0.01
    scene.world.attach(ball, joints.free(), at=rd.pose((start, 0.05, above)))
    simulation = rd.Simulation(scene.compile(), 1 / rate, integrator)
    return simulation, PyBulletMirror(scene, simulation, gui=False, ground=False)


def energy(simulation: rd.Simulation) -> float:
    """Where velocities lie half a step behind positions, of those half a step later."""
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    later = v + (simulation.position_share - 0.5) * simulation.timestep * d.forward_dynamics(q, v)
    return float(d.kinetic_energy(q, later) + d.potential_energy(q))
