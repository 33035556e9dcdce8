"""What all controllers have in common: limits, who is driven, targets that change, sums, and input that is refused."""

import copy
import pickle

import numpy as np
import pytest
from chart_cases import bead, single
from trees import assert_close, mechanism

import recursive_dyn as rd
from recursive_dyn import control
from scene import Body, Scene, joints


def arm(**settings):
    """Two hinges that lift 1 kg each, on what ``settings`` say of the first."""
    scene = Scene()
    upper = scene.world.attach(Body("upper", mass=1.0, center_of_mass=(0.5, 0, 0)), joints.revolute("y", **settings))
    upper.attach(Body("lower", mass=1.0, center_of_mass=(0.5, 0, 0)), joints.revolute("y"), at=rd.pose((1, 0, 0)))
    return scene.compile()


ARM = arm()


def test_forces_stop_at_the_limits_and_it_says_where():
    free = control.PD(ARM, [1.0, -1.0], kp=[100.0, 3.0], kd=0.0)
    q, v = np.zeros(2), np.zeros(2)
    assert_close(free(q, v), np.array([100.0, -3.0]), 1e-15)
    assert free.saturated == ()
    law = control.PD(ARM, [1.0, -1.0], kp=[100.0, 3.0], kd=0.0, limits=[20.0, 5.0])
    assert_close(law(q, v), np.array([20.0, -3.0]), 1e-15)
    assert law.saturated == ("upper.angle",)
    law.q = [0.1, -1.0]
    assert_close(law(q, v), np.array([10.0, -3.0]), 1e-15)
    assert law.saturated == ()
    lopsided = control.PD(ARM, [1.0, -1.0], kp=[100.0, 3.0], kd=0.0, limits=[[-9.0, 1.0], [-2.0, 0.0]])
    assert_close(lopsided(q, v), np.array([1.0, -2.0]), 1e-15)
    assert lopsided.saturated == ("upper.angle", "lower.angle")


def test_the_effort_limits_of_coordinates_count_where_no_others_are_given():
    scene = Scene()
    scene.world.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("y", effort=4.0))
    dynamics = scene.compile()
    for limits, force, saturated in ((None, 4.0, ("arm.angle",)), (np.inf, 100.0, ())):
        law = control.PD(dynamics, [1.0], kp=100.0, kd=0.0, limits=limits)
        assert law([0.0], [0.0]) == pytest.approx([force]) and law.saturated == saturated


def test_a_sum_gives_both_within_the_limits_of_both():
    q, v = np.array([0.2, 0.3]), np.zeros(2)
    weight = control.GravityCompensation(ARM)
    law = weight + control.PD(ARM, [0.0, 1.0], kp=10.0, kd=1.0, limits=[3.0, np.inf])
    expected = ARM.gravity(q) + np.array([-2.0, 7.0])
    assert_close(law(q, v), np.array([-3.0, expected[1]]), 1e-14)
    assert law.saturated == ("upper.angle",)
    partly = weight + control.PD(ARM, [0.0, 1.0], kp=10.0, kd=1.0, actuated=["lower.angle"])
    assert_close(partly(q, v), ARM.gravity(q) + np.array([0.0, 7.0]), 1e-14)
    with pytest.raises(rd.StateError, match="two scenes"):
        weight + control.GravityCompensation(arm(damping=1.0))


def test_gravity_compensation_holds_still_what_stands_still():
    sim = rd.Simulation(ARM, 1 / 240)
    sim.q = [0.4, -0.7]
    sim.control = control.GravityCompensation(ARM)
    sim.step(240)
    assert_close(sim.q, np.array([0.4, -0.7]), 1e-12)


def test_the_base_is_not_driven_unless_it_is_said():
    m = mechanism(6, 6, kinds=("ball", "free", "revolute"), root="free")
    d, (q, v) = m.dynamics(), m.states(1, 3)
    assert not control.PD(d)(q[0], v[0])[:6].any()
    assert control.PD(d, actuated=d.velocity_coordinates)(q[0], v[0])[:6].all()
    one = control.PD(d, actuated=[d.velocity_coordinates[7]])(q[0], v[0])
    assert np.flatnonzero(one).tolist() == [7]


def test_what_follows_of_a_function_of_time_is_its_derivatives():
    """By differences in time: 1e-7 of the motion's derivatives, w^3 and w^4; on manifolds too."""
    m = mechanism(6, 6, kinds=("ball", "free", "revolute"), root="free")
    d, (start, v) = m.dynamics(), m.states(1, 3)
    q = start[0]
    turning = control.PD(d, lambda t: d.integrate(q, v[0], np.sin(2 * t)))
    at, rate, acceleration = turning.target.at(0.3)
    assert_close(at, d.integrate(q, v[0], np.sin(0.6)), 1e-15)
    assert_close(rate, v[0] * 2 * np.cos(0.6), 1e-6)
    assert_close(acceleration, -v[0] * 4 * np.sin(0.6), 1e-5)
    given = control.PD(d, q, lambda t: v[0] * np.cos(t))
    assert_close(given.target.at(0.3)[2], -v[0] * np.sin(0.3), 1e-6)
    still = control.PD(d, q, v[0])
    assert_close(np.concatenate(still.target.at(2.0)), np.concatenate([q, v[0], 0 * v[0]]), 0.0)


def test_targets_change_while_it_runs():
    sim = rd.Simulation(ARM, 1e-3)
    law = sim.control = control.ComputedTorque(ARM, [0.5, 0.5], frequency=10.0)
    sim.step(1500)
    assert_close(sim.q, np.array([0.5, 0.5]), 1e-9)
    law.q = [-0.5, 0.0]
    sim.step(1500)
    assert_close(sim.q, np.array([-0.5, 0.0]), 1e-9)
    law.q, law.v = (lambda t: [np.sin(t), 0.0]), (lambda t: [np.cos(t), 0.0])
    sim.step(1500)
    assert_close(sim.q, np.array([np.sin(sim.time), 0.0]), 2e-3)
    assert callable(law.q) and law.a is None


def test_a_controller_of_a_simulations_dynamics_knows_its_parameters():
    scene = Scene()
    mass = scene.parameter("mass", 1.0)
    scene.world.attach(Body("bob", mass=mass, center_of_mass=(1.0, 0, 0)), joints.revolute("y"))
    sim = rd.Simulation(scene.compile())
    law = control.GravityCompensation(sim.dynamics)
    sim.parameters["mass"] = 3.0
    assert_close(law([0.0], [0.0]), np.array([-3 * 9.81]), 1e-14)


@pytest.mark.parametrize("kind", [control.PD, control.ComputedTorque, control.GravityCompensation])
def test_controllers_are_copied_and_pickled(kind):
    law = kind(ARM)
    expected = law([0.3, 0.4], [1.0, 2.0])
    for other in (copy.deepcopy(law), pickle.loads(pickle.dumps(law))):
        assert_close(other([0.3, 0.4], [1.0, 2.0]), expected, 0.0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: control.PD(Scene()), rd.StateError, "compiled dynamics"),
        (lambda: control.PD(ARM, [1.0]), rd.StateError, r"'q' has shape \(1,\)"),
        (lambda: control.PD(ARM, [1.0, np.nan]), rd.StateError, "'q' is not finite at coordinate 'lower.angle'"),
        (lambda: control.PD(ARM, v="fast"), rd.StateError, "'v' must be 2 real numbers"),
        (lambda: control.PD(ARM, kp=-1.0), rd.StateError, "kp must be finite and not negative"),
        (lambda: control.PD(ARM, kp=[1.0, 2.0, 3.0]), rd.StateError, "kp is a number, or 2 numbers"),
        (lambda: control.PD(ARM, kp=1.0, frequency=2.0), rd.StateError, "kp is given twice"),
        (lambda: control.ComputedTorque(ARM, kd=1.0, damping_ratio=2.0), rd.StateError, "kd is given twice"),
        (lambda: control.PD(ARM, frequency=-2.0), rd.StateError, "frequency must be above 0"),
        (lambda: control.ComputedTorque(ARM, frequency="x"), rd.StateError, "frequency is a number"),
        (lambda: control.PD(ARM, limits=-1.0), rd.StateError, "limits must be numbers that are not negative"),
        (lambda: control.PD(ARM, limits=[1.0, np.nan]), rd.StateError, "limits must be numbers"),
        (lambda: control.PD(ARM, limits=[1.0, 2.0, 3.0]), rd.StateError, r"limits are a number, or of shape \(2,\)"),
        (lambda: control.PD(ARM, actuated=["elbow"]), rd.ModelError, "unknown velocity coordinate 'elbow'"),
        (lambda: control.PD(ARM, actuated="upper.angle"), rd.ModelError, "names in a list"),
        (lambda: control.StablePD(ARM, timestep=0.0), rd.StateError, "timestep must be a positive number"),
        (lambda: control.PD(ARM)([0.0], [0.0, 0.0]), rd.StateError, r"'q' has shape \(1,\)"),
        (lambda: control.PD(ARM)([0.0, 0.0], [0.0, np.inf]), rd.StateError, "'v' is not finite"),
        (lambda: control.PD(ARM)([0.0, 0.0], [0.0, 0.0], np.nan), rd.StateError, "time must be a finite number"),
        (lambda: control.PD(ARM, lambda t: [t])([0.0, 0.0], [0.0, 0.0]), rd.StateError, r"'q' has shape \(1,\)"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_coordinates_that_change_their_meaning_are_no_target():
    with pytest.raises(rd.StateError, match="joint of 'body' changes its charts"):
        control.PD(single(bead("z", "x")))
