"""Constraints that an edit puts in where they do not hold: the next step closes the gap, and the report tells it."""

import numpy as np
import pytest
from chart_cases import energy

import recursive_dyn as rd
from scene import Body, Scene, joints

G = 9.81


def pinned(rule: str) -> tuple[Scene, rd.Simulation]:
    """A ball of 2 kg that hangs at a pin by its centre."""
    scene = Scene()
    ball = scene.world.attach(Body("ball", mass=2.0, inertia=0.01 * np.eye(3)), joints.free())
    scene.pin(ball, scene.world, name="first")
    sim = rd.Simulation(scene.compile(), 1 / 240, rule)
    sim.step(10)
    return scene, sim


@pytest.mark.parametrize("rule", ["linearly_implicit_rk4", "semi_implicit_euler", "rk4", "variational_midpoint"])
@pytest.mark.parametrize("far, row", [((0, 0, 1.0), 2), ((0, 0, -0.1), 2), ((0.5, 0, 0.25), 0)])
def test_a_pin_that_is_put_in_elsewhere_is_told_with_what_it_lifts(rule, far, row):
    scene, sim = pinned(rule)
    before = energy(sim)
    scene.constraints.remove(scene.constraints[0])
    scene.pin(scene["ball"], scene.world, point_b=far, name="second")
    sim.update(scene.compile())
    told = sim.report
    assert (told.gaps_closed, told.gap_constraint) == (1, f"second[{row}]")
    assert told.widest_gap == pytest.approx(max(abs(x) for x in far), abs=1e-12)
    sim.step()
    lifted = energy(sim) - before
    if far[0] == 0.0:  # or it turns a little, too
        assert lifted == pytest.approx(2.0 * G * far[2], abs=1e-9)
    assert sim.report.unexplained_energy == pytest.approx(abs(lifted), rel=1e-3)
    told = sim.report
    sim.step(10)
    assert sim.report.unexplained_energy == pytest.approx(told.unexplained_energy, abs=1e-9)


def test_what_is_put_back_where_it_was_leaves_no_gap():
    scene, sim = pinned("linearly_implicit_rk4")
    scene.constraints.remove(scene.constraints[0])
    scene.pin(scene["ball"], scene.world, name="again")
    sim.update(scene.compile())
    sim.step(10)
    assert sim.report.gaps_closed == 0 and sim.report.unexplained_energy == 0.0
    assert np.abs(sim.q[:3]).max() < 1e-9


def test_the_widest_of_several_gaps_stays_told():
    scene, sim = pinned("linearly_implicit_rk4")
    for k, far in enumerate((0.3, 0.2)):
        scene.constraints.remove(scene.constraints[0])
        scene.pin(scene["ball"], scene.world, point_b=(0, (-1) ** k * far, 0), name=f"pin {k}")
        sim.update(scene.compile())
        sim.step(5)
    assert sim.report.gaps_closed == 2
    assert (sim.report.widest_gap, sim.report.gap_constraint) == (pytest.approx(0.5, abs=1e-4), "pin 1[1]")
