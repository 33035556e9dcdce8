"""Force elements too stiff for a step, with nothing that presses: as stable as springs and dampers of joints."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints

STIFF = [(0.0, 1e4), (1e6, 0.0), (1e6, 1e3), (1e8, 0.0), (1e8, 1e5)]


def body(name: str, mass: float = 1.0) -> Body:
    return Body(name, mass=mass, inertia=0.01 * mass * np.eye(3))


def total(simulation: rd.Simulation) -> float:
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))


def on_a_spring(stiffness: float, damping: float, h: float) -> rd.Simulation:
    """1 kg at rest at the end of a spring, struck along it."""
    scene = Scene(gravity=(0, 0, 0))
    sled = body("sled")
    scene.world.attach(sled, joints.prismatic("x"), at=rd.pose((1, 0, 0)))
    scene.spring(sled, scene.world, stiffness, damping, 1.0)
    simulation = rd.Simulation(scene.compile(), h)
    simulation.v = [1.0]
    return simulation


@pytest.mark.parametrize("stiffness, damping, h", [
    (0.0, 1e4, 1 / 30), (0.0, 1e4, 1 / 240), (1e6, 0.0, 1 / 30), (1e6, 1e3, 1 / 30), (1e6, 1e3, 1 / 240),
    (1e8, 0.0, 1 / 30), (1e8, 0.0, 1 / 240), (1e8, 1e5, 1 / 30),
])  # fmt: skip
def test_they_brake_without_ringing(stiffness, damping, h):
    """As springs and dampers of joints do. 1e4 N s/m on 1 kg at 1/30 s: 5170 m/s after five steps, were it explicit."""
    simulation = on_a_spring(stiffness, damping, h)
    speeds = [abs(simulation.v[0]) for _ in range(60) if simulation.step() is None]
    assert max(speeds) < 1.0
    assert max(speeds[30:]) < 1e-3
    assert simulation.report.unexplained_energy == 0.0


@pytest.mark.parametrize("stiffness, damping", [(3.24e6, 0.0), (0.0, 1800.0)])
def test_round_numbers_are_as_stable_as_others(stiffness, damping):
    """h sqrt(k / m) and h d / m of 30 at 1/60 s: were answers implicit from just there on, rounding would change that
    from stage to stage, and the energy grow a thousandfold in a step."""
    simulation = on_a_spring(stiffness, damping, 1 / 60)
    speeds = [abs(simulation.v[0]) for _ in range(60) if simulation.step() is None]
    assert max(speeds) < 1.0
    assert max(speeds[30:]) < 1e-3


@pytest.mark.parametrize("stiffness, h", [(1e4, 1 / 30), (4e5, 1 / 30), (1e6, 1 / 60), (1e7, 1 / 240)])
def test_what_halves_can_follow_keeps_its_energy(stiffness, h):
    """h sqrt(k / m) of 3 to 21: a steady loss of 1e-4 of the energy a step is what is explained at most."""
    simulation = on_a_spring(stiffness, 0.0, h)
    simulation.step(60)
    assert total(simulation) == pytest.approx(0.5, rel=6e-3)
    assert simulation.report.unexplained_energy == 0.0


@pytest.mark.parametrize("stiffness, damping", [(1e6, 0.0), (1e7, 1e4)])
def test_what_rests_on_them_costs_no_halves(stiffness, damping):
    """Not even where nothing is left but the rounding of places."""
    simulation = on_a_spring(stiffness, damping, 1 / 30)
    simulation.step(300)
    before = simulation.report.halvings
    simulation.step(300)
    assert simulation.report.halvings - before < 300


@pytest.mark.parametrize("stiffness, damping", [(0.0, 1e4), (1e6, 0.0), (1e6, 1e3), (1e8, 0.0), (1e8, 1e5)])
def test_two_bodies_that_float_keep_their_momentum(stiffness, damping):
    """The line between their points turns with them, by 1/60 rad in the step that stops them: as much goes astray of
    the impulse, 1 N s, and no more after."""
    scene = Scene(gravity=(0, 0, 0))
    first, second = body("first", 2.0), body("second")
    for one, at in ((first, (0, 0, 0)), (second, (0.5, 0, 0))):
        scene.world.attach(one, joints.free(), at=rd.pose(at))
    scene.spring(first, second, stiffness, damping, float(np.sqrt(0.11)), (0.1, 0.1, 0), (-0.1, 0, 0.1))
    dynamics = scene.compile()
    simulation = rd.Simulation(dynamics, 1 / 60)
    simulation.v = np.linspace(-1.0, 1.0, dynamics.nv)
    before, energy = dynamics.momentum(simulation.q, simulation.v), total(simulation)
    for _ in range(120):
        simulation.step()
        assert total(simulation) <= energy * (1 + 1e-4)
    astray = np.abs(dynamics.momentum(simulation.q, simulation.v) - before)
    assert astray[3:].max() < 0.04
    assert astray[:3].max() < 0.02


@pytest.mark.parametrize("stiffness, damping", [(1e8, 0.0), (1e8, 1e5), (0.0, 1e5)])
def test_beside_constraints_and_prescribed_motion(stiffness, damping):
    """A rod holds what a spring across it brakes, on a table that shakes: the rod stays as long, nothing is gained."""
    scene = Scene()
    table = scene.world.attach(body("table"), joints.prismatic("x"))
    arm = table.attach(Body("arm", mass=1.0, center_of_mass=(0, 0, -0.3), inertia=0.02 * np.eye(3)), joints.ball())
    hand = arm.attach(body("hand"), joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
    scene.distance(hand, table, float(np.hypot(0.2, 0.5)), point_b=(0.2, 0, 0))
    scene.spring(hand, table, stiffness, damping, float(np.hypot(0.3, 0.5)), point_b=(0, 0.3, 0))
    simulation = rd.Simulation(scene.compile(), 1 / 60)
    simulation.prescribe("table.distance", lambda t: 0.1 * np.sin(2 * t))
    simulation.step(240)
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    where = d.poses(q)[:, :3, 3]
    places = dict(zip(d.bodies, where, strict=True))
    way = places["hand"] - places["table"]
    assert np.linalg.norm(way - [0.2, 0, 0]) == pytest.approx(np.hypot(0.2, 0.5), abs=1e-8)
    if stiffness:
        assert np.linalg.norm(way - [0, 0.3, 0]) == pytest.approx(np.hypot(0.3, 0.5), abs=1e-5)
    assert np.abs(v[:-1]).max() < 0.5  # the last is that of time
    assert simulation.report.unexplained_energy < 1e-3
