"""URDF files: what every element becomes, and the errors that name it."""

import pickle
import warnings

import numpy as np
import pytest
from urdf_elements import ARM, MASS, arm, finger, geometry, joint, link

import recursive_dyn as rd
from recursive_dyn.errors import ModelError, SceneFileError
from scene import Body, Scene, joints, shapes
from scene.mass_properties import MassProperties

# inertials


def test_inertia_is_turned_with_its_frame(load):
    text = (
        '<inertial><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><mass value="2"/>'
        '<inertia ixx="3" ixy="0.1" ixz="0.2" iyy="4" iyz="0.3" izz="5"/></inertial>'
    )
    body = load(link("a", text))["a"]
    R = rd.pose(rpy=(0.1, 0.2, 0.3))[:3, :3]
    given = np.array([[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]])
    assert body.mass == 2.0
    np.testing.assert_array_equal(body.center_of_mass, [1, 2, 3])
    np.testing.assert_allclose(body.inertia, R @ given @ R.T, rtol=1e-15)


def test_who_gives_a_joints_name_is_told_its_coordinates(load):
    scene = load(link("base"), link("mast", MASS), joint("slew", "base", "mast"), link("cap", MASS),
                 joint("glue", "mast", "cap", kind="fixed"))  # fmt: skip
    sims = [rd.Simulation(scene.compile())]
    sims.append(pickle.loads(pickle.dumps(sims[0])))
    for sim in sims:
        for ask in (lambda: sim.motors["slew"], lambda: sim.prescribe("slew", 0.0), lambda: sim.motor_forces["slew"]):  # noqa: B023
            with pytest.raises(
                ModelError, match=r"the scene has mast.angle\. 'slew' is the joint of body 'mast': 'mast.angle'"
            ):
                ask()
        with pytest.raises(ModelError, match="'glue' is the joint of body 'cap': it has no coordinate"):
            sim.motors["glue"]
        with pytest.raises(ModelError, match=r"the scene has mast.angle$"):
            sim.motors["slow"]


@pytest.mark.parametrize("moments", [(1, 1, 2.0001), (1, 1, 0), (0, 0, 0)])
def test_rounded_inertias_are_taken_as_they_stand(load, moments):
    x, y, z = moments
    text = f'<inertial><mass value="1"/><inertia ixx="{x}" iyy="{y}" izz="{z}"/></inertial>'
    scene = load(link("base"), link("a", text), joint("j", "base", "a", inside='<origin xyz="1 0 0"/>'))
    np.testing.assert_array_equal(scene["a"].inertia, np.diag(moments))
    if z and z > 2:
        with pytest.raises(ModelError, match="no mass distribution"):
            Body("a", mass=1.0, inertia=np.diag(moments))


def test_link_without_inertial_has_shapes_but_no_mass(load):
    body = load(link("a", geometry('<box size="1 1 1"/>')))["a"]
    assert body.mass == 0.0 and not body.inertia.any() and len(body.shapes) == 1


def test_users_cannot_make_massless_bodies_of_shapes():
    with pytest.raises(ModelError, match="mass must be positive"):
        Body("a", [shapes.Sphere(1.0)], mass=0.0)
    frame = Body.of_properties("a", [shapes.Sphere(1.0)], MassProperties(0.0, np.zeros(3), np.zeros((3, 3))))
    assert frame.mass == 0.0


def test_inertia_of_a_link_without_mass_counts(load):
    """M = 1 + 0.5 about the hinge: panda_link8 and link 0 of the kuka are such."""
    frame = MASS.replace('value="1"', 'value="0"').replace('izz="1"', 'izz="0.5"')
    weld = joint("weld", "arm", "frame", "fixed", "")
    assert load(*ARM, link("frame", frame), weld).compile().mass_matrix([0.3]) == pytest.approx(1.5, rel=1e-15)
    wheel = load(link("base"), link("arm", frame), joint("hinge", "base", "arm"))
    assert wheel.compile().mass_matrix([0.3]) == pytest.approx(0.5, rel=1e-15)


# joints


@pytest.mark.parametrize(
    ("kind", "coordinates"),
    [
        ("fixed", ()),
        ("revolute", ("angle",)),
        ("continuous", ("angle",)),
        ("prismatic", ("distance",)),
        ("planar", ("distance", "distance_2", "angle")),
        ("spherical", ("wx", "wy", "wz")),
        ("floating", ("wx", "wy", "wz", "vx", "vy", "vz")),
    ],
)
def test_joint_types(load, kind, coordinates):
    scene = load(*arm('<axis xyz="0 0 1"/><dynamics damping="0.5" friction="2"/>', kind))
    assert tuple(c.name for c in scene["arm"].joint.coordinates) == coordinates
    assert all((c.damping, c.friction) == (0.5, 2.0) for c in scene["arm"].joint.coordinates)
    assert scene.compile().velocity_coordinates == tuple(f"arm.{c}" for c in coordinates)


@pytest.mark.parametrize(
    ("limit", "swing"),
    [
        ('<limit lower="0.7" upper="0.4" twist="0.3" effort="10"/>', (0.7, 0.4)),
        ('<limit lower="0.7" upper="0.4" twist="0.3"/>', None),
        ('<limit lower="0.7" upper="0.4" effort="10"/>', None),
        ('<limit lower="-0.7" upper="0.7" twist="0.3" effort="10"/>', None),
        ("", None),
    ],
)
def test_spherical_joints_swing_and_twist_as_in_pybullet(load, limit, swing):
    """Swings about x and y, a twist about z, where these and the effort are there (btMultiBodySphericalJointLimit)."""
    scene = load(*arm(limit, "spherical"))
    turn = scene["arm"].joint.limits["wx"].turn
    assert turn == (None if swing is None else joints.TurnLimits(swing=swing, twist=(-0.3, 0.3)))


def test_joint_stands_at_its_origin_and_turns_about_its_axis(load):
    scene = load(*arm('<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="3 0 4"/>'))
    axis, q = np.array([0.6, 0, 0.8]), 0.7
    K = np.cross(axis, np.eye(3)).T
    turn = np.eye(4)
    turn[:3, :3] += np.sin(q) * K + (1 - np.cos(q)) * K @ K
    expected = rd.pose((1, 2, 3), (0.1, 0.2, 0.3)) @ turn
    np.testing.assert_allclose(scene.compile().poses([q])[1], expected, atol=1e-15)


def test_axis_is_x_unless_given(load):
    assert load(*arm("")).compile().mass_matrix([0.0]).shape == (1, 1)
    np.testing.assert_allclose(load(*arm("")).compile().poses([np.pi / 2])[1, :3, 1], [0, 0, 1], atol=1e-15)


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        ("revolute", 'lower="-1" upper="2" effort="4" velocity="3"', (-1, 2)),
        ("prismatic", 'upper="0.5"', (0, 0.5)),
        ("revolute", 'lower="-inf" upper="1"', (-np.inf, 1)),
        ("revolute", 'effort="1" velocity="1"', (-np.inf, np.inf)),
        ("revolute", 'lower="1" upper="-1"', (-np.inf, np.inf)),
        ("continuous", 'lower="-1" upper="1"', (-np.inf, np.inf)),
    ],
)
def test_limits(load, kind, limit, expected):
    (coordinate,) = load(*arm(f"<limit {limit}/>", kind))["arm"].joint.coordinates
    assert coordinate.limits == expected


@pytest.mark.parametrize(
    ("kind", "limit", "velocity", "effort"),
    [
        ("revolute", 'lower="-1" upper="2" effort="4" velocity="3"', 3.0, 4.0),
        ("continuous", 'effort="4"', np.inf, 4.0),
        ("prismatic", 'velocity="3"', 3.0, np.inf),
        ("revolute", 'effort="0" velocity="-1"', np.inf, np.inf),
        ("revolute", 'effort="inf" velocity="inf"', np.inf, np.inf),
    ],
)
def test_limits_of_effort_and_velocity(load, kind, limit, velocity, effort):
    """Those that are not above 0 stand for none, as nothing would move."""
    scene = load(*arm(f"<limit {limit}/>", kind))
    (limits,) = scene["arm"].joint.limits.values()
    assert (limits.velocity, limits.effort) == (velocity, effort)
    dynamics = scene.compile()
    assert dynamics.velocity_limits.tolist() == [velocity] and dynamics.effort_limits.tolist() == [effort]


def test_base_is_fixed_or_free(load):
    assert load(*ARM).compile().nv == 1
    floating = load(*ARM, fixed_base=False)
    assert floating.compile().nv == 7
    assert [body.name for body in floating.bodies] == ["base", "arm"]


def test_link_named_world_is_the_world(load):
    ground = link("world", geometry('<plane normal="0 0 2"/>', "collision"))
    for fixed_base in (True, False):
        scene = load(ground, link("arm"), joint("hinge", "world", "arm"), fixed_base=fixed_base)
        assert [body.name for body in scene.bodies] == ["arm"] and scene.compile().nv == 1
        assert scene.world.shapes[0].normal == (0, 0, 1)


def test_massless_floating_base_is_warned_of(load):
    with pytest.warns(UserWarning, match=r"'base' floats but has no mass; pass fixed_base=True"):
        load(link("base", ""), link("arm"), joint("hinge", "base", "arm"), fixed_base=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a dummy root welded to the torso is fine
        load(link("base", ""), link("torso"), joint("weld", "base", "torso", "fixed"), fixed_base=False)


def test_bodies_are_attached_in_the_files_order_where_parents_allow(load):
    elements = [link(name) for name in "dabc"]
    elements += [joint("bc", "b", "c"), joint("ad", "a", "d"), joint("ab", "a", "b")]
    scene = load(*elements)
    assert [body.name for body in scene.bodies] == ["a", "d", "b", "c"]
    assert scene.joint_names == {"bc": "c", "ad": "d", "ab": "b"}


def test_every_joint_type_has_pinocchios_energies(write):
    """Kinetic and potential energy at random states determine the equations of motion."""
    pin = pytest.importorskip("pinocchio")
    inertial = (
        '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.3 -1.1 2"/><mass value="1.5"/>'
        '<inertia ixx="0.3" ixy="0.02" ixz="0.01" iyy="0.4" iyz="-0.03" izz="0.5"/></inertial>'
    )
    kinds = {
        "floating": "0 0 1",
        "revolute": "1 2 3",
        "fixed": "0 0 1",
        "prismatic": "-1 0.5 0",
        "planar": "0 0 1",
        "continuous": "0 -1 0",
    }
    elements, parent = [link("base", inertial)], "base"
    for kind, axis in kinds.items():
        inside = f'<origin xyz="0.3 0.2 -0.1" rpy="0.5 0.4 -2"/><axis xyz="{axis}"/>'
        inside += '<limit effort="1" velocity="1" lower="-2" upper="2"/>'
        elements += [link(kind, inertial), joint(f"to_{kind}", parent, kind, kind, inside)]
        parent = kind
    path = write(*elements)
    dynamics = Scene.from_urdf(path, fixed_base=True).compile()
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, v = dynamics.random(rng), rng.normal(size=dynamics.nv)
        assert dynamics.coordinates[9:12] == ("planar.distance", "planar.distance_2", "planar.angle")
        c, s = np.cos(q[11]), np.sin(q[11])
        # theirs: a hinge without limits and a plane's angle as cosine and sine, a plane's velocity in the moving frame
        their_q = [*q[:11], c, s, np.cos(q[12]), np.sin(q[12])]
        their_v = [*v[3:6], *v[:3], *v[6:8], c * v[8] + s * v[9], c * v[9] - s * v[8], *v[10:]]
        pin.computeAllTerms(model, data, np.array(their_q), np.array(their_v))
        assert dynamics.kinetic_energy(q, v) == pytest.approx(data.kinetic_energy, rel=1e-12)
        assert dynamics.potential_energy(q) == pytest.approx(data.potential_energy, rel=1e-12)


# mimic joints


def test_follower_follows_through_a_chain_whatever_the_files_order(load):
    scene = load(
        *map(link, ("base", "third", "second", "first")),
        joint("c", "base", "third", inside=finger("b", 3, 0.5, damping=0.1)),
        joint("b", "base", "second", inside=finger("a", -2, 0.25)),
        joint("a", "base", "first", inside='<axis xyz="0 0 1"/><dynamics damping="1"/>'),
    )
    coupling = scene["third"].joint.coupling
    assert (coupling.leader, coupling.multiplier, coupling.offset) == ("first", -6.0, 1.25)
    dynamics = scene.compile()
    assert dynamics.coordinates == ("first.angle",)
    q = 0.3
    for body, angle in (("first", q), ("second", 0.25 - 2 * q), ("third", 1.25 - 6 * q)):
        X = dynamics.poses([q])[dynamics.bodies.index(body)]
        assert np.arctan2(X[1, 0], X[0, 0]) == pytest.approx(angle, abs=1e-14)
    # power of the dampers: 1 + 0.1 * 6^2
    assert dynamics.passive_forces([q], [2.0]) == pytest.approx(-2.0 * (1 + 3.6), rel=1e-14)


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ([joint("a", "base", "x", inside=finger("nobody", 1, 0))], "joint 'a': mimics 'nobody', which is not a joint"),
        (
            [joint("a", "base", "x", inside=finger("b", 1, 0)), joint("b", "base", "y", inside=finger("a", 1, 0))],
            "joint 'a': mimic leads back to 'a'",
        ),
        ([joint("a", "base", "x", inside=finger("a", 1, 0))], "joint 'a': mimic leads back to 'a'"),
        (
            [joint("a", "base", "x", inside=finger("b", 1, 0)), joint("b", "x", "y")],
            "joint 'a': mimics 'b', which it carries",
        ),
        (
            [joint("a", "base", "x", inside=finger("b", 1, 0)), joint("b", "base", "y", "spherical")],
            "joint 'a': mimics 'b', which is spherical",
        ),
        (
            [joint("a", "base", "x", inside=finger("b", 0, 0)), joint("b", "base", "y")],
            "joint 'a': .*finite multiplier other than 0",
        ),
        (
            [joint("a", "base", "x", "floating", finger("b", 1, 0)), joint("b", "base", "y")],
            "joint 'a': only a joint of one coordinate can follow",
        ),
    ],
)
def test_bad_mimics(load, elements, message):
    links = [link("base"), *(link(name) for name in "xy" if f'child link="{name}"' in "".join(elements))]
    with pytest.raises(SceneFileError, match=rf"robot\.urdf: {message}"):
        load(*links, *elements)
