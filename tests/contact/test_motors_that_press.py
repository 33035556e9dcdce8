"""Strong motors that press a foot on something rest, told of what statics says, whatever springs lift the foot."""

import numpy as np
import pytest
from contact_scenes import energy, mirror

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

H, ROUGH, RADIUS = 1 / 60, rd.Material(friction=0.8), 0.04


MOTORS = (
    {"kp": 2500.0, "kd": 0.0, "max_force": 290.0}, {"kp": 3e3, "kd": 30.0}, {"kp": 300.0},
    {"kp": 3e3, "max_force": 60.0},
)  # fmt: skip


def leg(links: int, stiffness: float, sprung: bool = False) -> Scene:
    """Links of 0.8 m in all from 0.45 m above the ground, or a plate on a spring, with a foot beside the last frame."""
    scene, length = Scene(), 0.8 / links
    plate = shapes.Box((4, 4, 0.2), material=ROUGH)
    on = joints.prismatic("z", stiffness=2e4, damping=600.0) if sprung else joints.fixed()
    scene.world.attach(Body("plate", [plate], mass=5.0), on, at=rd.pose((0.5, 0, -0.1)))
    node, at = scene.world, rd.pose((0, 0, 0.45))
    for k in range(links):
        foot = [shapes.Sphere(RADIUS, material=ROUGH, at=rd.pose((length, 0, 0)))] if k == links - 1 else []
        turn = 1.5 / links * length**2 / 12 * np.eye(3)
        link = Body(f"link {k}", foot, mass=1.5 / links, center_of_mass=(length / 2, 0, 0), inertia=turn)
        node, at = node.attach(link, joints.revolute("y", stiffness=stiffness), at=at), rd.pose((length, 0, 0))
    return scene


def pressing(shown, links: int, **motor) -> rd.Simulation:
    """Its foot at the ground, motors 0.25 rad beyond."""
    sim = shown.sim
    bent = np.array([0.0, 0.1, 0.15])[:links]
    bent[0] = np.arcsin((0.45 - RADIUS) / 0.8) - 0.06 * (links - 1)
    for k in range(links):
        name = f"link {k}.angle"
        sim.q[sim.dynamics.coordinates.index(name)] = bent[k]
        sim.motors[name] = rd.Motor(position=bent[k] + (0.25 if k == 0 else 0.02), **motor)
    return sim


@pytest.mark.parametrize("sprung", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stiffness", [0.0, 20.0])
@pytest.mark.parametrize("links", [1, 3])
@pytest.mark.parametrize("motor", [MOTORS[0], *(pytest.param(m, marks=pytest.mark.slow) for m in MOTORS[1:])])
def test_what_motors_press_rests_under_what_statics_says(links, stiffness, sprung, motor):
    """Springs lifted it off by more than the gap that is looked for, and motors threw it 63 mm into the ground at 12
    rad/s, every fifth step for ever; of several links it stood with up to 0.6 rad/s that were none."""
    with mirror(leg(links, stiffness, sprung), H, "linearly_implicit_rk4", ground=False) as shown:
        sim = pressing(shown, links, **motor)
        shown.step(150)
        before = sim.q.copy()
        shown.step(10)
        assert np.abs(sim.q - before).max() < 1e-6
        assert np.abs(sim.v).max() < 1e-5
        own, rest = [sim.dynamics.coordinates.index(name) for name in sim.motors], np.zeros(sim.dynamics.nv)
        at = np.linalg.inv(sim.dynamics.poses(sim.q)[list(sim.dynamics.bodies).index(f"link {links - 1}")])
        bears = sim.dynamics.inverse_dynamics(sim.q, rest, rest) - sim.dynamics.call("passive_forces", sim.q, rest)
        for contact in sim.contacts:
            last = contact.body_a if contact.body_a != "plate" else contact.body_b
            sign = 1.0 if contact.body_a == last else -1.0
            point = contact.point_on_a if sign > 0.0 else contact.point_on_b
            place = (at @ [*point, 1.0])[:3]
            bears -= sign * sim.dynamics.jacobian(sim.q, last, place)[3:].T @ np.array(contact.impulse) / H
        told = np.array([done.force for done in sim.motor_forces.values()])
        np.testing.assert_allclose(told, bears[own], atol=1e-5 * np.abs(told).max())
        assert len(sim.contacts) > 0


def test_snapshots_go_on_to_the_bit_where_motors_press():
    with mirror(leg(3, 20.0), H, "linearly_implicit_rk4", ground=False) as shown:
        sim = pressing(shown, 3, kp=2500.0, kd=0.0, max_force=290.0)
        for _ in range(4):
            shown.step(2)
            data = sim.snapshot_bytes()
            shown.step(3)
            later = sim.snapshot_bytes()
            sim.restore(data)
            shown.step(3)
            assert sim.snapshot_bytes() == later
            sim.restore(data)


def test_a_limb_on_its_stop_does_not_hold_what_tumbles_in_the_air():
    """A force that turns with its body, taken back where that had turned to, took 0.15 J in a second from it."""
    scene, turn = Scene(), np.diag([0.02, 0.03, 0.04])
    trunk = Body("trunk", mass=1.0, center_of_mass=(0.1, 0, -0.2), inertia=turn)
    limb = Body("limb", mass=0.7, center_of_mass=(0.05, 0, -0.2), inertia=turn / 2)
    scene.world.attach(trunk, joints.free())
    trunk.attach(limb, joints.revolute("y", limits=(-0.4, 1.0)), at=rd.pose((0, 0, -0.4)))
    sim = rd.Simulation(scene.compile(), H)
    sim.motors["limb.angle"] = rd.Motor(position=1.6, kp=200.0, kd=5.0)
    sim.q[-1], sim.v[:3] = 1.0, (1, 4, 2)
    sim.step(2)
    before = energy(sim)
    sim.step(60)
    assert energy(sim) == pytest.approx(before, abs=5e-3)
