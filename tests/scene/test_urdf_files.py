"""What a URDF file shows, what it refers to, and what is wrong with it, by name."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh
from urdf_elements import ARM, MASS, arm, geometry, joint, link

import recursive_dyn as rd
from recursive_dyn.errors import SceneFileError
from scene import Body, Scene, joints, shapes

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
