"""Where motions of a joint depend on each other, M has only rounding to divide by: an error says so, not 1e17."""

import numpy as np
import pytest
import sympy as sp
from chart_cases import bead, euler
from trees import ALL, assert_close, named

import recursive_dyn as rd
from recursive_dyn.dynamics.singular_joints import singular
from scene import Body, Scene, joints

INERTIA = np.diag([0.1, 0.2, 0.25])


def compiled(joint, method="auto"):
    scene = Scene()
    first = scene.world.attach(Body("first", mass=1.0, inertia=INERTIA), joints.revolute("x"))
    first.attach(Body("body", mass=1.0, inertia=INERTIA, center_of_mass=(0.1, 0.2, 0.3)), joint, at=rd.pose((1, 0, 0)))
    return scene.compile(method)


LOCKS = {
    "xyz": (joints.euler("xyz"), (0.3, np.pi / 2, 0.1)),
    "zyz": (joints.euler("zyz"), (0.3, 0.0, 0.1)),
    "nearly": (joints.euler("xyz"), (0.3, np.pi / 2 - 1e-9, 0.1)),
    "chart": (euler("zyz", "xyz"), (0.3, 0.0, 0.1)),
    "pole": (bead("z", frame="translation"), (0.3, np.pi / 2)),
}


@pytest.mark.parametrize("method", ["recursive", "lagrangian", pytest.param("trace", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LOCKS)
def test_a_singular_joint_is_named(name, method):
    """The forces are none that M a can be there."""
    joint, own = LOCKS[name]
    d = compiled(joint, method)
    q = np.array([0.2, *own])
    v, tau = np.linspace(0.5, 1.0, d.nv), np.array([1.0, 2.0, 3.0, -4.0])[: d.nv]
    coordinate = d.coordinates[1]
    with pytest.raises(rd.StateError, match=rf"forward_dynamics.*joint of coordinate '{coordinate}' is singular"):
        d.forward_dynamics(q, v, tau)
    good = np.full((5, 7, d.nq), 0.4)
    assert np.isfinite(d.forward_dynamics(good, v, tau)).all()
    good[3, 2] = q
    with pytest.raises(rd.StateError, match=rf"batch row \(3, 2\); the joint of coordinate '{coordinate}' is sing"):
        d.forward_dynamics(good, v, tau)


INTEGRATORS = ["semi_implicit_euler", "rk4", "implicit_midpoint"]


@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("name", [name for name in LOCKS if name != "chart"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_no_step_is_taken_from_there(integrator, name, speed):
    """Nor is the state lost; a joint with charts takes another one."""
    joint, own = LOCKS[name]
    sim = rd.Simulation(compiled(joint), timestep=1e-3, integrator=integrator)
    q, v = np.array([0.2, *own]), speed * np.linspace(0.5, 1.0, sim.dynamics.nv)
    sim.q[:], sim.v[:], sim.tau[:] = q, v, np.array([1.0, 2.0, 3.0, -4.0])[: sim.dynamics.nv]
    with pytest.raises(rd.StateError, match=rf"'{sim.dynamics.coordinates[1]}' is singular.*last good state is kept"):
        sim.step(3)
    assert sim.time == 0.0 and np.array_equal(sim.q, q) and np.array_equal(sim.v, v)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_large_numbers_away_from_there_are_stepped_with(integrator):
    """x' = x + h v of 1e9 m and 1e7 m/s beside a joint that could be singular."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.world.attach(Body("sled", mass=1.0, inertia=INERTIA), joints.prismatic("x"))
    scene.world.attach(Body("top", mass=1.0, inertia=INERTIA), joints.euler("xyz"))
    sim = rd.Simulation(scene.compile(), timestep=1e-3, integrator=integrator)
    sim.q[0], sim.v[0] = 1e9, 1e7
    sim.step(50)
    sim.tau[0] = 1e12
    sim.step()
    assert_close(sim.v, [1e7 + 1e9, 0.0, 0.0, 0.0], 1e-14)
    assert abs(sim.q[0] - (1e9 + 50 * 1e4)) < 1.1e6 and not sim.q[1:].any()


def test_what_is_not_solved_has_values_there():
    joint, own = LOCKS["xyz"]
    d, q = compiled(joint), np.array([0.2, *own])
    assert np.isfinite(d.mass_matrix(q)).all() and np.isfinite(d.inverse_dynamics(q, np.ones(4), np.ones(4))).all()


def test_large_accelerations_away_from_there_are_right():
    """a = M^-1 (tau - bias) whatever its size: forces of 1e12, velocities of 1e9."""
    d, rng = compiled(joints.euler("xyz")), np.random.default_rng(1)
    q, v = rng.uniform(-0.5, 0.5, (2, 4))
    for velocity, tau in ((v, 1e12 * np.ones(4)), (1e9 * v, np.zeros(4))):
        a = d.forward_dynamics(q, velocity, tau)
        assert np.abs(a).max() > 1e9
        assert_close(a, np.linalg.solve(d.mass_matrix(q), tau - d.bias(q, velocity)), 1e-11)
        assert_close(d.forward_dynamics(np.stack([q] * 9), velocity, tau), [a] * 9, 1e-11)


@pytest.mark.parametrize("name", ALL)
def test_no_mechanism_of_the_laws_is_called_singular(name):
    """Nor with forces so large that every result is looked at."""
    m = named(name)
    d, (q, v) = m.dynamics(), m.states(8, 1)
    assert singular(d.model, q, d.parameters) is None
    assert np.abs(d.forward_dynamics(q, v, np.full(d.nv, 1e12))).max() > 1e6


def test_a_bad_row_of_a_batch_is_named_by_its_place():
    """A coordinate under a square root that has no value."""
    s = sp.Symbol("s", real=True)
    transform = sp.eye(4)
    transform[2, 3] = sp.sqrt(s)
    scene = Scene()
    scene.world.attach(Body("body", mass=1.0, inertia=INERTIA), joints.Joint(transform, s))
    d = scene.compile()
    q = np.ones((3, 50, 1))
    q[1, 37] = -1.0
    with pytest.raises(rd.StateError, match=r"poses: the result is not finite, batch row \(1, 37\).*'body\.s' is sing"):
        d.poses(q)
    with pytest.raises(rd.StateError, match=r"poses: the result is not finite; the joint of coordinate 'body\.s'"):
        d.poses(q[1, 37])
