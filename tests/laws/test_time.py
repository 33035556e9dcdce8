"""Rheonomic joints, constraints and forces: scene.time is a coordinate with the rate 1 that no force moves.

The oracle is the same scene with a plain coordinate in time's place: what the others do follows from its M and bias by
dense algebra, and what time's row is off by is the power of all that time moves. Closed forms tell both.
"""

from functools import cache

import numpy as np
import pytest
import sympy as sp
from timed_scenes import pose, shaking_table
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints

RULES = {
    "semi_implicit_euler": 1,
    "rk4": 4,
    "linearly_implicit_rk4": 4,
    "implicit_midpoint": 2,
    "variational_midpoint": 2,
}
METHODS = ("recursive", "lagrangian")


def body(name, k=0):
    return Body(name, mass=0.7 + 0.2 * k, center_of_mass=(0.1, -0.05 * k, 0.2), inertia=np.diag([0.05, 0.06, 0.04]))


@cache
def machine(timed):
    """Time in fixed, own, driven and distant joints, in a constraint and in forces, with and without energy."""
    scene = Scene()
    t = scene.time if timed else scene.coordinate("s")
    q = sp.Symbol("angle", real=True)
    table = scene.world.attach(body("table"), joints.Joint(pose(0.3 * sp.sin(t), t**2 / 5, 0.1 * t, sp.sin(t)), ()))
    arm = table.attach(body("arm", 1), joints.revolute("y", damping=0.1), at=rd.pose((0.2, 0, 0.5)))
    arm.attach(body("vane", 2), joints.Joint(pose(sp.cos(t) / 3, 0.2, q / 4, q + t), q), at=rd.pose((0, 0, -0.4)))
    cam = scene.world.attach(body("cam", 1), joints.prismatic("x").driven(sp.sin(2 * t) / 3), at=rd.pose((0, 1, 0)))
    bob = cam.attach(body("bob", 2), joints.ball(), at=rd.pose((0, 0, -0.3)))
    still = scene.world.attach(body("still"), joints.revolute("x", stiffness=2.0), at=rd.pose((0, -1, 0)))
    scene.constrain(still.q[0] - arm.q[0] / 2 - sp.sin(t) / 5, name="belt")
    scene.force(bob, force=(sp.sin(3 * t), t * bob.position[2], 1))
    scene.potential((1 + t / 2) * arm.q[0] ** 2)
    return scene


def state(d, seed):
    rng = np.random.default_rng(seed)
    q, v, tau = d.random(rng), rng.normal(size=d.nv), rng.normal(size=d.nv)
    q[-1], v[-1] = rng.uniform(-1, 1), 1.0
    return q, v, tau


def plain(q, v, timed, other):
    """The state with the coordinates in the other scene's order."""
    places = [timed.coordinates.index("time" if name == "s" else name) for name in other.coordinates]
    slots = [timed.velocity_coordinates.index("time" if n == "s" else n) for n in other.velocity_coordinates]
    return q[places], v[slots], np.array(slots)


@pytest.mark.parametrize("method", METHODS)
def test_what_time_moves_is_a_coordinate_that_no_force_moves(method):
    """M a + bias = tau + C^T lambda + drive, a = 0 and drive only in time's row, C a + C-dot v = 0."""
    timed, other = machine(True).compile(method), machine(False).compile()
    assert timed.coordinates[-1] == "time"
    for seed in range(3):
        q, v, tau = state(timed, seed)
        q_s, v_s, slots = plain(q, v, timed, other)
        a, drive = timed.forward_dynamics(q, v, tau), timed.drive_forces(q, v, tau - timed.passive_forces(q, v))
        lam = timed.multipliers(q, v, tau)
        C = other.constraint_jacobian(q_s)
        expected = other.inverse_dynamics(q_s, v_s, a[slots]) - C.T @ lam
        assert a[-1] == 0.0
        assert not drive[:-1].any()
        assert_close(expected, (tau + drive)[slots], 1e-11)
        free = other.forward_dynamics(q_s, v_s, expected)  # the constraint's own forces are in neither
        assert_close(C @ a[slots], C @ free, 1e-10)
        for name in ("poses", "mass_matrix", "potential_energy", "elastic_energy"):
            mine, theirs = getattr(timed, name)(q), getattr(other, name)(q_s)
            assert_close(mine[np.ix_(slots, slots)] if name == "mass_matrix" else mine, theirs, 1e-12)
        for name in ("velocities", "kinetic_energy", "momentum"):
            assert_close(getattr(timed, name)(q, v), getattr(other, name)(q_s, v_s), 1e-12)


def test_the_rate_of_time_is_one_whatever_is_said():
    d = machine(True).compile()
    q, v, tau = state(d, 5)
    asleep = np.append(v[:-1], 0.0)
    for name in ("forward_dynamics", "velocities", "kinetic_energy", "constraint_errors"):
        given = (q, v, tau) if name == "forward_dynamics" else (q, v)
        other = (q, asleep, tau) if name == "forward_dynamics" else (q, asleep)
        np.testing.assert_array_equal(
            np.hstack([np.ravel(x) for x in np.atleast_1d(getattr(d, name)(*given))]),
            np.hstack([np.ravel(x) for x in np.atleast_1d(getattr(d, name)(*other))]),
        )


def test_velocities_and_accelerations_are_the_derivatives_of_poses():
    d, h = machine(True).compile(), 1e-4
    q, v, tau = state(d, 1)
    a = d.forward_dynamics(q, v, tau)
    there = [d.poses(d.integrate(q, v + 0.5 * s * h * a, s * h))[:, :3, 3] for s in (-1, 0, 1)]
    assert_close((there[2] - there[0]) / (2 * h), d.velocities(q, v)[:, 3:], 1e-7)
    assert_close((there[2] - 2 * there[1] + there[0]) / h**2, d.accelerations(q, v, a)[:, 3:], 1e-5)


def pendulum_on_a_shaking_pivot(shake=0.2, rate=3.0, length=0.7):
    scene = Scene()
    pivot = scene.world.attach(
        Body("pivot", mass=2.0, inertia=np.eye(3)), joints.Joint(pose(shake * sp.sin(rate * scene.time)), ())
    )
    bob = Body("bob", mass=1.3, center_of_mass=(0, 0, -length), inertia=np.zeros((3, 3)))
    pivot.attach(bob, joints.revolute("y", armature=1e-12))
    return scene


@pytest.mark.parametrize("method", METHODS)
def test_a_shaking_pivot_pushes_its_pendulum(method):
    """l theta'' = -g sin theta + x'' cos theta, x = A sin(w t); the bob is at -l sin theta from the pivot."""
    d, A, w, l = pendulum_on_a_shaking_pivot().compile(method), 0.2, 3.0, 0.7
    for theta, t in ((0.3, 0.4), (-2.0, 1.7), (1.0, 0.0)):
        pivot = -A * w * w * np.sin(w * t)
        expected = (pivot * np.cos(theta) - 9.81 * np.sin(theta)) / l
        assert_close(d.forward_dynamics([theta, t], [0.7, 1.0]), [expected, 0.0], 1e-10)


@pytest.mark.parametrize("rule", RULES)
def test_integrators_keep_their_order_and_time_to_the_bit(rule):
    exact = rd.Simulation(pendulum_on_a_shaking_pivot().compile(), 1 / 4000, "rk4")
    exact.q[0] = 0.3
    exact.step(4000)
    errors = []
    for steps in (100, 200):
        sim = rd.Simulation(exact.dynamics, 1 / steps, rule)
        sim.q[0] = 0.3
        sim.step(steps)
        assert sim.time == sim.q[-1]
        errors.append(np.hypot(*(np.array([sim.q[0], sim.v[0]]) - [exact.q[0], exact.v[0]])))
    assert abs(np.log2(errors[0] / errors[1]) - RULES[rule]) < 0.2


def test_a_bead_on_a_turning_rod_flies_off():
    """r'' = w^2 r: r = r0 cosh(w t); the rod's drive does the work d/dt (m w^2 r^2)."""
    scene, w, m = Scene(gravity=(0, 0, 0)), 2.0, 0.4
    rod = scene.world.attach(Body("rod"), joints.Joint(pose(turn=w * scene.time), ()))
    rod.attach(Body("bead", mass=m, inertia=np.zeros((3, 3))), joints.prismatic("x"))
    sim = rd.Simulation(scene.compile(), 1 / 500, "rk4")
    sim.q[0] = 0.1
    sim.step(500)
    r, rate = 0.1 * np.cosh(w), 0.1 * w * np.sinh(w)
    assert_close(sim.q, [r, 1.0], 1e-9)
    assert_close(sim.v, [rate, 1.0], 1e-9)
    assert_close(sim.dynamics.drive_forces(sim.q, sim.v)[-1], 2 * m * w * w * r * rate, 1e-8)


@pytest.mark.parametrize("rule", ["rk4", "linearly_implicit_rk4"])
def test_energy_changes_by_what_time_drives(rule):
    """d/dt E = power of the drive, less what the damper takes: by Simpson's rule over a motion, to fourth order."""
    d, h, n = machine(True).compile(), 1 / 200, 100
    sim = rd.Simulation(d, h, rule)
    sim.v = np.linspace(-1, 1, d.nv)
    sim.q, sim.v = d.project(sim.q, sim.v)
    energies, powers = [], []
    for _ in range(n + 1):
        q, v = sim.q.copy(), sim.v.copy()
        energies.append(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))
        taken = 0.1 * v[d.velocity_coordinates.index("arm.angle")] ** 2
        powers.append(d.drive_forces(q, v)[-1] - taken + d.element_power(q, v))
        sim.step()
    weights = np.ones(n + 1)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    work = h / 3 * weights @ powers
    assert abs(work) > 0.1
    assert abs(energies[-1] - energies[0] - work) < 2e-6
    assert sim.report.halvings == 0


def test_a_driven_belt_is_where_time_wants_it():
    sim = rd.Simulation(machine(True).compile(), 1 / 240)
    sim.step(60)
    phi, rate = sim.dynamics.constraint_errors(sim.q, sim.v)
    assert np.abs(phi).max() < 1e-11
    assert np.abs(rate).max() < 1e-9
    at = sim.dynamics.coordinates.index
    q = sim.q
    assert_close(q[at("still.angle")] - q[at("arm.angle")] / 2, np.sin(0.25) / 5, 1e-11)


@pytest.mark.parametrize("ratio", [0.98, 1.02, 1.6])
def test_a_shaking_table_carries_boxes_up_to_mu_g(ratio):
    """a = mu g is the threshold; beyond it a box gains mu g t."""
    mu, t_end = 0.5, 0.25
    a = ratio * mu * 9.81
    scene = shaking_table(a, mu)
    from bridge import Plugin

    plugin = Plugin(scene, timestep=1 / 240)
    plugin.simulation.step(round(240 * t_end))
    sim = plugin.simulation
    table, box = sim.dynamics.velocities(sim.q, sim.v)[:, 3]
    assert_close(table, a * t_end, 1e-12)
    assert_close(box, min(a, mu * 9.81) * t_end, 1e-6)


def test_time_stands_in_files(tmp_path):
    scene = machine(True)
    scene.save(tmp_path / "machine.json")
    again, d = Scene.load(tmp_path / "machine.json").compile(), scene.compile()
    q, v, tau = state(d, 2)
    np.testing.assert_array_equal(again.forward_dynamics(q, v, tau), d.forward_dynamics(q, v, tau))


def test_snapshots_and_the_clock_set_by_hand_bring_time_back():
    sim = rd.Simulation(pendulum_on_a_shaking_pivot().compile(), 1 / 100, "rk4")
    sim.step(7)
    kept, small = sim.snapshot(), sim.snapshot_bytes()
    sim.step(9)
    end = sim.q.copy()
    for snapshot in (kept, small):
        sim.restore(snapshot)
        assert sim.q[-1] == sim.time == 0.07
        sim.step(9)
        np.testing.assert_array_equal(sim.q, end)
    sim.time = 5.0
    assert sim.q[-1] == 5.0
    sim.q, sim.v, sim.tau = [0.2], (0.1,), np.array([0.3])  # time need not be given
    np.testing.assert_array_equal([sim.q, sim.v, sim.tau], [[0.2, 5.0], [0.1, 1.0], [0.3, 0.0]])
    with pytest.raises(rd.StateError, match="shape"):
        sim.q = [0.2, 0.3, 0.4]
    sim.q[:], sim.v[:] = 0.0, 0.0
    sim.step()
    assert (sim.q[-1], sim.v[-1]) == (sim.time, 1.0)


def test_derivatives_and_linear_models_take_time_as_they_take_coordinates():
    d, h = pendulum_on_a_shaking_pivot().compile(), 1e-6
    q, v, tau = np.array([0.3, 0.4]), np.array([0.7, 1.0]), np.zeros(2)
    by_q = d.derivatives("forward_dynamics", q, v, tau)[0]
    for k, e in enumerate(np.eye(2)):
        slope = (d.forward_dynamics(q + h * e, v, tau) - d.forward_dynamics(q - h * e, v, tau)) / (2 * h)
        assert_close(by_q[:, k], slope, 1e-7)


def refused(change, message):
    scene = Scene()
    with pytest.raises(rd.ModelError, match=message):
        change(scene)
        scene.compile()


def test_where_time_may_not_stand_is_named():
    def attach(scene, **given):
        scene.world.attach(Body("a", **{"mass": 1.0, "inertia": np.eye(3), **given}), joints.revolute("x"))

    refused(lambda s: attach(s, mass=1 + s.time), "mass of body 'a' uses scene.time")
    refused(lambda s: s.parameter("time", 1.0), "'time': that is scene.time")
    refused(lambda s: s.coordinate("time"), "'time': that is scene.time")
    for method in ("trace", "method_two"):
        with pytest.raises(rd.ModelError, match="time"):
            pendulum_on_a_shaking_pivot().compile(method)


def test_states_found_from_bodies_leave_time_alone():
    """Velocities of bodies and poses back to v and q, a body placed, a target reached: at the time that it is."""
    scene = machine.__wrapped__(True)
    scene.constraints.clear()
    d = scene.compile()
    q, v, _ = state(d, 3)
    for choice in ("tree", "joints"):
        assert_close(d.generalized_velocities(q, d.velocities(q, v), choice=choice)[0], v, 1e-9)
    near = d.integrate(q, np.append(np.full(d.nv - 1, 0.05), 0.0), 1.0)
    assert_close(d.generalized_positions(near, d.poses(q))[0], q, 1e-8)
    sim = rd.Simulation(d, 1 / 100)
    sim.time, sim.q = q[-1], near
    sim.place("vane", pose=d.poses(q)[d.bodies.index("vane")], velocity=d.velocities(q, v)[d.bodies.index("vane")])
    assert_close(d.poses(sim.q)[d.bodies.index("vane")], d.poses(q)[d.bodies.index("vane")], 1e-9)
    assert (sim.q[-1], sim.v[-1]) == (sim.time, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"reach"', '"time"', "'time': that is scene.time"),
        ("'reach'", "'time'", "'time' may stand in joints, constraints and forces only"),
        ('"lean"', '"time"', "'time': that is scene.time"),
    ],
)
def test_files_do_not_take_time_for_anything_else(old, new, message, tmp_path):
    scene = Scene()
    lean = scene.coordinate("lean")
    bar = Body("a", mass=scene.parameter("reach", 1.0), inertia=np.eye(3))
    scene.world.attach(bar, joints.revolute("x").driven(2 * lean))
    scene.save(path := tmp_path / "scene.json")
    path.write_text(path.read_text().replace(old, new, 1 if old[0] == "'" else -1))
    with pytest.raises(rd.SceneFileError, match=message):
        Scene.load(path)


def test_a_motor_leads_a_coordinate_of_a_joint_that_time_moves_too():
    """Its own velocity, beside that of time; what it carries is found with time held."""
    scene, q = Scene(gravity=(0, 0, 0)), sp.Symbol("q", real=True)
    joint = joints.Joint(pose(turn=q + 2 * scene.time), q)
    scene.world.attach(Body("disc", mass=1.0, inertia=np.diag([0.1, 0.1, 0.2])), joint)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.motors["disc.q"] = rd.Motor(velocity=0.5)
    sim.step(60)
    assert_close(sim.v, [0.5, 1.0], 1e-5)
    assert_close(sim.dynamics.velocities(sim.q, sim.v)[0, 2], 2.5, 1e-5)
