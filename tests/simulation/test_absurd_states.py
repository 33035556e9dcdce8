"""Steps that make energy of nothing are told before their numbers overflow."""

import numpy as np
import pytest
from trees import random_scene

import recursive_dyn as rd
from recursive_dyn.integrators.registry import INTEGRATORS


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("speed", [1e9, 1e100])
def test_a_speed_that_no_step_follows_is_told_at_once(integrator, speed):
    """By the name of a coordinate, at the first step; the state stays."""
    d = random_scene(3, 4, kinds=("revolute",)).dynamics()
    sim = rd.Simulation(d, 1 / 240, integrator)
    sim.q = d.random(0)
    sim.v[1] = speed
    before = sim.q.copy()
    with pytest.raises(rd.StateError, match=r"t = 0 s: .*coordinate '.*state is kept"):
        sim.step()
    np.testing.assert_array_equal(sim.q, before)
    assert sim.v[1] == speed


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_great_speeds_that_are_real_go_on(integrator):
    """A wheel about its axis of symmetry, and what a great force made fast."""
    d = random_scene(3, 1, kinds=("prismatic",)).dynamics()
    sim = rd.Simulation(d, 1 / 240, integrator)
    sim.v[:] = 1e9
    sim.step(3)
    assert sim.v[0] == pytest.approx(1e9)
    sim.v[:], sim.tau[:] = 0.0, 1e12
    sim.step(3)
    assert np.isfinite(sim.v).all() and abs(sim.v[0]) > 1e6


def _push(sim):
    sim.apply_force(sim.dynamics.bodies[-1], (1.0, 2.0, -1.0))


def _ask(sim):
    sim.control = lambda q, v, t: np.full(len(v), 0.3)


@pytest.mark.parametrize("drive", [_push, _ask])
def test_forces_at_the_stages_explain_no_more_than_they_give(drive):
    """One that pushes by a few newtons is told as one that nothing acts on."""
    d = random_scene(3, 4, kinds=("revolute",)).dynamics()
    sim = rd.Simulation(d, 1 / 240)
    sim.q = d.random(0)
    sim.v[1] = 1e9
    drive(sim)
    with pytest.raises(rd.StateError, match=r"t = 0 s: .*coordinate '.*state is kept"):
        sim.step()


def test_great_forces_at_the_stages_are_real():
    """1e12 N on a slide and 1e12 by a control: v = F t / m, up to rounding."""
    d = random_scene(3, 1, kinds=("prismatic",)).dynamics()
    ends = []
    for drive in (
        lambda sim: sim.apply_force(d.bodies[-1], d.velocities(sim.q, [1.0])[-1, 3:] * 1e12),
        lambda sim: setattr(sim, "control", lambda q, v, t: np.array([1e12])),
    ):
        sim = rd.Simulation(d, 1 / 240)
        drive(sim)
        sim.step(1)
        ends.append(sim.v[0])
    assert ends[0] > 1e6
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)
