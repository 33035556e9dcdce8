"""What joints.charts takes and refuses."""

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
        (lambda: joints.charts(joints.revolute("x"), joints.revolute("-x")).follow("arm"), "several charts"),
        (lambda: euler("xyz", "zxz").driven(1, 2, 3), "several charts"),
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
    scene = mechanism(bead("z", "x"), euler("xyz", "zxz", "yzy"))
    scene.save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json").model().key == scene.model().key


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
