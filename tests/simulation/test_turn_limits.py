"""Cones and twists of balls: within them nothing is changed, at them nothing is won, and they push as statics says."""

import pickle

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.contact.settings import Settings
from recursive_dyn.dynamics.turn_rows import turn_gaps
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_product
from scene import Body, Scene, joints

SLOP = Settings().slop
CONE = joints.TurnLimits(swing=0.7, twist=(-0.3, 0.5))
EGG = joints.TurnLimits(swing=(0.5, 1.1), twist=(-0.3, 0.5), axis="x", center=(0.1, 0.2, -0.1))
MASS, ARM, GRAVITY = 1.5, 0.4, 9.81


def hung(limits=CONE, gravity=(0, 0, -GRAVITY), joint=joints.ball) -> rd.Dynamics:
    scene = Scene(gravity=gravity)
    bob = Body("bob", mass=MASS, center_of_mass=(0, 0, -ARM), inertia=np.diag([0.02, 0.03, 0.01]))
    scene.world.attach(bob, joint(limits=limits))
    return scene.compile()


def dolls(count: int, limits=CONE) -> rd.Dynamics:
    """Trees of a floating body with four balls, the last on another one."""
    scene = Scene()
    for i in range(count):
        rng = np.random.default_rng(4)
        trunk = scene.world.attach(Body(f"trunk{i}", mass=3.0, inertia=np.eye(3) * 0.1), joints.free())
        parent = trunk
        for k in range(4):
            limb = Body(f"limb{i}.{k}", mass=0.6, center_of_mass=(0, 0.05, -0.2), inertia=np.diag([0.02, 0.02, 0.01]))
            limb = parent.attach(limb, joints.ball(limits=limits), at=rd.pose(rng.uniform(-0.3, 0.3, 3)))
            parent = trunk if k < 2 else limb
    return scene.compile()


def energy(sim: rd.Simulation) -> float:
    return float(sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q))


def gaps(sim: rd.Simulation) -> np.ndarray:
    return np.array([gap for _, gap, _ in turn_gaps(sim.dynamics, sim.q).values()])


def run(sim: rd.Simulation, seconds: float) -> tuple[float, float, set[str]]:
    """(by how much energy ever rose again, the lowest gap, rows that pushed)."""
    energies, lowest, pushed = [energy(sim)], np.inf, set[str]()
    for _ in range(round(seconds / sim.timestep)):
        sim.step()
        energies.append(energy(sim))
        lowest = min(lowest, gaps(sim).min())
        pushed |= {name for name, impulse in sim.coordinate_impulses.items() if impulse}
    return float((energies - np.minimum.accumulate(energies)).max()), float(lowest), pushed


@pytest.mark.parametrize("limits", [CONE, EGG], ids=["round", "elliptic"])
@pytest.mark.parametrize("h", [pytest.param(1 / 240, marks=pytest.mark.slow), 1 / 60])
@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "implicit_midpoint"])
def test_a_ball_stays_within_its_limits_and_wins_next_to_nothing(limits, h, integrator):
    """Thrown about: 10 J, of which stops take what goes into them. Rises are below 1e-4 of it: what is left of halves
    of what a stop does where a step begins and where it ends, where the ball leans on it and turns along it."""
    sim = rd.Simulation(hung(limits), h, integrator)
    sim.v = [4.0, 3.0, 6.0]
    rise, lowest, pushed = run(sim, 2.0)
    assert rise < 1e-3
    assert lowest > -SLOP - 0.2 * (8.0 * h) ** 2, lowest  # of second order in what a step turns by
    assert {"swing limit of bob.wx", "high twist limit of bob.wx"} <= pushed


def test_what_is_fast_stops_too():
    """Half a radian a step: what a step goes beyond the end comes back, and takes its energy along."""
    for seed in range(5):
        sim = rd.Simulation(hung(EGG), 1 / 60)
        sim.v = 15.0 * np.random.default_rng(seed).normal(size=3)
        before = energy(sim)
        rise, lowest, _ = run(sim, 0.5)
        assert energy(sim) < before and rise < 0.01 * (before + MASS * GRAVITY * ARM) and lowest > -0.5
        assert gaps(sim).min() > -5e-3


@pytest.mark.parametrize("swing", [0.02, 0.3, 1.5, 3.1])
@pytest.mark.parametrize("joint", [joints.ball, joints.free])
def test_a_stop_takes_the_speed_into_it_and_no_other(swing, joint):
    """Of a body whose inertia is the same about all axes: afterwards it goes along the cone, as fast as before."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("top", mass=1.0, inertia=np.eye(3) * 0.2), joint(limits=joints.TurnLimits(swing=swing)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    start = len(sim.q) - 4
    sim.q[start:] = quaternion_product(quaternion_exp([swing - 1e-9, 0.0, 0.0]), quaternion_exp([0.0, 0.0, 0.8]))
    _, _, into = turn_gaps(sim.dynamics, sim.q)["swing limit of top.wx"]
    along = np.array([0.0, 0.0, 0.01])  # the child's own turning about its axis does nothing to the cone
    sim.v[:3] = -0.05 * into + along
    sim.step()
    np.testing.assert_allclose(sim.v[:3], along, atol=1e-5)  # within the step the twist turns by 2e-4
    assert sim.coordinate_impulses["swing limit of top.wx"] == pytest.approx(0.2 * 0.05, rel=1e-6)


@pytest.mark.parametrize("h", [pytest.param(1 / 240, marks=pytest.mark.slow), 1 / 60])
@pytest.mark.parametrize("limits", [CONE, joints.TurnLimits(swing=(0.4, 0.9))], ids=["round", "elliptic"])
def test_what_rests_on_a_cone_is_held_by_what_gravity_turns(limits, h):
    """Gravity goes sideways, and the arm leans on the cone where it is lowest; the stop is all that holds it."""
    for around in (0.0, np.pi / 2):
        g = GRAVITY * np.array([np.sin(around), -np.cos(around), 0.0])
        sim = rd.Simulation(hung(joints.TurnLimits(swing=limits.swing), g), h)
        sim.motors["bob.wz"] = rd.Motor(velocity=0.0, kd=1.0)
        sim.motors["bob.wx"] = sim.motors["bob.wy"] = rd.Motor(velocity=0.0, kd=0.3)
        sim.step(round(8.0 / h))
        assert np.abs(sim.v).max() < 1e-4
        angle = limits.swing[0] if around == 0.0 else limits.swing[1]
        push = sim.coordinate_impulses["swing limit of bob.wx"] / h
        assert push == pytest.approx(MASS * GRAVITY * ARM * np.cos(angle), rel=2e-3)
        sim.motors.clear()


def test_twists_push_about_the_axis_alone_where_nothing_swings():
    d = hung(joints.TurnLimits(twist=(-0.2, 0.3)), (0, 0, 0))
    for angle, row, sign in ((0.3, "high twist limit of bob.wx", -1.0), (-0.2, "low twist limit of bob.wx", 1.0)):
        _, gap, rates = turn_gaps(d, quaternion_exp([0.0, 0.0, angle]))[row]
        assert gap == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(rates, [0.0, 0.0, sign], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_rates_of_their_gaps_at_the_bounds(seed):
    """By differences, for any frame; and the gap of a round cone is its half-angle less the swing, anywhere."""
    rng = np.random.default_rng(seed)
    axis = ["y", "-z", (1.0, -2.0, 0.5)][seed]
    swing = (0.8, 1.7) if seed < 2 else 1.2
    limits = joints.TurnLimits(swing=swing, twist=(-0.9, 0.4), axis=axis, center=rng.normal(size=3))
    d, (a, b, c) = hung(limits), limits.frame
    for around in rng.uniform(0, 2 * np.pi, 5):
        most = 1.0 / np.hypot(np.cos(around) / limits.swing[0], np.sin(around) / limits.swing[1])
        for far, twist in ((most, 0.1), (0.5, -0.9), (0.5, 0.4)):
            lean = quaternion_exp(far * (np.cos(around) * b + np.sin(around) * c))
            q = quaternion_product(quaternion_exp(limits.center), quaternion_product(lean, quaternion_exp(twist * a)))
            way = rng.normal(size=3)
            ahead, behind = (turn_gaps(d, quaternion_product(q, quaternion_exp(s * way))) for s in (1e-6, -1e-6))
            at = [(name, rates) for name, (_, gap, rates) in turn_gaps(d, q).items() if abs(gap) < 1e-9]
            assert len(at) == 1
            ((name, rates),) = at
            assert (ahead[name][1] - behind[name][1]) / 2e-6 == pytest.approx(rates @ way, abs=1e-7)
            assert np.linalg.norm(rates) == pytest.approx(1.0)


def test_near_half_a_turn_all_is_finite_and_nothing_is_won():
    """Where the axis points backwards a twist may be anything: passed by, started there, and met by a cone of 3.1."""
    half = quaternion_exp([np.pi, 0.0, 0.0])
    for limits in (joints.TurnLimits(twist=(-0.3, 0.5)), joints.TurnLimits(swing=3.1, twist=(-0.3, 0.5))):
        for q in (half, quaternion_exp([np.pi - 1e-7, 1e-8, 1e-8]), quaternion_exp([2.9, 0.0, 0.0])):
            sim = rd.Simulation(hung(limits, (0, 0, 0)), 1 / 60)
            sim.q, sim.v = q, [5.0, 0.2, 0.1]
            before = energy(sim)
            rise, _, _ = run(sim, 1.0)
            assert rise < 1e-3 * before and np.isfinite(sim.q).all()


def test_limits_out_of_reach_change_nothing():
    ends = []
    for limits in (None, joints.TurnLimits(swing=3.0, twist=(-3.1, 3.1))):
        sim = rd.Simulation(hung(limits))
        sim.v = [2.0, 1.0, 0.5]
        sim.step(200)
        ends.append(np.concatenate([sim.q, sim.v]))
    np.testing.assert_array_equal(ends[1], ends[0])


@pytest.mark.slow
def test_trees_by_themselves_and_among_others_move_alike():
    """A forest has the rows of each of its trees; limits on a floating base's balls keep momentum."""
    alone, many = dolls(1), dolls(3)
    rng = np.random.default_rng(2)
    v, q = 2.0 * rng.normal(size=alone.nv), alone.neutral()
    one, three = rd.Simulation(alone, 1 / 60), rd.Simulation(many, 1 / 60)
    one.v, three.v[alone.nv : 2 * alone.nv] = v, v
    before = one.dynamics.momentum(q, v)
    for _ in range(60):
        one.step()
        three.step()
        assert gaps(one).min() > -SLOP
    np.testing.assert_allclose(three.q[alone.nq : 2 * alone.nq][3:], one.q[3:], atol=1e-7)
    moved = one.dynamics.momentum(one.q, one.v)
    weight = (3.0 + 4 * 0.6) * GRAVITY
    np.testing.assert_allclose(moved[3:], before[3:] - [0, 0, weight * one.time], atol=1e-9)


def test_snapshots_copies_and_pickles_go_on_bit_by_bit():
    sim = rd.Simulation(dolls(1), 1 / 60)
    sim.v = 2.0 * np.random.default_rng(3).normal(size=sim.dynamics.nv)
    sim.step(20)
    assert any("limit" in name for name in sim.coordinate_impulses)
    kept, packed, travelled = sim.snapshot(), sim.snapshot_bytes(), pickle.loads(pickle.dumps(sim))
    sim.step(30)
    end = np.concatenate([sim.q, sim.v])
    travelled.step(30)
    np.testing.assert_array_equal(np.concatenate([travelled.q, travelled.v]), end)
    for one in (kept, packed):
        sim.restore(one)
        sim.step(30)
        np.testing.assert_array_equal(np.concatenate([sim.q, sim.v]), end)


def test_neutral_and_random_configurations_are_inside():
    rng = np.random.default_rng(0)
    away = joints.TurnLimits(swing=(0.3, 0.6), twist=(0.2, 0.5), axis="y", center=(1.0, 0.4, -0.2))
    for limits in (CONE, EGG, away, joints.TurnLimits(twist=(2.9, 3.6)), joints.TurnLimits(swing=0.4)):
        d = hung(limits)
        for q in (d.neutral(), *(d.random(rng) for _ in range(50))):
            assert min(gap for _, gap, _ in turn_gaps(d, q).values()) > -1e-9
    np.testing.assert_array_equal(hung().neutral(), [0, 0, 0, 1])


def test_a_limb_that_comes_and_goes_keeps_its_limits():
    """Edits renumber rows: what is pressed on goes on being so, by its name."""
    scene = Scene(gravity=(0, GRAVITY, 0))
    for name in ("a", "b"):
        bob = Body(name, mass=1.0, center_of_mass=(0, 0, -0.4), inertia=np.eye(3) * 0.02)
        scene.world.attach(bob, joints.ball(limits=CONE, damping=0.5), at=rd.pose((ord(name), 0, 0)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    sim.step(300)
    held = sim.coordinate_impulses["swing limit of b.wx"]
    scene["a"].detach()
    sim.update(scene.compile())
    sim.step(300)
    assert sim.coordinate_impulses["swing limit of b.wx"] == pytest.approx(held, rel=1e-3)
