"""Materials of shapes and of pairs of bodies: kept, refused where they are wrong, in scene files and URDF files."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import strategies as st
from urdf_elements import MASS, geometry, joint, link

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
def test_contact_elements_are_materials_of_the_links_shapes(load, inside, expected):
    scene = load(
        link("base", MASS + BALL), link("a", inside + MASS + BALL + geometry("<plane/>")), joint("j", "base", "a")
    )
    assert [s.material for s in scene["a"].shapes] == [expected, expected]
    assert scene["base"].shapes[0].material is None


def test_scenery_of_a_link_named_world_has_its_material(load):
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
def test_bad_contact_elements_are_named(load, inside, message):
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
