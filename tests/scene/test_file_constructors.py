"""Joints in scene files: each is the constructor that made it, and comes back as the same program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from test_file import assert_same_model
from test_file_sharing import link, moved

import recursive_dyn as rd
from scene import Scene, joints
from scene.file import constructors
from scene.joints import surfaces

R = sp.Symbol("R", real=True)
S = sp.Symbol("s", real=True)
U, V = sp.symbols("u v", real=True)
TURN = rd.pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
RING = [[1, 0, 0], [0, 1, 0.2], [-1, 0, 0], [0, -1, 0.1]]
WIRE = [[0, 0, 0], [1, 0, 0.3], [2, 1, 0], [3, 1, 0.2], [4, 0, 0]]
GRID = [[[x, y, 0.1 * x * y + 0.05 * x * x] for y in range(4)] for x in range(5)]
BANKS = [[0, 0, 1], [0, 0.5, 1], [0, 1, 1], [0, 0.5, 1], [0, 0, 1]]

CASES = {
    "fixed": (joints.fixed(), {"fixed": {}}),
    "fixed elsewhere": (joints.fixed(TURN), {"fixed": {"transform": TURN.tolist()}}),
    "revolute": (joints.revolute((1, 1, 0)), {"revolute": {"axis": [1.0, 1.0, 0.0]}}),
    "letter": (joints.prismatic("-y"), {"prismatic": {"axis": "-y"}}),
    "screw": (joints.screw((0, 3, 4), 0.1), {"screw": {"axis": [0.0, 3.0, 4.0], "pitch": 0.1}}),
    "cylindrical": (joints.cylindrical(), {"cylindrical": {}}),
    "universal": (joints.universal("z", (1, 2, 3)), {"universal": {"first": "z", "second": [1.0, 2.0, 3.0]}}),
    "planar": (joints.planar((0, 1, 1)), {"planar": {"normal": [0.0, 1.0, 1.0]}}),
    "euler": (joints.euler("zyx"), {"euler": {"order": "zyx"}}),
    "exponential_map": (joints.exponential_map(), {"exponential_map": {}}),
    "ball": (joints.ball(), {"ball": {}}),
    "free": (joints.free(damping=0.1), None),
    "wheel": (joints.wheel(R / 3, 1.0, inside=True), {"wheel": {"radius": "0.3333333333333333*'R'", "track": 1.0,
                                                                "inside": True}}),
    "rack": (joints.rack(0.3), {"rack": {"radius": 0.3}}),
    "rolling": (joints.rolling((3 * sp.cos(S), 3 * sp.sin(S)), S, R, 3 * S, right=True), None),
    "gear": (joints.gear("z", "leader", (20, 30)), {"follow": {"joint": {"revolute": {"axis": "z"}},
             "leader": "leader", "multiplier": -20 / 30, "offset": 0.0}}),
    "curve": (joints.curve((sp.cos(S), sp.sin(S), sp.sin(R) * S), S),
              {"curve": {"f": ["cos(q0)", "sin(q0)", "q0*sin('R')"], "name": "s"}}),
    "curve with ends": (joints.curve((sp.cos(S), sp.sin(S), S / 5), S, "up", (0, 1, 5), (0, 2), outside="extrapolate"),
                        None),
    "closed curve": (joints.curve((sp.cos(S), sp.sin(2 * S), 0), S, "minimal", None, (0, 2 * sp.pi), True), None),
    "bspline": (joints.bspline(RING, closed=True), {"bspline": {"points": np.array(RING, float).tolist(),
                                                                "closed": True}}),
    "banked": (joints.bspline(WIRE, 3, interpolate=True, frame="up", up=BANKS, name="x"), None),
    "by length": (joints.bspline(WIRE, arc_length=True), None),
    "bezier": (joints.bezier(WIRE), {"bezier": {"points": np.array(WIRE, float).tolist()}}),
    "closed bezier": (joints.bezier(RING, closed=True, frame="translation"), None),
    "bezier_surface": (joints.bezier_surface(GRID, outside="extrapolate", names=("a", "b")), None),
    "bspline_surface": (joints.bspline_surface(GRID, (3, 2), frame="translation"), None),
    "surface": (joints.surface((U, V, U * V), (U, V), "translation"),
                {"surface": {"on": {"kind": "surface", "f": ["q0", "q1", "q0*q1"]}, "frame": "translation"}}),
    "sphere": (joints.surface(surfaces.sphere(R, poles="x")),
               {"surface": {"on": {"kind": "sphere", "radius": "'R'", "poles": "x"}}}),
    "two surfaces": (joints.surface_on_surface(surfaces.paraboloid(1, 2), surfaces.torus(0.3, R / 9), turn=0.2), None),
    "composed": (joints.revolute("x", damping=0.1) @ joints.prismatic("z") @ joints.fixed(TURN), None),
    "right first": (joints.revolute("x") @ (joints.revolute("y") @ joints.revolute("x")), None),
    "charts": (joints.charts(joints.euler("xyz"), joints.euler("zxz")),
               {"charts": [{"euler": {}}, {"euler": {"order": "zxz"}}]}),
    "charts of products": (joints.charts(joints.euler("xyz"), joints.euler("zxz")) @ joints.fixed(TURN), None),
    "driven": (joints.universal().driven(sp.sin(R), R * R), {"drive": {"joint": {"universal": {}},
               "by": ["sin('R')", "'R'*'R'"]}}),
    "transform": (joints.Joint(moved(S, sp.sin(S), R), S), None),
}  # fmt: skip


def scene_of(joint) -> Scene:
    scene = Scene()
    scene.parameter("R", 0.4)
    scene.world.attach(link("leader"), joints.revolute("z"))
    scene.world.attach(link("body"), joint)
    return scene


def written(scene: Scene, folder: Path) -> dict:
    scene.save(folder / "scene.json")
    return json.loads((folder / "scene.json").read_text())["bodies"][1]["joint"]


@pytest.mark.parametrize("name", CASES)
def test_a_joint_is_saved_as_its_constructor(name, tmp_path):
    joint, expected = CASES[name]
    scene = scene_of(joint)
    fields = written(scene, tmp_path)
    if expected is not None:
        assert fields == expected
    again = Scene.load(tmp_path / "scene.json")["body"].joint
    assert again.program.key == joint.program.key
    assert repr(again.coordinates) == repr(joint.coordinates)
    assert (again.origin and again.origin.constructor) == (joint.origin and joint.origin.constructor)


def test_every_constructor_is_among_the_cases():
    made = {joint.origin.constructor for joint, _ in CASES.values() if joint.origin}
    assert made == {*constructors.ARGUMENTS, "compose", "charts", "follow", "drive"}


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("charts", "charts of products", "driven", "fixed",
                                                                "fixed elsewhere")])  # fmt: skip
def test_what_was_said_of_coordinates_stands_beside(name, tmp_path):
    joint = CASES[name][0].adjusted(damping=0.3, rest=-0.0)
    fields = written(scene_of(joint), tmp_path)
    assert [c["damping"] for c in fields["coordinates"]] == [0.3] * len(joint.coordinates)
    again = Scene.load(tmp_path / "scene.json")["body"].joint
    assert repr(again.coordinates) == repr(joint.coordinates) and again.program.key == joint.program.key


def test_limits_that_were_taken_away_stay_away(tmp_path):
    free = joints.bspline(WIRE).adjusted(limits=(-np.inf, np.inf))
    assert written(scene_of(free), tmp_path)["coordinates"] == [{"name": "s"}]
    assert Scene.load(tmp_path / "scene.json")["body"].joint.coordinates == free.coordinates
    assert joints.bspline(WIRE).coordinates[0].limits == (0.0, 2.0)


def test_limits_of_effort_and_velocity_are_kept(tmp_path):
    joint = joints.cylindrical("z", effort=(3.0, np.inf), velocity=2.5)
    fields = written(scene_of(joint), tmp_path)["coordinates"]
    assert [(c.get("effort"), c["velocity"]) for c in fields] == [(3.0, 2.5), (None, 2.5)]
    again = Scene.load(tmp_path / "scene.json")["body"].joint
    assert again.limits == joint.limits and again.coordinates == joint.coordinates


def test_another_process_reads_the_same_model(tmp_path):
    """Neither sets nor hashes of names decide about the order of operations."""
    scene = Scene()
    scene.parameter("R", 0.4)
    scene.world.attach(link("leader"), joints.revolute("z"))
    for i, (joint, _) in enumerate(CASES.values()):
        scene.world.attach(link(f"b{i}"), joint)
    scene.save(tmp_path / "scene.json")
    path = str(tmp_path / "scene.json")
    program = f"from scene import Scene; print([b.joint.program.key for b in Scene.load({path!r}).bodies])"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment | {"PYTHONHASHSEED": seed}, capture_output=True, text=True
        )
        assert done.stdout.strip() == str([b.joint.program.key for b in scene.bodies]), done.stderr


def test_masses_and_places_are_formulas(tmp_path):
    scene = Scene()
    size = scene.parameter("size", 0.3)
    heavy = link("heavy", mass=2 * size, inertia=sp.diag(size + 1, 1, size**2 + 1), center_of_mass=(0, size / 2, 0))
    scene.world.attach(heavy, joints.revolute("x"), at=rd.pose((size, 0, 0)))
    assert (heavy.mass, heavy.inertia[2, 2], heavy.placement[0, 3]) == (2 * size, size**2 + 1, size)
    scene.save(tmp_path / "scene.json")
    (body,) = json.loads((tmp_path / "scene.json").read_text())["bodies"]
    assert body["mass"] == "2.0*'size'" and body["center_of_mass"] == [0.0, "0.5*'size'", 0.0]
    assert body["inertia"][0] == ["'size' + 1.0", 0.0, 0.0] and body["placement"][0] == [1.0, 0.0, 0.0, "'size'"]
    assert_same_model(scene, Scene.load(tmp_path / "scene.json"))
    assert str(Scene.load(tmp_path / "scene.json")["heavy"].inertia[2, 2]) == "size**2 + 1"


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"compose": []}, "compose is of joints"),
        ({"compose": [{"revolute": {"axis": "x"}}] * 7}, "at most 6 coordinates, this one has 7"),
        ({"compose": [{"revolute": {"axis": "x"}}] * 20_000}, "at most 6 coordinates, this one has 20000"),
        ({"compose": [{"fixed": {}}, {"revolute": {}}]}, "part 2 of compose: revolute has no field 'axis'"),
        ({"bspline": {"points": WIRE, "degree": 10**9}}, "the degree is a whole number"),
        ({"bspline": {"points": WIRE, "degree": 1e300}}, "degree must be a whole number"),
        ({"bezier": {"points": [[i, i % 2, 0] for i in range(30_000)]}}, "at most 256 points"),
        ({"bezier": {"points": [[i, i % 2, 0] for i in range(30_000)], "closed": True}}, "at most 256 points"),
        ({"bezier_surface": {"points": [[[x, y, 0] for y in range(150)] for x in range(150)]}}, "at most 32 points"),
        ({"revolute": {"axis": "x"}, "ball": {}}, "it must have one field of"),
        ({"revolute": {"axis": "x"}, "coordinates": []}, "its coordinates are angle; describe those"),
        ({"eval": {}}, "it must have one field of"),
        ({"Joint": {"transform": "x"}}, "it must have one field of"),
    ],
)
def test_what_is_wrong_with_a_constructor_is_named(joint, message, tmp_path):
    scene_of(joints.ball()).save(tmp_path / "scene.json")
    content = json.loads((tmp_path / "scene.json").read_text())
    content["bodies"][1]["joint"] = joint
    (tmp_path / "scene.json").write_text(json.dumps(content))
    with pytest.raises(rd.SceneFileError, match=f"joint of 'body': .*{message}") as caught:
        Scene.load(tmp_path / "scene.json")
    assert len(str(caught.value)) < 700


def test_joints_are_nested_only_so_deep(tmp_path):
    scene_of(joints.ball()).save(tmp_path / "scene.json")
    content = json.loads((tmp_path / "scene.json").read_text())
    for depth, refused in ((10, False), (100, True)):
        joint = {"ball": {}}
        for _ in range(depth):
            joint = {"compose": [{"fixed": {}}, joint]}
        content["bodies"][1]["joint"] = joint
        (tmp_path / "scene.json").write_text(json.dumps(content))
        if not refused:
            assert Scene.load(tmp_path / "scene.json")["body"].joint.program.nv == 3
            continue
        with pytest.raises(rd.SceneFileError, match="joints more than 20 deep"):
            Scene.load(tmp_path / "scene.json")
