"""The scene graph and what it refuses: each error is typed, names the body and says what to do."""

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

NAN, INF = float("nan"), float("inf")
BOX = np.diag([0.1, 0.11, 0.12])


def body(name="arm", **given):
    return Body(name, **{"mass": 1.0, "inertia": BOX, **given})


# Bodies


@pytest.mark.parametrize("mass", [0.0, -1.0, NAN, INF, -INF, "heavy", [1.0, 2.0], 1j])
def test_a_mass_is_a_positive_number(mass):
    with pytest.raises(rd.ModelError, match=r"body 'arm'.*mass"):
        body(mass=mass)


@pytest.mark.parametrize(
    ("inertia", "reason"),
    [
        (np.diag([1.0, 1.0, 0.0]), "positive definite"),
        (np.diag([1.0, 1.0, -1.0]), "positive definite"),
        (np.diag([1.0, 1.0, 2.1]), "sum of the others"),
        (np.array([[1.0, 0.9, 0], [0.9, 1.0, 0.9], [0, 0.9, 1.0]]), "positive definite"),
        (np.array([[1.0, 0.1, 0], [0, 1.0, 0], [0, 0, 1.0]]), "symmetric"),
        (np.full((3, 3), NAN), "NaN"),
        (np.diag([1.0, INF, 1.0]), "infinite"),
        (np.ones(3), r"\(3, 3\)"),
        (np.eye(4), r"\(3, 3\)"),
        ("round", r"\(3, 3\)"),
    ],
)
def test_an_inertia_is_that_of_some_mass_distribution(inertia, reason):
    with pytest.raises(rd.ModelError, match=rf"(?s)body 'arm'.*{reason}"):
        body(inertia=inertia)


def test_the_triangle_inequality_may_be_met_with_equality():
    body(inertia=np.diag([1.0, 2.0, 3.0]))  # a plate


@pytest.mark.parametrize("center", [(NAN, 0, 0), (0, INF, 0), (1, 2), np.zeros((3, 3)), "middle"])
def test_a_centre_of_mass_is_three_finite_numbers(center):
    with pytest.raises(rd.ModelError, match=r"body 'arm'.*center_of_mass"):
        body(center_of_mass=center)


def test_meshes_that_are_open_or_inside_out_are_refused_by_name():
    cube = trimesh.creation.box(extents=(1, 1, 1))
    open_cube = trimesh.Trimesh(cube.vertices, cube.faces[1:])
    inverted = trimesh.Trimesh(cube.vertices, cube.faces[:, ::-1], process=False)
    for mesh, reason in ((open_cube, "watertight"), (inverted, "inverted|inward|inside")):
        with pytest.raises(rd.ModelError, match=rf"(?s)crate.*({reason})"):
            Body("crate", shapes=[shapes.Mesh(mesh)])


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_body_has_a_name(name):
    with pytest.raises(rd.ModelError, match="name"):
        body(name)


def test_a_moving_body_needs_a_mass_or_something_to_carry():
    scene = Scene()
    frame = scene.world.attach(Body("frame"), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match=r"'frame' moves but has no mass.*give it a mass"):
        scene.compile()
    frame.attach(body("load", center_of_mass=(0, 0, -1)), joints.revolute("y"))
    assert scene.compile().nv == 2


def test_a_massless_leaf_is_refused_though_its_parent_has_mass():
    scene = Scene()
    scene.world.attach(body("arm"), joints.revolute("x")).attach(Body("needle"), joints.revolute("y"))
    with pytest.raises(rd.ModelError, match="'needle' moves but has no mass"):
        scene.compile()


def test_a_rotor_alone_is_mass_enough_for_what_it_turns():
    """A needle without mass swings on its spring as the rotor of its joint does: q = cos(sqrt(k / I) t)."""
    scene = Scene(gravity=(0, 0, 0))
    arm = scene.world.attach(body("arm"), joints.revolute("x"))
    needle = arm.attach(Body("needle"), joints.revolute("y", armature=0.1, stiffness=2.0))
    d = scene.compile()
    np.testing.assert_allclose(d.mass_matrix(d.neutral())[1], [0.0, 0.1], atol=1e-15)
    sim = rd.Simulation(d, 1e-3, "rk4")
    sim.q[1] = 1.0
    sim.step(1000)
    assert sim.q[1] == pytest.approx(np.cos(np.sqrt(20.0)), abs=1e-9)
    needle.attach(Body("tip"), joints.revolute("z"))
    with pytest.raises(rd.ModelError, match="'tip' moves but has no mass"):
        scene.compile()


def test_what_turns_as_its_massless_base_does_is_named_by_its_coordinate():
    """The arm's inertia counts for ways enough, but a turn about z moves it by two coordinates."""
    scene = Scene()
    arm = scene.world.attach(Body("base"), joints.free()).attach(body("arm"), joints.revolute("z"))
    arm.attach(body("hand", center_of_mass=(0, 0, 1)), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match=r"nothing has inertia against coordinate 'base\.w.*give its body mass"):
        rd.Simulation(scene.compile()).step()


# The graph


def test_names_are_given_once():
    scene = Scene()
    scene.world.attach(body("arm"), joints.free())
    with pytest.raises(rd.ModelError, match=r"two bodies are named 'arm'.*own name"):
        scene.world.attach(body("arm"), joints.free())
    loose = body("other")
    loose.attach(body("arm"), joints.ball())  # a loose subtree may use the name until it joins
    with pytest.raises(rd.ModelError, match="two bodies are named 'arm'"):
        scene.world.attach(loose, joints.free())
    with pytest.raises(rd.ModelError, match="two bodies are named 'world'"):
        scene.world.attach(body("world"), joints.free())


def test_a_body_hangs_in_one_place_and_not_on_itself():
    scene = Scene()
    arm = scene.world.attach(body("arm"), joints.free())
    hand = arm.attach(body("hand"), joints.ball())
    with pytest.raises(rd.ModelError, match=r"'hand' is attached to 'arm' already; detach it first"):
        scene.world.attach(hand, joints.free())
    for node in (arm, hand):
        with pytest.raises(rd.ModelError, match=r"'arm' (is attached|cannot be attached to itself)"):
            node.attach(arm, joints.free())
    loose = body("loose")
    inner = loose.attach(body("inner"), joints.ball())
    for node in (loose, inner):
        with pytest.raises(rd.ModelError, match="'loose' cannot be attached to itself or to a body it carries"):
            node.attach(loose, joints.free())
    assert [b.name for b in scene.bodies] == ["arm", "hand"]  # the refused attempts changed nothing


@pytest.mark.parametrize("child", [None, "arm", Scene])
def test_only_bodies_are_attached(child):
    with pytest.raises(rd.ModelError, match="takes a Body"):
        Scene().world.attach(child, joints.free())


@pytest.mark.parametrize("joint", [None, "revolute", joints.free, joints.revolute])
def test_only_joints_attach(joint):
    with pytest.raises(rd.ModelError, match="body 'arm' needs a joint"):
        Scene().world.attach(body("arm"), joint)


@pytest.mark.parametrize(
    "at",
    [
        np.eye(3),
        (0, 0, 1),
        "up",
        [["a"] * 4] * 4,
        np.diag([1.0, 1, 1, 2]),
        np.diag([2.0, 2, 2, 1]),
        np.diag([1.0, 1, -1, 1]),
        np.full((4, 4), NAN),
        rd.pose() + np.diag([0, 0, 0, NAN]),
        np.eye(4, dtype=complex) * 1j,
    ],
)
def test_a_place_is_a_rigid_pose(at):
    scene = Scene()
    with pytest.raises(rd.ModelError, match=r"body 'arm': (at|the pose at|the last row of the pose at)\b"):
        scene.world.attach(body("arm"), joints.free(), at=at)
    assert scene.bodies == []


@pytest.mark.parametrize(
    "arguments", [{"xyz": (1, 2)}, {"rpy": (0, 0, 0, 0)}, {"xyz": (NAN, 0, 0)}, {"rpy": (0, INF, 0)}]
)
def test_poses_are_made_of_finite_triples(arguments):
    with pytest.raises(rd.ModelError, match=r"pose\(xyz, rpy\)"):
        rd.pose(**arguments)


def test_a_place_typed_with_six_digits_is_made_orthonormal():
    """Else energies and Jacobians would disagree by as much as the rotation is off."""
    scene = Scene()
    rounded = rd.pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)).round(7)
    scene.world.attach(body("arm"), joints.revolute("x"), at=rounded)
    d = scene.compile()
    R = d.poses([0.3])[0, :3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)  # one Newton step squares an error of 1e-7


def test_a_symbolic_place_that_is_not_rigid_is_refused():
    scene = Scene()
    k = scene.parameter("k", 2.0)
    stretched = np.eye(4, dtype=object)
    stretched[0, 0] = k
    scene.world.attach(body("arm"), joints.free(), at=stretched)
    with pytest.raises(rd.ModelError, match=r"arm.*rigid"):
        scene.compile()


def test_detached_subtrees_leave_and_come_back():
    scene = Scene()
    arm = scene.world.attach(body("arm"), joints.revolute("x"))
    hand = arm.attach(body("hand"), joints.revolute("y"))
    hand.attach(body("finger"), joints.revolute("z"))
    assert scene.compile().nv == 3
    assert hand.detach() is hand
    assert [b.name for b in scene.bodies] == ["arm"] and "hand" not in scene
    with pytest.raises(rd.ModelError, match="'hand' is not attached"):
        hand.detach()
    scene.world.attach(hand, joints.free())
    d = scene.compile()
    assert d.bodies == ("arm", "hand", "finger")
    assert d.coordinates[:2] == ("arm.angle", "hand.x")


def test_bodies_and_coordinates_are_in_the_order_of_attachment():
    scene = Scene()
    a = scene.world.attach(body("a"), joints.revolute("x"))
    b = scene.world.attach(body("b"), joints.cylindrical("z"))
    a.attach(body("c"), joints.fixed())
    b.attach(body("d"), joints.ball())
    a.attach(body("e"), joints.prismatic("x"))
    d = scene.compile()
    assert d.bodies == ("a", "b", "c", "d", "e")
    assert d.coordinates == ("a.angle", "b.distance", "b.angle", "d.qx", "d.qy", "d.qz", "d.qw", "e.distance")
    assert d.velocity_coordinates == ("a.angle", "b.distance", "b.angle", "d.wx", "d.wy", "d.wz", "e.distance")
    assert (d.nq, d.nv) == (8, 7)
    np.testing.assert_array_equal(d.neutral(), [0, 0, 0, 0, 0, 0, 1, 0])


def test_a_subtree_built_loose_comes_after_its_parent():
    scene = Scene()
    loose = body("loose")
    loose.attach(body("inner"), joints.revolute("x"))
    scene.world.attach(body("first"), joints.revolute("x"))
    scene.world.attach(loose, joints.revolute("x"))
    names = scene.compile().bodies
    assert names.index("loose") < names.index("inner")


def test_unknown_bodies_are_answered_with_the_known_ones():
    scene = Scene()
    with pytest.raises(rd.ModelError, match="unknown body 'arm'; the scene has none"):
        scene["arm"]
    arm = scene.world.attach(body("arm"), joints.free())
    assert scene["arm"] is arm and "arm" in scene
    with pytest.raises(rd.ModelError, match="unknown body 'leg'; the scene has arm"):
        scene["leg"]


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, NAN), -9.81, "down", (0, 0, INF), None])
def test_gravity_is_three_finite_numbers(gravity):
    with pytest.raises(rd.ModelError, match="scene: gravity"):
        Scene(gravity=gravity)


def test_an_empty_scene_and_one_that_cannot_move_compile():
    assert Scene().compile().bodies == ()
    scene = Scene()
    scene.world.attach(body("rock"), joints.fixed(), at=rd.pose((0, 0, 1)))
    d = scene.compile()
    assert (d.nq, d.nv) == (0, 0)
    assert d.poses([])[0, 2, 3] == 1.0
    assert d.forward_dynamics([], []).shape == (0,)
    sim = rd.Simulation(d)
    sim.step(3)
    assert sim.time == pytest.approx(3 / 240)


def test_an_edited_scene_compiles_to_other_dynamics_and_leaves_the_old_ones_alone():
    scene = Scene()
    scene.world.attach(body("arm", center_of_mass=(0, 0, -1)), joints.revolute("x"))
    before = scene.compile()
    scene["arm"].attach(body("hand"), joints.revolute("y"))
    after = scene.compile()
    assert (before.nv, after.nv) == (1, 2)
    assert before.forward_dynamics([0.5], [0.0]).shape == (1,)
