"""A simulation that goes on with an edited scene: state, momenta, forces, motors and events by name."""

import numpy as np
import pytest
from trees import random_body

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts
from scene import Body, Scene, joints, shapes


def spinning(count):
    scene = Scene(gravity=(0, 0, -3.0))
    for i in range(count):
        scene.world.attach(random_body(np.random.default_rng(i), f"b{i}"), joints.free())
    return scene


def whirled(scene):
    sim = rd.Simulation(scene.compile(), 1e-3)
    sim.v = np.random.default_rng(1).normal(size=sim.dynamics.nv)
    return sim


def floor(sim):
    """Balls of 0.1 m over z = 0."""
    height = sim.frames()[0][:, 2, 3] - 0.1
    near = np.flatnonzero(height < 0.01)
    n = len(near)
    point = sim.frames()[0][near, :3, 3] - [0, 0, 0.1]
    on = point * [1, 1, 0]
    friction = np.tile([0.5, 0.5, 0, 0, 0], (n, 1))
    keys = np.array([hash(sim.dynamics.bodies[k]) % 2**31 for k in near])
    return Contacts(near, np.full(n, STATIC), point, on, np.tile([0.0, 0, 1], (n, 1)), height[near], friction, keys)


def balls(count):
    scene = Scene()
    for i in range(count):
        ball = Body(f"ball {i}", shapes=[shapes.Sphere(0.1)], mass=1.0)
        scene.world.attach(ball, joints.free(), at=rd.pose(xyz=(i, 0, 0.1)))
    return scene


def of(sim, body):
    q = [k for k, name in enumerate(sim.dynamics.coordinates) if name.startswith(f"{body}.")]
    v = [k for k, name in enumerate(sim.dynamics.velocity_coordinates) if name.startswith(f"{body}.")]
    return np.concatenate([sim.q[q], sim.v[v]])


@pytest.mark.parametrize("surrounded", [False, True])
def test_momenta_of_those_that_stay_are_kept_bit_by_bit(surrounded):
    """Five bodies tumble; one goes, two come. Momentum is carried from step to step if there is a detector."""
    scene, alone = spinning(5), spinning(5)
    sim, twin = whirled(scene), whirled(alone)
    for each in (sim, twin):
        each.detect = (lambda sim: Contacts.none()) if surrounded else None
        each.step(50)
    scene["b2"].detach()
    for i in (7, 8):
        scene.world.attach(random_body(np.random.default_rng(i), f"b{i}"), joints.free(), at=rd.pose(xyz=(i, 0, 0)))
    sim.update(scene.compile())
    assert sim.time == twin.time and sim.dynamics.bodies == ("b0", "b1", "b3", "b4", "b7", "b8")
    np.testing.assert_array_equal(of(sim, "b7"), [0, 0, 0, 0, 0, 0, 1, *[0] * 6])
    for _ in range(3):
        for body in ("b0", "b1", "b3", "b4"):
            np.testing.assert_array_equal(of(sim, body), of(twin, body))
        sim.step(40), twin.step(40)
    assert of(sim, "b8")[2] == pytest.approx(-1.5 * 0.12**2, rel=0.02)


def test_a_velocity_that_somebody_wrote_before_an_edit_stands():
    """Momentum that is carried on is not that of before."""
    scene = spinning(2)
    scene.gravity = (0, 0, 0)
    sim = whirled(scene)
    sim.detect = lambda sim: Contacts.none()
    sim.step(5)
    sim.v[:3], sim.v[3:6] = 0.0, (0.0, 0.0, 2.0)
    scene.world.attach(random_body(np.random.default_rng(7), "late"), joints.free())
    sim.update(scene.compile())
    sim.step(5)
    np.testing.assert_allclose(of(sim, "b0")[7:], [0, 0, 0, 0, 0, 2.0], atol=1e-12)


def test_the_energy_that_a_body_had_goes_with_it():
    scene = spinning(5)
    sim = whirled(scene)
    before = sim.dynamics.kinetic_energy(sim.q, sim.v)
    q, v = np.zeros(7), of(sim, "b3")[7:]
    q[6] = 1.0
    alone = Scene()
    alone.world.attach(random_body(np.random.default_rng(3), "b3"), joints.free())
    gone = alone.compile().kinetic_energy(q, v)
    scene["b3"].detach()
    sim.update(scene.compile())
    assert sim.dynamics.kinetic_energy(sim.q, sim.v) == pytest.approx(before - gone, rel=1e-14)


def test_forces_motors_parameters_and_charts_go_on():
    scene = Scene()
    length = scene.parameter("length", 0.5)
    for i in range(3):
        arm = Body(f"arm {i}", mass=1.0, inertia=np.eye(3) * 0.1, center_of_mass=(length, 0, 0))
        scene.world.attach(arm, joints.revolute("y"))
    scene.world.attach(random_body(np.random.default_rng(0), "top"), joints.charts(*map(joints.euler, ("zyx", "xyz"))))
    sim = rd.Simulation(scene.compile(), 1e-3)
    sim.parameters["length"] = 0.7
    sim.rechart("top", 1)
    sim.motors["arm 2.angle"] = rd.Motor(velocity=1.5)
    sim.motors["arm 0.angle"] = rd.Motor(velocity=0.5)
    sim.contact.iterations = 77
    sim.tau[1] = 4.0
    sim.apply_force("arm 1", (0, 0, 5))
    scene["arm 0"].detach()
    sim.update(scene.compile())
    assert sim.parameters["length"] == 0.7 and sim.charts == {"top": 1}
    assert dict(sim.motors) == {"arm 2.angle": rd.Motor(velocity=1.5)}
    assert sim.contact.iterations == 77 and sim.tau[0] == 4.0
    sim.step()
    assert sim.v[1] == pytest.approx(1.5, rel=0.05)
    assert sim.v[0] * (0.1 + 0.49) == pytest.approx(1e-3 * (4.0 + 9.81 * 0.7), rel=1e-3)


def test_contacts_of_what_went_end_and_others_keep_their_impulses():
    scene = balls(4)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.detect = floor
    sim.step(50)
    sim.step()
    assert {e.body_a for e in sim.contact_events if e.kind == "stay"} == {f"ball {i}" for i in range(4)}
    weights = sim.contacts.impulse[:, 2].copy()
    scene["ball 1"].detach()
    scene.world.attach(Body("late", shapes=[shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose(xyz=(9, 0, 0.1)))
    sim.update(scene.compile())
    np.testing.assert_array_equal(sim.contacts.a, [0, 1, 2])
    np.testing.assert_array_equal(sim.contacts.impulse[:, 2], weights[[0, 2, 3]])
    sim.step()
    kinds = {kind: {e.body_a for e in sim.contact_events if e.kind == kind} for kind in ("begin", "stay", "end")}
    assert kinds == {"begin": {"late"}, "stay": {"ball 0", "ball 2", "ball 3"}, "end": {"ball 1"}}
    sim.step()
    assert {e.kind for e in sim.contact_events} == {"stay"}


def test_a_name_that_comes_again_is_another_body():
    """Who went has ended before who came begins."""
    scene = balls(2)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.detect = floor
    sim.step()
    scene["ball 1"].detach()
    sim.update(scene.compile())
    scene.world.attach(
        Body("ball 1", shapes=[shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose(xyz=(5, 0, 0.1))
    )
    sim.update(scene.compile())
    sim.step()
    told = [e.kind for e in sim.contact_events if e.body_a == "ball 1"]
    assert sorted(told) == ["begin", "end"]


def test_what_cannot_be_compiled_changes_nothing():
    scene = balls(2)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    dynamics, q = sim.dynamics, sim.q
    with pytest.raises(rd.StateError, match="compiled dynamics"):
        sim.update(scene)
    assert sim.dynamics is dynamics and sim.q is q


def test_a_world_that_empties_and_fills_again():
    scene = balls(1)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.detect = floor
    sim.step()
    scene["ball 0"].detach()
    sim.update(scene.compile())
    sim.step()
    assert [e.kind for e in sim.contact_events] == ["end"]
    scene.world.attach(Body("again", shapes=[shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose(xyz=(0, 0, 0.1)))
    sim.update(scene.compile())
    sim.step()
    assert [(e.kind, e.body_a) for e in sim.contact_events] == [("begin", "again")]
