"""Loops through positions in which rows depend on each other, and rows that depend on others everywhere."""

import numpy as np
import pytest

import recursive_dyn as rd
from demos.benchmark.integrators import SLENDER, closed
from scene import Body, Scene, joints

ENERGY = 35.835  # J, of two windows (IFToMM benchmark A02) that stand upright, their tops at 1 m/s


def windows(count: int) -> rd.Dynamics:
    """IFToMM benchmark A02: four-bars in a row, of rods of 1 m and 1 kg that share their uprights; pins close them."""
    scene = Scene(gravity=(0, -9.81, 0))

    def rod(name):
        return Body(name, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=np.eye(3) / 12)

    places = [rd.pose((float(k), 0, 0)) for k in range(count + 1)]
    ups = [scene.world.attach(rod(f"up {k}"), joints.revolute("z"), at=at) for k, at in enumerate(places)]
    for k in range(count):
        bar = ups[k].attach(rod(f"bar {k}"), joints.revolute("z"), at=rd.pose((1, 0, 0)))
        scene.pin(ups[k + 1], bar, point_a=(1, 0, 0), point_b=(1, 0, 0), axis=(0, 0, 1))
    return scene.compile()


def upright(d: rd.Dynamics, h: float) -> rd.Simulation:
    simulation = rd.Simulation(d, h)
    sign = np.array([1.0 if name.startswith("up") else -1.0 for name in d.coordinates])
    simulation.q, simulation.v = np.pi / 2 * sign, -sign
    return simulation


def energy(simulation: rd.Simulation) -> float:
    d, q = simulation.dynamics, simulation.q
    return float(d.kinetic_energy(q, simulation.v) + d.potential_energy(q))


def errors(simulation: rd.Simulation) -> float:
    return np.abs(simulation.dynamics.constraint_errors(simulation.q, simulation.v)).max()


@pytest.mark.parametrize(
    ("h", "duration"),
    [
        (1 / 60, 10.0),
        (2.1e-3, 10.0),
        (0.0009889706745333864, 3.0),  # a stage 4e-6 rad off the line of all rods, where it went another way before
        pytest.param(1e-3, 30.0, marks=pytest.mark.slow),
        pytest.param(0.0008540545, 30.0, marks=pytest.mark.slow),
    ],
)
def test_four_bars_in_a_row_stay_parallelograms_and_keep_their_energy(h, duration):
    simulation = upright(windows(2), h)
    bars = [simulation.dynamics.bodies.index(name) for name in ("bar 0", "bar 1")]
    assert energy(simulation) == pytest.approx(ENERGY, abs=1e-12)
    for _ in range(int(duration / h / 20)):
        simulation.step(20)
        assert energy(simulation) == pytest.approx(ENERGY, rel=1e-5)
        assert errors(simulation) < 1e-6  # near the line, where rows are left out; elsewhere rounding
        assert np.abs(simulation.dynamics.poses(simulation.q)[bars, 1, 0]).max() < 1e-4  # level
    assert np.isfinite(simulation.q).all() and simulation.report.unexplained_energy == 0.0


@pytest.mark.slow
def test_forty_four_bars_in_a_row_do_so_too():
    """A02 at its larger size: 81 coordinates, 80 rows, all of them singular where the rods lie on one line."""
    d = windows(40)
    assert len(d.constraints) == 80
    bars = [k for k, name in enumerate(d.bodies) if name.startswith("bar")]
    for h, most in ((1 / 60, 2e-4), (2.1e-3, 1e-6)):
        simulation = upright(d, h)
        start = energy(simulation)
        for _ in range(int(10.0 / h / 20)):
            simulation.step(20)
            assert energy(simulation) == pytest.approx(start, rel=most)
            assert np.abs(d.poses(simulation.q)[bars, 1, 0]).max() < 1e-4  # level
        assert errors(simulation) < 1e-9
        assert simulation.report.unexplained_energy == 0.0


def test_rows_that_are_singular_where_a_scene_is_assembled_are_kept():
    """All rods lie on one line at the coordinates' zeros, where half of the rows have no gradient."""
    d = windows(3)
    assert len(d.constraints) == 6
    simulation = upright(d, 1 / 240)
    start = energy(simulation)
    simulation.step(240)
    assert energy(simulation) == pytest.approx(start, rel=1e-5)


INERTIA, AT = np.diag([0.03, 0.04, 0.02]), (0.1, 0.2, -0.4)


def arm_and_hand(joined: bool) -> rd.Dynamics:
    """An arm with a hand on it: fixed, or afloat and held by all nine entries of R - R' = 0 in the world's axes."""
    scene = Scene()
    part = {"inertia": INERTIA, "center_of_mass": (0.02, 0.1, -0.2)}
    arm, hand = scene.world.attach(Body("arm", mass=1.0, **part), joints.ball()), Body("hand", mass=0.6, **part)
    if joined:
        arm.attach(hand, joints.fixed(), at=rd.pose(AT))
    else:
        scene.world.attach(hand, joints.free(), at=rd.pose(AT))
        rows = (hand.position - arm.point(AT), hand.rotation - arm.rotation)
        scene.constrain(*rows, name="weld", redundant="drop")
    return scene.compile()


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_nine_entries_of_a_rotation_weld_at_every_position(h):
    """Any three of them are singular somewhere; which ones count is found at each state."""
    fixed, held = (rd.Simulation(arm_and_hand(joined), h) for joined in (True, False))
    d = held.dynamics
    held.q[:], held.v[:] = d.project(d.neutral(), np.array([2.0, -3.0, 5.0, *np.zeros(6)]))
    fixed.v[:] = held.v[:3]
    for _ in range(10):
        fixed.step(round(0.5 / h))
        held.step(round(0.5 / h))
        np.testing.assert_allclose(d.poses(held.q), fixed.dynamics.poses(fixed.q), atol=1e-5)
        assert errors(held) < 1e-9


def test_bricards_mechanism_moves_though_one_of_its_rows_is_too_many():
    """Six hinges along six edges of a cube (IFToMM benchmark A04) do not lock: it swings, and keeps its energy."""
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1.0)])
    scene = Scene(gravity=(0, -9.81, 0))
    node = scene.world
    for k, axis in enumerate("yzxyz"):
        along = np.outer(P[k + 1] - P[k], P[k + 1] - P[k])
        rod = Body(f"rod {k}", mass=1.0, center_of_mass=(P[k + 1] - P[k]) / 2, inertia=(np.eye(3) - 0.999 * along) / 12)
        node = node.attach(rod, joints.revolute(axis), at=rd.pose(P[k] - P[max(k - 1, 0)]))
    scene.pin(node, scene.world, point_a=P[5] - P[4], point_b=P[5], axis=(1, 0, 0))
    simulation = rd.Simulation(scene.compile(), 1 / 240)
    simulation.q[:] = 0.0
    start, swung = energy(simulation), 0.0
    for _ in range(50):
        simulation.step(24)
        swung = max(swung, np.abs(simulation.q).max())
        assert energy(simulation) == pytest.approx(start, abs=1e-5)
        assert errors(simulation) < 1e-9
    assert swung > 1.0


BARS = 0.5, 1.2, 0.8, 1.5  # crank, coupler, rocker and ground of no parallelogram, on a line once a turn


def change_point(time=None):
    """A four-bar of such rods; its crank and its rocker turn in the world."""
    scene = Scene(gravity=(0, -9.81, 0))
    rods = [
        Body(name, mass=x, center_of_mass=(x / 2, 0, 0), inertia=np.diag([1e-3 * x, x**3 / 12, x**3 / 12]))
        for name, x in zip(("crank", "coupler", "rocker"), BARS, strict=False)
    ]
    crank = scene.world.attach(rods[0], joints.revolute("z"))
    coupler = crank.attach(rods[1], joints.revolute("z"), at=rd.pose((BARS[0], 0, 0)))
    rocker = scene.world.attach(rods[2], joints.revolute("z"), at=rd.pose((BARS[3], 0, 0)))
    scene.pin(rocker, coupler, point_a=(BARS[2], 0, 0), point_b=(BARS[1], 0, 0), axis=(0, 0, 1))
    return scene


def whirling(d: rd.Dynamics, h: float, angle: float, up: bool, speed: float, rule=None) -> rd.Simulation:
    """The crank at an angle and a speed, the coupler's end above or below the line from it to the rocker's place."""
    gap = np.array([BARS[3], 0.0]) - BARS[0] * np.array([np.cos(angle), np.sin(angle)])
    r = np.hypot(*gap)
    bend = np.arccos((BARS[1] ** 2 + r * r - BARS[2] ** 2) / (2 * BARS[1] * r))
    lean = np.arctan2(gap[1], gap[0]) + (bend if up else -bend)
    end = BARS[1] * np.array([np.cos(lean), np.sin(lean)]) - gap
    simulation = rd.Simulation(d, h, rule)
    q, v = d.project([angle, lean - angle, np.arctan2(end[1], end[0])], [speed, 0.0, 0.0])
    simulation.q, simulation.v = q, v * speed / v[0]
    return simulation


STARTS = [
    (0.5, True, 10.0),
    (0.5, False, 10.0),
    (2.0, True, -10.0),
    (1.0, True, 12.0),
    (0.7, True, 15.0),
    (2.2, False, 20.0),
]


@pytest.mark.parametrize("h", [1 / 60, 1 / 120, 1 / 240])
def test_four_bars_whirl_through_their_change_points(h):
    """At up to 30 rad/s: 0.2 % of their energy in 5 s, which another way at one of fifty crossings would cost more of;
    nothing is unexplained."""
    d = change_point().compile()
    for start in STARTS:
        simulation = whirling(d, h, *start)
        first = energy(simulation)
        for _ in range(round(5.0 / h / 10)):
            simulation.step(10)
            assert energy(simulation) == pytest.approx(first, rel=2.5e-3)
            assert errors(simulation) < 1e-4
        assert simulation.report.unexplained_energy == 0.0


def test_a_step_that_ends_beside_a_change_point_keeps_its_energy():
    """At t = 4.758 s it ends 1.3e-3 rad off: bringing it onto the constraints took 35 % of its energy."""
    scene = Scene()
    node, at = scene.world, rd.pose()
    for k, x in enumerate(BARS[:3]):
        rod = Body(f"rod {k}", mass=x, center_of_mass=(x / 2, 0, 0), inertia=np.diag([1e-3, x**3 / 12, x**3 / 12]))
        node, at = node.attach(rod, joints.revolute("y"), at=at), rd.pose((x, 0, 0))
    scene.pin(node, scene.world, point_a=(BARS[2], 0, 0), point_b=(BARS[3], 0, 0), axis=(0, 1, 0))
    simulation = rd.Simulation(scene.compile(), 1 / 240)
    simulation.q, simulation.v = simulation.dynamics.project([-1.4, 0.9, 0.9], [16.0, 0.0, 0.0])
    first = energy(simulation)
    for _ in range(240):
        simulation.step(5)
        assert energy(simulation) == pytest.approx(first, rel=5e-3)
    assert simulation.report.unexplained_energy < 5e-3 * first


def test_six_links_that_are_closed_fall_past_a_line_and_keep_their_energy():
    """At 1/60 s, from starts that are nearly one: in parts that turned by 0.1 rad one in six lost 1 to 5 of 15 J."""
    start = closed(SLENDER, False)
    for seed in range(16):
        simulation = rd.Simulation(start.dynamics, 1 / 60)
        simulation.q = start.q
        simulation.step(5)
        simulation.v = np.random.default_rng(seed).normal(size=6) * 1e-3
        first = energy(simulation)
        simulation.step(175)
        assert energy(simulation) == pytest.approx(first, abs=0.3)
        assert simulation.report.unexplained_energy < 0.1


def test_the_way_through_a_change_point_is_that_of_small_steps():
    d = change_point().compile()
    coarse, fine = whirling(d, 1 / 60, *STARTS[0]), whirling(d, 1 / 3000, *STARTS[0], "variational_midpoint")
    crossings, before = 0, np.sin(fine.q[1])
    for _ in range(90):
        coarse.step(1)
        fine.step(50)
        np.testing.assert_allclose(d.poses(coarse.q), d.poses(fine.q), atol=2e-2)
        crossings, before = crossings + (before * np.sin(fine.q[1]) < 0), np.sin(fine.q[1])
    assert crossings >= 2
    assert coarse.report.halvings >= 7  # eight parts, at one of these at least


@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "rk4", "implicit_midpoint"])
@pytest.mark.parametrize(("count", "h"), [(2, 1 / 60), (2, 1 / 240), (2, 1 / 2000), (5, 1 / 1000)])
def test_parallelograms_that_lie_flat_fall_from_rest(integrator, count, h):
    """All rockers as one of them with a coupler, however small the steps by which they leave the flat position."""

    def rod(name: str) -> Body:
        inertia = np.diag([0.001, 1 / 12, 1 / 12])
        return Body(name, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=inertia)

    scene = Scene(gravity=(0, 0, -9.81))
    before = scene.world.attach(first := rod("rocker 0"), joints.revolute("y")) and first
    for k in range(1, count + 1):
        rocker, coupler = rod(f"rocker {k}"), rod(f"coupler {k}")
        scene.world.attach(rocker, joints.revolute("y"), at=rd.pose((k, 0, 0)))
        before.attach(coupler, joints.revolute("y"), at=rd.pose((1.0, 0, 0)))
        scene.pin(coupler, rocker, point_a=(1.0, 0, 0), point_b=(1.0, 0, 0), axis=(0, 1, 0))
        before = rocker
    sim = rd.Simulation(scene.compile(), h, integrator)
    sim.step(round(0.3 / h))
    d, angles = sim.dynamics, dict(zip(sim.dynamics.coordinates, sim.q, strict=True))
    rockers = [x for name, x in angles.items() if name.startswith("rocker")]
    assert np.ptp(rockers) < 1e-9 and rockers[0] > 0.49
    # of 16.7 J; rounding decides in which step they leave: 3e-3 with fused multiply-adds, 3.5e-3 without
    assert abs(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q)) < 4e-3
