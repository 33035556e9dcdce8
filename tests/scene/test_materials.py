"""Materials of shapes and of pairs of bodies: kept, refused where they are wrong, in scene files and URDF files."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh
from file_damage import DELETE, WEIRD, damage
from hypothesis import given, settings
from hypothesis import strategies as st
from test_file import round_trip
from test_file_errors import places
from test_urdf import MASS, geometry, joint, link, load, write  # noqa: F401 - fixtures

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes
from scene.pairs import Pair

ICE, RUBBER = rd.Material(0.02, restitution=0.1), rd.Material(1.1, static_friction=1.4, rolling_friction=0.01)
SHAPES = [
    shapes.Box((1, 2, 3)),
    shapes.Sphere(1),
    shapes.Capsule(1, 2),
    shapes.Cylinder(1, 2),
    shapes.Ellipsoid((1, 2, 3)),
    shapes.Torus(2, 1),
    shapes.Plane(),
    shapes.Mesh(trimesh.creation.box(extents=(1, 1, 1))),
    shapes.HeightField(np.zeros((2, 2)), (1, 1)),
]
amounts = st.floats(0.0, 10.0) | st.just(-0.0)


@st.composite
def materials(draw):
    friction, more = draw(amounts), draw(st.none() | amounts)
    sticking = None if more is None else friction + more
    return rd.Material(friction, sticking, draw(amounts), draw(amounts), draw(st.floats(0.0, 1.0)))


def duo() -> Scene:
    scene = Scene()
    for name in ("arm", "leg"):
        scene.world.attach(Body(name, [shapes.Sphere(0.1)]), joints.free())
    return scene


def test_the_package_names_it_without_heavy_imports():
    code = "import recursive_dyn as rd, sys; rd.Material(); assert not {'sympy', 'scipy', 'trimesh'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2])


# Shapes


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.label)
def test_every_shape_takes_a_material(shape):
    assert shape.material is None
    made = dataclasses.replace(shape, material=RUBBER)
    assert made.material is RUBBER
    assert made.mass_properties(1.0).mass == shape.mass_properties(1.0).mass


@pytest.mark.parametrize("material", ["rubber", 0.5, {"friction": 0.5}, rd.Material])
def test_a_material_is_a_material(material):
    with pytest.raises(rd.ModelError, match=r"Sphere: material is a rd\.Material or None"):
        shapes.Sphere(1.0, material=material)


# Pairs


def test_a_pair_is_named_in_any_way_and_order():
    for a, b in (("arm", "leg"), ("leg", "arm"), (None, "arm")):
        scene = duo()
        scene.pair(a or scene["leg"], scene[b], collide=False, material=ICE)
        assert scene.pairs == {frozenset(("arm", "leg")): Pair(False, ICE)}
    scene = duo()
    scene.pair("world", "leg", material=RUBBER)
    scene.pair(scene["arm"], scene.world)
    assert scene.pairs == {
        frozenset(("world", "leg")): Pair(None, RUBBER),
        frozenset(("world", "arm")): Pair(None, None),
    }


def test_the_last_word_on_a_pair_counts():
    scene = duo()
    scene.pair("arm", "leg", collide=False, material=ICE)
    scene.pair("leg", "arm", material=RUBBER)
    assert scene.pairs == {frozenset(("arm", "leg")): Pair(None, RUBBER)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("arm", "tail"), r"pair: 'tail' is no body of this scene, which has world, arm, leg"),
        (("tail", "world"), r"'tail' is no body of this scene, which has world, arm, leg"),
        (("arm", "arm"), r"pair of 'arm' and 'arm': .*two bodies of this scene, which has world, arm, leg"),
        (("world", "world"), r"pair of 'world' and 'world': .*which has world, arm, leg"),
        (("arm", None), r"None is no body of this scene"),
        (("arm", 7), r"7 is no body"),
        (("arm", Body("leg")), r"'leg' is no body of this scene"),
        ((Scene().world, "arm"), r"'world' is no body of this scene"),
        (("arm", "leg", "no"), r"pair of 'arm' and 'leg': collide is True or False, not 'no'"),
        (("arm", "leg", True, 0.3), r"pair of 'arm' and 'leg': material is a rd\.Material or None, not 0\.3"),
    ],
)
def test_bad_pairs_are_refused(given, message):
    scene = duo()
    with pytest.raises(rd.ModelError, match=message):
        scene.pair(*given)
    assert scene.pairs == {}


def test_a_detached_body_is_no_longer_known():
    scene = duo()
    leg = scene["leg"].detach()
    with pytest.raises(rd.ModelError, match="'leg' is no body of this scene, which has world, arm"):
        scene.pair("arm", leg)


# Scene files


@given(
    st.lists(st.none() | materials(), min_size=1, max_size=4),
    st.none() | materials(),
    st.sampled_from([None, True, False]),
)
def test_files_keep_materials_and_pairs(tmp_path_factory, given_, replaced, collide):
    scene = duo()
    scene["arm"].shapes[:] = [shapes.Sphere(0.1, material=m) for m in given_]
    scene.world.shapes.append(shapes.Plane(material=given_[0]))
    scene.pair("leg", "arm", collide, replaced)
    scene.pair("arm", "world", None if collide is None else not collide)
    loaded = round_trip(scene, tmp_path_factory.getbasetemp())
    found = [s.material for s in loaded["arm"].shapes]
    assert list(map(repr, found)) == list(map(repr, given_))  # the sign of zero as well
    assert loaded.world.shapes[0].material == given_[0]
    assert list(loaded.pairs.items()) == list(scene.pairs.items())


def test_numbers_of_other_kinds_are_kept(tmp_path):
    scene = duo()
    scene.world.shapes.append(shapes.Plane(material=rd.Material(1, restitution=np.float64(0.25))))
    assert round_trip(scene, tmp_path).world.shapes[0].material == rd.Material(1.0, restitution=0.25)


def test_a_file_without_them_is_as_before(tmp_path):
    duo().save(tmp_path / "scene.json")
    text = (tmp_path / "scene.json").read_text()
    assert "material" not in text and "pairs" not in text and "friction" not in text
    loaded = Scene.load(tmp_path / "scene.json")
    assert loaded.pairs == {} and loaded["arm"].shapes[0].material is None


def test_what_is_written_can_be_read(tmp_path):
    scene = duo()
    scene.world.shapes.append(shapes.Plane(material=RUBBER))
    scene.pair("world", "arm", collide=False)
    scene.pair("leg", "arm", material=rd.Material())
    scene.save(tmp_path / "scene.json")
    content = json.loads((tmp_path / "scene.json").read_text())
    assert content["scenery"][0]["material"] == {"friction": 1.1, "static_friction": 1.4, "rolling_friction": 0.01}
    assert content["pairs"] == [
        {"bodies": ["arm", "world"], "collide": False},
        {"bodies": ["arm", "leg"], "material": {}},
    ]


class Felt(rd.Material):
    pass


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s: s["leg"].detach(), "pair 1: pair: 'leg' is no body of this scene"),
        (lambda s: s.pair("arm", "world", material=Felt()), "pair of arm, world: a material of kind Felt"),
        (lambda s: s.world.shapes.append(shapes.Plane(material=Felt())), "the world: a material of kind Felt"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(spoil, message, tmp_path):
    scene = duo()
    scene.pair("leg", "arm", collide=False)
    scene.save(tmp_path / "scene.json")
    before = (tmp_path / "scene.json").read_bytes()
    spoil(scene)
    with pytest.raises(rd.SceneFileError, match=rf"scene\.json: {message}"):
        scene.save(tmp_path / "scene.json")
    assert (tmp_path / "scene.json").read_bytes() == before


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    scene = duo()
    scene.world.shapes.append(shapes.HeightField([[0, 1], [2, 3]], (1, 1), material=RUBBER))
    scene["arm"].shapes.append(shapes.Box((1, 1, 1), material=ICE))
    scene.pair("arm", "leg", collide=False, material=ICE)
    path = tmp_path_factory.mktemp("written") / "scene.json"
    scene.save(path)
    return path.read_text()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("scenery", 0, "material"), 3, "the world: material of HeightField must be an object"),
        (("scenery", 0, "material", "grip"), 1, "material of HeightField has the unknown field 'grip'"),
        (("scenery", 0, "material", "friction"), "1", "material of HeightField: friction must be a finite number"),
        (("scenery", 0, "material", "friction"), True, "material of HeightField: friction must be a finite number"),
        (("scenery", 0, "material", "friction"), -1, "material of HeightField: material: friction must be"),
        (("scenery", 0, "material", "static_friction"), 0.1, "static_friction 0.1 must not be below friction"),
        (("scenery", 0, "material", "restitution"), 2, "material of HeightField: .*restitution 2.0"),
        (("bodies", 0, "shapes", 1, "material", "friction"), None, "body 'arm': material of Box: friction must be"),
        (("pairs",), {}, "pairs must be a list"),
        (("pairs", 0), 3, "pair 1: it must be an object"),
        (("pairs", 0, "bodies"), DELETE, "pair 1: it has no field 'bodies'"),
        (("pairs", 0, "bodies"), "arm", "pair 1: bodies must be a list"),
        (("pairs", 0, "bodies"), ["arm"], "pair 1: bodies must be two names"),
        (("pairs", 0, "bodies"), ["arm", "leg", "world"], "pair 1: bodies must be two names"),
        (("pairs", 0, "bodies"), ["arm", 3], "pair 1: each of its bodies must be a text"),
        (("pairs", 0, "bodies"), ["arm", "tail"], "pair 1: pair: 'tail' is no body of this scene, which has world"),
        (("pairs", 0, "bodies"), ["arm", "arm"], "pair 1: pair of 'arm' and 'arm'"),
        (("pairs", 0, "collide"), 0, "pair 1: collide must be true or false"),
        (("pairs", 0, "material"), [], "pair 1: its material must be an object"),
        (("pairs", 0, "material", "friction"), -1, "pair 1: its material: material: friction must be"),
        (("pairs", 0, "force"), 1, "pair 1: it has the unknown field 'force'"),
        (("pairs",), [{"bodies": ["arm", "leg"]}, {"bodies": ["leg", "arm"]}], "pair 2: 'leg' and 'arm' are a pair"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text, place, value, message, tmp_path):
    content = json.loads(text)
    damage(content, [(place, value)])
    (tmp_path / "scene.json").write_text(json.dumps(content))
    with pytest.raises(rd.SceneFileError, match=rf"scene\.json: .*{message}"):
        Scene.load(tmp_path / "scene.json")


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_file_loads_or_is_refused_by_name(text, tmp_path_factory, data):
    content = json.loads(text)
    everywhere = [p for p in places(content) if p and {"scenery", "shapes", "pairs"} & {*p}]
    pairs = st.tuples(st.sampled_from(everywhere), st.sampled_from([*WEIRD, DELETE, "arm", "world"]))
    damage(content, data.draw(st.lists(pairs, min_size=1, max_size=3)))
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_text(json.dumps(content))
    try:
        scene = Scene.load(path)
    except rd.SceneFileError:
        return
    scene.save(path)


# URDF files


def contact(**values) -> str:
    inside = "".join(f'<{tag} value="{value}"/>' for tag, value in values.items())
    return f"<contact>{inside}</contact>"


BALL = geometry('<sphere radius="1"/>', "collision")


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("", None),
        ("<contact/>", None),
        ('<contact><stiffness value="300"/><friction_anchor/></contact>', None),
        (contact(lateral_friction=0.8), rd.Material(0.8)),
        (contact(rolling_friction=0.01, spinning_friction=".02"), rd.Material(0.5, None, 0.01, 0.02)),
        (contact(restitution=1, inertia_scaling=3), rd.Material(restitution=1.0)),
        (contact(lateral_friction=0.8) + contact(lateral_friction=0.1, restitution=1), rd.Material(0.8)),
        ('<contact><restitution value="0.1"/><restitution value="0.2"/></contact>', rd.Material(restitution=0.1)),
    ],
)
def test_contact_elements_are_materials_of_the_links_shapes(load, inside, expected):  # noqa: F811
    scene = load(
        link("base", MASS + BALL), link("a", inside + MASS + BALL + geometry("<plane/>")), joint("j", "base", "a")
    )
    assert [s.material for s in scene["a"].shapes] == [expected, expected]
    assert scene["base"].shapes[0].material is None


def test_scenery_of_a_link_named_world_has_its_material(load):  # noqa: F811
    scene = load(link("world", contact(lateral_friction=2) + BALL), link("a"), joint("j", "world", "a"))
    assert scene.world.shapes[0].material == rd.Material(2.0)


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<contact><lateral_friction/></contact>", "<lateral_friction> has no value="),
        (contact(lateral_friction="rough"), "<lateral_friction value='rough'> must hold 1 finite number"),
        (contact(rolling_friction="nan"), "<rolling_friction value='nan'> must hold 1 finite number"),
        (contact(spinning_friction="1 2"), "<spinning_friction value='1.*2'> must hold 1 finite number"),
        (contact(lateral_friction="-1"), "material: friction must be .* not -1.0"),
        (contact(restitution="1.5"), "material: restitution 1.5 would make energy"),
        (contact(restitution="${e}"), "<restitution> holds xacro expressions"),
    ],
)
def test_bad_contact_elements_are_named(load, inside, message):  # noqa: F811
    with pytest.raises(rd.SceneFileError, match=rf"robot\.urdf: link 'a': {message}"):
        load(link("a", MASS + inside))


@pytest.mark.parametrize(
    "name", ["laikago/laikago.urdf", "quadruped/minitaur.urdf", "sphere_with_restitution.urdf", "soccerball.urdf"]
)
def test_shipped_robots_have_the_surfaces_that_pybullet_reads(name):
    bullet = pytest.importorskip("pybullet")
    path = Path(pytest.importorskip("pybullet_data").getDataPath()) / name
    scene = Scene.from_urdf(path, fixed_base=True, skip_missing_meshes=True)
    client = bullet.connect(bullet.DIRECT)
    try:
        robot = bullet.loadURDF(str(path), physicsClientId=client)
        names = [bullet.getBodyInfo(robot, client)[0].decode()]
        names += [bullet.getJointInfo(robot, i, client)[12].decode() for i in range(bullet.getNumJoints(robot, client))]
        compared = 0
        for i, body in enumerate(names):
            info = bullet.getDynamicsInfo(robot, i - 1, client)
            if any(s.collision for s in scene[body].shapes):
                for shape in scene[body].shapes:
                    m = shape.material or rd.Material()
                    theirs = info[1], info[6], info[7], info[5]
                    assert (m.friction, m.rolling_friction, m.spinning_friction, m.restitution) == theirs
                    compared += shape.material is not None
        assert compared
    finally:
        bullet.disconnect(client)
