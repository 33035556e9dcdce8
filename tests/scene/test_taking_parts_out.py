"""Constraints and force elements are taken out by what put them in, or by name; what is left behind is told by name."""

import copy
import pickle

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints


def two_links():
    scene, node = Scene(), None
    for name in ("first", "second"):
        body = Body(name, mass=1.0, center_of_mass=(0, 0, -0.2), inertia=0.02 * np.eye(3))
        node = (node or scene.world).attach(body, joints.revolute("y"), at=rd.pose((0, 0, -0.4 if node else 0)))
    return scene


def test_every_call_returns_what_takes_it_out():
    scene = two_links()
    a, b = scene["first"], scene["second"]
    scene.world.attach(Body("wheel", mass=1.0, inertia=np.eye(3)), joints.planar(), at=rd.pose((0, 0, 0.1)))
    groups = [
        scene.constrain(a.q[0] - b.q[0]),
        scene.gear(a.q[0], b.q[0], 2.0),
        scene.distance(a, b, 0.4),
        scene.roll("wheel", radius=0.1, axis="y"),
        scene.pin(a, b, (0, 0, -0.4)),
    ]
    assert [group.name for group in groups] == [known.name for known in scene.constraints]
    for group in groups:
        scene.constraints.remove(group)
    assert not scene.constraints


@pytest.mark.parametrize("travelled", [lambda s: s, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_names_take_out_too_and_strangers_are_told(travelled):
    scene = two_links()
    gear = scene.gear(scene["first"].q[0], scene["second"].q[0], 2.0)
    scene.spring("first", "world", 1.0, point_b=(0, 0, 1))
    scene = travelled(scene)
    with pytest.raises(rd.ModelError, match=r"no constraint 'spring 1'.*which has 'gear 1'"):
        scene.constraints.remove("spring 1")
    scene.constraints.remove("gear 1")
    scene.forces.remove("spring 1")
    assert not scene.constraints and not scene.forces
    with pytest.raises(rd.ModelError, match=r"no constraint 'gear 1'.*which has none"):
        scene.constraints.remove(gear)


@pytest.mark.parametrize(
    ("hang", "said"),
    [
        (lambda s, b: s.spring(b, s.world, 10.0, name="left"), r"'second' was detached.*scene.forces.remove\('left'\)"),
        (lambda s, b: s.pin(b, s.world, name="left"), r"'second' was detached.*scene.constraints.remove\('left'\)"),
        (lambda s, b: s.constrain(b.q[0], name="left"), r"'second' was detached.*scene.constraints.remove\('left'\)"),
        (lambda s, b: s.constrain(b.v[0], name="left"), r"'second' was detached.*scene.constraints.remove\('left'\)"),
    ],
)
def test_what_a_detached_body_leaves_is_told_with_what_to_do(hang, said):
    scene = two_links()
    part = hang(scene, scene["second"])
    scene["second"].detach()
    with pytest.raises(rd.ModelError, match=said):
        scene.compile()
    (scene.forces if part in scene.forces else scene.constraints).remove("left")
    assert scene.compile().bodies == ("first",)


@pytest.mark.parametrize("kind", ["pin", "weld"])
def test_a_body_is_not_held_to_itself(kind):
    scene = two_links()
    with pytest.raises(rd.ModelError, match=f"'{kind} 1' is between 'first' and itself"):
        getattr(scene, kind)(scene["first"], "first")
    with pytest.raises(rd.ModelError, match="'distance 1' is between 'world' and itself"):
        scene.distance(scene.world, "world", 1.0)
    assert not scene.constraints
