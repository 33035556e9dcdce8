"""Analytic derivatives of the dynamics of trees: the recursion for every joint, and its machine code."""

import complex_step
import numpy as np
import pytest
from forest_cases import grove
from trees import SAMPLED_KINDS, assert_close, mechanism, random_scene, single

import recursive_dyn as rd
from demos.benchmark.cases import hinge_chain, random_state, robots
from demos.benchmark.ours import Ours
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer
from recursive_dyn.codegen import reference
from recursive_dyn.codegen.emitting.tree_products import apart, padded_columns, panel
from recursive_dyn.codegen.making import jit
from recursive_dyn.dynamics.derivatives.jacobians import Jacobians
from recursive_dyn.dynamics.derivatives.tangents import tangents
from recursive_dyn.dynamics.derivatives.tree_derivatives import TreeDerivatives, moving_program
from recursive_dyn.dynamics.derivatives.tree_order import column_slots, walk
from recursive_dyn.recursion.analytic_derivatives import motion_derivatives as motion
from recursive_dyn.recursion.context import ALONG
from scene import Body, Scene, joints

FUNCTIONS = ("inverse_dynamics", "forward_dynamics")


def defined(d, q, v, a):
    """Derivatives of inverse dynamics by q, v, a, as the recursion says: pairs of columns one by one."""
    model, columns = d.model, walk(d.model)
    made = reference.run(moving_program(model), {"q": q, "v": v, "a": a, "parameters": d.parameters.values_array})
    (_, links), (size, numbers), *own = made.items()
    terms = [np.array(motion.link_terms(x), dtype=float) for x in links.reshape(-1, motion.LINK)]
    for i in reversed(range(len(terms))):
        if model.links[i].parent >= 0:
            terms[model.links[i].parent] += terms[i]
    rows = zip(columns, numbers.reshape(-1, int(size)), strict=True)
    made = np.array([motion.column_terms([*terms[i], *x]) for (i, _), x in rows], dtype=float)
    J, alpha, beta, gamma, p, back, by_q, by_v = np.split(made, [6, 9, 15, 21, 27, 30, 36], axis=1)
    result = np.zeros((3, d.nv, d.nv))
    result[2] = np.diag([c.armature for c in model.coordinates])
    slots, chains = column_slots(model), [set(model.chain(i)) for i in range(len(model.links))]
    for i, (link, _) in enumerate(columns):
        for k, (other, _) in enumerate(columns):
            if link in chains[other] and (link != other or i <= k):
                r, c, mass = slots[i], slots[k], J[i] @ p[k]
                result[:, c, r] += p[k] @ beta[i] + back[k] @ alpha[i], p[k] @ gamma[i] + back[k] @ J[i, :3], mass
                if i != k:
                    result[:, r, c] += J[i] @ by_q[k], J[i] @ by_v[k], mass
    for name, twist in own:
        link, r, c = map(int, name.split())
        row, column = model.links[link].slots[r], model.links[link].slots[c]
        result[0, row, column] += twist @ terms[link][:6]
    return result


def along(d, function, *arrays):
    """The same by directional derivatives."""
    made = Jacobians(d)
    return [made.by_argument(function, arrays, k) for k in range(3)]


@pytest.mark.parametrize("name", SAMPLED_KINDS)
def test_both_ways_are_the_complex_steps_for_every_joint(name):
    """By the interpreter, which machine code is compared with elsewhere."""
    case = single(name)
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 3))
    a = np.random.default_rng(1).normal(size=d.nv)
    expected = complex_step.derivatives(d, "inverse_dynamics", q, v, a)[:3]
    for mine, other in zip(defined(d, q, v, a), expected, strict=True):
        assert_close(mine, other, 1e-13)
    program = d.program("along/inverse_dynamics")
    for segment, other in zip("qva", expected, strict=True):
        unit = tangents(d.model, q) if segment == "q" else np.eye(d.nv)
        still = {n: np.zeros(size) for n, size in program.inputs}
        inputs = still | {"q": q, "v": v, "a": a, ALONG + segment: unit}
        assert_close(reference.run(program, inputs)["tau"].T, other, 1e-13)


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("seed", [3, 5, pytest.param(8, marks=pytest.mark.slow)])
def test_machine_code_of_any_registers_is_the_recursion(width, seed, monkeypatch):
    monkeypatch.setattr(jit, "vector_width", lambda: width)
    case = mechanism(seed, seed)
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 3))
    a = np.random.default_rng(1).normal(size=d.nv)
    trees, values = TreeDerivatives(d.model), d.parameters.values_array
    found = trees.single(d, "inverse_dynamics", [q, v, a], values)
    for mine, other in zip(found, defined(d, q, v, a), strict=True):
        assert_close(mine, other, 1e-13)
    expected = along(d, "forward_dynamics", q, v, a)
    for mine, other in zip(trees.single(d, "forward_dynamics", [q, v, a], values), expected, strict=True):
        assert_close(mine, other, 1e-11)


@pytest.mark.parametrize("columns", [1, 7, 21, 54, 102, 108, 300, 301])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_panels_are_whole_and_equal(columns, width, monkeypatch):
    monkeypatch.setattr(jit, "vector_width", lambda: width)
    size = padded_columns(columns)
    assert 1 <= panel(columns) <= 8 and size % (panel(columns) * width) == 0
    assert columns <= size < columns + panel(columns) * width
    assert apart(size) >= size and (apart(size) // 8) % 2 == 1


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kinds", [None, ("revolute", "ball"), ("helix", "free", "gibbs_six")])
def test_batches_broadcast(function, kinds):
    case = random_scene(3, 6, kinds, couplings=kinds is None)
    d, (q, v) = case.dynamics(), case.states(6, 1)
    q, v, a = q.reshape(2, 3, -1), v.reshape(2, 3, -1)[:, :1], np.ones(d.nv)
    assert d.functions.trees is not None
    for mine, other in zip(d.derivatives(function, q, v, a), along(d, function, q, v, a), strict=True):
        assert_close(mine, other, 1e-11)


def test_a_forest_is_its_trees_side_by_side():
    """Of several kinds, with masses and places of their own; batches broadcast."""
    trees = grove(3, trees=2, bodies=3, copies=3, kinds=("revolute", "ball", "helix"), scenery=1)
    d = trees.scene.compile()
    q, v = trees.states(d, 2, 1)
    assert d.functions.forest.pays and d.functions.trees.functions == FUNCTIONS
    for function in FUNCTIONS:
        for mine, other in zip(d.derivatives(function, q, v[0], v), along(d, function, q, v[0], v), strict=True):
            assert_close(mine, other, 1e-11)


def test_columns_that_share_a_coordinate():
    case = random_scene(7, 6, kinds=("revolute", "prismatic", "helix", "ball"), couplings=True)
    d, (q, v) = case.dynamics(), case.states(2, 1)
    assert case.coupled and len(column_slots(d.model)) > d.nv
    for function in FUNCTIONS:
        for mine, other in zip(d.derivatives(function, q, v, v), along(d, function, q, v, v), strict=True):
            assert_close(mine, other, 1e-11)


@pytest.mark.parametrize("name", ["kuka", "laikago", "humanoid", "chain"])
def test_hinges_are_as_in_pinocchio(name):
    """The hinges' block; robots with free bases and balls, whose velocities have another order there."""
    case = hinge_chain(12, "random") if name == "chain" else robots()[name]
    state = random_state(case)
    ours, peer = Ours(case, *state), PinocchioPeer(case, *state)
    assert peer.loaded, peer.reason
    model = ours.dynamics.model
    slots = [link.slots[0] for link in model.links if link.joint.nv == 1]
    data, pin, block = peer.model.createData(), peer.pin, np.ix_(peer.slots, peer.slots)
    pin.computeRNEADerivatives(peer.model, data, peer.q, peer.v, peer.a)
    found = ours.dynamics.derivatives("inverse_dynamics", ours.q, ours.v, ours.a)
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    for mine, other in zip(found, (data.dtau_dq, data.dtau_dv, mass), strict=True):
        assert_close(mine[np.ix_(slots, slots)], other[block], 1e-11, np.abs(mine).max())
    pin.computeABADerivatives(peer.model, data, peer.q, peer.v, peer.tau)
    found = ours.dynamics.derivatives("forward_dynamics", ours.q, ours.v, ours.tau)
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    for mine, other in zip(found, (data.ddq_dq, data.ddq_dv, inverse), strict=True):
        assert_close(mine[np.ix_(slots, slots)], other[block], 1e-9, np.abs(mine).max())


@pytest.mark.slow
def test_a_chain_of_a_hundred_hinges():
    case = hinge_chain(100, "random")
    ours = Ours(case, *random_state(case))
    d = ours.dynamics
    by_q, by_v, by_a = d.derivatives("inverse_dynamics", ours.q, ours.v, ours.a)
    expected = along(d, "inverse_dynamics", ours.q, ours.v, ours.a)
    for mine, other in zip((by_q, by_v, by_a), expected, strict=True):
        assert_close(mine, other, 1e-11)
    found = d.derivatives("forward_dynamics", ours.q, ours.v, ours.tau)
    for mine, other in zip(found, (-by_q, -by_v, np.eye(100)), strict=True):
        assert_close(by_a @ mine, other, 1e-8)  # M's condition number is 1e6


def test_numbers_that_are_large_but_right_are_given():
    """M^-1 of a body of 1e-9 kg m^2."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("speck", mass=1e-6, inertia=np.eye(3) * 1e-9), joints.revolute("z"))
    d = scene.compile()
    assert_close(d.derivatives("forward_dynamics", np.zeros(1), np.zeros(1), np.zeros(1))[2], [[1e9]], 1e-13)
    assert_close(d.derivatives("forward_dynamics", [[0.0]], [[0.0]], [[0.0]])[2], [[[1e9]]], 1e-13)


def test_what_is_not_finite_is_told():
    case = mechanism(3, 3)
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 1))
    with pytest.raises(rd.StateError, match="derivatives of inverse_dynamics: 'v' is not finite at coordinate"):
        d.derivatives("inverse_dynamics", q, np.full(d.nv, np.inf), v)
    with pytest.raises(rd.StateError, match="not finite"):
        d.derivatives("inverse_dynamics", q, np.full(d.nv, 1e200), v)
    with pytest.raises(rd.StateError, match="batch row"):
        d.derivatives("forward_dynamics", np.array([q, q]), np.array([v, v * 1e200]), v)
