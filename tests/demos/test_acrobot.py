"""The acrobot of the demo swings up by its elbow, and stays there."""

import numpy as np

from demos import lqr as demo


def test_it_swings_up_and_balances_by_the_elbow_alone() -> None:
    """The work of the elbow is the energy gained, to the second order of the step, 5e-4."""
    stage = demo.build()
    simulation, dynamics = stage.simulation, stage.simulation.dynamics
    track = simulation.control
    start = dynamics.potential_energy(simulation.q)
    simulation.q = simulation.q + 0.01
    work, largest, idle = 0.0, 0.0, 0.0
    while simulation.time < 6.0:
        tau, q = track(simulation.q, simulation.v, simulation.time), simulation.q.copy()
        simulation.step()
        work += tau @ (simulation.q - q)
        largest, idle = max(largest, abs(tau[1])), max(idle, abs(tau[0]))
    assert np.abs(dynamics.difference([0.0, 0.0], simulation.q)).max() < 1e-3
    assert idle == 0.0 and largest <= demo.TORQUE
    gained = dynamics.potential_energy(simulation.q) - start
    assert abs(work - gained) < 1e-3 * gained


def test_the_trail_is_that_of_the_bodies() -> None:
    scene = demo.acrobot()
    dynamics = scene.compile()
    q = np.array([0.7, -1.2])
    elbow, hand = demo.elbow_and_hand(q)
    poses = dynamics.poses(q)
    np.testing.assert_allclose(poses[1, :3, 3], elbow, atol=1e-12)
    np.testing.assert_allclose(poses[1, :3] @ [0, 0, demo.LOWER, 1], hand, atol=1e-12)
