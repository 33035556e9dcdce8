"""Surroundings that touch nothing change nothing: what acts on whatever floats acts in a mirror as it does without."""

from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.model.outer_forces import acted_on
from recursive_dyn.recursion.momenta.impulse import roots
from scene import Body, Scene, joints, shapes

H = 1 / 240
ABOVE = (0.0, 0.0, 2.0)

ON_THE_TREE: dict[str, Callable[[Scene, Body, Body], object]] = {  # between it and the world, or a place in it
    "spring": lambda s, a, b: s.spring(a, s.world, 200.0, 1.0, 0.5, point_a=(0.1, 0, 0)),
    "string": lambda s, a, b: s.string([(b, (0.1, 0, 0)), (s.world, ABOVE)], 200.0, 0.5),
    "gas spring": lambda s, a, b: s.gas_spring(b, s.world, 30.0, 1.5, 2.0, 0.2),
    "bushing": lambda s, a, b: s.bushing(s.world, a, 100.0, 1.0, 1.0, 0.1, point_a=(0, 0, 1)),
    "drag": lambda s, a, b: s.drag(b, 1.0, wind=(3, 0, 0)),
    "muscle": lambda s, a, b: s.muscle([(s.world, ABOVE), (b, (0, 0.1, 0))], 20.0, 1.0, 0.5),
    "force": lambda s, a, b: s.force(a, force=(1, 0, 2), torque=(0, 0.1, 0)),
    "potential": lambda s, a, b: s.potential(5 * a.position[2] ** 2),
    "wall": lambda s, a, b: s.potential(500 * sp.Max(0, b.position[2] - 0.95) ** 2),  # nothing before it
    "wall far away": lambda s, a, b: s.potential(
        9 * sp.Max(0, b.position[0] + 9) ** 2 + 9 * sp.Max(0, b.position[0] - 9)
    ),
    "wall of pieces": lambda s, a, b: s.potential(
        sp.Piecewise((200 * (a.position[2] - 0.6) ** 2, a.position[2] > 0.6), (0, True))
    ),
    "wall and spring": lambda s, a, b: s.potential(
        50 * (b.position - a.position).dot(b.position - a.position) + 300 * sp.Max(0, b.position[0] - 0.3) ** 2
    ),
    "well": lambda s, a, b: s.potential(-5 * sp.exp(-200 * ((a.position[2] - 1.1) ** 2 + a.position[0] ** 2))),
    "along a rate of the base": lambda s, a, b: s.force(a.v[4], force=2.0),
}
IN_THE_TREE: dict[str, Callable[[Scene, Body, Body], object]] = {
    "spring": lambda s, a, b: s.spring(a, b, 200.0, 1.0, 0.2, point_a=(0.1, 0, 0), point_b=(0, 0, 0.1)),
    "bushing": lambda s, a, b: s.bushing(a, b, 100.0, 1.0, 1.0, 0.1, point_a=(0.1, 0, 0)),
    "muscle": lambda s, a, b: s.muscle([(a, (0, 0, 0.2)), (b, (0, 0.1, 0))], 20.0, 0.5, 0.5),
    "string": lambda s, a, b: s.string([(a, (0.3, 0, 0)), (b, (0, 0.1, 0))], 200.0, 0.1),
    "bumper": lambda s, a, b: s.potential(
        300 * sp.Max(0, 0.3 - (b.point((0, 0, 0.1)) - a.point((0.3, 0, 0))).norm()) ** 2 + 2 * abs(b.q[0] - 0.1)
    ),
    "attraction": lambda s, a, b: s.gravitation([a, b], constant=2.0),
    "on its joint": lambda s, a, b: s.force(b.q[0], force=0.5 - 2 * b.q[0]),
    "motor": lambda s, a, b: s.motor(b.q[0], [(0, 2.0), (10, 0.0)]),
}


def floating(element: Callable[[Scene, Body, Body], object] | None = None) -> Scene:
    """Two bodies on a hinge, in the air, and something that acts on them."""
    scene = Scene(gravity=(0, 0, -1.0))
    a = scene.world.attach(Body("a", [shapes.Box((0.2, 0.1, 0.3))], mass=1.0), joints.free(), at=rd.pose((0, 0, 1)))
    b = a.attach(Body("b", [shapes.Box((0.2, 0.1, 0.3))], mass=1.0), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    if element is not None:
        element(scene, a, b)
    return scene


def course(scene: Scene, mirrored: bool, drive: Callable[[rd.Simulation], object] = lambda sim: None) -> np.ndarray:
    """Where 60 steps lead, with velocities."""
    sim = rd.Simulation(scene.compile(), H)
    sim.v[:] = np.linspace(-0.5, 0.7, sim.dynamics.nv)
    mirror = PyBulletMirror(scene, sim, gui=False, ground=False) if mirrored else None
    drive(sim)
    sim.step(60)
    if mirror is not None:
        assert not mirror.contacts
        mirror.close()
    return np.concatenate((sim.q, sim.v))


@pytest.mark.parametrize("kind", ON_THE_TREE)
def test_what_ties_a_floating_tree_to_the_world_pulls_it_in_a_mirror_too(kind):
    scene = floating(ON_THE_TREE[kind])
    alone = course(scene, mirrored=False)
    assert np.abs(alone - course(floating(), mirrored=False)).max() > 1e-3, "it acts"
    assert np.abs(course(scene, mirrored=True) - alone).max() < 1e-12


@pytest.mark.parametrize("kind", IN_THE_TREE)
def test_what_acts_within_a_floating_tree_does_too_and_its_momentum_is_carried(kind):
    scene = floating(IN_THE_TREE[kind])
    assert np.abs(course(scene, mirrored=True) - course(scene, mirrored=False)).max() < 1e-6
    sim = rd.Simulation(scene.compile(), H)
    sim.v[:] = np.linspace(-0.5, 0.7, sim.dynamics.nv)
    with PyBulletMirror(scene, sim, gui=False, ground=False):
        before = sim.dynamics.momentum(sim.q, sim.v)
        sim.step(120)
        after = sim.dynamics.momentum(sim.q, sim.v)
    assert np.abs((after - before)[3:] - [0, 0, -2.0 * 120 * H]).max() < 1e-12


@pytest.mark.parametrize("joint", [joints.free(stiffness=20.0), joints.free(damping=1.0)], ids=["springs", "dampers"])
def test_springs_and_dampers_of_a_free_joint_act_in_a_mirror_too(joint):
    scene = Scene(gravity=(0, 0, -1.0))
    scene.world.attach(Body("a", [shapes.Box((0.2, 0.1, 0.3))], mass=1.0), joint, at=rd.pose((0, 0, 1)))
    assert np.abs(course(scene, mirrored=True) - course(scene, mirrored=False)).max() < 1e-12


def test_a_spring_between_two_floating_bodies_keeps_the_energy_in_a_mirror_too():
    """They swing along it: both ways of energy, and half the mass."""
    scene, stiffness, rest = Scene(gravity=(0, 0, 0)), 200.0, 0.5
    for name, x in (("a", 0.0), ("b", 0.8)):
        scene.world.attach(Body(name, [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((x, 0, 1)))
    scene.spring("a", "b", stiffness, rest=rest)
    sim = rd.Simulation(scene.compile(), H)
    with PyBulletMirror(scene, sim, gui=False, ground=False):
        sim.step(100)
    rate, stretch = np.sqrt(2 * stiffness), 0.8 - rest
    x = dict(zip(sim.dynamics.coordinates, sim.q, strict=True))
    assert x["b.x"] - x["a.x"] == pytest.approx(stretch * (np.cos(rate * 100 * H) - 1.0), abs=1e-5)


def test_forces_from_outside_are_told_from_those_within_a_tree():
    for kind, element in ON_THE_TREE.items():
        model = floating(element).model()
        assert acted_on(model, roots(model)) == {0}, kind
    for kind, element in IN_THE_TREE.items():
        model = floating(element).model()
        assert acted_on(model, roots(model)) == set(), kind
    scene = floating()
    scene.world.attach(Body("c", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((2, 0, 1)))
    scene.world.attach(Body("d", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((4, 0, 1)))
    scene.gravitation(["b", "c"], constant=2.0)
    model = scene.model()
    assert acted_on(model, roots(model)) == {0, 2}
