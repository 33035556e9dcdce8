"""Laws of controllers that follow a configuration: errors decay as designed, springs have energies, stiff is stable."""

import numpy as np
import pinocchio as pin
import pytest
from constraint_cases import bound
from scipy.integrate import solve_ivp
from trees import assert_close, curve, derivative, mechanism, random_body

import recursive_dyn as rd
from recursive_dyn import control
from recursive_dyn.control.tracking_error import Tracking
from scene import Body, Scene, joints

CURVED = {"kinds": ("ball", "free", "revolute"), "root": "free"}
TREES = {"flat": (5, {"springs": True, "charts": False}), "curved": (6, CURVED), "large": (13, {"charts": False})}


def case(name):
    """Dynamics, a state, another configuration less than half a turn off, and two velocities."""
    bodies, options = TREES[name]
    m = mechanism(bodies, bodies, **options)
    d, (q, v) = m.dynamics(), m.states(1, bodies)
    rng = np.random.default_rng(bodies)
    v_end, a_end = rng.normal(size=(2, d.nv))
    return d, q[0], v[0], d.integrate(q[0], rng.uniform(-1, 1, d.nv), 1.0), v_end, a_end


def chain(**settings):
    scene = Scene()
    node, rng = scene.world, np.random.default_rng(1)
    for i in range(4):
        node = node.attach(
            random_body(rng, f"b{i}"), joints.revolute("xyz"[i % 3], **settings), at=rd.pose((0.1, 0.2, -0.4))
        )
    return scene.compile()


def slider(mass=2.0, **settings):
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("slider", mass=mass), joints.prismatic("x", **settings))
    return scene.compile()


@pytest.mark.parametrize("name", TREES)
def test_the_error_and_its_derivatives_are_those_of_the_way_between_two_motions(name):
    d, q, v, q_end, v_end, a_end = case(name)
    a = np.random.default_rng(1).normal(size=d.nv)

    def seen(t):
        at = [curve(d, *motion, t) for motion in ((q, v, a), (q_end, v_end, a_end))]
        moved = a + 0.0 * at[0][1], a_end + 0.0 * at[1][1]
        return np.array([
            d.call("tracking", *state, *end, there) for state, end, there in
            zip(zip(*at[0], strict=True), zip(*at[1], strict=True), moved[1], strict=True)
        ])  # fmt: skip

    rows = d.call("tracking", q, v, q_end, v_end, a_end)
    slopes = derivative(seen)
    assert_close(rows[:, 0], d.difference(q, q_end), 1e-14)
    assert_close(rows[:, 1], slopes[:, 0], 1e-9)
    look = Tracking(d).look(q, v, (q_end, v_end, a_end))
    assert_close(look.accelerations(slopes[:, 1]), a, 1e-8)


@pytest.mark.parametrize("name", TREES)
def test_computed_torque_gives_the_error_its_designed_acceleration(name):
    d, q, v, q_end, v_end, a_end = case(name)
    law = control.ComputedTorque(
        d, q_end, v_end, a_end, frequency=0.7, damping_ratio=0.4, actuated=d.velocity_coordinates
    )
    a = d.forward_dynamics(q, v, law(q, v) + d.passive_forces(q, v))
    look, rate = Tracking(d).look(q, v, (q_end, v_end, a_end)), 2 * np.pi * 0.7
    assert_close(look.accelerations(-2 * 0.4 * rate * look.rate - rate**2 * look.error), a, 1e-9)
    assert law.uncontrolled == () and not law.shortfall.any()


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.0])
def test_under_computed_torque_the_error_decays_in_closed_form(ratio):
    """In continuous time, along a moving target, with springs and dampers in the joints."""
    d = chain(stiffness=7.0, damping=0.3)
    rate, start, speed = 2 * np.pi, np.full(4, 0.5), np.array([1.0, -2.0, 0.5, 0.0])

    def target(t):
        return np.sin(t + np.arange(4.0))

    law = control.ComputedTorque(
        d, target, lambda t: np.cos(t + np.arange(4.0)), lambda t: -target(t), frequency=1.0, damping_ratio=ratio
    )

    def moving(t, x):
        q, v = np.split(x, 2)
        return np.concatenate([v, d.forward_dynamics(q, v, law(q, v, t) + d.passive_forces(q, v))])

    first = np.concatenate([target(0.0) - start, np.cos(np.arange(4.0)) - speed])
    done = solve_ivp(moving, (0, 1), np.concatenate([start, speed]), method="DOP853", rtol=1e-11, atol=1e-12)
    A = np.array([[0.0, 1.0], [-(rate**2), -2 * ratio * rate]])
    roots, modes = np.linalg.eig(A.astype(complex)) if ratio != 1.0 else (None, None)
    if ratio == 1.0:  # a double root: e = (e0 + (e0' + rate e0) t) exp(-rate t)
        expected = (first[:4] + (first[4:] + rate * first[:4])) * np.exp(-rate)
    else:
        flow = (modes @ np.diag(np.exp(roots)) @ np.linalg.inv(modes)).real
        expected = flow[0, 0] * first[:4] + flow[0, 1] * first[4:]
    assert_close(target(1.0) - done.y[:4, -1], expected, 1e-8)


def test_held_over_the_timestep_it_decays_so_to_first_order():
    d, q, v, q_end, *_ = case("curved")
    rate, found = 2 * np.pi * 0.3, []
    for h in (4e-3, 2e-3, 1e-3):
        sim = rd.Simulation(d, h, "rk4")
        sim.q, sim.v = q, 0.1 * v
        sim.control = control.ComputedTorque(d, q_end, frequency=0.3, actuated=d.velocity_coordinates)
        start = Tracking(d).look(sim.q, sim.v, (q_end, 0 * v, 0 * v))
        e, slope = start.error.copy(), start.rate.copy()
        sim.step(round(0.4 / h))
        expected = (e + (slope + rate * e) * 0.4) * np.exp(-rate * 0.4)
        found.append(np.abs(d.difference(sim.q, q_end) - expected).max())
    assert found[0] / found[1] == pytest.approx(2.0, rel=0.15) and found[1] / found[2] == pytest.approx(2.0, rel=0.1)


def test_on_a_floating_base_the_joints_do_as_designed_and_it_says_what_is_left():
    d, q, v, q_end, v_end, a_end = case("curved")
    law = control.ComputedTorque(d, q_end, v_end, a_end, frequency=0.7)
    tau = law(q, v)
    a = d.forward_dynamics(q, v, tau + d.passive_forces(q, v))
    wanted = control.ComputedTorque(d, q_end, v_end, a_end, frequency=0.7, actuated=d.velocity_coordinates)
    full = d.forward_dynamics(q, v, wanted(q, v) + d.passive_forces(q, v))
    assert law.uncontrolled == d.velocity_coordinates[:6]
    assert not tau[:6].any()
    assert_close(a[6:], full[6:], 1e-9)
    assert_close(law.shortfall, full - a, 1e-9, np.abs(full).max())


def test_under_constraints_driven_coordinates_do_as_designed_where_these_leave_it_to_them():
    case = bound(3, 5)
    d, q = case.dynamics(), case.home
    v = d.project(q, np.random.default_rng(1).normal(size=d.nv))[1]
    slot = 6  # the first that is not of the base
    law = control.ComputedTorque(d, q, actuated=[d.velocity_coordinates[slot]], frequency=1.0)
    a = d.forward_dynamics(q, v, law(q, v) + d.passive_forces(q, v))
    assert_close(a[slot], -2 * 2 * np.pi * v[slot], 1e-7)
    assert_close(law.shortfall[slot], 0.0, 1e-7, abs(a[slot]))


@pytest.mark.parametrize("name", TREES)
def test_a_spring_on_a_manifold_has_an_energy(name):
    """Forces of a PD to a target that stands still do the work that kp e'e / 2 loses, less what dampers take."""
    d, q, v, q_end, *_ = case(name)
    rng = np.random.default_rng(3)
    kp, kd = rng.uniform(1, 9, (2, d.nv))  # other ones in each direction of a ball
    law = control.PD(d, q_end, kp=kp, kd=kd, actuated=d.velocity_coordinates)
    look = Tracking(d).look(q, v, (q_end, 0 * v, 0 * v))
    power = law(q, v) @ v
    assert power + kp * look.error @ look.rate == pytest.approx(-kd * look.rate @ look.rate, rel=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_with_gravity_compensated_a_pd_never_adds_energy(name):
    d, q, v, q_end, *_ = case(name)
    law = control.PD(d, q_end, frequency=0.5, damping_ratio=0.2, actuated=d.velocity_coordinates)
    sim = rd.Simulation(d, 1e-4, "rk4")
    sim.q, sim.v = q, 0.3 * v
    everything = d.velocity_coordinates
    sim.control = law + control.GravityCompensation(d, actuated=everything)
    energies = []
    for _ in range(150):
        e = d.difference(sim.q, q_end)
        energies.append(float(d.kinetic_energy(sim.q, sim.v) + d.elastic_energy(sim.q) + law.kp * e @ e / 2))
        sim.step()
    assert (np.diff(energies) < 0.0).all()


@pytest.mark.parametrize("kp", [1e5, 1e6, 1e7])
def test_a_stable_pd_of_any_stiffness_holds_at_frame_rate(kp):
    d, target, h = chain(), np.array([0.3, -0.4, 0.2, 0.5]), 1 / 60
    sim = rd.Simulation(d, h)
    sim.control = control.StablePD(d, target, timestep=h, kp=kp, kd=kp * h)
    for _ in range(300):
        sim.step()
        assert np.abs(sim.q).max() < 2.0
    assert np.abs(sim.q - target).max() < 200.0 / kp  # what gravity's 100 N m bend it
    assert np.abs(sim.v).max() < 1e-6
    plain = rd.Simulation(d, h)
    plain.control = control.PD(d, target, kp=kp, kd=kp * h)
    with pytest.warns(RuntimeWarning, match="StablePD"), pytest.raises(rd.StateError):
        plain.step(300)


def test_a_stable_pd_is_backward_euler_of_its_spring():
    """v' = v + h (kp (q_d' - q') + kd (v_d' - v') - k q' - d v') / m, q' = q + h v', with the joint's own k and d."""
    m, kp, kd, k, c, h = 2.0, 3e4, 50.0, 40.0, 3.0, 1 / 60
    d = slider(m, stiffness=k, damping=c)
    sim = rd.Simulation(d, h, "semi_implicit_euler")
    sim.control = control.StablePD(d, lambda t: [np.sin(t)], lambda t: [np.cos(t)], timestep=h, kp=kp, kd=kd)
    q, v = 0.3, -0.5
    sim.q, sim.v = [q], [v]
    for n in range(1, 60):
        goal, speed = np.sin(n * h), np.cos(n * h)
        v = (m * v + h * (kp * (goal - q) + kd * speed - k * q)) / (m + h * (kd + c) + h * h * (kp + k))
        q = q + h * v
        sim.step()
        assert_close(sim.q[0], q, 1e-12, 1.0)
        assert_close(sim.v[0], v, 1e-11, 1.0)


def test_a_stable_pd_reckons_with_what_is_given_beside_it():
    """With gravity compensated it comes to rest at its target, however weak it is; both orders of the sum."""
    d, target = chain(), np.array([0.3, -0.4, 0.2, 0.5])
    weight, soft = control.GravityCompensation(d), control.StablePD(d, target, timestep=1 / 60, frequency=1.0)
    for law in (weight + soft, soft + weight):
        sim = rd.Simulation(d, 1 / 60)
        sim.control = law
        sim.step(900)
        assert_close(sim.q, target, 1e-9)


@pytest.mark.parametrize("name", TREES)
def test_what_is_added_to_the_diagonal_of_the_mass_matrix_is_inertia(name):
    d, q, v, *_ = case(name)
    tau, diagonal = np.random.default_rng(2).uniform(0, 5, (2, d.nv))
    a = d.call("loaded_accelerations", q, v, tau, diagonal)
    assert_close(d.mass_matrix(q) @ a + diagonal * a + d.bias(q, v), tau, 1e-11)


def test_the_stiffest_is_there_after_a_step_rotations_included():
    d, q, v, q_end, *_ = case("curved")
    sim = rd.Simulation(d, 1 / 60, "semi_implicit_euler")
    sim.q, sim.v = q, v
    law = control.StablePD(d, q_end, timestep=1 / 60, kp=1e12, kd=0.0, actuated=d.velocity_coordinates)
    end = d.integrate(q, v + d.forward_dynamics(q, v, law(q, v)) / 60, 1 / 60)
    assert np.abs(d.difference(end, q_end)).max() < 1e-6


def test_gains_that_nobody_gave_swing_at_the_frequency_and_die_out_at_the_ratio():
    """A slider of mass m: kp = m w^2, kd = 2 zeta m w; a kd that follows from a given kp damps at the ratio."""
    d, w = slider(3.0), 2 * np.pi * 4.0
    law = control.PD(d, frequency=4.0, damping_ratio=0.3)
    assert_close(np.concatenate([law.kp, law.kd]), np.array([3 * w * w, 2 * 0.3 * 3 * w]), 1e-12)
    law = control.PD(d, kp=48.0, damping_ratio=0.5)
    assert_close(law.kd, np.array([2 * 0.5 * np.sqrt(48.0 * 3.0)]), 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_computed_torque_is_the_inverse_dynamics_of_pinocchio(seed):
    rng = np.random.default_rng(seed)
    model, scene = pin.Model(), Scene()
    node, joint = scene.world, 0
    for k in range(5):
        body, place = random_body(rng, f"b{k}"), rd.pose(rng.normal(size=3), rng.normal(size=3))
        node = node.attach(body, joints.revolute("xyz"[k % 3]), at=place)
        kind = (pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ())[k % 3]
        joint = model.addJoint(joint, kind, pin.SE3(place), f"j{k}")
        inertia = pin.Inertia(body.mass, np.array(body.center_of_mass, dtype=float), np.array(body.inertia, float))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    q, v, goal, kp, kd = rng.normal(size=(5, 5))
    kp, kd = np.abs(kp), np.abs(kd)
    law = control.ComputedTorque(scene.compile(), goal, kp=kp, kd=kd)
    expected = pin.rnea(model, model.createData(), q, v, kp * (goal - q) - kd * v)
    assert_close(law(q, v), expected, 1e-12)
