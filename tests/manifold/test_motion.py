"""Motions on manifolds: the method's order, what physics conserves, closed forms, and states that are refused."""

import numpy as np
import pytest
from moving import (
    GRAVITY,
    SYSTEMS,
    VALUES,
    R,
    compiled,
    double_rigid,
    double_spherical,
    free_body,
    inertia,
    moving,
    q,
    q1,
    random_forces,
    random_state,
    rigid,
    system,
    x,
)
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

import recursive_dyn as rd
from recursive_dyn.codegen import jit, reference
from recursive_dyn.manifold import lie
from recursive_dyn.manifold.motion import Motion
from recursive_dyn.manifold.positions import matrix, quaternion
from recursive_dyn.spatial import quaternion_product
from scene import Body, Scene, joints

DOWN = np.array([0.0, 0.0, -1.0])


def flat_state(motion):
    """What tells two motions apart: positions, rotations as matrices, and velocities."""
    return np.concatenate([*(np.ravel(motion[p.symbol]) for p in motion.dynamics.places), motion.v])


@pytest.mark.parametrize("name", SYSTEMS)
def test_convergence_is_of_fourth_order(name):
    ends = {}
    for steps in (40, 80, 160, 2560):
        motion = moving(name, timestep=1.0 / steps, speed=2.0, forced=True)
        motion.step(steps)
        ends[steps] = flat_state(motion)
    errors = [np.abs(ends[steps] - ends[2560]).max() for steps in (40, 80, 160)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] > 1e-11  # far above rounding: the order means something
    assert 3.7 < orders[-1] < 4.6, (orders, errors)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_constraints_hold_after_many_steps(name):
    motion = moving(name, timestep=1e-3)
    motion.step(100_000)
    assert motion.drift < 1e-13
    assert motion.time == pytest.approx(100.0)
    for p in motion.dynamics.places:
        assert p.space == "flat" or abs(np.linalg.norm(motion.q[p.q]) - 1.0) < 1e-15


def test_displacements_lead_along_velocities():
    """d/dt exp(u) q = v x q and d/dt R exp(u) = R exp(u) hat(v), in error by O(u^4) where the series ends."""
    places = system("quadrotor with load").places
    start, v = random_state(system("quadrotor with load"))
    direction = np.random.default_rng(1).normal(size=len(v))
    errors = []
    for size in (0.2, 0.1):
        u, h = size * direction, 1e-4
        rate = lie.displacement_rate(places, u, v)
        ahead, back = (lie.displaced(places, start, u + k * h * rate) for k in (1, -1))
        here = lie.displaced(places, start, u)
        moved = (ahead - back) / (2 * h)
        expected = [v[:3], np.cross(v[3:6], here[3:6]), quaternion_product(here[6:], [*v[6:] / 2, 0.0])]
        errors.append(np.abs(moved - np.concatenate(expected)).max())
    assert 1e-7 < errors[1] < errors[0] / 12


@pytest.mark.parametrize("size", [0.0, 1e-170, 1e-9, 0.02, 0.3, 1.0, 3.0, 2 * np.pi, 30.0, 1e9])
def test_displacements_are_rotations_and_turn_as_far_as_they_are_long(size):
    """By |u| about u, in error by |u|^7 / 1e5, which a step of fourth order does not see; of any length rotations."""
    dynamics = system("quadrotor with load")
    for seed in range(5):
        start, _ = random_state(dynamics, seed)
        axis = np.random.default_rng(seed).normal(size=3)
        u = size * axis / np.linalg.norm(axis)
        moved = lie.displaced(dynamics.places, start, np.concatenate([u, u, u])).astype(float)
        bound = size**7 / 9e4 + 1e-15
        assert np.linalg.norm(moved[3:6]) == pytest.approx(1.0, abs=1e-15)
        assert np.linalg.norm(moved[6:]) == pytest.approx(1.0, abs=1e-15)
        exact = Rotation.from_rotvec(u).as_matrix()
        assert moved[3:6] == pytest.approx(exact @ start[3:6], abs=bound)
        assert matrix(moved[6:]) == pytest.approx(matrix(start[6:]) @ exact, abs=2 * bound)
        if not size:
            assert (moved == start).all()


@pytest.mark.parametrize("name", SYSTEMS)
def test_energy_is_kept_to_the_order_of_the_method(name):
    errors = []
    for steps in (250, 500):
        motion = moving(name, timestep=1.0 / steps, speed=3.0)
        start, worst = motion.energy, 0.0
        for _ in range(25):
            motion.step(steps // 25)
            worst = max(worst, abs(motion.energy - start))
        errors.append(worst)
    assert errors[1] < errors[0] / 12
    assert errors[1] < 1e-4


def test_a_3d_pendulum_tumbles_for_a_minute_with_its_energy_and_its_momentum_about_the_vertical():
    errors = []
    for timestep in (2e-3, 1e-3):
        motion = moving("3D pendulum", seed=4, timestep=timestep, speed=4.0)
        start = motion.energy, vertical_momentum(motion)
        worst = np.zeros(2)
        for _ in range(60):
            motion.step(round(1.0 / timestep))
            worst = np.maximum(worst, np.abs(np.array([motion.energy, vertical_momentum(motion)]) - start))
        errors.append(worst)
    assert (errors[1] < 1e-6).all()
    assert (errors[1] < errors[0] / 8).all()


def vertical_momentum(motion):
    """Momentum about e3 of the 3D pendulum."""
    return motion[R][2] @ (VALUES["J"] @ motion.rate(R))


def test_the_double_pendulum_keeps_its_momentum_about_the_vertical():
    motion = moving("double spherical pendulum", timestep=5e-4)
    m1, m2, l1, l2 = (VALUES[n] for n in ("m1", "m2", "l1", "l2"))

    def momentum():
        a, da = l1 * motion["q1"], l1 * motion.rate("q1")
        b, db = a + l2 * motion["q2"], da + l2 * motion.rate("q2")
        return (m1 * np.cross(a, da) + m2 * np.cross(b, db))[2]

    start = momentum()
    motion.step(10_000)
    assert abs(motion.rate(q1)).max() > 0.1
    assert momentum() == pytest.approx(start, abs=1e-8)


@pytest.mark.parametrize("start", [-1.0, 1.0], ids=["from the bottom", "from the top"])
def test_a_pendulum_swings_exactly_through_both_poles(start):
    """Over the top in a vertical plane: the angle from the bottom is 2 am(w t / 2 | 4 g / (l w^2))."""
    length, rate = VALUES["l"], 9.0
    bottom = rate if start < 0 else np.sqrt(rate**2 + 4 * GRAVITY / length)
    m = 4 * GRAVITY / (length * bottom**2)
    quarter = ellipk(m) * 2 / bottom  # from pole to pole
    motion = Motion(system("spherical pendulum"), quarter / 500)
    direction = np.array([0.6, 0.8, 0.0])
    motion.place(q, [0, 0, start], rate * direction)
    offset = 0.0 if start < 0 else quarter
    for k in range(1, 7):
        motion.step(250)
        angle = 2 * ellipj(bottom * (k * quarter / 2 + offset) / 2, m)[3]
        sense = 1.0 if start < 0 else -1.0
        assert motion[q] == pytest.approx(np.sin(angle) * direction * sense - [0, 0, np.cos(angle)], abs=1e-8)
        if k % 2 == 0:
            assert abs(abs(motion[q][2]) - 1.0) < 1e-15
    assert motion.drift < 1e-14


def test_a_pendulum_at_rest_at_a_pole_stays_there():
    motion = Motion(system("spherical pendulum"), 1e-2)
    for pole in (DOWN, -DOWN):
        motion.place(q, pole)
        motion.step(500)
        assert (motion[q] == pole).all()


def test_a_conical_pendulum_turns_steadily():
    """w^2 = g / (l cos(angle))."""
    angle, length = 0.6, VALUES["l"]
    w = np.sqrt(GRAVITY / (length * np.cos(angle)))
    motion = Motion(system("spherical pendulum"), 2 * np.pi / w / 1000)
    motion.place(q, [np.sin(angle), 0, -np.cos(angle)], [0, w * np.sin(angle), 0])
    motion.step(1250)
    assert motion[q] == pytest.approx([0, np.sin(angle), -np.cos(angle)], abs=1e-9)


def test_small_swings_have_the_period_of_the_linear_pendulum():
    amplitude = 1e-4
    w = np.sqrt(GRAVITY / VALUES["l"])
    motion = Motion(system("spherical pendulum"), 2 * np.pi / w / 400)
    motion.place(q, [np.sin(amplitude), 0, -np.cos(amplitude)])
    motion.step(900)
    assert motion[q][0] == pytest.approx(amplitude * np.cos(2 * np.pi * 2.25), abs=amplitude * 1e-6)
    motion.step(100)
    assert motion[q][0] == pytest.approx(amplitude * np.cos(2 * np.pi * 2.5), abs=amplitude * 1e-6)


def test_small_swings_of_a_body_have_the_period_of_the_physical_pendulum():
    """sqrt(J / (m g d)) about a principal axis."""
    J, d, amplitude = np.diag([0.3, 0.4, 0.1]), 0.5, 1e-4
    dynamics = compiled(rigid(), J=J, rho=[0, 0, -d])
    for axis in (0, 1):
        w = np.sqrt(VALUES["m"] * GRAVITY * d / J[axis, axis])
        motion = Motion(dynamics, 2 * np.pi / w / 400)
        half = np.eye(4)[axis] * np.sin(amplitude / 2) + np.eye(4)[3] * np.cos(amplitude / 2)
        motion.place(R, half)
        motion.step(450)
        assert 2 * quaternion(motion[R])[axis] == pytest.approx(
            amplitude * np.cos(2 * np.pi * 450 / 400), abs=amplitude * 1e-6
        )


def test_a_free_symmetric_body_precesses_as_euler_says():
    """Omega turns about the body's axis at (J3 - J1) / J1 Omega3; that axis turns about L at |L| / J1."""
    J1, J3 = 0.4, 0.7
    dynamics = compiled(free_body(), J=np.diag([J1, J1, J3]))
    Omega = np.array([1.2, 0.0, 2.5])
    start = matrix(np.array([0.3, -0.1, 0.2, 0.9]) / np.linalg.norm([0.3, -0.1, 0.2, 0.9]))
    motion = Motion(dynamics, 1e-3)
    motion.place(R, start, Omega)
    motion.step(2000)
    rate = (J3 - J1) / J1 * Omega[2]
    assert motion.rate(R) == pytest.approx([1.2 * np.cos(2 * rate), 1.2 * np.sin(2 * rate), 2.5], abs=1e-9)
    momentum = start @ (np.diag([J1, J1, J3]) @ Omega)
    assert motion[R] @ (np.diag([J1, J1, J3]) @ motion.rate(R)) == pytest.approx(momentum, abs=1e-9)
    axis, angle = momentum / np.linalg.norm(momentum), 2.0 * np.linalg.norm(momentum) / J1
    turned = about(axis, angle, start[:, 2])
    assert motion[R][:, 2] == pytest.approx(turned, abs=1e-9)


def about(axis, angle, v):
    """v turned about an axis."""
    return np.cos(angle) * v + np.sin(angle) * np.cross(axis, v) + (1 - np.cos(angle)) * axis * (axis @ v)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_forces_power_is_the_rate_of_energy(name):
    """Five-point differences of the energy along the motion, whose error is of fourth order in their distance."""
    h = 2e-3
    motion = moving(name, timestep=h / 8, forced=True)
    energies, power = [], 0.0
    for k in range(5):
        if k == 2:
            power = power_of(motion)
        energies.append(motion.energy)
        motion.step(8)
    rate = np.dot([1, -8, 0, 8, -1], energies) / (12 * h)
    assert abs(power) > 0.01
    assert rate == pytest.approx(power, abs=1e-7 * (1 + abs(power)))


def power_of(motion):
    """Power of the applied forces, from the systems' virtual works."""
    forces, rates = motion.forces, {p.symbol.base.name: motion.rate(p.symbol) for p in motion.dynamics.places}
    match tuple(rates):
        case ("q",):
            return forces["tau"] @ rates["q"]
        case ("R",):
            return forces["M"] @ rates["R"]
        case ("q1", "q2"):
            return forces["tau"] @ (VALUES["l1"] * rates["q1"] + VALUES["l2"] * rates["q2"])
        case ("R1", "R2"):
            return forces["M1"] @ rates["R1"] + forces["M2"] @ rates["R2"]
        case ("x", "q", "R"):
            body = rates["x"] - VALUES["l"] * rates["q"]
            return forces["M"] @ rates["R"] + forces["f"] * (motion["R"][:, 2] @ body)
    return forces["f"] * rates["s"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_interpreter_takes_the_same_step(name):
    """Runge and Kutta's tableau over the reference interpreter; fused products differ in the last digits."""
    motion = moving(name, seed=3, timestep=1e-2, forced=True)
    dynamics, h = motion.dynamics, motion.timestep
    slope, landing = (dynamics.calls.program(n) for n in ("slope", "landing"))
    given = {"q": motion.q.copy(), "forces": motion.forces.numbers, "parameters": dynamics.parameters.complete}
    start = np.concatenate([np.zeros(dynamics.nv), motion.v])

    def rates(y):
        return np.concatenate(list(reference.run(slope, given | halves(y)).values()))

    def halves(y):
        return dict(zip("uv", np.split(y, 2), strict=True))

    k1 = rates(start)
    k2 = rates(start + h / 2 * k1)
    k3 = rates(start + h / 2 * k2)
    k4 = rates(start + h * k3)
    end = reference.run(landing, given | halves(start + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)))
    motion.step()
    assert motion.q == pytest.approx(end["q"], abs=1e-13)
    assert motion.v == pytest.approx(end["v"], abs=1e-12)


def test_the_same_bodies_on_ball_joints_move_the_same():
    """The double 3D pendulum as a scene: quaternions and body-frame velocities mean the same there."""
    m1, m2, rho1, rho2 = VALUES["m1"], VALUES["m2"], np.array(VALUES["rho1"]), np.array(VALUES["rho2"])
    about_pivot = VALUES["J1"] + 2.0 * np.eye(3)
    about_center = about_pivot - m1 * (rho1 @ rho1 * np.eye(3) - np.outer(rho1, rho1))
    scene = Scene(gravity=(0, 0, -GRAVITY))
    first = scene.world.attach(Body("first", mass=m1, center_of_mass=rho1, inertia=about_center), joints.ball())
    second = Body("second", mass=m2, center_of_mass=rho2, inertia=VALUES["J2"])
    first.attach(second, joints.ball(), at=rd.pose(VALUES["lam"]))
    tree, dynamics = scene.compile(), compiled(double_rigid(), J1=about_pivot)
    state, v = random_state(dynamics, 3)
    relative = matrix(state[:4]).T @ matrix(state[4:])
    there = np.concatenate([state[:4], quaternion(relative)]), np.concatenate([v[:3], v[3:] - relative.T @ v[:3]])
    assert dynamics.energy(state, v) == pytest.approx(tree.kinetic_energy(*there) + tree.potential_energy(there[0]))
    motion, simulation = Motion(dynamics, 5e-4), rd.Simulation(tree, 5e-4, "rk4")
    motion.q, motion.v = state, v
    simulation.q, simulation.v = there
    motion.step(2000)
    simulation.step(2000)
    poses = tree.poses(simulation.q)
    assert motion["R1"] == pytest.approx(poses[0, :3, :3], abs=1e-9)
    assert motion["R2"] == pytest.approx(poses[1, :3, :3], abs=1e-9)


def test_steps_in_one_call_and_one_by_one_are_the_same_to_the_bit():
    many, single = moving("quadrotor with load"), moving("quadrotor with load")
    many.step(50)
    for _ in range(50):
        single.step()
    assert (many.q == single.q).all() and (many.v == single.v).all()


def test_accelerations_of_variables_are_second_derivatives_of_the_motion():
    motion = moving("quadrotor with load", timestep=1e-3, forced=True)
    names = [p.symbol for p in motion.dynamics.places]
    rates = []
    for k in range(5):
        if k == 2:
            accelerations = [motion.acceleration(n) for n in names]
        rates.append([motion.rate(n) for n in names])
        motion.step()
    for i, a in enumerate(accelerations):
        numerical = sum(w * rates[k][i] for k, w in enumerate((1, -8, 0, 8, -1))) / 12e-3
        assert a == pytest.approx(numerical, abs=1e-6)


def test_places_and_readings_agree():
    motion = moving("quadrotor with load")
    rotation = matrix(np.array([0.1, 0.5, -0.3, 0.8]))
    motion.place(x, [1, 2, 3], [4, 5, 6])
    motion.place("q", [0.6, 0, 0.8], angular=[1e-10, 2, 0])
    assert abs(motion.q[3:6] @ motion.v[3:6]) < 1e-16
    motion.place(R, rotation, [7, 8, 9])
    assert (motion[x] == [1, 2, 3]).all() and (motion.rate(x) == [4, 5, 6]).all()
    assert motion.rate(q) == pytest.approx(np.cross([0, 2, 0], [0.6, 0, 0.8]), abs=1e-9)
    assert motion[R] == pytest.approx(rotation, abs=1e-15) and (motion.rate(R) == [7, 8, 9]).all()
    motion.place(R, quaternion(rotation))
    assert motion[R] == pytest.approx(rotation, abs=1e-15) and (motion.rate(R) == 0).all()
    assert isinstance(moving("chain of 3 on a cart")["s"], float)


def test_forces_act_until_changed_and_are_zero_at_first():
    free, pushed = moving("quadrotor with load"), moving("quadrotor with load")
    pushed.forces = random_forces(pushed.dynamics)
    pushed.forces = {}
    free.step(10)
    pushed.step(10)
    assert (free.q == pushed.q).all()
    pushed.forces["f"] = 5.0
    pushed.step(5)
    free.step(5)
    first = pushed.v - free.v
    pushed.step(5)
    free.step(5)
    assert np.abs(pushed.v - free.v).max() > 1.5 * np.abs(first).max() > 0.0


def test_parameters_change_without_compiling_again(monkeypatch):
    dynamics = compiled(double_spherical())
    motion = Motion(dynamics)
    motion.step()
    monkeypatch.setattr(jit, "compile_modules", lambda *_: pytest.fail("compiled again"))
    dynamics.parameters["l2"] = 0.9
    other = compiled(double_spherical(), l2=0.9)  # the same equations, from the cache
    motion.q, motion.v = random_state(dynamics)
    again = Motion(other)
    again.q, again.v = random_state(other)
    motion.step(10)
    again.step(10)
    assert (motion.q == again.q).all() and (motion.v == again.v).all()
    other.parameters["l2"] = 0.45
    again.step()
    motion.step()
    assert not (motion.v == again.v).all()


def test_random_inertias_are_those_of_bodies():
    """The triangle inequality of principal moments, so that the other tests are about bodies that can be."""
    for seed in range(4):
        moments = np.linalg.eigvalsh(inertia(seed))
        assert moments[0] + moments[1] > moments[2] > 0.0
