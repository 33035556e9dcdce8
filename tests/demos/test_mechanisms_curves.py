"""The demos along curves and on patches: what holds by construction, what is conserved, a minute of frame steps."""

from importlib import import_module
from math import comb

import numpy as np
import pybullet
import pytest

import recursive_dyn as rd
from demos import bead_and_wire, bezier_chain, coaster, surface_board
from demos.stage import total_energy

NAMES = ("coaster", "bead_and_wire", "bezier_chain", "surface_board")
SECONDS = 3.0  # long enough for every one of them to come through its valley


def undamped(name: str, timestep: float) -> rd.Simulation:
    """A demo's mechanism at its start, without friction and control."""
    if name == "bead_and_wire":
        scene, q, v = bead_and_wire.bead()
    elif name == "bezier_chain":
        scene, q = bezier_chain.chain(), bezier_chain.start()
        v = np.zeros(len(q))
    else:
        scene = coaster.train(damping=0.0) if name == "coaster" else surface_board.board()
        start = rd.Simulation(scene.compile())
        (coaster if name == "coaster" else surface_board).set_off(start)
        q, v = start.q, start.v
    simulation = rd.Simulation(scene.compile(), timestep, "implicit_midpoint")
    simulation.q, simulation.v = q, v
    return simulation


def energy_error(name: str, timestep: float, seconds: float) -> float:
    """The greatest departure from the first energy, by the kinetic energy there has been."""
    simulation = undamped(name, timestep)
    start, worst, kinetic = total_energy(simulation), 0.0, 0.0
    for _ in range(round(30 * seconds)):
        simulation.step(round(1 / (30 * timestep)))
        worst = max(worst, abs(total_energy(simulation) - start))
        kinetic = max(kinetic, float(simulation.dynamics.kinetic_energy(simulation.q, simulation.v)))
    return worst / kinetic


def walked(name: str, timestep: float, seconds: float):
    """The simulation after each of its steps."""
    simulation = undamped(name, timestep)
    for _ in range(round(seconds / timestep)):
        simulation.step()
        yield simulation


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("coaster", 1 + 4 * coaster.CARS),
        ("bead_and_wire", 1),
        ("bezier_chain", 1 + 4 * (bezier_chain.RINGS - 1)),
        ("surface_board", 3 + 2 * surface_board.LINKS),
    ],
)
def test_coordinates(name: str, count: int) -> None:
    assert undamped(name, 1 / 60).dynamics.nv == count


@pytest.mark.parametrize("name", NAMES)
def test_energy_error_falls_with_the_square_of_the_step(name: str) -> None:
    errors = [energy_error(name, 1 / count, SECONDS) for count in (60, 120)]
    assert errors[1] < 1e-3
    assert 3.0 < errors[0] / errors[1] < 5.0, errors


def test_the_coaster_keeps_its_energy_over_a_lap() -> None:
    simulation = undamped("coaster", 1 / 60)
    start, lap = total_energy(simulation), simulation.q[0] + coaster.path().length
    lowest = coaster.path().frames(np.linspace(0, coaster.path().length, 500))[:, 2, 3].min()
    drop = coaster.path().frames(simulation.q[0])[2, 3] - lowest
    mass = coaster.CARS * (coaster.CAR_MASS + 2 * coaster.PERSON_MASS)
    while simulation.q[0] < lap:
        assert simulation.time < 30.0 and simulation.v[0] > 0.0
        simulation.step()
        # second order: (h v / r)^2 / 12 is 4e-4 with 15 m/s at the bottom of the loop, whose r is 3.5 m
        assert abs(total_energy(simulation) - start) < 1e-3 * mass * 9.81 * drop


def test_cars_stand_upright_on_the_track_and_upside_down_in_the_loop() -> None:
    """The train's bodies are where the track's numbers have them, a car's gap apart, the loop's top over its bottom."""
    simulation, length = undamped("coaster", 1 / 60), coaster.path().length
    dynamics = simulation.dynamics
    for s in np.linspace(-length, 2 * length, 40):
        simulation.q[0] = s
        for k in range(coaster.CARS):
            X = dynamics.poses(simulation.q)[dynamics.bodies.index(f"car{k}")]
            np.testing.assert_allclose(X, coaster.path().frames(np.array(s - k * coaster.GAP)), atol=1e-11)
    X = coaster.path().frames(np.linspace(0, length, 2000))
    upside_down = X[:, 2, 2] < -0.8
    assert upside_down.any() and X[upside_down, 2, 3].min() > 6.0
    # metres along the track: a chord is shorter than its arc by (length / 1999 / r)^2 / 24, with r over 3 m
    steps = np.linalg.norm(np.diff(X[:, :3, 3], axis=0), axis=1) / (length / 1999)
    assert np.abs(steps - 1.0).max() < 2e-5


def test_our_bead_is_on_the_wire_and_bullets_is_not() -> None:
    """Guenter & Lee figure 8, ten seconds of steps of 1/30 s from the same start."""
    wire = bead_and_wire.Wire()
    ours = max(
        wire.distance(s.dynamics.poses(s.q)[0, :3, 3] - bead_and_wire.OURS)
        for s in walked("bead_and_wire", bead_and_wire.STEP, 10.0)
    )
    client = pybullet.connect(pybullet.DIRECT)
    try:
        bullet = bead_and_wire.BulletBead(wire, client, bead_and_wire.BULLETS)
        start = bullet.energy()
        for _ in range(300):
            bullet.step()
        lost = start - bullet.energy()
    finally:
        pybullet.disconnect(client)
    size = np.ptp(wire.point(np.linspace(0, 2 * np.pi, 500)), axis=0).max()
    assert ours < 1e-12
    assert bullet.farthest > 1e-2 * size
    kinetic = start - 9.81 * bead_and_wire.MASS * wire.point(np.linspace(0, 2 * np.pi, 500))[:, 2].min()
    assert lost > 0.1 * kinetic  # what its corrections take away, while ours goes round for ever


def test_bullets_bead_slides_as_ours_at_small_steps(monkeypatch) -> None:
    """The comparison is fair: the red bead is the same mechanism, whose errors the step makes."""
    monkeypatch.setattr(bead_and_wire, "STEP", 1 / 1920)
    wire, simulation = bead_and_wire.Wire(), undamped("bead_and_wire", 1 / 1920)
    client = pybullet.connect(pybullet.DIRECT)
    try:
        bullet = bead_and_wire.BulletBead(wire, client, bead_and_wire.BULLETS)
        for _ in range(1920):
            bullet.step()
            simulation.step()
        place = bullet.position
    finally:
        pybullet.disconnect(client)
    here = simulation.dynamics.poses(simulation.q)[0, :3, 3] - bead_and_wire.OURS
    assert np.linalg.norm(here - place) < 0.02  # first order: h v is 2 mm


def test_the_first_rings_axis_is_the_curves_tangent() -> None:
    for simulation in walked("bezier_chain", 1 / 60, 2.0):
        X = simulation.dynamics.poses(simulation.q)[0]
        t = simulation.q[0]
        n, differences = len(bezier_chain.POINTS) - 1, np.diff(bezier_chain.POINTS, axis=0)
        weights = [_bernstein(n - 1, i, t) for i in range(n)]
        slope = np.sum([w * d for w, d in zip(weights, differences, strict=True)], axis=0)
        np.testing.assert_allclose(X[:3, 2], slope / np.linalg.norm(slope), atol=1e-12)
        point = np.sum([_bernstein(n, i, t) * p for i, p in enumerate(bezier_chain.POINTS)], axis=0)
        np.testing.assert_allclose(X[:3, 3], point, atol=1e-12)


def _bernstein(n: int, i: int, t: float) -> float:
    return comb(n, i) * t**i * (1 - t) ** (n - i)


def test_the_boards_normal_is_the_patchs() -> None:
    side = np.linspace(-surface_board.REACH, surface_board.REACH, 5)
    for simulation in walked("surface_board", 1 / 60, 2.0):
        u, v = simulation.q[:2]
        p = np.stack([*np.meshgrid(side, side, indexing="ij"), surface_board.HEIGHTS], axis=-1)
        bu, bv = ([_bernstein(4, i, x) for i in range(5)] for x in (u, v))
        du, dv = ([_bernstein(3, i, x) for i in range(4)] for x in (u, v))
        slope_u = np.einsum("i,j,ijk->k", du, bv, np.diff(p, axis=0))
        slope_v = np.einsum("i,j,ijk->k", bu, dv, np.diff(p, axis=1))
        normal = np.cross(slope_u, slope_v)
        X = simulation.dynamics.poses(simulation.q)[0]
        np.testing.assert_allclose(X[:3, 2], normal / np.linalg.norm(normal), atol=1e-12)
        np.testing.assert_allclose(X[:3, 3], np.einsum("i,j,ijk->k", bu, bv, p), atol=1e-12)


@pytest.mark.parametrize("name", [*NAMES, "wire"])
def test_a_minute_of_one_step_a_frame(name: str) -> None:
    stage = import_module(f"demos.{name}").build()
    simulation = stage.simulation
    assert simulation.timestep == (1 / 30 if name == "bead_and_wire" else 1 / 60)
    start = total_energy(simulation)
    for _ in range(round(60 / simulation.timestep)):
        if stage.control:
            stage.control(simulation)
        simulation.step()
    assert simulation.time == pytest.approx(60.0) and np.isfinite(simulation.q).all()
    if name == "coaster":
        assert simulation.q[0] > 3 * coaster.path().length  # the lift gets it over the top again and again
    elif name == "bead_and_wire":
        assert abs(total_energy(simulation) - start) < 0.01 * start
    else:
        assert total_energy(simulation) < start
    for coordinate, x in zip(simulation.dynamics.model.coordinates, simulation.q, strict=True):
        low, high = coordinate.limits
        assert low <= x <= high
