"""Joints as a person writes them, and every way in which one can be wrong: the error names the body it carries."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints

q, u, v, s = sp.symbols("q u v s", real=True)
c, t, r, w = sp.symbols("c t r w", real=True)
NAN = float("nan")


def scene_with(joint, **given):
    scene = Scene()
    scene.world.attach(Body("knee", **{"mass": 1.0, "inertia": np.eye(3), **given}), joint)
    return scene


def refused(joint, pattern):
    with pytest.raises(rd.ModelError, match=rf"(?s)joint of 'knee'.*{pattern}"):
        scene_with(joint).compile()


def turning(x=0, y=0, z=0, angle=q):
    G = sp.eye(4)
    G[:2, :2] = sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])
    G[:3, 3] = sp.Matrix([x, y, z])
    return G


# Not a rigid motion


def test_a_transform_that_stretches_is_refused():
    G = turning()
    G[2, 2] = 2
    refused(joints.Joint(G, q), "not a rigid motion")


def test_a_transform_that_shears_as_it_turns_is_refused():
    G = turning()
    G[0, 2] = sp.sin(q) / 10
    refused(joints.Joint(G, q), "not a rigid motion")


def test_a_transform_that_is_rigid_at_zero_only_is_refused():
    G = turning()
    G[0, 1] = -q  # sin q to first order
    refused(joints.Joint(G, q), "not a rigid motion")


def test_a_transform_that_is_rigid_to_six_digits_only_is_refused():
    G = turning()
    G[0, 0] = sp.cos(q) + sp.Float("1e-6")
    refused(joints.Joint(G, q), "not a rigid motion")


def test_a_reflection_is_refused():
    refused(joints.Joint(turning() * sp.diag(1, 1, -1, 1), q), "reflection.*flip")


def test_a_last_row_that_is_not_0_0_0_1_is_refused():
    for column, entry in ((0, q), (3, 2), (2, 0.5)):
        G = turning()
        G[3, column] = entry
        refused(joints.Joint(G, q), "last row")


def test_a_constant_part_that_is_not_rigid_is_refused_wherever_it_stands():
    stretched = joints.fixed(np.diag([2.0, 1, 1, 1]))
    for joint in (stretched, stretched @ joints.revolute("x"), joints.revolute("x") @ stretched,
                  joints.revolute("x") @ stretched @ joints.revolute("y")):  # fmt: skip
        refused(joint, "not a rigid motion")
    with pytest.raises(rd.ModelError, match="a finite 4 x 4 pose"):
        joints.fixed(np.full((4, 4), NAN))


def test_a_transform_that_is_rigid_to_rounding_only_compiles():
    """Columns of measured numbers, normed in floating point; and a frame whose orthonormality SymPy cannot show."""
    rng = np.random.default_rng(1)
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    A *= np.sign(np.linalg.det(A))
    G = sp.Matrix(np.block([[A, np.zeros((3, 1))], [np.zeros((1, 3)), np.eye(1)]])) * turning(z=q / 3)
    d = scene_with(joints.Joint(G, q)).compile()
    expected = np.array(G.subs(q, 0.7).evalf(), dtype=float)
    np.testing.assert_allclose(d.poses([0.7])[0], expected, atol=1e-15)
    angle = sp.Float(2.0) * sp.atan(sp.sqrt(q**2 + 1)) + sp.Float(0.1) * q
    scene_with(joints.Joint(turning(angle=angle), q)).compile()


def test_a_transform_without_a_value_anywhere_is_refused():
    refused(joints.Joint(turning(x=sp.sqrt(-1 - q**2)), q), "not finite")


def test_a_transform_with_a_value_on_part_of_the_line_compiles():
    d = scene_with(joints.Joint(turning(x=sp.sqrt(1 - q**2)), q)).compile()
    assert np.isfinite(d.poses([0.5])).all()
    with pytest.raises(rd.StateError, match="not finite"):
        d.poses([1.5])


# Coordinates and symbols


def test_a_coordinate_that_is_not_used_is_named():
    refused(joints.Joint(turning(), (q, u)), r"does not use the coordinate 'knee\.u'")


def test_a_coordinate_that_cancels_is_named():
    refused(joints.Joint(turning(x=u - u), (q, u)), r"'knee\.u'")


def test_a_symbol_that_is_not_declared_is_named():
    refused(joints.Joint(turning(z=r * q), q), r"symbol 'r'.*scene\.parameter")
    refused(joints.curve([r * sp.cos(s), sp.sin(s), s], s), "symbol 'r'")
    refused(joints.surface([u, v, r * u**2 + v**2], (u, v)), "symbol 'r'")
    refused(joints.Joint(turning(x=r, angle=sp.Rational(1, 3)), ()), "symbol 'r'")


def test_a_declared_symbol_is_a_parameter():
    scene = Scene()
    pitch = scene.parameter("pitch", 0.3)
    scene.world.attach(Body("nut", mass=1.0, inertia=np.eye(3)), joints.Joint(turning(z=pitch * q), q))
    d = scene.compile()
    assert d.poses([2.0])[0, 2, 3] == pytest.approx(0.6)
    d.parameters["pitch"] = -1.0
    assert d.poses([2.0])[0, 2, 3] == pytest.approx(-2.0)


def test_coordinates_are_at_most_six_and_named_once():
    symbols = sp.symbols("a:7", real=True)
    with pytest.raises(rd.ModelError, match="at most 6 coordinates, this one has 7"):
        joints.Joint(turning(x=sum(symbols)), symbols)
    with pytest.raises(rd.ModelError, match="names each coordinate once"):
        joints.Joint(turning(), (q, q))
    with pytest.raises(rd.ModelError, match="at most 6 coordinates"):
        joints.free() @ joints.revolute("x")


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (1, 16)])
def test_a_transform_is_four_by_four(shape):
    with pytest.raises(rd.ModelError, match=rf"4 x 4 matrix, this one is {shape[0]} x {shape[1]}"):
        joints.Joint(sp.zeros(*shape), q)


@pytest.mark.parametrize(
    "f", [sp.gamma(q), sp.Function("f")(q), sp.Derivative(sp.Function("f")(q), q), sp.I * q, sp.oo * q]
)
def test_functions_without_machine_code_are_named(f):
    with pytest.raises(rd.ModelError):
        scene_with(joints.Joint(turning(x=f), q)).compile()


# Rank


def torus(a, b, R=1.0, r=0.25):
    return [(R + r * sp.cos(b)) * sp.cos(a), (R + r * sp.cos(b)) * sp.sin(a), r * sp.sin(b)]


def test_two_equal_tori_with_their_normals_the_same_way_are_refused():
    """Two of the coordinates turn about one and the same tube: rank 3 everywhere, though no two columns of S agree."""
    refused(joints.surface_on_surface(torus(u, v), (u, v), torus(c, t), (c, t), flip=False), "3 independent ways.*flip")
    d = scene_with(joints.surface_on_surface(torus(u, v), (u, v), torus(c, t), (c, t))).compile()
    assert np.linalg.matrix_rank(d.jacobian([0.3, 0.4, 0.5, 0.6], "knee")) == 4


def test_coordinates_that_do_the_same_are_refused():
    refused(joints.Joint(turning(angle=q + u), (q, u)), "1 independent way.*'q' and 'u' can change together")
    refused(joints.revolute("z") @ joints.prismatic("x") @ joints.prismatic("x"), "2 independent ways")
    refused(
        joints.revolute((1, 2, 3)) @ joints.screw((1, 2, 3), 0.2) @ joints.prismatic((1, 2, 3)), "2 independent ways"
    )
    refused(joints.ball() @ joints.revolute("y"), "3 independent ways.*'angle'")


def test_a_joint_that_is_singular_at_points_only_compiles():
    scene_with(joints.euler("zyx")).compile()
    scene_with(joints.surface([sp.cos(u) * sp.cos(v), sp.sin(u) * sp.cos(v), sp.sin(v)], (u, v))).compile()


def test_a_curve_or_surface_without_a_frame_is_refused():
    with pytest.raises(rd.ModelError, match="curve of s: its curvature vanishes"):
        joints.curve([s, 2 * s, 3 * s], s)
    with pytest.raises(rd.ModelError, match="curve of s: its tangent vanishes"):
        joints.curve([1, 2, 3], s)
    with pytest.raises(rd.ModelError, match="surface: its normal vanishes"):
        joints.surface([u + v, u + v, u + v], (u, v))
    refused(joints.curve([s**2, 2 * s**2, 3 * s**2], s), "not finite")  # straight too, though less plainly


# Functions: values, first and second derivatives on every branch

p = sp.Symbol("p")
FUNCTIONS = [
    sp.sqrt(p**2), sp.Abs(q), sp.sqrt(1 - sp.cos(q) ** 2), sp.asin(sp.sin(q)), sp.acos(sp.cos(q)), sp.atan(sp.tan(q)),
    sp.atan2(sp.sin(q), sp.cos(q)), sp.log(sp.exp(q)), sp.Max(q, sp.sin(q)), sp.Min(q, 1 - q**2), sp.sign(q) * q,
    sp.Piecewise((q, q < 1), (sp.sin(q), True)), sp.Piecewise((q, (q > -1) & (q <= 1)), (q**3, True)),
    (q**2) ** sp.Rational(1, 4), sp.exp(-q / 2), sp.log(1 + q**2), sp.asin(q / 5), sp.acos(q / 5), sp.atan(q),
    sp.tan(q / 3), sp.sinh(q / 2), sp.cosh(q / 2), sp.tanh(q), sp.sec(q / 3), sp.csc(q / 9 + 1), sp.cot(q / 9 + 1),
    (1 + q**2) ** sp.Float(0.3), sp.Integer(2) ** q, q**5 / 100, (2 + q**2) ** -3, sp.atan2(q, 2 + sp.cos(q)),
    sp.cbrt(4.5 + q), sp.sqrt(4.5 + q) ** 3, (1 + q**2) ** sp.sin(q), sp.asinh(q), sp.acosh(2 + q**2), sp.atanh(q / 5),
]  # fmt: skip


def moments_of(f, symbol, x):
    """f, f' and f'' at x from 60-digit values at steps of 1e-18: exact to double precision."""
    h = sp.Float("1e-18", 60)
    low, here, high = (sp.N(f.subs(symbol, sp.Float(x, 60) + k * h), 60) for k in (-1, 0, 1))
    return float(here), float((high - low) / (2 * h)), float((high - 2 * here + low) / h**2)


@pytest.mark.parametrize("f", FUNCTIONS, ids=str)
def test_a_function_has_its_value_slope_and_curvature_on_every_side(f):
    """sqrt(p^2) is not p, though it is for all positive p; p and sin p themselves stand by to be confused with it.

    A unit point mass at (f, p, sin p) without gravity: holding p-dot = 1 takes f' f'' - cos p sin p.
    """
    symbol = next(iter(f.free_symbols))
    G = sp.eye(4)
    G[:3, 3] = sp.Matrix([f, symbol, sp.sin(symbol)])
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("knee", mass=1.0), joints.Joint(G, symbol))
    d = scene.compile()
    for x in (-3.5, -2.0, -0.6, 0.4, 1.2, 2.0, 4.0):
        value, slope, curvature = moments_of(f, symbol, x)
        size = 1 + abs(value) + abs(slope) + abs(slope * curvature)
        assert d.poses([x])[0, 0, 3] == pytest.approx(value, abs=1e-14 * size)
        assert d.velocities([x], [1.0])[0, 3] == pytest.approx(slope, abs=1e-13 * size)
        held = d.inverse_dynamics([x], [1.0], [0.0])[0]
        assert held == pytest.approx(slope * curvature - np.cos(x) * np.sin(x), abs=1e-12 * size)


def test_a_surface_keeps_the_side_of_its_normal():
    """The plane in polar coordinates: du x dv changes side where the radius changes sign."""
    d = scene_with(joints.surface([u * sp.cos(v), u * sp.sin(v), 0], (u, v))).compile()
    assert d.poses([0.5, 0.3])[0, 2, 2] == pytest.approx(1.0)
    assert d.poses([-0.5, 0.3])[0, 2, 2] == pytest.approx(-1.0)
