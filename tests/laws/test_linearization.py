"""Linear models of motions and steps are derivatives of what simulations do."""

from functools import cache

import numpy as np
import pytest
from constraint_cases import bound
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import assert_close, derivative, mechanism, random_body, random_scene

import recursive_dyn as rd
from scene import Body, Scene, joints

INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint")
FIXED = ("revolute", "prismatic", "helix", "ball", "universal")


def stepped(d, h, integrator):
    """(q, v) after one timestep of a simulation."""
    sim = rd.Simulation(d, h, integrator)

    def step(q, v, tau):
        sim.q, sim.v, sim.tau = q, v, tau
        sim.step()
        return sim.q.copy(), sim.v.copy()

    return step


def differences(d, step, q, v, tau, ways=None):
    """Derivatives of a step by q, v and tau side by side, (2 nv, 3 nv), each column by differences of eighth order; or
    along ways (k, 3 nv) of these."""
    n = d.nv
    q1, _ = step(q, v, tau)
    columns = []
    for e in np.eye(3 * n) if ways is None else ways:

        def moved(times, e=e):
            ends = [step(d.integrate(q, t * e[:n], 1.0), v + t * e[n : 2 * n], tau + t * e[2 * n :]) for t in times]
            return np.array([[*d.difference(q1, q2), *v2] for q2, v2 in ends])

        columns.append(derivative(moved))
    return np.array(columns).T


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_step_is_the_simulations(seed, integrator):
    """Springs and dampers act, balls turn in their momenta."""
    case = random_scene(seed, 3, kinds=FIXED, springs=True)
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 1))
    tau, h = np.random.default_rng(0).normal(size=d.nv), 0.02
    A, B = d.linearize(q, v, tau, h, integrator)
    expected = differences(d, stepped(d, h, integrator), q, v, tau)
    assert_close(np.hstack([A, B]), expected, 1e-9)  # the stencil's promise, divided by h, and the sweeps of midpoint
    by_q, by_v, by_tau, by_dt = d.derivatives("step", q, v, tau, h, integrator=integrator)
    assert_close(np.hstack([by_q, by_v, by_tau]), np.hstack([A, B]), 0.0)
    here = stepped(d, h, integrator)(q, v, tau)[0]

    def longer(times):
        ends = [stepped(d, h + t, integrator)(q, v, tau) for t in times]
        return np.array([[*d.difference(here, q2), *v2] for q2, v2 in ends])

    assert_close(by_dt[:, 0], derivative(longer), 1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_free_body_at_rest_and_turning(integrator):
    scene = Scene()
    base = scene.world.attach(random_body(np.random.default_rng(0), "base"), joints.free())
    base.attach(random_body(np.random.default_rng(1), "arm"), joints.revolute("y"), at=rd.pose((0.1, 0, 0.2)))
    d = scene.compile()
    q, h = d.random(0), 1e-3
    for v in (np.zeros(d.nv), np.array([1.0, -2.0, 0.5, 0.3, 0.2, 0.1, 1.0])):
        A, B = d.linearize(q, v, timestep=h, integrator=integrator)
        assert_close(np.hstack([A, B]), differences(d, stepped(d, h, integrator), q, v, np.zeros(d.nv)), 1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps_under_constraints_end_on_them(integrator):
    case = bound(1, 5, ("revolute", "prismatic", "ball"))
    d = case.dynamics()
    q, v = d.project(case.home, np.random.default_rng(0).normal(size=d.nv) * 0.3)
    h = 0.01
    A, B = d.linearize(q, v, timestep=h, integrator=integrator)
    end = stepped(d, h, integrator)(q, v, np.zeros(d.nv))[0]
    holonomic = np.array([c.holonomic for c in d.model.constraints])
    C = d.constraint_jacobian(end)[holonomic]
    moved = C @ np.hstack([A, B])[: d.nv]
    assert_close(moved, np.zeros(moved.shape), 1e-9, scale=np.abs(C).max() * np.abs(A).max())


def test_a_step_under_constraints_is_the_simulations():
    """Of a pendulum of two hinges whose tip is held on a line; differences of steps that are projected, from velocities
    that an impulse brought onto the line's rate."""
    scene = Scene()
    first = scene.world.attach(random_body(np.random.default_rng(0), "a"), joints.revolute("y"))
    second = first.attach(random_body(np.random.default_rng(1), "b"), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    third = second.attach(random_body(np.random.default_rng(2), "c"), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    scene.constrain(third.point((0.5, 0, 0))[2] + 0.3, name="line")
    d = scene.compile()
    q, v = d.project([0.2, 0.3, 0.1], [0.5, -0.2, 0.3])
    along = np.linalg.svd(d.constraint_jacobian(q))[2][1:]  # a simulation brings q onto the line before it steps
    ways = np.block([[along, np.zeros((2, 6))], [np.zeros((6, 3)), np.eye(6)]])
    met = differences(d, lambda q, v, tau: d.project(q, v), q, v, np.zeros(d.nv), ways)  # and v
    for integrator in INTEGRATORS:
        A, B = d.linearize(q, v, timestep=0.01, integrator=integrator)
        # the simulation's projection ends within 1e-11: the stencil, of steps of 1.5e-3, sees 1e-8 of that
        expected = differences(d, stepped(d, 0.01, integrator), q, v, np.zeros(d.nv), ways)
        assert_close(A @ met + B @ ways[:, 6:].T, expected, 1e-7)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps_are_flows_of_the_rates(integrator):
    """(A_step - 1) / h -> A, B_step / h -> B, on manifolds and with dampers too, at the first order of h."""
    case = random_scene(3, 4, springs=True, root="free")
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 1))
    A, B = d.linearize(q, v)
    errors = []
    for h in (2e-4, 1e-4):
        Ah, Bh = d.linearize(q, v, timestep=h, integrator=integrator)
        errors.append(max(np.abs((Ah - np.eye(2 * d.nv)) / h - A).max(), np.abs(Bh / h - B).max()))
    assert 1.8 < errors[0] / errors[1] < 2.2
    assert errors[1] < 1e-2 * np.abs(A).max()


def test_parameters_of_steps():
    scene = Scene()
    mass = scene.parameter("mass", 1.3)
    arm = scene.world.attach(Body("arm", mass=mass, inertia=np.eye(3) * 0.1), joints.ball(), at=rd.pose((0, 0, 1)))
    arm.attach(random_body(np.random.default_rng(0), "tip"), joints.revolute("y"), at=rd.pose((0.2, 0, 0)))
    d = scene.compile()
    q, v, tau = d.random(0), np.ones(d.nv), np.ones(d.nv)
    for integrator in INTEGRATORS:
        *_, J = d.derivatives("step", q, v, tau, 0.01, parameters=True, integrator=integrator)

        def end(times, rule=integrator):
            found = []
            for t in times:
                other = d.view()
                other.parameters["mass"] = 1.3 + t
                found.append(stepped(other, 0.01, rule)(q, v, tau))
            here = stepped(d, 0.01, rule)(q, v, tau)[0]
            return np.array([[*d.difference(here, q2), *v2] for q2, v2 in found])

        assert_close(J[:, 0], derivative(end), 1e-9)


def test_batches_are_their_rows():
    case = mechanism(3, 3)
    d, (q, v) = case.dynamics(), case.states(4, 2)
    h = np.array([0.001, 0.002, 0.003, 0.004])
    for integrator in INTEGRATORS:
        A, B = d.linearize(q, v, None, h, integrator)
        assert A.shape == (4, 2 * d.nv, 2 * d.nv) and B.shape == (4, 2 * d.nv, d.nv)
        for i in range(4):
            for whole, row in zip((A, B), d.linearize(q[i], v[i], timestep=h[i], integrator=integrator), strict=True):
                assert_close(whole[i], row, 1e-12)
    A, B = d.linearize(q, v)
    for whole, row in zip((A, B), d.linearize(q[2], v[2]), strict=True):
        assert_close(whole[2], row, 1e-12)


@settings(max_examples=25, deadline=None)
@given(angle=st.floats(-3.0, 3.0), speed=st.floats(-5.0, 5.0))
def test_a_pendulum_in_closed_form(angle, speed):
    """I q'' = -m g l sin q - d q' - k (q - r) + tau."""
    d = _pendulum()
    A, B = d.linearize([angle], [speed])
    I = 0.1 + 2.0 * 0.25
    assert_close(A, [[0.0, 1.0], [(-2.0 * 9.81 * 0.5 * np.cos(angle) - 3.0) / I, -0.7 / I]], 1e-13)
    assert_close(B, [[0.0], [1.0 / I]], 1e-13)


@cache
def _pendulum():
    scene = Scene(gravity=(0, 0, -9.81))
    body = Body("bob", mass=2.0, center_of_mass=(0, 0, -0.5), inertia=np.eye(3) * 0.1)
    scene.world.attach(body, joints.revolute("y", stiffness=3.0, damping=0.7, rest=0.2))
    return scene.compile()


def test_what_does_not_fit_is_told():
    d = _pendulum()
    with pytest.raises(rd.StateError, match="unknown integrator 'euler'"):
        d.linearize([0.0], [0.0], timestep=0.01, integrator="euler")
    with pytest.raises(rd.StateError, match="'v' has shape"):
        d.linearize([0.0], [0.0, 1.0])
    with pytest.raises(rd.StateError, match="'dt' must be a number of seconds"):
        d.linearize([0.0], [0.0], timestep="long")
