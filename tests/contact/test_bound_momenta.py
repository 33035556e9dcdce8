"""What floats tied by force elements to each other only keeps the momenta of all, to rounding, as it touches."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Plugin
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.outer_forces import bound_together
from recursive_dyn.recursion.momenta import impulse
from scene import Body, Scene, joints, shapes


def pair(stiffness: float, damping: float = 0.0, floor: bool = False) -> Scene:
    """A ball and a box, which a spring pulls at each other; floor: above one, under gravity."""
    rough = rd.Material(friction=0.5, restitution=0.5)
    scene = Scene(gravity=(0, 0, -9.81 if floor else 0.0))
    ball, box = shapes.Sphere(0.2, material=rough), shapes.Box((0.3, 0.4, 0.35), material=rough)
    if floor:
        scene.world.attach(
            Body("floor", [shapes.Box((9, 9, 1), material=rough)]), joints.fixed(), at=rd.pose((0, 0, -1))
        )
    a = scene.world.attach(Body("a", [ball], mass=1.0), joints.free(), at=rd.pose((-0.3, 0, 0)))
    b = scene.world.attach(Body("b", [box], mass=2.0), joints.free(), at=rd.pose((0.3, 0, 0)))
    scene.spring(a, b, stiffness, damping, 0.3, point_b=(0, 0.1, 0.05))
    return scene


def started(scene: Scene, h: float) -> Plugin:
    game = Plugin(scene, timestep=h)
    game.simulation.v[:] = [0.1, 2, 0.3, 0.5, 0.2, -0.1, -0.3, 0.2, 0.5, -0.4, 0.1, 0.3]
    return game


def momenta(d: Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of all, and spin about the common centre of mass (6,)."""
    L, P = np.split(d.momentum(q, v), 2)
    return np.concatenate([P, L - np.cross(d.center_of_mass(q), P)])


@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stiffness, damping", [(50.0, 2.0), (5000.0, 0.0)])
def test_a_pair_on_a_spring_that_collides_keeps_its_momenta(stiffness, damping, h):
    """In 1 s they came and went by 2 % at 50 N/m and 1/60 s, wholly at 5000."""
    game = started(pair(stiffness, damping), h)
    sim = game.simulation
    before, touched = momenta(sim.dynamics, sim.q, sim.v), 0
    for _ in range(round(1 / h)):
        game.on_frame(h)
        touched += np.abs(sim.contacts.impulse).max(initial=0.0) > 0.0
    assert touched > 0.3 / h
    np.testing.assert_allclose(momenta(sim.dynamics, sim.q, sim.v), before, atol=1e-12)


def test_what_a_floor_gives_a_pair_is_all_that_it_gets():
    """Momentum is that of gravity and of the floor's impulses, to rounding, step by step; it missed 0.02 N s."""
    h = 1 / 60
    game = started(pair(800.0, 1.0, floor=True), h)
    sim, pressed = game.simulation, 0
    for _ in range(60):
        before = momenta(sim.dynamics, sim.q, sim.v)[:3]
        game.on_frame(h)
        found, given = sim.contacts, np.array([0, 0, -3 * 9.81 * h])
        for a, b, J in zip(found.a, found.b, found.impulse, strict=True):
            given += J * (0 < a < 3) - J * (0 < b < 3)
            pressed += 0 in (a, b)
        if sim.solution.substeps == 1:
            np.testing.assert_allclose(momenta(sim.dynamics, sim.q, sim.v)[:3] - before, given, atol=1e-12)
    assert pressed > 5


def test_a_pair_goes_on_from_a_snapshot_bit_by_bit():
    game = started(pair(800.0), 1 / 60)
    for _ in range(20):
        game.on_frame(1 / 60)
    kept = game.simulation.snapshot_bytes()
    ends = []
    for _ in range(2):
        for _ in range(20):
            game.on_frame(1 / 60)
        ends.append(np.concatenate([game.simulation.q, game.simulation.v]))
        game.simulation.restore(kept)
    assert np.array_equal(*ends)


def test_groups_are_what_elements_tie_to_nothing_else():
    """Three on springs in a row; two that a third spring ties to the world; one with drag; one on its own."""
    scene = Scene()
    bodies = [scene.world.attach(Body(f"b{k}", mass=1.0, inertia=np.eye(3)), joints.free()) for k in range(7)]
    scene.spring(bodies[0], bodies[2], 10.0)
    scene.spring(bodies[2], bodies[1], 10.0)
    scene.spring(bodies[3], bodies[4], 10.0)
    scene.spring(scene.world, bodies[4], 10.0)
    scene.force(bodies[5], (1.0, 0, 0))
    model = scene.compile().model
    floating = impulse.floating(model).tolist()
    assert bound_together(model, impulse.roots(model), floating) == [[floating[k] for k in range(3)]]
