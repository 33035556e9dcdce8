"""A hanging bridge of planks that two pins a joint hold, a row more of each two than it takes: what is kept of them,
and that what is known of them is not looked for again where others come and go."""

from itertools import pairwise

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.dynamics import constraint_check
from scene import Body, Scene, joints, shapes

SIDES, LENGTH = (-0.35, 0.35), 0.3


def bridge(planks: int) -> Scene:
    """Planks along an arc between two banks, free but for pins at both sides of each gap."""
    scene, turn = Scene(), 1.0 / planks
    radius, hung = LENGTH / 2 / np.tan(turn / 2), list[Body]()
    for k in range(planks):
        a = (k - (planks - 1) / 2) * turn
        at = rd.pose((radius * np.sin(a), 0, 2 + radius * (1 - np.cos(a))), (0, -a, 0))
        hung.append(scene.world.attach(Body(f"p{k}", [shapes.Box((0.28, 0.8, 0.05))], mass=2), joints.free(), at=at))
    half = LENGTH / 2
    for y in SIDES:
        for a, b in pairwise(hung):
            scene.pin(a, b, point_a=(half, y, 0), point_b=(-half, y, 0))
        for plank, x in ((hung[0], -half), (hung[-1], half)):
            bank = (plank.place @ np.array([x, y, 0, 1]))[:3]
            scene.pin(plank, scene.world, point_a=(x, y, 0), point_b=bank)
    return scene


def crate(scene: Scene, name: str) -> None:
    scene.world.attach(Body(name, [shapes.Sphere(0.1)], mass=1), joints.free(), at=rd.pose((0, 0, 5)))


def kept(model):
    return [(c.name, c.usual, c.spare) for c in model.constraints]


@pytest.mark.parametrize("planks", [2, 3, 6])
def test_two_pins_are_a_hinge(planks):
    """n planks in a row on n + 1 parallel axes move in their plane only, in 3 n - 2 (n + 1) = n - 2 ways of their 6 n;
    each pair of pins says once more that its points are as far apart on both."""
    dynamics = bridge(planks).compile()
    C = dynamics.constraint_jacobian(dynamics.neutral())
    assert np.linalg.matrix_rank(C, tol=1e-9) == 6 * planks - max(planks - 2, 0)
    rows = dynamics.model.constraints
    assert len(rows) - sum(c.spare for c in rows) <= 6 * (planks + 1) - (planks + 1)
    assert np.abs(dynamics.call("constraint_positions", dynamics.neutral())).max() < 1e-8


def test_what_is_known_of_rows_is_not_looked_for_again(monkeypatch):
    scene = bridge(3)
    crate(scene, "first")
    before = scene.compile().model

    def never(model):
        raise AssertionError("the rows were known")

    monkeypatch.setattr(constraint_check, "ConstraintSystem", never)
    again = scene.compile().model
    crate(scene, "second")
    more = scene.compile().model
    assert kept(again) == kept(before) == kept(more) and again.assembled == before.assembled
    names = dict(zip(more.coordinate_names, more.assembled, strict=True))
    assert [names[f"second.{c}"] for c in ("x", "y", "z", "qx", "qy", "qz", "qw")] == [0, 0, 0, 0, 0, 0, 1]
    assert {n: names[n] for n in before.coordinate_names} == dict(
        zip(before.coordinate_names, before.assembled, strict=True)
    )


def test_rows_of_coordinates_find_the_bodies_that_they_are_of():
    """Among others, before and behind: those stay at rest, and the rows hold."""
    scene = Scene()
    length = scene.parameter("length", 1.5)
    crate(scene, "first")
    slide = scene.world.attach(Body("slide", mass=1), joints.prismatic("x"))
    crate(scene, "last")
    arm = slide.attach(Body("arm", mass=1, inertia=np.eye(3)), joints.revolute("z"), at=rd.pose((1, 0, 0)))
    scene.constrain(slide.q[0] + arm.q[0] - length, name="reach")
    scene.constrain(slide.v[0] - 0.2 * arm.v[0], name="rates")
    dynamics = scene.compile()
    q = dict(zip(dynamics.model.coordinate_names, dynamics.neutral(), strict=True))
    assert sum(x for name, x in q.items() if name.startswith(("slide", "arm"))) == pytest.approx(1.5, abs=1e-9)
    for name in ("first", "last"):
        assert [x for n, x in q.items() if n.startswith(name)] == [0, 0, 0, 0, 0, 0, 1]
