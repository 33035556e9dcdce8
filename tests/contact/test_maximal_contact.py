"""Contacts, limits and dry friction in maximal coordinates: impulses travel through joints, and all comes to rest."""

import numpy as np
import pytest
from contact_scenes import at, energy
from test_articulated import limb

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

METHODS = [("velocity_constraints", "semi_implicit_euler", 0.01), ("penalty", "implicit_euler", 0.02)]


def fallen(method: str, integrator: str, steps: int):
    """A trunk with an arm of two parts, dropped on the ground."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    form = shapes.Box((0.5, 0.25, 0.15), material=rd.Material(friction=0.8))
    trunk = scene.world.attach(Body("trunk", [form], mass=6.0), joints.free(), at=at(z=0.4, rpy=(0.3, 0.2, 0)))
    arm = trunk.attach(limb("arm", friction=0.8), joints.ball(), at=at(0.33, 0.2))
    arm.attach(limb("hand", friction=0.8), joints.revolute("y", limits=(-1.0, 0.2)), at=at(0.35))
    d = scene.compile(method)
    worst, most = 0.0, 0.0
    with PyBulletMirror(scene, rd.Simulation(d, 1 / 120, integrator), gui=False) as shown:
        start = energy(shown.sim)
        for _ in range(steps):
            shown.step()
            worst = max(worst, np.abs(getattr(d, "joint_errors", lambda q: (np.zeros(1),))(shown.sim.q)[0]).max())
            most = max(most, energy(shown.sim) - start)
        touching = {(c.body_a, c.body_b) for c in shown.contacts}
    return shown.sim, worst, most, touching


@pytest.mark.slow
@pytest.mark.parametrize("method, integrator, missed", METHODS)
def test_a_body_with_an_arm_falls_and_rests_as_in_joint_coordinates(method, integrator, missed):
    sim, worst, most, touching = fallen(method, integrator, 150)
    reduced, _, _, as_reduced = fallen("auto", "semi_implicit_euler", 150)
    assert worst < missed and most < 0.05
    assert np.abs(sim.dynamics.velocities(sim.q, sim.v)).max() < 0.05
    low = [s.dynamics.center_of_mass(s.q)[2] for s in (sim, reduced)]
    assert abs(low[0] - low[1]) < 2e-3 and {a for a, _ in touching} == {a for a, _ in as_reduced}


@pytest.mark.parametrize("method", ["velocity_constraints", "penalty"])
def test_limits_and_dry_friction_act_on_the_coordinates_of_joints(method):
    scene = Scene()
    rod = {"mass": 1.0, "center_of_mass": (0.25, 0, 0), "inertia": np.diag([0.01, 0.03, 0.03])}
    scene.world.attach(Body("stopped", **rod), joints.revolute("y", limits=(-1.0, 0.5)))
    scene.world.attach(Body("rubbing", **rod), joints.revolute("y", friction=3.0), at=at(y=1.0))
    d = scene.compile(method)
    sim = rd.Simulation(d, 1 / 120)
    sim.step(60)
    (stopped, rubbing), (speed, slow) = d.to_reduced(sim.q, sim.v)
    loose = 1e-3 if method == "velocity_constraints" else 0.1  # explicit springs ring on, about axes too
    assert abs(stopped - 0.5) < loose and abs(speed) < 10 * loose
    assert abs(rubbing) < loose and abs(slow) < 10 * loose
