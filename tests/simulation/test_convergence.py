"""Orders of the integrators, measured; what each keeps exactly."""

import numpy as np
import pytest
import sympy as sp
from trees import SAMPLED_KINDS, assert_close, mechanism, named

import recursive_dyn as rd
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints

ORDERS = {name: rule.order for name, rule in INTEGRATORS.items()}  # as they say of themselves
s = sp.Symbol("s", real=True)


def swinging():
    """A helix, a ball and a hinge with springs and dampers: plain and quaternion coordinates, all coupled."""
    scene = Scene()
    bead = scene.world.attach(
        Body("bead", mass=1.0, inertia=np.diag([0.1, 0.12, 0.14])),
        joints.curve([sp.cos(s), sp.sin(s), s / 4], s, damping=0.2, stiffness=2.0),
    )
    arm = bead.attach(
        Body("arm", mass=0.8, center_of_mass=(0.1, 0, -0.3), inertia=np.diag([0.05, 0.06, 0.03])), joints.ball()
    )
    arm.attach(
        Body("hand", mass=0.5, center_of_mass=(0, 0.1, -0.2), inertia=np.diag([0.02, 0.03, 0.03])),
        joints.revolute("y", stiffness=3.0, rest=0.4, damping=0.05),
        at=rd.pose((0, 0, -0.6)),
    )
    return scene.compile()


@pytest.fixture(scope="module")
def dynamics():
    return swinging()


def final(dynamics, integrator, steps, time=0.4):
    sim = rd.Simulation(dynamics, time / steps, integrator)
    sim.v = np.linspace(-1.5, 2.0, dynamics.nv)
    sim.step(steps)
    return sim


@pytest.mark.parametrize("integrator", ORDERS)
def test_halving_the_step_divides_the_error_by_two_to_the_order(dynamics, integrator):
    exact = final(dynamics, "rk4", 12800)
    order = ORDERS[integrator]
    # In the asymptotic range: small enough for the next order to be a tenth, large enough to stand above rounding.
    steps = [50, 100, 200] if integrator == "rk4" else [800, 1600, 3200]
    errors = []
    for n in steps:
        sim = final(dynamics, integrator, n)
        errors.append(np.linalg.norm(np.concatenate([dynamics.difference(exact.q, sim.q), sim.v - exact.v])))
    measured = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(measured, order, atol=0.15)


def test_all_integrators_tend_to_the_same_motion(dynamics):
    exact = final(dynamics, "rk4", 3200)
    for integrator, tolerance in (("semi_implicit_euler", 5e-3), ("implicit_midpoint", 1e-6)):
        assert_close(final(dynamics, integrator, 3200).q, exact.q, tolerance)


@pytest.mark.parametrize("name", [*SAMPLED_KINDS, "tree of 8"])
def test_every_joint_type_is_stepped_with_the_integrators_order(name):
    m = named(name)
    d = m.dynamics()
    q, v = (x[0] for x in m.states(1, 1))

    def end(integrator, steps):
        sim = rd.Simulation(d, 4e-3 / steps, integrator)
        sim.q, sim.v, sim.tau = q, v, np.linspace(-1, 1, d.nv)
        sim.step(steps)
        return sim

    exact = end("rk4", 64)
    for integrator, order in (("semi_implicit_euler", 1), ("implicit_midpoint", 2)):
        errors = []
        for steps in (8, 16):
            sim = end(integrator, steps)
            errors.append(np.linalg.norm([*d.difference(exact.q, sim.q), *(sim.v - exact.v)]))
        # errors of 1e-7 and more, where RK4 with a quarter of the step has some 1e-12
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("integrator", ORDERS)
def test_quaternions_stay_on_their_sphere(integrator):
    scene = Scene()
    body = Body("top", mass=1.0, center_of_mass=(0, 0, 0.3), inertia=np.diag([0.1, 0.2, 0.25]))
    scene.world.attach(body, joints.ball()).attach(
        Body("moon", mass=0.1, inertia=np.diag([0.01, 0.02, 0.02])), joints.free(), at=rd.pose((0, 0, 1))
    )
    sim = rd.Simulation(scene.compile(), 1e-3, integrator)
    sim.v[:3] = 3.0, -2.0, 12.0
    sim.v[3:6] = 1.0, 2.0, 3.0
    # far from the spinning body whose frame it falls in, the moon's momenta are differences of large numbers, and the
    # first rule makes energy of them, which it tells after 12 s
    sim.step(10_000 if integrator in ("variational_midpoint", "semi_implicit_euler") else 30_000)
    for first, end in sim.dynamics.model.units:
        assert abs(np.linalg.norm(sim.q[first:end]) - 1.0) < 4e-16 * 2  # normed at every step: two roundings


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
def test_uniform_rotation_is_exact_whatever_the_step(integrator):
    """A sphere's angular velocity is constant: the exponential map then has no truncation error at all."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("sphere", mass=1.0, inertia=np.eye(3)), joints.ball())
    sim = rd.Simulation(scene.compile(), 0.1, integrator)
    sim.v = omega = np.array([1.0, -2.0, 0.5])
    sim.step(1000)
    angle = np.linalg.norm(omega) * 100.0
    expected = np.array([*(omega / np.linalg.norm(omega) * np.sin(angle / 2)), np.cos(angle / 2)])
    assert_close(sim.q * np.sign(sim.q @ expected), expected, 1e-12)  # a thousand products of quaternions


def test_implicit_midpoint_keeps_energy_bounded_and_runs_backwards():
    m = mechanism(31, 4, kinds=("revolute", "helix", "universal"), gravity=(0.0, 0.0, -9.81))
    d = m.dynamics()
    sim = rd.Simulation(d, 2e-3, "implicit_midpoint")
    sim.q, sim.v = (x[0] for x in m.states(1, 1))
    start_q, start_v = sim.q.copy(), sim.v.copy()
    energy = d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q)
    swing = np.abs(d.potential_energy(m.states(50, 2)[0])).max()
    for _ in range(20):
        sim.step(50)
        assert abs(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) - energy) < 1e-3 * swing
    sim.restore(sim.snapshot())
    back = rd.Simulation(d, 2e-3, "implicit_midpoint")
    back.q, back.v = start_q, start_v
    back.step(100)
    back.v = -back.v
    back.step(100)
    # time-symmetric: only the iteration's tolerance of 1e-14 and rounding stay, carried along by the motion
    assert_close(back.q, start_q, 1e-9)
    assert_close(-back.v, start_v, 1e-9)


def thrown(integrator, timestep, moments, offset=(0.0, 0.0, 0.0)):
    """A body that nothing acts on, its centre moving at (1, 2, 3) m/s, turning at 20 rad/s about no axis of its own."""
    scene = Scene(gravity=(0, 0, 0))
    body = Body("brick", mass=1.5, center_of_mass=offset, inertia=np.diag(moments))
    scene.world.attach(body, joints.free())
    sim = rd.Simulation(scene.compile(), timestep, integrator)
    omega = 20.0 * np.array([2.0, 3.0, 6.0]) / 7.0
    sim.v = [*omega, *(np.array([1.0, 2.0, 3.0]) - np.cross(omega, offset))]
    return sim


BRICK, CUBE, DISC = (0.05, 0.08, 0.1), (0.1, 0.1, 0.1), (0.05, 0.05, 0.1)


@pytest.mark.parametrize(
    ("integrator", "moments", "offset", "tolerance"),
    [
        ("semi_implicit_euler", BRICK, (0, 0, 0), 1e-13),
        ("semi_implicit_euler", CUBE, (0, 0, 0), 1e-13),
        ("semi_implicit_euler", DISC, (0, 0, 0), 1e-12),
        # a force-free motion of fourth order: (omega h)^4 / 120 a step turns the momentum by 1e-4 of a radian
        ("rk4", BRICK, (0, 0, 0), 2e-3),
        ("rk4", BRICK, (0.2, -0.1, 0.15), 2e-3),
        ("implicit_midpoint", BRICK, (0, 0, 0), 1e-10),
        ("semi_implicit_euler", CUBE, (0.2, -0.1, 0.15), 1e-12),
    ],
)
def test_a_tumbling_body_keeps_its_linear_momentum_at_frame_rate(integrator, moments, offset, tolerance):
    sim = thrown(integrator, 1 / 60, moments, offset)
    start = sim.dynamics.momentum(sim.q, sim.v)[3:]
    for _ in range(60):
        sim.step()
        assert_close(sim.dynamics.momentum(sim.q, sim.v)[3:], start, tolerance)


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.15)], ids=["centred", "off centre"])
@pytest.mark.parametrize("moments", [BRICK, CUBE, DISC], ids=["brick", "cube", "disc"])
def test_a_tumbling_body_keeps_all_its_momentum_for_ten_seconds_at_frame_rate(moments, offset):
    sim = thrown("semi_implicit_euler", 1 / 60, moments, offset)
    start = sim.dynamics.momentum(sim.q, sim.v)
    sim.step(600)
    end = sim.dynamics.momentum(sim.q, sim.v)
    # carried exactly: rounding of 600 steps; the angular part is about the world's origin, 40 m away in the end
    assert_close(end[3:], start[3:], 1e-12)
    assert_close(end[:3], start[:3], 1e-12, 40 * np.abs(start).max())


@pytest.mark.parametrize(
    ("integrator", "timestep", "moments"),
    [
        ("semi_implicit_euler", 1 / 60, CUBE),
        ("semi_implicit_euler", 1 / 60, BRICK),
        ("semi_implicit_euler", 1 / 240, DISC),
        ("implicit_midpoint", 1 / 60, BRICK),
        ("implicit_midpoint", 1 / 60, DISC),
        ("rk4", 1 / 60, BRICK),
        ("rk4", 1 / 60, DISC),
    ],
)
def test_a_tumbling_body_does_not_gain_energy(integrator, timestep, moments):
    sim = thrown(integrator, timestep, moments)
    start = sim.dynamics.kinetic_energy(sim.q, sim.v)
    sim.step(round(10.0 / timestep))
    assert sim.dynamics.kinetic_energy(sim.q, sim.v) <= 1.01 * start


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", ("implicit_midpoint")])
def test_a_tumbling_body_whose_frame_is_off_its_centre_does_not_gain_energy(integrator):
    sim = thrown(integrator, 1 / 60, BRICK, (0.2, -0.1, 0.15))
    start = sim.dynamics.kinetic_energy(sim.q, sim.v)
    sim.step(600)
    assert sim.dynamics.kinetic_energy(sim.q, sim.v) <= 1.02 * start
