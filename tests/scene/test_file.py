"""Scene files: nothing is lost, what is read back is the same machine, and no file does anything but fail or load."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import trees
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_cases import KINDS

import recursive_dyn as rd
from recursive_dyn import joint as core
from recursive_dyn.expression import Expression, Graph, combine
from recursive_dyn.program import ARGUMENTS, content_hash
from recursive_dyn.symbolic import from_sympy
from scene import Body, Scene, joint_text, joints, parameter_text, shapes

NAMES = ("R", "S", "width")
SYMBOLS = sp.symbols(NAMES, real=True)


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


@pytest.mark.parametrize(("seed", "bodies"), [(1, 1), (2, 3), (3, 8), (4, 20), (5, 40)])
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
print(sorted({{"sympy", "trimesh", "yourdfpy"}} & set(sys.modules)))
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


# The two texts, on random expressions


def sympy_expressions():
    numbers = st.integers(-3, 3) | st.floats(-2, 2, allow_nan=False) | st.sampled_from([sp.pi, sp.sqrt(2)])
    leaves = st.sampled_from(SYMBOLS) | numbers.map(sp.sympify) | st.sampled_from(SYMBOLS)
    exponents = st.sampled_from([2, 3, -1, -2, sp.Rational(1, 2), sp.Rational(-3, 2), sp.Rational(1, 3), 2.0, 0.7])
    functions = st.sampled_from([sp.sin, sp.cos, sp.tan, sp.exp, sp.Abs, sp.atan, sp.tanh, sp.sqrt, sp.log])

    def larger(part):
        return (
            st.builds(lambda a, b: a + b, part, part)
            | st.builds(lambda a, b: a - b, part, part)
            | st.builds(lambda a, b: a * b, part, part)
            | st.builds(lambda a, b: a / b if b != 0 else a, part, part)
            | st.builds(lambda a, n: a**n if a != 0 else a, part, exponents)
            | st.builds(lambda f, a: f(a) if a != 0 else a, functions, part)
        )

    return st.recursive(leaves, larger, max_leaves=12)


def lowered(e) -> str:
    graph = Graph()
    return content_hash("", [from_sympy(e, lambda s: graph.input(("parameter", s.name)), "e")])


@given(sympy_expressions())
@settings(max_examples=150)
def test_an_expression_of_parameters_lowers_to_the_same_graph(e):
    try:
        expected = lowered(e)
    except (rd.ModelError, OverflowError, TypeError):
        return  # complex, or not finite: no scene could use it
    text = parameter_text.write(e)
    again = parameter_text.read(text, frozenset(NAMES), lambda: sp) if isinstance(text, str) else text
    assert lowered(again) == expected
    assert parameter_text.write(again) == text


@given(st.data())
@settings(max_examples=150)
def test_any_graph_is_made_again_node_by_node(data):
    graph = Graph()
    pool = [graph.input(("q", 0))]
    unused = [("q", 1), ("q", 2), ("parameter", "R"), ("parameter", "S")]
    for op in data.draw(st.lists(st.sampled_from(["input", *ARGUMENTS]), max_size=25)):
        if op == "input" and unused:
            pool.append(graph.input(unused.pop(data.draw(st.integers(0, len(unused) - 1)))))
        elif op != "input":
            scalars = st.sampled_from(pool) | st.sampled_from([1.0, -2.5, 0.1, -0.0, 1e-300])
            try:
                made = combine(op, [data.draw(scalars) for _ in range(ARGUMENTS[op])])
            except (rd.ModelError, OverflowError):
                continue
            pool += [made] if type(made) is Expression else []
    outputs = [data.draw(st.sampled_from([*pool, 0.0, -0.0, 1 / 3])) for _ in range(16)]
    program = core.build(graph, [(core.PLAIN, np.array(outputs, dtype=object).reshape(4, 4), 3)])
    lines, (transform,) = joint_text.write(program)
    again = joint_text.read(lines, [(core.PLAIN, 3, list(transform.flat))], frozenset(NAMES))
    assert again.key == program.key
    assert joint_text.write(again)[0] == lines


# Files that are wrong


def document() -> dict:
    """A file of two bodies with parameters, written by hand as a person would."""
    hinge = [["t0", "-sin(q0)", 0, 0], ["sin(q0)", "t0", 0, "0.1*'R'"], [0, 0, 1, 0], [0, 0, 0, 1]]
    arm = {
        "name": "arm",
        "parent": "world",
        "placement": [[1, 0, 0, "'R'"], [0, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]],
        "mass": "2*'R'",
        "center_of_mass": [0, 0, -0.25],
        "inertia": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.02]],
        "shapes": [{"kind": "Box", "size": [0.1, 0.1, 0.5]}, {"kind": "Mesh", "vertices": [[0, 0, 0], [1, 0, 0],
                   [0, 1, 0]], "faces": [[0, 1, 2]], "scale": [1, 1, 1]}],
        "joint": {
            "lines": ["t0 = cos(q0)"],
            "factors": [{"kind": "plain", "coordinates": 1, "transform": hinge}],
            "coordinates": [{"name": "angle", "limits": [-1, None], "damping": 0.1}],
        },
    }  # fmt: skip
    hand = copy.deepcopy(arm) | {"name": "hand", "parent": "arm", "mass": 1}
    hand["joint"]["coupling"] = {"leader": "arm", "multiplier": 2, "offset": 0}
    world = {"gravity": [0, 0, -9.81], "parameters": {"R": 1.5}, "scenery": [{"kind": "Plane", "normal": [0, 0, 1]}]}
    return {"format": "recursive-dyn scene", "version": 1, **world, "bodies": [arm, hand]}


def load(content, folder: Path) -> Scene:
    path = folder / "scene.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return Scene.load(path)


def changed(place: str, value) -> dict:
    """The document with what stands at "bodies.0.mass" replaced; None takes a field away."""
    result = document()
    *path, last = [int(p) if p.isdigit() else p for p in place.split(".")]
    target = result
    for step in path:
        target = target[step]
    if value is None:
        del target[last]
    else:
        target[last] = value
    return result


def test_a_file_written_by_hand_loads(tmp_path):
    scene = load(document(), tmp_path)
    assert scene.parameters == {"R": 1.5}
    assert scene["arm"].joint.coordinates[0].limits == (-1.0, np.inf)
    assert scene.compile().nv == 1
    assert_same_model(scene, round_trip(scene, tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch pwned')",
        "__import__('os')",
        "q0.__class__",
        "'R'.__class__",
        "q0[0]",
        "[q0 for q0 in (1, 2)]",
        "(lambda: 1)()",
        "sin(*q0)",
        "sin(x=q0)",
        "sin(q0, q0)",
        "sin()",
        "(sin)(q0).real",
        "eval('1')",
        "getattr(q0, 'op')",
        "f'{q0}'",
        "b'R'",
        "q0 ** 2",
        "9**9**9**9",
        "pow(9.0, 9e9)",
        "exp(exp(exp(9.0)))",
        "1.0/0.0",
        "0/0",
        "log(-1.0)",
        "1e999",
        "1e300*1e300",
        "9" * 5000,
        "9" * 400,
        "1j",
        "True",
        "None",
        "...",
        "q0 if q0 else q0",
        "q0 and q0",
        "not q0",
        "+q0",
        "~q0",
        "q0 < 1",
        "q0 // 2",
        "q0 % 2",
        "q0 @ q0",
        "(q0 := 1)",
        "q0; q0",
        "q0\nimport os",
        "q0, q0",
        "yield q0",
        "await q0",
        "*q0",
        "",
        "  ",
        "q0 +",
        "q",
        "q-1",
        "q1",
        "q99999999999",
        "R",
        "t1",
        "sin",
        "'nobody'",
        "'R",
        "q0\0",
        "\ud800",
        "(" * 150 + "q0" + ")" * 150,
        "sin(" * 150 + "q0" + ")" * 150,
        "-" * 5000 + "q0",
        "q0" + "+q0" * 5000,
        "q0" + "+(q0" * 120 + ")" * 120,
        "q0" + "".join(f"*{i}" for i in range(9999)),
    ],
)
@pytest.mark.parametrize("place", ["bodies.0.joint.lines.0", "bodies.0.joint.factors.0.transform.0.3", "bodies.0.mass"])
def test_only_arithmetic_is_read(place, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = place.endswith("lines.0")
    with pytest.raises(rd.SceneFileError, match=r"scene\.json: (body|joint of) 'arm': ") as caught:
        load(changed(place, f"t0 = {text}" if line else text), tmp_path)
    assert len(str(caught.value)) < 700
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", "urdf", r"no scene file"),
        ("version", 2, r"version is 2 and this program reads 1"),
        ("version", True, r"version is True"),
        ("version", None, r"version is None"),
        ("gravity", None, r"no field 'gravity'"),
        ("gravity", [0, 0], r"gravity must be 3 entries"),
        ("gravity", [0, 0, "down"], r"gravity must be a finite number"),
        ("gravity", [0, 0, True], r"gravity must be a finite number"),
        ("wind", 3, r"unknown field 'wind'"),
        ("parameters", ["R"], r"parameters must be an object"),
        ("parameters", {"R": "1"}, r"parameter 'R' must be a finite number"),
        ("parameters", {"R": 10**400}, r"parameter 'R' must be a finite number"),
        ("parameters", {"": 1}, r"parameter name '' is not an identifier"),
        ("parameters", {"lambda": 1}, r"parameter name 'lambda' is not an identifier"),
        ("parameters", {}, r"body 'arm': placement: .*unknown parameter 'R'"),
        ("joint_names", {"a": 1}, r"joint_names 'a' must be a text"),
        ("scenery", {}, r"scenery must be a list"),
        ("scenery.0.kind", "Cone", r"the world: unknown kind of shape 'Cone'"),
        ("scenery.0.normal", [0, 0, 0], r"normal must not be zero"),
        ("bodies", {}, r"bodies must be a list"),
        ("bodies.0", [], r"body 1: it must be an object"),
        ("bodies.0.name", None, r"body 1: name must be a text"),
        ("bodies.1.name", "arm", r"body 'arm': two bodies are named 'arm'"),
        ("bodies.1.name", "world", r"body 'world': two bodies are named 'world'"),
        ("bodies.0.parent", "hand", r"body 'arm': unknown parent 'hand'"),
        ("bodies.0.parent", None, r"body 'arm': it has no field 'parent'"),
        ("bodies.0.color", [1, 0, 0, 1], r"body 'arm': it has the unknown field 'color'"),
        ("bodies.0.mass", -1, r"body 'arm': mass must not be negative"),
        ("bodies.0.mass", [1], r"body 'arm': mass must be a finite number"),
        ("bodies.0.mass", "'R'/0", r"body 'arm': mass: .*not finite"),
        ("bodies.0.mass", "select('R', 1, 2)", r"body 'arm': mass: .*'select' is not allowed"),
        ("bodies.0.center_of_mass", [0, 0], r"center_of_mass must be 3 entries"),
        ("bodies.0.inertia", [[1, 0, 0], [0, 1, 0]], r"inertia must be 3 x 3 entries"),
        ("bodies.0.inertia.0.1", 0.1, r"body 'arm': inertia must be symmetric"),
        ("bodies.0.placement.0.0", 2, r"body 'arm'"),
        ("bodies.1.placement", [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]], r"'hand': .*orthonormal"),
        ("bodies.0.shapes.0", 3, r"a shape must be an object"),
        ("bodies.0.shapes.0.size", [1, 2], r"size of Box must be 3 entries"),
        ("bodies.0.shapes.0.size", [1, 2, -3], r"Box: size must be positive"),
        ("bodies.0.shapes.0.radius", 1, r"Box has the unknown field 'radius'"),
        ("bodies.0.shapes.0.at", [[1, 0], [0, 1]], r"at of Box must be 4 x 4 entries"),
        ("bodies.0.shapes.0.color", [1, 0, 0, 2], r"color is red, green, blue"),
        ("bodies.0.shapes.0.visual", 1, r"visual of Box must be true or false"),
        ("bodies.0.shapes.1.file", "a.stl", r"either its file or its vertices"),
        ("bodies.0.shapes.1.faces", None, r"either its file or its vertices"),
        ("bodies.0.shapes.1.faces", [[0, 1, 3]], r"three of its 3 vertices"),
        ("bodies.0.shapes.1.faces", [[0, 1, -1]], r"three of its 3 vertices"),
        ("bodies.0.shapes.1.faces", [[0, 1], [0, 1, 2]], r"lists of three numbers"),
        ("bodies.0.shapes.1.vertices", [["0", "0", "0"]], r"vertices must be n x 3 numbers"),
        ("bodies.0.shapes.1", {"kind": "Mesh", "scale": [1, 1, 1], "file": "gone.stl"}, r"gone\.stl.*no such file"),
        ("bodies.0.joint", None, r"body 'arm': it has no field 'joint'"),
        ("bodies.0.joint", {}, r"joint of 'arm': it has no field 'factors'"),
        ("bodies.0.joint.lines", "t0 = 1", r"lines must be a list"),
        ("bodies.0.joint.lines", [3], r"a line must be a text"),
        ("bodies.0.joint.lines", ["t0 = 1", "t0 = 2"], r"line 2: 't0' is assigned already"),
        ("bodies.0.joint.lines", ["t0 = cos(t0)"], r"line 1: .*unknown name 't0'"),
        ("bodies.0.joint.lines", ["sin(q0)"], r"line 1: 'sin\(q0\)' is no input"),
        ("bodies.0.joint.lines", ["x = q0"], r"line 1: "),
        ("bodies.0.joint.factors", [], r"move in 0 coordinates, and 1 are described"),
        ("bodies.0.joint.factors.0.kind", "rubber", r"factor 1 has the unknown kind 'rubber'"),
        ("bodies.0.joint.factors.0.kind", ["plain"], r"factor 1 has the unknown kind"),
        ("bodies.0.joint.factors.0.kind", "constant", r"number of coordinates is left out"),
        ("bodies.0.joint.factors.0.coordinates", 7, r"number of coordinates is from 1 to 6"),
        ("bodies.0.joint.factors.0.coordinates", 1.0, r"number of coordinates is from 1 to 6"),
        ("bodies.0.joint.factors.0.coordinates", 2, r"move in 2 coordinates, and 1 are described"),
        ("bodies.0.joint.factors.0.transform.3", [0, 0, 0], r"transform of factor 1 must be 4 x 4 entries"),
        ("bodies.0.joint.coordinates.0.name", "", r"name of a coordinate must be a text"),
        ("bodies.0.joint.coordinates.0.limits", [1, -1], r"low must be less than high"),
        ("bodies.0.joint.coordinates.0.limits", 1, r"limits of coordinate 'angle' must be 2 entries"),
        ("bodies.0.joint.coordinates.0.damping", -1, r"not negative"),
        ("bodies.0.joint.coordinates.0.friction", 1, r"unknown field 'friction'"),
        ("bodies.1.joint.coupling.leader", "nobody", r"joint of 'hand': it follows 'nobody'"),
        ("bodies.1.joint.coupling.leader", "hand", r"joint of 'hand': it follows 'hand'"),
        ("bodies.1.joint.coupling.multiplier", 0, r"multiplier other than 0"),
        ("bodies.1.joint.coupling.offset", None, r"no field 'offset'"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(place, value, message, tmp_path):
    with pytest.raises(rd.SceneFileError, match=rf"(?s)^.*scene\.json: .*{message}"):
        load(changed(place, value), tmp_path)


def test_a_ball_is_a_ball(tmp_path):
    """A manifold's velocity is what its transform makes it: another transform would move wrongly without a word."""
    scene = Scene()
    scene.world.attach(Body("arm", [shapes.Sphere(0.1)]), joints.prismatic("x") @ joints.ball())
    scene.save(tmp_path / "scene.json")
    content = json.loads((tmp_path / "scene.json").read_text())
    ball = content["bodies"][0]["joint"]["factors"][1]
    ball["transform"][0], ball["transform"][1] = ball["transform"][1], ball["transform"][0]
    with pytest.raises(rd.SceneFileError, match="joint of 'arm': factor 2: its transform is not that of a ball"):
        load(content, tmp_path)
    ball["transform"][0][3] = "q0"
    with pytest.raises(rd.SceneFileError, match="joint of 'arm': factor 2: it uses q0, and its own coordinates are q1"):
        load(content, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1, 2", "not JSON"),
        ("null", "no scene file"),
        ('{"a": NaN}', "number NaN"),
        ('{"a": -Infinity}', "number -Infinity"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ("[" * 100_000, "cannot be read|can be read|not JSON"),
        ("9" * 10_000, "can be read"),
        ("<robot/>", "not JSON"),
    ],
)
def test_what_is_no_scene_file_is_named(text, message, tmp_path):
    with pytest.raises(rd.SceneFileError, match=rf"scene\.json: .*({message})"):
        load(text, tmp_path)


@pytest.mark.parametrize("name", ["gone.json", ".", "a\0b", "no/folder/scene.json"])
def test_a_file_that_cannot_be_read_or_written_is_named(name, tmp_path):
    with pytest.raises(rd.SceneFileError, match="cannot be read"):
        Scene.load(tmp_path / name)
    if name != "gone.json":
        with pytest.raises(rd.SceneFileError, match="cannot be written"):
            Scene().save(tmp_path / name)
        assert not list(tmp_path.iterdir())


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "scene.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(rd.SceneFileError, match=r"scene\.json"):
        Scene.load(tmp_path / "scene.json")


def test_a_file_that_was_cut_off_is_refused_wherever_it_was_cut(tmp_path):
    parametric().save(tmp_path / "scene.json")
    text = (tmp_path / "scene.json").read_text()
    for end in range(0, len(text) - 2, 97):
        with pytest.raises(rd.SceneFileError, match="not JSON"):
            load(text[:end], tmp_path)


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


PLACES = [path for path in places(document()) if path]
WEIRD = [None, True, 0, -1, 7, 1e308, 10**400, 1e-320, "", "q0", "'R'", "t0", "x", [], [[]], {}, {"a": 1}, [0, 0, 0]]


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from([*WEIRD, "delete"])), min_size=1, max_size=2))
@settings(max_examples=400)
def test_a_damaged_file_loads_or_is_refused_by_name(tmp_path_factory, damages):
    content = document()
    for (*path, last), value in damages:
        target = content
        try:
            for step in path:
                target = target[step]
            if value == "delete":
                del target[last]
            else:
                target[last] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue  # the first damage took it away
    folder = tmp_path_factory.getbasetemp()
    try:
        scene = load(content, folder)
    except rd.SceneFileError:
        return
    scene.save(folder / "scene.json")


# Scenes that cannot be saved


class Cone(shapes.Sphere):
    pass


def coloured() -> trimesh.Trimesh:
    mesh = trimesh.creation.box(extents=(1, 1, 1))
    mesh.visual.face_colors = [255, 0, 0, 255]
    return mesh


def surrogate(scene):
    scene.world.attach(Body("a\ud800", mass=1.0), joints.revolute("x"))


def renamed(scene):
    scene.world.attach(Body("b", mass=1.0), joints.revolute("x")).name = "arm"


def undeclared(scene):
    scene["arm"].attach(Body("b", mass=sp.Symbol("m")), joints.revolute("x"))


def undeclared_in_joint(scene):
    q, r = sp.symbols("q r", real=True)
    scene["arm"].attach(Body("b", mass=1.0), joints.curve([q, q**2, r * q], q))


def exotic(scene):
    scene["arm"].attach(Body("b", mass=sp.sign(scene.parameter("R", 1.0)) + 2), joints.revolute("x"))


def enormous(scene):
    e = scene.parameter("R", 1.0)
    for _ in range(40):
        e = sp.sin(e) + sp.cos(e)
    scene["arm"].attach(Body("b", mass=e), joints.revolute("x"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s: s["arm"].shapes.append(Cone(1.0)), "body 'arm': a shape of kind Cone"),
        (lambda s: s["arm"].shapes.append(shapes.Mesh(coloured())), "body 'arm': an embedded mesh keeps its triangles"),
        (lambda s: s.gravity.__setitem__(1, np.nan), "gravity must be a finite number"),
        (lambda s: s.parameters.update(R=np.inf), "parameter 'R' must be a finite number"),
        (surrogate, "cannot be written; rename it"),
        (renamed, "two bodies are named 'arm'"),
        (undeclared, "body 'b': mass: .*unknown parameter 'm'"),
        (undeclared_in_joint, "joint of 'b': .*unknown parameter 'r'"),
        (exotic, "body 'b': the function sign"),
        (enormous, "body 'b': an expression of parameters is longer than"),
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
