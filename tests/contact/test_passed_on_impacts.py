"""Impacts that follow from impacts in the same step: what is passed on, and that nothing is lost or won on the way."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

ELASTIC = rd.Material(friction=0.0, restitution=1.0)
INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint")
RADIUS, H = 0.1, 1 / 240


def bouncing(scene: Scene, integrator: str) -> tuple[rd.Simulation, PyBulletMirror]:
    """However slow, what meets bounces."""
    simulation = rd.Simulation(scene.compile(), H, integrator)
    simulation.contact.restitution_threshold = 0.0
    return simulation, PyBulletMirror(scene, simulation, gui=False, ground=False)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("gap", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("struck", [1, 2])
def test_of_a_row_as_many_leave_as_come(gap, struck, integrator):
    """Newton's cradle without its threads: all within the step that brings the first ones."""
    scene = Scene(gravity=(0, 0, 0))
    for k in range(6):
        ball = Body(f"b{k}", [shapes.Sphere(RADIUS, material=ELASTIC)], mass=1.0)
        scene.world.attach(ball, joints.prismatic("x"), at=rd.pose((k * (2 * RADIUS + gap), 0, 0)))
    simulation, mirror = bouncing(scene, integrator)
    simulation.q = [-0.05] * struck + [0.0] * (6 - struck)
    simulation.v = [1.0] * struck + [0.0] * (6 - struck)
    mirror.step(40)
    np.testing.assert_allclose(simulation.v, [0.0] * (6 - struck) + [1.0] * struck, atol=1e-9)


@pytest.mark.parametrize("held", ["weld", "gear", "velocity_constraints"])
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_a_row_of_what_constraints_hold_passes_a_blow_on_as_well(restitution, held):
    """Each ball is one with another body, of the same mass, by a constraint: at once, 0.79 of the energy was lost."""
    scene, material = Scene(gravity=(0, 0, 0)), rd.Material(friction=0.0, restitution=restitution)
    for k in range(4):
        ball = Body(f"b{k}", [shapes.Sphere(RADIUS, material=material)], mass=1.0)
        other = Body(f"o{k}", mass=1.0, inertia=0.004 * np.eye(3))
        scene.world.attach(ball, joints.prismatic("x"), at=rd.pose((k * 2 * RADIUS, 0, 0)))
        if held == "velocity_constraints":
            ball.attach(other, joints.fixed(), at=rd.pose((0, 0, 1)))
            continue
        scene.world.attach(other, joints.prismatic("x"), at=rd.pose((k * 2 * RADIUS, 0, 1)))
        if held == "weld":
            scene.weld(ball, other, pose_a=rd.pose((0, 0, 1)))
        else:
            scene.gear(other.q[0], ball.q[0], 1.0)
    method = held if held == "velocity_constraints" else "auto"
    simulation = rd.Simulation(scene.compile(method=method), H)
    simulation.contact.restitution_threshold = 0.0
    with PyBulletMirror(scene, simulation, gui=False, ground=False) as mirror:
        simulation.place("b0", rd.pose((-0.01, 0, 0)), velocity=(0, 0, 0, 1, 0, 0))
        if held != "velocity_constraints":
            simulation.place("o0", rd.pose((-0.01, 0, 1)), velocity=(0, 0, 0, 1, 0, 0))
        mirror.step(120)
        speeds = np.array([simulation.frames()[1][simulation.dynamics.bodies.index(f"b{k}"), 3] for k in range(4)])
    assert speeds[3] == pytest.approx(((1.0 + restitution) / 2.0) ** 3, abs=1e-9)
    assert (np.diff(speeds) >= -1e-9).all()
    assert speeds.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS[:2])
@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_thrown_at_the_ground_keeps_its_energy(seed, integrator):
    """27 balls of different masses, nearly touching: between others and the ground one bounce leads to the next."""
    rng = np.random.default_rng(seed)
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Plane(material=ELASTIC))
    for k, cell in enumerate(np.ndindex(3, 3, 3)):
        ball = Body(f"b{k}", [shapes.Sphere(RADIUS, material=ELASTIC)], mass=rng.uniform(0.5, 2.0))
        place = (2 * RADIUS + 0.005) * np.array(cell) + rng.uniform(0.0, 4e-3, 3) + (0, 0, 1.1 * RADIUS)
        scene.world.attach(ball, joints.free(), at=rd.pose(place))
    simulation, mirror = bouncing(scene, integrator)
    dynamics = simulation.dynamics
    twists = np.zeros((27, 6))
    twists[:, 3:] = rng.normal(size=(27, 3)) - (0, 0, 3)
    simulation.v = twists.ravel()
    energy, momentum = (f(simulation.q, simulation.v) for f in (dynamics.kinetic_energy, dynamics.momentum))
    met = 0
    for _ in range(60):
        mirror.step()
        met += len(mirror.contacts)
        now = dynamics.kinetic_energy(simulation.q, simulation.v)
        assert now == pytest.approx(energy, rel=2e-9)  # what the tolerance of the solve leaves open
    assert met > 50
    across = dynamics.momentum(simulation.q, simulation.v)[3:5]
    np.testing.assert_allclose(across, momentum[3:5], atol=1e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.4, 0.8, 1.0])
def test_what_is_passed_on_loses_as_every_bounce_does(restitution):
    """A ball on a ball: after one bounce the second has (1 + e) / 2 of the speed, and so on down the row."""
    scene = Scene(gravity=(0, 0, 0))
    material = rd.Material(friction=0.0, restitution=restitution)
    for k in range(4):
        ball = Body(f"b{k}", [shapes.Sphere(RADIUS, material=material)], mass=1.0)
        scene.world.attach(ball, joints.prismatic("x"), at=rd.pose((k * (2 * RADIUS + 1e-4), 0, 0)))
    simulation, mirror = bouncing(scene, "semi_implicit_euler")
    simulation.q = [-0.05, 0.0, 0.0, 0.0]
    simulation.v = [1.0, 0.0, 0.0, 0.0]
    mirror.step(200)
    if restitution == 0.0:
        np.testing.assert_allclose(simulation.v, 0.25, atol=1e-9)
    else:
        assert simulation.v[3] == pytest.approx(((1.0 + restitution) / 2.0) ** 3, abs=1e-9)
        assert (np.diff(simulation.v) >= -1e-9).all()
    assert simulation.v.sum() == pytest.approx(1.0, abs=1e-12)


def cradle(gap: float, integrator: str) -> tuple[rd.Simulation, PyBulletMirror]:
    """Newton's: five balls on hinges 1 m above them, the first one drawn aside by 0.5 rad."""
    scene = Scene()
    for k in range(5):
        ball = shapes.Sphere(RADIUS, at=rd.pose((0, 0, -1)), material=ELASTIC)
        body = Body(f"b{k}", [ball], mass=1.0, center_of_mass=(0, 0, -1), inertia=0.004 * np.eye(3))
        scene.world.attach(body, joints.revolute("y"), at=rd.pose((k * (2 * RADIUS + gap), 0, 2)))
    simulation, mirror = bouncing(scene, integrator)
    simulation.q[0] = 0.5
    return simulation, mirror


@pytest.mark.parametrize("gap", [0.0, 1e-4])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_of_a_cradle_only_the_last_ball_leaves(gap, integrator):
    """With the first one's speed, to what balls on arcs that do not touch at once leave among the others."""
    simulation, mirror = cradle(gap, integrator)
    with mirror:
        mirror.step(130)
    fast = np.sqrt(2 * 9.81 * (1 - np.cos(0.5)) / 1.004)
    np.testing.assert_allclose(simulation.v[:4], 0.0, atol=2e-3)
    assert simulation.v[4] == pytest.approx(-fast, rel=0.01)


def energy_of(simulation: rd.Simulation) -> float:
    """Where velocities lie half a step behind positions, of those half a step later: else it swings to and fro."""
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    later = (simulation.position_share - 0.5) * H * d.forward_dynamics(q, v)
    return float(d.kinetic_energy(q, v + later) + d.potential_energy(q))


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 1e-4])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_cradle_keeps_its_energy_for_fifty_seconds(gap, integrator):
    simulation, mirror = cradle(gap, integrator)
    start, swinging = energy_of(simulation), 9.81 * (1 - np.cos(0.5))
    with mirror:
        for _ in range(500):
            mirror.step(24)
            assert energy_of(simulation) == pytest.approx(start, abs=5e-3 * swinging)


@pytest.mark.parametrize("gap, drawn", [(0.0, 2), (1e-3, 1), (1e-4, 2)])
@pytest.mark.parametrize("integrator", INTEGRATORS[1:])
def test_a_cradle_out_of_step_keeps_its_energy_at_60_hz(gap, drawn, integrator):
    """Balls that meet among the others do so slower and slower: what gives back all does however slow it comes."""
    simulation, mirror = cradle(gap, integrator)
    simulation.timestep, simulation.contact.restitution_threshold = 1 / 60, 0.2
    simulation.q[:drawn] = 0.5
    start, swinging = energy_of(simulation), drawn * 9.81 * (1 - np.cos(0.5))
    with mirror:
        for _ in range(100):
            mirror.step(12)
            assert energy_of(simulation) == pytest.approx(start, abs=2e-3 * swinging)
