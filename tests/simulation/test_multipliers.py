"""Multipliers that are told after a step are the forces of constraints under all that acted: motors, limits, contacts,
applied forces and force elements."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints

G, LENGTH = 9.81, 0.5
DEFAULT = "linearly_implicit_rk4"
RULES = [DEFAULT, *(pytest.param(rule, marks=pytest.mark.slow) for rule in INTEGRATORS if rule != DEFAULT)]
INERTIA = np.diag([0.02, 0.03, 0.025])


def four_bar(low: float | None = None, **compiled: str) -> rd.Dynamics:
    """``four_bar_scene``, compiled."""
    return four_bar_scene(low).compile(**compiled)


def four_bar_scene(low: float | None = None, bears: float = np.inf) -> Scene:
    """A crank and a rocker of 0.5 m that hang 1 m apart, and a coupler, of 1 kg each; a pin closes the loop."""
    scene = Scene()
    bodies = {n: Body(n, mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.eye(3) / 50) for n in ("crank", "rocker")}
    limits = {} if low is None else {"limits": (low, 2.0)}
    crank = scene.world.attach(bodies["crank"], joints.revolute("y", **limits))
    rocker = scene.world.attach(bodies["rocker"], joints.revolute("y"), at=rd.pose((1, 0, 0)))
    coupler = Body("coupler", mass=1.0, center_of_mass=(0.3, 0, 0), inertia=np.eye(3) / 50)
    coupler = crank.attach(coupler, joints.revolute("y"), at=rd.pose((0, 0, -LENGTH)))
    scene.pin(coupler, rocker, point_a=(1, 0, 0), point_b=(0, 0, -LENGTH), axis=(0, 1, 0), name="loop", breaks_at=bears)
    return scene


def pin_force(poses: np.ndarray, lift: float = 0.0) -> np.ndarray:
    """[x, z] of the pin's force on the coupler at rest: moments of the coupler about the crank's end, with a force
    upwards in its middle, and of the rocker about its pivot."""
    crank_end, pin, pivot = poses[2, :3, 3], (poses[2] @ [1, 0, 0, 1])[:3], np.array([1.0, 0, 0])
    out, down = pin - crank_end, pin - pivot
    weight = (poses[2] @ [0.3, 0, 0, 1])[:3] - crank_end
    rows = [[out[2], -out[0]], [-down[2], down[0]]]  # moments about y, of F and of -F
    middle = 0.5 * out[0] * lift
    return np.linalg.solve(rows, [middle - weight[0] * G, -0.5 * down[0] * G])


def on_coupler(sim: rd.Simulation) -> np.ndarray:
    """[x, z] of what the loop's rows do to the coupler, by the wrench of the multipliers."""
    return sim.dynamics.constraint_jacobian(sim.q).T @ sim.multipliers


def missed(sim: rd.Simulation, lift: float = 0.0) -> float:
    """By how much the rows' forces miss those of the closed form, in coordinates, N m."""
    d, q, F = sim.dynamics, sim.q, pin_force(sim.dynamics.poses(sim.q), lift)
    force = np.array([F[0], 0.0, F[1]])
    exact = d.jacobian(q, "coupler", (1, 0, 0))[3:].T @ force - d.jacobian(q, "rocker", (0, 0, -LENGTH))[3:].T @ force
    return float(np.abs(on_coupler(sim) - exact).max())


@pytest.mark.parametrize("rule", RULES)
def test_a_loop_that_a_motor_holds_transmits_what_statics_says(rule):
    """It was told as it would be without the motor: (-2.1, -4.0) for (-4.0, -4.9) N."""
    sim = rd.Simulation(four_bar(), 1 / 240, rule)
    sim.motors["crank.angle"] = rd.Motor(position=0.4, kp=400.0, kd=40.0)
    sim.step(1200)
    assert np.abs(sim.v).max() < 1e-9
    assert missed(sim) < 1e-8


def test_a_loop_that_lies_on_its_stop_transmits_what_statics_says():
    """To second order in the step, as the stop presses at its end."""
    off = []
    for h in (1 / 120, 1 / 480):
        sim = rd.Simulation(four_bar(low=0.3), h)
        sim.q, sim.v = sim.dynamics.project([0.35, 0.35, -0.35])
        sim.step(round(2 / h))
        assert np.abs(sim.v).max() < 1e-8 and "low limit of crank.angle" in sim.coordinate_impulses
        off.append(missed(sim))
    assert off[0] < 5e-4 and off[1] < off[0] / 12.0


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_pin_breaks_by_what_a_motor_has_it_bear(share):
    """It was taken for what it bears without the motor, three quarters of that; and the coupler's joint with it."""
    free = four_bar()
    q = free.project([0.4, 0.4, -0.4])[0]
    F = pin_force(free.poses(q))
    scene = four_bar_scene(bears=share * float(np.linalg.norm(F)))
    scene["coupler"].breaks_at(force=1e3)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.q = q
    sim.motors["crank.angle"] = rd.Motor(position=q[0], kp=4e4, kd=4e3)
    told = []
    for _ in range(480):
        sim.step()
        told += sim.broken_constraints
    assert (not told) is (share > 1.0)
    loads = sim._timesteps.loads
    if not told and loads is not None:
        F = pin_force(sim.dynamics.poses(sim.q))
        assert loads.constraints.sizes["loop"] == pytest.approx(np.linalg.norm(F), abs=1e-6)
        assert loads.sizes[2, 0] == pytest.approx(np.hypot(F[0], F[1] - G), abs=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_a_pin_hands_on_the_share_of_a_push_that_what_hangs_on_it_weighs(rule):
    """1 and 3 kg in a row, pushed along it by 8 N: 6 N, for as long as it is; nothing without it."""
    scene = Scene(gravity=(0, 0, 0))
    a = scene.world.attach(Body("a", mass=1.0, inertia=INERTIA), joints.free())
    b = scene.world.attach(Body("b", mass=3.0, inertia=INERTIA), joints.free(), at=rd.pose((1, 0, 0)))
    scene.pin(a, b, (0.5, 0, 0), (-0.5, 0, 0))
    sim = rd.Simulation(scene.compile(), 1 / 60, rule)
    for _ in range(5):
        sim.apply_force("a", (8.0, 0, 0))
        sim.step()
    pushed = np.abs(sim.multipliers).max()
    assert pushed == pytest.approx(6.0, abs=1e-9)
    sim.step()
    assert np.abs(sim.multipliers).max() < 1e-9


def test_a_loop_that_a_spring_carries_transmits_what_statics_says():
    """An element that lifts the coupler's middle by a constant force, beside a motor."""
    scene = four_bar_scene()
    scene.force(scene["coupler"], (0, 0, 7.0), point=(0.5, 0, 0))
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.motors["crank.angle"] = rd.Motor(position=0.4, kp=400.0, kd=40.0)
    sim.step(1200)
    assert np.abs(sim.v).max() < 1e-9
    assert missed(sim, lift=7.0) < 1e-8


@pytest.mark.parametrize("rule", RULES)
def test_what_moves_obeys_newton_with_what_is_told(rule):
    """M (v' - v) / h + bias = tau + motors + pushes + C^T multipliers, to first order in the step."""
    off = []
    for h in (1 / 240, 1 / 960):
        sim = rd.Simulation(four_bar(), h, rule)
        sim.motors["crank.angle"] = rd.Motor(velocity=3.0, max_force=2.0)
        sim.step(round(0.1 / h) - 1)
        before = sim.v.copy()
        sim.apply_force("coupler", (5.0, 0, 3.0), point=(0.8, 0, 0))
        sim.step()
        d, q, v = sim.dynamics, sim.q, sim.v
        assert sim.motor_forces["crank.angle"].saturated
        acting = d.jacobian(q, "coupler", (0.8, 0, 0))[3:].T @ (5.0, 0, 3.0) + (2.0, 0, 0)
        rest = d.mass_matrix(q) @ (v - before) / h + d.bias(q, v) - acting - on_coupler(sim)
        off.append(np.abs(rest).max())
    assert off[0] < 0.1 and off[1] < off[0] / 3.5


@pytest.mark.slow
def test_between_free_bodies_they_are_those_of_joint_coordinates():
    sims = [rd.Simulation(four_bar(**how), 1 / 240) for how in ({}, {"method": "velocity_constraints"})]
    for sim in sims:
        sim.motors["crank.angle"] = rd.Motor(position=0.4, kp=400.0, kd=40.0)
        sim.step(1200)
    np.testing.assert_allclose(sims[1].multipliers, sims[0].multipliers, atol=1e-3)


def coupler_on_a_ledge(sim: rd.Simulation) -> Contacts:
    """Its middle's lower side, which would hang deeper."""
    k = sim.dynamics.bodies.index("coupler")
    point = sim.frames()[0][k] @ [0.5, 0, 0, 1]
    low, on = point[None, :3], point[None, :3] * [1, 1, 0] + [0, 0, -0.48]
    friction = np.array([[0.5, 0.5, 0, 0, 0]])
    up, gap = np.array([[0.0, 0, 1]]), low[:, 2] + 0.48
    return Contacts(np.array([k]), np.array([STATIC]), low, on, up, gap, friction, np.array([7]))


@pytest.mark.parametrize("what", ["pushed", pytest.param("held by a hand", marks=pytest.mark.slow), "on a ledge"])
def test_bytes_of_a_snapshot_tell_the_same(what):
    """Of pushes bytes knew nothing: a coupler that 30 N lifted was told as one that hangs."""
    sim, other = (rd.Simulation(four_bar(), 1 / 240) for _ in range(2))
    if what == "on a ledge":
        sim.detect = coupler_on_a_ledge
        sim.q, sim.v = sim.dynamics.project([0.35, 0.35, -0.35])
    if what == "held by a hand":
        sim.grab("coupler", (0.5, 0, 0)).move((0.6, 0, -0.4))
    for _ in range(60):
        if what == "pushed":
            sim.apply_force("coupler", (0, 0, 30.0), point=(0.5, 0, 0))
        sim.step()
    told, data, snapshot = sim.multipliers, sim.snapshot_bytes(), sim.snapshot()
    other.restore(snapshot)
    np.testing.assert_array_equal(other.multipliers, told)
    other.restore(data)
    np.testing.assert_allclose(other.multipliers, told, rtol=1e-12)
    other.step(), other.restore(data)
    assert other.snapshot_bytes() == data
    plain = sim.dynamics.multipliers(sim.q, sim.v, sim.tau)
    assert np.abs(told - plain).max() > 1.0
