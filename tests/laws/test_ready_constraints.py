"""Welds, pins, distances and gears: each is the joint that it stands for."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints

INERTIA = np.diag([0.03, 0.04, 0.02])
AT = rd.pose((0.1, 0.2, -0.4), (0.3, -0.2, 0.5))


def link(name, mass=1.0):
    return Body(name, mass=mass, inertia=INERTIA, center_of_mass=(0.02, 0.1, -0.2))


def arm(scene):
    return scene.world.attach(link("arm"), joints.ball())


def paired(scene, closed, at=AT):
    """A second body: hung on the arm by the joint, or floating and held to it by the constraint."""
    node = arm(scene)
    return node, (scene.world.attach(link("hand", 0.6), joints.free(), at=at) if closed else link("hand", 0.6))


def by_weld(scene, closed):
    node, hand = paired(scene, closed)
    if closed:
        scene.weld(node, hand, pose_a=AT)
    else:
        node.attach(hand, joints.fixed(), at=AT)


def by_pin(scene, closed):
    node, hand = paired(scene, closed)
    if closed:
        scene.pin("arm", "hand", point_a=AT[:3, 3])
    else:
        node.attach(hand, joints.ball(), at=AT)


def by_hinge(scene, closed):
    place = rd.pose(AT[:3, 3])
    node, hand = paired(scene, closed, place)
    if closed:
        scene.pin(node, hand, point_a=place[:3, 3], axis=(0, 2, 0))
    else:
        node.attach(hand, joints.revolute("y"), at=place)


def by_gear(scene, closed):
    first = scene.world.attach(link("arm"), joints.revolute("y"))
    if closed:
        second = scene.world.attach(link("hand", 0.6), joints.revolute("x"), at=AT)
        scene.gear(second.q[0], first.q[0], -2.5)
    else:
        theta = joints.revolute("x").driven([-2.5 * first.q[0]])
        scene.world.attach(link("hand", 0.6), theta, at=AT)


@pytest.mark.parametrize("make", [by_weld, by_pin, by_hinge, by_gear])
def test_a_ready_constraint_moves_as_its_joint(make):
    """For a second, from the same start, to the order of the rule: the same poses."""
    ends = []
    for closed in (False, True):
        scene = Scene()
        make(scene, closed)
        d = scene.compile()
        sim = rd.Simulation(d, 1 / 1000, "rk4")
        sim.q[:], sim.v[:] = d.project(d.neutral(), np.zeros(d.nv))
        sim.step(500)
        ends.append(d.poses(sim.q))
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-7)


def test_a_distance_is_a_massless_rod():
    """A bob on a rod of its own swings as a pendulum does: energy and length are kept."""
    scene = Scene()
    body = Body("bob", mass=2.0, inertia=1e-3 * np.eye(3))
    bob = scene.world.attach(body, joints.planar(), at=rd.pose((0.6, 0, -0.8), (np.pi / 2, 0, 0)))
    scene.distance(scene.world, bob, 1.0)
    d = scene.compile()
    sim = rd.Simulation(d, 1 / 500, "rk4")
    start = d.potential_energy(sim.q)
    sim.step(250)
    assert abs(sim.v).max() > 0.5
    assert np.linalg.norm(d.poses(sim.q)[0, :3, 3]) == pytest.approx(1.0, abs=1e-9)
    assert d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) == pytest.approx(start, rel=1e-9)


def test_rows_that_repeat_others_are_left_out():
    """A plane loop closed by a hinge needs two of its five rows."""
    scene = Scene()
    node, at = scene.world, rd.pose((0, 0, 0))
    for k in range(3):
        node = node.attach(Body(f"bar {k}", mass=1.0, inertia=INERTIA), joints.revolute("y"), at=at)
        at = rd.pose((0.5, 0, 0))
    scene.pin(node, scene.world, point_a=(0.5, 0, 0), point_b=(0.7, 0, 0), axis="y")
    assert len(scene.compile().constraints) == 2


def test_a_constraint_is_taken_out_and_put_back():
    scene = Scene()
    node, hand = paired(scene, True)
    group = scene.weld(node, hand, pose_a=AT)
    held = rd.Simulation(scene.compile(), 1 / 240)
    held.step(20)
    scene.constraints.remove(group)
    held.update(scene.compile())
    assert held.dynamics.constraints == ()
    momentum = held.dynamics.momentum(held.q, held.v)
    held.step(1)
    assert np.isfinite(momentum).all()
    scene.add_constraint(group)
    held.update(scene.compile())
    held.q[:], held.v[:] = held.dynamics.project(held.q, held.v)
    held.step(20)
    phi, _ = held.dynamics.constraint_errors(held.q, held.v)
    assert np.abs(phi).max() < 1e-9


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda s, a: s.distance(s.world, a, 0.0), "'distance 1': a distance is above 0"),
        (lambda s, a: s.pin(a, "nobody"), "'pin 1': 'nobody' is no body"),
        (lambda s, a: s.pin(a, s.world, axis=(0, 0, 0)), "'pin 1': axis .* that is not zero"),
        (lambda s, a: s.pin(a, s.world, axis="w"), "'pin 1': axis 'w' is not 'x', 'y', 'z'"),
        (lambda s, a: s.weld(a, s.world, pose_a=np.ones((4, 4))), "'weld 1'"),
        (lambda s, a: [s.pin(a, s.world, name="n"), s.pin(a, s.world, name="n")], "two constraints are named 'n'"),
    ],
)
def test_bad_ready_constraints_are_refused(make, words):
    scene = Scene()
    with pytest.raises(rd.ModelError, match=words):
        make(scene, arm(scene))


@pytest.mark.parametrize("degrees", [30.0, 89.0, 91.0, 135.0, 179.0, 179.99, 180.0])
@pytest.mark.parametrize("axis", [None, (0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_what_is_held_together_comes_home_from_any_turn(axis, degrees):
    """And never ends half a turn away, where sines of the turn vanish too."""
    scene = Scene(gravity=(0, 0, 0))
    for name in "ab":
        scene.world.attach(Body(name, mass=1.0, inertia=np.diag([0.1, 0.12, 0.15])), joints.free())
    if axis is None:
        scene.weld("a", "b")
    else:
        scene.pin("a", "b", axis=axis)
    d = scene.compile()
    q, half = d.neutral(), np.radians(degrees) / 2
    q[[7, 8, 10]] = 0.8 * np.sin(half), -0.6 * np.sin(half), np.cos(half)
    X = d.poses(d.project(q, np.zeros(d.nv))[0])
    R = X[0, :3, :3].T @ X[1, :3, :3]
    held = np.eye(3) if axis is None else np.array(axis)
    np.testing.assert_allclose(R @ held, held, atol=1e-9)
