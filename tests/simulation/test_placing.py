"""A body is put where it is wanted, and moves as wanted: constraints hold, the rest changes as little as it can."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints

INERTIA = np.diag([0.03, 0.04, 0.02])
NAN = np.nan


def robot(count=7):
    scene, node = Scene(), None
    for k in range(count):
        body = Body(f"link{k}", mass=1.0, inertia=INERTIA, center_of_mass=(0, 0, 0.1))
        node = (node or scene.world).attach(body, joints.revolute("zyxyzyx"[k % 7]), at=rd.pose((0, 0, 0.2)))
    return scene


def test_a_robots_hand_comes_to_a_pose_and_velocity():
    scene = robot()
    sim = rd.Simulation(scene.compile())
    rng = np.random.default_rng(1)
    d = sim.dynamics
    for _ in range(5):
        wanted = d.poses(rng.uniform(-1, 1, 7))[-1]
        speed = rng.normal(size=6)
        sim.q[:], sim.v[:] = rng.uniform(-0.5, 0.5, 7), 0.0
        sim.place(scene["link6"], wanted, speed)
        np.testing.assert_allclose(d.poses(sim.q)[-1], wanted, atol=1e-9)
        np.testing.assert_allclose(d.velocities(sim.q, sim.v)[-1], speed, atol=1e-8)


def test_velocity_is_the_least_that_does_it():
    """No other change of the velocity that moves the body so has less kinetic energy."""
    sim = rd.Simulation(robot().compile())
    d, rng = sim.dynamics, np.random.default_rng(2)
    sim.q[:], sim.v[:] = rng.uniform(-1, 1, 7), rng.normal(size=7)
    before = sim.v.copy()
    sim.place("link6", velocity=(NAN, NAN, NAN, 0.3, NAN, -0.2))
    J = d.jacobian(sim.q, "link6")[[3, 5]]
    np.testing.assert_allclose(J @ sim.v, [0.3, -0.2], atol=1e-10)
    free = np.linalg.svd(J)[2][2:]  # directions that do not show
    np.testing.assert_allclose(free @ d.mass_matrix(sim.q) @ (sim.v - before), 0.0, atol=1e-10)


@pytest.mark.parametrize("body", ["stone0", "stone1", "arm0", "arm1"])
def test_what_nothing_ties_to_it_stays_and_what_constraints_tie_to_it_moves_least(body):
    """Arms of two trees hold each other, a stone is pinned to one; the others are loose, two of them on a spring."""
    scene = Scene()
    arms = [scene.world.attach(Body(f"arm{k}", mass=1.0 + k, inertia=INERTIA), joints.ball()) for k in range(2)]
    stones = [scene.world.attach(Body(f"stone{k}", mass=1.0 + k, inertia=INERTIA), joints.free()) for k in range(4)]
    scene.distance(*arms, 0.5, point_a=(0.5, 0, 0), point_b=(0.5, 0, 0.5))
    scene.pin(arms[1], stones[0], point_a=(0, 0, 0.3), point_b=(0, 0, 0.3))
    scene.spring(stones[2], stones[3], stiffness=10.0)
    sim = rd.Simulation(scene.compile())
    d, rng = sim.dynamics, np.random.default_rng(3)
    sim.q, sim.v = d.project(sim.q, rng.normal(size=d.nv))
    q, v = sim.q.copy(), sim.v.copy()
    wanted = np.array((NAN, 0.2, NAN, NAN, NAN, NAN))
    rows = np.vstack([d.jacobian(q, body)[[1]], d.constraint_jacobian(q)])
    sim.place(body, velocity=wanted)
    assert np.array_equal(sim.q, q)
    inverse = np.linalg.inv(d.mass_matrix(q))
    errors = np.array([0.2 - rows[0] @ v, *(-rows[1:] @ v)])
    least = inverse @ rows.T @ np.linalg.lstsq(rows @ inverse @ rows.T, errors, rcond=None)[0]
    np.testing.assert_allclose(sim.v, v + least, atol=1e-11)
    loose = [f"stone{k}." for k in (1, 2, 3) if body != f"stone{k}"]
    own = [i for i, name in enumerate(d.velocity_coordinates) if name.startswith(tuple(loose))]
    assert len(own) == 6 * len(loose) and np.array_equal(sim.v[own], v[own])


def test_a_wheel_starts_rolling():
    """The velocity of its centre is given; the spin that rolling needs is found."""
    scene = Scene()
    egg = joints.surfaces.ellipsoid(0.3, 0.2, 0.2, poles="x")
    body = Body("stone", mass=1.0, inertia=INERTIA)
    stone = scene.world.attach(body, joints.surface_on_surface(joints.surfaces.plane(), egg, spin=True))
    scene.roll(stone)
    sim = rd.Simulation(scene.compile(), 1 / 1000, "rk4")
    sim.q[2:4] += 0.3
    sim.place("stone", velocity=(NAN, NAN, NAN, 0.2, -0.1, NAN))
    d = sim.dynamics
    np.testing.assert_allclose(d.velocities(sim.q, sim.v)[0, 3:5], [0.2, -0.1], atol=1e-9)
    np.testing.assert_allclose(d.constraint_errors(sim.q, sim.v)[1], 0.0, atol=1e-9)
    energy = d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q)
    sim.step(200)
    assert d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) == pytest.approx(energy, rel=1e-8)


def test_a_loop_stays_closed():
    """A four-bar's coupler is turned: the rest of the loop follows."""
    scene, node, at = Scene(), None, rd.pose()
    for k, length in enumerate((0.4, 1.1, 0.9)):
        node = (node or scene.world).attach(Body(f"bar{k}", mass=1.0, inertia=INERTIA), joints.revolute("y"), at=at)
        at = rd.pose((length, 0, 0))
    scene.pin(node, scene.world, point_a=(0.9, 0, 0), point_b=(1.2, 0, 0))
    sim = rd.Simulation(scene.compile())
    d = sim.dynamics
    X = d.poses(sim.q)[0]
    turned = X @ rd.pose(rpy=(0, 0.3, 0))
    sim.place("bar0", turned, (0, 1.5, 0, 0, 0, 0))
    phi, psi = d.constraint_errors(sim.q, sim.v)
    assert max(np.abs(phi).max(), np.abs(psi).max()) < 1e-9
    np.testing.assert_allclose(d.poses(sim.q)[0], turned, atol=1e-9)
    assert sim.v[0] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("pose", "velocity", "error", "words"),
    [
        (rd.pose((9, 0, 0)), None, rd.StateError, "'link6' does not come to the pose"),
        (np.eye(3), None, rd.StateError, "4 x 4"),
        (2 * np.eye(4), None, rd.StateError, "'link6'"),
        (None, (0, 0, 1), rd.StateError, "six numbers"),
        (None, (np.inf, 0, 0, 0, 0, 0), rd.StateError, "six numbers"),
    ],
)
def test_what_cannot_be_is_told_and_changes_nothing(pose, velocity, error, words):
    sim = rd.Simulation(robot().compile())
    sim.q[:] = 0.1
    q, v = sim.q.copy(), sim.v.copy()
    with pytest.raises(error, match=words):
        sim.place("link6", pose, velocity)
    assert np.array_equal(sim.q, q) and np.array_equal(sim.v, v)


def test_a_hinge_has_no_velocity_across():
    sim = rd.Simulation(robot(1).compile())
    with pytest.raises(rd.StateError, match="'link0' cannot move"):
        sim.place("link0", velocity=(1, 0, 0, 0, 0, 0))
    with pytest.raises(rd.ModelError, match="unknown body"):
        sim.place("hand", rd.pose())


def elbow(**settings):
    scene = Scene()
    upper = scene.world.attach(Body("upper", mass=1.0, inertia=np.eye(3) / 50), joints.revolute("y", **settings))
    lower = Body("lower", mass=1.0, inertia=np.eye(3) / 50)
    upper.attach(lower, joints.revolute("y", **settings), at=rd.pose((0, 0, -0.5)))
    return rd.Simulation(scene.compile(), 1 / 60)


@pytest.mark.parametrize("q", [(np.pi, 0.0), (np.pi, 1.0), (3.1, 1.0), (-3.0, -2.0)])
def test_a_pose_half_a_turn_away_is_reached(q):
    sim = elbow()
    wanted = sim.dynamics.poses(q)[1]
    sim.place("lower", pose=wanted)
    np.testing.assert_allclose(sim.dynamics.poses(sim.q)[1], wanted, atol=1e-9)


def test_limits_are_kept_to_or_told():
    sim = elbow(limits=(-0.5, 0.5))
    sim.q = 0.1, 0.2
    with pytest.raises(rd.StateError, match=r"'lower'.* limits of 'upper.angle', its joints"):
        sim.place("lower", pose=sim.dynamics.poses((1.0, 0.0))[1])
    np.testing.assert_array_equal(sim.q, (0.1, 0.2))
    sim.place("lower", pose=sim.dynamics.poses((0.5, -0.4))[1])
    np.testing.assert_allclose(sim.q, (0.5, -0.4), atol=1e-9)


def touching(surface, **settings):
    """A body whose surface touches a plane, in charts that have a pole where it stands upright."""
    scene = Scene()
    body = Body("ball", mass=0.5, inertia=0.002 * np.eye(3))
    joint = joints.surface_on_surface(joints.surfaces.plane(), surface, spin=True, **settings)
    scene.world.attach(body, joint)
    return rd.Simulation(scene.compile(), timestep=1 / 60)


@pytest.mark.parametrize("method", ["newton_euler", "velocity_constraints"])
def test_a_ball_comes_to_the_pole_of_its_chart_and_moves_there(method):
    """Upright is a pole, where no velocity leads anywhere but up: it is expressed in another chart, and rolls on."""
    sim = touching(joints.surfaces.sphere(0.1))
    if method != "newton_euler":
        scene = Scene()
        ball = joints.surface_on_surface(joints.surfaces.plane(), joints.surfaces.sphere(0.1), spin=True)
        scene.world.attach(Body("ball", mass=0.5, inertia=0.002 * np.eye(3)), ball)
        sim = rd.Simulation(scene.compile(method=method), timestep=1 / 60)
    before, wanted = sim.charts, rd.pose((0.5, 0.2, 0.1))
    sim.place("ball", pose=wanted, velocity=[1.0, 2.0, 0.5, 0.3, -0.6, 0])
    poses, twists = sim.frames()
    np.testing.assert_allclose(poses[0], wanted, atol=1e-9)
    np.testing.assert_allclose(twists[0], [1.0, 2.0, 0.5, 0.3, -0.6, 0], atol=1e-8)
    assert sim.charts != before
    sim.step(10)
    assert sim.frames()[0][0][:2, 3] == pytest.approx([0.55, 0.1], abs=1e-3)


def test_where_a_surface_cannot_be_is_told_by_name():
    """An ellipsoid upright is higher than this, and at its chart's pole, where M is singular."""
    sim = touching(joints.surfaces.ellipsoid(0.1, 0.12, 0.15))
    before = sim.snapshot_bytes()
    with pytest.raises(rd.StateError, match=r"'ball' does not come to the pose.*misses it by 0.05"):
        sim.place("ball", pose=rd.pose((0.05, 0.02, 0.1)))
    assert sim.snapshot_bytes() == before
    single = touching(joints.surfaces.sphere(0.1), charts=False)
    with pytest.raises(rd.StateError, match=r"'ball' is given no velocity: M is singular"):
        single.place("ball", rd.pose((0.1, 0.1, 0.1)), [NAN, NAN, NAN, 0.3, -0.6, 0])


def test_a_ball_that_rolls_on_a_turntable_is_placed_at_its_pole():
    """With rows that keep it from slipping, and a plane that time moves: Newton's steps lead by the pole."""
    scene = Scene()
    turn, c, s = sp.eye(4), sp.cos(3 * scene.time), sp.sin(3 * scene.time)
    turn[:2, :2] = sp.Matrix([[c, -s], [s, c]])
    table = scene.world.attach(Body("table", mass=1.0, inertia=INERTIA), joints.Joint(turn, ()))
    rolling = joints.surface_on_surface(joints.surfaces.plane(), joints.surfaces.sphere(0.1), spin=True)
    scene.roll(table.attach(Body("ball", mass=0.5, inertia=0.002 * np.eye(3)), rolling))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    sim.place("ball", rd.pose((0.05, 0.02, 0.1)), [NAN, NAN, NAN, 0.3, -0.6, 0])
    poses, twists = sim.frames()
    np.testing.assert_allclose(poses[1], rd.pose((0.05, 0.02, 0.1)), atol=1e-9)
    np.testing.assert_allclose(twists[1, 3:], [0.3, -0.6, 0], atol=1e-8)
    below = twists[1, 3:] + np.cross(twists[1, :3], [0, 0, -0.1])
    np.testing.assert_allclose(below, np.cross([0, 0, 3.0], [0.05, 0.02, 0]), atol=1e-8)
    sim.step(10)
