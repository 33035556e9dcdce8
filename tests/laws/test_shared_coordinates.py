"""Coordinates shared by many joints, q_i = q_i(q): the tree without the sharing is the oracle.

With tree coordinates phi(q), Phi = dphi/dq: M = Phi^T M_tree Phi and bias = Phi^T (bias_tree + M_tree Phi-dot v).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_cases import KINDS
from transforms import random_pose
from trees import GRAVITY, assert_close, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints

KIND_NAMES = ("revolute", "prismatic", "screw", "helix", "universal", "fixed")


@dataclass(frozen=True, eq=False)
class Pair:
    """A tree with shared coordinates, the same without, and phi with its derivatives as functions of (q, v)."""

    tied: Scene
    free: Scene
    phi: object

    def mapped(self, q, v):
        """(q_tree, Phi, Phi-dot v): numbers of one state."""
        values, Phi, bias = self.phi(*q, *v)
        nv = len(v)
        return np.ravel(values), np.array(Phi, dtype=float).reshape(-1, nv), np.ravel(bias)


def functions_of(rng, shared):
    """A smooth function with slopes of order 1."""
    a, b = rng.choice(len(shared), 2)
    x, y = shared[int(a)], shared[int(b)]
    return rng.choice(
        [0.7 * x - 0.3 * y + 0.2, sp.sin(x) + y / 2, sp.sqrt(4 + x * y / 9) - y, sp.atan2(sp.sin(x), 2 + sp.cos(y)), -x]
    )


@cache
def pair(seed: int, bodies: int) -> Pair:
    """Half of the joints of one or two coordinates are driven by three shared coordinates or an earlier joint's own."""
    rng = np.random.default_rng(seed)
    tied, free = Scene(gravity=GRAVITY), Scene(gravity=GRAVITY)
    shared = [tied.coordinate(f"s{i}", armature=0.1 * i) for i in range(3)]
    nodes, order, entries = [(tied.world, free.world)], [], []

    def number(symbol):
        if symbol not in order:
            order.append(symbol)

    for i in range(bodies):
        name = str(rng.choice(KIND_NAMES[:4] if i < 3 else KIND_NAMES[:6]))
        case = KINDS[name](rng, {})
        body = random_body(rng, f"b{i}")
        twin = Body(f"b{i}", mass=body.mass, center_of_mass=body.center_of_mass, inertia=body.inertia)
        joint = case.joint
        if case.nv and (i < 3 or rng.random() < 0.5):
            driving = [functions_of(rng, [*shared, *(s for s in order if "." in s.name)][-5:]) for _ in range(case.nv)]
            if i < 3:
                driving = [shared[i], *driving[1:]]
            joint = joint.driven(*driving)
            for e in driving:
                for symbol in sorted(e.free_symbols, key=lambda s: [str(s) for s in e.free_symbols].index(str(s))):
                    number(symbol)
            entries += driving
        parents = nodes[int(rng.integers(max(0, len(nodes) - 3), len(nodes)))]
        pose = random_pose(rng)
        nodes.append((parents[0].attach(body, joint, at=pose), parents[1].attach(twin, case.joint, at=pose)))
        if joint is case.joint and case.nv:
            for symbol in body.q:
                number(symbol)
                entries.append(symbol)
    labels = tied.compile().coordinates
    by_name = {s.name: s for s in [*shared, *order]}
    q = [by_name[label] for label in labels]
    v = list(sp.symbols(f"v:{len(q)}"))
    values = sp.Matrix(entries)
    Phi = values.jacobian(q)
    rate = Phi * sp.Matrix(v)
    return Pair(tied, free, sp.lambdify([*q, *v], [values, Phi, rate.jacobian(q) * sp.Matrix(v)], "numpy"))


def check(p: Pair, seed: int, methods: tuple[str, ...] = ("recursive", "lagrangian")) -> None:
    rng = np.random.default_rng(seed)
    free = p.free.compile()
    for method in methods:
        tied = p.tied.compile(method)
        q, v, a = rng.uniform(-0.6, 0.6, tied.nq), rng.normal(size=tied.nv), rng.normal(size=tied.nv)
        q_tree, Phi, bias = p.mapped(q, v)
        rotors = np.diag([c.armature for c in tied.model.coordinates])
        M = Phi.T @ free.mass_matrix(q_tree) @ Phi + rotors
        expected = Phi.T @ free.inverse_dynamics(q_tree, Phi @ v, Phi @ a + bias) + rotors @ a
        assert_close(tied.poses(q), free.poses(q_tree), 1e-13)
        assert_close(tied.velocities(q, v), free.velocities(q_tree, Phi @ v), 1e-13)
        assert_close(tied.mass_matrix(q), M, 1e-12)
        assert_close(tied.inverse_dynamics(q, v, a), expected, 1e-12)
        condition = np.linalg.cond(M)
        assert_close(tied.forward_dynamics(q, v, expected), a, max(1e-12, 1e-15 * condition))
        assert_close(tied.kinetic_energy(q, v), 0.5 * v @ M @ v, 1e-13)
        velocities = tied.velocities(q, v)
        for k, name in enumerate(tied.bodies):
            assert_close(tied.jacobian(q, name) @ v, velocities[k], 1e-12, 1.0 + np.abs(velocities).max())
        wrenches = rng.normal(size=(len(tied.bodies), 6))
        assert_close(tied.generalized_forces(q, wrenches), Phi.T @ free.generalized_forces(q_tree, wrenches), 1e-12)


@pytest.mark.parametrize("bodies", [3, 4, 6, 9, 14])
def test_sharing_is_the_projection_of_the_free_tree(bodies):
    check(pair(bodies, bodies), bodies)


@pytest.mark.slow
@pytest.mark.parametrize("bodies", [3, 6, 9])
def test_sharing_is_the_projection_of_the_free_tree_in_the_trace_form(bodies):
    check(pair(bodies, bodies), bodies, ("trace",))


@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), bodies=st.integers(3, 8))
def test_sharing_is_the_projection_of_any_free_tree(seed, bodies):
    check(pair.__wrapped__(seed, bodies), seed)


def test_joints_with_quaternions_live_beside_shared_coordinates():
    scene = Scene()
    q = scene.coordinate("q")
    a = scene.world.attach(Body("a", mass=1.0, inertia=np.eye(3) * 0.1), joints.revolute("x").driven(q))
    b = a.attach(Body("b", mass=0.5, inertia=np.eye(3) * 0.05), joints.ball(), at=rd.pose((0, 0, -1)))
    b.attach(Body("c", mass=0.5, inertia=np.eye(3) * 0.05), joints.prismatic("z").driven(sp.sin(q)))
    results = []
    rng = np.random.default_rng(0)
    state = rng.normal(size=5), rng.normal(size=4), rng.normal(size=4)
    for method in ("recursive", "lagrangian"):
        results.append(scene.compile(method).forward_dynamics(*state))
    assert_close(results[0], results[1], 1e-12)


def test_work_grows_linearly_beside_a_mechanism_with_few_coordinates():
    """Every further chain of plain joints costs the same, however many joints share the one coordinate."""

    def count(chains):
        scene = Scene()
        q = scene.coordinate("q")
        link = {"mass": 1.0, "center_of_mass": (0.1, 0.2, -0.5), "inertia": np.diag([0.2, 0.3, 0.4])}
        node = scene.world
        for i in range(6):
            node = node.attach(Body(f"bar{i}", **link), joints.revolute("y").driven((-1) ** i * q * (1 + i)))
            for j in range(chains):
                tip = node
                for k in range(4):
                    tip = tip.attach(
                        Body(f"tip{i}.{j}.{k}", **link), joints.revolute("xyz"[k % 3]), at=rd.pose((0, 0, -1))
                    )
        return scene.compile("recursive").operation_count("forward_dynamics").total

    one, two, three = count(1), count(2), count(3)
    assert three - two <= 1.02 * (two - one)


def four_bar(scene: Scene, crank: float = 0.4, coupler: float = 1.1, rocker: float = 0.9, ground: float = 1.2):
    """Crank and coupler as a tree driven by the crank angle, in closed form."""
    theta = scene.coordinate("theta")
    x, y = crank * sp.cos(theta) - ground, crank * sp.sin(theta)
    reach = sp.sqrt(x**2 + y**2)
    inner = sp.acos((reach**2 + rocker**2 - coupler**2) / (2 * rocker * reach))
    rock = sp.atan2(y, x) - inner
    px, py = ground + rocker * sp.cos(rock), rocker * sp.sin(rock)
    lean = sp.atan2(py - crank * sp.sin(theta), px - crank * sp.cos(theta))
    link = {"mass": 1.0, "inertia": np.eye(3) * 0.05}
    a = scene.world.attach(Body("crank", center_of_mass=(crank / 2, 0, 0), **link), joints.revolute("z").driven(theta))
    a.attach(
        Body("coupler", center_of_mass=(coupler / 2, 0, 0), **link),
        joints.revolute("z").driven(lean - theta),
        at=rd.pose((crank, 0, 0)),
    )
    scene.world.attach(
        Body("rocker", center_of_mass=(rocker / 2, 0, 0), **link),
        joints.revolute("z").driven(rock),
        at=rd.pose((ground, 0, 0)),
    )
    return theta


def test_a_four_bar_in_closed_form_closes_and_keeps_its_energy():
    scene = Scene(gravity=(0, -9.81, 0))
    four_bar(scene)
    d = scene.compile()
    assert d.nv == 1 and d.coordinates == ("theta",)
    q = np.linspace(-3, 3, 50)[:, None]
    X = d.poses(q)
    ends = [(X[:, i] @ [length, 0, 0, 1])[:, :3] for i, length in ((1, 1.1), (2, 0.9))]
    assert_close(ends[0], ends[1], 1e-12)
    errors = []
    for h in (0.01, 0.005):
        sim = rd.Simulation(d, h, "rk4")
        sim.q, sim.v = [0.3], [2.0]
        start = d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q)
        sim.step(round(3.0 / h))
        errors.append(abs(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) - start))
    assert errors[1] < 1e-6 * abs(start) and errors[1] < errors[0] / 10


def test_a_slider_crank_meets_its_textbook_inertia():
    """Massless rod: T = (J + m x'(theta)^2) theta-dot^2 / 2, x = r cos + sqrt(l^2 - r^2 sin^2)."""
    scene = Scene(gravity=(0, 0, 0))
    theta = scene.coordinate("theta")
    r, l, m, J = 0.3, 1.0, 2.0, 0.4
    x = r * sp.cos(theta) + sp.sqrt(l**2 - r**2 * sp.sin(theta) ** 2)
    scene.world.attach(Body("crank", mass=1.0, inertia=np.diag([0.1, 0.4, J])), joints.revolute("z").driven(theta))
    scene.world.attach(Body("piston", mass=m, inertia=np.eye(3)), joints.prismatic("x").driven(x))
    d = scene.compile()
    for value in (0.2, 1.4, -2.2):
        slope = float(sp.diff(x, theta).subs(theta, value))
        assert_close(d.mass_matrix([value]), [[J + m * slope**2]], 1e-14)
    printed = d.equations("mass_matrix")[0, 0]
    (symbol,) = printed.free_symbols
    assert sp.lambdify(symbol, printed - J - m * sp.diff(x, theta).subs(theta, symbol) ** 2)(0.7) == pytest.approx(
        0.0, abs=1e-14
    )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s, q, z: joints.revolute("z").driven(sp.Symbol("w")), r"'b' is driven by 'w'.*scene.coordinate"),
        (lambda s, q, z: joints.revolute("z").driven(sp.Integer(1)), r"'b' is driven by no coordinate"),
        (lambda s, q, z: joints.universal("x", "y").driven(q), r"one expression for each.*not 1"),
        (lambda s, q, z: joints.revolute("z", damping=1.0).driven(q), r"'angle' is driven by others.*damping"),
        (lambda s, q, z: joints.ball().driven(q, q, q), r"ball or free"),
        (lambda s, q, z: joints.revolute("z").driven(q) @ joints.ball(), r"cannot be composed"),
        (lambda s, q, z: joints.revolute("z").driven("q"), r"neither a number nor a SymPy"),
    ],
)
def test_bad_sharing_is_refused(build, message):
    scene = Scene()
    q = scene.coordinate("q")
    scene.world.attach(Body("a", mass=1.0), joints.prismatic("z").driven(q))
    with pytest.raises(rd.ModelError, match=message):
        scene.world.attach(Body("b", mass=1.0), build(scene, q, None))
        scene.compile()


def test_a_coordinate_that_moves_nothing_or_is_named_twice_is_refused():
    scene = Scene()
    scene.coordinate("q")
    scene.world.attach(Body("a", mass=1.0), joints.prismatic("z"))
    with pytest.raises(rd.ModelError, match="coordinate 'q' moves no body"):
        scene.compile()
    with pytest.raises(rd.ModelError, match="'q' is declared already"):
        scene.parameter("q", 1.0)
    with pytest.raises(rd.ModelError, match="not an identifier"):
        scene.coordinate("a b")
    with pytest.raises(rd.ModelError, match="limits of coordinate 'r'"):
        scene.coordinate("r", limits=(1, 0))


def test_a_shared_symbol_may_stand_in_a_transform():
    """x q along x and an angle: the same as a driven prismatic joint on the way to a hinge."""
    scenes = []
    for direct in (True, False):
        scene = Scene()
        q = scene.coordinate("q")
        x = sp.Symbol("x", real=True)
        scene.world.attach(Body("a", mass=1.0, inertia=np.eye(3)), joints.revolute("y").driven(q))
        body = Body("b", mass=1.0, center_of_mass=(0, 0.3, 0.1), inertia=np.diag([0.3, 0.2, 0.4]))
        if direct:
            turn = sp.rot_axis1(-x).row_join(sp.Matrix([sp.sin(q), 0, 0])).col_join(sp.Matrix([[0, 0, 0, 1]]))
            scene.world.attach(body, joints.Joint(turn, x))
        else:
            rail = scene.world.attach(
                Body("rail", mass=1e-12, inertia=np.eye(3) * 1e-12), joints.prismatic("x").driven(sp.sin(q))
            )
            rail.attach(body, joints.revolute("x"))
        scenes.append(scene.compile())
    direct, split = scenes
    assert direct.coordinates == ("q", "b.x") == ("q", split.coordinates[1].replace("angle", "x"))
    state = [0.3, 0.5], [1.0, -2.0], [0.1, 0.2]
    assert_close(direct.forward_dynamics(*state), split.forward_dynamics(*state), 1e-9)
