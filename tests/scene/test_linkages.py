"""Closed forms of planar loops: they close, for every shape of linkage and at every crank angle."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints, linkages

SHAPES = {
    "crank and rocker": (0.4, 1.1, 0.9, 1.2),
    "double crank": (1.2, 1.1, 0.9, 0.4),
    "double rocker": (1.0, 0.3, 0.9, 1.1),
    "not Grashof": (1.0, 1.1, 0.9, 1.3),
    "nearly a parallelogram": (0.5, 1.0, 0.5001, 1.0),
    "knee": (0.041, 0.02, 0.035, 0.025),
}


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_four_bar_closes_over_its_whole_range(shape, crossed):
    crank, coupler, rocker, ground = shape
    theta = sp.Symbol("theta")
    lean, rock = sp.lambdify(theta, linkages.four_bar(theta, *shape, crossed=crossed))(_range(shape))
    t = _range(shape)
    x = crank * np.cos(t) + coupler * np.cos(lean) - ground - rocker * np.cos(rock)
    y = crank * np.sin(t) + coupler * np.sin(lean) - rocker * np.sin(rock)
    assert np.hypot(x, y).max() < 1e-9  # square roots of rounding at the ends of the range


def _range(shape, count=200):
    low, high = linkages.crank_range(*shape)
    if np.isinf(low):
        low, high = -np.pi, np.pi
    return np.linspace(low + 1e-9, high - 1e-9, count)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_range_is_where_the_loop_closes_and_no_wider(shape):
    low, high = linkages.crank_range(*shape)
    if np.isinf(low):
        return
    crank, coupler, rocker, ground = shape
    for angle in (low - 1e-6, high + 1e-6):
        reach = np.hypot(crank * np.cos(angle) - ground, crank * np.sin(angle))
        assert reach > coupler + rocker or reach < abs(coupler - rocker)


def test_a_parallelogram_stays_one_through_its_folds():
    theta = sp.Symbol("theta")
    assert linkages.four_bar(theta, 0.5, 1.2, 0.5, 1.2) == (0, theta)
    assert linkages.four_bar(theta, 1, 1, 1, 1) == (0, theta)


def test_a_slider_crank_closes():
    theta = sp.Symbol("theta")
    lean, slide = linkages.slider_crank(theta, 0.3, 1.0, 0.2)
    t = np.linspace(-4, 4, 100)
    lean, slide = (sp.lambdify(theta, e)(t) for e in (lean, slide))
    np.testing.assert_allclose(0.3 * np.cos(t) + np.cos(lean), slide, atol=1e-14)
    np.testing.assert_allclose(0.3 * np.sin(t) + np.sin(lean), 0.2, atol=1e-14)


def test_a_pantograph_copies_with_its_ratio():
    """Two shared angles move four bars; the pen's way is three times the tracer's."""
    scene = Scene()
    alpha, beta = scene.coordinate("alpha"), scene.coordinate("beta")
    bar = {"mass": 1.0, "inertia": np.eye(3) * 0.01}
    long_arm = scene.world.attach(Body("long arm", **bar), joints.revolute("z").driven(alpha))
    pen_arm = long_arm.attach(Body("pen arm", **bar), joints.revolute("z").driven(beta - alpha), at=rd.pose((3, 0, 0)))
    short = long_arm.attach(Body("short", **bar), joints.revolute("z").driven(beta - alpha), at=rd.pose((1, 0, 0)))
    link = pen_arm.attach(Body("link", **bar), joints.revolute("z").driven(alpha - beta), at=rd.pose((1, 0, 0)))
    d = scene.compile()
    assert d.nv == 2
    rng = np.random.default_rng(0)
    for q in rng.normal(size=(5, 2)):
        X = dict(zip(d.bodies, d.poses(q), strict=True))
        tracer = X[short.name] @ [1, 0, 0, 1]
        np.testing.assert_allclose((X[pen_arm.name] @ [3, 0, 0, 1])[:3], 3 * tracer[:3], atol=1e-14)
        np.testing.assert_allclose(X[link.name] @ [-2, 0, 0, 1], tracer, atol=1e-14)  # the fourth corner


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: linkages.four_bar(t, 5, 1, 1, 1), "four_bar: lengths 5.0, 1.0, 1.0, 1.0 never close"),
        (lambda t: linkages.four_bar(t, -1, 1, 1, 1), "four_bar: the crank must be positive"),
        (lambda t: linkages.crank_range(1, 1, 9, 1), "crank_range: lengths .* never close"),
        (lambda t: linkages.four_bar(t, 1, 1, 1, 1, crossed=True), "fold flat"),
        (lambda t: linkages.four_bar(t, 1, 2, 2, 1), "lengths 1.0, 2.0, 2.0, 1.0 fold flat.*scene.constrain"),
        (lambda t: linkages.crank_range(t, 1, 1, 1), "its lengths are numbers"),
        (lambda t: linkages.slider_crank(t, 1.0, 0.5), "a rod of 0.5 m does not reach"),
        (lambda t: linkages.slider_crank(t, 1.0, float("nan")), "the rod must be positive"),
    ],
)
def test_lengths_that_never_close_are_refused(make, message):
    with pytest.raises(rd.ModelError, match=message):
        make(sp.Symbol("t"))
