"""Motions on manifolds: the order of the method and of what it conserves."""

import numpy as np
import pytest
from moving import ORDER_FOUR, SYSTEMS, VALUES, R, fastest, fourth_order, moving, random_state, system
from scipy.spatial.transform import Rotation

from recursive_dyn.integrators import munthe_kaas
from recursive_dyn.spatial.rotations import quaternion_product, quaternion_to_matrix


def displaced(variables, start, u):
    """The configuration that a displacement leads to."""
    return np.concatenate([munthe_kaas.displaced(p.space, start[p.q], u[p.v]) for p in variables])


def flat_state(motion):
    """What tells two motions apart: positions, rotations as matrices, and velocities."""
    return np.concatenate([*(np.ravel(motion[p.symbol]) for p in motion.dynamics.variables), motion.v])


@pytest.mark.parametrize("name", SYSTEMS)
def test_convergence_is_of_fourth_order(name):
    ends = {}
    for steps in (40, 80, 160, 2560):
        motion = moving(name, timestep=1.0 / steps, speed=2.0, forced=True)
        motion.step(steps)
        ends[steps] = flat_state(motion)
    errors = [np.abs(ends[steps] - ends[2560]).max() for steps in (40, 80, 160)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] > 1e-11  # far above rounding: the order means something
    assert 3.7 < orders[-1] < 4.6, (orders, errors)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_constraints_hold_after_many_steps(name):
    motion = moving(name, timestep=1e-3)
    motion.step(100_000)
    assert motion.drift < 1e-13
    assert motion.time == pytest.approx(100.0)
    for p in motion.dynamics.variables:
        assert p.space.flat or abs(np.linalg.norm(motion.q[p.q]) - 1.0) < 1e-15


def test_displacements_lead_along_velocities():
    """d/dt exp(u) q = v x q and d/dt R exp(u) = R exp(u) hat(v), in error by O(u^4) where the series ends."""
    variables = system("quadrotor with load").variables
    start, v = random_state(system("quadrotor with load"))
    direction = np.random.default_rng(1).normal(size=len(v))
    errors = []
    for size in (0.2, 0.1):
        u, h = size * direction, 1e-4
        rate = np.concatenate([munthe_kaas.displacement_rate(p.space, u[p.v], v[p.v]) for p in variables])
        ahead, back = (displaced(variables, start, u + k * h * rate) for k in (1, -1))
        here = displaced(variables, start, u)
        moved = (ahead - back) / (2 * h)
        expected = [v[:3], np.cross(v[3:6], here[3:6]), quaternion_product(here[6:], [*v[6:] / 2, 0.0])]
        errors.append(np.abs(moved - np.concatenate(expected)).max())
    assert 1e-7 < errors[1] < errors[0] / ORDER_FOUR  # 1e-7: what differences over h = 1e-4 may be wrong by


@pytest.mark.parametrize("size", [0.0, 1e-170, 1e-9, 0.02, 0.3, 1.0, 3.0, 2 * np.pi, 30.0, 1e9])
def test_displacements_are_rotations_and_turn_as_far_as_they_are_long(size):
    """By |u| about u, in error by |u|^7 / 1e5, which a step of fourth order does not see; of any length rotations."""
    dynamics = system("quadrotor with load")
    for seed in range(5):
        start, _ = random_state(dynamics, seed)
        axis = np.random.default_rng(seed).normal(size=3)
        u = size * axis / np.linalg.norm(axis)
        moved = displaced(dynamics.variables, start, np.concatenate([u, u, u])).astype(float)
        bound = size**7 / 9e4 + 1e-15
        assert np.linalg.norm(moved[3:6]) == pytest.approx(1.0, abs=1e-15)
        assert np.linalg.norm(moved[6:]) == pytest.approx(1.0, abs=1e-15)
        exact = Rotation.from_rotvec(u).as_matrix()
        assert moved[3:6] == pytest.approx(exact @ start[3:6], abs=bound)
        assert quaternion_to_matrix(moved[6:]) == pytest.approx(quaternion_to_matrix(start[6:]) @ exact, abs=2 * bound)
        if not size:
            assert (moved == start).all()


@pytest.mark.parametrize("name", SYSTEMS)
def test_energy_is_kept_to_the_order_of_the_method(name):
    errors = []
    for steps in (250, 500):
        motion = moving(name, timestep=1.0 / steps, speed=3.0)
        start, worst = motion.energy, 0.0
        for _ in range(25):
            motion.step(steps // 25)
            worst = max(worst, abs(motion.energy - start))
        errors.append(worst)
    assert errors[1] < errors[0] / ORDER_FOUR


def test_a_3d_pendulum_tumbles_for_a_minute_with_its_energy_and_its_momentum_about_the_vertical():
    errors, bounds = [], []
    for timestep in (2e-3, 1e-3):
        motion = moving("3D pendulum", seed=4, timestep=timestep, speed=4.0)
        start = motion.energy, vertical_momentum(motion)
        worst, bound = np.zeros(2), 0.0
        for _ in range(60):
            bound += fourth_order(fastest(motion), timestep, 1.0)
            motion.step(round(1.0 / timestep))
            worst = np.maximum(worst, np.abs(np.array([motion.energy, vertical_momentum(motion)]) - start))
        errors.append(worst)
        bounds.append(bound * np.abs(start))
    rounding = 60_000 * np.finfo(float).eps * np.abs(start)  # one in the last digit a step
    assert (errors[1] < bounds[1]).all() and (errors[0] < bounds[0]).all()
    assert (errors[1] < errors[0] / ORDER_FOUR + rounding).all()


def vertical_momentum(motion):
    """Momentum about e3 of the 3D pendulum."""
    return motion[R][2] @ (VALUES["J"] @ motion.rate(R))


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_forces_power_is_the_rate_of_energy(name):
    """Five-point differences of the energy along the motion.

    They are wrong by (w h)^4 / 30 of a power that changes at w: 2e-9 W where it is of 5 W and w of 5 rad/s.
    """
    h = 2e-3
    motion = moving(name, timestep=h / 8, forced=True)
    energies, power = [], 0.0
    for k in range(5):
        if k == 2:
            power = power_of(motion)
        energies.append(motion.energy)
        motion.step(8)
    rate = np.dot([1, -8, 0, 8, -1], energies) / (12 * h)
    assert abs(power) > 0.01
    assert rate == pytest.approx(power, abs=2e-9)


def power_of(motion):
    """Power of the applied forces, from the systems' virtual works."""
    forces, rates = motion.forces, {p.symbol.base.name: motion.rate(p.symbol) for p in motion.dynamics.variables}
    match tuple(rates):
        case ("q",):
            return forces["tau"] @ rates["q"]
        case ("R",):
            return forces["M"] @ rates["R"]
        case ("q1", "q2"):
            return forces["tau"] @ (VALUES["l1"] * rates["q1"] + VALUES["l2"] * rates["q2"])
        case ("R1", "R2"):
            return forces["M1"] @ rates["R1"] + forces["M2"] @ rates["R2"]
        case ("x", "q", "R"):
            body = rates["x"] - VALUES["l"] * rates["q"]
            return forces["M"] @ rates["R"] + forces["f"] * (motion["R"][:, 2] @ body)
    return forces["f"] * rates["s"]
