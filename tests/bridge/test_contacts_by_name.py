"""Contacts of a simulation and of its mirror are told alike: one by one, by name, and as arrays."""

import pybullet
import pytest

import recursive_dyn as rd
from bridge import Contact, PyBulletMirror
from scene import Body, Scene, joints, shapes


@pytest.fixture(scope="module")
def pile():
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    for k, x in enumerate((0.0, 0.02, 1.0)):
        box = Body(f"box {k}", [shapes.Box((0.2, 0.2, 0.1))])
        scene.world.attach(box, joints.free(), at=rd.pose((x, 0, 0.05 + (0.1 if k == 1 else 0.1 * (k == 2)))))
    simulation = rd.Simulation(scene.compile(), timestep=1 / 240)
    with PyBulletMirror(scene, simulation) as mirror:
        table = pybullet.createCollisionShape(
            pybullet.GEOM_BOX, halfExtents=[0.3, 0.3, 0.05], physicsClientId=mirror.client
        )
        mirror.foreign = pybullet.createMultiBody(0, table, basePosition=[1, 0, 0.05], physicsClientId=mirror.client)
        mirror.step(60)
        yield simulation, mirror


def test_both_iterate_over_the_same_records(pile):
    simulation, mirror = pile
    told = [*simulation.contacts]
    assert told == [*mirror.contacts] and all(isinstance(contact, Contact) for contact in told)
    pairs = {(contact.body_a, contact.body_b) for contact in told}
    assert pairs == {("box 0", "world"), ("box 0", "box 1"), ("box 2", f"bullet:{mirror.foreign}")}


def test_arrays_stay(pile):
    simulation, _ = pile
    contacts = simulation.contacts
    assert contacts.impulse.shape == (len(contacts), 3) and len(contacts) == len([*contacts])
    up = sum(contact.impulse[2] for contact in contacts if contact.body_b != "box 1") / simulation.timestep
    assert up == pytest.approx(3 * 4.0 * 9.81, rel=1e-3)
