"""Axes, settings, compositions and followers."""

import numpy as np
import pytest
from test_joints import NAN, scene_with

import recursive_dyn as rd
from scene import Body, Scene, joints

# Axes, settings, compositions


@pytest.mark.parametrize(
    "axis", ["w", "xy", "", (0, 0, 0), (1, 0), (NAN, 0, 1), None, 3.0, ("a", "b", "c"), (1e-300, 0, 0)]
)
@pytest.mark.parametrize("make", [joints.revolute, joints.prismatic, lambda a: joints.screw(a, 0.1), joints.planar])
def test_an_axis_is_a_letter_or_a_vector(make, axis):
    with pytest.raises(rd.ModelError, match="axis"):
        make(axis)


def test_an_axis_may_have_any_length():
    a, b = (scene_with(joints.revolute(axis)).compile() for axis in ((1, 2, 3), (1e8, 2e8, 3e8)))
    np.testing.assert_allclose(a.poses([0.7]), b.poses([0.7]), atol=1e-15)


@pytest.mark.parametrize("order", ["", "x", "xx", "xyzx", "abc", "xyy", 3, None])
def test_an_euler_order_is_two_or_three_letters(order):
    with pytest.raises(rd.ModelError, match="euler order"):
        joints.euler(order)


@pytest.mark.parametrize("pitch", [NAN, float("inf"), "steep", None])
def test_a_pitch_is_a_finite_number(pitch):
    with pytest.raises(rd.ModelError, match="pitch"):
        joints.screw("x", pitch)


@pytest.mark.parametrize(
    ("settings", "pattern"),
    [
        ({"damping": -1.0}, "damping of coordinate 'angle'"),
        ({"stiffness": NAN}, "stiffness of coordinate 'angle'"),
        ({"armature": -0.1}, "armature of coordinate 'angle'"),
        ({"rest": float("inf")}, "rest of coordinate 'angle'"),
        ({"damping": (1.0, 2.0)}, "damping needs a number or one for each"),
        ({"damping": "much"}, "damping"),
        ({"limits": (1.0, 1.0)}, "limits of coordinate 'angle'.*low must be less than high"),
        ({"limits": (2.0, 1.0)}, "low must be less than high"),
        ({"limits": (NAN, 1.0)}, "limits"),
        ({"limits": 1.0}, "limits need a pair"),
        ({"limits": [(0, 1), (0, 1)]}, "limits need a pair"),
        ({"limits": "tight"}, "limits"),
        ({"friction": -1.0}, "friction of coordinate 'angle' is -1.0; it must be finite and not negative"),
        ({"friction": NAN}, "friction of coordinate 'angle'"),
        ({"friction": (1.0, 2.0)}, "friction needs a number or one for each"),
        ({"effort": 0.0}, "effort of coordinate 'angle' is 0.0; it must be above 0, or infinite"),
        ({"effort": NAN}, "effort of coordinate 'angle'"),
        ({"velocity": -1.0}, "velocity of coordinate 'angle' is -1.0; it must be above 0"),
        ({"velocity": (1.0, 2.0)}, "velocity needs a number or one for each"),
        ({"backlash": 1.0}, "not 'backlash'"),
    ],
)
def test_bad_settings_are_refused(settings, pattern):
    with pytest.raises(rd.ModelError, match=pattern):
        joints.revolute("x", **settings)


def test_settings_go_to_each_coordinate_or_to_all():
    joint = joints.universal(limits=[(-1, 1), (-2, 2)], damping=(0.1, 0.2), armature=0.3)
    assert [c.limits for c in joint.coordinates] == [(-1, 1), (-2, 2)]
    assert [c.damping for c in joint.coordinates] == [0.1, 0.2]
    assert [c.armature for c in joint.coordinates] == [0.3, 0.3]


@pytest.mark.parametrize("make", [joints.ball, joints.free])
def test_a_quaternion_has_no_limits(make):
    with pytest.raises(rd.ModelError, match=r"quaternion: limits have no meaning.*joints\.euler"):
        make(limits=(-1.0, 1.0))


def test_a_composition_is_the_product_of_the_transforms_and_names_its_coordinates():
    joint = joints.revolute("x", damping=0.1) @ joints.fixed(rd.pose((0, 0, 1))) @ joints.revolute("y", limits=(-1, 1))
    assert [c.name for c in joint.coordinates] == ["angle", "angle_2"]
    assert joint.coordinates[0].damping == 0.1 and joint.coordinates[1].limits == (-1, 1)
    d = scene_with(joint).compile()
    one, two = (scene_with(joints.revolute(a)).compile().poses([x])[0] for a, x in (("x", 0.4), ("y", -0.7)))
    np.testing.assert_allclose(d.poses([0.4, -0.7])[0], one @ rd.pose((0, 0, 1)) @ two, atol=1e-15)
    with pytest.raises(TypeError):
        joints.revolute("x") @ 3.0


# Followers


def follower(joint, leader="lead", leading=None, **how):
    scene = Scene()
    lead = scene.world.attach(Body("lead", mass=1.0, inertia=np.eye(3)), leading or joints.revolute("x"))
    lead.attach(Body("knee", mass=1.0, inertia=np.eye(3)), joint.follow(leader, **how))
    return scene


def test_only_one_coordinate_can_follow_one_coordinate():
    with pytest.raises(rd.ModelError, match="only a joint of one coordinate can follow"):
        joints.universal().follow("lead")
    with pytest.raises(rd.ModelError, match=r"joint of 'knee' follows 'lead': both need exactly one"):
        follower(joints.revolute("x"), leading=joints.universal()).compile()
    with pytest.raises(rd.ModelError, match=r"joint of 'knee' follows 'leed'.*not a moving body"):
        follower(joints.revolute("x"), "leed").compile()
    with pytest.raises(rd.ModelError, match=r"joint of 'knee' follows 'lead'"):
        follower(joints.revolute("x"), leading=joints.fixed()).compile()
    with pytest.raises(rd.ModelError, match=r"joint of 'knee' follows 'knee'"):
        follower(joints.revolute("x"), "knee").compile()


@pytest.mark.parametrize("how", [{"multiplier": 0.0}, {"multiplier": NAN}, {"offset": float("inf")}])
def test_a_follower_needs_a_finite_ratio(how):
    with pytest.raises(rd.ModelError, match="follows 'lead' needs a finite multiplier"):
        follower(joints.revolute("x"), **how)


def test_a_follower_stands_alone():
    with pytest.raises(rd.ModelError, match="cannot be composed"):
        joints.revolute("x").follow("lead") @ joints.revolute("y")


# Limits of balls


@pytest.mark.parametrize(
    ("limits", "pattern"),
    [
        ({}, "TurnLimits need swing=, twist= or both"),
        ({"swing": 0.0}, "swing of TurnLimits is 0.0; it must be .* above 0 and below pi"),
        ({"swing": np.pi}, "swing of TurnLimits"),
        ({"swing": (0.5, -1.0)}, "swing of TurnLimits"),
        ({"swing": (0.5, 0.6, 0.7)}, "swing of TurnLimits"),
        ({"swing": NAN}, "swing of TurnLimits"),
        ({"swing": "wide"}, "swing of TurnLimits is 'wide'"),
        ({"swing": (0.5, 0.6), "axis": (1, 1, 0)}, "its axis .* does not say about what"),
        ({"twist": 0.5}, "twist of TurnLimits is 0.5; it must be a pair"),
        ({"twist": (0.5, 0.5)}, "twist of TurnLimits"),
        ({"twist": (-np.pi, np.pi)}, "twist of TurnLimits .* less than 2 pi apart"),
        ({"twist": (6.5, 7.0)}, "twist of TurnLimits"),
        ({"swing": 1.0, "axis": "w"}, "axis of TurnLimits"),
        ({"swing": 1.0, "axis": (0, 0, 0)}, "axis of TurnLimits"),
        ({"swing": 1.0, "center": (1, 2)}, "center of TurnLimits"),
    ],
)
def test_limits_of_balls_that_are_none_are_refused_by_name(limits, pattern):
    with pytest.raises(rd.ModelError, match=pattern):
        joints.TurnLimits(**limits)


def test_limits_of_balls_are_of_balls():
    cone = joints.TurnLimits(swing=1.0)
    for make in (
        lambda: joints.revolute("x", limits=cone),
        lambda: joints.euler("xyz", limits=[cone, (-1, 1), (-1, 1)]),
        lambda: joints.ball(limits=[None, cone, None]),
        lambda: (joints.prismatic("x") @ joints.ball()).adjusted(limits=cone),
    ):
        with pytest.raises(rd.ModelError, match=r"TurnLimits of coordinate '.*': they are of a ball or a free joint"):
            make()
    with pytest.raises(rd.ModelError, match=r"limits have no meaning there; use limits=joints\.TurnLimits"):
        joints.ball(limits=(-1, 1))


def test_limits_of_balls_stay_with_their_joints(tmp_path):
    """Through adjustments, products and files; what is read back is the same to the last bit."""
    egg = joints.TurnLimits(swing=(0.5, 0.1 + 0.2), twist=(-0.3, 2), axis="-x", center=(0.1, 0, 0.7))
    tilted = joints.TurnLimits(twist=(-0.3, 0.2), axis=(1, 2, 3))
    ball = joints.ball(limits=egg).adjusted(damping=1.0)
    assert ball.limits["wx"].turn == egg and ball.limits["wy"].turn is None
    made = [ball, joints.prismatic("x", limits=(-1, 2)) @ ball, joints.free(limits=tilted)]
    made += [made[1].adjusted(friction=0.1), ball.adjusted(limits=tilted), ball.adjusted(limits=None)]
    scene = Scene()
    for i, joint in enumerate(made):
        scene.world.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), joint)
    scene.save(tmp_path / "scene.json")
    again = Scene.load(tmp_path / "scene.json")
    for i, joint in enumerate(made):
        assert again[f"b{i}"].joint.coordinates == joint.coordinates
    assert [joint.coordinates[0].turn for joint in made] == [egg, None, tilted, None, tilted, None]
    assert made[1].coordinates[1].turn == made[3].coordinates[1].turn == egg
    text = (tmp_path / "scene.json").read_text()
    (tmp_path / "bad.json").write_text(text.replace('"swing"', '"sway"'))
    with pytest.raises(rd.SceneFileError, match="limits of coordinate 'wx'"):
        Scene.load(tmp_path / "bad.json")
