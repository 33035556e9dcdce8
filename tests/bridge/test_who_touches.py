"""Who may touch whom: all but neighbours, as robot files say and as the scene says of groups and of pairs."""

from itertools import combinations, pairwise

import numpy as np
import pybullet
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.bodies.colliders import Collider, colliders
from bridge.meshes.files import MeshFiles
from scene import Body, Scene, joints, shapes

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
BALL = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'


def pairs(*names: str) -> set[tuple[str, str]]:
    """Pairs written "a b"."""
    return {tuple(sorted(name.split())) for name in names}


def touching(scene: Scene, ground: bool = False) -> set[tuple[str, str]]:
    """Who touches whom at the start: every body is a ball about nearly the same point, so that all do who may."""
    sim = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, sim, gui=False, ground=ground, contact=False) as shown:
        return {tuple(sorted((c.body_a, c.body_b))) for c in shown.contacts}


def ball(name: str, solid: bool = True) -> Body:
    return Body(name, [shapes.Sphere(0.5, collision=solid)], mass=1.0)


def chain(*links: str) -> Scene:
    """Hinged balls one on the other; "-a" has nothing to collide with, "=a" is fixed to the one before."""
    scene = Scene()
    node = scene.world
    for k, link in enumerate(links):
        joint = joints.fixed() if link.startswith("=") else joints.revolute("xyz"[k % 3])
        node = node.attach(ball(link.strip("-="), not link.startswith("-")), joint, at=rd.pose((0.01, 0.02, 0.03)))
    return scene


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (("a", "b", "c"), pairs("a c")),
        (("a", "-x", "b", "c"), pairs("a c")),
        (("a", "-x", "-y", "b", "c"), pairs("a c")),
        (("a", "=b", "c"), pairs()),
        (("a", "=b", "c", "=d", "e"), pairs("a e", "b e")),
        (("a", "=-x", "b"), pairs()),
        (("-x", "a", "b"), pairs()),
        (("=a", "b", "c"), pairs("a c")),
        (("=a", "=b", "c", "d"), pairs("a d", "b d")),
        (("=a", "-x", "b", "c"), pairs("a c")),
    ],
)
def test_neighbours_are_the_next_that_have_something_to_collide_with(links, expected):
    assert touching(chain(*links)) == expected


def test_what_hangs_on_one_body_is_no_neighbour_of_each_other():
    scene = chain("a", "b")
    scene["a"].attach(ball("c"), joints.ball(), at=rd.pose((0.0, 0.1, 0.0)))
    assert touching(scene) == pairs("b c")


def test_trees_are_strangers_also_where_the_world_carries_both():
    scene = chain("=a", "b")
    scene.world.attach(ball("table"), joints.fixed(), at=rd.pose((0.1, 0.0, 0.0)))
    assert touching(scene) == pairs("a table", "b table")


def test_pairs_overrule_neighbours_and_groups():
    scene = chain("a", "b", "c", "d")
    scene.let_pass("abd")
    assert touching(scene) == pairs("a c")
    scene.pair("a", "b", collide=True)
    scene.pair("d", "a", collide=True)
    scene.pair("a", "c", collide=False)
    assert touching(scene) == pairs("a b", "a d")


def test_a_material_alone_lets_nobody_collide_who_did_not():
    scene = chain("a", "b", "c")
    scene.pair("a", "b", material=rd.Material(friction=0.1))
    scene.pair("a", "c", material=rd.Material(friction=0.1))
    assert touching(scene) == pairs("a c")


def test_pairs_change_while_it_runs():
    scene = chain("a", "b", "c")
    scene.pair("a", "c", collide=False)
    sim = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:

        def now() -> set[tuple[str, str]]:
            shown.sync()
            return {(c.body_a, c.body_b) for c in shown.contacts}

        assert now() == set()
        shown.pair("c", "a", collide=True)
        assert now() == pairs("a c")
        shown.pair("a", scene["b"], collide=True)
        assert now() == pairs("a b", "a c")
        shown.pair("a", "b")
        shown.pair("a", "c")
        assert now() == pairs("a c"), "with nothing said, neighbours pass and others collide"


def robot(path, links: str, extra: str = ""):
    """A URDF file of balls on hinges, one on the other, in small letters those without collision geometry."""
    text = "".join(f'<link name="{n}">{MASS}{BALL if n.isupper() else ""}</link>' for n in links)
    for k, (parent, child) in enumerate(pairwise(links)):
        inside = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/><origin xyz="0.01 0.02 0"/>'
        text += f'<joint name="j{k}" type="continuous">{inside}</joint>'
    file = path / "robot.urdf"
    file.write_text(f"<robot name='r'>{text}{extra}</robot>")
    return file


@pytest.mark.parametrize("fixed", [True, False])
def test_links_of_a_robot_collide_but_for_neighbours(tmp_path, fixed):
    file = robot(tmp_path, "ABCxyD")
    assert touching(Scene.from_urdf(file, fixed)) == pairs("A C", "A D", "B D")
    assert touching(Scene.from_urdf(file, fixed, self_collision=True)) == pairs("A C", "A D", "B D")


def test_a_robot_without_self_collision_touches_others_only(tmp_path):
    file = robot(tmp_path, "ABC")
    scene = Scene()
    scene.add_urdf(file, "p", self_collision=False)
    scene.add_urdf(file, "q", self_collision=False)
    others = {(f"p{a}", f"q{b}") for a in "ABC" for b in "ABC"}
    assert touching(scene) == others
    scene.pair("pA", "pC", collide=True)
    assert touching(scene) == others | pairs("pA pC")
    assert {"world"} <= {name for pair in touching(scene, ground=True) for name in pair}


def test_files_keep_who_passes_whom(tmp_path):
    scene = Scene.from_urdf(robot(tmp_path, "ABCD"), True, self_collision=False)
    scene.pair("A", "D", collide=True)
    scene.save(tmp_path / "scene.json")
    loaded = Scene.load(tmp_path / "scene.json")
    assert loaded.passing == scene.passing == [tuple("ABCD")] and loaded.pairs == scene.pairs
    assert touching(loaded) == touching(scene) == pairs("A D")
    scene["D"].detach()
    scene.pairs.clear()
    scene.save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json").passing == [tuple("ABC")]


def test_a_robot_that_is_the_world_has_no_self_collision_either(tmp_path):
    """Its root link named "world" is the scene's own, whose shapes stay scenery, which meets all bodies."""
    text = "".join(f'<link name="{n}">{MASS}{BALL}</link>' for n in ("world", "A", "B"))
    for k, child in enumerate("AB"):
        text += f'<joint name="j{k}" type="continuous"><parent link="world"/><child link="{child}"/></joint>'
    file = tmp_path / "robot.urdf"
    file.write_text(f"<robot name='r'>{text}</robot>")
    assert touching(Scene.from_urdf(file)) == pairs("A B", "A world", "B world")
    assert touching(Scene.from_urdf(file, self_collision=False)) == pairs("A world", "B world")


@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_self_collision_is_true_or_false(tmp_path, wrong):
    with pytest.raises(rd.SceneFileError, match=r"self_collision is True or False, not"):
        Scene.from_urdf(robot(tmp_path, "AB"), self_collision=wrong)


def test_let_pass_names_what_it_does_not_know():
    scene = chain("a", "b")
    with pytest.raises(rd.ModelError, match=r"let_pass: 'c' is no body of this scene, which has world, a, b"):
        scene.let_pass(["a", "c"])
    with pytest.raises(rd.ModelError, match=r"let_pass takes bodies, not the world"):
        scene.let_pass([scene["a"], scene.world])
    assert scene.passing == []


def test_every_two_of_many_pass():
    scene = Scene()
    for k in range(6):
        scene.world.attach(ball(f"b{k}"), joints.free(), at=rd.pose((0.1 * k, 0.0, 0.0)))
    names = [f"b{k}" for k in range(6)]
    assert touching(scene) == set(combinations(names, 2))
    scene.let_pass(scene[name] for name in names[:4])
    assert touching(scene) == set(combinations(names, 2)) - set(combinations(names[:4], 2))


# Planes


class Lump(shapes.Shape):
    """A shape of which only Bullet knows where it lies on planes."""

    volume = 0.0

    def _solid(self):
        raise NotImplementedError


def lump(part: Lump, files: MeshFiles) -> list[Collider]:
    return [Collider(pybullet.GEOM_SPHERE, part.at, radius=0.1)]


def test_bullet_tells_of_contacts_with_planes_only_where_nobody_else_does():
    """Also of bodies that slept, that were told to pass the scenery, or that have ids which others had before."""
    colliders.register(Lump, lump)
    scene = Scene()

    def come(name: str, shape: shapes.Shape) -> Body:
        body = Body(name, [shape], mass=1.0, center_of_mass=(0, 0, 0), inertia=0.004 * np.eye(3))
        return scene.world.attach(body, joints.free(), at=rd.pose((len(scene.bodies), 0, 0.1)))

    come("ball", shapes.Sphere(0.1))
    ours = come("lump", Lump())
    sim = rd.Simulation(scene.compile(), 1 / 240)
    with PyBulletMirror(scene, sim, gui=False) as shown:

        def told() -> set[str]:
            shown.step()
            points = pybullet.getContactPoints(physicsClientId=shown.client)
            return {name for name, own in shown.bullet_bodies.items() for p in points if {*own}.intersection(p[1:3])}

        assert told() == {"lump"}
        sim.contact.sleep_after = 0.02
        shown.step(120)
        assert set(sim.asleep) == {"ball", "lump"}
        sim.wake()
        assert told() == {"lump"}
        shown.pair("lump", "world", collide=False)
        assert told() == set()
        shown.pair("lump", "world", collide=True)
        assert told() == {"lump"}
        shown.pair("ball", "world", collide=False)
        shown.pair("ball", "world", collide=True)
        assert told() == {"lump"}
        shown.pair("lump", "world", collide=False)
        scene["ball"].detach()
        ours.detach()
        scene.pairs.clear()
        come("third", Lump())
        come("fourth", shapes.Sphere(0.1))
        shown.update()
        assert told() == {"third"}
