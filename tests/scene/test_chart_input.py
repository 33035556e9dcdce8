"""What joints.charts takes and refuses."""

import warnings

import numpy as np
import pytest
from chart_cases import INERTIA, bead, euler, mechanism, single, sphere

import recursive_dyn as rd
from scene import Body, Scene, joints


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: joints.charts(joints.euler("xyz")), "two or more"),
        (lambda: joints.charts(joints.euler("xyz"), joints.euler("xy")), "equally many coordinates, these have 3, 2"),
        (lambda: joints.charts(joints.euler("xyz"), joints.ball()), "chart 2 moves on the space 'rotation'"),
        (lambda: joints.charts(joints.free(), joints.free()), "chart 1 moves on the space 'rigid motion'"),
        (lambda: joints.charts(joints.fixed(), joints.fixed()), "no coordinates"),
        (lambda: joints.charts(joints.euler("xyz"), "zxz"), "must be a joint, not str"),
        (lambda: joints.charts(joints.euler("xyz"), joints.euler("zxz", damping=1.0)), "chart 2: damping of"),
        (lambda: joints.charts(joints.euler("xyz", stiffness=1.0), joints.euler("zxz")), "chart 1: stiffness"),
        (lambda: joints.charts(joints.euler("xyz", limits=(-1, 1)), joints.euler("zxz")), "chart 1: limits"),
        (lambda: joints.charts(joints.euler("xyz", armature=0.1), joints.euler("zxz")), "chart 1: armature"),
        (lambda: joints.charts(joints.euler("xyz", friction=0.1), joints.euler("zxz")), "chart 1: friction"),
        (lambda: joints.charts(joints.revolute("x").follow("arm"), joints.revolute("x")), "follows or is driven"),
        (lambda: euler("xyz", "zxz").adjusted(damping=1.0), "several charts takes no limits"),
        (lambda: euler("xyz", "zxz").adjusted(limits=(-1, 1)), "several charts takes no limits"),
        (lambda: joints.charts(*map(joints.euler, ("xyz", "zxz")), limits=(-1, 1)), "several charts takes no limits"),
        (lambda: euler("xyz", "zxz").driven(1, 2), "one expression for each of its coordinates"),
        (lambda: euler("xyz", "zxz") @ joints.ball(), "moves on the space 'rotation'"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_in_every_chart_is_refused(make, message):
    with pytest.raises(rd.ModelError, match=message):
        make()


@pytest.mark.parametrize(
    "joint",
    [
        joints.charts(sphere("z"), sphere("x", radius=1.1)),
        joints.charts(sphere("z", "translation"), joints.surface(joints.surfaces.torus(1.0, 0.3), frame="translation")),
        joints.charts(joints.euler("xyz"), joints.planar()),
        joints.charts(sphere("z"), sphere("x")),  # tangent frames that differ by a turn about the normal
    ],
    ids=["radius", "torus", "planar", "frames"],
)
def test_charts_of_different_motions_are_refused(joint):
    scene = Scene()
    scene.world.attach(Body("bead", mass=1.0, inertia=INERTIA), joint)
    with pytest.raises(rd.ModelError, match="joint of 'bead': its charts do not describe the same motion"):
        scene.compile()


def test_coordinates_of_a_charted_joint_are_of_no_use_to_others():
    def scene_with(use):
        scene = Scene()
        top = scene.world.attach(Body("top", mass=1.0, inertia=INERTIA), euler("xyz", "zxz"))
        use(scene, top)
        return scene

    def constrain(scene, top):
        scene.constrain(top.q[0] - 0.1, name="held")

    def constrain_rate(scene, top):
        scene.constrain(top.v[0] - top.v[1], name="held")

    def drive(scene, top):
        top.attach(Body("arm", mass=1.0, inertia=INERTIA), joints.revolute("x").driven(2 * top.q[0]))

    for use, message in (
        (constrain, "constraint 'held"),
        (constrain_rate, "constraint 'held"),
        (drive, "joint of 'arm'"),
    ):
        with pytest.raises(rd.ModelError, match=f"{message}.*uses .*top.angle.*chart"):
            scene_with(use).compile()


def test_a_scene_file_keeps_every_chart(tmp_path):
    cone = joints.TurnLimits(swing=0.5)
    scene = mechanism(bead("z", "x"), euler("xyz", "zxz", "yzy").adjusted(limits=cone))
    scene.save(tmp_path / "scene.json")
    again = Scene.load(tmp_path / "scene.json")
    assert again.model().key == scene.model().key
    assert [c.turn for c in again.model().coordinates] == [c.turn for c in scene.model().coordinates]
    assert cone in [c.turn for c in again.model().coordinates]


def test_what_is_driven_is_the_first_chart():
    """A joint without coordinates of its own is where they say, at the gimbal lock of that chart too."""
    poses = []
    for joint in (joints.euler("xyz"), euler("xyz", "zxz")):
        scene = Scene()
        angle = scene.coordinate("angle")
        scene.world.attach(Body("top", mass=1.0, inertia=INERTIA), joint.driven(0.3, angle, 2 * angle))
        dynamics = scene.compile()
        poses.append([dynamics.poses([x]) for x in (0.4, np.pi / 2)])
        assert dynamics.nv == 1 and np.isfinite(dynamics.forward_dynamics([np.pi / 2], [1.0])).all()
    np.testing.assert_array_equal(poses[1], poses[0])


def test_a_chart_that_does_not_exist_is_refused():
    sim = rd.Simulation(single(euler("xyz", "zxz")))
    with pytest.raises(rd.StateError, match="has the charts 0 to 1, not 2"):
        sim.rechart("body", 2)
    with pytest.raises(rd.ModelError, match="'arm' has no joint of several charts; 'body' has"):
        sim.rechart("arm", 1)
    with pytest.raises(rd.ModelError, match="no body has"):
        rd.Simulation(single(joints.ball())).rechart("body", 1)


def test_a_model_without_charts_has_none():
    sim = rd.Simulation(single(joints.euler("xyz")))
    sim.step()
    assert sim.charts == {} and len(sim.parameters) == 0


def ellipsoids(*poles):
    first, second = (lambda p: joints.surfaces.ellipsoid(1.0, 0.8, 0.7, p)), (lambda p: joints.surfaces.sphere(0.2, p))
    return joints.charts(*(joints.surface_on_surface(first(a), second(b), spin=True) for a, b in poles))


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (joints.charts(joints.euler("xyz"), joints.euler("zyx")), r"all are singular, near .* of chart 0"),
        (joints.charts(joints.euler("zxz"), joints.euler("zyz")), r"joint of 'body': its charts leave a hole"),
        (ellipsoids("zz", "xx"), "a simulation that comes there stops; add a chart"),
    ],
    ids=["upright", "lying", "pole on pole"],
)
def test_a_hole_between_charts_is_told(joint, message):
    """R = Ry(90 degrees) is singular for xyz and zyx, R = 1 for zxz and zyz, and two poles may lie on each other."""
    with pytest.warns(UserWarning, match=message):
        single(joint)


@pytest.mark.parametrize(
    "joint",
    [
        joints.charts(joints.euler("xyz"), joints.euler("zxz")),
        joints.charts(joints.euler("zyx"), joints.euler("zxy")),
        joints.charts(*map(joints.euler, ("xyz", "zyx", "zxz"))),
        ellipsoids("zz", "zx", "xz", "xx"),
    ],
    ids=["xyz, zxz", "zyx, zxy", "xyz, zyx, zxz", "all poles"],
)
def test_charts_that_cover_all_are_content(joint):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single(joint)
