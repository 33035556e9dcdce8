"""Curves that are none, and what is said of them."""

import numpy as np
import pytest
import sympy as sp
from wires import BANKS, RING, WAVY, s

import recursive_dyn as rd
from scene import joints

# Refusals

REFUSED = [
    (lambda: joints.bspline(WAVY[:3]), r"bspline of 3 points over s: degree 3 needs 4 points"),
    (lambda: joints.bspline(RING[:2], closed=True), r"needs 3 points of a closed curve"),
    (lambda: joints.bspline(WAVY, degree=1), r"bspline of 6 points over s: the degree is a whole number from 2"),
    (
        lambda: joints.bspline(WAVY, degree=2),
        r"bspline of 6 points over s: a spline of degree 2 bends by jumps.*degree 3",
    ),
    (
        lambda: joints.bspline_surface(np.dstack([*np.mgrid[0:5, 0:4], np.zeros((5, 4))]), degree=(3, 2)),
        r"along v: a spline of degree 2 bends by jumps",
    ),
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
    (lambda: joints.curve([s, 2 * s, 0], s), r'curvature vanishes everywhere.*frame="up".*frame="translation"'),
    (lambda: joints.curve([0, 0, s], s, frame="up"), r'vanishes everywhere.*another up=.*frame="translation"'),
    (lambda: joints.bspline(WAVY, wobble=1), r"armature, friction, effort and velocity, not 'wobble'"),
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


def test_what_a_straight_curve_is_told_helps():
    for given in ({"frame": "up"}, {"frame": "translation"}):
        assert joints.curve([s, 2 * s, 0], s, **given).coordinates[0].name == "s"
    assert joints.curve([0, 0, s], s, frame="up", up=(1, 0, 0)).coordinates[0].name == "s"
