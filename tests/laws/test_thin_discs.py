"""Discs that roll on their rims: circles and small motions in closed form, and what they do when they fall flat."""

import numpy as np
import pytest
from chart_cases import energy
from trees import assert_close

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints
from scene.joints import surfaces

G, MASS, R = 9.81, 1.5, 0.3
A, C = 0.25 * MASS * R**2, 0.5 * MASS * R**2


def disc(timestep=1 / 240, under=None, **how):
    scene = Scene()
    joint = joints.surface_on_surface(under or surfaces.plane(), surfaces.rim(R), spin=True, **how)
    scene.roll(scene.world.attach(Body("coin", mass=MASS, inertia=np.diag([A, A, C])), joint))
    return rd.Simulation(scene.compile(), timestep)


def standing(sim, lean, turn, spin, falling=0.0):
    """Lean from the ground, rates about the vertical and about the axis beside it, and of the lean; it rolls."""
    d = sim.dynamics
    sim.q = 0.0, 0.0, 0.4, np.pi / 2 - lean, 0.2
    X = d.poses(sim.q)[0]
    axis = X[:3, 2] if X[2, 2] > 0 else -X[:3, 2]
    across = np.cross([0, 0, 1], axis)
    across /= np.linalg.norm(across)
    omega = turn * np.array([0, 0, 1.0]) + spin * axis - falling * across
    rows = np.vstack([d.jacobian(sim.q, "coin")[:3], d.call("constraint_jacobian", sim.q).reshape(2, 5)])
    sim.v = np.linalg.solve(rows, [*omega, 0, 0])
    return sim


def leaning(sim):
    return np.arccos(abs(sim.dynamics.poses(sim.q)[0, 2, 2]))


@pytest.mark.parametrize(("lean", "rate"), [(1.1, 0.9), (0.1, 9.0)])
def test_a_coin_rolls_round_a_circle(lean, rate):
    """(C + m r^2) n W sin - A W^2 sin cos + m g r cos = 0 of lean, turn rate W and spin n about the axis."""
    s, c = np.sin(lean), np.cos(lean)
    n = (A * rate**2 * s * c - MASS * G * R * c) / ((C + MASS * R**2) * rate * s)
    sim = standing(disc(), lean, rate, n - rate * c)
    start, center = energy(sim), sim.dynamics.poses(sim.q)[0, :3, 3]
    velocity = sim.dynamics.velocities(sim.q, sim.v)[0, 3:]
    middle = center + np.cross([0, 0, 1 / rate], velocity)
    sim.step(120)
    assert_close(leaning(sim), lean, 1e-6)
    turned = rd.pose((0, 0, 0), (0, 0, rate / 2))[:3, :3]
    assert_close(sim.dynamics.poses(sim.q)[0, :3, 3], middle + turned @ (center - middle), 1e-5, 1.0)
    assert_close(energy(sim), start, 1e-7, start)


def test_an_upright_coin_sways_at_the_rate_of_the_closed_form():
    """Of small motions about rolling straight: w^2 = (C (C + m r^2) n^2 / A - m g r) / (A + m r^2)."""
    n, small = 20.0, 1e-3
    rate = np.sqrt((C * (C + MASS * R**2) * n**2 / A - MASS * G * R) / (A + MASS * R**2))
    sim = standing(disc(), np.pi / 2 - 1e-12, 0.0, n, falling=small * rate)
    leans, period = [], 2 * np.pi / rate
    for _ in range(round(1.25 * period * 240)):
        sim.step()
        leans.append(sim.q[3])
    t = np.arange(1, len(leans) + 1) / 240
    assert_close(np.abs(leans), small * np.abs(np.sin(rate * t)), 0.01, small)


@pytest.mark.parametrize("timestep", [pytest.param(1 / 240, marks=pytest.mark.slow), 1 / 60])
def test_a_coin_that_falls_comes_to_lie_at_its_limit_which_is_told_by_name(timestep):
    sim = standing(disc(timestep), 1.2, 0.0, 0.0)
    start, named = energy(sim), set()
    for _ in range(round(1.5 / timestep)):
        sim.step()
        named |= {name for name, x in sim.coordinate_impulses.items() if abs(x) > 1e-9}
        assert abs(sim.q[3]) < np.pi / 2
        assert energy(sim) < start * (1 + 1e-6)
    assert named & {"high limit of coin.v2", "low limit of coin.v2"}
    assert abs(sim.v[3]) < 1e-6 and leaning(sim) == pytest.approx(np.deg2rad(0.5), abs=1e-3)


@pytest.mark.slow
def test_a_coin_rolls_in_a_bowl_with_its_energy_to_the_order_of_the_rule():
    """Steps of 1/480 s and more are halved, as some are off by more than is let pass."""
    lost = []
    for timestep in (1 / 240, 1 / 960, 1 / 1920):
        sim = disc(timestep, surfaces.paraboloid(1.5, 2.0))
        sim.q = 0.3, 0.2, 0.1, 0.2, 0.5
        sim.q, sim.v = sim.dynamics.project(sim.q, [1.0, 0.5, 3.0, 0.2, 0.5])
        start = energy(sim)
        sim.step(round(0.5 / timestep))
        lost.append(abs(energy(sim) - start) / start)
        assert (sim.report.halvings == 0) == (timestep < 1 / 900)
    assert max(lost) < 1e-4 and lost[2] < lost[1] / 10


def test_limits_of_ones_own_take_the_place_of_a_rims():
    joint = joints.surface_on_surface(surfaces.plane(), surfaces.rim(R), spin=True)
    assert joint.limits["v2"].position[1] == pytest.approx(np.pi / 2 - np.deg2rad(0.5))
    free = joint.adjusted(limits=[(-np.inf, np.inf)] * 5)
    assert not np.isfinite(free.limits["v2"].position).any()


@pytest.mark.parametrize("rolls", [False, True])
@pytest.mark.parametrize(("off", "timestep"), [((0.0, 0.0, 0.0), 1 / 240), ((0.01, 0.004, 0.0), 1 / 60)])
def test_coins_that_whirl_as_they_fall_flat_gain_nothing(rolls, off, timestep):
    """The flatter one lies the faster it whirls, without bound at the flat, which a step may leap beyond."""
    scene = Scene()
    joint = joints.surface_on_surface(surfaces.plane(), surfaces.rim(0.06), spin=True)
    coin = Body("coin", mass=0.2, center_of_mass=off, inertia=np.diag([2e-4, 2e-4, 4e-4]))
    scene.world.attach(coin, joint)
    if rolls:
        scene.roll(coin)
    sim, cut = rd.Simulation(scene.compile(), timestep), 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        q = 0.0, 0.0, rng.uniform(0, 6), rng.uniform(-1.2, 1.2), rng.uniform(0, 6)
        sim.q, sim.v = sim.dynamics.project(q, rng.normal(size=5) * (0.2, 0.2, 3.0, 2.0, 5.0))
        start = before = energy(sim)
        for _ in range(round(2 / timestep)):
            sim.step()
            now, before = before, energy(sim)
            assert before - now < 5e-3 * start
        cut += sim.report.steps_cut
    assert cut > 0 or not (rolls or any(off))


def test_a_coin_among_bodies_gains_nothing_either():
    scene = Scene()
    joint = joints.surface_on_surface(surfaces.plane(), surfaces.rim(0.06), spin=True)
    coin = Body("coin", mass=0.2, center_of_mass=(0.01, 0.004, 0.0), inertia=np.diag([2e-4, 2e-4, 4e-4]))
    scene.roll(scene.world.attach(coin, joint))
    rng = np.random.default_rng(7)
    q = 0.0, 0.0, rng.uniform(0, 6), rng.uniform(-1.2, 1.2), rng.uniform(0, 6)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.q, sim.v = sim.dynamics.project(q, rng.normal(size=5) * (0.2, 0.2, 3.0, 2.0, 5.0))
    start = before = energy(sim)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        for _ in range(240):
            shown.step()
            now, before = before, energy(sim)
            assert before - now < 5e-3 * start
