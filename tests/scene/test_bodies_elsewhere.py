"""A body that is one known before but for its name and where it stands has the model that it would have had first."""

import numpy as np
import pytest
from trees import random_body

import recursive_dyn as rd
from recursive_dyn.model import elsewhere
from scene import Body, Scene, joints, shapes

JOINTS = {
    "free": joints.free, "ball": joints.ball, "slider": lambda: joints.prismatic("x", limits=(-1, 1), damping=0.1),
    "hinge": lambda: joints.revolute("y"), "moved": lambda: joints.fixed(rd.pose((1, 0, 0))) @ joints.ball(),
}  # fmt: skip
TURNS = {"as it is": (0, 0, 0), "about an axis": (0, 0, 0.3), "any": (0.3, -0.8, 1.1)}


def alone(name, joint, turn, place, seed=3):
    scene = Scene()
    scene.world.attach(random_body(np.random.default_rng(seed), name), JOINTS[joint](), at=rd.pose(place, turn))
    return scene.compile()


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("joint", JOINTS)
def test_the_model_is_the_one_that_would_be_made(joint, turn):
    elsewhere._KNOWN.clear()
    made = alone("there", joint, TURNS[turn], (0.5, 1e-15, -2.0))
    elsewhere._KNOWN.clear()
    alone("before", joint, TURNS[turn], (3.0, 0.0, 1.0))
    other = len(elsewhere._KNOWN)
    found = alone("there", joint, TURNS[turn], (0.5, 1e-15, -2.0))
    assert len(elsewhere._KNOWN) == other == (0 if joint in ("hinge", "moved") else 1)
    for mine, yours in zip(found.model.parts.trees[0], made.model.parts.trees[0], strict=True):
        assert mine.structure == yours.structure
        np.testing.assert_array_equal(mine.numbers, yours.numbers)
    mine, yours = found.model.parts.models[0], made.model.parts.models[0]
    assert mine.key == yours.key and mine.body_names == yours.body_names == ("there",)
    assert mine.coordinates == yours.coordinates and mine.coordinate_names == yours.coordinate_names
    assert (mine.links[0].name, mine.plain_slots, mine.units) == (yours.links[0].name, yours.plain_slots, yours.units)
    q, v = made.random(0), np.ones(made.nv)
    np.testing.assert_array_equal(found.poses(q), made.poses(q))
    np.testing.assert_array_equal(found.forward_dynamics(q, v), made.forward_dynamics(q, v))


def test_what_differs_in_more_than_name_and_place_is_another():
    elsewhere._KNOWN.clear()
    for k, (radius, mass) in enumerate([(0.1, 1.0), (0.1, 2.0), (0.2, 1.0)]):
        scene = Scene()
        scene.world.attach(Body(f"b{k}", [shapes.Sphere(radius)], mass=mass), joints.free(), at=rd.pose((k, 0, 0)))
        assert scene.compile().mass_matrix(scene.compile().neutral())[5, 5] == mass
        assert len(elsewhere._KNOWN) == k + 1
