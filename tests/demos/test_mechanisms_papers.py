"""The mechanisms of Si & Guenter (2011), table 1: their coordinates, what they conserve, a minute of 60 Hz steps."""

from collections import Counter
from importlib import import_module

import numpy as np
import pytest

import recursive_dyn as rd
from demos import torus_chain, windmill

SURFACE_PAIRS = {
    ("sphere", "sphere"),
    ("ellipsoid", "sphere"),
    ("sphere", "torus"),
    ("torus", "torus"),
    ("ellipsoid", "torus"),
}
SOFT = 30.0  # N m/rad: soft enough that a step of 1/240 s resolves the sails' vibration


def undamped(name: str, gravity: tuple[float, float, float]) -> tuple[rd.Dynamics, np.ndarray, np.ndarray]:
    """(dynamics, q, v) of a paper's mechanism without friction, moving."""
    if name == "torus_chain":
        scene, q = torus_chain.chain(10), torus_chain.at_rest(10)
        q[0] = torus_chain.LEAN
    else:
        scene, q = windmill.mill(stiffness=SOFT, damping=0.0)
    scene.gravity = gravity
    dynamics = scene.compile()
    v = np.zeros(dynamics.nv)
    v[0] = windmill.SPEED
    return dynamics, q, v


def energy(simulation: rd.Simulation) -> float:
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))


def run(dynamics, q, v, timestep: float, seconds: float, integrator: str, measure) -> np.ndarray:
    """``measure(simulation)`` at the start and every 1/20 s."""
    simulation = rd.Simulation(dynamics, timestep, integrator)
    simulation.q, simulation.v = q, v
    found = [measure(simulation)]
    for _ in range(round(20 * seconds)):
        simulation.step(round(1 / (20 * timestep)))
        found.append(measure(simulation))
    return np.array(found)


@pytest.mark.parametrize(("count", "coordinates"), [(10, 38), (20, 78)])
def test_torus_chain_has_the_papers_coordinates(count: int, coordinates: int) -> None:
    assert torus_chain.chain(count).model().nv == coordinates == len(torus_chain.at_rest(count))


def test_windmill_has_the_papers_coordinates_and_surfaces() -> None:
    scene, q = windmill.mill()
    assert scene.model().nv == 73 == len(q)
    pairs = Counter(windmill.pairs())
    assert set(pairs) == SURFACE_PAIRS and min(pairs.values()) >= 2


def test_a_hanging_chain_is_in_equilibrium() -> None:
    dynamics = torus_chain.chain(10).compile()
    np.testing.assert_allclose(dynamics.gravity(torus_chain.at_rest(10)), 0.0, atol=1e-8)  # of 11 kN


def test_touching_bodies_of_the_windmill_lie_end_to_end() -> None:
    """Centres along a sail are as far apart as the touching radii say; interlocked rings overlap by two tubes."""
    scene, q = windmill.mill()
    dynamics = scene.compile()
    centers = dict(zip(dynamics.bodies, dynamics.poses(q)[:, :3, 3], strict=True))
    for i in range(windmill.COUNT):
        before, place = windmill.HUB, centers["hub"]
        for k, piece in enumerate(windmill.SAILS[i % 2]):
            reach = [r.radii[0] + (-r.tube if piece.interlocked else r.tube) for r in (before, piece.body)]
            here = centers[f"sail{i}.{k}"]
            assert np.linalg.norm(here - place) == pytest.approx(sum(reach), abs=1e-12)
            before, place = piece.body, here


def test_energy_error_of_the_midpoint_rule_falls_with_the_square_of_the_step() -> None:
    dynamics, q, v = undamped("torus_chain", (0.0, 0.0, -9.81))
    errors = []
    for timestep in (1 / 240, 1 / 480):
        found = run(dynamics, q, v, timestep, 2.0, "implicit_midpoint", energy)
        errors.append(np.abs(found - found[0]).max())
    kinetic = float(dynamics.kinetic_energy(q, v))
    assert errors[1] < 1e-3 * kinetic
    assert 3.3 < errors[0] / errors[1] < 4.8, errors


@pytest.mark.parametrize("name", ["torus_chain", "windmill"])
def test_momentum_about_the_hinge_is_conserved_without_gravity(name: str) -> None:
    """The hinge to the world gives no moment about its own axis, and contacts are within."""
    dynamics, q, v = undamped(name, (0.0, 0.0, 0.0))
    screw = dynamics.jacobian(q, dynamics.bodies[0])[:, 0]
    axis, place = screw[:3], dynamics.poses(q)[0, :3, 3]
    line = place + np.cross(axis, screw[3:])  # a point of the hinge's axis: v = axis x (place - line)

    def about_the_hinge(simulation: rd.Simulation) -> float:
        momentum = dynamics.momentum(simulation.q, simulation.v)
        return float(axis @ (momentum[:3] - np.cross(line, momentum[3:])))

    found = run(dynamics, q, v, 1 / 960, 0.5, "rk4", about_the_hinge)
    # fourth order: (h omega)^4 with vibrations of some tens of rad/s, and their sum over the steps
    np.testing.assert_allclose(found, found[0], rtol=1e-6)
    assert np.abs(found[0]) > 1.0


@pytest.mark.parametrize("name", ["torus_chain", "windmill"])
def test_a_minute_of_one_step_a_frame(name: str) -> None:
    """No step is refused, damping only takes energy away, and the windmill's contacts stay where they are."""
    stage = import_module(f"demos.{name}").build()
    simulation = stage.simulation
    assert simulation.timestep == 1 / 60
    start, first = energy(simulation), simulation.q.copy()
    for _ in range(60):
        simulation.step(60)
    assert simulation.time == pytest.approx(60.0)
    assert np.isfinite(simulation.q).all() and energy(simulation) < start
    if name == "windmill":
        assert np.abs(simulation.q - first)[1:].max() < 0.5
