"""Prescribed motions that jump, or lead to where constraints cannot be met, are told by name; all others go on."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.dynamics.projection import settled
from scene import Body, Scene, joints

TIME, SIZE = Scene().time, Scene().parameter("size", 0.0)
BY_NAME = ("linearly_implicit_rk4", "rk4", "semi_implicit_euler", "implicit_midpoint", "variational_midpoint")
H = 1 / 200


def bar(name: str) -> Body:
    return Body(name, mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.eye(3) / 50)


def pendulum(h: float = H, rule: str = "linearly_implicit_rk4", gravity: float = -9.81, **parameters) -> rd.Simulation:
    """A crank with a rod on it, in a scene of these parameters."""
    scene = Scene(gravity=(0, 0, gravity))
    for name, value in parameters.items():
        scene.parameter(name, value)
    crank = scene.world.attach(bar("crank"), joints.revolute("y"))
    crank.attach(bar("rod"), joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
    return rd.Simulation(scene.compile(), h, rule)


def four_bar(rule: str, h: float) -> rd.Simulation:
    """Ground and coupler of 1 m, a crank of 0.5 m and a rocker of 0.3 m: sin(crank) is between -0.76 and 0.44."""
    scene = Scene()
    crank = scene.world.attach(bar("crank"), joints.revolute("y"))
    rocker = scene.world.attach(bar("rocker"), joints.revolute("y"), at=rd.pose((1, 0, 0)))
    coupler = crank.attach(bar("coupler"), joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
    gap = coupler.point((1, 0, 0)) - rocker.point((0, 0, -0.3))
    scene.constrain(gap[0], gap[2], name="pin")
    dynamics = scene.compile()
    sim = rd.Simulation(dynamics, h, rule)
    sim.q = settled(dynamics, np.zeros(3), np.zeros(3))[0]
    return sim


@pytest.mark.parametrize("when", [0.0075, 0.05, 0.0525])
@pytest.mark.parametrize("far", [1e-3, 0.5, 100.0])
@pytest.mark.parametrize("written", [False, True])
def test_a_jump_is_told_and_nothing_moves(written, far, when):
    """Where two steps meet, or within one, as a function or an expression says it."""
    sim = pendulum()
    sim.prescribe(
        "crank.angle", sp.Piecewise((0.0, when > TIME), (far, True)) if written else lambda t: far * (t >= when)
    )
    with pytest.raises(
        rd.StateError, match=rf"motion of 'crank.angle' jumps from 0 to {far:g} at t = {when:g} s.*motor"
    ):
        sim.step(40)
    assert when - H - 1e-9 < sim.time < when + 1e-9
    assert sim.q[0] == 0.0 and abs(sim.v[1]) < 1e-12
    sim.prescribe("crank.angle", 0.0)
    sim.step(40)


def test_a_function_that_answers_otherwise_when_asked_again_is_told():
    """As one that looks at what a person holds: between steps it is elsewhere."""
    sim, hand = pendulum(), [0.0]
    sim.prescribe("crank.angle", lambda t: hand[0])
    sim.step(5)
    hand[0] = 0.2
    with pytest.raises(rd.StateError, match=r"'crank.angle' jumps from 0 to 0.2 at t = 0.025 s"):
        sim.step()
    assert sim.q[0] == 0.0


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("how", ["time", "restore", "bytes"])
def test_what_jumps_as_somebody_has_it_elsewhere_is_told(how, written):
    scene = Scene()
    size = scene.parameter("size", 0.3)
    scene.world.attach(bar("crank"), joints.revolute("y"))
    sim = rd.Simulation(scene.compile(), H)
    motion = size * sp.sin(TIME) if written else lambda t: sim.parameters["size"] * np.sin(t)
    sim.prescribe("crank.angle", motion)
    sim.step(100)
    there, snapshot = float(sim.q[0]), sim.snapshot_bytes() if how == "bytes" else sim.snapshot()
    if how == "time":
        sim.time = 0.0
    else:
        sim.step(20)
        now, since = float(sim.q[0]), sim.time
        sim.prescribe("crank.angle", now + 2.0 * (TIME - since) if written else lambda t: now + 2.0 * (t - since))
        sim.restore(snapshot)
    at = sim.time
    with pytest.raises(rd.StateError, match=rf"motion of 'crank.angle' jumps from {there:.6g} to .* at t = {at:g} s"):
        sim.step()
    assert (sim.q[0], sim.time) == (pytest.approx(there, abs=1e-12), at)


def test_a_parameter_moves_a_motion_that_is_written_and_the_report_says_so():
    """As a slider does; what hangs on it moves along."""
    sim = pendulum(size=0.3)
    sim.prescribe("crank.angle", SIZE * sp.sin(TIME))
    sim.step(100)
    assert sim.report.motions_moved == 0
    sim.parameters["size"] = 0.9
    sim.step()
    assert sim.q[0] == pytest.approx(0.9 * np.sin(sim.time), abs=1e-12)
    told = sim.report
    assert (told.motions_moved, told.moved_motion) == (1, "crank.angle")
    assert told.widest_move == pytest.approx(0.6 * np.sin(100 * H), rel=1e-9)
    sim.parameters["size"] = 0.9 + 1e-9
    sim.step(10)
    assert sim.report.motions_moved == 1


def test_who_places_a_coordinate_with_the_time_or_goes_back_goes_on():
    sim = pendulum()
    sim.prescribe("crank.angle", 0.3 * sp.sin(TIME))
    sim.step(10)
    snapshot = sim.snapshot()
    sim.step(90)
    end = sim.q.copy()
    sim.restore(snapshot)
    sim.step(90)
    np.testing.assert_array_equal(sim.q, end)
    sim.time, sim.q = 0.0, np.zeros(3)
    sim.step(100)
    assert sim.q[0] == pytest.approx(0.3 * np.sin(0.5), abs=1e-12)


@pytest.mark.parametrize("how", ["object", "bytes"])
def test_a_snapshot_from_before_something_was_prescribed_says_that(how):
    sim = pendulum()
    snapshot = sim.snapshot() if how == "object" else sim.snapshot_bytes()
    sim.prescribe("crank.angle", lambda t: 0.1 * t)
    with pytest.raises(rd.StateError, match="prescribed"):
        sim.restore(snapshot)
    sim.prescribe("crank.angle", None)
    sim.restore(snapshot)
    sim.step()


@pytest.mark.parametrize("rule", ["linearly_implicit_rk4", "semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("pole", [0.1, 0.1012])
def test_a_pole_that_is_passed_within_a_step_is_told(rule, pole):
    for motion in (1 / (pole - TIME) - 1 / pole, sp.tan(np.pi / 2 / pole * TIME)):
        sim = pendulum(rule=rule)
        sim.prescribe("crank.angle", motion)
        with pytest.raises(rd.StateError, match=rf"motion of 'crank.angle' jumps from .* to -.* at t = {pole:g} s"):
            sim.step(40)
        assert sim.time < pole


CONTINUOUS = {
    "kink": lambda t: 2.0 * max(0.0, t - 0.0512),
    "ranges that meet": sp.Piecewise((0.0, TIME < 0.05), ((TIME - 0.05) ** 2, True)),
    "distance": 0.3 - abs(TIME - 0.3),
    "root": lambda t: float(np.sqrt(max(0.0, t - 0.05))),
    "three radians a step": lambda t: 0.01 * np.sin(600.0 * t),
    "a step that is smooth": lambda t: 0.5 / (1.0 + np.exp(-(t - 0.05) / 1e-3)) - 0.5 / (1.0 + np.exp(50.0)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_what_is_continuous_goes_on(name):
    sim, motion = pendulum(), CONTINUOUS[name]
    sim.prescribe("crank.angle", motion)
    sim.step(20)
    end = float(motion.subs(TIME, 0.1)) if isinstance(motion, sp.Basic) else motion(0.1)
    assert sim.q[0] == pytest.approx(end, abs=1e-6)


@pytest.mark.parametrize("rule", ["linearly_implicit_rk4", "semi_implicit_euler", "rk4", "implicit_midpoint"])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("speed, end", [(1.0, np.arcsin(0.44)), (-1.0, -np.arcsin(0.76)), (10.0, np.arcsin(0.44))])
def test_a_crank_that_is_led_out_of_reach_is_told(rule, h, speed, end):
    """In the step in which its loop comes to be taut, with the constraint, whatever that fails of."""
    sim = four_bar(rule, h)
    start = float(sim.q[0])
    sim.prescribe("crank.angle", lambda t: start + speed * t)
    with pytest.raises(
        rd.StateError, match=r"motion of 'crank.angle' leads to where constraint 'pin\[[01]\]' cannot be"
    ):
        sim.step(round(3.0 / h))
    assert 0.0 <= (end - sim.q[0]) * np.sign(speed) < abs(speed) * h
    sim.prescribe("crank.angle", None)
    sim.step(2)


@pytest.mark.parametrize("rule", BY_NAME)
def test_a_parameter_that_changes_a_rate_strikes_what_hangs_on_it(rule):
    """As the same motion does that is prescribed anew; the coordinate is where it was."""

    def left(how):
        sim = pendulum(1 / 60, rule, 0.0, size=0.3)
        sim.prescribe("crank.angle", SIZE * sp.sin(sp.pi * TIME))
        sim.step(60)
        if how == "parameter":
            sim.parameters["size"] = 0.9
        else:
            sim.prescribe("crank.angle", 0.9 * sp.sin(sp.pi * TIME))
        sim.step(30)
        assert sim.report.motions_moved == 0
        return sim.v[1]

    assert left("parameter") == pytest.approx(left("motion"), rel=1e-6)


@pytest.mark.parametrize("rule", BY_NAME)
def test_a_parameter_that_moves_a_crank_leaves_its_loop_closed(rule):
    """Of five bars, whose energy rose by 30 J at 1/240 s, the more the shorter the step: it is closed before any rule
    sees it, and told."""
    ends = []
    for h in (1 / 60, 1 / 240):
        scene = Scene()
        off = scene.parameter("off", 0.0)
        first = scene.world.attach(bar("first"), joints.revolute("y"))
        second = first.attach(bar("second"), joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
        other = scene.world.attach(bar("other"), joints.revolute("y"), at=rd.pose((0.4, 0, 0)))
        last = other.attach(bar("last"), joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
        scene.pin(second, last, (0, 0, -0.5), (0, 0, -0.5), name="tip")
        sim = rd.Simulation(scene.compile(), h, rule)
        sim.prescribe("first.angle", float(sim.q[0]) + off)
        sim.step(2)
        sim.parameters["off"] = 0.3
        sim.step()
        told = sim.report
        assert (told.motions_moved, told.gaps_closed) == (1, 1)
        assert np.abs(sim.dynamics.call("constraint_positions", sim.q)).max() < 1e-9
        ends.append(float(sim.dynamics.potential_energy(sim.q)))
        assert float(sim.dynamics.kinetic_energy(sim.q, sim.v)) < 1.0
    assert ends[0] == pytest.approx(ends[1], abs=0.2)


def test_where_all_that_moves_is_prescribed_against_a_constraint_both_are_named():
    """Nothing is left that could give way."""
    scene = Scene(gravity=(0, 0, 0))
    first = scene.world.attach(bar("first"), joints.revolute("y"))
    second = scene.world.attach(bar("second"), joints.revolute("y"), at=rd.pose((1, 0, 0)))
    scene.gear(second.q[0], first.q[0], 2.0, name="gear")
    sim = rd.Simulation(scene.compile(), H)
    sim.prescribe("first.angle", lambda t: t * t)
    sim.prescribe("second.angle", lambda t: t * t)
    with pytest.raises(rd.StateError, match=r"'first.angle' and 'second.angle' leads to where constraint 'gear'"):
        sim.step(10)
    sim.prescribe("second.angle", lambda t: 2.0 * t * t)
    sim.step(10)
    np.testing.assert_allclose(sim.q[:2], [sim.time**2, 2.0 * sim.time**2], atol=1e-12)
