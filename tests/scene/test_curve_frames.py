"""Frames that a curve carries: along its tangent, closed where it closes, turning as little as can be, banked."""

from itertools import product

import numpy as np
import pytest
from wires import AXES, BANKS, LEMNISCATE, MADE, RING, banked, dynamics, kinematics, levels, s

import recursive_dyn as rd
from scene import joints


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
    with pytest.warns(UserWarning, match="Frenet frame of a cubic spline turns by jumps"):
        joints.bspline(RING, closed=True, frame="frenet")
    joint = joints.bspline(RING, 4, closed=True, frame="frenet")
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
def test_what_is_up_beyond_an_end_turns_on_smoothly_and_stays(count, outside, arc_length):
    """One piece and several: the frame and its rate at the end go on, a piece further it is still."""
    joint = banked(count, arc_length=arc_length, outside=outside)
    low, high = joint.path.domain
    for end, sign in ((low, -1.0), (high, 1.0)):
        values = levels(joint, end + sign * np.array([-1e-9, 1e-9, high - low, 50.0]), 1)[:, :, :3, :3]
        np.testing.assert_allclose(values[0], values[1], atol=1e-6)
        np.testing.assert_allclose(values[2, 0], values[3, 0], atol=1e-9)
        np.testing.assert_allclose(values[2:, 1], 0.0, atol=1e-9)


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
