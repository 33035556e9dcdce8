"""Dry friction of joints: who takes it, who hands it on, and that it changes nothing else."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_file import assert_same_model, round_trip
from urdf_elements import finger, joint, link

import recursive_dyn as rd
from scene import Body, Scene, joints

POINTS = np.array([[0, 0, 0], [1, 0, 1], [2, 1, 0], [3, 1, 1.0]])


def body(name: str) -> Body:
    return Body(name, mass=1.0, inertia=np.diag([0.1, 0.11, 0.12]), center_of_mass=(0.1, 0, 0))


def frictions(joint_: joints.Joint) -> list[float]:
    return [c.friction for c in joint_.coordinates]


def test_it_goes_to_each_coordinate_or_to_all():
    assert frictions(joints.revolute("x")) == [0.0]
    assert frictions(joints.universal(friction=0.3)) == [0.3, 0.3]
    assert frictions(joints.universal(friction=(0.1, 0.2))) == [0.1, 0.2]
    assert frictions(joints.ball(friction=0.3)) == [0.3] * 3 and frictions(joints.free(friction=0.3)) == [0.3] * 6
    assert frictions(joints.bspline(POINTS, friction=2.0)) == [2.0]


def test_joints_made_of_joints_keep_it():
    hinge = joints.revolute("x", friction=0.1, damping=0.2)
    assert frictions(hinge @ joints.fixed() @ joints.universal(friction=(0.3, 0.4))) == [0.1, 0.3, 0.4]
    assert frictions(hinge.adjusted(damping=5.0)) == [0.1]
    assert (
        frictions(hinge.adjusted(friction=0.7)) == [0.7] and hinge.adjusted(friction=0.7).coordinates[0].damping == 0.2
    )
    assert frictions(hinge.follow("lead")) == [0.1]


@given(st.lists(st.tuples(st.floats(-3, 3).filter(bool), st.floats(0, 5)), max_size=4), st.floats(0, 5))
def test_the_leader_loses_as_much_power_as_all_that_follow(followers, own):
    """At rates v and m v the joints lose own |v| + sum of friction |m v|."""
    scene = Scene()
    lead = scene.world.attach(body("lead"), joints.revolute("x", friction=own))
    for i, (m, friction) in enumerate(followers):
        lead.attach(body(f"b{i}"), joints.prismatic("y", friction=friction).follow("lead", m, 0.3))
    (coordinate,) = scene.model().coordinates
    v = 1.7
    lost = own * v + sum(friction * abs(m * v) for m, friction in followers)
    assert coordinate.friction * v == pytest.approx(lost, rel=1e-14)


def test_what_is_driven_leaves_it_to_those_that_drive():
    scene = Scene()
    q = scene.coordinate("q", friction=0.4)
    assert scene.coordinates["q"].friction == 0.4
    with pytest.raises(rd.ModelError, match=r"'angle' is driven by others: give .*friction.* to those"):
        joints.revolute("x", friction=0.1).driven(q)
    driven = joints.revolute("x").driven(q)
    with pytest.raises(rd.ModelError, match="'angle' is driven by others"):
        driven.adjusted(friction=0.1)
    scene.world.attach(body("arm"), driven)
    assert [c.friction for c in scene.model().coordinates] == [0.4]


def test_charts_do_not_share_it():
    both = joints.charts(joints.euler("xyz"), joints.euler("zxz"))
    with pytest.raises(rd.ModelError, match=r"several charts takes no .* friction"):
        both.adjusted(friction=1.0)


def test_it_enters_no_equation_and_no_generated_code():
    """So that joints of other friction run the same machine code."""
    scenes = [Scene(), Scene()]
    for scene, friction in zip(scenes, (0.0, 3.0), strict=True):
        scene.world.attach(body("arm"), joints.revolute("y", friction=friction, damping=0.1))
    models = [scene.model() for scene in scenes]
    assert models[0].key == models[1].key and models[0].coordinates != models[1].coordinates
    first, second = (scene.compile() for scene in scenes)
    for name in ("forward_dynamics", "passive_forces"):
        assert getattr(first, name)([0.3], [0.4]) == getattr(second, name)([0.3], [0.4])


# Files


@given(st.lists(st.floats(0, 1e300) | st.just(-0.0), min_size=2, max_size=2), st.floats(0, 10))
def test_scene_files_keep_it(tmp_path_factory, own, shared):
    scene = Scene()
    q = scene.coordinate("q", friction=shared)
    arm = scene.world.attach(body("arm"), joints.universal(friction=own))
    arm.attach(body("hand"), joints.revolute("z").driven(q))
    loaded = round_trip(scene, tmp_path_factory.getbasetemp())
    assert_same_model(scene, loaded)
    assert repr(frictions(loaded["arm"].joint)) == repr(own)
    assert loaded.coordinates == scene.coordinates


def test_a_file_without_it_means_none(tmp_path):
    scene = Scene()
    scene.world.attach(body("arm"), joints.revolute("y", damping=0.1))
    scene.save(tmp_path / "scene.json")
    (coordinate,) = json.loads((tmp_path / "scene.json").read_text())["bodies"][0]["joint"]["coordinates"]
    assert coordinate == {"name": "angle", "damping": 0.1}
    assert frictions(Scene.load(tmp_path / "scene.json")["arm"].joint) == [0.0]


def test_a_driven_coordinate_in_a_file_has_none(tmp_path):
    scene = Scene()
    scene.world.attach(body("arm"), joints.revolute("y").driven(scene.coordinate("q")))
    scene.save(tmp_path / "scene.json")
    content = json.loads((tmp_path / "scene.json").read_text())
    content["bodies"][0]["joint"]["coordinates"] = [{"name": "angle", "friction": 1}]
    (tmp_path / "scene.json").write_text(json.dumps(content))
    with pytest.raises(rd.SceneFileError, match="joint of 'arm': coordinate 'angle' is driven by others"):
        Scene.load(tmp_path / "scene.json")


def test_robots_have_it(load):
    links = [link(name) for name in ("base", "first", "second", "third")]
    follower = finger("a", -2, 0.25).replace("<dynamics", '<dynamics friction="0.1"')
    scene = load(
        *links,
        joint("a", "base", "first", inside='<axis xyz="0 0 1"/><dynamics damping="0" friction="0.5"/>'),
        joint("b", "base", "second", inside=follower),
        joint("c", "base", "third", inside='<axis xyz="0 0 1"/><dynamics damping="1"/>'),
    )
    assert [c.friction for c in scene.model().coordinates] == pytest.approx([0.5 + 2 * 0.1, 0.0], rel=1e-15)
