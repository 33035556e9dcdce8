"""Shared coordinates, drives, constraints, surfaces and charts in scene files that are wrong, damaged or hostile."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import file_damage
import numpy as np
import pytest
import sympy as sp
from file_damage import DELETE, WEIRD, damage
from hypothesis import given, settings
from hypothesis import strategies as st
from test_file_errors import FORBIDDEN, load, places
from test_file_sharing import link

import recursive_dyn as rd
from scene import Scene, joints
from scene.joints import surfaces


@cache
def written(tmp: str) -> str:
    """What a scene with everything that files hold is written as."""
    scene = Scene()
    theta, r = scene.coordinate("theta", limits=(-1, 2), damping=0.1), scene.parameter("r", 0.3)
    crank = scene.world.attach(link("crank"), joints.revolute("z").driven(theta))
    arm = crank.attach(link("arm"), joints.universal())
    arm.attach(link("rod"), joints.prismatic("x").driven(r * sp.sin(theta) * sp.cos(theta) + arm.q[0]))
    u, v = sp.symbols("u v")
    bowl = [u, v, r * (u**2 + v**2 / 2)], (u, v)
    ball = scene.world.attach(link("ball"), joints.surface_on_surface(*bowl, surfaces.torus(0.3, r / 9, poles="x")))
    scene.world.attach(link("turned"), joints.charts(joints.euler("xyz"), joints.euler("zxz")))
    scene.world.attach(link("bead"), joints.bezier([[0, 0, 0], [1, 0, 0], [1, 1, 0]]))
    scene.world.attach(link("skate"), joints.bezier_surface([[[0, 0, 0], [1, 0, 0]], [[0, 1, 0], [1, 1, 1]]]))
    scene.constrain(arm.position[0] * arm.rotation[0, 1] - scene.rate(theta), arm.q[0] - r, name="pull")
    scene.roll(ball)
    scene.save(f"{tmp}/written.json")
    with open(f"{tmp}/written.json") as file:
        return file.read()


@pytest.fixture(scope="session")
def document(tmp_path_factory):
    """A fresh document at each call."""
    text = written(str(tmp_path_factory.getbasetemp()))
    return lambda: json.loads(text)


def test_a_scene_with_everything_in_it_loads_and_is_saved_without_sympy(document, tmp_path):
    (tmp_path / "scene.json").write_text(json.dumps(document()))
    program = f"""
import sys
from scene import Scene
Scene.load({str(tmp_path / "scene.json")!r}).save({str(tmp_path / "again.json")!r})
print(sorted({{"sympy", "trimesh"}} & set(sys.modules)))
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
    assert json.loads((tmp_path / "again.json").read_text()) == document()


def changed(content: dict, place: str, value) -> dict:
    return file_damage.changed(content, place.split("/"), value)


DRIVE, ROWS = "bodies/2/joint/drive", "constraints/0"
W = sp.Symbol("w", real=True)
CONTACT = "bodies/3/joint/surface_on_surface"
LINES = {"value": ["t0"], "lines": []}


@pytest.mark.parametrize("text", FORBIDDEN)
@pytest.mark.parametrize(
    "place", [f"{DRIVE}/by/0", f"{DRIVE}/by", f"{ROWS}/rows/0", f"{ROWS}/lines", f"{CONTACT}/first/f/2"]
)
def test_only_arithmetic_is_read(document, place, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rd.SceneFileError, match=r"scene\.json: (joint of|constraint) '(rod|pull|ball)': ") as caught:
        text = "q2" if text == "q1" and place.startswith(CONTACT) else text  # which a surface has
        value = {"by": {"value": ["t0"], "lines": [f"t0 = {text}"]}, "lines": [f"t0 = {text}"]}
        load(changed(document(), place, value.get(place.split("/")[-1], text)), tmp_path)
    assert len(str(caught.value)) < 700
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("coordinates", {}, r"the world: coordinates must be a list"),
        ("coordinates/0", "theta", r"a coordinate must be an object"),
        ("coordinates/0/name", "a b", r"coordinate name 'a b' is not an identifier"),
        ("coordinates/0/name", "class", r"coordinate name 'class' is not an identifier"),
        ("coordinates/0/name", "r", r"coordinate 'r' is declared already"),
        ("coordinates/0/name", "phi", r"joint of 'crank': drive: .*unknown parameter or coordinate 'theta'"),
        ("coordinates/0/limits", [2, 1], r"limits of coordinate 'theta'.*low must be less than high"),
        ("coordinates/0/damping", -1, r"damping of coordinate 'theta' is -1.0"),
        ("coordinates/0/mass", 1, r"unknown field 'mass'"),
        ("coordinates", [{"name": "x"}, {"name": "theta"}, {"name": "x"}], r"coordinate 'x' is declared already"),
        (DRIVE, ["'theta'"], r"joint of 'rod': drive must be an object"),
        (f"{DRIVE}/by", None, r"joint of 'rod': drive has no field 'by'"),
        (f"{DRIVE}/by", "'theta'", r"drive must be 1 entries, not \"'theta'\""),
        (f"{DRIVE}/by", [], r"drive must be 1 entries, not \[\]"),
        (f"{DRIVE}/by", ["'theta'", "'theta'"], r"drive must be 1 entries"),
        (f"{DRIVE}/by/0", "'rod.distance'", r"drive: .*unknown parameter or coordinate 'rod.distance'"),
        (f"{DRIVE}/by/0", "'crank.angle'", r"unknown parameter or coordinate 'crank.angle'"),
        (f"{DRIVE}/by/0", "'bead.s'", r"unknown parameter or coordinate 'bead.s'"),
        (f"{DRIVE}/by/0", "'arm.position.x'", r"unknown parameter or coordinate 'arm.position.x'"),
        (f"{DRIVE}/by/0", "'rate(theta)'", r"unknown parameter or coordinate 'rate\(theta\)'"),
        (f"{DRIVE}/by/0", "q0", r"drive: 'q0': unknown name 'q0'"),
        (f"{DRIVE}/by/0", {}, r"drive must be a finite number"),
        (f"{DRIVE}/by", {**LINES, "lines": ["t0 = 'x'"]}, r"line 1: .*unknown parameter or coordinate 'x'"),
        (f"{DRIVE}/by", {**LINES, "tables": [[]]}, r"table v0 is empty"),
        (f"{DRIVE}/by", {**LINES, "speed": 1}, r"drive has the unknown field 'speed'"),
        (f"{DRIVE}/speed", 1, r"drive has the unknown field 'speed'"),
        ("bodies/2/joint/coordinates", [{"name": "distance", "damping": 1}], r"'distance' is driven by others"),
        ("bodies/2/joint/coordinates", [{"name": "length"}], r"joint of 'rod': its coordinates are distance; describe"),
        ("bodies/2/joint/follow", {"leader": "arm", "multiplier": 1, "offset": 0}, r"must have one field of"),
        ("bodies/1/joint/universal/first", "w", r"joint of 'arm': axis 'w' is not 'x', 'y', 'z'"),
        ("bodies/1/joint/universal/first", [1, 2], r"joint of 'arm': first must be 3 entries"),
        ("bodies/1/joint/universal/first", [0, 0, 0], r"joint of 'arm': axis .* that is not zero"),
        ("bodies/1/joint/universal/axis", "x", r"joint of 'arm': universal has the unknown field 'axis'"),
        ("bodies/0/joint/drive/joint/revolute/axis", None, r"joint of 'crank': revolute has no field 'axis'"),
        ("bodies/0/mass", "'theta'", r"body 'crank': mass: .*unknown parameter 'theta'"),
        ("constraints", {}, r"constraints must be a list"),
        ("constraints/0", [], r"constraint 1: it must be an object"),
        ("constraints/1/name", "", r"constraint 2: name must be a text"),
        ("constraints/1/name", "pull", r"constraint 'pull': two constraints have this name"),
        (f"{ROWS}/rows", None, r"constraint 'pull': it has no field 'rows'"),
        (f"{ROWS}/rows", [], r"constraint 'pull': it has no rows"),
        (f"{ROWS}/rows/1", "'arm.position.w'", r"constraint 'pull': rows 2: .*unknown name 'arm.position.w'"),
        (f"{ROWS}/rows/1", "'arm.rotation.x'", r"unknown name 'arm.rotation.x'"),
        (f"{ROWS}/rows/1", "'leg.position.x'", r"unknown name 'leg.position.x'; use a parameter, a coordinate"),
        (f"{ROWS}/rows/1", "'rod.distance'", r"unknown name 'rod.distance'"),
        (f"{ROWS}/rows/1", "q1", r"unknown name 'q1'"),
        (f"{ROWS}/redundant", "keep", r"redundant is 'refuse' or 'drop', not 'keep'"),
        (f"{ROWS}/weight", 1, r"unknown field 'weight'"),
        (CONTACT, 1, r"joint of 'ball': surface_on_surface must be an object"),
        (f"{CONTACT}/first", None, r"surface_on_surface has no field 'first'"),
        (f"{CONTACT}/turn", "0", r"joint of 'ball': turn must be a finite number"),
        (f"{CONTACT}/flip", 1, r"joint of 'ball': flip must be true or false"),
        (f"{CONTACT}/first/f", ["u"], r"joint of 'ball': first: f must be 3 entries"),
        (f"{CONTACT}/first/f/0", "w", r"first: f: 'w': unknown name 'w'; coordinates are q0, q1"),
        (f"{CONTACT}/first/f/0", "q2", r"first: f: 'q2': unknown name 'q2'"),
        (f"{CONTACT}/first/f/0", "'w'", r"first: f: .*unknown parameter or coordinate 'w'"),
        (f"{CONTACT}/first/names", ["u"], r"first: names must be 2 entries"),
        (f"{CONTACT}/first/u", [0, 1], r"u must be start, greater end and one of open, joined, poles"),
        (f"{CONTACT}/first/u", [1, 0, "open"], r"u must be start, greater end"),
        (f"{CONTACT}/second/kind", "cone", r"second: unknown kind 'cone'; use surface or plane"),
        (f"{CONTACT}/second/kind", "__class__", r"unknown kind '__class__'"),
        (f"{CONTACT}/second/tube", "u", r"second: tube: 'u': unknown name 'u'"),
        (f"{CONTACT}/second/radius", -1, r"torus: radius must be positive"),
        (f"{CONTACT}/second/height", 1, r"unknown field 'height'"),
        (f"{CONTACT}/second/poles", "w", r"poles is the axis 'x', 'y' or 'z', not 'w'"),
        ("bodies/5/joint/bezier/points", [[0, 0, 0], [1, 0]], r"joint of 'bead': points must be 2 x 3 entries"),
        ("bodies/5/joint/bezier/points", [["0", 0, 0], [1, 0, 0]], r"points must be a finite number, not '0'"),
        ("bodies/5/joint/bezier/points", [[1e308, 0, 0], [1, 0, 0]], r"point 0 is out of range"),
        ("bodies/5/joint/bezier/points", [[0, 0], [1, 0]], r"points must be n x 3 entries"),
        ("bodies/5/joint/bezier/points", [[0, 0, 0], [0, 0, 0]], r"points 0 and 1 are the same"),
        ("bodies/5/joint/bezier/closed", 0, r"closed must be true or false"),
        ("bodies/5/joint/bezier/frame", "odd", r"unknown frame 'odd'"),
        ("bodies/5/joint/bezier/name", "a b", r"the name of its coordinate is an identifier"),
        ("bodies/6/joint/bezier_surface/points", [[[0, 0, 0]]], r"joint of 'skate': .* it needs 2 x 2 points"),
        ("bodies/6/joint/bezier_surface/names", ["u"], r"names must be 2 entries"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(document, place, value, message, tmp_path):
    with pytest.raises(rd.SceneFileError, match=rf"(?s)^.*scene\.json: .*{message}"):
        load(changed(document(), place, value), tmp_path)


def test_a_ball_cannot_be_driven(tmp_path):
    scene = Scene()
    scene.coordinate("q")
    scene.world.attach(link("a"), joints.ball())
    scene.save(tmp_path / "scene.json")
    content = json.loads((tmp_path / "scene.json").read_text())
    content["bodies"][0]["joint"] = {"drive": {"joint": {"ball": {}}, "by": ["'q'", "'q'", "'q'"]}}
    with pytest.raises(
        rd.SceneFileError, match="joint of 'a': a ball or free joint has no coordinates that can be driven"
    ):
        load(content, tmp_path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s: setattr(s["b"], "joint", joints.revolute("x").driven(W)), "'b': drive: .*'w'"),
        (lambda s: s.constrain(W - s["a"].position[0], name="c"), "constraint 'c': .*unknown name 'w'"),
        (lambda s: s.coordinates.pop("q"), "joint of 'b': drive: .*unknown parameter or coordinate 'q'"),
        (lambda s: setattr(s["a"], "name", "z"), "constraint 'old': .*unknown name 'a.position.x'"),
        (lambda s: s.coordinates.update(p=s.coordinates["q"]), "coordinate 'q' is declared already"),
        (lambda s: s.parameters.update(q=1.0), "coordinate 'q' is declared already"),
        (lambda s: s.constraints.append(s.constraints[0]), "constraint 'old': two constraints have this name"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(spoil, message, tmp_path):
    scene = Scene()
    q = scene.coordinate("q")
    a = scene.world.attach(link("a"), joints.universal())
    a.attach(link("b"), joints.revolute("x").driven(q))
    scene.constrain(a.position[0] - q, name="old")
    scene.save(tmp_path / "scene.json")
    before = (tmp_path / "scene.json").read_bytes()
    spoil(scene)
    with pytest.raises(rd.SceneFileError, match=rf"scene\.json: .*{message}"):
        scene.save(tmp_path / "scene.json")
    assert (tmp_path / "scene.json").read_bytes() == before


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_file_loads_or_is_refused_by_name(document, tmp_path_factory, data):
    content = document()
    everywhere = [p for p in places(content) if p and {"coordinates", "constraints", "joint"} & {*p[:3]}]
    values = [*WEIRD, "'theta'", "'arm.position.x'", "sphere", "drop", DELETE]
    pairs = st.tuples(st.sampled_from(everywhere), st.sampled_from(values))
    damage(content, data.draw(st.lists(pairs, min_size=1, max_size=2)))
    folder = tmp_path_factory.getbasetemp()
    try:
        scene = load(content, folder)
    except rd.SceneFileError:
        return
    scene.save(folder / "scene.json")
    with np.errstate(all="ignore"):
        try:
            scene.roll(scene["ball"], name="again")
        except rd.ModelError:
            return
