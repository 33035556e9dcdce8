"""The same scene in maximal coordinates: bodies move as in joint coordinates, and joints are met."""

import numpy as np
import pytest
import sympy as sp
from trees import GRAVITY, SAMPLED, assert_close, named, random_body, random_scene

import recursive_dyn as rd
from scene import Body, Scene, joints

# A system of 6 rows a joint is solved where the recursion solves one: rounding of 1e-16 grows with its condition.
SOLVED = 1e-10
MAXIMAL = ["velocity_constraints", "penalty"]


def chain(count, joint, base=None):
    """Rods of 0.5 m behind one another."""
    scene, node = Scene(), None
    for k in range(count):
        rod = Body(f"rod{k}", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
        parent = node or (scene.world if base is None else scene.world.attach(base, joints.free()))
        node = parent.attach(rod, joint(k), at=rd.pose(xyz=(0.5 if node else 0, 0, 0)))
    return scene


def energy(d, q, v):
    return d.kinetic_energy(q, v) + d.potential_energy(q)


@pytest.mark.parametrize("name", SAMPLED)
def test_bodies_accelerate_as_in_joint_coordinates(name):
    m = named(name)
    q, v = m.states(4, 3)
    reduced, d = m.dynamics(), m.scene.compile("velocity_constraints")
    Q, V = d.from_reduced(q, v)
    tau = np.random.default_rng(3).normal(size=v.shape)
    external = np.random.default_rng(4).normal(size=(4, len(d.bodies), 6))
    a = reduced.forward_dynamics(q, v, tau, external)
    A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q), external)
    assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, a), SOLVED)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_state_of_joint_coordinates_meets_all_joints_and_comes_back(name):
    m = named(name)
    q, v = m.states(4, 5)
    reduced, d = m.dynamics(), m.scene.compile("penalty")
    Q, V = d.from_reduced(q, v)
    scale = 1.0 + np.abs(V).max()
    for found in d.joint_errors(Q, V):
        assert np.abs(found).max(initial=0.0) < 1e-12 * scale
    back, rates = d.to_reduced(Q, V, near=q)
    assert_close(reduced.poses(back), reduced.poses(q), 1e-12)
    assert_close(reduced.velocities(back, rates), reduced.velocities(q, v), 1e-11)
    assert_close(d.poses(Q), reduced.poses(q), 1e-13)
    assert_close(d.velocities(Q, V), reduced.velocities(q, v), 1e-12)
    anywhere, _ = d.to_reduced(Q, V)  # from nothing known: other turns, or angles of another order, of the same pose
    assert_close(reduced.poses(anywhere), reduced.poses(q), 1e-10)


@pytest.mark.parametrize("settings", [{}, {"integrator": "implicit_euler"}, {"integrator": "semi_implicit_euler"}])
def test_steps_converge_to_the_motion_of_joint_coordinates(settings):
    scene = chain(3, lambda k: joints.revolute("y", damping=0.1) if k else joints.ball())
    exact = rd.Simulation(scene.compile(), 1 / 2000, "rk4")
    d = scene.compile("penalty" if settings else "velocity_constraints")
    exact.step(600)
    off, errors = [], []
    for rate in (200, 400, 800):
        motion = rd.Simulation(d, 1 / rate, **settings)
        motion.step(3 * rate // 10)
        off.append(np.abs(d.poses(motion.q) - exact.dynamics.poses(exact.q)).max())
        errors.append(np.abs(d.joint_errors(motion.q)[0]).max())
    assert bool(settings) or max(errors) < 1e-6
    assert off[2] < 0.6 * off[1] < 0.36 * off[0] and off[2] < 0.02
    assert max(errors) < 1e-6 or errors[2] < 0.6 * errors[1] < 0.36 * errors[0]  # constraints are met after a step


@pytest.mark.parametrize("method", MAXIMAL)
def test_what_floats_keeps_its_momentum(method):
    m = random_scene(7, 5, kinds=["revolute", "ball", "universal", "helix"], gravity=(0, 0, 0), root="free")
    d = m.scene.compile(method)
    q, v = m.states(1, 2)
    motion = rd.Simulation(d, 1 / 240)
    motion.q[:], motion.v[:] = (x[0] for x in d.from_reduced(q, v))
    before = d.momentum(motion.q, motion.v)
    motion.step(60)
    assert_close(d.momentum(motion.q, motion.v), before, 1e-11)


def test_energy_of_a_chain_at_a_sixtieth_stays_below_what_it_had():
    scene = chain(6, lambda k: joints.revolute("y"))
    for method, integrator in (("velocity_constraints", "semi_implicit_euler"), ("penalty", "implicit_euler")):
        d = scene.compile(method)
        motion = rd.Simulation(d, 1 / 240, integrator)
        start, least = energy(d, motion.q, motion.v), -6 * 9.81 * 1.5
        motion.step(480)
        assert least < energy(d, motion.q, motion.v) < start + 0.05 * abs(least)
        assert np.abs(d.joint_errors(motion.q)[0]).max() < 0.01


def test_bodies_have_the_masses_of_the_mass_matrix():
    d = named("tree of 5").scene.compile("penalty")
    M = d.mass_matrix(d.random(3))
    for k, block in enumerate(d.inertias):
        assert_close(M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6], block, 1e-13)
        M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = 0.0
    assert np.abs(M).max() == 0.0


def test_rotors_springs_and_dampers_of_joints_act_through_their_coordinates():
    scene = Scene()
    rng = np.random.default_rng(1)
    arm = scene.world.attach(
        random_body(rng, "arm"), joints.revolute("y", armature=0.3, stiffness=9.0, rest=0.4, damping=0.5)
    )
    arm.attach(
        random_body(rng, "tip"),
        joints.prismatic("x", armature=0.5, stiffness=60.0, damping=2.0),
        at=rd.pose((0.4, 0, 0)),
    )
    exact = rd.Simulation(scene.compile(), 1 / 1000)
    exact.step(200)
    for method in MAXIMAL:
        d = scene.compile(method)
        motion = rd.Simulation(d, 1 / 1000)
        motion.step(200)
        q, _ = d.to_reduced(motion.q, near=exact.q)
        assert_close(q, exact.q, 5e-3 if method == "velocity_constraints" else 5e-2)


def test_parameters_of_the_scene_change_the_joints_too():
    scene = Scene(gravity=GRAVITY)
    length, q = scene.parameter("length", 0.4), sp.Symbol("q")
    slide = sp.Matrix(4, 4, lambda i, j: int(i == j))
    slide[0, 3], slide[2, 3] = q, length * q**2
    bead = scene.world.attach(random_body(np.random.default_rng(2), "bead"), joints.Joint(slide, q))
    bead.attach(random_body(np.random.default_rng(3), "bob"), joints.ball(), at=rd.pose((length, 0, 0)))
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    for value in (0.4, 0.9):
        reduced.parameters["length"] = d.parameters["length"] = value
        x, v = reduced.random(4), np.random.default_rng(5).normal(size=reduced.nv)
        Q, V = d.from_reduced(x, v)
        assert np.abs(d.joint_errors(Q, V)[0]).max() < 1e-12
        a = reduced.accelerations(x, v, reduced.forward_dynamics(x, v))
        assert_close(d.accelerations(Q, V, d.forward_dynamics(Q, V)), a, SOLVED)
    one, two = rd.Simulation(d), rd.Simulation(d)
    two.parameters["length"] = 0.4
    one.step(2)
    two.step(2)
    assert one.parameters["length"] == 0.9 and np.abs(one.q - two.q).max() > 1e-4


def test_what_has_no_form_between_bodies_is_refused_by_name():
    scene = chain(2, lambda k: joints.revolute("y"))
    for settings, message in (
        ({"method": "penalty", "stiffness": -1.0}, "stiffness"),
        ({"method": "penalty", "stabilization": 0.1}, "has no setting 'stabilization'"),
        ({"method": "velocity_constraints", "stabilization": 2.0}, "from 0 to 1"),
        ({"method": "auto", "stiffness": 1.0}, "has no setting 'stiffness'"),
        ({"method": "newton"}, "penalty, velocity_constraints"),
    ):
        with pytest.raises(rd.ModelError, match=message):
            scene.compile(**settings)
    with pytest.raises(rd.StateError, match="'velocity_constraints' is stepped by 'semi_implicit_euler'"):
        rd.Simulation(scene.compile("velocity_constraints"), 1 / 240, "rk4")
    with pytest.raises(rd.StateError, match="implicit_euler"):
        rd.Simulation(scene.compile("penalty"), 1 / 240, "rk4")
    d = scene.compile("penalty")
    with pytest.raises(rd.ModelError, match=r"linearize dynamics\.reduced"):
        rd.Simulation(d).linearize()
    with pytest.raises(rd.ModelError, match="forward_dynamics has no derivatives"):
        d.derivatives("forward_dynamics", d.neutral(), np.zeros(d.nv), np.zeros(d.nv))
    scene["rod1"].attach(Body("dot", mass=1.0), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match="body 'dot' has no mass, or no moment of inertia, of its own"):
        scene.compile("penalty")
