"""Si & Guenter's Method II, numeric over the links, is their Method I to rounding: any joint, tree, step and thread."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from constraint_cases import driven
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import SAMPLED, assert_close, mechanism, named, random_scene

import recursive_dyn as rd
from scene import Body, Scene, joints

SOLVED = 1e-12
INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint", "linearly_implicit_rk4")


def compare(found, seed: int) -> None:
    q, v = found.states(4, seed)
    tau = np.random.default_rng(seed).normal(size=v.shape)
    recursive, two = found.dynamics("recursive"), found.dynamics("method_two")
    expected = recursive.forward_dynamics(q, v, tau)
    allowed = max(SOLVED, 10 * np.finfo(float).eps * np.linalg.cond(recursive.mass_matrix(q)).max()) if len(v.T) else 0
    assert_close(two.forward_dynamics(q, v, tau), expected, allowed)
    for row in (2, 0, 2):  # nothing of one state is left for the next
        assert_close(two.forward_dynamics(q[row], v[row], tau[row]), expected[row], allowed)


@pytest.mark.parametrize("name", SAMPLED)
def test_every_joint_type_moves_as_by_method_one(name):
    compare(named(name), 1)


@settings(max_examples=3)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5))
def test_any_tree_moves_as_by_method_one(seed, bodies):
    compare(random_scene(seed, bodies), seed)


@pytest.mark.slow
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 12))
def test_many_trees_move_as_by_method_one(seed, bodies):
    compare(random_scene(seed, bodies), seed)


def limbs(parametric: bool = False) -> Scene:
    """A floating trunk with two limbs: quaternions, rotors, springs and dampers."""
    scene = Scene()
    reach, weight = 0.3, 1.0
    if parametric:
        reach, weight = scene.parameter("reach", 0.3), scene.parameter("weight", 1.0)
        scene.gravity = (0, 0.5, -9.81 * scene.parameter("pull", 1.0))
    trunk = scene.world.attach(Body("trunk", mass=2.0, center_of_mass=(0.1, 0, 0), inertia=np.eye(3)), joints.free())
    for i, joint in enumerate((joints.ball(), joints.universal("x", "y", armature=0.3, stiffness=3.0, damping=0.2))):
        child = Body(f"limb{i}", mass=weight, center_of_mass=(0, 0.2, 0.3), inertia=np.diag([0.1, 0.2, 0.25]))
        trunk.attach(child, joint, at=rd.pose((reach, 0.1 * i, 0), (0.2, 0.1, 0.3)))
    return scene


def started(dynamics: rd.Dynamics, integrator: str) -> rd.Simulation:
    sim = rd.Simulation(dynamics, 1 / 60, integrator)
    rng = np.random.default_rng(4)
    sim.q, sim.v = dynamics.random(rng), rng.normal(size=dynamics.nv)
    return sim


@pytest.mark.parametrize(
    "integrator", [INTEGRATORS[0], *(pytest.param(i, marks=pytest.mark.slow) for i in INTEGRATORS[1:])]
)
def test_steps_are_those_of_method_one(integrator):
    ends = []
    for method in ("recursive", "method_two"):
        sim = started(limbs().compile(method), integrator)
        sim.step(30)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert_close(ends[1], ends[0], 1e-9)


@pytest.mark.parametrize("method", ["method_two", "trace"])
def test_parameters_of_links_and_gravity_are_followed(method):
    two, one = limbs(True).compile(method), limbs(True).compile("recursive")
    rng = np.random.default_rng(2)
    q, v, tau = two.random(rng), rng.normal(size=two.nv), rng.normal(size=two.nv)
    for values in ((0.3, 1.0, 1.0), (-0.4, 2.5, 0.2)):
        for d in (one, two):
            d.parameters["reach"], d.parameters["weight"], d.parameters["pull"] = values
        assert_close(two.forward_dynamics(q, v, tau), one.forward_dynamics(q, v, tau), SOLVED)


def test_charts_threads_copies_and_derivatives_are_as_of_any_method():
    scene = limbs()
    ring = joints.charts(*(joints.euler(o) for o in ("xyz", "zxz")))
    scene["limb0"].attach(Body("tip", mass=0.4, inertia=np.eye(3) * 0.02), ring, at=rd.pose((0, 0, 0.5)))
    one, two = scene.compile("recursive"), scene.compile("method_two")
    rng = np.random.default_rng(3)
    q = np.array([one.random(rng) for _ in range(40)])
    q[:, -3:] = rng.uniform(0.4, 1.1, (40, 3))
    v, tau = rng.normal(size=(2, 40, one.nv))
    for chart in (0, 1):
        one.parameters["tip.chart"] = two.parameters["tip.chart"] = chart
        expected = one.forward_dynamics(q, v, tau)
        with ThreadPoolExecutor(4) as pool:
            at_once = list(pool.map(two.forward_dynamics, q, v, tau))
        assert_close(np.array(at_once), expected, SOLVED)
        assert_close(pickle.loads(pickle.dumps(two)).forward_dynamics(q[0], v[0], tau[0]), expected[0], SOLVED)
        pairs = zip(*(d.derivatives("forward_dynamics", q[0], v[0], tau[0]) for d in (one, two)), strict=True)
        for first, second in pairs:
            assert_close(second, first, SOLVED)


def test_what_is_compiled_does_not_grow_with_a_chain_of_equal_joints():
    counts = []
    for n in (5, 9):
        scene = Scene()
        node = scene.world
        for i in range(n):
            body = Body(f"b{i}", mass=1.0 + i, center_of_mass=(0.1 * i, 0.2, -0.5), inertia=np.diag([0.2, 0.3, 0.4]))
            node = node.attach(body, joints.revolute("x"), at=rd.pose((0, 0.1 * i, -1), (0.1 * i, 0.2, 0)))
        kernel = scene.compile("method_two").kernel("forward_dynamics")
        counts.append([k.native.facts["count"] for k in kernel.programs])
    assert len(counts[0]) == 3 and counts[0] == counts[1]


def test_what_it_cannot_take_is_refused_by_name():
    with pytest.raises(rd.ModelError, match=r"no constraints, as '.*method=\"recursive\""):
        driven().scene.compile("method_two")
    tied = mechanism(0, 9, couplings=True, kinds=("revolute", "prismatic"))
    with pytest.raises(rd.ModelError, match=r"no joint driven by others, as that of 'b\d'"):
        tied.scene.compile("method_two")


def test_a_singular_joint_is_named():
    scene = Scene()
    scene.world.attach(Body("b", mass=1.0, inertia=np.eye(3)), joints.euler("xyz"))
    with pytest.raises(rd.StateError, match=r"joint of coordinate 'b\.\w+' is singular"):
        scene.compile("method_two").forward_dynamics([0.2, np.pi / 2, 0.1], [0.5, 0.2, 0.3], [1.0, 2.0, 3.0])
