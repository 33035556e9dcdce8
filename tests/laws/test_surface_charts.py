"""Surfaces that touch change their charts by themselves: what a change keeps, and motions through poles."""

import pickle

import numpy as np
import pytest
from chart_cases import energy, run_counting
from trees import assert_close, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints
from scene.joints import surfaces

G = 9.81
PAIRS = {
    "plane, egg": (surfaces.plane(), surfaces.ellipsoid(0.5, 0.3, 0.3, poles="x"), True),
    "ellipsoid, ellipsoid": (surfaces.ellipsoid(1.0, 0.8, 0.7, poles="y"), surfaces.ellipsoid(0.5, 0.3, 0.2), True),
    "sphere, torus": (surfaces.sphere(0.2), surfaces.torus(1.0, 0.3), True),
    "sphere in ellipsoid": (surfaces.ellipsoid(1.0, 1.2, 1.1), surfaces.sphere(0.4, poles="y"), False),
}


SOME_SLOW = [pytest.param(p, marks=() if p == "ellipsoid, ellipsoid" else pytest.mark.slow) for p in PAIRS]


def pair_scene(first, second, flip=True, charts=True, roll=True, **options):
    """A body on another one that is free in space."""
    scene, rng = Scene(gravity=(0, 0, 0), **options), np.random.default_rng(1)
    table = scene.world.attach(random_body(rng, "table"), joints.free())
    joint = joints.surface_on_surface(first, second, flip=flip, turn=0.4, spin=True, charts=charts)
    body = table.attach(random_body(rng, "body"), joint, at=rd.pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    if roll:
        scene.roll(body)
    return scene


@pytest.mark.parametrize("pair", SOME_SLOW)
def test_a_change_keeps_poses_velocities_energy_momentum_and_power(pair):
    sim = rd.Simulation(pair_scene(*PAIRS[pair]).compile())
    d, rng = sim.dynamics, np.random.default_rng(8)
    count = len(d.model.charted[0].joint.charts)
    assert count == (4 if "ellipsoid" in pair else 2)
    for _ in range(5):
        sim.q[7:] = rng.uniform(-1.1, 1.1, 5)
        sim.v, sim.tau = rng.normal(size=(2, d.nv))
        for chart in (*range(1, count), 0):
            kept = [d.poses(sim.q), d.velocities(sim.q, sim.v), energy(sim), d.momentum(sim.q, sim.v), sim.tau @ sim.v]
            slip = np.linalg.norm(d.call("constraint_velocities", sim.q, sim.v))
            sim.rechart("body", chart)
            now = [d.poses(sim.q), d.velocities(sim.q, sim.v), energy(sim), d.momentum(sim.q, sim.v), sim.tau @ sim.v]
            for a, b in zip(now, kept, strict=True):
                assert_close(a, b, 2e-14, 10.0)
            assert_close(np.linalg.norm(d.call("constraint_velocities", sim.q, sim.v)), slip, 1e-14, 10.0)


@pytest.mark.parametrize("pair", SOME_SLOW)
def test_every_chart_is_the_joint_with_its_poles_there(pair):
    """Numbers of one formula between turns against the surfaces written about those axes, which share nothing."""
    first, second, flip = PAIRS[pair]
    d, rng = pair_scene(first, second, flip, roll=False).compile(), np.random.default_rng(4)
    other = {"x": "y", "y": "z", "z": "x"}

    def about(surface):
        known = {"sphere": surfaces.sphere, "ellipsoid": surfaces.ellipsoid}.get(surface.name)
        return [surface] if known is None else [surface, known(*surface.sizes.values(), poles=other[surface.poles])]

    for chart, (a, b) in enumerate([(a, b) for a in about(first) for b in about(second)]):
        plain = pair_scene(a, b, flip, charts=False, roll=False).compile()
        d.parameters["body.chart"] = chart
        q = np.concatenate([d.neutral()[:7], rng.uniform(-1.0, 1.0, 5)])
        v, tau = rng.normal(size=(2, d.nv))
        assert_close(d.poses(q), plain.poses(q), 1e-14)
        assert_close(d.forward_dynamics(q, v, tau), plain.forward_dynamics(q, v, tau), 1e-11, 1e3)


@pytest.mark.parametrize("pair", [p for p in SOME_SLOW if p.values != ("sphere, torus",)])
def test_what_rolls_in_space_keeps_its_momenta_and_its_energy_over_poles(pair):
    """The whole is free: its momentum and its angular momentum stay, whatever the charts."""
    first, second, flip = PAIRS[pair]
    sim = rd.Simulation(pair_scene(first, second, flip).compile(), 1 / 240)
    d = sim.dynamics
    sim.q[7:] = 0.1, 0.3, 0.2, 0.9, 0.3
    sim.q, sim.v = d.project(sim.q, np.concatenate([0.3 * np.ones(6), [1.5, 1.0, 2.0, 3.0, 0.5]]))
    start, momentum = energy(sim), d.momentum(sim.q, sim.v)
    assert run_counting(sim, 480) >= 1
    assert_close(energy(sim), start, 1e-5, start)
    assert_close(d.momentum(sim.q, sim.v), momentum, 1e-5, np.abs(momentum).max())


@pytest.mark.parametrize("timestep", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
def test_a_ball_glides_round_a_ball_along_a_great_circle_over_the_poles_of_both(timestep):
    """Nothing but the contact acts, on a line through its centre: constant speed on a circle, constant spin."""
    R, r, w, spin = 1.0, 0.25, 3.0, np.array([2.0, -1.0, 0.5])
    scene = Scene(gravity=(0, 0, 0))
    joint = joints.surface_on_surface(surfaces.sphere(R), surfaces.sphere(r), spin=True)
    scene.world.attach(Body("ball", mass=2.0, inertia=0.05 * np.eye(3)), joint)
    sim = rd.Simulation(scene.compile(), timestep)
    d = sim.dynamics
    sim.q = 0.0, 0.2, 0.3, -0.4, 0.1
    center = d.poses(sim.q)[0, :3, 3] / (R + r)
    ahead = np.cross([0, 1, 0], center)  # to the pole of the large one, about y
    J = d.jacobian(sim.q, "ball", np.zeros(3))
    sim.v = np.linalg.lstsq(J, np.concatenate([spin, -w * (R + r) * ahead]), rcond=None)[0]
    start = energy(sim)
    steps = round(4.0 / timestep)
    assert run_counting(sim, steps) >= 6
    angle = -w * 4.0
    expected = (R + r) * (np.cos(angle) * center + np.sin(angle) * ahead)
    order = (timestep * 240) ** 4
    assert_close(d.poses(sim.q)[0, :3, 3], expected, 1e-6 * order)
    assert_close(d.velocities(sim.q, sim.v)[0, :3], spin, 1e-6 * order)
    assert_close(energy(sim), start, 1e-7 * order, start)


def test_a_ball_that_lies_on_its_pole_rolls_down_with_five_sevenths():
    slope, mass, radius = 0.3, 2.0, 0.25
    scene = Scene(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    joint = joints.surface_on_surface(surfaces.plane(), surfaces.sphere(radius), spin=True)
    ball = scene.world.attach(Body("ball", mass=mass, inertia=np.eye(3) * 0.4 * mass * radius**2), joint)
    scene.roll(ball)
    sim = rd.Simulation(scene.compile(), 1 / 60)
    sim.q = 0.0, 0.0, 0.0, -np.pi / 2, np.pi / 2  # rolling about its y, so that both its axes of poles come by
    assert run_counting(sim, 120) >= 4
    assert_close(sim.dynamics.poses(sim.q)[0, :3, 3], [5 / 7 * G * np.sin(slope) * 2.0, 0, radius], 1e-6)


@pytest.mark.parametrize("pivoting", [True, False])
def test_a_ball_in_charts_of_a_persons_own_rolls_as_in_those_it_has_by_itself(pivoting):
    """What rolling says of a sphere is the same formula wherever its poles lie."""
    ball, ground = surfaces.sphere, surfaces.sphere(1.0)
    pair = joints.surface_on_surface(ground, ball(0.2), spin=True)
    own = [
        joints.surface_on_surface(surfaces.sphere(1.0, poles=a), ball(0.2, poles=b), spin=True)
        for a in "zx"
        for b in "zx"
    ]
    ends, charts = [], set()
    for joint in (pair, joints.charts(*own)):
        scene = Scene()
        scene.roll(scene.world.attach(Body("ball", mass=1.0, inertia=0.016 * np.eye(3)), joint), pivoting=pivoting)
        sim = rd.Simulation(scene.compile(), timestep=1e-3)
        sim.q, sim.v = sim.dynamics.project(sim.q, [0.3, 2.0, -1.0, 3.0, 0.5])
        for _ in range(60):
            sim.step(10)
            charts.add(sim.charts["ball"])
        ends.append(sim.dynamics.poses(sim.q)[0])
    assert len(charts) > 1
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize("poles", [pytest.param("x", marks=pytest.mark.slow), "y"])
def test_a_stone_rolls_on_wherever_its_poles_are(poles):
    """It starts on the pole of "z", and goes over those of "x" and "y" or not; the motion is the same."""
    ends = []
    for axis in (poles, "z"):
        scene = Scene()
        egg = surfaces.ellipsoid(0.2, 0.12, 0.09, poles=axis)
        body = Body("stone", mass=1.0, inertia=np.diag([0.0045, 0.0096, 0.0109]))
        stone = scene.world.attach(body, joints.surface_on_surface(surfaces.plane(), egg, spin=True))
        scene.roll(stone)
        sim = rd.Simulation(scene.compile(), 1 / 240)
        d = sim.dynamics
        tilted = rd.pose((0, 0, 0), (0.02, 0.05, 0.0))
        tilted[2, 3] = np.linalg.norm(np.array([0.2, 0.12, 0.09]) * tilted[2, :3])  # the centre's height
        sim.place("stone", tilted)
        sim.rechart("stone", 0 if axis == "x" else 1)
        rows = np.vstack([d.jacobian(sim.q, "stone")[:3], d.call("constraint_jacobian", sim.q).reshape(2, 5)])
        sim.v = np.linalg.solve(rows, [0.5, 9.0, 1.0, 0, 0])
        start = energy(sim)
        sim.step(240)
        assert_close(energy(sim), start, 1e-4, start)
        ends.append(d.poses(sim.q))
    assert_close(ends[0], ends[1], 1e-3)


def test_snapshots_copies_and_other_processes_go_on_bit_by_bit():
    sim = rd.Simulation(pair_scene(*PAIRS["ellipsoid, ellipsoid"], roll=False).compile(), 1 / 60)
    sim.q[7:], sim.v[6:] = 0.3, (3.0, 2.0, 4.0, 3.0, 1.0)
    sim.step(20)
    saved, packed = sim.snapshot(), sim.snapshot_bytes()
    travelled = pickle.loads(pickle.dumps(sim))
    assert run_counting(sim, 200) >= 2
    end = [sim.q.tobytes(), sim.v.tobytes(), sim.charts]
    sim.restore(saved)
    sim.step(200)
    assert [sim.q.tobytes(), sim.v.tobytes(), sim.charts] == end
    sim.restore(packed)
    for other in (sim, travelled):
        for _ in range(200):
            other.step()
        assert [other.q.tobytes(), other.v.tobytes(), other.charts] == end
