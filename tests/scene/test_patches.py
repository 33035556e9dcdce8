"""Joints on patches of control points."""

import numpy as np
import pytest
from curve_cases import casteljau, slope, terrain
from scipy.interpolate import BSpline

import recursive_dyn as rd
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.traversal import evaluate
from scene import Body, Scene, joints

HILLS = terrain(np.random.default_rng(2), 7, 6)
TURNS = [2 * np.pi * np.arange(n) / n for n in (9, 6)]
TUBE = np.array([[[(2 + 0.5 * np.cos(b)) * np.cos(a), (2 + 0.5 * np.cos(b)) * np.sin(a), 0.5 * np.sin(b)]
                  for b in TURNS[1]] for a in TURNS[0]])  # fmt: skip


def slopes(joint, u, v):
    """df/du, df/dv (n, 3) from the joint's expressions."""
    point = list(joint.program.factors[0].transform[:3, 3])
    graph = joint.program.graph
    flat = [directional_derivative(point, {graph.input(("q", i)): 1.0}) for i in range(2)]
    values = evaluate([*flat[0], *flat[1]], {("q", 0): u, ("q", 1): v})
    return np.stack([np.broadcast_to(x, u.shape) for x in values], axis=-1).reshape(-1, 2, 3).swapaxes(0, 1)


def around(joint, rng, count, beyond=0.0):
    (a, b), (c, d) = joint.patch.domain
    u = rng.uniform(a - beyond * (b - a), b + beyond * (b - a), count)
    return u, rng.uniform(c - beyond * (d - c), d + beyond * (d - c), count)


@pytest.mark.parametrize("shape", [(2, 2), (4, 3), (5, 5), (9, 6)])
def test_a_bezier_patch_is_de_casteljaus(shape):
    points = terrain(np.random.default_rng(1), *shape)
    joint = joints.bezier_surface(points)
    for u, v in np.random.default_rng(4).uniform(0, 1, (20, 2)):
        along = np.array([casteljau(row, v) for row in points])
        np.testing.assert_allclose(joint.patch.sample(u, v), casteljau(along, u), atol=1e-12)
        frame = joint.patch.frames(u, v)
        across = casteljau(np.array([slope(row, v) for row in points]), u)
        assert abs(frame[:3, 2] @ slope(along, u)) < 1e-11 and abs(frame[:3, 2] @ across) < 1e-11
    np.testing.assert_allclose(joint.patch.sample([0, 0, 1, 1], [0, 1, 0, 1]), points[[0, 0, -1, -1], [0, -1, 0, -1]])


@pytest.mark.parametrize("degree", [(2, 2), (3, 3), (4, 2)])
def test_a_bspline_patch_is_scipys_twice(degree):
    joint = joints.bspline_surface(HILLS, degree, frame="translation")
    knots = [np.r_[[0.0] * p, np.arange(n - p + 1), [n - p] * p] for n, p in zip((7, 6), degree, strict=True)]
    u, v = around(joint, np.random.default_rng(0), 40)
    for a, b, point in zip(u, v, joint.patch.sample(u, v), strict=True):
        row = BSpline(knots[1], np.moveaxis(HILLS, 1, 0), degree[1])(b)
        np.testing.assert_allclose(point, BSpline(knots[0], row, degree[0])(a), atol=1e-13)
    assert joint.patch.domain == ((0.0, 7 - degree[0]), (0.0, 6 - degree[1]))


MADE = {
    "bezier": lambda **o: joints.bezier_surface(terrain(np.random.default_rng(1), 5, 5), **o),
    "long bezier": lambda **o: joints.bezier_surface(terrain(np.random.default_rng(1), 9, 7), **o),
    "hills": lambda **o: joints.bspline_surface(HILLS, **o),
    "tube": lambda **o: joints.bspline_surface(TUBE, closed=True, **o),
    "half closed": lambda **o: joints.bspline_surface(TUBE[:, :5], closed=(True, False), **o),
}


@pytest.mark.parametrize("name", MADE)
def test_the_frame_is_that_of_a_surface(name):
    joint = MADE[name]()
    u, v = around(joint, np.random.default_rng(5), 200, beyond=0.05)
    R = joint.patch.frames(u, v)[:, :3, :3]
    np.testing.assert_allclose(np.swapaxes(R, 1, 2) @ R, np.tile(np.eye(3), (200, 1, 1)), atol=1e-13)
    du, dv = slopes(joint, u, v)
    normal = np.cross(du, dv)
    np.testing.assert_allclose(R[:, :, 0], du / np.linalg.norm(du, axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(R[:, :, 2], normal / np.linalg.norm(normal, axis=1, keepdims=True), atol=1e-11)


@pytest.mark.parametrize("closed", [(False, False), (True, True), (True, False), (False, True)])
def test_cubic_patches_are_c2_from_piece_to_piece(closed):
    joint = joints.bspline_surface(TUBE, closed=closed, frame="translation")
    graph = joint.program.graph
    levels = [list(joint.program.factors[0].transform[:3, 3])]
    directions = [graph.input(("q", 0)), graph.input(("q", 1))]
    for _ in range(2):
        levels.append([x for d in directions for x in directional_derivative(levels[-1], {d: 1.0})])
    flat = [x for level in levels for x in level]
    (_, high), _ = joint.patch.domain
    borders = [1.0, 2.0, *([high] if closed[0] else [])]
    for corner in ((b, 1.0 + 0.3 * i) for b in borders for i in range(2)):
        values = [
            np.array(evaluate(flat, {("q", 0): corner[0] + a * 1e-9, ("q", 1): corner[1] + b * 1e-9}), dtype=float)
            for a in (-1, 1)
            for b in (-1, 1)
        ]
        for value in values[1:]:
            np.testing.assert_allclose(value, values[0], atol=1e-7)


def test_closed_directions_wrap():
    joint = MADE["tube"]()
    u, v = around(joint, np.random.default_rng(6), 30)
    there = joint.patch.frames(u, v)
    np.testing.assert_allclose(joint.patch.frames(u + 9 * 4, v - 6 * 3), there, atol=1e-11)
    limits = [c.limits for c in MADE["half closed"]().coordinates]
    assert limits == [(-np.inf, np.inf), (0.0, 2.0)]
    assert [c.limits for c in MADE["hills"](outside="extrapolate").coordinates] == [(-np.inf, np.inf)] * 2
    assert [c.limits for c in MADE["hills"](limits=(1, 2)).coordinates] == [(1.0, 2.0)] * 2


@pytest.mark.parametrize("name", MADE)
def test_beyond_the_edges_it_is_finite_and_smooth(name):
    joint = MADE[name](outside="extrapolate")
    (_, high), (low, _) = joint.patch.domain
    beyond = joint.patch.frames([high - 1e-9, high + 1e-9], [low + 1e-9, low - 1e-9])
    np.testing.assert_allclose(beyond[0], beyond[1], atol=1e-6)
    assert np.isfinite(joint.patch.frames(high + 1e6, low - 1e6)).all()


def dynamics(joint):
    scene = Scene(gravity=(0, 0, -9.81))
    body = Body("glider", mass=0.7, center_of_mass=(0, 0, 0.05), inertia=np.diag([0.01, 0.02, 0.015]))
    scene.world.attach(body, joint)
    return scene.compile()


@pytest.mark.parametrize("frame", ["tangent", "translation"])
def test_a_glider_keeps_its_energy(frame):
    """Degree 4 is C3, so that the frame turns without a kink."""
    d = dynamics(joints.bspline_surface(TUBE, degree=4, closed=True, frame=frame))
    sim = rd.Simulation(d, timestep=1 / 1000, integrator="rk4")
    sim.v[:] = (2.0, 1.0)
    start = d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q)
    sim.step(3000)
    assert abs(sim.q).max() > 3.0
    assert d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) == pytest.approx(start, abs=1e-5)


@pytest.mark.parametrize("name", MADE)
def test_saved_and_loaded(name, tmp_path):
    scene = Scene()
    scene.world.attach(Body("glider", mass=0.7, inertia=np.eye(3)), MADE[name]())
    scene.save(tmp_path / "scene.json")
    again = Scene.load(tmp_path / "scene.json")
    assert again.model().key == scene.model().key
    q, v = np.array([0.7, 0.4]), np.array([1.1, -0.6])
    np.testing.assert_array_equal(again.compile().forward_dynamics(q, v), scene.compile().forward_dynamics(q, v))


FOLDED = np.array(
    [[[0, 0, 0], [0, 1, 0], [0, 2, 0]], [[1, 0, 0], [1, 1, 0], [1, 2, 0]], [[0, 0, 0], [0, 1, 0], [0, 2, 0]]]
)
BROKEN = HILLS.copy()
BROKEN[1, 2, 0] = np.nan
REFUSED = [
    (lambda: joints.bezier_surface(HILLS[:1]), r"bezier_surface of 1 x 6 points over \(u, v\): it needs 2 x 2 points"),
    (lambda: joints.bspline_surface(HILLS[:3]), r"bspline_surface of 3 x 6 .*, along u: degree 3 needs 4 points"),
    (lambda: joints.bspline_surface(HILLS, degree=(3, 9)), r"along v: the degree is a whole number"),
    (lambda: joints.bspline_surface(HILLS, degree=(3, 3, 3)), r"degree needs one value for either direction"),
    (lambda: joints.bspline_surface(HILLS, closed="uv"), r"closed is True or False"),
    (lambda: joints.bezier_surface(HILLS[:, 0]), r"must be an array \(m, n, 3\)"),
    (lambda: joints.bezier_surface(BROKEN), r"point 1, 2 is not finite"),
    (lambda: joints.bezier_surface(HILLS[[0, 1, 1, 2]]), r"along u: points 1 and 2 are the same"),
    (lambda: joints.bspline_surface(TUBE[:, [0, 1, 2, 3, 4, 5, 0]], closed=True), r"along v: its last point is its f"),
    (lambda: joints.bezier_surface(FOLDED), r"no tangent plane near u = 0.5, v = "),
    (lambda: joints.bezier_surface(HILLS, frame="up"), r"unknown frame 'up'"),
    (lambda: joints.bezier_surface(HILLS, outside="wrap"), r"unknown outside 'wrap'"),
    (lambda: joints.bezier_surface(HILLS, names="u"), r"names are those of two coordinates"),
    (lambda: joints.bezier_surface(HILLS, wobble=1), r"not 'wobble'"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_refusals(make, message):
    with pytest.raises(rd.ModelError, match=message):
        make()
