"""A running simulation: time, forces, snapshots, limits, stiff joints, and what happens when a state goes bad."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import assert_close, mechanism

import recursive_dyn as rd
from scene import Body, Scene, joints

INTEGRATORS = ["semi_implicit_euler", "rk4", "implicit_midpoint"]
s = sp.Symbol("s", real=True)


def tree(seed=6, bodies=6, **options):
    m = mechanism(seed, bodies, **options)
    sim = rd.Simulation(m.dynamics(), 1 / 240)
    sim.q, sim.v = (x[0] for x in m.states(1, seed))
    return sim


def hinge(**settings):
    scene = Scene()
    scene.world.attach(Body("arm", mass=1.0, center_of_mass=(0, 0, -1.0)), joints.revolute("y", **settings))
    return scene.compile()


def runaway(integrator="semi_implicit_euler", tail_speed=0.3):
    """A slider on z = (1 - s)^(5/2), thrown towards s = 1, where its transform ends; a hinge hangs on it."""
    track = sp.eye(4)
    track[0, 3], track[2, 3] = s, (1 - s) ** sp.Rational(5, 2)
    scene = Scene(gravity=(0, 0, 0))
    slider = scene.world.attach(Body("slider", mass=1.0), joints.Joint(track, s, limits=None))
    slider.attach(Body("tail", mass=0.1, center_of_mass=(0, 0, -0.1)), joints.revolute("x"))
    sim = rd.Simulation(scene.compile(), 1 / 240, integrator)
    sim.v = [1.0, tail_speed]
    return sim


# Time


@settings(max_examples=40)
@given(frames=st.lists(st.floats(0, 0.1), max_size=12), timestep=st.sampled_from([1 / 240, 1 / 60, 0.003]))
def test_advance_makes_the_steps_that_fit_into_the_time_that_passed(frames, timestep):
    sim = rd.Simulation(PENDULUM, timestep)
    made = [sim.advance(frame) for frame in frames]
    assert abs(sum(made) - sum(frames) / timestep) <= 1 + 1e-6
    assert sim.time == pytest.approx(sum(made) * timestep, abs=1e-12)
    for n in range(len(frames) + 1):  # never ahead of the time that has passed
        assert sum(made[:n]) * timestep <= sum(frames[:n]) + 1e-8


PENDULUM = hinge()


def test_advance_accumulates_frames_shorter_than_a_step():
    sim = rd.Simulation(PENDULUM, 1 / 240)
    assert [sim.advance(1 / 720) for _ in range(6)] == [0, 0, 1, 0, 0, 1]
    assert [sim.advance(1 / 60) for _ in range(5)] == [4] * 5
    assert sim.time == pytest.approx(22 / 240)
    other = rd.Simulation(PENDULUM, 1 / 240)
    other.step(22)
    np.testing.assert_array_equal(sim.q, other.q)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_many_steps_are_as_many_single_ones(integrator):
    m = mechanism(6, 6)
    one, many = (rd.Simulation(m.dynamics(), 1e-3, integrator) for _ in range(2))
    for sim in (one, many):
        sim.q, sim.v = (x[0] for x in m.states(1, 1))
    many.step(50)
    for _ in range(50):
        one.step()
    np.testing.assert_array_equal(one.q, many.q)
    np.testing.assert_array_equal(one.v, many.v)
    assert one.time == pytest.approx(many.time, abs=1e-12)


# Forces


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_force_at_a_point_is_its_jacobian_transposed(integrator):
    """At a step's start, the one place where semi-implicit Euler looks; others to the square of a short step."""
    m, exact = mechanism(6, 6), integrator == "semi_implicit_euler"
    pushed, driven = (rd.Simulation(m.dynamics(), 1e-3 if exact else 1e-6, integrator) for _ in range(2))
    force, torque, point = (3.0, -2.0, 5.0), (0.3, 0.2, -0.4), (0.1, 0.2, -0.3)
    for sim in (pushed, driven):
        sim.q, sim.v = (x[0] for x in m.states(1, 2))
    own = np.linspace(-1, 1, driven.v.size)
    J = m.dynamics().jacobian(pushed.q, "b4", point)
    pushed.tau = own
    driven.tau = own + J.T @ np.concatenate([torque, force])
    pushed.apply_force("b4", force, point)
    pushed.apply_torque("b4", torque)
    pushed.step()
    driven.step()
    assert_close(pushed.q, driven.q, 1e-14)
    assert_close(pushed.v, driven.v, 1e-13 if exact else 1e-9)


def test_a_force_stays_with_its_point_during_one_call_and_is_gone_after():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("puck", mass=2.0, inertia=np.eye(3)), joints.free())
    sim = rd.Simulation(scene.compile(), 1e-3)
    sim.apply_force("puck", (6.0, 0, 0))
    sim.step(100)
    np.testing.assert_allclose(sim.v, [0, 0, 0, 0.3, 0, 0], atol=1e-13)
    sim.step(100)
    np.testing.assert_allclose(sim.v, [0, 0, 0, 0.3, 0, 0], atol=1e-13)
    sim.apply_force("puck", (0, 1.0, 0), (1.0, 0, 0))
    sim.apply_force("puck", (0, 1.0, 0), (-1.0, 0, 0))  # two forces that make no moment
    sim.step()
    np.testing.assert_allclose(sim.v, [0, 0, 0, 0.3, 1e-3, 0], atol=1e-13)
    sim.apply_force("puck", (0, 1.0, 0), (1.0, 0, 0))
    sim.step(0)
    sim.step(10)  # step(0) did not use the force up
    assert sim.v[2] == pytest.approx(0.01, rel=1e-3)


def test_generalized_forces_act_until_changed():
    sim = rd.Simulation(hinge(), 1e-3)
    sim.tau[0] = 3.0
    sim.step(2)
    sim.tau[:] = 0.0
    assert sim.v[0] == pytest.approx(2 * 3.0e-3, rel=1e-4)


# Snapshots


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_restored_snapshots_continue_bit_for_bit(integrator):
    m = mechanism(6, 6)
    sim = rd.Simulation(m.dynamics(), 1e-3, integrator)
    sim.q, sim.v = (x[0] for x in m.states(1, 3))
    sim.tau = np.linspace(0, 1, sim.v.size)
    sim.advance(0.0105)
    sim.apply_force("b2", (1.0, 2.0, 3.0))
    saved = sim.snapshot()
    ends = []
    for _ in range(2):
        sim.step(5)
        sim.advance(0.0027)
        ends.append((sim.q.copy(), sim.v.copy(), sim.tau.copy(), sim.time))
        sim.tau[:] = 7.0
        sim.step(30)
        sim.restore(saved)
    for a, b in zip(*ends, strict=True):
        np.testing.assert_array_equal(a, b)
    fresh = rd.Simulation(m.dynamics(), 1e-3, integrator)
    fresh.restore(saved)
    fresh.step(5)
    fresh.advance(0.0027)
    np.testing.assert_array_equal(fresh.q, ends[0][0])
    np.testing.assert_array_equal(fresh.v, ends[0][1])


def test_a_snapshot_is_a_copy_and_holds_parameters():
    scene = Scene()
    m = scene.parameter("m", 1.0)
    scene.world.attach(Body("arm", mass=m, center_of_mass=(0, 0, -1)), joints.revolute("y", damping=0.5))
    sim = rd.Simulation(scene.compile())
    sim.q = [0.5]
    saved = sim.snapshot()
    sim.parameters["m"] = 3.0
    sim.step(10)
    assert saved.q[0] == 0.5
    sim.restore(saved)
    assert sim.parameters["m"] == 1.0
    assert sim.time == 0.0
    with pytest.raises(rd.StateError, match="snapshot's q has shape"):
        tree().restore(saved)


# States that go bad


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_step_that_leaves_the_track_raises_and_keeps_the_last_good_state(integrator):
    together, single = runaway(integrator), runaway(integrator)
    with pytest.raises(rd.StateError, match=r"slider\.s.*timestep"):
        together.step(1000)
    made = 0
    with pytest.raises(rd.StateError, match=r"slider\.s"):
        while made < 1000:
            last_q, last_v = single.q.copy(), single.v.copy()
            single.step()
            made += 1
    assert 0 < made < 1000
    for sim in (together, single):
        np.testing.assert_array_equal(sim.q, last_q)
        np.testing.assert_array_equal(sim.v, last_v)
        assert sim.time == pytest.approx(made / 240)
    assert np.isfinite([*last_q, *last_v]).all()
    with pytest.raises(rd.StateError):  # still refused, still unharmed
        together.step()
    np.testing.assert_array_equal(together.q, last_q)
    together.q, together.v = [0.0, 0.0], [0.0, 0.0]
    together.step(10)  # and can be put right


def test_the_joint_that_has_no_value_is_named_though_another_moves_faster():
    with pytest.raises(rd.StateError, match=r"slider\.s"):
        runaway(tail_speed=5.0).step(1000)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_a_state_spoilt_in_place_is_named_at_the_next_step(name, integrator):
    sim = tree()
    sim = rd.Simulation(sim.dynamics, 1e-3, integrator)
    before = sim.snapshot()
    getattr(sim, name)[-1] = np.nan
    with pytest.raises(rd.StateError, match=rf"{name} is not finite at coordinate 'b5\."):
        sim.step(3)
    assert sim.time == 0.0
    sim.restore(before)
    sim.step()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_assigning_what_is_not_finite_is_refused(bad):
    sim = tree()
    for name in ("q", "v", "tau"):
        value = getattr(sim, name).copy()
        value[2] = bad
        with pytest.raises(rd.StateError, match=rf"'{name}' is not finite at coordinate 'b"):
            setattr(sim, name, value)
    for call in (sim.apply_force, sim.apply_torque):
        with pytest.raises(rd.StateError, match="not finite"):
            call("b1", (0.0, bad, 0.0))
    with pytest.raises(rd.StateError, match="point"):
        sim.apply_force("b1", (0, 0, 0), (bad, 0, 0))
    with pytest.raises(rd.StateError, match="frame time"):
        sim.advance(bad)
    assert np.isfinite(sim.q).all()


def test_wrong_shapes_and_names_are_refused():
    sim = tree()
    for name in ("q", "v", "tau"):
        for value in (np.zeros(3), 1.0, "fast", np.zeros((2, getattr(sim, name).size))):
            with pytest.raises(rd.StateError, match=f"'{name}'"):
                setattr(sim, name, value)
    with pytest.raises(rd.ModelError, match="unknown body 'b99'"):
        sim.apply_force("b99", (0, 0, 1))
    with pytest.raises(rd.StateError, match="'force'"):
        sim.apply_force("b1", (0, 0))
    with pytest.raises(rd.StateError, match="frame time"):
        sim.advance(-0.1)
    with pytest.raises(rd.StateError, match="number of steps"):
        sim.step(-1)


@pytest.mark.parametrize("timestep", [0.0, -1e-3, np.nan, np.inf, "fast", None])
def test_a_timestep_is_a_positive_number(timestep):
    with pytest.raises(rd.StateError, match="timestep"):
        rd.Simulation(PENDULUM, timestep)


def test_an_unknown_integrator_is_answered_with_the_known_ones():
    with pytest.raises(rd.StateError, match=r"'leapfrog'.*semi_implicit_euler.*rk4.*implicit_midpoint"):
        rd.Simulation(PENDULUM, 1e-3, "leapfrog")


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda sim: sim.step(1.5), "a whole number of steps.*1.5"),
        (lambda sim: sim.restore(None), "restore takes what snapshot"),
        (lambda sim: rd.Simulation(Scene()), "compiled dynamics, scene.compile.., not Scene"),
    ],
)
def test_misuse_is_told(misuse, message):
    with pytest.raises(rd.StateError, match=message):
        misuse(tree())
