"""Limits of coordinates: one law under every integrator, whatever else acts; stops hold, and never add energy."""

import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.contact.settings import Settings
from scene import Body, Scene, joints

INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint")
SLOP = Settings().slop
STEPS = (1 / 240, 1 / 60)


def pendulum(limits=(-0.5, 0.5), **options) -> rd.Dynamics:
    scene = Scene()
    bob = Body("bob", mass=1.5, center_of_mass=(0, 0, -0.4), inertia=np.eye(3) * 0.01)
    scene.world.attach(bob, joints.revolute("y", limits=limits, **options))
    return scene.compile()


def tree(seed: int, **ranges) -> rd.Dynamics:
    """Hinges and slides with limits on both sides, near to each other; ranges: of springs and dampers."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    parent = scene.world
    for k in range(5):
        points = 0.07 * rng.normal(size=(6, 3))
        spread = points.T @ points
        body = Body(
            f"b{k}",
            mass=rng.uniform(0.5, 2.0),
            center_of_mass=rng.uniform(-0.2, 0.2, 3),
            inertia=np.trace(spread) * np.eye(3) - spread,
        )
        axis, options = rng.normal(size=3), {name: rng.uniform(*ends) for name, ends in ranges.items()}
        turns = rng.random() < 0.7
        limits = (-rng.uniform(0.2, 1.0), rng.uniform(0.2, 1.0)) if turns else (-0.2, 0.3)
        joint = (joints.revolute if turns else joints.prismatic)(axis, limits=limits, **options)
        parent.attach(body, joint, at=rd.pose(xyz=rng.uniform(-0.3, 0.3, 3)))
        parent = body if rng.random() < 0.6 else scene.bodies[rng.integers(len(scene.bodies))]
    return scene.compile()


def energy(sim: rd.Simulation) -> float:
    d, q, v = sim.dynamics, sim.q, sim.v
    return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))


def beyond(sim: rd.Simulation) -> float:
    """How far the coordinate that is farthest beyond a limit is."""
    places = {slot: place for place, slot in sim.dynamics.model.plain_slots}
    limits = {places[s]: c.limits for s, c in enumerate(sim.dynamics.model.coordinates) if s in places}
    return max(max(low - sim.q[place], sim.q[place] - high) for place, (low, high) in limits.items())


def run(sim: rd.Simulation, seconds: float) -> tuple[np.ndarray, float, int]:
    """(energies, how far a limit was passed, steps in which a stop pushed)."""
    energies, over, hits = [energy(sim)], -np.inf, 0
    for _ in range(round(seconds / sim.timestep)):
        sim.step()
        energies.append(energy(sim))
        over = max(over, beyond(sim))
        hits += any(value for name, value in sim.coordinate_impulses.items() if "limit" in name)
    return np.array(energies), over, hits


def rise(energies: np.ndarray) -> float:
    """By how much energy ever grew again."""
    return float((energies - np.minimum.accumulate(energies)).max())


def nothing(sim: rd.Simulation) -> Contacts:
    return Contacts.none()


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_limit_holds_whatever_else_acts(integrator, h):
    """A swing at 8 rad/s against 0.5 rad: alone, beside a motor or a friction of 1e-12 N m, and with a detector."""
    paths = []
    for options, motor, detect in (
        ({}, 0.0, None),
        ({}, 1e-12, None),
        ({"friction": 1e-12}, 0.0, None),
        ({}, 0.0, nothing),
    ):
        sim = rd.Simulation(pendulum(**options), h, integrator)
        sim.detect = detect
        if motor:
            sim.motors["bob.angle"] = rd.Motor(max_force=motor)
        sim.v = [8.0]
        path = []
        for _ in range(round(1.0 / h)):
            sim.step()
            path.append((sim.q[0], sim.v[0]))
        paths.append(np.array(path))
        assert np.abs(paths[-1][:, 0]).max() < 0.5 + SLOP
    for other in paths[1:]:
        np.testing.assert_allclose(other, paths[0], atol=1e-10)


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_motor_of_next_to_no_force_changes_nothing(integrator, h):
    """On a tree that meets several stops at once: to what rounding and 1e-12 N m grow to in a second."""
    d, ends = tree(1), []
    for force in (0.0, 1e-12):
        sim = rd.Simulation(d, h, integrator)
        sim.v = 3.0 * np.random.default_rng(1).normal(size=d.nv)
        if force:
            sim.motors[d.velocity_coordinates[2]] = rd.Motor(max_force=force)
        sim.step(round(1.0 / h))
        ends.append(np.concatenate([sim.q, sim.v]))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


@pytest.mark.parametrize(
    "ranges",
    [{}, {"stiffness": (5.0, 50.0)}, {"stiffness": (5.0, 50.0), "damping": (0.02, 0.1)}],
    ids=["bare", "springs", "springs and dampers"],
)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_stops_add_no_energy(integrator, ranges):
    """Several at once, over and over: what grows is an error of first order, h times what there is to lose a second."""
    for seed in (0, 2):
        d = tree(seed, **ranges)
        for h in STEPS:
            sim = rd.Simulation(d, h, integrator)
            sim.v = 3.0 * np.random.default_rng(seed).normal(size=d.nv)
            energies, over, hits = run(sim, 2.0)
            assert hits > 0.1 / h
            assert over < SLOP
            assert rise(energies) < h * np.ptp(energies)


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_stop_takes_what_moves_into_it_and_no_more(integrator, h):
    """Without gravity, a slide carries a turning flywheel into its stop: the slide stops, the wheel turns on."""
    scene = Scene(gravity=(0, 0, 0))
    carriage = scene.world.attach(
        Body("carriage", mass=3.0, inertia=np.eye(3)), joints.prismatic("x", limits=(-1, 0.2))
    )
    carriage.attach(Body("wheel", mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3) * 0.1), joints.revolute("x"))
    sim = rd.Simulation(scene.compile(), h, integrator)
    sim.v = [1.0, 7.0]
    sim.step(round(0.5 / h))
    assert sim.q[0] == pytest.approx(0.2, abs=SLOP)
    np.testing.assert_allclose(sim.v, [0.0, 7.0], atol=1e-9)
    assert sim.q[1] == pytest.approx(7.0 * sim.time, rel=1e-9)


@pytest.mark.parametrize("stiffness", [1e2, 1e3])
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
def test_a_stiff_spring_presses_onto_its_stop_and_lies_there(integrator, stiffness):
    """It would rest beyond the limit; the stop carries k (rest - limit) - m g sin(q) l in every step."""
    d = pendulum((-0.5, 0.3), stiffness=stiffness, rest=1.0)
    for h in STEPS:
        sim = rd.Simulation(d, h, integrator)
        sim.step(round(2.0 / h))
        assert sim.q[0] == pytest.approx(0.3, abs=SLOP) and sim.v[0] == pytest.approx(0.0, abs=1e-9)
        carried = sim.coordinate_impulses["high limit of bob.angle"] / h
        assert carried == pytest.approx(stiffness * 0.7 - 1.5 * 9.81 * 0.4 * np.sin(0.3), rel=5e-3)


def closed_loop() -> rd.Dynamics:
    """A crank and a rocker with a coupler between them; the rocker has limits."""
    crank, coupler, rocker, ground = 0.4, 1.1, 0.9, 1.2
    scene = Scene()
    bars = [
        Body(name, mass=m, center_of_mass=(size / 2, 0, 0), inertia=np.eye(3) * 0.04 * m)
        for name, m, size in (("crank", 1.0, crank), ("coupler", 1.5, coupler), ("rocker", 0.8, rocker))
    ]
    first = scene.world.attach(bars[0], joints.revolute("-y"), at=rd.pose(xyz=(0, 0, 0.3)))
    second = first.attach(bars[1], joints.revolute("-y"), at=rd.pose(xyz=(crank, 0, 0)))
    third = scene.world.attach(bars[2], joints.revolute("-y", limits=(1.9, 2.3)), at=rd.pose(xyz=(ground, 0, 0.3)))
    loop = second.point((coupler, 0, 0)) - third.point((rocker, 0, 0))
    scene.constrain(loop[0], loop[2], name="pin")
    return scene.compile()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_closed_loop_meets_its_stop(integrator):
    """The stop moves nothing off the constraints, and they nothing off the stop."""
    d = closed_loop()
    q = d.project(np.array([2.0, -1.2, 1.6]))[0]
    v = d.project(q, np.array([3.0, 0.0, 0.0]))[1]
    for h in STEPS:
        sim = rd.Simulation(d, h, integrator)
        sim.q, sim.v = q, v
        over, rocker, most = -np.inf, [], 0.0
        energies = [energy(sim)]
        for _ in range(round(2.0 / h)):
            sim.step()
            energies.append(energy(sim))
            rocker.append(sim.q[2])
            most = max(most, np.abs(d.constraint_errors(sim.q, sim.v)[0]).max())
        over = max(max(rocker) - 2.3, 1.9 - min(rocker))
        assert over < SLOP and most < 1e-9
        assert rise(np.array(energies)) < 1e-2 * h * np.ptp(energies) + 0.02 * h * (integrator == "semi_implicit_euler")
        assert np.abs(np.diff(rocker[-10:])).max() < 1e-4 or max(rocker) > 2.29


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_hold_beside_a_joint_of_several_charts(integrator):
    """A hinge on a body that tumbles through its charts: the same path as on quaternions, within the limits."""
    paths = []
    for joint in (joints.ball(), joints.charts(joints.euler("zyx"), joints.euler("zxy"))):
        scene = Scene()
        base = scene.world.attach(Body("base", mass=2.0, inertia=np.diag([0.2, 0.3, 0.4])), joint)
        tip = Body("tip", mass=1.0, center_of_mass=(0.3, 0, 0), inertia=np.eye(3) * 0.02)
        base.attach(tip, joints.revolute("y", limits=(-0.3, 0.4)), at=rd.pose(xyz=(0.3, 0, 0)))
        sim = rd.Simulation(scene.compile(), 1 / 1000, integrator)
        J = sim.dynamics.jacobian(sim.q, "base")[:3, :3]
        sim.v = [*np.linalg.solve(J, [0.5, 4.0, 0.3]), 2.0]
        charts, path = set(), []
        for _ in range(500):
            sim.step()
            charts.add(sim.charts.get("base"))
            path.append(sim.q[-1])
        paths.append(np.array(path))
        assert paths[-1].max() < 0.4 + SLOP and paths[-1].min() > -0.3 - SLOP
        assert paths[-1].max() > 0.39 or paths[-1].min() < -0.29, "a stop was met"
    assert len(charts) > 1, "charts were switched"
    np.testing.assert_allclose(paths[1], paths[0], atol=0.05 if integrator == "semi_implicit_euler" else 2e-3)


def test_a_shared_coordinate_stops_that_only_what_is_further_out_moves_by():
    """Two leaves of a book whose spine turns by itself: their common angle was eliminated where no joint has it."""
    scene = Scene(gravity=(0, 0, 0))
    angle = scene.coordinate("angle", limits=(-1.0, 0.5))
    spine = scene.world.attach(Body("spine", mass=1.0, inertia=np.eye(3) * 0.1), joints.revolute("y"))
    for name, turned in (("left", -angle), ("right", angle)):
        c, s = sp.cos(turned), sp.sin(turned)
        turn = sp.Matrix([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        leaf = Body(name, mass=1.0, center_of_mass=(0.1, 0, 0), inertia=np.eye(3) * 0.1)
        spine.attach(leaf, joints.Joint(turn, ()))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    place = sim.dynamics.velocity_coordinates.index("angle")
    sim.v[place] = 3.0
    for _ in range(60):
        sim.step()
        assert sim.q[place] < 0.5 + SLOP
    assert sim.q[place] == pytest.approx(0.5, abs=1e-3)


def test_a_start_beyond_a_limit_is_brought_back_gently():
    sim = rd.Simulation(pendulum(), 1 / 240, "rk4")
    sim.q = [0.6]
    sim.step()
    assert 0.5 < sim.q[0] < 0.6, "no jump: beyond a limit is as an overlap, pushed back at contact.push_speed"
    sim.step(4)
    assert abs(sim.q[0]) < 0.5 + SLOP
    assert abs(sim.v[0]) < 1.0, "no kick: 0.1 rad in a step would be 24 rad/s"


def test_limits_out_of_reach_change_nothing_and_need_no_solver():
    """Bit for bit, and in a program of its own nothing of the solver is imported."""
    ends = []
    for limits in ((-np.inf, np.inf), (-3.0, 3.0)):
        sim = rd.Simulation(pendulum(limits), 1 / 240, "rk4")
        sim.q = [1.0]
        sim.step(500)
        ends.append(np.concatenate([sim.q, sim.v, [sim.time]]))
    np.testing.assert_array_equal(ends[1], ends[0])
    program = """
import sys, numpy as np, recursive_dyn as rd
from scene import Body, Scene, joints
scene = Scene()
bob = Body("bob", mass=1.0, center_of_mass=(0, 0, -1), inertia=np.eye(3))
scene.world.attach(bob, joints.revolute("y", limits=(-3, 3)))
sim = rd.Simulation(scene.compile())
sim.q = [1.0]
sim.step(1000)
assert "recursive_dyn.contact.solve" not in sys.modules
sim.v = [20.0]
sim.step(1000)
assert "recursive_dyn.contact.solve" in sys.modules and sim.q[0] < 3.0 + 1e-4
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
