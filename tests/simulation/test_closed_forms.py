"""Motions known in closed form or to a dozen digits by quadrature, from the joints of this package.

RK4 at 0.25 ms errs by about (rate h)^4 / 120 a radian of motion: 1e-14 to 1e-13 at the rates of 3 to 20 per second.
Rounding adds up to 1e-16 a step over some ten thousand steps. 1e-10 covers both; the reference numbers have 12 digits.
"""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints

G = 9.81
STEP = 2.5e-4
TOLERANCE = 1e-10
s, u, w = sp.symbols("s u w", real=True)


def point_on(joint, mass=1.0, **body):
    scene = Scene()
    scene.world.attach(Body("bead", mass=mass, **body), joint)
    return scene.compile()


def started(dynamics, q, v=None, step=STEP, integrator="rk4"):
    sim = rd.Simulation(dynamics, step, integrator)
    sim.q = q
    sim.v = np.zeros(dynamics.nv) if v is None else v
    return sim


def run_to(sim, time):
    """Whole steps, then one shorter one that ends at ``time``."""
    whole = sim.timestep
    sim.step(int((time - sim.time) / whole + 1e-9))
    rest = time - sim.time
    if rest > 1e-15:
        sim.timestep = rest
        sim.step()
    sim.timestep = whole


def time_of_rest(sim, after, coordinate=0):
    """When the coordinate's velocity next changes sign after ``after``: steps to bracket it, then Newton's method."""
    run_to(sim, after)
    sign = np.sign(sim.v[coordinate])
    while np.sign(sim.v[coordinate]) == sign:
        last = sim.snapshot()
        sim.step()
    at = last.time
    for _ in range(6):
        sim.restore(last)
        if at > last.time:
            run_to(sim, at)
        at -= sim.v[coordinate] / sim.dynamics.forward_dynamics(sim.q, sim.v)[coordinate]
    return at


def period(dynamics, q):
    """From rest back to rest at the same side: half a period after the other side's turning point."""
    sim = started(dynamics, q)
    return time_of_rest(sim, time_of_rest(sim, 10 * STEP) + 10 * STEP)


PENDULUMS = {
    "hinge": lambda: (point_on(joints.revolute("y"), center_of_mass=(0, 0, -1.0)), [np.pi / 2]),
    "curve": lambda: (point_on(joints.curve([sp.sin(s), 0, -sp.cos(s)], s)), [np.pi / 2]),
}


@pytest.mark.parametrize("made_by", PENDULUMS)
def test_pendulum_from_the_horizontal(made_by):
    dynamics, q = PENDULUMS[made_by]()
    assert period(dynamics, q) == pytest.approx(2.36784194757624, abs=TOLERANCE)
    sim = started(dynamics, q)
    run_to(sim, 10.0)
    assert sim.q[0] == pytest.approx(0.278680673570, abs=10 * TOLERANCE)  # a dozen digits, four swings


def test_pendulum_on_a_ball_joint():
    """The same swing of a body that could turn any way: its quaternion's angle is the pendulum's."""
    dynamics = point_on(joints.ball(), center_of_mass=(0, 0, -1.0), inertia=np.eye(3) * 1e-9)
    sim = started(dynamics, [0, np.sin(np.pi / 4), 0, np.cos(np.pi / 4)])
    run_to(sim, 10.0)
    x, y, z, c = sim.q
    assert abs(x) + abs(z) < 1e-12
    assert 2 * np.arctan2(y, c) == pytest.approx(0.278680673570, abs=3e-8)  # the inertia lengthens it by 1e-9


def test_bead_on_a_helix_has_a_constant_acceleration():
    a, b = 0.7, 0.3
    dynamics = point_on(joints.curve([a * sp.cos(s), a * sp.sin(s), b * s], s), mass=0.4)
    expected = -G * b / (a**2 + b**2)
    rng = np.random.default_rng(1)
    accelerations = dynamics.forward_dynamics(rng.uniform(-9, 9, (20, 1)), rng.uniform(-9, 9, (20, 1)))
    np.testing.assert_allclose(accelerations, expected, rtol=1e-12)  # centrifugal terms cancel to rounding
    sim = started(dynamics, [1.0], [2.0])
    run_to(sim, 1.0)
    assert sim.q[0] == pytest.approx(1.0 + 2.0 + expected / 2, abs=TOLERANCE)


def test_bead_on_a_parabola():
    dynamics = point_on(joints.curve([s, 0, 1.5 * s**2], s), mass=3.0)
    assert period(dynamics, [0.8]) == pytest.approx(2.18905618034, abs=TOLERANCE)


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.0, 3.0])
def test_cycloid_is_isochronous(amplitude):
    R = 0.5
    dynamics = point_on(joints.curve([R * (s + sp.sin(s)), 0, R * (1 - sp.cos(s))], s))
    # near the cusp at pi the acceleration's derivatives grow: 3.0 rad needs its own margin
    assert period(dynamics, [amplitude]) == pytest.approx(2.83700670689, abs=TOLERANCE * (10 if amplitude > 2.5 else 1))


SPHERES = {
    "surface": joints.surface([sp.sin(u) * sp.cos(w), sp.sin(u) * sp.sin(w), -sp.cos(u)], (u, w)),
    "euler": joints.euler("zy") @ joints.fixed(rd.pose((0, 0, -1))),
}


@pytest.mark.parametrize("made_by", SPHERES)
def test_spherical_pendulum(made_by):
    """From 60 degrees with 2 rad/s of azimuth; polar angle from the vertical below."""
    dynamics = point_on(SPHERES[made_by])
    polar, azimuth = (0, 1) if made_by == "surface" else (1, 0)
    q, v = np.zeros(2), np.zeros(2)
    q[polar], v[azimuth] = np.pi / 3, 2.0
    sim = started(dynamics, q, v)
    inner = time_of_rest(sim, 10 * STEP, polar)
    run_back = started(dynamics, q, v)
    run_to(run_back, inner)
    assert abs(run_back.q[polar]) == pytest.approx(0.478693674695, abs=TOLERANCE)
    outer = time_of_rest(sim, inner + 10 * STEP, polar)
    assert outer == pytest.approx(1.07966916266, abs=TOLERANCE)
    full = started(dynamics, q, v)
    run_to(full, outer)
    assert abs(full.q[polar]) == pytest.approx(np.pi / 3, abs=TOLERANCE)
    assert full.q[azimuth] - q[azimuth] == pytest.approx(3.83116238961, abs=TOLERANCE)
    sim = started(dynamics, q, v)
    for _ in range(40):  # it never leaves its band
        sim.step(100)
        assert 0.478693674695 - TOLERANCE <= abs(sim.q[polar]) <= np.pi / 3 + TOLERANCE


@pytest.mark.parametrize("joint", ["free", "ball"])
@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
def test_free_body_tumbles_about_its_middle_axis(joint, integrator):
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("brick", mass=1.0, inertia=np.diag([1.0, 2.0, 3.0])), getattr(joints, joint)())
    dynamics = scene.compile()
    v = np.zeros(dynamics.nv)
    v[:3] = 0.01, 1.0, 0.01
    # The midpoint rule is of second order: (omega h)^2 / 24 over a few e-foldings of the instability
    step, tolerance = (STEP * 4, TOLERANCE) if integrator == "rk4" else (STEP, 1e-6)
    sim = started(dynamics, dynamics.neutral(), v, step, integrator)
    sim.step(round(10.0 / step))
    np.testing.assert_allclose(sim.v[:3], [-0.87457343789, 0.48499618734, 0.50500122055], atol=tolerance)


def test_projectile():
    """Free fall is a polynomial of degree two, which RK4 integrates exactly; spin about a principal axis is uniform."""
    scene = Scene()
    scene.world.attach(Body("ball", mass=2.0, inertia=np.diag([0.1, 0.2, 0.3])), joints.free())
    sim = started(scene.compile(), [0, 0, 2, 0, 0, 0, 1], [0, 0, 3.0, 1.0, 2.0, 5.0], 1e-3)
    run_to(sim, 0.8)
    np.testing.assert_allclose(sim.q[:3], [0.8, 1.6, 2 + 5 * 0.8 - G * 0.32], atol=1e-10)
    np.testing.assert_allclose(sim.q[3:], [0, 0, np.sin(1.2), np.cos(1.2)], atol=1e-12)
