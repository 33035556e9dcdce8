"""Scene files hold shared coordinates, what they drive, and constraints: read back they are the same model."""

import dataclasses
import json

import numpy as np
import pytest
import sympy as sp
from constraint_cases import bound
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_cases import KINDS
from test_file import assert_same_model, assert_same_motion, round_trip
from transforms import random_pose
from trees import random_body

import recursive_dyn as rd
from recursive_dyn.graph.program import content_hash
from recursive_dyn.model.force_element import ElementSpec
from scene import Body, Scene, joints, linkages, shapes
from scene.constraint_group import ConstraintGroup
from scene.file import constructors
from scene.joints.parametric_joint import Joint
from scene.joints.surfaces.surface_contact import SurfaceContact
from scene.pairs import Pair

AWKWARD = ["größe 'x' \"y\"", "a, b", "t0 = 1", "line\nbreak", "rate(q)", "q0", "\\", "🦿"]
X = sp.Symbol("x", real=True)


def link(name: str, **given) -> Body:
    return Body(name, **{"mass": 1.0, "center_of_mass": (0.1, 0.2, -0.5), "inertia": np.diag([0.2, 0.3, 0.4]), **given})


def moved(x, y, z) -> sp.Matrix:
    return sp.Matrix([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


def hashes(scene: Scene) -> dict:
    """Content of all that is an expression graph."""
    drives = [b.joint.drive and content_hash(b.name, b.joint.drive) for b in scene.bodies]
    rows = [(c.name, c.redundant, content_hash("", c.rows)) for c in scene.constraints]
    return {"joints": [b.joint.program.key for b in scene.bodies], "drives": drives, "constraints": rows}


def assert_same_content(a: Scene, b: Scene) -> None:
    assert hashes(a) == hashes(b)
    assert list(a.coordinates.items()) == list(b.coordinates.items())
    assert [x.joint.coordinates for x in a.bodies] == [x.joint.coordinates for x in b.bodies]


def function(rng, symbols):
    x, y = (symbols[int(i)] for i in rng.integers(len(symbols), size=2))
    kinds = [0.7 * x - y / 3 + 0.2, sp.sin(x) + y / 2, sp.sqrt(4 + x * y / 9) - y, sp.atan2(x, 2 + sp.cos(y)), -x]
    return rng.choice([*kinds, sp.Max(x, y / 2), sp.Piecewise((x, y < 0.5), (x**2, True))])


def sharing_scene(seed: int, bodies: int) -> Scene:
    """Three shared coordinates that drive joints, or stand in their transforms, beside own ones and a parameter."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    size = scene.parameter("size", 0.7)
    shared = [
        scene.coordinate("s0"),
        scene.coordinate("s1", limits=(-np.inf, rng.normal()), damping=rng.uniform()),
        scene.coordinate("s2", stiffness=rng.uniform(), rest=-0.0, armature=0.1),
    ]
    symbols, nodes = list(shared), [scene.world]
    for i in range(bodies):
        case = KINDS[str(rng.choice(["revolute", "prismatic", "screw", "helix", "universal", "ball", "fixed"]))](
            rng, {}
        )
        joint, way = case.joint, rng.integers(3)
        if i < 3:
            joint = joints.Joint(moved(X, size, sp.sin(X)), X).driven(shared[i])
        elif way == 0 and case.nv and case.nq == case.nv:
            joint = joint.driven(*(function(rng, [*symbols, size]) + 0.217 * shared[0] for _ in range(case.nv)))
        elif way == 1:
            y = symbols[int(rng.integers(len(symbols)))]
            joint = joints.Joint(moved(X, size * sp.sin(y), sp.Piecewise((y, y < 0.5), (y**2 + 0.25, True))), X)
        body = random_body(rng, f"b{i}")
        nodes.append(nodes[int(rng.integers(len(nodes)))].attach(body, joint, at=random_pose(rng)))
        symbols += [] if joint.drive else body.q
    return scene


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), bodies=st.integers(3, 9))
def test_scenes_with_shared_coordinates_come_back_as_the_same_model(tmp_path_factory, seed, bodies):
    scene = sharing_scene(seed, bodies)
    loaded = round_trip(scene, tmp_path_factory.getbasetemp())
    assert_same_content(scene, loaded)
    assert_same_model(scene, loaded)


@pytest.mark.parametrize(("seed", "bodies"), [(0, 4), (1, 5), (2, 7), pytest.param(3, 9, marks=pytest.mark.slow)])
def test_constrained_trees_come_back_as_the_same_model(seed, bodies, tmp_path):
    scene = bound(seed, bodies).scene
    loaded = round_trip(scene, tmp_path)
    assert_same_content(scene, loaded)
    assert loaded.constraints[2].redundant == "drop"
    assert_same_model(scene, loaded)
    assert loaded.model().assembled == scene.model().assembled


def test_a_scene_read_back_moves_the_same_to_the_last_bit(tmp_path):
    scene = sharing_scene(7, 5)
    assert_same_motion(scene, round_trip(scene, tmp_path))


@settings(max_examples=25)
@given(st.data())
def test_any_row_comes_back(tmp_path_factory, data):
    scene = Scene()
    q, r = scene.coordinate("q"), scene.parameter("r", 0.5)
    name = data.draw(st.sampled_from(AWKWARD))
    a = scene.world.attach(link("a"), joints.revolute("x").driven(q))
    b = a.attach(link(name), joints.universal())
    symbols = [q, r, scene.rate(q), *a.position, *b.rotation, *b.velocity, *a.spin, *b.q, *b.v]
    leaves = st.sampled_from(symbols) | st.integers(-3, 3).map(sp.Integer) | st.floats(-2, 2).map(sp.Float)

    def larger(part):
        return (
            st.builds(lambda x, y: x + y, part, part)
            | st.builds(lambda x, y: x * y, part, part)
            | st.builds(lambda f, x: f(x), st.sampled_from([sp.sin, sp.cos, sp.tanh, sp.exp, sp.Abs]), part)
        )

    rows = data.draw(st.lists(st.recursive(leaves, larger, max_leaves=14), min_size=1, max_size=4))
    try:
        scene.constrain(*rows, name=name)
    except rd.ModelError:
        return  # a constant that is not finite
    assert_same_content(scene, round_trip(scene, tmp_path_factory.getbasetemp()))


@pytest.mark.parametrize("name", AWKWARD)
def test_names_in_quotes_may_hold_anything(name, tmp_path):
    scene = Scene()
    a = scene.world.attach(link(name), joints.universal())
    x, y = a.q
    b = a.attach(link(name + "."), joints.Joint(moved(X, x * sp.sin(y), y * x), X))
    b.attach(link("c"), joints.revolute("z").driven(sp.cos(b.q[0]) * x + b.q[0] * y))
    scene.constrain(a.position[0] * b.rotation[1, 2] + x * b.position[2] - a.rotation[0, 0] + 1, name=name)
    loaded = round_trip(scene, tmp_path)
    assert_same_content(scene, loaded)
    assert loaded.constraints[0].name == name


def test_many_names_need_many_short_lines(tmp_path):
    scene = Scene()
    scene.world.attach(link("a" * 300), joints.free())
    R, p = scene.bodies[0].rotation, scene.bodies[0].position
    total = sum(x * y for x in R for y in R) * sum(sp.sin(x * y) for x in p for y in R)
    scene.constrain(total, name="tangle")
    assert_same_content(scene, round_trip(scene, tmp_path))


def test_gears_and_rolling_come_back(tmp_path):
    scene = Scene()
    first = scene.world.attach(link("first"), joints.revolute("z"))
    scene.world.attach(link("second"), joints.gear("z", first, (20, 30)), at=rd.pose((0.5, 0, 0)))
    assert_same_model(scene, round_trip(scene, tmp_path))
    ball = scene.world.attach(
        link("ball"), joints.surface_on_surface(joints.surfaces.plane(), joints.surfaces.sphere(0.2), spin=True)
    )
    scene.roll(ball)
    scene.roll(ball, name="no pivoting", pivoting=False)
    scene.constraints.pop(0)
    loaded = round_trip(scene, tmp_path)
    assert_same_content(scene, loaded)
    assert_same_model(scene, loaded)


def test_a_closed_linkage_with_a_rolling_stone_on_a_rope_comes_back(tmp_path):
    scene = Scene()
    theta = scene.coordinate("theta", damping=0.01)
    lean, rock = linkages.four_bar(theta, crank=scene.parameter("crank", 0.4), coupler=1.1, rocker=0.9, ground=1.2)
    crank = scene.world.attach(link("crank"), joints.revolute("y").driven(theta))
    crank.attach(link("coupler"), joints.revolute("y").driven(lean - theta), at=rd.pose((0.4, 0, 0)))
    rocker = scene.world.attach(link("rocker"), joints.revolute("y").driven(rock), at=rd.pose((1.2, 0, 0)))
    egg = joints.surfaces.ellipsoid(0.3, 0.2, 0.2, poles="x")
    stone = scene.world.attach(
        link("stone"), joints.surface_on_surface(joints.surfaces.plane(), egg, spin=True), at=rd.pose((0, 0, -1))
    )
    scene.roll(stone)
    rope = rocker.point((0.9, 0, 0)) - stone.position
    scene.constrain(rope.dot(rope) - 1.5**2, name="rope")
    loaded = round_trip(scene, tmp_path)
    assert_same_content(scene, loaded)
    assert_same_model(scene, loaded)


def test_what_is_written_can_be_read(tmp_path):
    """The text is for people too."""
    scene = Scene()
    theta, r = scene.coordinate("theta", limits=(-1, np.inf), damping=0.5), scene.parameter("r", 0.3)
    crank = scene.world.attach(link("crank"), joints.revolute("z").driven(theta))
    crank.attach(link("rod"), joints.prismatic("x").driven(r * sp.sin(theta) + 0.5))
    slider = scene.world.attach(link("slider"), joints.Joint(moved(X, sp.cos(theta), 0), X))
    scene.constrain(crank.position[0] - 2 * scene.rate(theta), slider.q[0] - r, name="pull", redundant="drop")
    scene.save(tmp_path / "scene.json")
    content = json.loads((tmp_path / "scene.json").read_text())
    assert content["version"] == 2
    assert content["coordinates"] == [{"name": "theta", "limits": [-1.0, None], "damping": 0.5}]
    slide = {"prismatic": {"axis": "x"}}
    assert content["bodies"][1]["joint"] == {"drive": {"joint": slide, "by": ["'r'*sin('theta') + 0.5"]}}
    assert content["bodies"][2]["joint"]["factors"][0]["transform"][1][3] == "cos('theta')"
    (pull,) = content["constraints"]
    assert (pull["name"], pull["redundant"]) == ("pull", "drop")
    assert pull["rows"] == ["'crank.position.x' - 2.0*'rate(theta)'", "'slider.x' - 'r'"]
    loaded = Scene.load(tmp_path / "scene.json")
    assert loaded.coordinates == scene.coordinates


def test_a_row_may_be_a_number_and_a_drive_constant(tmp_path):
    """Both are refused when the scene is compiled, and told of as they were written."""
    scene = Scene()
    scene.world.attach(link("a"), joints.revolute("x"))
    scene.world.attach(link("b"), joints.revolute("x").driven(sp.Integer(1)))
    scene.constrain(sp.Integer(1), name="odd")
    loaded = round_trip(scene, tmp_path)
    assert loaded["b"].joint.drive == (1.0,) and loaded.constraints[0].rows == (1.0,)


def test_a_loaded_scene_can_be_built_on(tmp_path):
    def begun():
        scene = Scene()
        scene.world.attach(link("a"), joints.revolute("x").driven(scene.coordinate("q")))
        return scene

    scenes = [begun(), round_trip(begun(), tmp_path)]
    for scene in scenes:
        q = sp.Symbol("q", real=True)
        scene["a"].attach(link("b"), joints.revolute("y").driven(sp.sin(q)))
        scene.constrain(scene["b"].position[0] - q)
        with pytest.raises(rd.ModelError, match="'q' is declared already"):
            scene.coordinate("q")
        with pytest.raises(rd.ModelError, match="two constraints are named 'constraint 1'"):
            scene.constrain(q, name="constraint 1")
    assert_same_content(*scenes)


def test_all_that_a_scene_holds_is_known_to_files():
    """Who gives a scene, a body or a joint another attribute teaches scene.file to keep it, and adds it here.

    What a body was lowered to, and is where it stands alone, is found again, and which attachment hung it counts in
    this process only: no file keeps them.
    """
    known = {"_gravity", "world", "parameters", "coordinates", "constraints", "forces", "joint_names", "pairs"}
    known.add("passing")
    assert vars(Scene()).keys() == known
    node = {"_name", "_tree", "parent", "children", "shapes", "properties", "joint", "place", "order", "act"}
    assert vars(Body("a")).keys() == node | {"strength", "lowered", "charted"}
    assert {f.name for f in dataclasses.fields(ConstraintGroup)} == {"name", "rows", "redundant", "strength"}
    assert {f.name for f in dataclasses.fields(ElementSpec)} == {"name", "terms", "energy", "stretches"}
    assert {f.name for f in dataclasses.fields(Pair)} == {"collide", "material"}
    assert {f.name for f in dataclasses.fields(shapes.Shape)} == {"at", "color", "collision", "visual", "material"}
    assert {f.name for f in dataclasses.fields(SurfaceContact)} == {
        "first",
        "second",
        "flip",
        "turn",
        "spins",
        "charts",
    }
    assert set(Joint.__annotations__) == {"program", "coordinates", "origin"}
    made = {
        name for name in joints.__all__ if name not in ("CurvePath", "Joint", "PatchShape", "TurnLimits", "surfaces")
    }
    assert made == constructors.ARGUMENTS.keys() | {"charts", "gear"}  # a gear is a revolute joint that follows
