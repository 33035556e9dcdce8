"""Rolling and skating without slip, by multipliers, against the closed forms of the textbooks.

Neimark & Fufaev 1972, Dynamics of Nonholonomic Systems; Bloch 2003, Nonholonomic Mechanics and Control, chapter 1.
"""

from functools import cache

import numpy as np
import pytest
from moving import GRAVITY, ORDER_FOUR, G, J, R, compiled, e1, e3, fastest, fourth_order, inertia, j, m, q, skate, x

import recursive_dyn as rd
from recursive_dyn.manifold import cross, delta, derive, dt, scalars, vectors
from recursive_dyn.manifold.motion.motion import Motion

r, w = scalars("r w", constant=True)
c, F = vectors("c", constant=True), vectors("F")
MASS, RADIUS = 1.3, 0.2
SOLID = 0.4 * MASS * RADIUS**2 * np.eye(3)
NUMBERS = {"r": RADIUS, "m": MASS, "J": SOLID, "c": [0, 0, 0], "w": 0.0}


def rolling(center, surface=None):
    """The velocity of a ball's lowest point against the surface under it; the ball's middle is x."""
    contact = dt(x) + cross(R * R.rate, -r * e3)
    return contact if surface is None else contact - surface


@cache
def ball():
    """A balanced ball on a plane, gravity G in the plane's axes."""
    L = m * dt(x).dot(dt(x)) / 2 + R.rate.dot(J * R.rate) / 2 + m * G.dot(x)
    return derive(L, delta(x).dot(F), (x, R), constraints=[rolling(x)])


@cache
def turntable():
    """The same on a table that turns with w about e3 through the origin."""
    L = m * dt(x).dot(dt(x)) / 2 + R.rate.dot(J * R.rate) / 2 + m * G.dot(x)
    return derive(L, None, (x, R), constraints=[rolling(x, w * cross(e3, x))])


@cache
def weighted_ball():
    """A ball whose centre of mass is at c from its middle, in body axes; J about the centre of mass."""
    p = x + R * c
    L = m * dt(p).dot(dt(p)) / 2 + R.rate.dot(J * R.rate) / 2 + m * G.dot(p)
    return derive(L, None, (x, R), constraints=[rolling(x)])


def motion_of(equations, timestep=1e-3, **numbers):
    return Motion(compiled(equations, **(NUMBERS | numbers)), timestep)


def spin_for(velocity, spin=0.0, slip=(0.0, 0.0, 0.0)):
    """World angular velocity of a ball that rolls with a velocity, turning about e3 with ``spin``."""
    return np.cross([0, 0, 1], np.subtract(velocity, slip)) / RADIUS + [0, 0, spin]


def roll(motion, velocity, spin=0.0, position=(0.0, 0.0, RADIUS), slip=(0.0, 0.0, 0.0)):
    """Start a ball that rolls."""
    motion.place(x, position, velocity)
    motion.place(R, np.eye(3), spin_for(velocity, spin, slip))


def test_a_ball_on_a_level_plane_rolls_straight_on():
    motion = motion_of(ball())
    roll(motion, [0.7, -0.4, 0], spin=3.0)
    omega = motion[R] @ motion.rate(R)
    motion.step(2000)
    assert motion[x] == pytest.approx([1.4, -0.8, RADIUS], abs=1e-12)
    assert motion[R] @ motion.rate(R) == pytest.approx(omega, abs=1e-12)
    assert motion.multipliers == pytest.approx([0, 0, MASS * GRAVITY], abs=1e-12)


@pytest.mark.parametrize(("inertia_share", "share"), [(0.4, 5 / 7), (2 / 3, 3 / 5)], ids=["solid", "hollow"])
def test_a_ball_rolls_down_an_incline(inertia_share, share):
    """Acceleration g sin(a) / (1 + J / (m r^2)); the multipliers are the force of contact."""
    a = 0.3
    tilted = [GRAVITY * np.sin(a), 0, -GRAVITY * np.cos(a)]
    motion = motion_of(ball(), G=tilted, J=inertia_share * MASS * RADIUS**2 * np.eye(3))
    roll(motion, [0, 0.5, 0])
    down = share * GRAVITY * np.sin(a)
    assert motion.acceleration(x) == pytest.approx([down, 0, 0], abs=1e-13)
    motion.step(1500)
    assert motion[x] == pytest.approx([down * 1.5**2 / 2, 0.75, RADIUS], abs=1e-11)
    friction, normal = (share - 1) * MASS * GRAVITY * np.sin(a), MASS * GRAVITY * np.cos(a)
    assert motion.multipliers == pytest.approx([friction, 0, normal], abs=1e-12)


def test_a_pushed_ball_accelerates_by_five_sevenths():
    motion = motion_of(ball())
    roll(motion, [0, 0, 0])
    motion.forces["F"] = [1.4, 0, 0]
    assert motion.acceleration(x) == pytest.approx([5 / 7 * 1.4 / MASS, 0, 0], abs=1e-13)
    motion.step(100)
    assert motion.rate(x) == pytest.approx([5 / 7 * 1.4 / MASS * 0.1, 0, 0], abs=1e-13)


def test_a_ball_on_a_turntable_runs_in_circles_at_two_sevenths_of_its_rate():
    rate = 3.0
    motion = motion_of(turntable(), w=rate)
    start, velocity = np.array([0.5, 0.2, RADIUS]), np.array([0.3, -0.6, 0.0])
    roll(motion, velocity, spin=1.0, position=start, slip=rate * np.cross([0, 0, 1], start))
    turn = 2 / 7 * rate
    center = start + np.cross([0, 0, 1], velocity) / turn
    spin = fastest(motion)  # of the ball; the method is exact for a steady one, which is steady but for the turn
    bound = turn / spin * fourth_order(spin, motion.timestep, 3.6)
    for _ in range(4):
        motion.step(900)
        angle = turn * motion.time
        arm = start - center
        expected = center + np.cos(angle) * arm + np.sin(angle) * np.cross([0, 0, 1], arm)
        assert motion[x] == pytest.approx(expected, abs=bound)
        assert (motion[R] @ motion.rate(R))[2] == pytest.approx(1.0, abs=bound)
    centripetal = MASS * turn**2 * np.linalg.norm(start - center)
    assert np.linalg.norm(motion.multipliers[:2]) == pytest.approx(centripetal, abs=bound)
    assert motion.drift < 1e-13


def test_a_knife_edge_on_an_incline_does_not_slide_down_but_drifts_across():
    """x = g sin(a) / (2 w^2) sin^2(w t), y = g sin(a) / (2 w^2) (w t - sin(2 w t) / 2): Bloch, section 1.6."""
    a, rate = 0.2, 2.0
    pull = GRAVITY * np.sin(a)
    motion = motion_of(skate(), G=[pull, 0, -GRAVITY * np.cos(a)])
    motion.place(q, [1, 0, 0], [0, rate, 0])
    motion.place(x, [0, 0, 0])
    bound = fourth_order(2 * rate, motion.timestep, 5.0)
    for _ in range(5):
        motion.step(1000)
        t = motion.time
        size = pull / (2 * rate**2)
        assert motion[x] == pytest.approx(
            [size * np.sin(rate * t) ** 2, size * (rate * t - np.sin(2 * rate * t) / 2), 0], abs=bound
        )
        assert motion[q] == pytest.approx([np.cos(rate * t), np.sin(rate * t), 0], abs=bound)
    assert motion.drift < 1e-13


def tumbling(timestep):
    motion = motion_of(weighted_ball(), timestep, c=[0.03, -0.05, 0.08], J=inertia(5) * 0.02)
    roll(motion, [0.9, -0.2, 0], spin=2.0)
    return motion


def test_a_weighted_ball_keeps_its_energy_to_the_order_of_the_method_and_rolls_without_slip():
    errors, bound = [], 0.0
    for timestep in (2e-3, 1e-3):
        motion = tumbling(timestep)
        start, worst, bound = motion.energy, 0.0, 0.0
        for _ in range(50):
            bound += start * fourth_order(fastest(motion), timestep, 0.2)
            motion.step(round(0.2 / timestep))
            worst = max(worst, abs(motion.energy - start))
        errors.append(worst)
        assert motion.drift < 1e-13
    assert errors[1] < bound
    assert errors[1] < errors[0] / ORDER_FOUR


def test_the_energy_of_a_weighted_ball_is_not_merely_that_of_a_straight_run():
    motion = tumbling(1e-3)
    start = motion.rate(x)
    motion.step(1000)
    assert np.abs(motion.rate(x) - start).max() > 0.1


def test_convergence_is_of_fourth_order():
    ends = {}
    for steps in (50, 100, 200, 1600):
        motion = tumbling(0.5 / steps)
        motion.step(steps)
        ends[steps] = np.concatenate([motion[x], motion[R].ravel(), motion.v])
    errors = [np.abs(ends[steps] - ends[1600]).max() for steps in (50, 100, 200)]
    assert errors[-1] > 1e-10  # far above rounding: the order means something
    assert 3.7 < np.log2(errors[1] / errors[2]) < 4.5


def test_multipliers_are_the_force_of_contact_of_newton_and_euler():
    """m a = m G + lambda of the centre of mass; J Omega' + Omega x J Omega = R^T (arm x lambda) about it."""
    motion = tumbling(1e-3)
    motion.step(321)
    rotation, Omega, alpha = motion[R], motion.rate(R), motion.acceleration(R)
    offset = np.array([0.03, -0.05, 0.08])
    turned = np.cross(alpha, offset) + np.cross(Omega, np.cross(Omega, offset))
    force = MASS * (motion.acceleration(x) + rotation @ turned) + MASS * np.array([0, 0, GRAVITY])
    assert motion.multipliers == pytest.approx(force, abs=1e-11)
    own = inertia(5) * 0.02
    moment = rotation @ (own @ alpha + np.cross(Omega, own @ Omega))
    arm = np.array([0, 0, -RADIUS]) - rotation @ offset
    assert np.cross(arm, motion.multipliers) == pytest.approx(moment, abs=1e-11)


def test_a_batch_of_balls_is_each_of_them():
    dynamics = compiled(weighted_ball(), **(NUMBERS | {"c": [0.01, 0.02, 0.05]}))
    rng = np.random.default_rng(5)
    states = []
    for _ in range(11):
        motion = Motion(dynamics)
        motion.place(x, rng.normal(size=3), rng.normal(size=3))
        motion.place(R, unit_quaternion(rng), rng.normal(size=3))
        motion.admit()
        states.append((motion.q.copy(), motion.v.copy()))
    qs, vs = (np.array(a) for a in zip(*states, strict=True))
    for function in (dynamics.accelerations, dynamics.multipliers, dynamics.violation, dynamics.admitted):
        together = function(qs, vs)
        alone = np.array([function(a, b) for a, b in states])
        assert together == pytest.approx(alone, abs=1e-11)
    assert np.abs(dynamics.violation(qs, vs)).max() < 1e-13


def unit_quaternion(rng):
    value = rng.normal(size=4)
    return value / np.linalg.norm(value)


def test_constraints_that_follow_from_others_are_left_out():
    """e3 x x' = 0 has three rows of rank two; given twice it still leaves the motion along e3 free."""
    L = m * dt(x).dot(dt(x)) / 2 + m * G.dot(x)
    rail = cross(e3, dt(x))
    motion = motion_of(derive(L, None, x, constraints=[rail, rail]), G=[1.0, 2.0, 3.0])
    motion.place(x, [0, 0, 0], [0, 0, 0.5])
    motion.step(1000)
    assert motion[x] == pytest.approx([0, 0, 0.5 + 1.5], abs=1e-12)


class TestRefusals:
    def test_a_start_that_slips(self):
        motion = motion_of(ball())
        motion.place(x, [0, 0, RADIUS], [1, 0, 0])
        with pytest.raises(rd.StateError, match=r"violate the constraint .*admit\(\)"):
            motion.step()
        assert (motion[x] == [0, 0, RADIUS]).all() and motion.time == 0.0
        motion.admit()
        assert motion.drift < 1e-14
        assert motion.rate(x) == pytest.approx([5 / 7, 0, 0], abs=1e-14)  # the impulse of contact takes 2/7
        motion.step()

    def test_a_constraint_that_changes_under_way(self):
        motion = motion_of(turntable())
        roll(motion, [0.5, 0, 0])
        motion.step()
        motion.parameters["w"] = 2.0
        with pytest.raises(rd.StateError, match=r"violate the constraint .*admit\(\)"):
            motion.step()

    @pytest.mark.parametrize(
        ("constraint", "words"),
        [
            (x.dot(e1), r"the scalar x\.e1 holds no velocity"),
            (dt(x).dot(dt(x)) - 1, r"\|x'\|\^2 - 1 is not linear in velocity"),
            (dt(x, 2).dot(e1), r"x''\.e1 holds x''"),
            (dt(x).dot(e1) * dt(q).dot(e3), r"\(x'\.e1\) q'\.e3 is not linear in velocity"),
        ],
        ids=["of positions only", "of squares", "of accelerations", "of products"],
    )
    def test_constraints_that_are_not_linear_in_velocity(self, constraint, words):
        L = m * dt(x).dot(dt(x)) / 2 + j * dt(q).dot(dt(q)) / 2
        with pytest.raises(rd.ModelError, match=words):
            derive(L, None, (x, q), constraints=[constraint])
