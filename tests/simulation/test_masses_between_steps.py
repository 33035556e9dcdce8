"""A mass that is changed between two steps: velocities stay, as nothing pushed, whatever carries momentum on."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts
from scene import Body, Scene, joints


def drifting(kind: str, method: str) -> rd.Simulation:
    """What floats or glides without forces, among surroundings."""
    scene = Scene(gravity=(0, 0, 0))
    m = scene.parameter("m", 1.0)
    inertia = [[0.1 * m, 0, 0], [0, 0.11 * m, 0], [0, 0, 0.12 * m]]
    joint = joints.planar("z") if kind == "hung" else joints.free()
    body = scene.world.attach(Body("body", mass=m, inertia=inertia), joint)
    if kind == "tree":
        arm = Body("arm", mass=0.5 * m, inertia=[[0.01 * m, 0, 0], [0, 0.02 * m, 0], [0, 0, 0.03 * m]])
        body.attach(arm, joints.revolute("z"), at=rd.pose((0.2, 0, 0)))
    simulation = rd.Simulation(scene.compile(method=method), timestep=1 / 240)
    simulation.detect = lambda _: Contacts.none()
    v = simulation.v
    v[[0, 2] if kind == "hung" else [3, 2]] = 1.0, 0.5
    simulation.v = v
    return simulation


@pytest.mark.parametrize("kind", ["alone", "tree", pytest.param("hung", marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["recursive", pytest.param("velocity_constraints", marks=pytest.mark.slow)])
def test_who_gets_heavier_is_as_fast(kind, method):
    """All masses are three times what they were: the motion is the same one, to the end."""
    changed, same = drifting(kind, method), drifting(kind, method)
    for simulation in (changed, same):
        simulation.step(5)
    changed.parameters["m"] = 3.0
    for _ in range(3):
        changed.step(), same.step()
        np.testing.assert_allclose(changed.v, same.v, atol=1e-12)
    changed.parameters["m"] = 1.0
    changed.step(), same.step()
    np.testing.assert_allclose(changed.v, same.v, atol=1e-12)


def test_a_snapshot_of_what_is_to_get_heavier_has_no_momentum_of_before():
    simulation, twin = drifting("alone", "recursive"), drifting("alone", "recursive")
    simulation.step(5), twin.step(5)
    simulation.parameters["m"] = 3.0
    for told in (simulation.snapshot_bytes(), simulation.snapshot()):
        twin.restore(told)
        twin.step()
        assert twin.v[3] == pytest.approx(simulation.v[3], abs=1e-4) and twin.parameters["m"] == 3.0
    simulation.step()
    np.testing.assert_array_equal(simulation.v, twin.v)
