"""Printed equations: names, agreement with the compiled functions, limits."""

from itertools import product

import numpy as np
import pytest
import sympy as sp
from joint_cases import KINDS
from trees import GRAVITY, Mechanism, assert_close, random_body, random_scene

import recursive_dyn as rd
from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.dynamics.sympy_equations import MOST_NESTED, number, symbols
from scene import Body, Scene, joints


def real(names: str):
    return sp.symbols(names, real=True)


def matches(actual, expected) -> bool:
    """Equal for every value of the symbols."""
    difference = sp.Matrix([actual]) - sp.Matrix([expected])
    return sp.simplify(difference) == sp.zeros(*difference.shape)


def test_ball_is_eulers_equation():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("top", mass=1, inertia=np.diag([1, 2, 3])), joints.ball())
    wx, wy, wz, tx, ty, tz = real("top_wx top_wy top_wz tau_top_wx tau_top_wy tau_top_wz")
    expected = sp.Matrix([tx - wy * wz, (ty + 2 * wx * wz) / 2, (tz - wx * wy) / 3])
    numbers = dict(zip((wx, wy, wz, tx, ty, tz), (0.3, -0.7, 1.1, 0.2, 0.5, -0.4), strict=True))
    actual = scene.compile().equations()
    assert actual.free_symbols == expected.free_symbols
    assert_close(np.array(actual.subs(numbers), dtype=float), np.array(expected.subs(numbers), dtype=float), 1e-15)


def test_frames_turned_by_right_angles_leave_no_rounding():
    scene = Scene(gravity=(0, 0, -10))
    body = Body("arm", mass=1, center_of_mass=(1, 0, 0), inertia=np.diag([1, 1, 1]))
    arm = scene.world.attach(body, joints.revolute("z"), at=rd.pose(rpy=(np.pi / 2, 0, np.pi / 2)))
    body = Body("hand", mass=1, center_of_mass=(1, 0, 0), inertia=np.diag([1, 1, 1]))
    arm.attach(body, joints.revolute("x"), at=rd.pose(xyz=(1, 0, 0), rpy=(0, np.pi / 2, 0)))
    dynamics = scene.compile()
    (angle,) = symbols(dynamics.model)["q"][:1]
    assert dynamics.equations("gravity") == sp.Matrix([20 * sp.cos(angle), 0])
    assert dynamics.equations("potential_energy") == 20 * sp.sin(angle)


class TestNames:
    def names(self, scene, segment):
        return [s.name for s in symbols(scene.model())[segment]]

    def scene(self, *bodies, parameters=()):
        scene = Scene()
        for name in parameters:
            scene.parameter(name, 1.0)
        for name, joint in bodies:
            scene.world.attach(Body(name, mass=1, inertia=np.eye(3)), joint)
        return scene

    def test_plain_coordinates_and_quaternions(self):
        scene = self.scene(("left arm", joints.universal()), ("hip", joints.ball()))
        assert self.names(scene, "q") == [
            "left_arm_angle", "left_arm_angle_2", "hip_qx", "hip_qy", "hip_qz", "hip_qw"
        ]  # fmt: skip
        assert self.names(scene, "v")[1:3] == ["left_arm_angle_2_dot", "hip_wx"]
        assert self.names(scene, "a")[1:3] == ["left_arm_angle_2_ddot", "hip_wx_dot"]
        assert self.names(scene, "tau")[1:3] == ["tau_left_arm_angle_2", "tau_hip_wx"]
        assert self.names(scene, "wrenches")[5:7] == ["left_arm_fz", "hip_mx"]
        assert self.names(scene, "dt") == ["dt"]

    def test_ambiguous_names_get_the_segment_in_front(self):
        scene = self.scene(
            ("a b", joints.revolute("x")), ("a_b", joints.revolute("x")), ("a-b", joints.revolute("x")),
            ("2nd", joints.revolute("x")), ("arm", joints.revolute("x")), parameters=("arm_angle",),
        )  # fmt: skip
        assert self.names(scene, "q") == ["a_b_angle", "q_a_b_angle", "q_a_b_angle_2", "q_2nd_angle", "q_arm_angle"]
        assert self.names(scene, "v")[-1] == "arm_angle_dot"
        assert self.names(scene, "parameters") == ["arm_angle"]

    @pytest.mark.parametrize("parameters", [("x0", "x1", "x2"), ("dt",), ("tau_one_angle", "one_angle_dot")])
    def test_all_symbols_are_real_and_different(self, parameters):
        scene = self.scene(("one", joints.revolute("x")), ("one.angle", joints.screw("x", 1)), parameters=parameters)
        everything = [s for segment in symbols(scene.model()).values() for s in segment]
        assert len({s.name for s in everything}) == len(everything) and all(s.is_real for s in everything)
        assignments, _ = scene.compile().equations("forward_dynamics", nested=False)
        fresh = [symbol for symbol, _ in assignments]
        assert not {s.name for s in fresh} & {s.name for s in everything} and len(set(fresh)) == len(fresh)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2"), (-1.0, "-1"), (0.0, "0"), (0.5, "1/2"), (-0.25, "-1/4"), (0.75, "0.750000000000000"), (1e5, "100000"),
     (9.81, "9.81000000000000"), (1 / 3, "0.333333333333333"), (0.9999999999999999, "1"),
     (1e-300, "1.00000000000000e-300"), (1e9, "1000000000.00000")],
)  # fmt: skip
def test_numbers(value, text):
    assert str(number(value)) == text
    assert abs(float(number(value)) - value) <= 4e-16 * abs(value)


def small(*kinds: str) -> Mechanism:
    rng = np.random.default_rng(4)
    scene = Scene(gravity=GRAVITY)
    mass, node, cases = scene.parameter("mass", 0.8), scene.world, []
    for i, kind in enumerate(kinds):
        limits = {"limits": (-1.0, 1.0)} if kind == "revolute" else {}
        case = KINDS[kind](rng, {"damping": 0.3} | limits)
        given = {"mass": mass} if i == 0 else {}
        node = node.attach(random_body(rng, f"b{i}", **given), case.joint, at=rd.pose(rpy=rng.uniform(-3, 3, 3)))
        cases.append(case)
    return Mechanism(scene, tuple(cases), {})


def compare(mechanism: Mechanism, function: str, outputs, steps) -> None:
    """The equations, assignments ``steps`` first, against the compiled function.

    Rounding grows a little where terms are multiplied out.
    """
    dynamics = mechanism.dynamics()
    names = (*FUNCTIONS[function].inputs, "parameters")
    listed = symbols(dynamics.model)
    inputs = [s for name in names for s in listed[name]]
    compiled = sp.lambdify(inputs, outputs, "numpy", cse=(lambda _: (steps, [outputs])) if steps else True)
    rng, (q, v) = np.random.default_rng(9), mechanism.states(3, seed=1)
    for row in range(3):
        given = {"q": q[row], "v": v[row], "q_end": q[(row + 1) % 3], "dt": np.array([0.01]),
                 "parameters": dynamics.parameters.values_array}  # fmt: skip
        given = {name: given.get(name, rng.normal(size=len(listed[name]))) for name in names}
        expected = dynamics.call(function, *(given[name] for name in names[:-1]))
        actual = np.array(compiled(*np.concatenate([given[name] for name in names])), dtype=float)
        assert_close(actual.reshape(expected.shape), expected, 1e-12)


MECHANISMS = {
    "hinges": ("revolute", "revolute"),
    "slider and universal": ("prismatic", "universal"),
    "ball": ("ball",),
    "free": ("free",),
    "helix": ("helix", "revolute"),
    "torus": ("torus",),
    "rocking pair": ("rocking_pair",),
    "tables": ("bspline_ring",),
}
COMPARED = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "poses", "kinetic_energy", "difference", "step")


LONG = {("hinges", "poses"), ("slider and universal", "mass_matrix"), ("rocking pair", "poses")}  # seconds in SymPy

CASES = [pytest.param(*case, marks=[pytest.mark.slow] * (case in LONG)) for case in product(MECHANISMS, COMPARED)]


@pytest.mark.parametrize(("name", "function"), CASES)
def test_equations_are_the_compiled_function(name, function):
    mechanism = small(*MECHANISMS[name])
    dynamics = mechanism.dynamics()
    steps, outputs = [], None
    try:
        outputs = dynamics.equations(function)
    except rd.ModelError:
        steps, outputs = dynamics.equations(function, nested=False)
    shape = FUNCTIONS[function].shape(dynamics.model)
    if shape:
        assert outputs.shape == ((*shape, 1) if len(shape) == 1 else (int(np.prod(shape[:-1])), shape[-1]))
    compare(mechanism, function, outputs, steps)


@pytest.mark.parametrize("function", ["forward_dynamics", "momentum", "kinetic_energy", "cartesian_forces", "step"])
@pytest.mark.parametrize("couplings", [False, True])
def test_assignments_are_the_compiled_function(function, couplings):
    mechanism = random_scene(2, 6, couplings=couplings)
    assert mechanism.coupled == couplings
    dynamics = mechanism.dynamics()
    assignments, outputs = dynamics.equations(function, nested=False)
    assert len(assignments) == len(dynamics.program(function).statements)
    assert all(sp.count_ops(e) <= 4 or isinstance(e, sp.Piecewise) for _, e in assignments)  # tables are pieces
    compare(mechanism, function, outputs, assignments)


def test_nested_equations_have_a_limit():
    scene = Scene()
    node = scene.world
    rng = np.random.default_rng(1)
    for i in range(30):
        node = node.attach(random_body(rng, f"b{i}"), joints.revolute("xyz"[i % 3]), at=rd.pose(xyz=(0.1, 0.2, 0.3)))
    dynamics = scene.compile()
    with pytest.raises(rd.ModelError, match=rf"forward_dynamics .* more than {MOST_NESTED} .*nested=False"):
        dynamics.equations()
    assignments, outputs = dynamics.equations(nested=False)
    assert outputs.shape == (30, 1) and len(assignments) > 3000


def test_unknown_function():
    scene = Scene()
    scene.world.attach(Body("a", mass=1, inertia=np.eye(3)), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match="unknown function 'wobble'"):
        scene.compile().equations("wobble")


def test_piecewise_joints_print_conditions():
    s, t = real("s t")
    scene = Scene(gravity=(0, 0, -10))
    G = sp.eye(4)
    G[2, 3] = sp.Piecewise((s**2, s <= 0), (s * t, (s > 1) & (t < 2)), (sp.sin(s), True))
    G[0, 3] = sp.Abs(t) + sp.Min(s, t) + 2 * t
    scene.world.attach(Body("b", mass=1, inertia=np.eye(3)), joints.Joint(G, (s, t)))
    a, b = real("b_s b_t")
    expected = sp.Piecewise((10 * a**2, a <= 0), (10 * a * b, (a > 1) & (b < 2)), (10 * sp.sin(a), True))
    actual = scene.compile().equations("potential_energy")
    for point in ((-0.5, 1.0), (0.0, 1.0), (0.5, 1.0), (1.5, 1.0), (1.5, 3.0)):
        at = dict(zip((a, b), point, strict=True))
        assert float(actual.subs(at)) == pytest.approx(float(expected.subs(at)), rel=1e-15)
    assert not actual.atoms(sp.Ne), "conditions are printed as conditions"
