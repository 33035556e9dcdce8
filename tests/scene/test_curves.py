"""Joints on curves of control points, and frames that survive inflections."""

import sys
from itertools import product
from math import comb

import numpy as np
import pytest
import sympy as sp
from curve_cases import casteljau, cyclic, ring
from scipy.interpolate import BSpline, make_interp_spline

import recursive_dyn as rd
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, evaluate, reachable, substitute
from scene import Body, Scene, joints

WAVY = np.array([[0, 0, 0], [1, 0.6, 0.3], [2, -0.5, 0.2], [3, 0.7, -0.4], [4, 0, 0], [5, 0.4, 0.5]])
RING = ring(np.random.default_rng(3), 8)
BANKS = np.array([0, 0, 1]) + np.random.default_rng(5).uniform(-0.7, 0.7, (8, 3))  # upward directions, of any length
AXES = ("up", "minimal", "translation")
LEMNISCATE = np.array([[2, 0, 0], [1, 1, 0], [-1, -1, 0], [-2, 0, 0], [-1, 1, 0], [1, -1, 0]], dtype=float)
s = sp.Symbol("s", real=True)


def kinematics(joint, q):
    """S (n, 6) of a joint of one coordinate at q (n,)."""
    derived = joint.program.kinematics()
    values = evaluate(list(derived.subspace[:, 0]), {("q", 0): np.asarray(q, dtype=float)})
    return np.stack([np.broadcast_to(v, np.shape(q)) for v in values], axis=-1)


def levels(joint, q, order):
    """The transform (n, 4, 4) and its derivatives at q (n,)."""
    graph = Graph()
    x = graph.input(("q", 0))
    outputs = [substitute(list(joint.program.factors[0].transform.flat), {("q", 0): x})]
    for _ in range(order):
        outputs.append(directional_derivative(outputs[-1], {x: 1.0}))
    flat = evaluate([v for level in outputs for v in level], {("q", 0): np.asarray(q, dtype=float)})
    values = np.stack([np.broadcast_to(np.asarray(v, dtype=float), np.shape(q)) for v in flat], axis=-1)
    return values.reshape(*np.shape(q), order + 1, 4, 4)


def banked(count=8, **options):
    """On the ring or a part of it, with its own upward direction at each point."""
    return joints.bspline(RING[:count], up=BANKS[:count], **{"frame": "up", **options})


def dynamics(joint, **scene):
    made = Scene(**scene)
    made.world.attach(Body("bead", mass=0.7, center_of_mass=(0, 0, 0.05), inertia=np.diag([0.01, 0.02, 0.015])), joint)
    return made.compile()


# Geometry


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
@pytest.mark.parametrize("closed", [False, True])
def test_a_bspline_is_scipys(degree, closed):
    points = RING if closed else WAVY
    path = joints.bspline(points, degree, closed=closed, frame="translation").path
    n = len(points)
    if closed:
        wrapped = np.roll(points, (degree - 1) // 2, axis=0)[np.arange(n + degree) % n]
        spline = BSpline(np.arange(-degree, n + degree + 1.0), wrapped, degree)
    else:
        spline = BSpline(np.r_[[0.0] * degree, np.arange(n - degree + 1), [n - degree] * degree], points, degree)
    q = np.linspace(*path.domain, 101)
    np.testing.assert_allclose(path(q), spline(q), atol=1e-13)
    assert path.domain == (0.0, n if closed else n - degree) and path.closed == closed


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("closed", [False, True])
def test_interpolation_goes_through_the_points(degree, closed):
    points = RING if closed else WAVY
    path = joints.bspline(points, degree, closed, interpolate=True, frame="translation").path
    np.testing.assert_allclose(path(np.arange(len(points))), points, atol=1e-13)
    if not closed:
        q = np.linspace(0, len(points) - 1, 50)
        np.testing.assert_allclose(path(q), make_interp_spline(np.arange(len(points)), points, degree)(q), atol=1e-12)


@pytest.mark.parametrize("count", [2, 3, 4, 8, 30])
def test_a_bezier_arc_is_de_casteljaus(count):
    rng = np.random.default_rng(count)
    points = np.column_stack([np.linspace(0, 3, count), *rng.uniform(-1, 1, (2, count))])
    path = joints.bezier(points, frame="translation").path
    t = np.linspace(0, 1, 77)
    expected = [casteljau(points, x) for x in t]
    np.testing.assert_allclose(path(t), expected, atol=2e-13)  # rounding, which the pieces magnify a hundredfold


@pytest.mark.parametrize("count", [3, 4, 7, 12])
def test_the_cyclic_basis(count):
    points = ring(np.random.default_rng(count), count)
    path = joints.bezier(points, closed=True, frame="translation").path
    t = np.linspace(-1, 14, 60)
    np.testing.assert_allclose(path(t), [cyclic(points, x)[0] for x in t], atol=1e-13)
    assert path.closed and path.domain == (0.0, 2 * np.pi)
    k = (count - 1) // 2
    weights = (1 + np.cos(2 * np.pi * np.arange(count) / count)) ** k
    assert comb(2 * k, k) * count / 2**k == pytest.approx(weights.sum())


@pytest.mark.parametrize("arc_length", [False, True])
def test_equidistant_points_on_a_line_make_a_line(arc_length):
    direction = np.array([0.6, 0, 0.8])
    points = np.outer(np.arange(6), direction)
    joint = joints.bspline(points, interpolate=True, arc_length=arc_length)
    assert joint.path.length == pytest.approx(5.0, rel=1e-13)
    q = np.linspace(-1, 7, 33)  # beyond the ends it goes straight on
    frames = joint.path.frames(q)
    np.testing.assert_allclose(frames[:, :3, 3], np.outer(q, direction), atol=1e-12)
    np.testing.assert_allclose(frames[:, :3, 0], np.tile(direction, (33, 1)), atol=1e-12)
    np.testing.assert_allclose(kinematics(joint, q), np.tile([0, 0, 0, 1, 0, 0], (33, 1)), atol=1e-11)


@pytest.mark.parametrize("closed", [False, True])
def test_cubics_are_c2_from_piece_to_piece(closed):
    joint = joints.bspline(RING, closed=closed, frame="translation")
    borders = np.arange(1.0, 5.0)
    before, after = (levels(joint, borders + d, 3)[..., :3, 3] for d in (-1e-9, 1e-9))
    np.testing.assert_allclose(before[:, :3], after[:, :3], atol=1e-7)  # 2e-9 times the next derivative
    assert np.abs(before[:, 3] - after[:, 3]).max() > 0.1


# Frames

MADE = {
    "bspline": lambda **o: joints.bspline(WAVY, **o),
    "bspline through points": lambda **o: joints.bspline(WAVY, interpolate=True, **o),
    "ring": lambda **o: joints.bspline(RING, **{"closed": True, **o}),
    "bezier": lambda **o: joints.bezier(WAVY, **o),
    "cyclic": lambda **o: joints.bezier(RING, **{"closed": True, **o}),
    "symbolic": lambda **o: joints.curve([sp.sin(s), sp.sin(s) * sp.cos(s), s**2 / 9], s, domain=(-1, 2), **o),
    "symbolic ring": lambda **o: joints.curve(
        [sp.sin(s), sp.sin(s) * sp.cos(s), sp.cos(s) / 5], s, domain=(0, 2 * sp.pi), **{"closed": True, **o}
    ),
}


@pytest.mark.parametrize("arc_length", [False, True])
@pytest.mark.parametrize("frame", ["up", "minimal"])
@pytest.mark.parametrize("name", MADE)
def test_frames_are_rotations_along_the_tangent(name, frame, arc_length):
    joint = MADE[name](frame=frame, arc_length=arc_length)
    path = joint.path
    low, high = path.domain
    reach = high - low
    q = np.linspace(low - 0.3 * reach, high + 0.3 * reach, 301)  # also beyond the ends
    values = levels(joint, q, 1)
    R, velocity = values[:, 0, :3, :3], values[:, 1, :3, 3]
    np.testing.assert_allclose(np.swapaxes(R, 1, 2) @ R, np.tile(np.eye(3), (301, 1, 1)), atol=1e-13)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-13)
    speed = np.linalg.norm(velocity, axis=1)
    np.testing.assert_allclose(R[:, :, 0], velocity / speed[:, None], atol=1e-13)
    if arc_length:
        assert low == 0.0 and high == pytest.approx(path.length, rel=1e-12)
        assert np.abs(speed - 1.0).max() < 1e-6
    if frame == "up":
        assert np.abs(R[:, 2, 1]).max() < 1e-14 and R[:, 2, 2].min() > 0.0


@pytest.mark.parametrize("name", MADE)
def test_a_minimal_frame_turns_as_little_as_can_be(name):
    """About the tangent, not at all on an open curve, and evenly by the missing angle on a closed one."""
    joint = MADE[name](frame="minimal")
    q = np.linspace(*joint.path.domain, 500)
    S = kinematics(joint, q)
    turning, swing = S[:, 0], np.linalg.norm(S[:, 1:3], axis=1).max()
    if joint.path.closed:
        turning = turning / S[:, 3]
        assert abs(turning.mean() * joint.path.length) <= np.pi + 1e-3
        turning = (turning - np.median(turning)) * S[:, 3]
    assert np.abs(turning).max() < 1e-3 * swing


@pytest.mark.parametrize("arc_length", [False, True])
@pytest.mark.parametrize(("name", "frame"), [*product(("ring", "cyclic", "symbolic ring"), AXES), ("banked", "up")])
def test_closed_curves_close(name, frame, arc_length):
    joint = (banked if name == "banked" else MADE[name])(closed=True, frame=frame, arc_length=arc_length)
    low, high = joint.path.domain
    near = 1e-9 * (high - low)
    q = np.array([low + near, high + near, high - near, low - near, low - 3 * (high - low) + near])
    values = levels(joint, q, 1)
    for k in range(1, 5):
        np.testing.assert_allclose(values[k], values[0], atol=1e-7)
    assert joint.coordinates[0].limits == (-np.inf, np.inf)


def test_inflections_and_straight_pieces_are_passed():
    """A lemniscate has no Frenet frame in its middle; a bead runs through it with the other frames."""
    with pytest.raises(rd.ModelError, match=r"bspline of 6 points over s: it is straight.*minimal"):
        joints.bspline(LEMNISCATE, closed=True, frame="frenet")
    for frame in ("minimal", "up", "translation"):
        d = dynamics(joints.bspline(LEMNISCATE, closed=True, frame=frame))
        q = np.linspace(0, 6, 200)[:, None]
        assert np.isfinite(d.forward_dynamics(q, np.full((200, 1), 3.0))).all()
    straight = joints.curve([s, 2 * s, 0], s, frame="minimal", domain=(0, 1))
    np.testing.assert_allclose(straight.path.frames(0.3)[:3, 0], np.array([1, 2, 0]) / np.sqrt(5), atol=1e-14)


def test_frenet_frames_of_control_points_are_those_of_the_curve():
    joint = joints.bspline(RING, closed=True, frame="frenet")
    values = levels(joint, np.linspace(0, 8, 50), 2)
    R, velocity, bend = values[:, 0, :3, :3], values[:, 1, :3, 3], values[:, 2, :3, 3]
    binormal = np.cross(velocity, bend)
    np.testing.assert_allclose(R[:, :, 2], binormal / np.linalg.norm(binormal, axis=1, keepdims=True), atol=1e-12)


BANKED = [(degree, closed, interpolate) for degree in (3, 4, 5) for closed in (False, True) for interpolate in
          (False, True) if degree % 2 or not interpolate]  # fmt: skip


@pytest.mark.parametrize(("degree", "closed", "interpolate"), BANKED)
def test_a_banked_frame_has_the_spline_of_the_directions_up(degree, closed, interpolate):
    """The directions as points of a curve of their own, which is the other half of the frame."""
    options = {"degree": degree, "closed": closed, "interpolate": interpolate}
    plain, measured = banked(**options), banked(**options, arc_length=True)
    q = np.linspace(*plain.path.domain, 101)
    values = levels(plain, q, 1)
    R, velocity = values[:, 0, :3, :3], values[:, 1, :3, 3]
    up = joints.bspline(BANKS, **options, frame="translation").path(q)
    side = np.cross(up, velocity)
    np.testing.assert_allclose(R[:, :, 0], velocity / np.linalg.norm(velocity, axis=1)[:, None], atol=1e-13)
    np.testing.assert_allclose(R[:, :, 1], side / np.linalg.norm(side, axis=1)[:, None], atol=1e-13)
    np.testing.assert_allclose(np.swapaxes(R, 1, 2) @ R, np.tile(np.eye(3), (101, 1, 1)), atol=1e-13)
    assert (np.linalg.det(R) > 0.0).all() and (np.sum(up * R[:, :, 2], axis=1) > 0.0).all()
    nodes, weights = np.polynomial.legendre.leggauss(9)
    steps = levels(plain, q[:-1, None] + (nodes + 1.0) / 2.0 * np.diff(q)[:, None], 1)[..., 1, :3, 3]
    travelled = np.cumsum(np.r_[0.0, np.linalg.norm(steps, axis=2) @ weights * np.diff(q) / 2.0])
    # metres are right to 2e-7, and not where a border of pieces is between the nodes
    np.testing.assert_allclose(measured.path.frames(travelled), values[:, 0], atol=3e-6)


@pytest.mark.parametrize("arc_length", [False, True])
@pytest.mark.parametrize("outside", ["clamp", "extrapolate", None])
@pytest.mark.parametrize("count", [4, 8])
def test_beyond_an_end_what_was_up_there_stays_up(count, outside, arc_length):
    """One piece and several. Tangent and upward direction stay, so that the frame does."""
    path = banked(count, arc_length=arc_length, outside=outside).path
    low, high = path.domain
    for end, sign in ((low, -1.0), (high, 1.0)):
        R = path.frames(end + sign * np.array([-1e-9, 1e-9, 0.1, 50.0]))[:, :3, :3]
        np.testing.assert_allclose(R, np.tile(R[1], (4, 1, 1)), atol=1e-7)


@pytest.mark.parametrize("interpolate", [False, True])
@pytest.mark.parametrize("closed", [False, True])
def test_equal_directions_are_one(closed, interpolate):
    options = {"closed": closed, "interpolate": interpolate, "frame": "up", "arc_length": True}
    one = joints.bspline(RING, up=(0.3, -0.1, 2.0), **options)
    every = joints.bspline(RING, up=np.tile((0.3, -0.1, 2.0), (8, 1)), **options)
    assert one.program.key == every.program.key
    q = np.linspace(*one.path.domain, 50)
    np.testing.assert_array_equal(one.path.frames(q), every.path.frames(q))


def test_a_banked_track_turns_over():
    """Equal neighbours, and once about the tangent: a single direction would be along it somewhere in a loop."""
    up = np.repeat([[0, 0, 1], [0, 1, 0], [0, 0, -1], [0, -1, 0], [0, 0, 1]], 2, axis=0)
    path = joints.bspline(np.outer(np.arange(10), [1, 0, 0]), frame="up", up=up).path
    R = path.frames(np.linspace(*path.domain, 201))[:, :3, :3]
    np.testing.assert_allclose(R[:, :, 0], np.tile([1, 0, 0], (201, 1)), atol=1e-14)
    angle = np.unwrap(np.arctan2(R[:, 1, 2], R[:, 2, 2]))
    assert angle[-1] == pytest.approx(2 * np.pi) and np.diff(angle).min() > -1e-12


def test_lengths():
    """The closed form of a helix, and the same length by two coordinates."""
    helix = joints.curve([sp.cos(s), sp.sin(s), s / 2], s, frame="up", domain=(-1, 30))
    assert helix.path.length == pytest.approx(31 * np.sqrt(1.25), rel=1e-13)
    for made in MADE.values():
        plain, measured = (made(frame="translation", arc_length=a).path.length for a in (False, True))
        assert plain == pytest.approx(measured, rel=1e-9)


def test_a_curve_with_no_options_is_what_it_was():
    f = [sp.cos(s), sp.sin(s), s / 5]
    assert joints.curve(f, s).program.key == joints.curve(f, s, frame="frenet").program.key
    assert joints.curve(f, s).path is None and joints.curve(f, s).coordinates[0].limits == (-np.inf, np.inf)
    assert not any(n.op in ("table", "floor") for n in reachable(joints.curve(f, s).program.factors[0].transform.flat))


@pytest.mark.parametrize("arc_length", [False, True])
@pytest.mark.parametrize("size", [1.0, *(pytest.param(s, marks=pytest.mark.slow) for s in (20.0, 300.0)), 5000.0])
def test_compiled_poses_are_those_of_the_path(size, arc_length):
    """To rounding, on long curves too, where large terms stand beside small ones."""
    made = [joints.bspline(size * RING, degree, closed=True, frame=frame, arc_length=arc_length)
            for degree, frame in product((3, 4, 5), AXES)]  # fmt: skip
    made += [joints.bspline(size * WAVY, frame=frame, arc_length=arc_length) for frame in AXES]
    made += [joints.bspline(size * RING, 5, frame="up", up=BANKS, closed=True, arc_length=arc_length)]
    scene = Scene()
    for i, joint in enumerate(made):
        scene.world.attach(Body(f"bead{i}", mass=0.7, inertia=np.eye(3)), joint)
    q = np.stack([np.linspace(*joint.path.domain, 500)[1:-1] for joint in made], axis=1)
    poses = scene.compile().poses(q)
    for i, joint in enumerate(made):
        expected = joint.path.frames(q[:, i])
        np.testing.assert_allclose(poses[:, i, :3, 3], expected[:, :3, 3], atol=1e-12 * size, rtol=0.0)
        np.testing.assert_allclose(poses[:, i, :3, :3], expected[:, :3, :3], atol=1e-12, rtol=0.0)


# Beyond the ends


def test_limits_are_the_ends_unless_given():
    assert joints.bspline(WAVY).coordinates[0].limits == (0.0, 3.0)
    assert joints.bspline(WAVY, limits=(1, 2)).coordinates[0].limits == (1.0, 2.0)
    assert joints.bspline(WAVY, outside="extrapolate").coordinates[0].limits == (-np.inf, np.inf)
    assert joints.bezier(WAVY, arc_length=True).coordinates[0].limits[1] == pytest.approx(5.38, abs=0.3)


@pytest.mark.parametrize("arc_length", [False, True])
@pytest.mark.parametrize("frame", ["up", "minimal"])
@pytest.mark.parametrize("name", ["bspline", "bezier", "symbolic"])
def test_an_open_curve_goes_straight_on(name, frame, arc_length):
    joint = MADE[name](frame=frame, arc_length=arc_length, outside="extrapolate")
    low, high = joint.path.domain
    for end, sign in ((low, -1.0), (high, 1.0)):
        inside, outside = levels(joint, [end - sign * 1e-9, end + sign * 1e-9], 1)
        np.testing.assert_allclose(inside[0], outside[0], atol=1e-6)
        np.testing.assert_allclose(inside[1, :3, 3], outside[1, :3, 3], atol=1e-6)
        near, far = levels(joint, [end + sign * 0.1, end + sign * 50.0], 1)
        np.testing.assert_allclose(far[0, :3, :3], near[0, :3, :3], atol=1e-12)
        np.testing.assert_allclose(far[1, :3, 3], near[1, :3, 3], atol=1e-12)


@pytest.mark.parametrize("arc_length", [False, True])
@pytest.mark.parametrize("frame", ["frenet", "up", "minimal", "translation"])
def test_just_beyond_a_limit_there_is_a_frame(frame, arc_length):
    """Limits give way by a step or so before they stop a body."""
    made = [
        joints.bspline(RING, frame=frame, arc_length=arc_length),
        joints.bezier(RING[:4], frame=frame, arc_length=arc_length),
        joints.curve([sp.cos(s), sp.sin(s), s], s, frame, domain=(0, 3), arc_length=arc_length),
    ]
    if frame != "frenet":  # the square root has no values beyond its end
        made.append(joints.curve([s, s**2, sp.sqrt(2 - s)], s, frame, domain=(0, 1.9), arc_length=arc_length))
    for joint in made:
        low, high = joint.path.domain
        q = np.array([low - 0.2, low, high, high + 0.2])
        assert np.isfinite(levels(joint, q, 2)).all() and joint.coordinates[0].limits == (low, high)


def test_a_domain_costs_a_symbolic_curve_nothing():
    f = [sp.cos(s), sp.sin(s), s]
    counts = [dynamics(joints.curve(f, s, **o)).operation_count("forward_dynamics") for o in ({}, {"domain": (0, 3)})]
    assert counts[0] == counts[1]


def test_nothing_finite_far_away_is_unsafe():
    for name in MADE:
        d = dynamics(MADE[name](frame="up", limits=(-1e300, 1e300)))
        for q in (1e12, -1e12, 1e200, -1e200):
            try:
                d.poses(np.array([q]))
            except rd.StateError as error:
                assert "finite" in str(error)


# Motion


@pytest.mark.parametrize("frame", ["up", "minimal"])
@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
def test_a_bead_keeps_its_energy_round_a_spline(integrator, frame):
    """Across all borders of pieces. A cubic's frame turns with a kink there, which costs rk4 its order: C3 for that."""
    degree = 4 if integrator == "rk4" else 3
    d = dynamics(joints.bspline(RING, degree, closed=True, frame=frame), gravity=(0, 0, -9.81))
    sim = rd.Simulation(d, timestep=1 / 2000, integrator=integrator)
    sim.v[:] = 6.0
    start = d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q)
    size = d.kinetic_energy(sim.q, sim.v)
    worst = 0.0
    for _ in range(30):
        sim.step(100)
        worst = max(worst, abs(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) - start) / size)
    assert sim.q[0] > 6.0
    assert worst < (1e-6 if integrator == "rk4" else 1e-3)


def test_a_bead_on_a_wire_of_metres_slides_as_on_an_incline():
    slope = np.array([0.8, 0.0, -0.6])
    joint = joints.bspline(np.outer(np.arange(5), slope), arc_length=True, interpolate=True)
    d = dynamics(joint, gravity=(0, 0, -10.0))
    assert d.forward_dynamics(np.array([1.3]), np.array([2.0]))[0] == pytest.approx(6.0, rel=1e-10)


def test_shared_expressions_are_evaluated_once():
    """A bead that never turns: one cell, one Horner scheme a component, two derivatives of it."""
    count = dynamics(joints.bspline(RING, closed=True, frame="translation")).operation_count("forward_dynamics")
    assert count.total < 130 and count.trig == 0
    program = dynamics(joints.bspline(RING, closed=True)).program("forward_dynamics")
    operations = [statement[0] for statement in program.statements]
    assert operations.count("floor") == 2 and operations.count("table") <= 25


# Files


@pytest.mark.parametrize("name", [*MADE, "banked"])
def test_saved_and_loaded(name, tmp_path):
    scene = Scene()
    joint = banked(closed=True, arc_length=True) if name == "banked" else MADE[name](frame="minimal", arc_length=True)
    scene.world.attach(Body("bead", mass=0.7, inertia=np.eye(3)), joint)
    scene.save(tmp_path / "scene.json")
    again = Scene.load(tmp_path / "scene.json")
    assert again.model().key == scene.model().key
    q, v = np.array([0.7]), np.array([1.1])
    np.testing.assert_array_equal(again.compile().forward_dynamics(q, v), scene.compile().forward_dynamics(q, v))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "scene.json").read_bytes()


# Refusals

REFUSED = [
    (lambda: joints.bspline(WAVY[:3]), r"bspline of 3 points over s: degree 3 needs 4 points"),
    (lambda: joints.bspline(RING[:2], closed=True), r"needs 3 points of a closed curve"),
    (lambda: joints.bspline(WAVY, degree=1), r"bspline of 6 points over s: the degree is a whole number from 2"),
    (lambda: joints.bspline(WAVY, degree=3.0), r"degree is a whole number"),
    (lambda: joints.bspline(WAVY, degree=4, interpolate=True), r"odd degree"),
    (lambda: joints.bspline(WAVY[:, :2]), r"must be an array \(n, 3\), not \(6, 2\)"),
    (lambda: joints.bspline(5), r"bspline of points over s: its points must be an array"),
    (lambda: joints.bspline("abc"), r"no array of numbers"),
    (lambda: joints.bspline([*WAVY[:3], [np.nan, 0, 0], *WAVY[3:]]), r"point 3 is not finite"),
    (lambda: joints.bspline(WAVY[[0, 1, 1, 2, 3]]), r"points 1 and 2 are the same"),
    (lambda: joints.bspline([*RING, RING[0]], closed=True, name="w"), r"over w: its last point is its first"),
    (lambda: joints.bezier(WAVY[:1]), r"bezier of 1 points over s: it needs 2 points"),
    (lambda: joints.bezier(RING[:2], closed=True), r"it needs 3 points"),
    (lambda: joints.bezier([[0, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0]]), r"tangent vanishes near \(0.5, 0.75, 0\)"),
    (lambda: joints.bspline(WAVY, frame="serret"), r"unknown frame 'serret'"),
    (lambda: joints.bspline(WAVY, outside="stop"), r"unknown outside 'stop'"),
    (lambda: joints.bspline(RING, frame="frenet", outside="extrapolate"), r"straight on has no Frenet frame"),
    (lambda: joints.bspline(WAVY, outside="wrap"), r"wrap.* is for closed curves"),
    (lambda: joints.bspline(RING, closed=True, outside="clamp"), r"a closed curve has no outside"),
    (lambda: joints.bspline(WAVY, frame="up", up=(1, 0)), r"up is a direction of three"),
    (lambda: joints.bspline(WAVY, frame="up", up="abc"), r"a table \(6, 3\) of them.*not 'abc'"),
    (lambda: joints.bspline(WAVY, frame="up", up=BANKS), r"a table \(6, 3\) of them.*not an array \(8, 3\)"),
    (lambda: joints.bezier(RING, frame="up", up=BANKS), r"direction of three numbers; it is not an array"),
    (lambda: joints.bspline(WAVY, frame="up", up=(0, 0, 0)), r"over s: up is \[0.0, 0.0, 0.0\]; it needs three finite"),
    (lambda: joints.bspline(WAVY, frame="up", up=(0, 0, np.inf)), r"up is .*three finite numbers, not all zero"),
    (lambda: joints.bspline(WAVY, frame="up", up=[*BANKS[:5], [0, 0, 0]]), r"up of point 5 is .*not all zero"),
    (lambda: joints.bspline(WAVY, frame="up", up=[[0, np.nan, 1], *BANKS[:5]]), r"up of point 0 is .*three finite"),
    (
        lambda: joints.bspline(WAVY, frame="up", up=np.outer([1, 2, 3, -3, -2, -1], [0, 0, 1])),
        r"spline of 6 points over s: up vanishes",
    ),
    (lambda: joints.bspline(WAVY * [1, 0, 0], frame="up", up=np.eye(3)[[2, 2, 0, 0, 0, 0]]), r"goes along up near \("),
    (lambda: joints.bspline(WAVY, up=(0, 0, 1)), r"up is for frame"),
    (lambda: joints.bspline(np.outer(np.arange(5), [0, 0, 1]), frame="up"), r"goes along up near .*another up"),
    (lambda: joints.bspline(np.outer(np.arange(5), [1, 0, 0]), frame="frenet"), r"no Frenet frame near .*minimal"),
    (lambda: joints.bspline(WAVY, wobble=1), r"limits, damping, stiffness, rest, armature and friction, not 'wobble'"),
    (lambda: joints.bspline(WAVY, closed="yes"), r"closed is True or False"),
    (lambda: joints.curve([s, s**2, 0], s, frame="minimal"), r"curve of s: .*minimal.* needs the domain"),
    (lambda: joints.curve([s, s**2, 0], s, arc_length=True), r"arc_length needs the domain"),
    (lambda: joints.curve([s, s**2, 0], s, closed=True), r"closed needs the domain"),
    (lambda: joints.curve([s, s**2, 0], s, domain=(1, 0)), r"its domain is \(start, end\)"),
    (lambda: joints.curve([s, s**2, 0], s, domain=(0, 1), closed=True), r"it is not closed"),
    (lambda: joints.curve([s, sp.sqrt(s - 0.5), 0], s, domain=(0, 1)), r"not finite everywhere"),
    (lambda: joints.curve([s**2, s**3, 0], s, domain=(-1, 1.1), frame="up"), r"tangent vanishes near \("),
    (lambda: joints.curve([s, sp.Symbol("R") * s, 0], s, domain=(0, 1)), r"may hold no parameter"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_refusals(make, message):
    with pytest.raises(rd.ModelError, match=message):
        make()


def test_scipy_is_imported_by_splines_only():
    import subprocess

    code = "import sys, scene.joints; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_open_curve_may_be_driven_and_goes_straight_on_beyond_its_ends():
    """The limits that its ends gave vanish; others would be lost and are refused."""
    scene = Scene()
    x = scene.coordinate("x", limits=(0.5, 3.0))
    points = np.array([[0, 0, 0], [1, 0, 1], [2, 1, 0], [3, 1, 1], [4, 0, 0.0]])
    rail = joints.bspline(points, frame="up", arc_length=True)
    for i in range(2):
        scene.world.attach(Body(f"car{i}", mass=1.0, inertia=np.eye(3)), rail.driven(x - 0.4 * i))
    d = scene.compile()
    assert d.nv == 1
    X = d.poses(np.array([[1.0], [-0.5]]))[:, :, :3, 3]
    np.testing.assert_allclose(X[0], rail.path(np.array([1.0, 0.6])), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X[1, 1] - X[1, 0]), 0.4, atol=1e-12)  # metres, on a straight line
    patch = joints.bezier_surface(np.array([[[i, j, i * j / 9] for j in range(4)] for i in range(4)], dtype=float))
    assert patch.driven(x / 3, 0.5 * x).drive is not None
    with pytest.raises(rd.ModelError, match="'s' is driven by others: give limits"):
        joints.bspline(points, limits=(0.1, 0.9)).driven(x)
