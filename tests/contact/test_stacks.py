"""Stacks: boxes on boxes stand, whatever they weigh, and a solve that is cut short says so."""

import numpy as np
import pytest
from contact_scenes import INTEGRATORS, G, at, energy, mirror, position, put, twist

import recursive_dyn as rd
from recursive_dyn.contact.settings import Settings
from scene import Body, Scene, joints, shapes

SIZE = 0.2


def tower(masses, size: float = SIZE) -> Scene:
    scene = Scene()
    for k, mass in enumerate(masses):
        put(scene, f"box{k}", shapes.Box((size,) * 3), at(z=size * (k + 0.5)), mass)
    return scene


def heights(sim: rd.Simulation) -> np.ndarray:
    return sim.frames()[0][:, 2, 3].copy()


def assert_stands(shown, seconds: float, sinking: float = 1e-3, sway: float = 1e-3) -> None:
    """No box sinks or moves aside by more than that, and energy never grows by more than slops are worth."""
    sim = shown.sim
    start, X = heights(sim), sim.frames()[0][:, :2, 3].copy()
    weight = sum(body.mass for body in shown.scene.bodies) * G
    most = energy(sim)
    for _ in range(round(seconds / sim.timestep)):
        shown.step()
        assert sim.solution.penetration < sinking
        now = energy(sim)
        assert now < most + weight * sim.contact.slop * len(start)
    assert np.abs(heights(sim) - start).max() < sinking
    assert np.abs(sim.frames()[0][:, :2, 3] - X).max() < sway


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_ten_boxes_stand(integrator):
    with mirror(tower([1.0] * 10), 1 / 60, integrator) as shown:
        assert_stands(shown, 3.0)
        assert np.abs(shown.sim.frames()[1]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_ten_boxes_stand_for_a_minute(integrator):
    with mirror(tower([1.0] * 10), 1 / 60, integrator) as shown:
        assert_stands(shown, 60.0)


@pytest.mark.parametrize(
    "masses", [(1.0, 1000.0), (1000.0, 1.0), (1.0, 1000.0, 1000.0), (1.0, 10.0, 100.0, 1000.0)], ids=str
)
def test_mass_ratios_of_a_thousand_stand(masses):
    with mirror(tower(masses), 1 / 60) as shown:
        assert_stands(shown, 3.0)
        shown.step()
        for k in range(len(masses)):
            carried = shown.sim.contact_wrench(f"box{k}")[5]
            assert carried == pytest.approx(masses[k] * G, rel=1e-3, abs=1e-3 * max(masses))


def test_a_pyramid_stands():
    scene = Scene()
    rows = 5
    for row in range(rows):
        for k in range(rows - row):
            x = (k - (rows - row - 1) / 2) * 1.1 * SIZE
            put(scene, f"box{row}{k}", shapes.Box((SIZE,) * 3), at(x, 0.0, (row + 0.5) * SIZE))
    with mirror(scene, 1 / 60) as shown:
        assert_stands(shown, 2.0)


def test_islands_are_counted():
    """Two towers and a box by itself on the ground, and one box in the air."""
    scene = Scene()
    for tower_number, count in enumerate((3, 2, 1)):
        for k in range(count):
            put(scene, f"b{tower_number}{k}", shapes.Box((SIZE,) * 3), at(tower_number, 0, (k + 0.5) * SIZE))
    put(scene, "high", shapes.Box((SIZE,) * 3), at(9.0, 0.0, 5.0))
    with mirror(scene, 1 / 60) as shown:
        shown.step(3)
        assert shown.sim.solution.islands == 3
        assert shown.sim.solution.contacts == 4 * 6
        assert shown.sim.solution.rows == 3 * shown.sim.solution.contacts


def test_the_weight_arrives_at_the_ground():
    """Mean force over a step on the lowest box: the ground carries all, the box above presses with all but its own."""
    masses = [1.0, 2.0, 3.0, 4.0]
    with mirror(tower(masses), 1 / 60) as shown:
        shown.step(60)
        by_pair: dict = {}
        for contact in shown.contacts:
            pair = (contact.body_a, contact.body_b)
            by_pair[pair] = by_pair.get(pair, 0.0) + contact.impulse[2] / shown.sim.timestep
        assert by_pair[("box0", "world")] == pytest.approx(sum(masses) * G, rel=1e-5)
        for k in range(3):
            assert by_pair[(f"box{k}", f"box{k + 1}")] == pytest.approx(-sum(masses[k + 1 :]) * G, rel=1e-5)


def test_a_solve_cut_short_says_so_and_stays_finite():
    with mirror(tower([1.0] * 10), 1 / 60) as shown:
        sim = shown.sim
        shown.step(5)
        assert sim.solution.converged and sim.solution.residual <= sim.contact.tolerance
        sim.contact.iterations = 1
        sim.v = np.random.default_rng(0).normal(size=sim.dynamics.nv)
        told, most = [], energy(sim)
        for _ in range(120):
            shown.step()
            told.append(sim.solution.converged)
            assert sim.solution.iterations == 1
            assert sim.solution.converged == (sim.solution.residual <= sim.contact.tolerance)
            assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all()
            assert np.abs(sim.v).max() < 100.0
        assert not all(told)
        assert energy(sim) < most + 1.0


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_motors_drive_and_the_ground_carries_though_a_solve_is_cut_short(iterations):
    """A cart from rest: no step is a free fall, none gains more than its motors can do, and it gets to their speed."""
    speed, force, radius = 20.0, 1.0, 0.1
    scene = Scene()
    hull = put(scene, "hull", shapes.Box((0.8, 0.4, 0.1)), at(z=0.3), 5.0)
    for k, (x, y) in enumerate(((-0.3, -0.3), (-0.3, 0.3), (0.3, -0.3), (0.3, 0.3))):
        wheel = Body(f"wheel{k}", [shapes.Sphere(radius)], mass=0.5)
        hull.attach(wheel, joints.revolute("y"), at=at(x, y, -0.2))
    with mirror(scene) as shown:
        sim, told = shown.sim, []
        for name in sim.dynamics.coordinates:
            if name.startswith("wheel"):
                sim.motors[name] = rd.Motor(velocity=speed, max_force=force)
        sim.contact.iterations = iterations
        for _ in range(120):
            before = energy(sim)
            shown.step()
            told.append(sim.solution.converged)
            assert twist(sim, "hull")[5] > -0.1 * G * sim.timestep
            assert energy(sim) < before + 4 * force * speed * sim.timestep
        assert not all(told)
        assert twist(sim, "hull")[3] == pytest.approx(speed * radius, rel=0.05)


def test_more_sweeps_leave_a_smaller_residual():
    residuals = []
    for iterations in (1, 5, 20, 200):
        with mirror(tower([1.0] * 5), 1 / 60) as shown:
            shown.sim.contact.iterations = iterations
            shown.step()
            residuals.append(shown.sim.solution.residual)
            assert shown.sim.solution.iterations <= iterations
    assert residuals[-1] <= Settings().tolerance < residuals[0]
    assert residuals[2] < residuals[0]


def test_a_heavy_ball_falls_onto_a_light_tower():
    """It may topple, but it neither explodes nor lets anything sink into the ground."""
    scene = tower([0.1] * 4)
    put(scene, "ball", shapes.Sphere(0.15), at(0.05, 0.02, 1.2), 5.0)
    with mirror(scene, 1 / 240) as shown:
        sim, most = shown.sim, energy(shown.sim)
        for _ in range(240):
            shown.step()
            assert sim.solution.penetration < 2e-3
            assert energy(sim) < most + 5.4 * G * 2e-3  # overlaps of the impact are lifted out
            assert np.abs(twist(sim, "ball")[3:]).max() < 5.0
            most = max(min(most, energy(sim)), 0.0)
        assert position(sim, "ball")[2] > 0.1499
