"""URDF files: what every element becomes, and the errors that name it."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from recursive_dyn.errors import ModelError, SceneFileError
from scene import Body, Scene, joints, shapes
from scene.mass_properties import MassProperties

MASS = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def link(name, inside=MASS):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, kind="revolute", inside='<axis xyz="0 0 1"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


ARM = (link("base"), link("arm"), joint("hinge", "base", "arm"))


@pytest.fixture
def write(tmp_path):
    def to_file(*elements, text=None):
        path = tmp_path / "robot.urdf"
        path.write_text(f"<robot name='r'>{''.join(elements)}</robot>" if text is None else text)
        return path

    return to_file


@pytest.fixture
def load(write):
    def from_elements(*elements, fixed_base=True, **options):
        return Scene.from_urdf(write(*elements), fixed_base=fixed_base, **options)

    return from_elements


def arm(inside, kind="revolute"):
    """A base and an arm whose joint holds `inside`."""
    return link("base"), link("arm"), joint("hinge", "base", "arm", kind, inside)


def geometry(shape, tag="visual", more=""):
    return f"<{tag}><geometry>{shape}</geometry>{more}</{tag}>"


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
        ("revolute", 'lower="-1" upper="2" effort="x" velocity="3"', (-1, 2)),
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


def finger(leader, multiplier, offset, damping=0.0):
    dynamics = f'<dynamics damping="{damping}"/>'
    return f'<axis xyz="0 0 1"/>{dynamics}<mimic joint="{leader}" multiplier="{multiplier}" offset="{offset}"/>'


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


# geometry


def test_shapes_keep_their_kind_size_pose_and_purpose(load):
    origin = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    drawn = ['<box size="1, 2, 3"/>', '<sphere radius="0.5"/>', '<cylinder radius="0.1" length="2"/>']
    hit = ['<capsule radius="0.1" length="2"/>', "<plane/>"]
    text = MASS + "".join(geometry(g, more=origin) for g in drawn) + "".join(geometry(g, "collision") for g in hit)
    box, sphere, cylinder, capsule, plane = load(link("a", text))["a"].shapes
    assert [type(s).__name__ for s in (box, sphere, cylinder, capsule, plane)] == [
        "Box",
        "Sphere",
        "Cylinder",
        "Capsule",
        "Plane",
    ]
    assert box.size == (1, 2, 3) and sphere.radius == 0.5 and plane.normal == (0, 0, 1)
    assert (cylinder.radius, cylinder.length) == (capsule.radius, capsule.length) == (0.1, 2)
    for shape in (box, sphere, cylinder):
        assert shape.visual and not shape.collision
        np.testing.assert_allclose(shape.at, rd.pose((1, 2, 3), (0.1, 0.2, 0.3)), atol=1e-15)
    for shape in (capsule, plane):
        assert shape.collision and not shape.visual
        np.testing.assert_array_equal(shape.at, np.eye(4))


def test_colours_come_from_the_material_or_the_one_of_its_name(load):
    def painted(material):
        return geometry('<sphere radius="1"/>', more=material)

    red, blue = '<color rgba="1 0 0 1"/>', '<color rgba="0 0 1 0.5"/>'
    scene = load(
        link("a", painted('<material name="late"/>') + painted(f'<material name="own">{blue}</material>')),
        link("b", painted('<material name="own"/>') + painted('<material name="unknown"/>') + painted("")),
        joint("ab", "a", "b", "fixed"),
        f'<material name="late">{red}</material>',
    )
    colors = [[s.color for s in body.shapes] for body in scene.bodies]
    assert colors == [[(1, 0, 0, 1), (0, 0, 1, 0.5)], [(0, 0, 1, 0.5), None, None]]


def test_invisible_markers_are_left_out(load):
    """laikago_toes.urdf draws its toes with radius 0."""
    text = MASS + "".join(geometry(f"<{g}/>") for g in ('sphere radius="0"', 'box size="0 0 0"'))
    assert load(link("a", text))["a"].shapes == []
    with pytest.raises(SceneFileError, match="link 'a': Sphere: radius must be positive"):
        load(link("a", MASS + geometry('<sphere radius="0"/>', "collision")))


@pytest.mark.parametrize(
    ("filename", "place", "options"),
    [
        ("meshes/a.stl", "meshes/a.stl", {}),
        ("meshes\\a.stl", "meshes/a.stl", {}),
        ("package://arm/meshes/a.stl", "../arm/meshes/a.stl", {}),
        ("package://arm/meshes/a.stl", "../meshes/a.stl", {}),
        ("package://meshes/a.stl", "meshes/a.stl", {}),
        ("model://arm/a.stl", "elsewhere/arm/a.stl", {"package_paths": ["elsewhere"]}),
        ("package://arm/a.stl", "elsewhere/arm/a.stl", {"package_paths": "elsewhere"}),
        ("{absolute}/a.stl", "a.stl", {}),
        ("file://{absolute}/a%20b.stl", "a b.stl", {}),
    ],
)
def test_meshes_are_found(tmp_path, monkeypatch, filename, place, options):
    folder = tmp_path / "root" / "urdf"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    target = folder / place
    target.parent.mkdir(parents=True, exist_ok=True)
    trimesh.creation.box((1, 1, 1)).export(target)
    mesh = f'<mesh filename="{filename.format(absolute=folder.as_posix())}" scale="1 2 3"/>'
    (folder / "robot.urdf").write_text(f'<robot name="r">{link("a", MASS + geometry(mesh))}</robot>')
    (shape,) = Scene.from_urdf(Path("robot.urdf"), fixed_base=True, **options)["a"].shapes
    assert shape.source.resolve() == target.resolve() and shape.scale == (1, 2, 3)


def test_missing_mesh_is_named_or_skipped(load):
    elements = link("a", MASS + geometry('<mesh filename="package://p/a.stl"/>') + geometry('<sphere radius="1"/>'))
    with pytest.raises(SceneFileError, match=r"robot\.urdf: link 'a': mesh 'package://p/a.stl' is not found"):
        load(elements)
    (sphere,) = load(elements, skip_missing_meshes=True)["a"].shapes
    assert isinstance(sphere, shapes.Sphere)


# files that are wrong


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ((), "has no <link>"),
        ((link("a"), link("a")), "two links are named 'a'"),
        ((link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("j", "a", "c")), "two joints are named 'j'"),
        ((link("a"), link("b")), "several links have no parent: a, b"),
        ((link("a"), joint("j", "a", "b")), "joint 'j': its child link 'b' is not in the file"),
        ((link("a"), joint("j", "b", "a")), "joint 'j': its parent link 'b' is not in the file"),
        (
            (link("a"), link("b"), joint("j", "a", "b"), joint("k", "a", "b")),
            "joint 'k': link 'b' is the child of joint 'j' too",
        ),
        ((link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), "the links a, b hang on each other"),
        (
            (link("r"), link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")),
            "the links a, b hang on each other in a loop",
        ),
        ((link("a"), joint("j", "a", "a")), "the links a hang on each other"),
        ((link("a"), link("world"), joint("j", "a", "world")), "joint 'j': its child link is named 'world'"),
        (("<link/>",), "<link> number 1 has no name"),
        ((link("a"), '<joint type="fixed"/>'), "<joint> number 1 has no name"),
        (arm("", "hinged"), "joint 'hinge': unknown type 'hinged'; use one of fixed, revolute"),
        (
            (link("a"), '<joint name="j" type="fixed"><child link="a"/></joint>'),
            "joint 'j': its <joint> has no <parent>",
        ),
        (arm('<axis xyz="0 0 0"/>'), "joint 'hinge': axis .* must be"),
        (arm('<axis xyz="1 0"/>'), "joint 'hinge': <axis xyz='1 0'> must hold 3 finite numbers"),
        (arm('<origin xyz="1 0 nan"/>'), "joint 'hinge': <origin xyz='1 0 nan'> must hold 3 finite numbers"),
        (arm('<limit lower="nan" upper="1"/>'), "joint 'hinge': <limit lower='nan'> must hold 1 finite number"),
        (arm('<dynamics damping="-1"/>'), "joint 'hinge': damping of coordinate 'angle' is -1.0"),
        (arm('<dynamics friction="-1"/>'), "joint 'hinge': friction of coordinate 'angle' is -1.0"),
        (arm('<dynamics friction="dry"/>'), "joint 'hinge': <dynamics friction='dry'> must hold 1 finite number"),
        (arm('<dynamics damping="inf"/>'), "joint 'hinge': <dynamics damping='inf'> must hold"),
        (arm('<mimic multiplier="1"/>'), "joint 'hinge': <mimic> has no joint="),
        ((link("a", MASS.replace('value="1"', 'value="-1"')),), "link 'a': its mass -1.0 is negative"),
        ((link("a", MASS.replace('value="1"', 'value="1e999"')),), "link 'a': <mass value='1e999'> must hold"),
        ((link("a", MASS.replace('ixx="1"', 'ixx="one"')),), "link 'a': <inertia ixx='one'> must hold 1 finite number"),
        ((link("a", MASS.replace('ixx="1"', "")),), "link 'a': <inertia> has no ixx="),
        ((link("a", "<inertial/>"),), "link 'a': its <inertial> has no <mass>"),
        ((link("a", '<inertial><mass value="1"/></inertial>'),), "link 'a': its <inertial> has no <inertia>"),
        ((link("a", "<visual/>"),), "link 'a': its <visual> has no <geometry>"),
        ((link("a", geometry("")),), "link 'a': its <geometry> holds nothing; it needs one of box"),
        ((link("a", geometry("<cone/>")),), "link 'a': its <geometry> holds <cone>"),
        ((link("a", geometry("<mesh/>")),), "link 'a': <mesh> has no filename="),
        ((link("a", geometry('<mesh filename="capsule:1"/>')),), "link 'a': mesh 'capsule:1' is not found"),
        (
            (link("a", geometry('<mesh filename="http://x.y/a.stl"/>')),),
            "link 'a': mesh 'http://x.y/a.stl' is not a file",
        ),
        ((link("a", geometry('<box size="1 1 -1"/>')),), "link 'a': Box: size must be positive"),
        (
            (link("a", geometry("<plane/>", more='<material name="m"><color rgba="9 9 9 1"/></material>')),),
            "link 'a': Plane: color is red",
        ),
        (("<material><color/></material>", link("a")), "material '': <color> has no rgba="),
        (arm('<origin xyz="${x} 0 0"/>'), "joint 'hinge': <origin> holds xacro expressions"),
        ((link("a"), '<m:macro xmlns:m="http://www.ros.org/wiki/xacro"/>'), "holds xacro macros; expand them first"),
    ],
)
def test_errors_name_the_file_and_the_element(load, elements, message):
    with pytest.raises(SceneFileError, match=rf"robot\.urdf: {message}"):
        load(*elements)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot name='r'><link name='a'>", "is not well-formed XML"),
        ("", "is not well-formed XML"),
        ("<mujoco/>", "its root element is <mujoco>, not the <robot>"),
        ('<!DOCTYPE r [<!ENTITY e "a">]><robot><link name="&e;"/></robot>', "declares a document type"),
        ('<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><robot>&e;</robot>', "declares a document type"),
    ],
)
def test_files_that_are_not_urdf(write, text, message):
    with pytest.raises(SceneFileError, match=rf"robot\.urdf: {message}"):
        Scene.from_urdf(write(text=text))


def test_elements_that_are_not_modelled_may_be_deep(load):
    scene = load(link("a", geometry("<plane/>", more="<x>" * 9999 + "</x>" * 9999)))
    assert [type(shape) for shape in scene["a"].shapes] == [shapes.Plane]


def test_missing_file_is_named(tmp_path):
    for path in (tmp_path / "none.urdf", tmp_path):
        with pytest.raises(SceneFileError, match=f"{path.name}: cannot be read .*check the path"):
            Scene.from_urdf(path)


def test_sloppy_text_is_read(tmp_path):
    """PyBullet's files begin with blank lines, end with zero bytes and hold Latin letters and unknown elements."""
    path = tmp_path / "robot.urdf"
    text = f'\r\n<?xml version="1.0"?><robot><!-- caf\xe9 --><sensor name="s" type="ray"/>{link("a")}</robot>\n\0'
    path.write_bytes(text.encode("latin-1"))
    assert [body.name for body in Scene.from_urdf(str(path)).bodies] == ["a"]


def test_a_robot_is_read_without_meshes_and_what_reads_them(write):
    code = f"""
import sys
from scene import Scene
assert len(Scene.from_urdf({str(write(*ARM))!r}).bodies) == 2
assert not {{"lxml", "trimesh", "scipy"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scene_from_urdf_mixes_with_hand_made_bodies(load):
    scene = load(*ARM)
    scene["arm"].attach(Body("tool", [shapes.Sphere(0.1)]), joints.prismatic("x"), at=rd.pose((0, 0, 1)))
    assert scene.compile().coordinates == ("arm.angle", "tool.distance")
