"""Forces that differ in what they are of alone are different forces, whatever was compiled before them."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.program import content_hash
from recursive_dyn.graph.traversal import evaluate, reachable, substitute
from scene import Body, Scene, joints

STATE = (1.0, 10.0, 0.5, -3.0)  # places, then speeds, of both bodies


def moved(law) -> tuple[str, float]:
    """The key of a force law(a, b, p, r) on the first of two bodies, and what it is."""
    scene = Scene(gravity=(0, 0, 0))
    p, r = scene.parameter("p", 2.0), scene.parameter("r", 5.0)
    a, b = (Body(name, mass=1.0, inertia=0.02 * np.eye(3)) for name in "ab")
    scene.world.attach(a, joints.prismatic("x"))
    scene.world.attach(b, joints.prismatic("y"))
    scene.force(a.q[0], law(a, b, p, r))
    d = scene.compile()
    return d.model.forces[0].key, d.passive_forces(np.array(STATE[:2]), np.array(STATE[2:]))[0]


OF = {
    "own place": (lambda a, b, p, r: a.q[0], 1.0),
    "own speed": (lambda a, b, p, r: a.v[0], 0.5),
    "other place": (lambda a, b, p, r: b.q[0], 10.0),
    "other speed": (lambda a, b, p, r: b.v[0], -3.0),
    "a parameter": (lambda a, b, p, r: p, 2.0),
    "another": (lambda a, b, p, r: r, 5.0),
    "a position": (lambda a, b, p, r: b.position[1], 10.0),
}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (lambda x: -2 * x, lambda x: -2.0 * x),
        (lambda x: -3 * sp.sin(x) + x**2, lambda x: -3.0 * np.sin(x) + x**2),
        (lambda x: -5 * sp.sign(x), lambda x: -5.0 * np.sign(x)),
    ],
    ids=["linear", "smooth", "sign"],
)
def test_each_is_of_what_it_says(written, value):
    keys = set()
    for of, x in OF.values():
        key, force = moved(lambda a, b, p, r, of=of: written(of(a, b, p, r)))
        np.testing.assert_allclose(force, value(x), rtol=1e-12)
        keys.add(key)
    assert len(keys) == len(OF)


@pytest.mark.parametrize("name", ["p", "r"])
def test_motors_are_of_their_own_parameters(name):
    scene = Scene(gravity=(0, 0, 0))
    throttles = {own: scene.parameter(own, value) for own, value in (("p", 0.1), ("r", 1.0))}
    arm = Body("arm", mass=1.0, inertia=0.02 * np.eye(3))
    scene.world.attach(arm, joints.revolute("y"))
    scene.motor(arm.q[0], [(0, 2.0), (15, 1.5), (40, 0)], throttles[name])
    torque = scene.compile().passive_forces(np.zeros(1), np.zeros(1))[0]
    np.testing.assert_allclose(torque, {"p": 0.2, "r": 2.0}[name], rtol=1e-12)


def test_nodes_of_two_graphs_at_one_place_are_two():
    g, h = Graph(), Graph()
    x, y = g.input("x"), h.input("y")
    both = [2.0 * x, 7.0, 2.0 * y]
    assert len(reachable(both)) == 4
    assert evaluate(both, {"x": 1.0, "y": 5.0}) == [2.0, 7.0, 10.0]
    assert substitute(both, {"x": 1.0, "y": 5.0}) == [2.0, 7.0, 10.0]
    hashes = {content_hash("", s) for s in (both, [2.0 * x, 7.0, 2.0 * x], [2.0 * y, 7.0, 2.0 * y], both[::-1])}
    assert len(hashes) == 4 and content_hash("", both) in hashes


def test_a_force_put_in_the_place_of_another_while_running_acts():
    scene = Scene(gravity=(0, 0, 0))
    a = Body("a", mass=1.0, inertia=0.02 * np.eye(3))
    scene.world.attach(a, joints.prismatic("x"))
    scene.force(a.q[0], -4 * a.q[0], name="pull")
    sim = rd.Simulation(scene.compile(), 1e-4)
    sim.q[:], sim.v[:] = 1.0, 0.5
    for strength in (-4.0, -2.0):
        before = sim.v[0]
        sim.step()
        np.testing.assert_allclose((sim.v[0] - before) / 1e-4, strength, rtol=1e-3)
        scene.forces.clear()
        scene.force(a.q[0], -4 * a.v[0], name="pull")
        sim.update(scene.compile())
