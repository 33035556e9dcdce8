"""A function that drives a simulation is asked at the stages of a step, so that it is as exact as all other forces."""

import copy
from functools import cache

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn import control
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints, shapes

STAGED = [name for name, rule in INTEGRATORS.items() if rule.order > 1]
RODS = np.diag([0.02, 0.021, 0.001])


def rods(count, joint=joints.ball, **given):
    scene = Scene(**given)
    node = scene.world
    for k in range(count):
        rod = Body(f"rod{k}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=RODS)
        node = node.attach(rod, joint(), at=rd.pose((0, 0, -0.5 if k else 0)))
    return scene


def hinge(axis="y"):
    return joints.revolute(axis)


@pytest.fixture(scope="module")
def chain():
    return rods(2).compile()


@cache
def swayed(dynamics, integrator, steps, time=0.25):
    sim = rd.Simulation(dynamics, time / steps, integrator)
    sim.v, sim.time = np.linspace(-1.5, 2.0, dynamics.nv), 0.3
    sim.control = lambda q, v, t: np.sin(7 * t) * np.cos(np.arange(v.size)) - 0.1 * v
    sim.step(steps)
    return np.concatenate([sim.q, sim.v])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_driven_steps_keep_their_order(chain, integrator):
    order = 4 if integrator == "linearly_implicit_rk4" else INTEGRATORS[integrator].order  # where nothing is stiff
    exact, steps = swayed(chain, "rk4", 1600), {1: (400, 800), 2: (100, 200), 4: (200, 400)}[order]
    coarse, fine = (np.abs(swayed(chain, integrator, n) - exact).max() for n in steps)
    assert abs(np.log2(coarse / fine) - order) < 0.15


def test_a_stiff_spring_by_control_is_a_spring_to_the_fourth_order():
    """h w = 0.3 and 0.15, against the closed form; from a force held for a step amplitude grows tenfold."""
    w, errors = 60.0, []
    for n in (200, 400):
        sim = rd.Simulation(rods(1, hinge, gravity=(0, 0, 0)).compile(), 1.0 / n, "rk4")
        inertia = sim.dynamics.mass_matrix(sim.q)[0, 0]
        sim.q, sim.control = [0.1], lambda q, v, t, k=inertia * w * w: -k * q
        sim.step(n)
        errors.append(np.hypot(sim.q[0] - 0.1 * np.cos(w), sim.v[0] / w + 0.1 * np.sin(w)))
    assert errors[1] < 2e-4 and abs(np.log2(errors[0] / errors[1]) - 4) < 0.2


# elements act at both ends of a variational step, a law in its middle: these agree to the rule's order only
@pytest.mark.parametrize("integrator", [name for name in STAGED if name != "variational_midpoint"])
def test_a_law_of_time_drives_as_the_same_force_of_the_scene_does(integrator):
    """Halves of steps too, which are asked at times of their own: the midpoint rule where sweeps run away, and where
    energy is not explained. A law is asked once a sweep, an element where Newton's changes lead, too: where sweeps only
    just converge one of the two may be halved, and is from the seventh step on."""
    count, h, stiff = 3, 1 / 60, integrator.endswith("midpoint")
    strong = 900.0 if stiff else 6.0
    scene = rods(count, hinge)
    for k in range(count):
        q, t = scene[f"rod{k}"].q[0], scene.time
        scene.force(q, strong * (sp.sin(9 * t) - q))
    written, asked = (rd.Simulation(s.compile(), h, integrator) for s in (scene, rods(count, hinge)))
    asked.control = lambda q, v, t: strong * (np.sin(9 * t) - q)
    for sim in (written, asked):
        sim.v[:count] = 24.0, -18.0, 14.0
        sim.step(6 if stiff else 20)
    np.testing.assert_allclose(asked.q, written.q[:count], rtol=1e-9)
    np.testing.assert_allclose(asked.v, written.v[:count], rtol=1e-8)
    assert asked.report.halvings == written.report.halvings > (-1 if integrator == "rk4" else 0)
    assert asked.report.unexplained_energy == 0.0


def test_halves_of_variational_steps_ask_at_times_of_their_own():
    """A step that Newton's method does not find is taken in halves, as two steps of half the length take it."""
    ends = []
    for n in (1, 2):
        sim = rd.Simulation(rods(3, hinge).compile(), 1 / (20 * n), "variational_midpoint")
        sim.control = lambda q, v, t: 30.0 * np.sin(40.0 * t + 1.0) - q
        sim.v = np.array([24.0, -18.0, 14.0])
        sim.step(n)
        ends.append((sim.report.halvings, np.concatenate([sim.q, sim.v])))
    assert ends[0][0] == 1 + ends[1][0] > 0
    np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=1e-12)


@pytest.mark.parametrize("integrator", STAGED)
def test_it_sees_states_that_there_are(chain, integrator):
    """Unit quaternions, copies; and the simulation itself where the step started."""
    sim = rd.Simulation(chain, 1 / 60, integrator)
    sim.v = np.linspace(-1.5, 2.0, chain.nv)

    def law(q, v, t):
        np.testing.assert_allclose([np.linalg.norm(q[:4]), np.linalg.norm(q[4:])], 1.0, atol=1e-14)
        assert sim.time - 1e-12 <= t <= sim.time + 1 / 60 + 1e-12
        seen.append(sim.time)
        q[:], v[:] = np.nan, np.nan
        return np.zeros(chain.nv)

    seen, free = [], rd.Simulation(chain, 1 / 60, integrator)
    free.v, sim.control = sim.v, law
    sim.step(3)
    free.step(3)
    np.testing.assert_allclose(sim.q, free.q, atol=1e-13)
    asked = 2 if integrator.endswith("midpoint") else 4  # at least, a step
    assert len(seen) >= 3 * asked and set(np.round(seen, 12)) == set(np.round(np.arange(3) / 60, 12))


class Tired(Exception):
    pass


def late(answer):
    """A law that gives up in the middle of the second step."""

    def law(q, v, t):
        return answer(v) if t > 0.02 else np.zeros(v.size)

    return law


def tired(v):
    raise Tired("no more")


@pytest.mark.parametrize("among", ["nothing", "surroundings"])
@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda v: np.zeros(2), rd.StateError, r"what its control returned: 'tau' has shape \(2,\)"),
        (lambda v: np.full(v.shape, np.inf), rd.StateError, "'tau' is not finite at coordinate 'rod0"),
        (tired, Tired, "no more"),
    ],
)
def test_what_it_returns_at_a_stage_is_checked_and_the_state_kept(chain, among, answer, error, message):
    for integrator in STAGED:
        sim = rd.Simulation(chain, 1 / 60, integrator)
        if among == "surroundings":
            sim.detect = lambda simulation: Contacts.none()
        sim.v, sim.control = np.linspace(-1.0, 1.0, chain.nv), late(answer)
        sim.step()
        q, v = sim.q.copy(), sim.v.copy()
        with pytest.raises(error, match=message):
            sim.step(2)
        np.testing.assert_array_equal([*sim.q, *sim.v], [*q, *v])
        assert sim.time == 1 / 60
        sim.control = None
        sim.step()  # nothing of it is left


def test_it_goes_on_in_copies_and_from_snapshots_to_the_bit(chain):
    sim = rd.Simulation(chain, 1 / 60, "linearly_implicit_rk4")
    sim.v, sim.control = np.linspace(-1.0, 1.0, chain.nv), lambda q, v, t: np.full(v.size, np.sin(t))
    sim.step(3)
    start, other = sim.snapshot(), copy.deepcopy(sim)
    sim.advance(5 / 60)
    end = sim.q.copy()
    sim.restore(start)
    for again in (sim, other):
        again.advance(5 / 60)
        np.testing.assert_array_equal(again.q, end)


def test_controllers_are_held_unless_they_are_told_not_to_be(chain):
    pd = control.PD(chain, chain.neutral(), kp=0.02, kd=0.002) + control.GravityCompensation(chain)
    asked = []

    def forces(*given, own=pd.forces):
        asked.append(given)
        return own(*given)

    pd.forces = forces
    sim = rd.Simulation(chain, 1 / 60, "rk4")
    sim.control = pd
    sim.step(3)
    assert len(asked) == 3
    pd.held = False
    sim.step(3)
    assert len(asked) == 15


def test_what_floats_is_driven_where_it_is_touched_by_nothing():
    """From a force that is 0 where the step starts: momenta that are carried along take it in."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=2.0), joints.free())
    sim = rd.Simulation(scene.compile(), 0.1, "rk4")
    sim.detect = lambda simulation: Contacts.none()
    sim.control = lambda q, v, t: np.array([0, 0, 0, 6.0 * np.sin(np.pi * t / 0.1) ** 2, 0, 0])
    sim.step(4)
    np.testing.assert_allclose(sim.v, [0, 0, 0, 0.8, 0, 0], atol=1e-12)  # the mean of its stages is 4 N


def test_it_is_asked_at_times_of_their_own_where_a_step_is_taken_in_parts():
    """A ball that would pass through a plate: before it is met height says what time it is."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((2, 2, 0.01)))
    scene.world.attach(Body("ball", [shapes.Sphere(0.05)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.5)))
    sim, seen = rd.Simulation(scene.compile(), 1 / 60, "rk4"), []
    sim.v[5] = -60.0
    sim.control = lambda q, v, t: seen.append((t, q[2] + 60.0 * t, v[5])) or np.zeros(6)
    with PyBulletMirror(scene, sim, gui=False):
        sim.step()
    assert sim.report.steps_cut == 1 and sim.q[2] > -0.5
    flying = [late for t, late, speed in seen if speed == -60.0]
    assert len(flying) > 8
    np.testing.assert_allclose(flying, 0.0, atol=1e-12)
