"""Joints on curves of control points, and frames that survive inflections."""

import sys
from itertools import product
from math import comb

import numpy as np
import pytest
import sympy as sp
from curve_cases import casteljau, cyclic, ring
from scipy.interpolate import BSpline, make_interp_spline
from wires import AXES, BANKS, MADE, RING, WAVY, banked, dynamics, kinematics, levels, s

import recursive_dyn as rd
from recursive_dyn.graph.traversal import reachable
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints

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


OPEN = [
    (name, frame, arc) for name in ("bspline", "bezier", "symbolic") for frame in ("up", "minimal") for arc in (0, 1)
]


@pytest.mark.parametrize(("name", "frame", "arc_length"), OPEN)
def test_an_open_curve_goes_on_smoothly_and_then_straight(name, frame, arc_length):
    """Its position to the second derivative and its frame to the first; the bend has died away within a piece."""
    joint = MADE[name](frame=frame, arc_length=bool(arc_length), outside="extrapolate")
    low, high = joint.path.domain
    reach = high - low
    for end, sign in ((low, -1.0), (high, 1.0)):
        inside, outside = levels(joint, [end - sign * 1e-9, end + sign * 1e-9], 2)
        np.testing.assert_allclose(inside[:2], outside[:2], atol=1e-6)
        np.testing.assert_allclose(inside[2, :3, 3], outside[2, :3, 3], atol=1e-6)
        near, far = levels(joint, [end + sign * reach, end + sign * 50.0], 1)
        np.testing.assert_allclose(far[0, :3, :3], near[0, :3, :3], atol=1e-12)
        np.testing.assert_allclose(far[1, :3, 3], near[1, :3, 3], atol=1e-12)
        turned = inside[0, :3, :3].T @ far[0, :3, :3]
        assert turned[0, 0] > np.cos(0.3)


@pytest.mark.parametrize("frame", ["up", "minimal"])
def test_momentum_depends_smoothly_on_the_place_at_every_knot_and_end(frame):
    """Of any curve that frames are allowed on: where S jumped, energy was lost whatever the step."""
    for joint in (
        joints.bspline(WAVY, frame=frame, outside="extrapolate"),
        joints.bspline(WAVY, frame=frame, arc_length=True, interpolate=True),
        joints.bspline(RING, closed=True, frame=frame),
        joints.bezier(WAVY, frame=frame, outside="extrapolate"),
    ):
        low, high = joint.path.domain
        q = np.linspace(low - 0.4 * (high - low), high + 0.4 * (high - low), 20001)
        coarse, fine = (np.abs(np.diff(kinematics(joint, x), axis=0)).max() for x in (q[::2], q))
        assert fine < 0.55 * coarse  # of a jump it would be 1


@pytest.mark.parametrize("frame", ["up", "minimal"])
def test_a_bead_shoots_over_an_end_and_keeps_its_energy(frame):
    """A frame that stopped turning there cost 0.1 of 21 J whatever the step; a kink of a cubic costs as h does."""
    for timestep, lost in ((1 / 240, 2e-3), (1 / 1920, 3e-4)):
        d = dynamics(joints.bspline(WAVY, frame=frame, outside="extrapolate"), gravity=(0, 0, -9.81))
        sim = rd.Simulation(d, timestep=timestep, integrator="rk4")
        sim.q[:], sim.v[:] = 2.5, 4.0
        start = d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q)
        sim.step(round(0.5 / timestep))
        assert sim.q[0] > 3.4
        assert abs(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) - start) < lost


@pytest.mark.parametrize("integrator", sorted(INTEGRATORS))
def test_a_clamp_holds_a_bead_that_runs_into_an_end(integrator):
    for speed in (3.0, 300.0):
        sim = rd.Simulation(dynamics(joints.bspline(WAVY), gravity=(0, 0, -9.81)), 1 / 60, integrator=integrator)
        sim.q[:], sim.v[:] = 1.0, -speed
        for _ in range(60):
            sim.step()
            assert -0.01 <= sim.q[0] <= 3.01


@pytest.mark.parametrize("arc_length", [False, True])
@pytest.mark.parametrize("frame", ["frenet", "up", "minimal", "translation"])
def test_just_beyond_a_limit_there_is_a_frame(frame, arc_length):
    """Limits give way by a step or so before they stop a body."""
    made = [
        joints.bspline(RING, 4, frame=frame, arc_length=arc_length),
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
    X = d.poses(np.array([[1.0], [-5.0]]))[:, :, :3, 3]
    np.testing.assert_allclose(X[0], rail.path(np.array([1.0, 0.6])), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X[1, 1] - X[1, 0]), 0.4, atol=1e-12)  # metres, on a straight line
    patch = joints.bezier_surface(np.array([[[i, j, i * j / 9] for j in range(4)] for i in range(4)], dtype=float))
    assert patch.driven(x / 3, 0.5 * x).drive is not None
    with pytest.raises(rd.ModelError, match="'s' is driven by others: give limits"):
        joints.bspline(points, limits=(0.1, 0.9)).driven(x)
