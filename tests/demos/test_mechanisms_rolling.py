"""The demos that roll: no slip, energy to the integrator's order, the rattleback's reversal, the discs' integrals."""

from importlib import import_module

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import recursive_dyn as rd
from demos import disc, ellipsoids, rattleback
from demos.stage import total_energy

NAMES = ("ellipsoids", "rattleback", "disc")


def started(name: str, timestep: float) -> rd.Simulation:
    """The demo's simulation at its start, with another time step."""
    stage = import_module(f"demos.{name}").build().simulation
    simulation = rd.Simulation(stage.dynamics, timestep, stage.integrator)
    simulation.q, simulation.v = stage.q, stage.v
    return simulation


def contacts(name: str, simulation: rd.Simulation) -> list[tuple[int, np.ndarray]]:
    """(body, world point) of every contact, found from the bodies' poses alone."""
    poses = simulation.dynamics.poses(simulation.q)
    if name == "disc":
        found = []
        for i, (X, d) in enumerate(zip(poses, disc.DISCS, strict=True)):
            down = -np.array([0.0, 0.0, 1.0]) + X[2, 2] * X[:3, 2]  # in the disc's plane
            found.append((i, X[:3, 3] + d.radius * down / np.linalg.norm(down)))
        return found
    X = poses[0]
    if name == "rattleback":
        return [(0, X[:3, 3] + X[:3, :3] @ _support(rattleback.SIZES, -X[2, :3]))]
    # the large ellipsoid's point and normal at the joint's coordinates; the small one must have the same, turned over
    u, v = simulation.q[:2]
    a, b, c = ellipsoids.LARGE
    unit = np.array([np.sin(u) * np.cos(v), np.sin(v), np.cos(u) * np.cos(v)])
    point, normal = unit * [a, b, c] + [0, 0, ellipsoids.HEIGHT], unit / [a, b, c]
    own = X[:3, 3] + X[:3, :3] @ _support(ellipsoids.SMALL, -X[:3, :3].T @ normal)
    np.testing.assert_allclose(own, point, atol=1e-10)
    return [(0, point)]


def _support(sizes: tuple[float, float, float], direction: np.ndarray) -> np.ndarray:
    """The point of an ellipsoid that is farthest in a direction."""
    stretched = np.array(sizes) * direction
    return np.array(sizes) * stretched / np.linalg.norm(stretched)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_slips(name: str) -> None:
    """The material at the contact stands still; on the floor the contact is at height 0."""
    simulation = started(name, 1 / 60)
    for _ in range(40):
        simulation.step(6)
        assert np.abs(simulation.dynamics.constraint_errors(simulation.q, simulation.v)).max() < 1e-9
        V = simulation.dynamics.velocities(simulation.q, simulation.v)
        X = simulation.dynamics.poses(simulation.q)
        for body, point in contacts(name, simulation):
            velocity = V[body, 3:] + np.cross(V[body, :3], point - X[body, :3, 3])
            np.testing.assert_allclose(velocity, 0.0, atol=1e-9)
            assert name == "ellipsoids" or abs(point[2]) < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_energy_error_falls_with_the_order_of_rk4(name: str) -> None:
    errors = []
    for timestep in (1 / 60, 1 / 120, 1 / 240):
        simulation = started(name, timestep)
        start, worst = total_energy(simulation), 0.0
        for _ in range(20):
            simulation.step(round(0.1 / timestep))
            worst = max(worst, abs(total_energy(simulation) - start))
        errors.append(worst / abs(start))
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] > 12 and errors[1] / errors[2] > 12, errors


def test_the_rattleback_turns_back() -> None:
    """Once in three seconds, and to almost its first speed: the rocking has given it all back."""
    simulation, spins = started("rattleback", 1 / 60), []
    for _ in range(60):
        simulation.step(6)
        spins.append(simulation.dynamics.velocities(simulation.q, simulation.v)[0, 2])
    turned = np.flatnonzero(np.array(spins) > 0)
    assert spins[0] < -2.0 and 20 < turned[0] < 40
    assert max(spins) > 2.2


def test_the_rattleback_spins_on_in_the_direction_it_likes() -> None:
    simulation = started("rattleback", 1 / 60)
    simulation.q, simulation.v = simulation.dynamics.project(simulation.q, [0, 0, 0.1, 0.05, -rattleback.SPIN])
    for _ in range(30):
        simulation.step(6)
        assert simulation.dynamics.velocities(simulation.q, simulation.v)[0, 2] > 2.0


def test_the_steady_disc_stays_on_its_circle() -> None:
    simulation, hoop = started("disc", 1 / 60), disc.DISCS[0]
    q, v = hoop.start()
    centre = np.array([q[0] - v[1] / hoop.turn, q[1] + v[0] / hoop.turn])
    reach = np.hypot(v[0], v[1]) / abs(hoop.turn)
    for _ in range(20):
        simulation.step(60)
        assert simulation.q[3] == pytest.approx(hoop.lean, abs=1e-7)
        assert np.linalg.norm(simulation.q[:2] - centre) == pytest.approx(reach, abs=1e-6)


@pytest.mark.parametrize("k", [1, 2])
def test_spin_and_turn_of_a_swaying_disc_depend_on_its_lean_alone(k: int) -> None:
    """Appell's and Korteweg's two integrals, as the linear equations they solve: with spin n about the axis and
    p = turn sin(lean), (C + m r^2) dn/dlean = m r^2 p and A dp/dlean = C n - A p cot(lean)."""
    d, simulation = disc.DISCS[k], started("disc", 1 / 240)
    (A, C), m, r = d.inertia, d.mass, d.radius

    def seen() -> np.ndarray:
        lean = simulation.q[5 * k + 3]
        turn, spin = simulation.v[5 * k + 2], simulation.v[5 * k + 4]
        return np.array([lean, spin + turn * np.cos(lean), turn * np.sin(lean)])

    start = seen()
    found = []
    for _ in range(100):
        simulation.step(10)
        found.append(seen())
    found = np.array(found)
    assert np.ptp(found[:, 0]) > 0.1

    def slope(lean: float, y: np.ndarray) -> list[float]:
        return [m * r**2 * y[1] / (C + m * r**2), C * y[0] / A - y[1] / np.tan(lean)]

    for side in (1, -1):
        part = found[side * (found[:, 0] - start[0]) > 0]
        part = part[np.argsort(side * part[:, 0])]
        way = solve_ivp(slope, (start[0], part[-1, 0]), start[1:], t_eval=part[:, 0], rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(part[:, 1:], way.y.T, atol=1e-6 * np.abs(start).max())  # (h omega)^4 of RK4


@pytest.mark.parametrize("name", NAMES)
def test_a_minute_of_one_step_a_frame(name: str) -> None:
    """No step is refused, energy stays within what RK4 loses, and the ellipsoids keep off their poles."""
    simulation = import_module(f"demos.{name}").build().simulation
    assert simulation.timestep == 1 / 60
    start = total_energy(simulation)
    for _ in range(60):
        simulation.step(60)
        if name == "ellipsoids":
            assert np.abs(simulation.q[[1, 3]] % np.pi - np.pi / 2).min() > 0.6
    assert simulation.time == pytest.approx(60.0)
    assert np.isfinite(simulation.q).all()
    assert total_energy(simulation) == pytest.approx(start, rel=5e-3)
