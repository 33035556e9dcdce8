"""Steps of the variational rule in which points turn by much of their speed: in three parts, and what these keep."""

import numpy as np
import pytest

import recursive_dyn as rd
from demos.benchmark.integrators import FAT, SLENDER, energy, links
from recursive_dyn.integrators.turning_parts import BENT, lengths, middle_share
from recursive_dyn.integrators.variational_definition import definition

RULE = "variational_midpoint"


def whipping(h=1 / 100, ball=False):
    """Three links that turn by a fifth of a radian and more a step."""
    start = links(FAT, ball, 3)
    sim = rd.Simulation(start.dynamics, h, RULE)
    sim.q, sim.v = start.q, np.linspace(20.0, -25.0, start.dynamics.nv)
    return sim


@pytest.mark.parametrize("ball", [False, True])
def test_its_loop_takes_the_steps_of_its_definition(ball):
    sim = whipping(ball=ball)
    for _ in range(5):
        q, v = definition(sim.dynamics, sim.q, sim.v, sim.tau, sim.timestep)
        sim.step(1)
        np.testing.assert_allclose(sim.q, q, atol=1e-7)
        np.testing.assert_allclose(sim.v, v, atol=1e-6)
    assert sim.report.steps_halved > 0


def test_time_runs_backwards_through_parts():
    sim = whipping()
    q, v = sim.q.copy(), sim.v.copy()
    sim.step(10)
    halved = sim.report.steps_halved
    sim.v = -sim.v
    sim.step(10)
    assert halved > 2 and sim.report.steps_halved == 2 * halved
    np.testing.assert_allclose(sim.q, q, atol=1e-4)  # what parts are, found from either end, differs by h^2
    np.testing.assert_allclose(-sim.v, v, atol=1e-2)


def test_a_law_sees_the_time_of_every_part():
    """A force that is a formula of time does the same as the same motion of tau found by finer steps."""
    ends = []
    for h in (1 / 100, 1 / 3200):
        sim = whipping(h)
        sim.control = lambda q, v, t: np.array([0.0, 20.0 * np.sin(200.0 * t), 0.0])
        sim.step(round(0.1 / h))
        ends.append(np.concatenate([sim.q, sim.v / 20.0]))
    assert np.abs(ends[0] - ends[1]).max() < 0.05


def test_derivatives_of_steps_in_parts_are_those_of_the_parts():
    sim, e = whipping(), 1e-6
    d, h, tau = sim.dynamics, sim.timestep, np.array([1.0, -2.0, 0.5])

    def end(q, v):
        return np.concatenate(definition(d, q, v, tau, h))

    by_q, by_v, *_ = d.derivatives("step", sim.q, sim.v, tau, h, integrator=RULE)
    for k, unit in enumerate(np.eye(3)):
        for J, ways in ((by_q, (unit, 0 * unit)), (by_v, (0 * unit, unit))):
            ahead, back = (end(sim.q + s * e * ways[0], sim.v + s * e * ways[1]) for s in (1, -1))
            found = (ahead - back) / (2 * e)
            np.testing.assert_allclose(J[:, k], found, atol=0.02 * np.abs(found).max())  # parts' lengths move, too


def test_parts_are_shorter_the_more_points_turn_and_continuously_so():
    """A point on a circle of radius 1 under no gravity, by angles of a step up to a radian."""
    angles = np.linspace(0.0, 1.0, 10001)
    speeds = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    ends = np.broadcast_to([1.0, 0.0, 0.0], speeds.shape), speeds
    shares = middle_share(ends, np.ones((len(angles), 1)), np.maximum(angles, 0.2))
    assert (shares[2.0 * np.tan(angles / 2.0) < BENT] == 1.0).all()
    assert (np.diff(shares) <= 0.0).all() and np.diff(shares).min() > -0.021
    assert shares[-1] == 1.0 / 3.0 and sum(lengths(shares[-1], 0.3)) == pytest.approx(0.3, abs=1e-16)


@pytest.mark.slow
def test_whips_leave_the_energy_where_it_was():
    """Ten slender links: 2e-5 as a rule after 10^5 steps, some hundred of which go in parts."""
    start = links(SLENDER, False, 10)
    for k in range(2):
        q = start.q.copy()
        q[0] += 1e-9 * k
        sim = rd.Simulation(start.dynamics, 1e-3, RULE)
        sim.q, left = q, []
        first = energy(sim)
        above = first - float(start.dynamics.potential_energy(start.rest))
        sim.step(90_000)
        for _ in range(400):
            sim.step(25)
            left.append((energy(sim) - first) / above)
        assert abs(np.median(left)) < 2.5e-4
        assert 0 < sim.report.steps_halved < 2000
