"""Steps of joints of several charts in one go: bit by bit those that are taken one after the other."""

import numpy as np
import pytest
import sympy as sp
from chart_cases import bead, euler, mechanism, single, u, v

import recursive_dyn as rd
from recursive_dyn.control import PD
from recursive_dyn.simulation.flying.chart_switching import Charts
from scene import Body, Scene, joints


def limited() -> rd.Dynamics:
    """A ball of three angles on a hinge that swings into its limits."""
    scene = Scene()
    arm = Body("arm", mass=1.0, center_of_mass=(0.2, 0, -0.4), inertia=np.eye(3) * 0.05)
    scene.world.attach(arm, joints.revolute("y", limits=(-0.3, 0.2)))
    ball = Body("ball", mass=0.5, center_of_mass=(0, 0.1, -0.2), inertia=np.diag([0.02, 0.03, 0.01]))
    arm.attach(ball, euler("xyz", "zxz"), at=rd.pose((0, 0, -0.6)))
    return scene.compile()


CASES = {
    "over the pole": lambda: single(bead("z", "x")),
    "several joints": lambda: mechanism(bead("z", "x"), euler("xyz", "zxz")).compile(),
    "with limits": limited,
}
RULES = ("linearly_implicit_rk4", "semi_implicit_euler", "implicit_midpoint", "variational_midpoint")


def started(dynamics, rule):
    sim = rd.Simulation(dynamics, 1 / 240, rule)
    sim.v = (1.9, 0.5, -12.0, 1.0) if dynamics.nv == 4 else np.linspace(1.9, -5.7, dynamics.nv)
    sim.tau = np.linspace(0.2, -0.1, dynamics.nv)
    return sim


def state(sim):
    return np.concatenate([sim.q, sim.v, sim.tau])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rule", RULES)
def test_many_steps_are_so_many_single_ones(case, rule):
    dynamics, charts = CASES[case](), set()
    together, alone = started(dynamics, rule), started(dynamics, rule)
    for count in (150, 1, 90):
        body = dynamics.bodies[-1]
        together.apply_force(body, (0.3, 0.1, -0.2), (0.1, 0.0, 0.05))
        together.step(count)
        for _ in range(count):
            alone.apply_force(body, (0.3, 0.1, -0.2), (0.1, 0.0, 0.05))
            alone.step()
            charts.add(tuple(alone.charts.values()))
        np.testing.assert_array_equal(state(together), state(alone))
        assert together.charts == alone.charts and str(together.report) == str(alone.report)
        assert together.time == pytest.approx(alone.time, rel=1e-14)
    assert len(charts) > 1


@pytest.mark.parametrize("case", CASES)
def test_the_first_rule_too_where_only_tau_acts(case):
    dynamics = CASES[case]()
    together, alone = (started(dynamics, "semi_implicit_euler") for _ in range(2))
    together.step(200)
    for _ in range(200):
        alone.step()
    np.testing.assert_array_equal(state(together), state(alone))


def test_charts_are_looked_at_in_machine_code(monkeypatch):
    """Python is asked at the start and where a chart is to be left, and every 20 ms."""
    asked = []
    improve = Charts.improve
    monkeypatch.setattr(Charts, "improve", lambda *given: (asked.append(1), improve(*given))[1])
    sim = started(single(euler("xyz", "zxz")), None)
    sim.step(10)
    asked.clear()
    sim.step(1000)
    assert len(asked) < 100


def test_a_step_that_fails_among_many_leaves_the_last_good_state():
    """Both charts end at the equator, where the upper half of the sphere does: as single steps say it."""
    told, z = [], sp.sqrt(1 - u**2 - v**2)
    halves = [joints.surface(f, (u, v), frame="translation") for f in ([u, v, z], [v, -u, z])]
    dynamics = single(joints.charts(*halves))
    for count in (1, 2000):
        sim = rd.Simulation(dynamics, 1e-3)
        sim.v = 2.0, 0.5
        with pytest.raises(rd.StateError) as error:
            while sim.time < 5.0:
                sim.step(count)
        told.append((str(error.value), *sim.q, *sim.v))
        assert np.isfinite(told[-1][1:]).all()
    assert told[0] == told[1]


def test_a_controller_that_went_leaves_no_rule_behind():
    """One that looks ahead has all trees fly by another rule; without it the next steps are the integrator's again."""
    scene = Scene()
    scene.world.attach(
        Body("arm", mass=1.0, center_of_mass=(0, 0, -0.4), inertia=np.eye(3) * 0.1), joints.revolute("y")
    )
    dynamics = scene.compile()
    sim, other = rd.Simulation(dynamics), rd.Simulation(dynamics)
    sim.control = PD(dynamics, [0.3])
    sim.control.implicit = True
    sim.step(3)
    sim.control, sim.tau = None, [0.0]
    other.q, other.v = sim.q, sim.v
    sim.step(20)
    other.step(20)
    np.testing.assert_array_equal(sim.q, other.q)
