"""Impulses of a step that is taken in parts: what contacts are told to have given adds up to what bodies got."""

import numpy as np
import pytest
from contact_scenes import at, bullet, bullet_ball, mirror, put, set_twist

import recursive_dyn as rd
from scene import Scene, shapes


def thrown(seed: int, restitution: float) -> tuple[Scene, np.ndarray]:
    """Six things of three shapes above a floor, and twists (6, 6) by which they are thrown at it and each other."""
    rng, scene, material = np.random.default_rng(seed), Scene(), rd.Material(friction=0.5, restitution=restitution)
    scene.world.shapes.append(shapes.Plane(material=material))
    kinds = shapes.Box((0.2, 0.15, 0.1), material=material), shapes.Sphere(0.08, material=material)
    kinds = *kinds, shapes.Capsule(0.05, 0.15, material=material)
    for k in range(6):
        put(scene, f"thing {k}", kinds[k % 3], at(0.3 * (k % 3), 0.05 * k, 0.2 + 0.3 * (k // 3)), 1.0 + k)
    return scene, np.hstack([rng.normal(0, 8, (6, 3)), rng.normal(0, 2, (6, 2)), rng.uniform(-12, -4, (6, 1))])


def pushes(sim: rd.Simulation) -> np.ndarray:
    """What contacts are told to have given each body, N s."""
    told, result = sim.contacts, np.zeros((len(sim.dynamics.bodies), 3))
    for sign, side in ((1.0, told.a), (-1.0, told.b)):
        own = (side >= 0) & (side < len(result))
        np.add.at(result, side[own], sign * told.impulse[own])
    return result


@pytest.mark.parametrize("h", [1 / 30, 1 / 60, 1 / 240])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_impulses_of_contacts_are_those_of_all_parts(restitution, h):
    """Those of contacts that ended within a step were missing: of a box that bounces at 1/30 s more than half."""
    cut, ended = 0, 0
    for seed in range(2):
        scene, twists = thrown(seed, restitution)
        with mirror(scene, h, ground=False) as shown:
            sim = shown.sim
            for k, twist in enumerate(twists):
                set_twist(sim, f"thing {k}", twist[:3], twist[3:])
            for _ in range(round(0.8 / h)):
                shown.step()
                told, parts = pushes(sim), sim.solution.substeps
                felt = np.array([sim.contact_wrench(name)[3:] for name in sim.dynamics.bodies]) * h
                assert told == pytest.approx(felt, abs=1e-9)
                cut, ended = cut + (parts > 1), ended + (len(sim.contacts) > sim.solution.contacts)
                assert all(contact.body_a for contact in sim.contacts)
    assert cut > 0
    assert ended > 0 or restitution == 0.0


def test_a_snapshot_tells_them_too():
    scene, twists = thrown(1, 0.7)
    with mirror(scene, 1 / 30, ground=False) as shown:
        sim = shown.sim
        for k, twist in enumerate(twists):
            set_twist(sim, f"thing {k}", twist[:3], twist[3:])
        while not len(sim.contacts) > sim.solution.contacts:
            shown.step()
        told, kept = pushes(sim), sim.snapshot()
        shown.step(3)
        sim.restore(kept)
        assert (pushes(sim) == told).all()


def test_those_on_bullets_own_bodies_are_told_by_their_names():
    """Which others take part from part to part of a step; ours, thrown at 25 m/s, hits one after the other."""
    material, ended = rd.Material(0.5, restitution=0.9), 0
    with bullet(gravity=0.0) as client:
        for k in range(4):
            bullet_ball(client, (0.5 * k, 0.03 * (-1) ** k, 0), 0.2, 0.1, material)
        scene = Scene(gravity=(0, 0, 0))
        for k in range(2):
            put(scene, f"ours {k}", shapes.Sphere(0.1, material=material), at(-0.5 - 0.4 * k, 0.0, 0.02), 3.0)
        with mirror(scene, 1 / 30, client=client, ground=False) as shown:
            sim = shown.sim
            for k in range(2):
                set_twist(sim, f"ours {k}", (0, 0, 0), (25.0, 0, 0))
            names = {contact.body_b for contact in sim.contacts}
            for _ in range(10):
                shown.step()
                felt = np.array([sim.contact_wrench(name)[3:] for name in sim.dynamics.bodies]) / 30
                assert pushes(sim) == pytest.approx(felt, abs=1e-9)
                events = {(event.body_a, event.body_b) for event in sim.contact_events}
                pairs = {(contact.body_a, contact.body_b) for contact in sim.contacts if any(contact.impulse)}
                assert pairs <= events
                names |= {contact.body_b for contact in sim.contacts}
                ended += len(sim.contacts) > sim.solution.contacts
    assert ended > 0 and len(names) > 2
