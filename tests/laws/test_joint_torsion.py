"""Springs of ball and free joints: their energy is all that they know, and small turns are those of a hinge."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import assert_close, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints

INERTIA = np.diag([0.1, 0.2, 0.15])


def sprung(**options):
    scene, rng = Scene(**options), np.random.default_rng(4)
    arm = scene.world.attach(random_body(rng, "arm"), joints.revolute("y", stiffness=3.0, damping=0.2))
    arm.attach(
        random_body(rng, "hand"),
        joints.ball(stiffness=[2.0, 3.0, 4.0], rest=[0.3, -0.2, 0.5], damping=0.1),
        at=rd.pose((0, 0, -0.5), (0.2, 0.3, 0.4)),
    )
    free = joints.free(stiffness=[2.0, 3.0, 4.0, 5.0, 6.0, 7.0], rest=[-0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
    scene.world.attach(random_body(rng, "kite"), free, at=rd.pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    return scene


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_forces_take_from_the_energy_what_they_give(seed):
    rng = np.random.default_rng(seed)
    d = sprung().compile()
    q, v, e = d.random(rng), rng.normal(size=d.nv), 1e-5
    rate = (d.elastic_energy(d.integrate(q, v, e)) - d.elastic_energy(d.integrate(q, v, -e))) / (2 * e)
    damping = np.array([0.2, 0.1, 0.1, 0.1, *np.zeros(6)])
    assert_close(-d.passive_forces(q, v) @ v - damping @ v**2, rate, 1e-6)


def test_the_energy_is_of_the_rotation_vector_from_rest():
    scene = Scene()
    scene.world.attach(
        Body("b", mass=1.0, inertia=INERTIA), joints.ball(stiffness=[2.0, 3.0, 4.0], rest=[0.1, 0.2, 0.3])
    )
    d = scene.compile()
    phi = np.array([0.4, -1.1, 0.7])
    at_rest = d.integrate(d.neutral(), np.array([0.1, 0.2, 0.3]), 1.0)
    assert_close(d.elastic_energy(d.integrate(at_rest, phi, 1.0)), 0.5 * np.array([2.0, 3.0, 4.0]) @ phi**2, 1e-12)
    assert_close(d.passive_forces(at_rest, np.zeros(3)), np.zeros(3), 1e-14, scale=1.0)


@pytest.mark.parametrize("angle", [1e-9, 0.1, 2.5])
def test_a_round_body_swings_as_on_a_hinge_about_any_axis(angle):
    """omega' = -k / I phi while the axis stays: cos(sqrt(k / I) t) at any amplitude below half a turn."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("b", mass=1.0, inertia=0.2 * np.eye(3)), joints.ball(stiffness=5.0))
    sim = rd.Simulation(scene.compile(), timestep=1 / 1000, integrator="rk4")
    phi = angle * np.array([0.6, 0.0, 0.8])
    sim.q[:] = sim.dynamics.integrate(sim.q, phi, 1.0)
    sim.step(700)
    assert_close(sim.dynamics.difference(sim.dynamics.neutral(), sim.q), phi * np.cos(5.0 * 0.7), 1e-9)


ORDERS = {"rk4": 4, "implicit_midpoint": 2, "variational_midpoint": 2, "linearly_implicit_rk4": 4}


@pytest.mark.parametrize("integrator", ORDERS)
def test_a_step_keeps_its_order(integrator):
    scene = sprung(gravity=(0, 0, -9.81))
    for body in ("arm", "hand"):
        scene[body].joint = scene[body].joint.adjusted(damping=0.0, stiffness=0.0 if body == "arm" else 3.0)
    ends = []
    for n in (60, 120, 240):
        sim = rd.Simulation(scene.compile(), timestep=0.5 / n, integrator=integrator)
        sim.v[:] = 0.3
        sim.step(n)
        ends.append(sim.q.copy())
    errors = [np.abs(b - a).max() for a, b in pairwise(ends)]
    assert np.log2(errors[0] / errors[1]) > ORDERS[integrator] - 0.5


def test_linear_models_see_springs_of_balls_and_force_elements():
    """The continuous form had left elements out."""
    scene, rng = sprung(), np.random.default_rng(1)
    scene.spring("hand", scene.world, stiffness=40.0, damping=0.5, rest=0.2, point_b=(0.3, 0, 0))
    d = scene.compile()
    q, v, tau, e = d.random(rng), rng.normal(size=d.nv), rng.normal(size=d.nv), 1e-6

    def accelerations(q, v):
        return d.forward_dynamics(q, v, tau + d.passive_forces(q, v))

    by_q = [
        (accelerations(d.integrate(q, x, e), v) - accelerations(d.integrate(q, x, -e), v)) / (2 * e)
        for x in np.eye(d.nv)
    ]
    by_v = [(accelerations(q, v + e * x) - accelerations(q, v - e * x)) / (2 * e) for x in np.eye(d.nv)]
    A, _ = d.linearize(q, v, tau)
    assert_close(A[d.nv :], np.column_stack([*by_q, *by_v]), 1e-6)


def test_equal_trees_swing_as_one_alone():
    """Lanes of one program."""
    many, one = Scene(), Scene()
    for i in range(9):
        many.world.attach(Body(f"b{i}", mass=1.0, inertia=INERTIA), joints.ball(stiffness=[2.0, 3.0, 4.0]))
    one.world.attach(Body("b", mass=1.0, inertia=INERTIA), joints.ball(stiffness=[2.0, 3.0, 4.0]))
    sims = [rd.Simulation(scene.compile(), timestep=1 / 240) for scene in (many, one)]
    for sim in sims:
        sim.v[:] = np.tile([1.0, -2.0, 0.5], sim.dynamics.nv // 3)
        sim.step(100)
    assert_close(sims[0].q.reshape(9, 4), np.tile(sims[1].q, (9, 1)), 1e-13)


def test_files_have_them(tmp_path):
    scene = sprung()
    scene.save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json").model().key == scene.model().key


def test_what_has_no_such_spring_says_so():
    with pytest.raises(rd.ModelError, match=r"'wx'.*limits have no meaning there"):
        joints.ball(limits=(-1.0, 1.0))
