"""Velocities that constraints do not allow, as after an edit or as somebody wrote v, are brought onto them by the
impulse that does it, before any rule sees them: what floats keeps its momenta, and energy is what the impulse leaves.

    v' = v - M^-1 C^T (C M^-1 C^T)^-1 (C v - c_t)
"""

import copy
from functools import cache

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints

KINDS = ("pin", "weld", "distance", "gear", "wheel", "chain")
INERTIAS = [np.diag(x) for x in ((0.02, 0.03, 0.04), (0.1, 0.05, 0.08), (0.06, 0.07, 0.05), (0.03, 0.04, 0.06))]
MASSES = (1.0, 2.5, 0.7, 1.5)


def body(kind: str, k: int) -> Body:
    return Body(f"{kind} {k}", mass=MASSES[k], inertia=INERTIAS[k])


@cache
def floating(kind: str) -> Dynamics:
    """Bodies that float, of which constraints hold two together."""
    scene, at = Scene(gravity=(0, 0, 0)), rd.pose((0.8, 0, 0))
    a = scene.world.attach(body(kind, 0), joints.free())
    if kind == "gear":
        b, c = (a.attach(body(kind, k), joints.revolute(x), at=at) for k, x in ((1, "y"), (2, "x")))
        scene.gear(c.q[0], b.q[0], -1.5)
        return scene.compile()
    b = scene.world.attach(body(kind, 1), joints.free(), at=at)
    if kind == "pin":
        scene.pin(a, b, (0.4, 0.1, 0), (-0.4, 0.1, 0))
    elif kind == "weld":
        scene.weld(a, b, at)
    elif kind == "distance":
        scene.distance(a, b, 0.9, (0, 0, 0), (0.1, 0, 0))
    elif kind == "wheel":
        scene.roll(b, radius=0.3, axis="y", on=a, point=(0, 0, -0.3))
    else:
        c, d = (x.attach(body(kind, k), joints.revolute("y"), at=at) for k, x in ((2, a), (3, b)))
        scene.pin(c, d, (0.4, 0, 0), (-0.4, 0, 0))
    return scene.compile()


def momenta(sim: rd.Simulation, v: np.ndarray) -> np.ndarray:
    """Linear and angular momentum (6,) about the world's origin, from the bodies' own motion."""
    P, L = np.zeros(3), np.zeros(3)
    for k, (X, V) in enumerate(zip(sim.dynamics.poses(sim.q), sim.dynamics.velocities(sim.q, v), strict=True)):
        R, m = X[:3, :3], MASSES[k]
        P, L = P + m * V[3:], L + np.cross(X[:3, 3], m * V[3:]) + R @ INERTIAS[k] @ R.T @ V[:3]
    return np.concatenate([P, L])


def struck(sim: rd.Simulation, v: np.ndarray, given: tuple[int, ...] = ()) -> np.ndarray:
    """v after the impulse, as it is written above; given: slots that motions lead."""
    d, slots = sim.dynamics, [s for s in range(len(v)) if s not in given]
    C, Mi = d.constraint_jacobian(sim.q)[:, slots], np.linalg.inv(d.mass_matrix(sim.q)[np.ix_(slots, slots)])
    for _ in range(2):  # rounding
        v, rates = v.copy(), d.call("constraint_velocities", sim.q, v)
        v[slots] -= Mi @ C.T @ np.linalg.solve(C @ Mi @ C.T, rates)
    return v


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize(
    "kind, rule",  # the last takes no rows of rates
    [(k, r) for k in KINDS for r in INTEGRATORS if (k, r) != ("wheel", "variational_midpoint")],
)
def test_a_kick_is_met_by_an_impulse_that_keeps_the_momenta_of_what_floats(kind, rule, h):
    """By h = 1/60 s 5 % of the momentum came or went, up to 30 %, by rules that meet rows by their rates."""
    sim = rd.Simulation(floating(kind), h, rule)
    v = 2.0 * np.random.default_rng(KINDS.index(kind)).normal(size=sim.dynamics.nv)
    after = struck(sim, v)
    assert np.abs(after - v).max() > 0.1
    before = momenta(sim, v)
    np.testing.assert_allclose(momenta(sim, after), before, atol=1e-12)
    lost = float(sim.dynamics.kinetic_energy(sim.q, v) - sim.dynamics.kinetic_energy(sim.q, after))
    twin = copy.deepcopy(sim)
    sim.v, twin.v = v, after
    missed = np.abs(sim.dynamics.call("constraint_velocities", sim.q, v))
    sim.step()
    twin.step()
    np.testing.assert_allclose(sim.q, twin.q, atol=1e-12)
    np.testing.assert_allclose(sim.v, twin.v, atol=1e-12)
    told, plain = sim.report, twin.report
    assert (told.rates_met, plain.rates_met) == (1, 0)
    assert told.widest_rate == pytest.approx(missed.max(), abs=1e-12)
    assert told.rate_constraint == sim.dynamics.model.constraints[int(missed.argmax())].name
    assert lost > 0.0 and told.impulse_loss == pytest.approx(lost, abs=1e-12)
    assert (told.unexplained_energy, told.halvings) == (plain.unexplained_energy, plain.halvings)
    if rule == "variational_midpoint":  # which keeps them through the step, too
        np.testing.assert_allclose(momenta(sim, sim.v), before, atol=1e-12)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("rule", INTEGRATORS)
def test_two_balls_that_a_pin_joins_as_they_run_have_the_energy_of_the_impulse(rule, h):
    """1 kg at 2 m/s and 1 kg at rest, pinned halfway, 0.5 m from both: an impulse of 1 / (1 + 0.5^2 / 0.05) N s."""
    scene, inertia = Scene(gravity=(0, 0, 0)), 0.05 * np.eye(3)
    a = scene.world.attach(Body("a", mass=1.0, inertia=inertia), joints.free())
    b = scene.world.attach(Body("b", mass=1.0, inertia=inertia), joints.free(), at=rd.pose((1, 0, 0)))
    sim = rd.Simulation(scene.compile(), h, rule)
    sim.v[4] = 2.0
    scene.pin(a, b, (0.5, 0, 0), (-0.5, 0, 0), name="pin")
    sim.update(scene.compile())
    assert sim.report.rates_met == 0
    sim.step()
    told = sim.report
    assert (told.rates_met, told.rate_constraint, told.gaps_closed) == (1, "pin[1]", 0)
    assert told.widest_rate == pytest.approx(2.0, abs=1e-12)
    assert told.impulse_loss == pytest.approx(2.0 - 11.0 / 6.0, abs=1e-12)
    assert (told.halvings, told.unexplained_energy) == (0, 0.0)
    # what is left is the rules' own error of one step of the pair as it turns: that of first order is 6e-4
    energy = float(sim.dynamics.kinetic_energy(sim.q, sim.v))
    assert energy == pytest.approx(11.0 / 6.0, abs=6e-4 * (60 * h) ** 2 if rule == "semi_implicit_euler" else 1e-8)
    P = sim.dynamics.velocities(sim.q, sim.v)[:, 3:].sum(axis=0)
    assert np.abs(P - (0, 2.0, 0)).max() < (3e-5 if rule in ("semi_implicit_euler", "implicit_midpoint") else 1e-9)
    sim.step(10)
    assert sim.report.impulse_loss == told.impulse_loss and sim.report.rates_met == 1


@pytest.mark.parametrize("rule", INTEGRATORS)
def test_what_a_motion_leads_keeps_its_rate_and_what_hangs_on_it_is_struck(rule):
    """A rod to a slide that is led at 1.5 m/s, put in while a jointed pair floats by."""
    scene = Scene(gravity=(0, 0, 0))
    a = scene.world.attach(body("led", 0), joints.free())
    b = a.attach(body("led", 1), joints.revolute("y"), at=rd.pose((0.2, 0, 0)))
    slide = scene.world.attach(body("led", 2), joints.prismatic("x"), at=rd.pose((1.3, 0, 0.4)))
    sim = rd.Simulation(scene.compile(), 1 / 240, rule)
    sim.v = [0.2, 1, -0.3, 0.4, 0.2, 0.1, 2.0, 1.5]
    sim.prescribe("led 2.distance", 1.5 * scene.time)
    sim.step(24)
    X = sim.dynamics.poses(sim.q)
    reach = float(np.linalg.norm(X[2, :3, 3] - (X[1] @ [0.5, 0, 0, 1])[:3]))
    scene.distance(b, slide, reach, point_a=(0.5, 0, 0))
    sim.update(scene.compile())
    given = tuple(sim.dynamics.model.prescribed)
    after = struck(sim, np.array(sim.v), given)
    assert np.abs(after - sim.v).max() > 1.0
    twin = copy.deepcopy(sim)
    twin.v[:] = after
    sim.step()
    twin.step()
    np.testing.assert_allclose(sim.v, twin.v, atol=1e-9)
    assert (sim.report.rates_met, twin.report.rates_met, sim.report.halvings) == (1, 0, 0)
    assert sim.prescribed["led 2.distance"].velocity == pytest.approx(1.5, abs=1e-12)
    # somebody writes another rate of what is led, which is not to be had
    sim.v[list(given)] += 3.0 * (np.array(sim.dynamics.velocity_coordinates)[list(given)] == "led 2.distance")
    sim.step()
    assert sim.report.rates_met == 1


def test_a_belt_whose_speed_is_a_parameter_strikes_what_it_carries():
    """A cart of 2 kg that a row of rates drives at 0.5 m/s is at 1.5 m/s in the step after it is told."""
    scene = Scene(gravity=(0, 0, 0))
    speed = scene.parameter("speed", 0.5)
    cart = scene.world.attach(Body("cart", mass=2.0, inertia=np.eye(3)), joints.prismatic("x"))
    scene.constrain(cart.v[0] - speed, name="belt")
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.step(24)
    assert sim.report.rates_met == 1 and sim.q[0] == pytest.approx(0.05, abs=1e-12)
    sim.parameters["speed"] = 1.5
    sim.step(24)
    assert (sim.report.rates_met, sim.report.rate_constraint) == (2, "belt")
    assert sim.q[0] == pytest.approx(0.2, abs=1e-12)
    assert sim.report.impulse_loss == pytest.approx(-0.5 * 2.0 * 1.5**2, abs=1e-12)  # the belt gave it


def test_states_that_steps_left_go_on_bit_by_bit():
    """As they are read, written, kept and come back to: no impulse changes what is allowed."""
    sim = rd.Simulation(floating("chain"), 1 / 120)
    sim.v = struck(sim, 2.0 * np.random.default_rng(0).normal(size=sim.dynamics.nv))
    sim.step(5)
    kept, twin = sim.snapshot(), copy.deepcopy(sim)
    twin.v, twin.q = np.array(twin.v), np.array(twin.q)
    sim.step(7)
    for _ in range(7):
        twin.step()
    assert np.array_equal(sim.v, twin.v) and np.array_equal(sim.q, twin.q)
    sim.restore(kept)
    sim.step(7)
    assert np.array_equal(sim.v, twin.v) and sim.report.rates_met == 0
