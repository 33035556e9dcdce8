"""Derivatives of a model's functions are those of the complex step, for any joint, tree, forest and constraint."""

import complex_step
import numpy as np
import pytest
import sympy as sp
from chart_cases import bead, euler
from constraint_cases import bound, driven
from forest_cases import grove
from joint_cases import MOVING
from trees import assert_close, derivative, mechanism, random_body, random_scene

import recursive_dyn as rd
from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.recursion.context import OF_BODIES, segment_size
from scene import Body, Scene, joints, shapes

EXACT = 1e-11  # of the largest entry: rounding of some thousand operations, and of a solve for accelerations
FREE = [name for name, f in FUNCTIONS.items() if not f.constrained and not f.configuration]


def arguments(d, function, q, v, q_end, seed=2):
    """One of each input segment of a function: a state, and random numbers."""
    rng = np.random.default_rng(seed)
    known = {"q": q, "v": v, "q_end": q_end, "v_middle": v, "dt": np.array([0.01])}
    known |= {n: rng.uniform(0.5, 2.0, segment_size(d.model, n)) for n in ("weights", "diagonal")}
    names = FUNCTIONS[function].inputs
    return [known[n] if n in known else rng.normal(size=segment_size(d.model, n)) for n in names]


def public(d, function, given):
    """As the methods take them."""
    names = FUNCTIONS[function].inputs
    own = {"dt": lambda x: x[0], **{n: lambda x, k=k: x.reshape(-1, k) for n, k in OF_BODIES.items()}}
    return [own.get(name, lambda x: x)(x) for name, x in zip(names, given, strict=True)]


def check(d, function, q, v, q_end, tolerance=EXACT):
    given = arguments(d, function, q, v, q_end)
    found = d.derivatives(function, *public(d, function, given), parameters=True)
    expected = complex_step.derivatives(d, function, *given)
    assert len(found) == len(given) + 1
    shape, size = FUNCTIONS[function].shape(d.model), np.abs(d.call(function, *given)).max(initial=0.0)
    for mine, other in zip(found, expected, strict=True):
        assert mine.shape == (*shape, other.shape[-1])
        scale = max(size, np.abs(other).max(initial=0.0))
        assert_close(mine.reshape(other.shape), other, tolerance, scale)


@pytest.mark.parametrize("function", FREE)
def test_every_function_of_a_random_tree(function):
    case = mechanism(3, 3)
    (q, q_end), (v, _) = case.states(2, 1)
    check(case.dynamics(), function, q, v, q_end)


@pytest.mark.parametrize("seed", [5, 8, *(pytest.param(n, marks=pytest.mark.slow) for n in (20,))])
def test_larger_trees(seed):
    case = mechanism(seed, seed)
    (q, q_end), (v, _) = case.states(2, 1)
    check(case.dynamics(), "inverse_dynamics", q, v, q_end)
    check(case.dynamics(), "forward_dynamics", q, v, q_end)


@pytest.mark.parametrize("seed", [3, 8])
def test_what_derivatives_of_the_dynamics_are_to_each_other(seed):
    """dtau / da = M, da / dtau = M^-1, and da = -M^-1 dtau where accelerations are those of forward dynamics."""
    case = mechanism(seed, seed)
    d, (q, v) = case.dynamics(), case.states(4, 2)
    tau = np.random.default_rng(0).normal(size=v.shape)
    a, M = d.forward_dynamics(q, v, tau), d.mass_matrix(q)
    by_q, by_v, by_a = d.derivatives("inverse_dynamics", q, v, a)
    fd_q, fd_v, fd_tau = d.derivatives("forward_dynamics", q, v, tau)
    assert_close(by_a, M, 1e-13)
    assert_close(M @ fd_tau, np.broadcast_to(np.eye(d.nv), M.shape), 1e-10)
    assert_close(-M @ fd_q, by_q, 1e-10)
    assert_close(-M @ fd_v, by_v, 1e-10)


def test_gravity_and_energies_are_gradients():
    case = mechanism(5, 5)
    d, (q, v) = case.dynamics(), case.states(3, 2)
    assert_close(d.derivatives("potential_energy", q)[0], d.gravity(q), 1e-12)
    momenta = (d.mass_matrix(q) @ v[..., None])[..., 0]
    assert_close(d.derivatives("kinetic_energy", q, v)[1], momenta, 1e-12)
    assert_close(d.derivatives("elastic_energy", q)[0], -d.passive_forces(q, np.zeros(d.nv)), 1e-12)


def test_batches_are_their_rows():
    case = mechanism(3, 3)
    d, (q, v) = case.dynamics(), case.states(6, 2)
    q, v, a = q.reshape(2, 3, -1), v.reshape(2, 3, -1), np.ones(d.nv)
    whole = d.derivatives("inverse_dynamics", q, v, a)
    for i in np.ndindex(2, 3):
        for mine, row in zip(whole, d.derivatives("inverse_dynamics", q[i], v[i], a), strict=True):
            assert_close(mine[i], row, 1e-13)
    assert [J.shape for J in d.derivatives("inverse_dynamics", q[:0], v[:0], a)] == [(0, 3, d.nv, d.nv)] * 3


def test_along_the_configuration_manifold():
    """Columns are what the docstring says, by differences: also where quaternions have other lengths."""
    scene = Scene()
    first = scene.world.attach(random_body(np.random.default_rng(0), "a"), joints.free())
    first.attach(random_body(np.random.default_rng(1), "b"), joints.ball(), at=rd.pose((0.1, 0.2, 0.3)))
    d = scene.compile()
    q = d.random(1)
    q[3:7] *= 1.7
    (J,) = d.derivatives("poses", q)
    h = 1e-4
    for i, e in enumerate(np.eye(d.nv)):
        ahead, behind = (d.poses(d.integrate(q, e, s)) for s in (h, -h))
        assert_close(J[..., i], (ahead - behind) / (2 * h), 1e-8)  # h^2 / 6


@pytest.mark.parametrize("angle", [0.0, 1e-14, 1e-9, 1e-5, 1e-2, 1.5])
def test_ways_on_the_manifold_at_small_angles(angle):
    """integrate and difference undo each other, also to first order: no digits are lost as the way vanishes."""
    scene = Scene()
    scene.world.attach(random_body(np.random.default_rng(0), "a"), joints.free())
    d = scene.compile()
    rng = np.random.default_rng(3)
    q, v = d.random(1), rng.normal(size=6)
    v[:3] *= angle / np.linalg.norm(v[:3])
    by_q, by_v, by_dt = d.derivatives("integrate", q, v, 1.0)
    end = d.integrate(q, v, 1.0)
    from_start, from_end = d.derivatives("difference", q, end)
    assert_close(from_end @ by_v, np.eye(6), 1e-13)
    assert_close(from_start + from_end @ by_q, np.zeros((6, 6)), 1e-13, scale=1.0)
    assert_close((from_end @ by_dt)[:, 0], v, 1e-13)


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "poses", "kinetic_energy",
                                      "center_of_mass", "generalized_forces"])  # fmt: skip
def test_forests(function):
    trees = grove(2, trees=2, bodies=3, copies=4, kinds=tuple(k for k in MOVING if k != "euler"), scenery=1)
    d = trees.scene.compile()
    assert d.functions.forest.pays
    (q, q_end), (v, _) = trees.states(d, 2, 1)
    check(d, function, q, v, q_end)


def test_a_forest_takes_as_many_directions_as_its_largest_tree():
    scene = Scene()
    for k in range(30):
        scene.world.attach(Body(f"b{k}", [shapes.Box((1, 1, 1))]), joints.free(), at=rd.pose((k, 0, 0)))
    d = scene.compile()
    calls = []
    whole = d.batch
    d.batch = lambda name, arrays, lead, threads=None: calls.append(lead) or whole(name, arrays, lead, threads)
    by_q, _ = d.derivatives("bias", d.random(0), np.ones(d.nv))
    assert calls == [(12,)]  # q and v of a body
    blocks = by_q.reshape(30, 6, 30, 6).transpose(0, 2, 1, 3)
    apart = ~np.eye(30, dtype=bool)
    assert not blocks[apart].any() and all(block.any() for block in blocks[~apart])


@pytest.mark.parametrize("make", [lambda: bound(1, 6), driven], ids=["one of every sort", "shared coordinates"])
@pytest.mark.parametrize("function", ["forward_dynamics", "multipliers", "constraint_positions",
                                      "constraint_velocities", "constraint_jacobian"])  # fmt: skip
def test_constraints(make, function):
    case = make()
    d, (q, v, _) = case.dynamics(), (x[0] for x in case.states(1, 1))
    check(d, function, q, v, q, 1e-10)


@pytest.mark.parametrize("joint", [bead("z", "x"), euler("xyz", "zyx")], ids=["bead", "euler"])
@pytest.mark.parametrize("chart", [0, 1])
def test_charts(joint, chart):
    scene = Scene()
    scene.world.attach(random_body(np.random.default_rng(0), "b"), joint)
    d = scene.compile()
    (name,) = d.parameters
    d.parameters[name] = chart
    q, v = np.full(d.nq, 0.4), np.ones(d.nv)
    check(d, "forward_dynamics", q, v, q)


def test_coupled_coordinates():
    case = random_scene(7, 6, kinds=("revolute", "prismatic", "helix", "ball"), couplings=True)
    (q, q_end), (v, _) = case.states(2, 1)
    assert case.coupled
    check(case.dynamics(), "inverse_dynamics", q, v, q_end)
    check(case.dynamics(), "forward_dynamics", q, v, q_end)


def test_parameters_are_the_single_ones_side_by_side():
    scene = Scene()
    mass, length = scene.parameter("mass", 1.3), scene.parameter("length", 0.4)
    arm = scene.world.attach(Body("arm", mass=mass, inertia=np.eye(3) * 0.1), joints.revolute("y"))
    arm.attach(Body("tip", mass=2 * mass, inertia=np.eye(3) * 0.02), joints.ball(), at=rd.pose((length, 0, 0.1)))
    d = scene.compile()
    q, v, tau = d.random(0), np.ones(4), np.ones(4)
    for function in ("forward_dynamics", "inverse_dynamics"):
        *_, J = d.derivatives(function, q, v, tau, parameters=True)
        single_ones = [d.parameter_derivative(function, p, q, v, tau) for p in d.parameters]
        assert_close(J, np.stack(single_ones, axis=-1), 1e-13)
    *_, J = d.derivatives("center_of_mass", q, parameters=True)
    assert_close(J[:, 0], np.zeros(3), 1e-14, scale=1.0)  # all masses grow alike


def test_external_wrenches():
    """By differences of eighth order."""
    case = mechanism(5, 5)
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 2))
    rng = np.random.default_rng(0)
    tau, wrenches = rng.normal(size=d.nv), rng.normal(size=(len(d.bodies), 6))

    def differences(f, size):
        return np.stack([derivative(lambda t, e=e: np.array([f(s * e) for s in t])) for e in np.eye(size)], axis=-1)

    for name, method in (("forward_dynamics", d.forward_dynamics), ("inverse_dynamics", d.inverse_dynamics)):
        by_q, _, by_tau, by_wrenches = d.derivatives(name, q, v, tau, wrenches)
        moved = differences(lambda e, f=method: f(d.integrate(q, e, 1.0), v, tau, wrenches), d.nv)
        pushed = differences(lambda e, f=method: f(q, v, tau, wrenches + e.reshape(-1, 6)), wrenches.size)
        assert_close(by_q, moved, 1e-9)
        assert_close(by_wrenches, pushed, 1e-9)
        assert_close(by_tau, d.derivatives(name, q, v, tau, 0 * wrenches)[2], 1e-13)
    assert d.derivatives("forward_dynamics", q, v)[2].shape == (d.nv, d.nv)


def test_what_does_not_fit_is_told():
    case = mechanism(2, 2)
    d = case.dynamics()
    q, v = d.neutral(), np.zeros(d.nv)
    with pytest.raises(rd.ModelError, match="unknown function 'nothing'"):
        d.derivatives("nothing", q)
    with pytest.raises(rd.StateError, match="derivatives of bias are at q, v, but 1 arguments were given"):
        d.derivatives("bias", q)
    with pytest.raises(rd.StateError, match=r"derivatives of bias: 'v' has shape \(1,\)"):
        d.derivatives("bias", q, [0.0])
    with pytest.raises(rd.StateError, match="derivatives of bias: 'v' is not finite at coordinate 'b"):
        d.derivatives("bias", q, np.where(np.arange(d.nv) == 0, np.nan, v))
    with pytest.raises(rd.StateError, match="derivatives of jacobian"):
        d.derivatives("jacobian", q)
    with pytest.raises(rd.ModelError, match="unknown body"):
        d.derivatives("jacobian", q, "nobody")
    scene = Scene()
    scene.world.attach(random_body(np.random.default_rng(0), "b"), joints.euler("xyz"))
    lock = scene.compile()
    with pytest.raises(rd.StateError, match="singular"):
        lock.derivatives("forward_dynamics", [0.0, np.pi / 2, 0.0], np.ones(3))


def test_a_view_has_parameters_of_its_own():
    scene = Scene()
    mass = scene.parameter("mass", 1.0)
    scene.world.attach(Body("b", mass=mass, inertia=np.eye(3)), joints.prismatic("z"))
    d = scene.compile()
    d.derivatives("inverse_dynamics", [0.0], [0.0], [1.0])
    other = d.view()
    other.parameters["mass"] = 3.0
    assert other.derivatives("inverse_dynamics", [0.0], [0.0], [1.0])[2] == 3.0
    assert d.derivatives("inverse_dynamics", [0.0], [0.0], [1.0])[2] == 1.0


def test_accelerations_are_rates_of_velocities():
    case = mechanism(8, 8)
    d, (q, v) = case.dynamics(), (x[0] for x in case.states(1, 2))
    a = np.random.default_rng(0).normal(size=d.nv)
    along_q, along_v = d.derivatives("velocities", q, v)
    assert_close(d.accelerations(q, v, a), along_q @ v + along_v @ a, 1e-12)
    assert_close(d.derivatives("accelerations", q, v, a)[2], along_v, 1e-12)


def test_limits_are_those_of_the_joints():
    scene = Scene()
    arm = scene.world.attach(Body("arm", mass=1, inertia=np.eye(3)), joints.revolute("y", limits=(-1.0, 2.0)))
    arm.attach(Body("hand", mass=1, inertia=np.eye(3)), joints.ball(), at=rd.pose((sp.Rational(1, 2), 0, 0)))
    d = scene.compile()
    np.testing.assert_array_equal(d.limits, [[-1.0, 2.0], *[[-np.inf, np.inf]] * 3])
    d.limits[0] = 0.0
    assert d.limits[0, 1] == 2.0
    assert Scene().compile().limits.shape == (0, 2)
