"""Rolling without slip: the wheel's material stands still where it touches; energies, periods and gear ratios."""

import numpy as np
import pytest
import sympy as sp
from saved_scenes import assert_the_same_when_loaded

import recursive_dyn as rd
from scene import Body, Scene, joints

G = 9.81
q = sp.Symbol("q", real=True)
ROOT = sp.sqrt(1 + q**2)
ARC = (q * ROOT + sp.asinh(q)) / 2  # length of y = x^2 / 2 from its vertex


def compiled(joint, mass=1.0, inertia=0.02, gravity=(0, 0, 0), **parameters):
    scene = Scene(gravity=gravity)
    for name, value in parameters.items():
        scene.parameter(name, value)
    scene.world.attach(Body("wheel", mass=mass, inertia=np.eye(3) * inertia), joint)
    return scene.compile()


def on_circle(x, R=2.0):
    return R * np.cos(x), R * np.sin(x), 0.0


R_, r_ = sp.symbols("R r", real=True)
ROLLING = {
    "outside": (joints.wheel(0.5, 2.0), on_circle),
    "inside": (joints.wheel(0.5, 2.0, inside=True), on_circle),
    "inside, by parameters": (joints.wheel(r_, R_, inside=True), on_circle),
    "rack": (joints.rack(0.5), lambda x: (x, 0.0, 0.0)),
    "rack, by a parameter": (joints.rack(r_), lambda x: (x, 0.0, 0.0)),
    "line": (joints.rolling([q * sp.cos(1), q * sp.sin(1)], q, 0.5), lambda x: (x * np.cos(1), x * np.sin(1), 0.0)),
    "circle": (joints.rolling([2 * sp.cos(q), 2 * sp.sin(q)], q, 0.5, length=2 * q), on_circle),
    "parabola": (joints.rolling([q, q**2 / 2], q, r_, length=ARC), lambda x: (x, x * x / 2, 0.0)),
    "under a parabola": (joints.rolling([q, q**2 / 2], q, r_, ARC, right=True), lambda x: (x, x * x / 2, 0.0)),
}


@pytest.mark.parametrize("name", ROLLING)
def test_the_material_at_the_contact_stands_still(name):
    joint, touching = ROLLING[name]
    used = joint.program.parameters
    d = compiled(joint, **{n: x for n, x in (("R", 2.0), ("r", 0.5)) if n in used})
    for x in np.linspace(-1.5, 1.5, 7):
        X, V = d.poses([x])[0], d.velocities([x], [1.3])[0]
        contact = np.array(touching(x))
        assert np.linalg.norm(X[:3, 3] - contact) == pytest.approx(0.5)
        np.testing.assert_allclose(V[3:] + np.cross(V[:3], contact - X[:3, 3]), 0.0, atol=1e-14)
        assert abs(V[5]) + abs(V[2] * 0.5) > 0.1  # it turns at all


def test_a_curve_that_is_a_circle_or_a_line_is_the_wheel_or_the_rack():
    pairs = [
        (joints.wheel(0.5, 2.0), joints.rolling([2 * sp.cos(q), 2 * sp.sin(q)], q, 0.5, length=2 * q, right=True)),
        (joints.wheel(0.5, 2.0, inside=True), joints.rolling([2 * sp.cos(q), 2 * sp.sin(q)], q, 0.5, length=2 * q)),
        (joints.rack(0.5), joints.rolling([q, 0], q, 0.5)),
    ]
    for a, b in pairs:
        a, b = compiled(a), compiled(b)
        home = np.linalg.inv(a.poses([0.0])[0]) @ b.poses([0.0])[0]
        for x in (-1.2, 0.4, 2.0):
            np.testing.assert_allclose(a.poses([x])[0] @ home, b.poses([x])[0], atol=1e-14)


def test_the_energy_is_that_of_the_centre_and_of_the_turning():
    m, I, rate = 1.7, 0.03, 0.9
    for joint, speed, turning in (
        (joints.wheel(0.4, 1.5), 1.9, 1.9 / 0.4),
        (joints.wheel(0.4, 1.5, inside=True), 1.1, 1.1 / 0.4),
        (joints.rack(0.4), 1.0, 1.0 / 0.4),
    ):
        d = compiled(joint, m, I)
        expected = (m * speed**2 + I * turning**2) * rate**2 / 2
        assert d.kinetic_energy([0.8], [rate]) == pytest.approx(expected, rel=1e-14)
        assert d.mass_matrix([0.8])[0, 0] == pytest.approx(2 * expected / rate**2, rel=1e-14)


@pytest.mark.parametrize("amplitude", [1e-3, 1.0])
def test_a_disc_in_a_ring_swings_as_a_pendulum(amplitude):
    """omega^2 = 2 g / (3 (R - r)); at any amplitude A the period is 2 pi / (omega agm(1, cos(A / 2)))."""
    R, r, m = 1.0, 0.25, 2.0
    d = compiled(joints.wheel(r, R, inside=True), m, m * r**2 / 2, gravity=(0, -G, 0))
    a, b = 1.0, np.cos(amplitude / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    period = 2 * np.pi / (np.sqrt(2 * G / (3 * (R - r))) * a)
    steps = 4000
    simulation = rd.Simulation(d, period / steps, "rk4")
    simulation.q = [-np.pi / 2 + amplitude]
    simulation.step(steps)
    # RK4 errs by (omega h)^4 / 120 = 5e-14 a radian
    np.testing.assert_allclose(simulation.q, [-np.pi / 2 + amplitude], rtol=0, atol=1e-11)
    np.testing.assert_allclose(simulation.v, [0.0], rtol=0, atol=1e-11)


def test_a_disc_and_a_hoop_race_down_an_incline():
    slope = 0.3
    for share, expected in ((0.5, 2 / 3), (1.0, 1 / 2)):  # moment of inertia over m r^2
        d = compiled(joints.rack(0.2), 3.0, 3.0 * share * 0.2**2, gravity=(G * np.sin(slope), -G * np.cos(slope), 0))
        assert d.forward_dynamics([0.7], [1.1])[0] == pytest.approx(expected * G * np.sin(slope), rel=1e-14)


# Gears


def gear_train(**how):
    """A wheel of 20 teeth, radius 0.2, and its partner of 30."""
    scene = Scene(gravity=(0, 0, 0))
    first = scene.world.attach(Body("first", mass=1.0, inertia=np.eye(3) * 0.5), joints.revolute("z"))
    inside = how.get("inside", False)
    second = Body("second", mass=1.0, inertia=np.eye(3) * 0.7)
    at = rd.pose((-0.1 if inside else 0.5, 0, 0))
    scene.world.attach(second, joints.gear("z", first, (20, 30), **how), at=at)
    return scene.compile()


@pytest.mark.parametrize("inside", [False, True])
def test_gears_share_the_speed_of_the_pitch_point(inside):
    d = gear_train(inside=inside)
    assert d.nv == 1
    V, X = d.velocities([0.4], [1.5]), d.poses([0.4])
    pitch = np.array([0.2, 0.0, 0.0])
    speeds = [V[i, 3:] + np.cross(V[i, :3], pitch - X[i, :3, 3]) for i in (0, 1)]
    np.testing.assert_allclose(speeds[0], speeds[1], atol=1e-15)
    assert np.linalg.norm(speeds[0]) == pytest.approx(0.3)


@pytest.mark.parametrize("inside", [False, True])
def test_a_geared_wheel_adds_its_inertia_by_the_square_of_the_ratio(inside):
    d = gear_train(inside=inside)
    inertia = 0.5 + (20 / 30) ** 2 * 0.7
    assert d.mass_matrix([0.3])[0, 0] == pytest.approx(inertia, rel=1e-15)
    assert d.forward_dynamics([0.3], [2.0], [1.2])[0] == pytest.approx(1.2 / inertia, rel=1e-15)


def test_a_gear_takes_a_name_an_offset_and_settings():
    joint = joints.gear("x", "motor", (10, 40), offset=0.1, damping=0.2)
    assert (joint.coupling.leader, joint.coupling.multiplier, joint.coupling.offset) == ("motor", -0.25, 0.1)
    assert joint.coordinates[0].damping == 0.2


# What is refused, and files


@pytest.mark.parametrize("bad", [0.0, -0.1, float("nan"), float("inf"), "wide", None])
def test_radii_are_positive(bad):
    for make, where in (
        (lambda: joints.wheel(bad, 1.0), r"joints\.wheel: radius"),
        (lambda: joints.wheel(1.0, bad), r"joints\.wheel: track"),
        (lambda: joints.rack(bad), r"joints\.rack: radius"),
        (lambda: joints.rolling([q, 0], q, bad), r"rolling along the curve of q: radius"),
    ):
        with pytest.raises(rd.ModelError, match=where):
            make()


def test_a_wheel_inside_a_ring_is_smaller_than_it():
    for radius in (1.0, 1.5):
        with pytest.raises(rd.ModelError, match=r"joints\.wheel: radius 1\.[05] must be less than track 1\.0"):
            joints.wheel(radius, 1.0, inside=True)
    joints.wheel(1.5, 1.0)


def test_a_length_that_is_not_the_arc_length_is_refused():
    for f, length in (([q, q**2 / 2], None), ([2 * sp.cos(q), 2 * sp.sin(q)], q), ([q, 0], -q)):
        with pytest.raises(rd.ModelError, match=r"its length grows by .* its point by .*; give length="):
            joints.rolling(f, q, 0.1, length)
    with pytest.raises(rd.ModelError, match="a plane curve is two expressions"):
        joints.rolling([q, 0, 0], q, 0.1)


@pytest.mark.parametrize("teeth", [(0, 10), (10, -5), (2.5, 5), (10,), None, (1, 2, 3), "ab", (float("inf"), 1)])
def test_teeth_are_whole_and_positive(teeth):
    with pytest.raises(rd.ModelError, match=r"joints\.gear: teeth are two whole positive numbers"):
        joints.gear("z", "first", teeth)


def test_a_gear_does_not_turn_in_a_ring_of_as_many_teeth():
    with pytest.raises(rd.ModelError, match="does not turn inside a ring of as many"):
        joints.gear("z", "first", (20, 20), inside=True)


def test_rolling_joints_come_back_from_their_files(tmp_path):
    scene = Scene()
    radius = scene.parameter("radius", 0.3)
    node = scene.world.attach(Body("driver", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    for i, joint in enumerate((
        joints.wheel(radius, 1.0, inside=True, damping=0.1), joints.rack(radius, limits=(-1, 1)),
        joints.rolling([q, q**2 / 2], q, radius, length=ARC), joints.gear("x", "driver", (3, 7)),
    )):  # fmt: skip
        node = node.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), joint)
    assert_the_same_when_loaded(scene, tmp_path)
