"""More robots in a scene that exists: prefixes, places, and the errors that name what clashes."""

from pathlib import Path

import numpy as np
import pybullet_data
import pytest

import recursive_dyn as rd
from recursive_dyn.errors import ModelError, SceneFileError
from scene import Body, Scene, joints, shapes

DATA = Path(pybullet_data.getDataPath())
HUMANOID = DATA / "humanoid" / "humanoid.urdf"
MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
BOX = '<collision><origin xyz="1 0 0"/><geometry><box size="1 1 1"/></geometry></collision>'
AXIS = '<axis xyz="0 0 1"/>'


def joint(name, parent, child, inside=AXIS):
    return f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


@pytest.fixture
def write(tmp_path):
    def to_file(*elements):
        path = tmp_path / "robot.urdf"
        path.write_text(f"<robot name='r'>{''.join(elements)}</robot>")
        return path

    return to_file


@pytest.fixture
def arm(write):
    return write(f'<link name="base">{MASS}</link><link name="arm">{MASS}</link>',
                 joint("hinge", "base", "arm", AXIS + '<origin xyz="0 0 1"/>'))  # fmt: skip


def names(scene):
    return [body.name for body in scene.bodies]


def test_two_copies_move_as_two_scenes_do():
    alone = Scene.from_urdf(HUMANOID)
    both = Scene()
    for prefix in ("left.", "right."):
        both.add_urdf(HUMANOID, prefix)
    assert names(both) == [prefix + name for prefix in ("left.", "right.") for name in names(alone)]
    assert both.joint_names["left.right_knee"] == "left.right_knee" and len(both.joint_names) == 2 * len(
        alone.joint_names
    )
    one, two = alone.compile(), both.compile()
    rng = np.random.default_rng(3)
    q, v = [one.neutral(), one.neutral()], rng.normal(size=(2, one.nv))
    q[1][:3] = 1.0, 2.0, 3.0
    expected = np.concatenate([one.forward_dynamics(a, b) for a, b in zip(q, v, strict=True)])
    np.testing.assert_allclose(two.forward_dynamics(np.concatenate(q), v.ravel()), expected, rtol=1e-10, atol=1e-9)


def test_a_robot_starts_at_its_place_beside_what_is_there(arm):
    scene = Scene()
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free())
    place = rd.pose((1, 2, 3), (0.1, 0.2, 0.3))
    root = scene.add_urdf(arm, prefix="r:", at=place)
    assert root is scene["r:base"] and names(scene) == ["ball", "r:base", "r:arm"]
    dynamics = scene.compile()
    poses = dynamics.poses(dynamics.neutral())
    np.testing.assert_allclose(poses[1:], [place, place @ rd.pose((0, 0, 1))], atol=1e-15)
    assert dynamics.nv == 6 + 6 + 1


def test_a_fixed_base_is_welded_at_its_place(arm):
    scene = Scene()
    scene.add_urdf(arm, at=rd.pose((0, 0, 2)), fixed_base=True)
    dynamics = scene.compile()
    assert dynamics.nv == 1
    np.testing.assert_allclose(dynamics.poses(dynamics.neutral())[1], rd.pose((0, 0, 3)))


def test_a_root_named_world_brings_its_shapes_to_the_place(write):
    path = write(f'<link name="world">{BOX}</link><link name="arm">{MASS}</link>', joint("hinge", "world", "arm"))
    scene = Scene()
    place = rd.pose((0, 5, 0), (0, 0, np.pi / 2))
    for prefix in ("a", "b"):
        assert scene.add_urdf(path, prefix, at=place) is scene.world
    assert names(scene) == ["aarm", "barm"]
    for shape in scene.world.shapes:
        np.testing.assert_allclose(shape.at, place @ rd.pose((1, 0, 0)), atol=1e-15)
    np.testing.assert_allclose(scene["barm"].placement, place, atol=1e-15)


def test_followers_follow_the_leader_of_their_own_copy(write):
    path = write("".join(f'<link name="{n}">{MASS}</link>' for n in "abc"), joint("lead", "a", "b"),
                 joint("follow", "a", "c", AXIS + '<mimic joint="lead" multiplier="2"/>'))  # fmt: skip
    scene = Scene()
    for prefix in ("x.", "y."):
        scene.add_urdf(path, prefix, fixed_base=True)
    dynamics = scene.compile()
    assert dynamics.nv == 2
    poses = dict(zip(dynamics.bodies, dynamics.poses([0.1, 0.3]), strict=True))
    for name, angle in (("x.b", 0.1), ("x.c", 0.2), ("y.b", 0.3), ("y.c", 0.6)):
        np.testing.assert_allclose(poses[name], rd.pose(rpy=(0, 0, angle)), atol=1e-15)


@pytest.mark.parametrize(("prefix", "clash"), [("", "body named 'base'"), ("p", "joint named 'phinge'")])
def test_a_name_that_is_taken_is_told_and_nothing_changes(arm, prefix, clash):
    scene = Scene()
    scene.add_urdf(arm)
    scene.joint_names["phinge"] = "arm"
    before = names(scene), dict(scene.joint_names)
    with pytest.raises(SceneFileError, match=rf"robot.urdf: the scene has a {clash}.*another prefix"):
        scene.add_urdf(arm, prefix)
    assert (names(scene), scene.joint_names) == before and not scene.world.shapes


def test_faults_of_files_are_those_of_from_urdf(write):
    bad = write('<link name="a"/>', joint("j", "a", "b"))
    messages = []
    for read in (Scene.from_urdf, Scene().add_urdf):
        with pytest.raises(SceneFileError) as caught:
            read(bad)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    with pytest.raises(SceneFileError, match="cannot be read"):
        Scene().add_urdf("nowhere.urdf")


@pytest.mark.parametrize("options", [{"at": np.zeros((4, 4))}, {"at": np.full((4, 4), np.nan)}, {"at": np.eye(3)}])
def test_a_place_that_is_no_pose_is_refused(arm, options):
    scene = Scene()
    with pytest.raises(ModelError, match=r"robot.urdf.* at"):
        scene.add_urdf(arm, **options)
    assert not scene.bodies


def test_a_prefix_must_be_text(arm):
    with pytest.raises(SceneFileError, match="prefix is put before names"):
        Scene().add_urdf(arm, prefix=1)


def test_a_floating_base_without_mass_is_warned_of_by_its_name(write):
    path = write(f'<link name="a"/><link name="b">{MASS}</link>', joint("j", "a", "b"))
    with pytest.warns(UserWarning, match="'p.a' floats but has no mass") as caught:
        Scene().add_urdf(path, "p.", fixed_base=False)
    assert caught[0].filename == __file__


def test_a_scene_of_two_robots_is_saved_and_read(arm, tmp_path):
    scene = Scene()
    for i, prefix in enumerate(("a.", "b.")):
        scene.add_urdf(arm, prefix, at=rd.pose((i, 0, 0)))
    scene.save(tmp_path / "two.json")
    assert names(Scene.load(tmp_path / "two.json")) == names(scene)
