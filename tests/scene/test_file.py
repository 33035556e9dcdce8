"""Scene files: nothing is lost, what is read back is the same machine, and no file does anything but fail or load."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import trees
import trimesh
from joint_cases import KINDS

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

NAMES = ("R", "S", "width")
SYMBOLS = sp.symbols(NAMES, real=True)


def anything(name: str) -> None:
    """Every name is known."""


def round_trip(scene: Scene, folder: Path) -> Scene:
    path = folder / "scene.json"
    scene.save(path)
    loaded = Scene.load(path)
    loaded.save(folder / "again.json")
    assert (folder / "again.json").read_bytes() == path.read_bytes()
    return loaded


def assert_same_model(a: Scene, b: Scene) -> None:
    first, second = a.model(), b.model()
    assert second.key == first.key
    assert [x.name for x in second.bodies] == [x.name for x in first.bodies]
    assert second.coordinate_names == first.coordinate_names
    assert second.coordinates == first.coordinates
    assert second.parameters == first.parameters
    assert [body.joint.coupling for body in b.bodies] == [body.joint.coupling for body in a.bodies]


def assert_same_motion(a: Scene, b: Scene) -> None:
    first, second = a.compile(), b.compile()
    rng = np.random.default_rng(1)
    q, v = first.random(rng), rng.normal(size=first.nv)
    assert np.array_equal(first.forward_dynamics(q, v), second.forward_dynamics(q, v))
    assert np.array_equal(first.poses(q), second.poses(q))


def parametric() -> Scene:
    """Parameters in a joint, a placement, a mass, a centre of mass and an inertia."""
    scene = Scene(gravity=(0.1, -9.7, 0.3))
    R, S, width = (scene.parameter(n, x) for n, x in zip(NAMES, (0.7, 1.3, 0.2), strict=True))
    s = sp.Symbol("s", real=True)
    curve = joints.curve([R * sp.cos(s), R * sp.sin(s), S * s / 5], s, limits=(-1.0, np.inf), damping=0.1)
    inertia = np.diag([S * R**2 / 3, sp.sqrt(2) * S * (R**2 + width**2) / 12, sp.Rational(2, 5) * S * R / (1 + R)])
    bead = Body("bead", mass=S * sp.pi / 4, center_of_mass=(R - 0.1, 0, -2 * R * width), inertia=inertia)
    scene.world.attach(bead, curve, at=rd.pose((R, 0, width), (0, width, sp.pi / 3)))
    bead.attach(Body("bob", mass=1.0), joints.prismatic("z", stiffness=3.0, rest=-0.0), at=rd.pose((0, 0, S**2)))
    return scene


def decorated(folder: Path) -> Scene:
    """Every shape with poses, colours and flags, on bodies and as scenery; a mesh file and an embedded mesh."""
    trimesh.creation.icosahedron().export(folder / "meshes" / "stone.stl")
    at = rd.pose((0.1, -0.2, 0.3), (0.4, 0.5, -0.6))
    scene = Scene()
    scene.world.shapes += [shapes.Plane((1, 2, 3)), shapes.Box((4, 4, 0.1), at=at, color=(0.1, 0.2, 0.3, 0.4))]
    solids = [
        shapes.Box((1, 2, 3), at=at, collision=False),
        shapes.Sphere(0.1, visual=False, color=(1, 0, 0, 1)),
        shapes.Cylinder(0.1, 0.7, at=rd.pose(rpy=(0, np.pi / 2, 0))),
        shapes.Capsule(0.1, 1 / 3),
        shapes.Ellipsoid((0.1, 0.2, 0.3)),
        shapes.Torus(0.5, 0.1),
        shapes.Mesh(folder / "meshes" / "stone.stl", 0.1, at=at),
        shapes.Mesh(trimesh.creation.icosphere(subdivisions=1), (0.1, 0.2, 0.3), at=at),
    ]
    first = scene.world.attach(Body("größe 'x' \"y\"", solids), joints.free())
    first.attach(Body("frame"), joints.fixed(at))
    scene.joint_names["wrist"] = "frame"
    return scene


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "meshes").mkdir()
    return tmp_path


# Round trips


@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_comes_back_as_the_same_program(kind, tmp_path):
    scene = trees.single(kind).scene
    loaded = round_trip(scene, tmp_path)
    assert_same_model(scene, loaded)
    for a, b in zip(scene.bodies, loaded.bodies, strict=True):
        assert b.joint.program.key == a.joint.program.key
        assert b.joint.coordinates == a.joint.coordinates


@pytest.mark.parametrize(
    ("seed", "bodies"), [(1, 1), (2, 3), (3, 8), (4, 20), pytest.param(5, 40, marks=pytest.mark.slow)]
)
def test_random_trees_come_back_as_the_same_model(seed, bodies, tmp_path):
    scene = trees.random_scene(seed, bodies, couplings=True).scene
    assert_same_model(scene, round_trip(scene, tmp_path))


def test_a_scene_read_back_moves_the_same_to_the_last_bit(tmp_path):
    scene = trees.random_scene(11, 4, couplings=True).scene
    assert_same_motion(scene, round_trip(scene, tmp_path))


def test_parameters_stay_inputs(tmp_path):
    scene = parametric()
    loaded = round_trip(scene, tmp_path)
    assert_same_model(scene, loaded)
    first, second = scene.compile(), loaded.compile()
    q, v = np.array([0.3, -0.2]), np.array([1.0, 2.0])
    before = first.forward_dynamics(q, v)
    for dynamics in (first, second):
        dynamics.parameters["R"], dynamics.parameters["S"] = 0.9, 0.4
    assert np.array_equal(first.forward_dynamics(q, v), second.forward_dynamics(q, v))
    assert not np.allclose(first.forward_dynamics(q, v), before)
    assert str(loaded["bob"].placement[2, 3]) == "S**2"


def test_shapes_keep_every_bit(folder):
    scene = decorated(folder)
    loaded = round_trip(scene, folder)
    assert_same_model(scene, loaded)
    assert loaded.joint_names == scene.joint_names
    for a, b in zip([scene.world, *scene.bodies], [loaded.world, *loaded.bodies], strict=True):
        assert len(a.shapes) == len(b.shapes)
        for x, y in zip(a.shapes, b.shapes, strict=True):
            assert type(x) is type(y)
            assert x.at.tobytes() == y.at.tobytes() and not y.at.flags.writeable
            assert (x.color, x.collision, x.visual, x.volume) == (y.color, y.collision, y.visual, y.volume)
            if isinstance(x, shapes.Mesh):
                assert np.array_equal(x.geometry.vertices, y.geometry.vertices)
                assert np.array_equal(x.geometry.faces, y.geometry.faces)
    for a, b in zip(scene.bodies, loaded.bodies, strict=True):
        assert (a.mass, a.inertia.tobytes()) == (b.mass, b.inertia.tobytes())


def test_a_scene_moves_house_together_with_its_meshes(folder, tmp_path_factory):
    decorated(folder).save(folder / "scene.json")
    assert str(folder) not in (folder / "scene.json").read_text()
    house = tmp_path_factory.mktemp("new") / "house"
    os.rename(folder, house)
    source = Scene.load(house / "scene.json").bodies[0].shapes[6].source
    assert source == house / "meshes" / "stone.stl"


def test_a_branch_built_before_it_was_attached_keeps_its_order(tmp_path):
    scene = Scene()
    a, b, c = (Body(name, [shapes.Sphere(0.1)]) for name in "abc")
    b.attach(c, joints.revolute("x"))
    scene.world.attach(b, joints.revolute("y"))
    scene.world.attach(a, joints.revolute("z"))
    assert [x.name for x in round_trip(scene, tmp_path).bodies] == [x.name for x in scene.bodies] == ["b", "c", "a"]


def test_a_robot_keeps_its_joint_names_and_couplings(tmp_path):
    links = "".join(
        f'<link name="{n}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
        for n in "abc"
    )
    joint = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><axis xyz="0 1 2"/>{3}</joint>'
    follower = '<mimic joint="left" multiplier="-0.5" offset="0.1"/>'
    pair = joint.format("left", "a", "b", '<dynamics damping="0.3"/>') + joint.format("right", "a", "c", follower)
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{links}{pair}</robot>')
    scene = Scene.from_urdf(tmp_path / "robot.urdf")
    loaded = round_trip(scene, tmp_path)
    assert_same_model(scene, loaded)
    assert loaded.joint_names == {"left": "b", "right": "c"}
    assert loaded["c"].joint.coupling.multiplier == -0.5


def test_an_empty_scene_is_a_scene(tmp_path):
    assert round_trip(Scene(gravity=(0, 0, -0.0)), tmp_path).bodies == []


def test_files_stay_short_where_joints_are_large(tmp_path):
    """Torus on torus: a few thousand operations when nested, about fifty lines when shared."""
    scene = trees.single("torus_on_torus").scene
    scene.save(tmp_path / "scene.json")
    lines = (tmp_path / "scene.json").read_text().splitlines()
    assert len(lines) < 250
    assert max(map(len, lines)) < 250


def test_loading_standard_joints_needs_no_sympy(tmp_path):
    scene = trees.random_scene(3, 6, kinds=["revolute", "ball", "free", "universal", "torus_on_torus", "helix"]).scene
    scene.save(tmp_path / "scene.json")
    program = f"""
import sys
from scene import Scene
scene = Scene.load({str(tmp_path / "scene.json")!r})
scene.save({str(tmp_path / "again.json")!r})
assert len(scene.bodies) == 6
print(sorted({{"sympy", "trimesh"}} & set(sys.modules)))
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


# Scenes that cannot be saved


class Cone(shapes.Sphere):
    pass


def coloured() -> trimesh.Trimesh:
    mesh = trimesh.creation.box(extents=(1, 1, 1))
    mesh.visual.face_colors = [255, 0, 0, 255]
    return mesh


def surrogate(scene):
    scene.world.attach(Body("a\ud800", mass=1.0), joints.revolute("x"))


def undeclared(scene):
    scene["arm"].attach(Body("b", mass=sp.Symbol("m")), joints.revolute("x"))


def undeclared_in_joint(scene):
    q, r = sp.symbols("q r", real=True)
    scene["arm"].attach(Body("b", mass=1.0), joints.curve([q, q**2, r * q], q))


def test_files_stay_short_where_masses_are_large(tmp_path):
    """Four thousand sines when nested, one a line when shared."""
    scene = Scene()
    e = scene.parameter("R", 1.0)
    for _ in range(11):
        e = sp.sin(e) + sp.cos(e)
    scene.world.attach(Body("b", mass=4 + e + sp.sign(e)), joints.revolute("x"))
    assert_same_model(scene, round_trip(scene, tmp_path))
    assert (tmp_path / "scene.json").stat().st_size < 2500


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s: s["arm"].shapes.append(Cone(1.0)), "body 'arm': a shape of kind Cone"),
        (lambda s: s["arm"].shapes.append(shapes.Mesh(coloured())), "body 'arm': an embedded mesh keeps its triangles"),
        (lambda s: s.gravity.__setitem__(1, np.nan), "gravity has an entry that is NaN"),
        (lambda s: s.parameters.update(R=np.inf), "parameter 'R' must be a finite number"),
        (surrogate, "cannot be written; rename it"),
        (undeclared, "body 'b': mass: .*unknown parameter 'm'"),
        (undeclared_in_joint, "joint of 'b': .*unknown parameter or coordinate 'r'"),
    ],
)
def test_what_cannot_be_saved_leaves_the_old_file(spoil, message, tmp_path):
    scene = Scene()
    scene.world.attach(Body("arm", [shapes.Sphere(0.1)]), joints.revolute("y"))
    path = tmp_path / "scene.json"
    scene.save(path)
    before = path.read_bytes()
    spoil(scene)
    with pytest.raises(rd.SceneFileError, match=rf"scene\.json: .*{message}"):
        scene.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["scene.json"]
