"""Scenes of many bodies: names are looked up, and work grows no faster than the number of bodies."""

import random

import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints


def test_a_name_is_one_bodys_in_all_that_hangs_together():
    scene = Scene()
    arm = scene.world.attach(Body("arm", mass=1.0), joints.revolute("x"))
    hand = Body("hand", mass=1.0)
    hand.attach(Body("arm", mass=1.0), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match="two bodies are named 'arm'"):
        arm.attach(hand, joints.revolute("x"))
    assert hand.parent is None and scene.world.find("hand") is None
    with pytest.raises(rd.ModelError, match="'hand' cannot be renamed: another one is named 'arm'"):
        hand.name = "arm"
    with pytest.raises(rd.ModelError, match="needs a name"):
        hand.name = ""
    arm.name = "upper arm"
    arm.attach(hand, joints.revolute("x"))
    assert scene["arm"].parent is hand and scene["upper arm"] is arm and "arm" in scene
    assert [b.name for b in scene.bodies] == ["upper arm", "hand", "arm"]


def test_what_is_detached_keeps_its_own_names():
    scene = Scene()
    a = scene.world.attach(Body("a", mass=1.0), joints.revolute("x"))
    b = a.attach(Body("b", mass=1.0), joints.revolute("x"))
    b.attach(Body("c", mass=1.0), joints.revolute("x"))
    b.detach()
    assert "c" not in scene and b.find("c") is not None and b.root() is b
    scene.world.attach(Body("c", mass=1.0), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match="two bodies are named 'c'"):
        a.attach(b, joints.revolute("x"))
    with pytest.raises(rd.ModelError, match="to itself or to a body it carries"):
        b.find("c").attach(b, joints.revolute("x"))


@pytest.mark.parametrize("seed", range(5))
def test_trees_put_together_in_any_order_are_one(seed):
    rng = random.Random(seed)
    bodies = [Body(f"b{i}", mass=1.0) for i in range(40)]
    scene, fixed = Scene(), joints.fixed()
    hung = [(rng.choice([scene.world, *bodies[:i]]), bodies[i]) for i in range(40)]
    rng.shuffle(hung)
    for parent, child in hung:
        parent.attach(child, fixed)
    assert {b.name for b in scene.bodies} == {f"b{i}" for i in range(40)}
    assert all(scene[b.name] is b and b.root() is scene.world for b in bodies)
    order = scene.bodies
    assert all(b.parent is scene.world or order.index(b.parent) < order.index(b) for b in bodies)
