"""Scene files that are wrong, damaged or hostile: each is refused by name, and none does anything else."""

import copy
import json
from pathlib import Path

import file_damage
import numpy as np
import pytest
from file_damage import DELETE, WEIRD, damage
from hypothesis import given, settings
from hypothesis import strategies as st

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes


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
    hand["joint"] = {"follow": {"joint": hand["joint"], "leader": "arm", "multiplier": 2, "offset": 0}}
    world = {"gravity": [0, 0, -9.81], "parameters": {"R": 1.5}, "scenery": [{"kind": "Plane", "normal": [0, 0, 1]}]}
    return {"format": "recursive-dyn scene", "version": 2, **world, "bodies": [arm, hand]}


def load(content, folder: Path) -> Scene:
    path = folder / "scene.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return Scene.load(path)


def changed(place: str, value) -> dict:
    """The document with what stands at "bodies.0.mass" replaced; None takes a field away."""
    return file_damage.changed(document(), place.split("."), value)


def test_a_file_written_by_hand_loads(tmp_path):
    scene = load(document(), tmp_path)
    assert scene.parameters == {"R": 1.5}
    assert scene["arm"].joint.coordinates[0].limits == (-1.0, np.inf)
    assert scene.compile().nv == 1
    scene.save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json").model().key == scene.model().key


FORBIDDEN = [
    *["__import__('os')", "__import__('os').system('touch pwned')", "eval('1')", "getattr(q0, 'op')"],
    *["q0.__class__", "'R'.__class__", "(sin)(q0).real", "q0[0]", "(lambda: 1)()", "[q0 for q0 in (1, 2)]"],
    *["sin(*q0)", "sin(x=q0)", "sin(q0, q0)", "sin()", "sin", "f'{q0}'", "b'R'", "1j", "True", "None", "..."],
    *["q0 ** 2", "q0 // 2", "q0 % 2", "q0 @ q0", "+q0", "~q0", "not q0", "q0 and q0", "q0 < 1", "q0 if q0 else q0"],
    *["(q0 := 1)", "q0; q0", "q0, q0", "yield q0", "await q0", "*q0", "q0 +", "q", "q-1"],
    *["table(q0, 1.0)", "table(q0, v0)", "table(q0)", "table(1.0, (1.0, 2.0))", "v0", "floor()"],
    *["q1", "R", "t1", "'R", "'nobody'"],
    *["9**9**9**9", "pow(9.0, 9e9)", "exp(exp(exp(9.0)))", "1.0/0.0", "0/0", "log(-1.0)", "1e999", "1e300*1e300"],
    *("", "  ", "q0\nimport os", "q0\0", "\ud800", "q99999999999", "9" * 400, "9" * 5000),
    *("-" * 5000 + "q0", "q0" + "+q0" * 5000, "q0" + "+(q0" * 120 + ")" * 120, "sin(" * 150 + "q0" + ")" * 150),
]


@pytest.mark.parametrize("text", ["v0", "v0 + 1.0", "-v0", "table(v0, v0)", "table(v0, 1.0)", "table(q0, 1.0)"])
def test_tables_are_read_by_index_only(text, tmp_path):
    content = document()
    joint = content["bodies"][0]["joint"]
    joint["tables"] = [[0.1, 0.2]]
    joint["factors"][0]["transform"][2][3] = text
    with pytest.raises(rd.SceneFileError, match=r"joint of 'arm': factor 1: .*table"):
        load(content, tmp_path)
    joint["factors"][0]["transform"][2][3] = "table(floor(q0), v0)"
    assert load(content, tmp_path).compile().poses(np.array([1.5]))[0, 2, 3] == 0.7


@pytest.mark.parametrize("text", FORBIDDEN)
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
        ("version", 1, r"version is 1 and this program reads 2"),
        ("version", True, r"version is True"),
        ("version", None, r"version is None"),
        ("gravity", None, r"no field 'gravity'"),
        ("gravity", [0, 0], r"gravity must be 3 entries"),
        ("gravity", [0, 0, "down"], r"unknown name 'down'"),
        ("gravity", [0, 0, True], r"gravity must be a finite number"),
        ("wind", 3, r"unknown field 'wind'"),
        ("parameters", ["R"], r"parameters must be an object"),
        ("parameters", {"R": "1"}, r"parameter 'R' must be a finite number"),
        ("parameters", {"R": 10**400}, r"parameter 'R' must be a finite number"),
        ("parameters", {"": 1}, r"parameter name '' is not an identifier"),
        ("parameters", {"lambda": 1}, r"parameter name 'lambda' is not an identifier"),
        ("parameters", {}, r"body 'arm': mass: .*unknown parameter 'R'"),
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
        ("bodies.0.mass", "select('R', 1)", r"body 'arm': mass: .*'select' takes 3 arguments"),
        ("bodies.0.center_of_mass", [0, 0], r"center_of_mass must be 3 entries"),
        ("bodies.0.inertia", [[1, 0, 0], [0, 1, 0]], r"inertia must be 3 x 3 entries"),
        ("bodies.0.inertia.0.1", 0.1, r"body 'arm': inertia must be symmetric"),
        ("bodies.0.placement.0", [1, 0, 0], r"body 'arm': placement must be 4 x 4 entries"),
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
        ("bodies.0.shapes.1.faces", [[0, 1], [0, 1, 2]], r"faces of Mesh must be n x 3 entries"),
        ("bodies.0.shapes.1.vertices", [["0", "0", "0"]], r"vertices of Mesh must be a finite number"),
        ("bodies.0.shapes.1", {"kind": "Mesh", "scale": [1, 1, 1], "file": "gone.stl"}, r"gone\.stl.*no such file"),
        ("bodies.0.joint", None, r"body 'arm': it has no field 'joint'"),
        ("bodies.0.joint", {}, r"joint of 'arm': it must have one field of fixed, .* or factors"),
        ("bodies.0.joint.lines", "t0 = 1", r"lines must be a list"),
        ("bodies.0.joint.lines", [3], r"a line must be a text"),
        ("bodies.0.joint.lines", ["t0 = 1", "t0 = 2"], r"line 2: 't0' is assigned already"),
        ("bodies.0.joint.lines", ["t0 = cos(t0)"], r"line 1: .*unknown name 't0'"),
        ("bodies.0.joint.lines", ["sin(q0)"], r"line 1: 'sin\(q0\)' is no input"),
        ("bodies.0.joint.lines", ["x = q0"], r"line 1: "),
        ("bodies.0.joint.tables", {}, r"tables must be a list"),
        ("bodies.0.joint.tables", [3], r"table v0 must be a list"),
        ("bodies.0.joint.tables", [[1, 2], []], r"table v1 is empty"),
        ("bodies.0.joint.tables", [["1"]], r"table v0 must be a finite number"),
        ("bodies.0.joint.lines", ["t0 = v0 + 1"], r"line 1: .*unknown name 'v0'.* tables are v0"),
        ("bodies.0.joint.factors", [], r"move in 0 coordinates, and 1 are described"),
        ("bodies.0.joint.factors.0.kind", "rubber", r"factor 1 has the unknown kind 'rubber'"),
        ("bodies.0.joint.factors.0.kind", ["plain"], r"factor 1 has the unknown kind"),
        ("bodies.0.joint.factors.0.kind", "constant", r"number of coordinates is left out"),
        ("bodies.0.joint.factors.0.coordinates", 7, r"number of coordinates is from 1 to 6"),
        ("bodies.0.joint.factors.0.coordinates", 1.0, r"number of coordinates is from 1 to 6"),
        ("bodies.0.joint.factors.0.coordinates", 2, r"move in 2 coordinates, and 1 are described"),
        ("bodies.0.joint.factors.0.transform.3", [0, 0, 0], r"factor 1: transform must be 4 x 4 entries"),
        ("bodies.0.joint.coordinates.0.name", "", r"name of a coordinate must be a text"),
        ("bodies.0.joint.coordinates.0.limits", [1, -1], r"low must be less than high"),
        ("bodies.0.joint.coordinates.0.limits", 1, r"limits of coordinate 'angle' must be 2 entries"),
        ("bodies.0.joint.coordinates.0.damping", -1, r"not negative"),
        ("bodies.0.joint.coordinates.0.friction", -1, r"friction of coordinate 'angle' is -1.0"),
        ("bodies.0.joint.coordinates.0.friction", "dry", r"friction of coordinate 'angle' must be a finite number"),
        ("bodies.0.joint.coordinates.0.backlash", 1, r"unknown field 'backlash'"),
        ("bodies.1.joint.follow.leader", "nobody", r"joint of 'hand': it follows 'nobody'"),
        ("bodies.1.joint.follow.leader", "hand", r"joint of 'hand': it follows 'hand'"),
        ("bodies.1.joint.follow.multiplier", 0, r"multiplier other than 0"),
        ("bodies.1.joint.follow.offset", None, r"no field 'offset'"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(place, value, message, tmp_path):
    with pytest.raises(rd.SceneFileError, match=rf"(?s)^.*scene\.json: .*{message}"):
        load(changed(place, value), tmp_path)


def test_a_ball_is_a_ball(tmp_path):
    """A manifold's velocity is what its transform makes it: another transform would move wrongly without a word."""
    scene = Scene()
    joint = joints.prismatic("x") @ joints.ball()
    joint.origin = None
    scene.world.attach(Body("arm", [shapes.Sphere(0.1)]), joint)
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
    text = json.dumps(document(), indent=1)
    for end in range(0, len(text) - 2, 97):
        with pytest.raises(rd.SceneFileError, match="not JSON"):
            load(text[:end], tmp_path)


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


PLACES = [path for path in places(document()) if path]


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from([*WEIRD, DELETE])), min_size=1, max_size=2))
@settings(max_examples=150)
def test_a_damaged_file_loads_or_is_refused_by_name(tmp_path_factory, damages):
    content = document()
    damage(content, damages)
    folder = tmp_path_factory.getbasetemp()
    try:
        scene = load(content, folder)
    except rd.SceneFileError:
        return
    scene.save(folder / "scene.json")
