"""A step that a force element has no force for is not taken: it is named, among others that have one."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints


@pytest.mark.parametrize("turned", [np.pi, np.pi - 1e-9])
def test_a_bushing_at_half_a_turn_is_named_and_the_last_good_state_kept(turned):
    scene, own = Scene(gravity=(0, 0, 0)), {"mass": 1.0, "inertia": 0.01 * np.eye(3)}
    a = scene.world.attach(Body("a", **own), joints.free())
    b = a.attach(Body("b", **own), joints.revolute("y"))
    scene.spring(a, scene.world, 10.0, point_a=(0, 0, 0.3), name="spring")
    scene.bushing(a, b, 1.0, 1.0, name="twist")
    simulation = rd.Simulation(scene.compile(), 1 / 240)
    simulation.q[-1] = turned
    state = simulation.q.tobytes()
    with pytest.raises(rd.StateError, match=r"'twist'.*has no finite force where it goes.*scene\.forces\.remove"):
        simulation.step()
    assert simulation.q.tobytes() == state
    scene.forces.remove(scene.forces[-1])
    simulation.update(scene.compile())
    simulation.step()
