"""Constraints that an edit, or who wrote q, leaves where they do not hold: the next step closes the gap, and the report
tells it."""

import copy

import numpy as np
import pytest
from chart_cases import energy

import recursive_dyn as rd
from recursive_dyn.dynamics.projection import settled
from recursive_dyn.integrators.registry import INTEGRATORS
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


def four_bar(rule: str) -> rd.Simulation:
    """Ground and coupler of 1 m, a crank of 0.5 m and a rocker of 0.3 m, which swing."""
    scene = Scene()
    crank, rocker, coupler = (
        Body(name, mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.eye(3) / 50)
        for name in ("crank", "rocker", "coupler")
    )
    crank = scene.world.attach(crank, joints.revolute("y"))
    rocker = scene.world.attach(rocker, joints.revolute("y"), at=rd.pose((1, 0, 0)))
    coupler = crank.attach(coupler, joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
    scene.pin(coupler, rocker, point_a=(1, 0, 0), point_b=(0, 0, -0.3), axis=(0, 1, 0), name="loop")
    sim = rd.Simulation(scene.compile(), 1 / 240, rule)
    sim.step(24)
    return sim


@pytest.mark.parametrize("rule", INTEGRATORS)
@pytest.mark.parametrize("off", [1e-4, 0.01, 0.1])
def test_a_loop_that_who_wrote_q_left_open_is_closed_before_anything_moves(rule, off):
    """By 0.1 rad rules made up to 14 J of it; it goes on as from where the loop is closed, and is told, with its J."""
    sim = four_bar(rule)
    assert sim.report.gaps_closed == 0
    sim.q[0] += off
    open_energy, twin = energy(sim), copy.deepcopy(sim)
    twin.q = settled(sim.dynamics, sim.q, sim.v)[0]
    given, closed_energy = abs(energy(twin) - open_energy), energy(twin)
    twin.q, twin.v = settled(sim.dynamics, sim.q, sim.v)
    lost = closed_energy - energy(twin)  # as rates of the closed loop are met
    sim.step(5)
    twin.step(5)
    np.testing.assert_allclose(sim.q, twin.q, atol=1e-9)
    assert twin.report.gaps_closed == 0
    told = sim.report
    assert told.gaps_closed == 1 and told.gap_constraint.startswith("loop")
    assert 0.2 * off < told.widest_gap < off
    assert told.unexplained_energy - twin.report.unexplained_energy == pytest.approx(given, abs=1e-9)
    assert told.impulse_loss == pytest.approx(lost, abs=1e-9)


def test_the_widest_of_several_gaps_stays_told():
    scene, sim = pinned("linearly_implicit_rk4")
    for k, far in enumerate((0.3, 0.2)):
        scene.constraints.remove(scene.constraints[0])
        scene.pin(scene["ball"], scene.world, point_b=(0, (-1) ** k * far, 0), name=f"pin {k}")
        sim.update(scene.compile())
        sim.step(5)
    assert sim.report.gaps_closed == 2
    assert (sim.report.widest_gap, sim.report.gap_constraint) == (pytest.approx(0.5, abs=1e-4), "pin 1[1]")


def apart(gap: float, inertia: float) -> tuple[Scene, rd.Simulation]:
    """Two balls of 1 and 3 kg, 1 m apart, that turn about the first at 1.5 rad/s and drift."""
    scene, sizes = Scene(gravity=(0, 0, 0)), np.diag([2.0, 3.0, 5.0]) * inertia
    a = scene.world.attach(Body("a", mass=1.0, inertia=sizes), joints.free())
    b = scene.world.attach(Body("b", mass=3.0, inertia=sizes), joints.free(), at=rd.pose((1, 0, 0)))
    sim = rd.Simulation(scene.compile(), 1 / 240, "variational_midpoint")
    sim.v = [0, 0, 1.5, 0.2, 0, 0, 0, 0, 1.5, 0.2, 1.5, 0]
    scene.pin(a, b, (0.5 * (1.0 - gap), gap, 0), (-0.5 * (1.0 - gap), 0, 0))
    return scene, sim


def momenta_of_two(sim: rd.Simulation, inertia: float) -> np.ndarray:
    """Centre of mass (3,), linear and angular momentum (3,) each."""
    X, V, m = sim.dynamics.poses(sim.q), sim.dynamics.velocities(sim.q, sim.v), np.array([1.0, 3.0])
    R = X[:, :3, :3]
    spin = R @ (np.diag([2.0, 3.0, 5.0]) * inertia) @ np.swapaxes(R, 1, 2) @ V[:, :3, None]
    L = (np.cross(X[:, :3, 3], m[:, None] * V[:, 3:]) + spin[:, :, 0]).sum(axis=0)
    return np.concatenate([m @ X[:, :3, 3] / 4.0, m @ V[:, 3:], L])


def test_what_floats_keeps_its_momenta_where_a_gap_is_closed():
    """0.05 m, which changed the momentum of 4.6 N s by 0.07."""
    scene, sim = apart(0.05, 0.01)
    before = momenta_of_two(sim, 0.01)
    sim.update(scene.compile())
    sim.step()
    expected = before + np.concatenate([before[3:6] / 4.0 / 240, np.zeros(6)])
    np.testing.assert_allclose(momenta_of_two(sim, 0.01), expected, atol=1e-10)
    assert sim.report.gaps_closed == 1 and sim.report.widest_gap == pytest.approx(0.05, abs=1e-3)


def test_what_is_pulled_in_from_far_away_does_not_spin_up():
    """Nearly points: with all of its spin the pair would have a thousand times its energy. It keeps the rest."""
    scene, sim = apart(1.0, 1e-5)
    before, energy = momenta_of_two(sim, 1e-5), float(sim.dynamics.kinetic_energy(sim.q, sim.v))
    sim.update(scene.compile())
    sim.step()
    after = momenta_of_two(sim, 1e-5)
    np.testing.assert_allclose(after[3:6], before[3:6], atol=1e-10)
    assert float(sim.dynamics.kinetic_energy(sim.q, sim.v)) < 2.0 * energy
