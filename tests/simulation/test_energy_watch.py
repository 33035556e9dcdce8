"""Motion that keeps its energy without dampers, at steps that its fastest turns do not resolve, and is told of halves.

Chains of five links hang on hinges about x, y, z in turn, or on balls; "slender": inertias of a rod, one of them small,
about whose axis a link spins fast; "fat": of a ball. The bar is 1 % of the energy above rest.
"""

import copy

import numpy as np
import pytest
from trees import assert_close

import recursive_dyn as rd
from demos import bezier_chain, torus_chain, windmill
from recursive_dyn.integrators.registry import INTEGRATORS
from recursive_dyn.simulation.report import Report
from scene import Body, Scene, joints

RULE = "linearly_implicit_rk4"
SLENDER, FAT = np.diag([0.02, 0.021, 0.001]), 0.05 * np.eye(3)
CHAINS = {"slender hinge": (SLENDER, False), "fat hinge": (FAT, False), "slender ball": (SLENDER, True),
          "fat ball": (FAT, True)}  # fmt: skip


def links(inertia, ball, count=5, **own):
    """(dynamics, start): a chain of links of 1 kg and 0.5 m, let go well off the plumb."""
    scene = Scene()
    node = scene.world
    for i in range(count):
        body = Body(f"link{i}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=inertia)
        joint = joints.ball() if ball else joints.revolute("xyz"[i % 3], **own)
        node = node.attach(body, joint, at=rd.pose((0, 0, -0.5 if i else 0.0)))
    d = scene.compile()
    q = d.neutral()
    if ball:
        q[:4] = np.array([0.5, 0.2, 0.0, 0.84]) / np.linalg.norm([0.5, 0.2, 0.0, 0.84])
    else:
        q[:5] = 0.8, 0.3, 0.2, 0.4, -0.3
    return d, q


def energy(d, q, v):
    return d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q)


def drift(d, q, timestep, seconds, rest):
    """(largest error of energy over that above ``rest``, a configuration; the simulation)."""
    sim = rd.Simulation(d, timestep, RULE)
    sim.q = q
    start = energy(d, sim.q, sim.v)
    above = start - d.potential_energy(rest)
    worst = 0.0
    for _ in range(round(seconds / timestep / 5)):
        sim.step(5)
        worst = max(worst, abs(energy(d, sim.q, sim.v) - start))
    return worst / above, sim


@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize("name", CHAINS)
def test_an_undamped_chain_keeps_its_energy(name, rate):
    """A minute: semi-implicit Euler at 240 Hz throws three of these away within it."""
    d, q = links(*CHAINS[name])
    error, sim = drift(d, q, 1 / rate, 60.0, d.neutral())
    assert error < 0.01
    report = sim.report
    assert report.unexplained_energy == 0.0
    assert report.halvings >= report.steps_halved > 0 if rate == 60 and name != "fat hinge" else report.halvings < 20


def rings(outside):
    """Five rings in one another, let go level, or from where each touches the next one's outside."""
    d, hanging = torus_chain.chain(5).compile(), torus_chain.at_rest(5)
    q = hanging.copy()
    q[0] = np.pi / 2
    if outside:
        q[:2] = 0.8, 0.3
        q[[3, 7, 11, 15]], q[[5, 9, 13, 17]] = 0.3, 0.2
    return d, q, hanging


def along_the_curve():
    d = bezier_chain.chain().compile()
    lowest = bezier_chain.start()
    lowest[0] = 0.5
    return d, bezier_chain.start(), lowest


SURFACES = {"rings": lambda: rings(False), "rings from outside": lambda: rings(True), "bezier chain": along_the_curve}


@pytest.mark.parametrize("seconds", [5.0, pytest.param(60.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SURFACES)
def test_undamped_rings_keep_their_energy_at_a_frame_a_step(name, seconds):
    d, q, rest = SURFACES[name]()
    error, sim = drift(d, q, 1 / 60, seconds, rest)
    assert error < 0.01
    assert sim.report.steps_halved > 0 or seconds < 10.0
    assert sim.report.unexplained_energy == 0.0


@pytest.mark.parametrize("seconds", [3.0, pytest.param(30.0, marks=pytest.mark.slow)])
def test_a_windmill_without_springs_keeps_its_energy_or_tells(seconds):
    """Its sails tumble over folds of their coordinates, where speeds grow beyond all bounds and some motions end."""
    scene, q = windmill.mill(0.0, 0.0)
    d = scene.compile()
    sim = rd.Simulation(d, 1 / 60, RULE)
    sim.q, sim.v[0] = q, windmill.SPEED
    start = energy(d, sim.q, sim.v)
    worst = unexplained = 0.0
    try:
        while sim.time < seconds:
            sim.step(5)
            unexplained = sim.report.unexplained_energy
            worst = max(worst, abs(energy(d, sim.q, sim.v) - start) - unexplained)
    except rd.StateError as end:
        assert "sail" in str(end) and sim.time > 5.0
    assert worst < 0.01 * start
    assert unexplained < 1e-3 * start or seconds > 5.0


def sole(timestep, **own):
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("disc", mass=1.0, inertia=np.eye(3)), joints.revolute("z", **own))
    sim = rd.Simulation(scene.compile(), timestep, RULE)
    sim.v[0] = 1.0
    return sim


@pytest.mark.parametrize("rate", [30, 60, 240])
def test_a_stiff_damper_stops_without_ringing(rate):
    """h d / I = 40 to 330: each step leaves a share of the speed, all of one sign."""
    sim = sole(1 / rate, damping=1e4)
    for _ in range(10):
        before = sim.v[0]
        sim.step()
        assert 0.0 < sim.v[0] < 0.2 * before
    assert sim.report == Report()


@pytest.mark.parametrize("rate", [30, 60, 240])
@pytest.mark.parametrize("damping", [0.0, 1e3, 1e5])
def test_a_stiff_spring_never_gains(rate, damping):
    sim = sole(1 / rate, stiffness=1e6, damping=damping)
    sim.q[0] = 0.1
    for _ in range(100):
        before = energy(sim.dynamics, sim.q, sim.v)
        sim.step()
        assert energy(sim.dynamics, sim.q, sim.v) <= before
    assert sim.report == Report()


def test_without_dampers_and_springs_it_is_of_fourth_order():
    d, q = links(FAT, True, 2)
    v = np.linspace(-1.0, 1.0, d.nv)
    ends = []
    for steps in (50, 100, 3200):
        sim = rd.Simulation(d, 0.4 / steps, RULE)
        sim.q, sim.v = q, v
        sim.step(steps)
        ends.append(np.concatenate([sim.q, sim.v]))
    coarse, fine = (np.linalg.norm(x - ends[-1]) for x in ends[:2])
    assert np.log2(coarse / fine) == pytest.approx(4, abs=0.15)


def test_halves_are_those_of_the_definition():
    """Chains that halve some of their steps, some of these again; in one call, step by step, and densely."""
    d, q = links(SLENDER, True)
    sim = rd.Simulation(d, 1 / 60, RULE)
    sim.q, sim.v = q, np.linspace(-10.0, 20.0, d.nv)
    sim.step(10)
    at, alone = copy.copy(sim), copy.copy(sim)
    assert alone.report == sim.report  # it travels
    sim.step(20)
    for _ in range(20):
        q, v = INTEGRATORS[RULE].definition(d, at.q, at.v, at.tau, 1 / 60)
        at.step()
        assert_close(at.q, q, 1e-12)
        assert_close(at.v, v, 1e-11)
        alone.step()
    np.testing.assert_array_equal(at.q, sim.q)
    np.testing.assert_array_equal(alone.v, sim.v)
    assert sim.report == at.report and sim.report.halvings > sim.report.steps_halved > 20


def test_the_midpoint_rule_tells_what_it_halved():
    d, q = links(SLENDER, False)
    sim = rd.Simulation(d, 1 / 30, "implicit_midpoint")
    sim.q, sim.v[:] = q, 12.0
    assert sim.report == Report()
    sim.step(5)
    assert 0 < sim.report.steps_halved <= 5


def test_a_step_that_is_halved_has_no_derivatives():
    d, q = links(SLENDER, True)
    v = 20.0 * np.ones(d.nv)
    with pytest.raises(rd.StateError, match="halves"):
        d.linearize(q, v, timestep=1 / 60, integrator=RULE)
    d.linearize(q, v, timestep=1e-4, integrator=RULE)
