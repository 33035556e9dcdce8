"""Dry friction of the joint that bodies float on: the closed forms of sliding and of spinning, and its power."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints

G, H = 9.81, 1 / 120
METHODS = ("recursive", pytest.param("velocity_constraints", marks=pytest.mark.slow))


def rubbed(friction: list[float], gravity: float = 0.0, arms: int = 0, method: str = "auto") -> rd.Simulation:
    """Two bodies on free joints, of which the first is rubbed."""
    scene = Scene(gravity=(0, 0, -gravity))
    for name, own in (("rubbed", friction), ("free", [0.0] * 6)):
        body = scene.world.attach(Body(name, mass=2.0, inertia=np.diag([0.1, 0.11, 0.12])), joints.free(friction=own))
        for k in range(arms):
            arm = Body(f"{name}_{k}", mass=0.5, inertia=np.diag([0.01, 0.02, 0.02]), center_of_mass=(0.1, 0, 0))
            body.attach(arm, joints.revolute("yz"[k]), at=rd.pose((0.2, 0.1 * k, 0)))
    return rd.Simulation(scene.compile(method=method), timestep=H)


@pytest.mark.parametrize("method", METHODS)
def test_what_spins_and_slides_is_slower_by_the_closed_form(method):
    """w' = -t / I, v' = -f / m."""
    simulation = rubbed([0.02, 0.01, 0.01, 0.5, 1.0, 4.0], method=method)
    simulation.v[[0, 3, 6, 9]] = 0.5, 1.0, 0.5, 1.0
    simulation.step(60)
    expected = [0.5 - 0.02 / 0.1 * 0.5, 0, 0, 1.0 - 0.5 / 2.0 * 0.5, 0, 0, 0.5, 0, 0, 1.0, 0, 0]
    assert simulation.v == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_what_falls_is_held_back_and_what_stopped_stays(method):
    """g - f / m; from 0.2 m/s 1 N stops 2 kg after 0.4 s, and 25 N hold against gravity from the start."""
    simulation = rubbed([0.0, 0.0, 0.0, 0.0, 1.0, 4.0], G, method=method)
    simulation.v[4] = -0.2
    simulation.step(60)
    assert simulation.v[:6] == pytest.approx([0, 0, 0, 0, 0, -(G - 4.0 / 2.0) * 0.5], abs=1e-9)
    assert simulation.v[6:] == pytest.approx([0, 0, 0, 0, 0, -G * 0.5], abs=1e-9)
    held = rubbed([0.0, 0.0, 0.0, 0.0, 0.0, 25.0], G, method=method)
    held.step(60)
    assert held.v[:6] == pytest.approx(np.zeros(6), abs=1e-9) and held.q[2] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_with_limbs_it_takes_the_energy_that_friction_takes():
    """E' = -sum of f |v| over the rubbed coordinates, to the order of the trapezoids."""
    friction = np.array([0.05, 0.1, 0.02, 0.5, 1.0, 0.3])
    simulation = rubbed(friction.tolist(), arms=2)
    dynamics = simulation.dynamics
    simulation.v = np.random.default_rng(3).normal(size=dynamics.nv)
    start = dynamics.kinetic_energy(simulation.q, simulation.v)
    lost, power = 0.0, friction @ np.abs(simulation.v[:6])
    for _ in range(60):
        simulation.step()
        before, power = power, friction @ np.abs(simulation.v[:6])
        lost += 0.5 * H * (before + power)
    assert start - dynamics.kinetic_energy(simulation.q, simulation.v) == pytest.approx(lost, rel=2e-3)
