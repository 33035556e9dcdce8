"""A joint by its rotation vector: a ball's motion in other coordinates, at zero as anywhere."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.spatial.rotations import rotation_exp
from scene import Body, Scene, joints

SIZES = [0.0, 1e-12, 1e-6, 1e-3, 0.3, 3.0, 6.0]


def top(joint):
    scene = Scene()
    body = Body("top", mass=1.3, center_of_mass=(0.1, 0.2, -0.3), inertia=np.diag([0.1, 0.2, 0.25]))
    scene.world.attach(body, joint)
    return scene.compile()


MAP, BALL = top(joints.exponential_map()), top(joints.ball())


@pytest.mark.parametrize("size", SIZES)
def test_it_moves_as_a_ball_does(size):
    """The same place, energy and acceleration, from zero to almost a whole turn."""
    rng = np.random.default_rng(3)
    phi, rates = rng.normal(size=(2, 3))
    phi *= size / np.linalg.norm(phi)
    pose = MAP.poses(phi)
    assert np.abs(pose[0, :3, :3] - rotation_exp(phi)).max() < 1e-15
    q, _ = BALL.generalized_positions(BALL.neutral(), pose)
    v, _ = BALL.generalized_velocities(q, MAP.velocities(phi, rates))
    assert MAP.kinetic_energy(phi, rates) == pytest.approx(BALL.kinetic_energy(q, v), rel=1e-14)
    tau = np.zeros(3)
    ours = MAP.accelerations(phi, rates, MAP.forward_dynamics(phi, rates, tau))
    assert ours == pytest.approx(BALL.accelerations(q, v, BALL.forward_dynamics(q, v, tau)), rel=1e-10)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 2.0])
def test_its_third_derivatives_are_right(size):
    """Of inverse dynamics by q: S, its rate and the rate's slope, where closed forms cancel."""
    phi, v, a = np.array([size, 0.0, 0.0]) + np.zeros(3), np.array([0.3, -0.8, 1.1]), np.array([1.0, 0.5, -0.2])
    slopes, h = MAP.derivatives("inverse_dynamics", phi, v, a)[0], 1e-4
    for k in range(3):
        at = [MAP.inverse_dynamics(phi + s * h * np.eye(3)[k], v, a) for s in (-2, -1, 1, 2)]
        assert slopes[:, k] == pytest.approx((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), abs=1e-9)


def test_it_swings_through_zero_and_keeps_its_energy():
    sim = rd.Simulation(MAP, 1 / 240)
    sim.q = [0.0, 1.0, 0.0]
    sim.v = [0.0, 0.1, 0.2]

    def energy():
        return MAP.kinetic_energy(sim.q, sim.v) + MAP.potential_energy(sim.q)

    start = energy()
    sim.step(480)
    assert energy() == pytest.approx(start, abs=1e-5)


def test_a_whole_turn_is_named():
    with pytest.raises(rd.StateError, match=r"'top\.rx' is singular"):
        MAP.forward_dynamics([2 * np.pi, 0, 0], np.ones(3), np.ones(3))
