"""Motors: the implicit closed form of a hinge, whatever the timestep, bounds, limits, whole joints, gains not given."""

import copy
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import chain_of_hinges

import recursive_dyn as rd
from recursive_dyn.dynamics.natural_gains import natural_gains
from scene import Body, Scene, joints

INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint")
STEPS = (1 / 1000, 1 / 240, 1 / 60)
H, G, INERTIA = 1 / 240, 9.81, 0.3


def hinge(gravity=(0, 0, 0), **settings) -> rd.Dynamics:
    scene = Scene(gravity=gravity)
    arm = Body("arm", mass=1.0, center_of_mass=(0, 0, -0.4), inertia=np.eye(3) * (INERTIA - 0.16))
    scene.world.attach(arm, joints.revolute("y", **settings))
    return scene.compile()


def slider(axis: str = "x", mass: float = 2.0, **settings) -> rd.Dynamics:
    scene = Scene()
    scene.world.attach(Body("block", mass=mass, inertia=np.eye(3)), joints.prismatic(axis, **settings))
    return scene.compile()


def running(dynamics: rd.Dynamics, h: float = H, integrator: str = INTEGRATORS[0], **motor) -> rd.Simulation:
    """With a motor on the first coordinate."""
    sim = rd.Simulation(dynamics, h, integrator)
    sim.motors[dynamics.velocity_coordinates[0]] = rd.Motor(**motor)
    return sim


# The closed form


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("kp, kd", [(40.0, 3.0), (1e7, 1e3), (2e3, 0.0), (0.0, 5.0)])
def test_a_hinge_moves_as_the_implicit_closed_form_says(h, kp, kd, integrator):
    """The force is that of the step's end: I (v' - v) = h tau + h kp (p - q') + h kd (v* - v'), with q' = q + h v'.

    Where positions move with the mean velocity, the spring looks ahead by the other half: q' + h (v' - v*) / 2.
    """
    p, speed, tau = 0.7, 0.4, 1.3
    sim = running(hinge(), h, integrator, position=p, velocity=speed, kp=kp, kd=kd)
    sim.tau[0] = tau
    share, q, v = sim.position_share, 0.2, -1.5
    sim.q, sim.v = [q], [v]
    for _ in range(40):
        flight = q + h * v + (1.0 if share == 1.0 else 0.5) * h * h * tau / INERTIA, v + h * tau / INERTIA
        # flight[0] + share h (v' - flight[1]) is q'
        rest = p - flight[0] + share * h * flight[1] + (1 - share) * h * speed
        after = (INERTIA * flight[1] + h * kp * rest + h * kd * speed) / (INERTIA + h * kd + h * h * kp)
        q, v = flight[0] + share * h * (after - flight[1]), after
        sim.step()
        assert sim.v[0] == pytest.approx(v, rel=1e-12, abs=1e-12)
        assert sim.q[0] == pytest.approx(q, rel=1e-12, abs=1e-12)
        force = kp * (p - q - (1 - share) * h * (v - speed)) + kd * (speed - v)
        assert sim.coordinate_impulses["motor of arm.angle"] == pytest.approx(h * force, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_way_to_a_position_takes_its_time_whatever_the_timestep(integrator):
    """Critically damped: q = p (1 - (1 + w t) exp(-w t)), approached as the step goes to 0, to first order."""
    rate, errors = 2 * np.pi * 4.0, []
    for h in (1 / 500, 1 / 1000, 1 / 2000):
        sim, worst = running(hinge(), h, integrator, position=1.0, frequency=4.0), 0.0
        for k in range(1, round(0.5 / h) + 1):
            sim.step()
            t = k * h
            worst = max(worst, abs(sim.q[0] - (1.0 - (1.0 + rate * t) * np.exp(-rate * t))))
        errors.append(worst)
    assert errors[0] < 0.03
    for coarse, fine in pairwise(errors):
        assert fine == pytest.approx(coarse / 2, rel=0.1)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("h", STEPS)
def test_a_motor_that_carries_a_weight_sags_by_the_weight_over_kp(h, integrator):
    """At rest nothing of the integrator is left: kp (p - q) = m g."""
    sim = running(slider("z"), h, integrator, position=0.3, kp=500.0, kd=60.0)
    sim.step(round(8 / h))
    assert sim.q[0] == pytest.approx(0.3 - 2.0 * G / 500.0, abs=1e-9)
    assert sim.v[0] == pytest.approx(0.0, abs=1e-9)
    assert sim.coordinate_impulses["motor of block.distance"] == pytest.approx(h * 2.0 * G, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.0, 8.0), st.floats(-3.0, 3.0), st.sampled_from(STEPS), st.floats(-1.0, 1.0), st.floats(-5.0, 5.0)
)  # fmt: skip
def test_a_motor_that_asks_for_rest_takes_energy_away(stiff, damp, h, q, v):
    """Kinetic energy and the spring's never grow, in no step, however stiff."""
    kp, kd = 10.0**stiff - 1.0, 10.0**damp - 1e-3
    sim = running(HINGE, h, position=0.0, kp=kp, kd=kd)
    sim.q, sim.v = [q], [v]
    before = np.inf
    for _ in range(30):
        now = 0.5 * INERTIA * sim.v[0] ** 2 + 0.5 * kp * sim.q[0] ** 2
        assert now <= before * (1 + 1e-9) + 1e-12
        before = now
        sim.step()


@settings(max_examples=40, deadline=None)
@given(st.floats(0.0, 8.0), st.floats(0.1, 20.0), st.sampled_from(STEPS), st.floats(-1.0, 1.0), st.floats(-5.0, 5.0))
def test_a_bounded_spring_takes_energy_away_too(stiff, most, h, q, v):
    """What it stores grows with its force up to the bound, and with the way from there on."""
    kp = 10.0**stiff
    sim = running(HINGE, h, position=0.0, kp=kp, kd=0.0, max_force=most)
    sim.q, sim.v = [q], [v]
    before = np.inf
    for _ in range(30):
        x = abs(sim.q[0])
        stored = 0.5 * kp * x * x if kp * x < most else most * (x - 0.5 * most / kp)
        now = 0.5 * INERTIA * sim.v[0] ** 2 + stored
        assert now <= before * (1 + 1e-9) + 1e-12
        before = now
        sim.step()
        assert abs(sim.coordinate_impulses["motor of arm.angle"]) <= h * most * (1 + 1e-9)


# Velocities, bounds and limits


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_motor_of_given_velocity_has_it_at_once(integrator):
    """To a millionth of what else would change it."""
    sim = running(hinge((0, 0, -G)), integrator=integrator, velocity=2.0)
    for _ in range(50):
        sim.step()
        assert sim.v[0] == pytest.approx(2.0, abs=3e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_motor_saturates(integrator):
    """F / m until it has its velocity, then that; too weak a motor loses against gravity by g - F / m."""
    sim = running(slider(), integrator=integrator, velocity=1.0, max_force=5.0)
    for k in range(1, 150):
        sim.step()
        assert sim.v[0] == pytest.approx(min(1.0, 2.5 * k * H), abs=1e-7)
    sim.motors.clear()
    before = sim.v[0]
    sim.step(10)
    assert sim.v[0] == before, "without a motor nothing changes it"
    for force, a in ((25.0, 0.0), (10.0, 5.0 - G)):
        hanging = running(slider("z"), integrator=integrator, velocity=0.0, max_force=force)
        hanging.step(60)
        assert hanging.v[0] == pytest.approx(a * 60 * H, abs=1e-6)
        told = hanging.motor_forces["block.distance"]
        assert told.force == pytest.approx(min(force, 2.0 * G), rel=1e-6) and told.saturated == (a != 0.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("h", STEPS)
def test_a_bounded_motor_comes_from_far_away_without_a_jump(h, integrator):
    """It pulls with F until kp times the way is kd times the velocity, then comes as exp(-t kp / kd)."""
    sim = running(slider(), h, integrator, position=3.0, kp=1e4, kd=1e4, max_force=8.0)
    for k in range(1, round(0.5 / h) + 1):
        sim.step()
        assert sim.v[0] == pytest.approx(4.0 * k * h, rel=1e-9)
    sim.step(round(8.0 / h))
    assert 3.0 - 3.0 * np.exp(-8.0) < sim.q[0] < 3.0


@pytest.mark.parametrize("motor", [{"velocity": 3.0}, {"position": 9.0, "kp": 1e7}, {"velocity": 3.0, "max_force": 30}])
@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_limit_wins_against_any_motor(integrator, h, motor):
    """It stops at the limit in the step in which it meets it, and stays; the motor does what is a finite force."""
    sim = running(slider(limits=(-1.0, 0.2)), h, integrator, **motor)
    for _ in range(round(0.5 / h)):
        sim.step()
        assert sim.q[0] < 0.2 + 3e-5
    assert sim.q[0] == pytest.approx(0.2, abs=3e-5)
    assert sim.v[0] == pytest.approx(0.0, abs=1e-6)
    impulses = sim.coordinate_impulses
    assert np.isfinite(list(impulses.values())).all()
    assert impulses["motor of block.distance"] == pytest.approx(impulses["high limit of block.distance"], rel=1e-6)
    sim.motors["block.distance"] = rd.Motor(velocity=-1.0)
    sim.step(round(0.1 / h))
    assert sim.q[0] == pytest.approx(0.1, abs=2e-2), "and lets it go again"


# Gains, bounds and copies


def test_gains_that_are_not_given_are_those_of_what_the_coordinate_carries():
    d = chain_of_hinges(3, joints.free(), 4)
    name, slot = d.velocity_coordinates[8], 8
    for rule, frequency, ratio in (({}, 10.0, 1.0), ({"frequency": 3.0, "damping_ratio": 0.4}, 3.0, 0.4)):
        sim = rd.Simulation(d, H)
        sim.q[-1] = 1.0  # gains do not depend on where it is when they are set
        sim.motors[name] = rd.Motor(position=0.3, **rule)
        kp, kd = natural_gains(d, d.neutral(), frequency, ratio)
        np.testing.assert_allclose(np.ravel(sim.motors.gains(name)), [kp[slot], kd[slot]], rtol=1e-12)
    sim.motors[name] = rd.Motor(position=0.3, kp=50.0)
    inertia = kp[slot] / (2 * np.pi * 3.0) ** 2
    assert sim.motors.gains(name)[1] == pytest.approx([2 * np.sqrt(50.0 * inertia)]), "critical for it"


def test_a_motor_without_a_bound_of_its_own_has_the_coordinates_effort_limit():
    """A gear multiplies what the motor's shaft gives; tau is not cut."""
    dynamics = slider(effort=8.0, velocity=2.0)
    assert dynamics.effort_limits.tolist() == [8.0] and dynamics.velocity_limits.tolist() == [2.0]
    for own, bound, gear in (
        ({}, 8.0, 1.0),
        ({"max_force": 3.0}, 3.0, 1.0),
        ({"max_force": 0.5, "gear": 9.0}, 4.5, 9),
    ):
        sim = running(dynamics, position=5.0, **own)
        sim.step()
        done = sim.motor_forces["block.distance"]
        assert (done.force, done.most, done.motor_side) == pytest.approx(
            (bound, bound, bound / gear)
        ) and done.saturated
    sim.motors.clear()
    sim.v, sim.tau = [0.0], [100.0]
    sim.step()
    assert sim.v[0] == pytest.approx(H * 50.0)


def test_a_copy_goes_on_as_the_simulation_does():
    d = chain_of_hinges(4, joints.ball(), 4)
    sim = rd.Simulation(d, H)
    sim.motors["base"] = rd.Motor(position=(0, 0, 0.6, 0.8), max_force=(2.0, 3.0, 4.0))
    sim.motors[d.velocity_coordinates[4]] = rd.Motor(position=0.4, max_force=1.0)
    sim.step(20)
    other = copy.deepcopy(sim)
    for one in (sim, other):
        one.step(20)
    np.testing.assert_array_equal(sim.q, other.q)
    assert sim.coordinate_impulses == other.coordinate_impulses


# What does not fit


@pytest.mark.parametrize(
    "name, motor, error, message",
    [
        ("base.wx", {"position": 0.3}, rd.ModelError, "no position"),
        ("nobody", {"velocity": 1.0}, rd.ModelError, "unknown coordinate 'nobody'; the scene has base.wx"),
        ("base", {"position": 0.3}, rd.StateError, "a quaternion x, y, z, w, three numbers, or these"),
        ("base", {"position": (0, 0, 0, 0)}, rd.StateError, "length 0"),
        ("base", {"position": (0, 0, 0), "velocity": (1, 2)}, rd.StateError, "velocity of .*'base'.* 3, one a coord"),
        ("b0.angle", {"position": (1, 2)}, rd.StateError, "is a number"),
        ("b0.angle", {"kd": (1, 2)}, rd.StateError, "kd of"),
    ],
)
def test_motors_that_do_not_fit(name, motor, error, message):
    sim = rd.Simulation(chain_of_hinges(1, joints.free(), 1))
    with pytest.raises(error, match=message):
        sim.motors[name] = rd.Motor(**motor)
    assert not sim.motors


def test_a_coordinate_has_one_motor():
    sim = rd.Simulation(chain_of_hinges(1, joints.free(), 1))
    sim.motors["base.wx"] = rd.Motor(velocity=0.0)
    with pytest.raises(rd.StateError, match=r"motors\['base.wx'\] drives what motors\['base'\] would"):
        sim.motors["base"] = rd.Motor(velocity=0.0)
    sim.motors["base.wx"] = rd.Motor(velocity=1.0)


HINGE = hinge()


def test_no_motor_leads_time():
    scene = Scene()
    arm = scene.world.attach(Body("arm", [], mass=1.0, inertia=np.eye(3)), joints.revolute("y"))
    scene.force(arm, force=(scene.time, 0, 0))
    sim = rd.Simulation(scene.compile())
    with pytest.raises(rd.StateError, match=r"motors\['time'\]: time goes on by itself"):
        sim.motors["time"] = rd.Motor(velocity=1.0, max_force=1.0)


@pytest.mark.parametrize("h", (1 / 240, 1 / 60))
def test_an_arm_that_motors_hold_is_told_to_be_at_rest(h):
    """What they bear acts in the flight: at its end alone it left 4e-4 rad/s at 1/60 s, as gravity bends what falls."""
    scene = Scene()
    node, at = scene.world, rd.pose((0, 0, 1))
    for k in range(2):
        link = Body(f"link {k}", mass=1.0, center_of_mass=(0.2, 0, 0), inertia=np.eye(3) * 0.02)
        node, at = node.attach(link, joints.revolute("y"), at=at), rd.pose((0.4, 0, 0))
    sim = rd.Simulation(scene.compile(), h)
    for k in range(2):
        sim.motors[f"link {k}.angle"] = rd.Motor(position=0.2 + 0.1 * k, kp=1e5, kd=1e3)
    sim.step(round(5 / h))
    before = sim.q.copy()
    sim.step(round(5 / h))
    assert np.abs(sim.q - before).max() < 1e-9
    assert np.abs(sim.v).max() < 1e-4


def test_a_motor_is_exchanged_and_not_changed_and_one_that_is_missing_is_told_by_name():
    sim = running(hinge(), position=1.0)
    with pytest.raises(rd.StateError, match=r"put another one there: .*position=2"):
        sim.motors["arm.angle"].position = 2
    with pytest.raises(rd.StateError, match="a Motor has no 'target'; it has position, velocity"):
        sim.motors["arm.angle"].target = 2
    sim.motors["arm.angle"] = replace(sim.motors["arm.angle"], position=2)
    with pytest.raises(rd.StateError, match="did nothing in the last step"):
        sim.motor_forces["arm.angle"]
    sim.step()
    assert sim.motor_forces["arm.angle"].force > 0 and copy.deepcopy(sim.motor_forces) == dict(sim.motor_forces)
    del sim.motors["arm.angle"]
    for ask in (
        lambda: sim.motor_forces["arm.angle"],
        lambda: sim.motors["arm.angle"],
        lambda: sim.motors.pop("arm.angle"),
    ):
        with pytest.raises(rd.StateError, match=r"^'arm.angle' has no motor: .*= rd.Motor\(...\)"):
            ask()
    assert "arm.angle" not in sim.motors and sim.motors.get("arm.angle") is None  # as of any mapping
    with pytest.raises(rd.ModelError, match=r"unknown coordinate 'arm.angel'"):
        sim.motor_forces["arm.angel"]


def test_forces_of_a_motor_of_a_whole_joint_are_told_by_coordinate():
    scene = Scene()
    scene.world.attach(Body("ball", mass=1.0, inertia=np.eye(3)), joints.ball())
    sim = rd.Simulation(scene.compile())
    sim.motors["ball"] = rd.Motor(position=(0, 0, 0, 1))
    sim.step()
    with pytest.raises(rd.StateError, match=r"told by coordinate: ball.wx, ball.wy, ball.wz"):
        sim.motor_forces["ball"]
