"""Every compiled loop of steps against the slow Python definition of its rule, on random trees and constraints.

RK4's definition repeats the loop's operations over the same compiled rates: equal bit for bit. The others solve their
equations densely, so that a step differs by the rounding of a solve, and the implicit midpoint rule's by the tolerance
of its sweeps too (1e-12 of the velocity of the middle).
"""

import numpy as np
import pytest
import sympy as sp
from constraint_cases import bound
from trees import assert_close, mechanism

import recursive_dyn as rd
from recursive_dyn.integrators.integrator import in_time
from recursive_dyn.integrators.registry import INTEGRATORS, rule
from recursive_dyn.simulation.flying.flight import Flight
from scene import Body, Scene, joints

H = 2e-3
RULES = (*INTEGRATORS, "held_rk4")
ROUNDING = {
    "semi_implicit_euler": 1e-14,
    "linearly_implicit_rk4": 1e-13,
    "held_rk4": 1e-13,
    "implicit_midpoint": 1e-12,
    "variational_midpoint": 1e-9,  # where its steps end that are found to 1e-8 of their speed at worst
}
FREELY = ("free", "ball", "revolute", "helix")
TREES = {
    "5 bodies": {"seed": 5, "bodies": 5},
    "9 bodies with springs": {"seed": 9, "bodies": 9, "springs": True},
    "floating": {"seed": 4, "bodies": 6, "kinds": FREELY, "root": "free", "springs": True},
    "balls": {"seed": 7, "bodies": 5, "kinds": ("ball", "free"), "root": "ball"},
    "prismatic ends": {"seed": 3, "bodies": 7, "kinds": ("prismatic", "universal", "ball"), "springs": True},
}


STIFF = {  # N/m, N s/m: below and above what the default has as explicit
    "soft elements": (50.0, 3.0), "stiff elements": (3e7, 2e4), "stiff and soft elements": (3e7, 3.0),
    "stiff elements and constraints": (3e7, 2e4), "stiff elements on what moves": (3e7, 2e4),
}  # fmt: skip


def elements(name: str, stiffness: float, damping: float):
    """Two arms on a ball joint, a spring to the world, a damper within the tree: as ``start``."""
    scene, R = Scene(), np.diag([0.05, 0.06, 0.04])
    arm = Body("arm", mass=0.8, center_of_mass=(0, 0, -0.3), inertia=R)
    if "moves" in name:
        shake = sp.eye(4)
        shake[0, 3] = sp.sin(3 * scene.time) / 5
        table = scene.world.attach(Body("table", mass=1.0, inertia=R), joints.Joint(shake, ()))
        table.attach(arm, joints.ball())
    else:
        scene.world.attach(arm, joints.ball())
    bob = Body("bob", mass=0.5, center_of_mass=(0, 0.1, -0.2), inertia=R)
    arm.attach(bob, joints.revolute("x"), rd.pose((0, 0, -0.6)))
    hand = Body("hand", mass=0.4, center_of_mass=(0.1, 0, 0), inertia=R)
    bob.attach(hand, joints.revolute("y", damping=0.1), rd.pose((0, 0, -0.4)))
    scene.spring(bob, scene.world, stiffness, rest=np.hypot(0.6, 0.3), point_b=(0.3, 0, 0))
    scene.spring(hand, arm, 0.0, damping, 1.0, point_a=(0.2, 0, 0))
    if "constraints" in name:
        scene.distance(hand, scene.world, float(np.hypot(1.0, 0.2)), point_b=(0, 0.2, 0))
    d = scene.compile()
    q, v = d.neutral(), np.linspace(-0.8, 1.0, d.nv)
    if d.model.constraints:
        q, v = d.project(q, v)
    if d.model.prescribed:
        q, v = np.split(d.call("in_time", q, v), [d.nq])
    return d, q, v, np.linspace(-1.0, 1.0, d.nv)


def start(name: str):
    """(dynamics, q, v, tau) of a tree, or of one under constraints, on which q and v then are."""
    if "constraints" in name:
        case = bound(3, 4, velocities=name == "constraints")
        d = case.dynamics()
        q, v, tau = (x[0] for x in case.states(1, 1))
        return d, *d.project(q, v), tau
    if name == "prescribed":
        d = prescribed()
        q, v = d.neutral(), np.linspace(-0.8, 1.0, d.nv)
        return d, *np.split(d.call("in_time", q, v), [d.nq]), np.linspace(-1.0, 1.0, d.nv)
    d = mechanism(**TREES[name]).dynamics()
    q, v = (x[0] for x in mechanism(**TREES[name]).states(1, 2))
    return d, q, v, np.linspace(-1.0, 1.0, d.nv)


def prescribed():
    """A table that time moves, an arm on it with a spring, a ball on that, and a hand that moves as told."""
    scene, R = Scene(), np.diag([0.05, 0.06, 0.04])
    shake = sp.eye(4)
    shake[0, 3] = sp.sin(3 * scene.time) / 5
    table = scene.world.attach(Body("table", mass=1.0, inertia=R), joints.Joint(shake, ()))
    arm = Body("arm", mass=0.8, center_of_mass=(0, 0, -0.3), inertia=R)
    arm = table.attach(arm, joints.revolute("y", stiffness=3.0, damping=0.1))
    bob = arm.attach(
        Body("bob", mass=0.5, center_of_mass=(0, 0.1, -0.2), inertia=R), joints.ball(), rd.pose((0, 0, -0.6))
    )
    bob.attach(
        Body("hand", mass=0.4, center_of_mass=(0.1, 0, 0), inertia=R), joints.revolute("x"), rd.pose((0, 0, -0.4))
    )
    sim = rd.Simulation(scene.compile())
    sim.prescribe("hand.angle", sp.sin(2 * scene.time))
    return sim.dynamics


def flown(d, integrator, q, v, tau, count):
    """The compiled loop alone: no projection, no limits."""
    flight, q, v = Flight(d, integrator), q.copy(), v.copy()
    while count:
        count -= flight.advance(q, v, tau, H, count, 0.0, False)[0]
    return in_time(d, q, v)


@pytest.mark.parametrize("name", [*TREES, "constraints", "constraints of positions", "prescribed"])
@pytest.mark.parametrize("integrator", RULES)
def test_a_compiled_step_is_the_definitions_step(integrator, name):
    """At each of the states of a motion."""
    if name == "constraints" and rule(integrator).holonomic:
        pytest.skip("takes none between velocities")
    d, q, v, tau = start(name)
    for _ in range(30):
        expected = rule(integrator).definition(d, q, v, tau, H)
        expected = in_time(d, *expected)
        q, v = flown(d, integrator, q, v, tau, 1)
        if integrator == "rk4":
            np.testing.assert_array_equal(q, expected[0])
            np.testing.assert_array_equal(v, expected[1])
        else:
            assert_close(q, expected[0], ROUNDING[integrator])
            assert_close(v, expected[1], ROUNDING[integrator])


@pytest.mark.parametrize("name", STIFF)
@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "held_rk4"])
def test_a_compiled_step_is_the_definitions_step_with_force_elements(integrator, name):
    """At each of the states of a motion; what is stiff has cond(M + h^2 K) of 1e6, of which velocities keep 1e-10."""
    d, q, v, tau = elements(name, *STIFF[name])
    for _ in range(60):
        expected = in_time(d, *rule(integrator).definition(d, q, v, tau, H))
        q, v = flown(d, integrator, q, v, tau, 1)
        assert_close(q, expected[0], 1e-12)
        assert_close(v, expected[1], 1e-10)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("integrator", RULES)
def test_a_long_compiled_run_is_the_definition_again_and_again(integrator, name):
    """Roundings of 300 steps, of the variational rule what they leave, carried along by 0.6 s of a motion of a few
    radians per second."""
    d, q, v, tau = start(name)
    end = flown(d, integrator, q, v, tau, 300)
    for _ in range(300):
        q, v = rule(integrator).definition(d, q, v, tau, H)
    tolerance = {"rk4": 0.0, "variational_midpoint": 1e-8}.get(integrator, 1e-11)
    assert_close(end[0], q, tolerance)
    assert_close(end[1], v, tolerance)


@pytest.mark.parametrize("stiffness", [3.0, 1e4, 1e7])
@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "held_rk4", "semi_implicit_euler"])
def test_a_compiled_step_is_the_definitions_step_with_springs_of_balls(integrator, stiffness):
    """Soft ones, those whose steps are halved, and those that are implicit."""
    scene, R = Scene(), np.diag([0.05, 0.06, 0.04])
    trunk = scene.world.attach(Body("float", mass=1.0, inertia=R), joints.free(stiffness=stiffness, damping=0.1))
    bob = Body("bob", mass=0.5, center_of_mass=(0, 0.1, -0.2), inertia=R)
    trunk.attach(bob, joints.ball(stiffness=stiffness / 2, rest=(0.1, 0.0, 0.2)), rd.pose((0, 0, -0.6)))
    d = scene.compile()
    q, v = d.integrate(d.neutral(), 0.1 * np.arange(d.nv), 1.0), np.linspace(-1.0, 2.0, d.nv)
    for _ in range(5):
        expected = in_time(d, *rule(integrator).definition(d, q, v, np.zeros(d.nv), H))
        q, v = flown(d, integrator, q, v, np.zeros(d.nv), 1)
        assert_close(q, expected[0], 1e-12)
        assert_close(v, expected[1], 1e-10, max(np.abs(v).max(), 1e-6))


@pytest.mark.parametrize("damping", [0.1, 30.0, 1e4, 1e8])
def test_a_damper_of_the_midpoint_rule_takes_what_it_does_and_does_not_ring(damping):
    """A wheel: with z = h d / I, 2 / (2 + 2 z + z^2) of its speed is left in a step, near exp(-z)."""
    scene, inertia = Scene(gravity=(0, 0, 0)), 0.3
    scene.world.attach(Body("wheel", mass=1.0, inertia=inertia * np.eye(3)), joints.revolute("y", damping=damping))
    sim, z = rd.Simulation(scene.compile(), H, "implicit_midpoint"), H * damping / inertia
    sim.v = [1.5]
    for k in range(1, 4):
        sim.step()
        assert sim.v[0] == pytest.approx(1.5 * (2.0 / (2.0 + 2.0 * z + z * z)) ** k, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("stiffness, damping", [(3.0, 0.1), (1e4, 0.0), (0.0, 1e3), (1e6, 1e6)])
def test_springs_of_the_rule_for_what_is_pressed_are_as_it_says(stiffness, damping):
    """A wheel: (I + h d + b h^2 k) v' = I v - h k (q + h a v), with which impulses at the end of the step agree; the
    implicit midpoint's a = b = 1/4 where the step resolves the spring, nearly 0 and 1 where it does not."""
    scene, inertia = Scene(gravity=(0, 0, 0)), 0.3
    wheel = Body("wheel", mass=1.0, inertia=inertia * np.eye(3))
    scene.world.attach(wheel, joints.revolute("y", stiffness=stiffness, damping=damping))
    q, v = np.array([0.2]), np.array([-1.5])
    end = flown(scene.compile(), "held_rk4", q, v, np.zeros(1), 1)
    s = (1.0 - 4.0 / max(H * H * stiffness / inertia, 4.0)) ** 4
    a, b = (1.0 - s) / 4, (1.0 + 3.0 * s) / 4
    after = (inertia * v - H * stiffness * (q + H * a * v)) / (inertia + H * damping + b * H * H * stiffness)
    assert_close(end[1], after, 1e-13)
    assert_close(end[0], q + H * (v + after) / 2, 1e-13)


@pytest.mark.parametrize("kind", ["joint", "element"])
@pytest.mark.parametrize("z", [0.1, 1.9])
def test_the_rule_for_what_is_pressed_keeps_the_energy_of_springs_that_it_resolves(kind, z):
    scene, mass = Scene(gravity=(0, 0, 0)), 2.0
    stiffness = mass * (z / H) ** 2
    body = Body("body", mass=mass, inertia=np.eye(3))
    scene.world.attach(body, joints.prismatic("x", stiffness=stiffness if kind == "joint" else 0.0))
    if kind == "element":
        scene.spring(scene.world, body, stiffness=stiffness, rest=1.0, point_a=(-1, 0, 0))
    q, v = flown(scene.compile(), "held_rk4", np.array([0.01]), np.zeros(1), np.zeros(1), 1000)
    assert mass * v[0] ** 2 + stiffness * q[0] ** 2 == pytest.approx(stiffness * 1e-4, rel=1e-9)


def test_the_definition_sees_parameters():
    """Also where they are the mass that a freely moving body's momentum is made of."""
    scene = Scene()
    m = scene.parameter("m", 1.0)
    body = Body("body", mass=m, center_of_mass=(0.1, 0.2, m / 10), inertia=np.diag([0.3, 0.2, 0.4]))
    arm = Body("arm", mass=m, inertia=np.eye(3) * 0.1, center_of_mass=(0, 0, -0.3))
    scene.world.attach(body, joints.free()).attach(arm, joints.ball())
    d = scene.compile()
    d.parameters["m"] = 2.5
    q, v, tau = d.neutral(), np.linspace(-2.0, 3.0, d.nv), np.zeros(d.nv)
    for integrator in ("semi_implicit_euler", "implicit_midpoint"):
        expected = rule(integrator).definition(d, q, v, tau, H)
        end = flown(d, integrator, q, v, tau, 1)
        assert_close(end[0], expected[0], ROUNDING[integrator])
        assert_close(end[1], expected[1], ROUNDING[integrator])
