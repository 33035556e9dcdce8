"""Instruments on bodies in maximal coordinates read what they read in joint coordinates."""

import numpy as np
import pytest
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints

WAYS = [("velocity_constraints", "semi_implicit_euler"), ("penalty", "implicit_euler")]


def arm() -> Scene:
    """Two rods with dampers, a spring, a motor's and a rubbing joint, and an element of their coordinates."""
    scene, node = Scene(), None
    for k in range(2):
        rod = Body(f"rod{k}", mass=1.0 + k, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
        joint = joints.revolute("y", damping=0.3, stiffness=2.0, friction=0.2 if k else 0.0)
        node = (node or scene.world).attach(rod, joint, at=rd.pose((0.5 if k else 0, 0, 0)))
    scene.potential(3 * (scene["rod0"].q[0] - scene["rod1"].q[0]) ** 4)
    return scene


def watched(method: str, integrator: str | None, rate: int) -> rd.Simulation:
    sim = rd.Simulation(arm().compile(method), 1 / rate, integrator)
    sim.sensors.imu("imu", "rod1", at=rd.pose((0.5, 0, 0), (0.1, 0.2, 0.3)))
    sim.sensors.force("force", "rod1")
    sim.motors["rod0.angle"] = rd.Motor(position=0.3, kp=50.0, kd=15.0)
    return sim


@pytest.mark.parametrize("method, integrator", WAYS)
def test_sensors_read_what_they_do_in_joint_coordinates(method: str, integrator: str) -> None:
    """In motion and under a push, all that acts on joints included: to the first order of the timestep."""
    off = []
    for rate in (500, 1000):
        read = []
        for sim in (watched(method, integrator, rate), watched("recursive", "semi_implicit_euler", rate)):
            for _ in range(rate // 10):
                sim.apply_force("rod1", (0, 0, 3.0), (0.5, 0, 0))
                sim.step()
            read.append(np.concatenate([sim.sensors["imu"], sim.sensors["force"]]))
        off.append(np.abs(read[0] - read[1]).max() / np.abs(read[1]).max())
    assert off[1] < 0.7 * off[0] < 0.02


@pytest.mark.parametrize("method, integrator", WAYS)
def test_at_rest_a_joint_carries_what_hangs_on_it(method: str, integrator: str) -> None:
    """2 kg at 0.25 m, whatever holds it there; the instrument feels g upwards."""
    sim = watched(method, integrator, 240)
    sim.prescribe("rod1.angle", 0.0)
    sim.step(960)
    reading = sim.sensors["force"]
    q = sim.dynamics.to_reduced(sim.q, sim.v)[0][0]
    up = 9.81 * np.array([-np.sin(q), 0, np.cos(q)])
    assert_close(reading[3:], 2.0 * up, 1e-3)
    assert_close(reading[:3], np.cross([0.25, 0, 0], 2.0 * up), 1e-3)
    assert_close(np.linalg.norm(sim.sensors["imu"][3:]), 9.81, 1e-4)
