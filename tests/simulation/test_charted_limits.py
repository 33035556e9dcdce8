"""Limits, springs and what drives them, of joints of several charts: the same whatever chart is in force."""

import numpy as np
import pytest
from chart_cases import INERTIA, bead, euler

import recursive_dyn as rd
from recursive_dyn.contact.settings import Settings
from recursive_dyn.dynamics.turn_rows import turn_gaps
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from scene import Body, Scene, joints

SLOP = Settings().slop
LOCKED = joints.TurnLimits(swing=(0.7, 0.5), twist=(-0.5, 1.9), center=(0, 1.3, 0))  # about the gimbal lock of "xyz"
ORDERS = ("xyz", "zxz", "yzx")


def hung(joint, gravity=(-9.81, 0, 0)) -> Scene:
    scene = Scene(gravity=gravity)
    bob = Body("bob", mass=1.5, center_of_mass=(0, 0.1, -0.4), inertia=np.diag([0.02, 0.03, 0.01]))
    scene.world.attach(bob, joint)
    return scene


def energy(sim):
    d, q, v = sim.dynamics, sim.q, sim.v
    return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))


def lowest(sim):
    return min(gap for _, gap, _ in turn_gaps(sim.dynamics, sim.q).values())


def moving(joint, h, omega=(3.0, -6.0, 5.0)):
    """Near the gimbal lock, turning by omega in child axes."""
    sim = rd.Simulation(hung(joint).compile(), h)
    R = np.asarray(rd.pose(rpy=(0.1, 0.9, 0.0)))[:3, :3]
    if sim.dynamics.nq == 4:
        sim.q, sim.v = matrix_to_quaternion(R), omega
    else:
        sim.place("bob", pose=np.block([[R, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]))
        sim.v = np.linalg.solve(sim.dynamics.jacobian(sim.q, "bob")[:3], R @ np.array(omega))
    return sim


@pytest.mark.parametrize("h", [pytest.param(1 / 240, marks=pytest.mark.slow), 1 / 60])
def test_charts_stay_within_cones_and_twists(h):
    """Thrown about where charts change: no end is passed, and no energy won but by the rule where nothing is met."""
    sim = moving(joints.charts(*map(joints.euler, ORDERS), limits=LOCKED), h)
    energies, charts, pushed = [energy(sim)], set(), set()
    for _ in range(round(1.5 / h)):
        sim.step()
        energies.append(energy(sim))
        charts.add(sim.charts["bob"])
        pushed |= {name for name, impulse in sim.coordinate_impulses.items() if impulse}
        assert lowest(sim) > -SLOP - 0.2 * (8.0 * h) ** 2
    assert len(charts) > 1 and "swing limit of bob.angle" in pushed and len(pushed) == 3
    assert (np.array(energies) - np.minimum.accumulate(energies)).max() < (1e-3 if h < 0.01 else 0.05)


@pytest.mark.slow
def test_charts_move_as_a_ball_does():
    """At first order in the step, by which impulses move positions along coordinates or along rotations."""
    missed = []
    for h in (1 / 240, 1 / 960):
        ball, charted = moving(joints.ball(limits=LOCKED), h), moving(euler(*ORDERS).adjusted(limits=LOCKED), h)
        far = 0.0
        for _ in range(round(0.5 / h)):
            ball.step()
            charted.step()
            far = max(far, np.abs(ball.dynamics.poses(ball.q) - charted.dynamics.poses(charted.q)).max())
        missed.append(far)
    assert missed[1] < 0.5 * missed[0] < 0.02


def test_a_bead_stays_within_a_cap_of_its_sphere():
    """Its frame's z axis is the normal: from near the pole, which one chart lacks, over it and down to the edge."""
    scene = Scene(gravity=(1.0, 0, -9.81))
    joint = bead("z", "x").adjusted(limits=joints.TurnLimits(swing=0.6))
    scene.world.attach(Body("bead", mass=1.0, inertia=INERTIA * 1e-3), joint)
    sim = rd.Simulation(scene.compile(), 1 / 60)
    sim.q = [np.pi, np.pi / 2 - 0.02, 0.0]
    sim.v = [0.0, 0.5, 0.0]
    charts = set()
    for _ in range(180):
        sim.step()
        charts.add(sim.charts["bead"])
        place = sim.dynamics.poses(sim.q)[0, :3, 3]
        assert np.arccos(min(1.0, place[2])) < 0.6 + 1e-3
    assert 1 in charts  # chart 0 is singular at the pole
    np.testing.assert_allclose(place, [np.sin(0.6), 0.0, np.cos(0.6)], atol=1e-3)
    pull = 9.81 * np.sin(0.6) + 1.0 * np.cos(0.6)
    assert sim.coordinate_impulses["swing limit of bead.u"] * 60 == pytest.approx(pull, rel=1e-3)


def test_springs_between_bodies_keep_energy_through_switches():
    scene = hung(euler(*ORDERS), gravity=(0, 0, 0))
    scene.bushing(scene.world, scene["bob"], 0.0, 3.0)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.v = (1.0, 6.0, 0.5)
    start, switches, last = energy(sim), 0, sim.charts
    for _ in range(960):
        sim.step()
        switches, last = switches + (sim.charts != last), sim.charts
    assert switches >= 2
    assert energy(sim) == pytest.approx(start, rel=1e-3)


def test_snapshots_go_on_bit_by_bit():
    sim = moving(euler(*ORDERS).adjusted(limits=LOCKED), 1 / 60)
    sim.step(20)
    kept = sim.snapshot_bytes()
    sim.step(30)
    end = np.concatenate([sim.q, sim.v])
    sim.restore(kept)
    sim.step(30)
    np.testing.assert_array_equal(np.concatenate([sim.q, sim.v]), end)
