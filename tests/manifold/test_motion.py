"""Motions on manifolds: their steps, places, forces and parameters, and the same bodies on joints."""

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
    fastest,
    fourth_order,
    inertia,
    moving,
    q,
    random_forces,
    random_state,
    x,
)
from wishes import only_later

import recursive_dyn as rd
from recursive_dyn.codegen import reference
from recursive_dyn.codegen.making import jit
from recursive_dyn.integrators import munthe_kaas
from recursive_dyn.manifold.motion.motion import Motion
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_to_matrix
from scene import Body, Scene, joints


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_compiled_loop_takes_the_definitions_steps(name):
    """The same compiled functions in the same order of operations: bit for bit, over many steps."""
    motion = moving(name, seed=3, timestep=1e-2, forced=True)
    d, q, v, forces = motion.dynamics, motion.q.copy(), motion.v.copy(), motion.forces.numbers.copy()
    still = np.zeros(0)  # no motion is prescribed: no clock

    def slope(x, q):
        return d.call("slope", *np.split(x, 2), still, q, forces)

    def landing(x, q):
        u, v, q = np.split(d.call("landing", *np.split(x, 2), still, q, forces), [d.nv, 2 * d.nv])
        assert not u.any()
        return q, v

    for _ in range(50):
        motion.step()
        q, v = munthe_kaas.definition(slope, landing, q, v, motion.timestep)
        np.testing.assert_array_equal(motion.q, q)
        np.testing.assert_array_equal(motion.v, v)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_interpreter_takes_the_same_step(name):
    """The definition over the reference interpreter; fused products differ in the last digits."""
    motion = moving(name, seed=3, timestep=1e-2, forced=True)
    dynamics = motion.dynamics
    given = {"forces": motion.forces.numbers, "parameters": dynamics.parameters.numbers}

    def run(function, x, q):
        own = given | dict(zip("uv", np.split(x, 2), strict=True)) | {"q": q}
        return reference.run(dynamics.program(function), own)

    def landing(x, q):
        end = run("landing", x, q)
        return end["q"], end["v"]

    def slope(x, q):
        return np.concatenate(list(run("slope", x, q).values()))

    q, v = munthe_kaas.definition(slope, landing, motion.q.copy(), motion.v.copy(), motion.timestep)
    motion.step()
    assert motion.q == pytest.approx(q, abs=1e-13)
    assert motion.v == pytest.approx(v, abs=1e-12)


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
    relative = quaternion_to_matrix(state[:4]).T @ quaternion_to_matrix(state[4:])
    there = (
        np.concatenate([state[:4], matrix_to_quaternion(relative)]),
        np.concatenate([v[:3], v[3:] - relative.T @ v[:3]]),
    )
    assert dynamics.energy(state, v) == pytest.approx(tree.kinetic_energy(*there) + tree.potential_energy(there[0]))
    motion, simulation = Motion(dynamics, 5e-4), rd.Simulation(tree, 5e-4, "rk4")
    bound = 0.0
    motion.q, motion.v = state, v
    simulation.q, simulation.v = there
    for _ in range(20):
        bound += 2 * fourth_order(fastest(motion), 5e-4, 0.05)  # that of either method
        motion.step(100)
        simulation.step(100)
    poses = tree.poses(simulation.q)
    assert motion["R1"] == pytest.approx(poses[0, :3, :3], abs=bound)
    assert motion["R2"] == pytest.approx(poses[1, :3, :3], abs=bound)


def test_steps_in_one_call_and_one_by_one_are_the_same_to_the_bit():
    many, single = moving("quadrotor with load"), moving("quadrotor with load")
    many.step(50)
    for _ in range(50):
        single.step()
    assert (many.q == single.q).all() and (many.v == single.v).all()


@pytest.mark.parametrize("name", ["spherical pendulum", "double 3D pendulum", "quadrotor with load"])
def test_a_motion_that_is_interpreted_is_that_of_machine_code(name, monkeypatch):
    """Whenever code comes; as where an edit of a scene that runs had all in a hurry."""
    later, dynamics, ends = only_later(monkeypatch, "off"), compiled(SYSTEMS[name]()), []
    for given in (20, 10, 0):  # steps that are interpreted
        motion = Motion(dynamics, 1e-3)
        motion.q, motion.v = random_state(dynamics)
        motion.step(given)
        if given == 10:
            assert later.grant()
        motion.step(20 - given)
        ends.append(np.concatenate([motion.q, motion.v]).view(np.int64).tolist())
    assert ends[0] == ends[1] == ends[2]


def test_accelerations_of_variables_are_second_derivatives_of_the_motion():
    """Five-point differences over h: a hundred roundings of rates around 1 are 1e-14 / h."""
    motion = moving("quadrotor with load", timestep=1e-3, forced=True)
    names = [p.symbol for p in motion.dynamics.variables]
    rates = []
    for k in range(5):
        if k == 2:
            accelerations = [motion.acceleration(n) for n in names]
        rates.append([motion.rate(n) for n in names])
        motion.step()
    for i, a in enumerate(accelerations):
        numerical = sum(w * rates[k][i] for k, w in enumerate((1, -8, 0, 8, -1))) / 12e-3
        assert a == pytest.approx(numerical, abs=2e-14 / 1e-3)


def test_places_and_readings_agree():
    motion = moving("quadrotor with load")
    rotation = quaternion_to_matrix(np.array([0.1, 0.5, -0.3, 0.8]))
    motion.place(x, [1, 2, 3], [4, 5, 6])
    motion.place("q", [0.6, 0, 0.8], angular=[1e-10, 2, 0])
    assert abs(motion.q[3:6] @ motion.v[3:6]) < 1e-16
    motion.place(R, rotation, [7, 8, 9])
    assert (motion[x] == [1, 2, 3]).all() and (motion.rate(x) == [4, 5, 6]).all()
    assert motion.rate(q) == pytest.approx(np.cross([0, 2, 0], [0.6, 0, 0.8]), abs=1e-10)  # the part along q
    assert motion[R] == pytest.approx(rotation, abs=1e-15) and (motion.rate(R) == [7, 8, 9]).all()
    motion.place(R, matrix_to_quaternion(rotation))
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
    motion.parameters["l2"] = 0.9
    other = compiled(double_spherical(), l2=0.9)  # the same equations, from the cache
    motion.q, motion.v = random_state(dynamics)
    again = Motion(other)
    again.q, again.v = random_state(other)
    motion.step(10)
    again.step(10)
    assert (motion.q == again.q).all() and (motion.v == again.v).all()
    again.parameters["l2"] = 0.45
    again.step()
    motion.step()
    assert not (motion.v == again.v).all()


def test_random_inertias_are_those_of_bodies():
    """The triangle inequality of principal moments, so that the other tests are about bodies that can be."""
    for seed in range(4):
        moments = np.linalg.eigvalsh(inertia(seed))
        assert moments[0] + moments[1] > moments[2] > 0.0
