"""Controllers on bases that time or a prescription leads: what they promise, against an arm's own equations."""

import numpy as np
import pytest
import sympy as sp
from led_arm import GOAL, JOINTS, SHAKEN, STEP, STROKE, accelerations, arm, at_random, target

import recursive_dyn as rd
from recursive_dyn import control
from scene import Body, Scene, joints

RATE = 4 * np.pi  # 1/s, of the laws: 2 Hz, as the bases
FORMS = ["time", "prescription", "function"]

LAWS = {
    "computed torque": lambda d, q, **own: control.ComputedTorque(d, q, **own),
    "operational space": lambda d, q, **own: control.OperationalSpace(d, [control.Posture(d, q)], **own),
    "whole body": lambda d, q, **own: control.WholeBodyQP(
        d, [control.Posture(d, q, weight=1e4)], force_weight=1e-12, **own
    ),
}


@pytest.mark.parametrize("actuated", [None, JOINTS])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("law", LAWS)
def test_errors_decay_as_promised_on_a_shaken_base(law, form, actuated):
    run, own = at_random(form)
    given = LAWS[law](run.dynamics, target(run, own), **({} if actuated is None else {"actuated": actuated}))
    tau = given(run.q, run.v, run.time)
    q, v = run.q[own], run.v[own]
    base = -STROKE * SHAKEN**2 * np.sin(SHAKEN * run.time)
    made = accelerations(q, v, base, tau[own])
    wanted = RATE**2 * (GOAL - q) - 2 * RATE * v
    exact = 1e-5 if form == "function" else 1e-9  # a polynomial over the step says what a function does
    np.testing.assert_allclose(made, wanted, rtol=0, atol=exact * np.abs(wanted).max())
    assert not np.delete(tau, own).any()


@pytest.mark.parametrize("law", ["operational space", "whole body"])
@pytest.mark.parametrize("form", ["time", "prescription"])
def test_a_tip_comes_to_its_place_in_the_world_as_promised(form, law):
    """e = (e0 + (e0' + w e0) t) exp(-w t)."""
    run, own = arm(form, "xyy")
    run.q[own] = [0.3, 0.5, -0.9]
    d, place, point = run.dynamics, np.array([0.0, 0.2, -0.8]), [0, 0, -0.4]

    def left():
        X = d.poses(run.q)[-1]
        return place - X[:3, 3] - X[:3, :3] @ point

    def going():
        arms = d.poses(run.q)[-1][:3, :3] @ point
        twist = d.velocities(run.q, run.v)[-1]
        return -twist[3:] - np.cross(twist[:3], arms)

    tip = control.Position("c", place, point=point, weight=1e4)
    made = control.OperationalSpace(d, [tip]) if law == "operational space" else control.WholeBodyQP(d, [tip])
    made.held, run.control = False, made
    e, rate = left(), going()
    run.step(72)
    t = run.time
    np.testing.assert_allclose(left(), (e + (rate + RATE * e) * t) * np.exp(-RATE * t), atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_an_arm_stays_where_it_is_told_on_a_shaken_base(form):
    run, own = at_random(form)
    law = control.ComputedTorque(run.dynamics, target(run, own), frequency=3.0)
    law.held, run.control = False, law  # held over steps, in which the base shakes, it would miss by 5e-3
    run.step(480)
    assert law.uncontrolled == () and not law.shortfall.any()
    assert np.abs(run.q[own] - GOAL).max() < 1e-5


def test_a_state_may_hold_anything_where_it_is_led():
    run, own = at_random("prescription")
    law = control.ComputedTorque(run.dynamics, target(run, own))
    elsewhere, fast = run.q.copy(), run.v.copy()
    elsewhere[0], fast[0], fast[-1] = 7.0, -3.0, 5.0
    assert np.array_equal(law(elsewhere, fast, run.time), law(run.q, run.v, run.time))


@pytest.mark.parametrize("form", ["time", "prescription"])
def test_springs_of_any_stiffness_do_not_press_on_what_is_led(form):
    ends = []
    for actuated in (None, JOINTS):
        run, own = arm(form)
        run.control = control.StablePD(
            run.dynamics, target(run, own, 0.0), timestep=STEP, frequency=300.0,
            **({} if actuated is None else {"actuated": actuated}),
        )  # fmt: skip
        run.step(120)
        assert run.report.halvings == 0 and run.report.unexplained_energy == 0.0
        ends.append(run.q.copy())
    assert np.array_equal(*ends)


@pytest.mark.parametrize(
    "make",
    [
        lambda d, q, who: control.PD(d, q, actuated=[who]),
        lambda d, q, who: control.StablePD(d, q, timestep=STEP, actuated=[who]),
        lambda d, q, who: control.ComputedTorque(d, q, actuated=["a.angle", who]),
        lambda d, q, who: control.OperationalSpace(d, [], actuated=[who]),
        lambda d, q, who: control.WholeBodyQP(d, [], actuated=[who]),
        lambda d, q, who: control.LQR(d, q, actuated=[who]),
        lambda d, q, who: control.ILQR(d, q, timestep=STEP, actuated=[who]),
        lambda d, q, who: control.Posture(d, q, coordinates=[who]),
    ],
)
def test_what_is_led_is_refused_by_name(make):
    run, own = arm("prescription")
    for name in ("table.distance", "time"):
        with pytest.raises(rd.ModelError, match=f"'{name}', which moves as it does"):
            make(run.dynamics, target(run, own), name)


def test_a_law_that_was_made_for_other_motions_is_refused():
    run, own = arm("prescription")
    run.control = control.ComputedTorque(run.dynamics, target(run, own))
    run.step()
    run.prescribe("table.distance", None)
    with pytest.raises(rd.StateError, match="prescribed motions than when this ComputedTorque was made"):
        run.step()


def test_a_law_knows_another_function_of_time():
    run, own = arm("function")
    run.control = control.ComputedTorque(run.dynamics, target(run, own), frequency=3.0)
    run.control.held = False
    run.step(240)
    here, now, speed = run.q[0], run.time, run.v[0]
    run.prescribe("table.distance", lambda t: here + speed / 20 * np.sin(20 * (t - now)))
    run.step(240)
    assert np.abs(run.q[own] - GOAL).max() < 1e-5


def loop(form: str):
    """As ``at_random``, with a rod between the tip and the table."""
    run, own = arm(form, "yy", lambda scene, table, tip: scene.distance(tip, table, 0.7, (0, 0, -0.4), (0.3, 0, -0.2)))
    run.step(24)
    return run, own


def test_a_loop_on_a_shaken_base_does_as_promised():
    (run, own), forces = loop("time"), []
    q, v = run.q[own], run.v[own]
    for form in ("time", "prescription"):
        run, own = loop(form)
        run.q[own], run.v[own] = q, v
        d, first, goal = run.dynamics, own[0], run.q.copy()
        goal[first] += 0.1
        wanted = RATE**2 * 0.1 - 2 * RATE * v[0]
        posture = control.Posture(d, goal, coordinates=["a.angle"], weight=1e4)
        for law in (
            control.ComputedTorque(d, goal, actuated=["a.angle"]),
            control.OperationalSpace(d, [posture], actuated=["a.angle"]),
            control.WholeBodyQP(d, [posture], actuated=["a.angle"], force_weight=1e-12),
        ):
            tau = law(run.q, run.v, run.time)
            made = d.forward_dynamics(run.q, run.v, tau)[first]
            assert abs(made - wanted) < 1e-7 * abs(wanted), (form, type(law))
            forces.append(tau[first])
    np.testing.assert_allclose(forces, forces[0], rtol=1e-6)


def test_a_floating_body_is_free_beside_what_is_led_on_it():
    """A trunk that nothing holds, a hip that is led, a knee that is driven."""
    scene = Scene()
    part = {"mass": 1, "center_of_mass": (0.1, 0, -0.2), "inertia": 0.02 * np.eye(3)}
    trunk = scene.world.attach(Body("trunk", **part), joints.free())
    thigh = trunk.attach(Body("thigh", **part), joints.revolute("y"))
    thigh.attach(Body("shank", **part), joints.revolute("x"), at=rd.pose((0, 0, -0.4)))
    run = rd.Simulation(scene.compile(), STEP)
    run.prescribe("thigh.angle", 0.5 * sp.sin(SHAKEN * scene.time))
    run.step(30)
    d, goal = run.dynamics, run.dynamics.neutral()
    knee = d.velocity_coordinates.index("shank.angle")
    posture = control.Posture(d, goal, coordinates=["shank.angle"], weight=1e4)
    wanted = RATE**2 * (goal[knee + 1] - run.q[knee + 1]) - 2 * RATE * run.v[knee]
    for law in (
        control.ComputedTorque(d, goal),
        control.OperationalSpace(d, [posture]),
        control.WholeBodyQP(d, [posture], force_weight=1e-12),
    ):
        tau = law(run.q, run.v, run.time)
        assert np.flatnonzero(tau).tolist() == [knee]
        assert abs(d.forward_dynamics(run.q, run.v, tau)[knee] - wanted) < 1e-9 * abs(wanted), type(law)
    assert control.ComputedTorque(d, goal).uncontrolled == d.velocity_coordinates[:6]


@pytest.mark.parametrize("form", FORMS)
def test_springs_are_judged_by_what_they_can_move(form):
    run, own = arm(form)
    spring = control.PD(run.dynamics, target(run, own), frequency=2.0) + control.GravityCompensation(run.dynamics)
    run.control = spring
    run.step(480)
    assert np.abs(run.q[own] - GOAL).max() < 1.0
    with pytest.raises(rd.StateError, match=r"mostly of '[ab]\.angle'"):
        control.PD(run.dynamics, target(run, own), frequency=200.0).held_for(STEP)
    given = control.StablePD(run.dynamics, target(run, own), timestep=STEP, kp=10.0)
    assert np.isfinite(given.kd).all()


@pytest.mark.parametrize("form", ["time", "prescription"])
def test_a_tip_is_brought_to_a_place_at_a_time(form):
    """From the state of any other: the table is where it is then, and two links of 0.4 m reach from there."""
    run, own = at_random(form)
    d, start = run.dynamics, run.q.copy()
    others = np.setdiff1d(np.arange(d.nq), own)
    for time in (0.0, 0.13, 2.0):
        table = STROKE * np.sin(SHAKEN * time)
        place = np.array([table + 0.3, 0, -0.5])
        tip = control.Position("b", lambda t, x=place, at=time: np.add(x, [t - at, 0, 0]), point=(0, 0, -0.4))
        found = control.inverse_kinematics(d, tip, start, time=time)
        X = d.poses(found.q)[-1]
        assert found.converged
        np.testing.assert_allclose(X[:3, 3] + X[:3, :3] @ [0, 0, -0.4], place, atol=1e-7)
        np.testing.assert_allclose(d.poses(found.q)[0, 0, 3], table, atol=1e-12)
        bend = 2 * np.arccos(np.hypot(0.3, 0.5) / 0.8)  # of the isosceles triangle
        assert abs(abs(found.q[own[1]]) - bend) < 1e-7
        anywhere, then = start.copy(), start.copy()
        anywhere[others], then[-1] = np.nan, time
        assert np.array_equal(control.inverse_kinematics(d, tip, anywhere, time=time).q, found.q)
        assert np.array_equal(control.inverse_kinematics(d, tip, then).q, found.q)


def test_a_function_is_asked_for_no_other_time():
    run, _ = at_random("function")
    tip = control.Position("b", (0.3, 0, -0.5), point=(0, 0, -0.4))
    assert control.inverse_kinematics(run.dynamics, tip, run.q, time=run.time).converged
    for time in (run.time + 1.0, 0.0):
        with pytest.raises(rd.StateError, match=r"inverse kinematics .*'table\.distance' is led by a Python function"):
            control.inverse_kinematics(run.dynamics, tip, run.q, time=time)
    here = float(run.q[0])
    run.prescribe("table.distance", lambda t: here)
    assert control.inverse_kinematics(run.dynamics, tip, run.q, time=9.0).converged
