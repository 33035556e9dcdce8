"""Materials and pairs in scene files: nothing is lost, and what is wrong is named."""

import json

import numpy as np
import pytest
from file_damage import DELETE, WEIRD, damage
from hypothesis import given, settings
from hypothesis import strategies as st
from test_file import round_trip
from test_file_errors import places
from test_materials import ICE, RUBBER, duo, materials

import recursive_dyn as rd
from scene import Scene, shapes

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


@settings(max_examples=120)
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
