"""Motions on manifolds against the closed forms of the textbooks, and momenta that are conserved."""

import numpy as np
import pytest
from moving import GRAVITY, VALUES, R, compiled, fastest, fourth_order, free_body, moving, q, q1, rigid, system
from scipy.special import ellipj, ellipk

from recursive_dyn.manifold.motion.motion import Motion
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_to_matrix

DOWN = np.array([0.0, 0.0, -1.0])
LATE = 2.0  # amplitude^2 / 16 of 2.5 turns is how late a swing is; sines and third harmonics are amplitude^2 / 5 off


def test_the_double_pendulum_keeps_its_momentum_about_the_vertical():
    motion = moving("double spherical pendulum", timestep=5e-4)
    m1, m2, l1, l2 = (VALUES[n] for n in ("m1", "m2", "l1", "l2"))

    def momentum():
        a, da = l1 * motion["q1"], l1 * motion.rate("q1")
        b, db = a + l2 * motion["q2"], da + l2 * motion.rate("q2")
        return (m1 * np.cross(a, da) + m2 * np.cross(b, db))[2]

    start, bound = momentum(), 0.0
    for _ in range(100):
        bound += fourth_order(fastest(motion), 5e-4, 0.05)
        motion.step(100)
    assert abs(motion.rate(q1)).max() > 0.1
    assert momentum() == pytest.approx(start, abs=bound)


@pytest.mark.parametrize("start", [-1.0, 1.0], ids=["from the bottom", "from the top"])
def test_a_pendulum_swings_exactly_through_both_poles(start):
    """Over the top in a vertical plane: the angle from the bottom is 2 am(w t / 2 | 4 g / (l w^2))."""
    length, rate = VALUES["l"], 9.0
    bottom = rate if start < 0 else np.sqrt(rate**2 + 4 * GRAVITY / length)
    m = 4 * GRAVITY / (length * bottom**2)
    quarter = ellipk(m) * 2 / bottom  # from pole to pole
    motion = Motion(system("spherical pendulum"), quarter / 500)
    bound = fourth_order(bottom, motion.timestep, 3 * quarter)
    direction = np.array([0.6, 0.8, 0.0])
    motion.place(q, [0, 0, start], rate * direction)
    offset = 0.0 if start < 0 else quarter
    for k in range(1, 7):
        motion.step(250)
        angle = 2 * ellipj(bottom * (k * quarter / 2 + offset) / 2, m)[3]
        sense = 1.0 if start < 0 else -1.0
        assert motion[q] == pytest.approx(np.sin(angle) * direction * sense - [0, 0, np.cos(angle)], abs=bound)
        if k % 2 == 0:
            assert abs(abs(motion[q][2]) - 1.0) < 1e-15
    assert motion.drift < 1e-14


def test_a_pendulum_at_rest_at_a_pole_stays_there():
    motion = Motion(system("spherical pendulum"), 1e-2)
    for pole in (DOWN, -DOWN):
        motion.place(q, pole)
        motion.step(500)
        assert (motion[q] == pole).all()


def test_a_conical_pendulum_turns_steadily():
    """w^2 = g / (l cos(angle))."""
    angle, length = 0.6, VALUES["l"]
    w = np.sqrt(GRAVITY / (length * np.cos(angle)))
    motion = Motion(system("spherical pendulum"), 2 * np.pi / w / 1000)
    motion.place(q, [np.sin(angle), 0, -np.cos(angle)], [0, w * np.sin(angle), 0])
    motion.step(1250)
    bound = fourth_order(w, motion.timestep, motion.time)
    assert motion[q] == pytest.approx([0, np.sin(angle), -np.cos(angle)], abs=bound)


def test_small_swings_have_the_period_of_the_linear_pendulum():
    amplitude = 1e-4
    w = np.sqrt(GRAVITY / VALUES["l"])
    motion = Motion(system("spherical pendulum"), 2 * np.pi / w / 400)
    motion.place(q, [np.sin(amplitude), 0, -np.cos(amplitude)])
    bound = amplitude * (fourth_order(w, motion.timestep, 1000 * motion.timestep) + LATE * amplitude**2)
    motion.step(900)
    assert motion[q][0] == pytest.approx(amplitude * np.cos(2 * np.pi * 2.25), abs=bound)
    motion.step(100)
    assert motion[q][0] == pytest.approx(amplitude * np.cos(2 * np.pi * 2.5), abs=bound)


def test_small_swings_of_a_body_have_the_period_of_the_physical_pendulum():
    """sqrt(J / (m g d)) about a principal axis."""
    J, d, amplitude = np.diag([0.3, 0.4, 0.1]), 0.5, 1e-4
    dynamics = compiled(rigid(), J=J, rho=[0, 0, -d])
    for axis in (0, 1):
        w = np.sqrt(VALUES["m"] * GRAVITY * d / J[axis, axis])
        motion = Motion(dynamics, 2 * np.pi / w / 400)
        half = np.eye(4)[axis] * np.sin(amplitude / 2) + np.eye(4)[3] * np.cos(amplitude / 2)
        motion.place(R, half)
        motion.step(450)
        bound = amplitude * (fourth_order(w, motion.timestep, motion.time) + LATE * amplitude**2)
        angle = 2 * matrix_to_quaternion(motion[R])[axis]
        assert angle == pytest.approx(amplitude * np.cos(2 * np.pi * 450 / 400), abs=bound)


def test_a_free_symmetric_body_precesses_as_euler_says():
    """Omega turns about the body's axis at (J3 - J1) / J1 Omega3; that axis turns about L at |L| / J1."""
    J1, J3 = 0.4, 0.7
    dynamics = compiled(free_body(), J=np.diag([J1, J1, J3]))
    Omega = np.array([1.2, 0.0, 2.5])
    start = quaternion_to_matrix(np.array([0.3, -0.1, 0.2, 0.9]) / np.linalg.norm([0.3, -0.1, 0.2, 0.9]))
    motion = Motion(dynamics, 1e-3)
    motion.place(R, start, Omega)
    motion.step(2000)
    rate = (J3 - J1) / J1 * Omega[2]
    momentum = start @ (np.diag([J1, J1, J3]) @ Omega)
    bound = fourth_order(np.linalg.norm(momentum) / J1, motion.timestep, motion.time)
    assert motion.rate(R) == pytest.approx([1.2 * np.cos(2 * rate), 1.2 * np.sin(2 * rate), 2.5], abs=bound)
    assert motion[R] @ (np.diag([J1, J1, J3]) @ motion.rate(R)) == pytest.approx(momentum, abs=bound)
    axis, angle = momentum / np.linalg.norm(momentum), 2.0 * np.linalg.norm(momentum) / J1
    turned = about(axis, angle, start[:, 2])
    assert motion[R][:, 2] == pytest.approx(turned, abs=bound)


def about(axis, angle, v):
    """v turned about an axis."""
    return np.cos(angle) * v + np.sin(angle) * np.cross(axis, v) + (1 - np.cos(angle)) * axis * (axis @ v)
