"""Every compiled loop of steps against the slow Python definition of its rule, on random trees and constraints.

RK4's definition repeats the loop's operations over the same compiled rates: equal bit for bit. The others solve their
equations densely, so that a step differs by the rounding of a solve, and the implicit midpoint rule's by the tolerance
of its sweeps too (1e-12 of the velocity of the middle).
"""

import numpy as np
import pytest
from constraint_cases import bound
from trees import assert_close, mechanism

from recursive_dyn.integrators.registry import INTEGRATORS
from recursive_dyn.simulation.flight import Flight
from scene import Body, Scene, joints

H = 2e-3
ROUNDING = {
    "semi_implicit_euler": 1e-14,
    "linearly_implicit_rk4": 1e-13,
    "implicit_midpoint": 1e-12,
    "variational_midpoint": 1e-12,
}
FREELY = ("free", "ball", "revolute", "helix")
TREES = {
    "5 bodies": {"seed": 5, "bodies": 5},
    "9 bodies with springs": {"seed": 9, "bodies": 9, "springs": True},
    "floating": {"seed": 4, "bodies": 6, "kinds": FREELY, "root": "free", "springs": True},
    "balls": {"seed": 7, "bodies": 5, "kinds": ("ball", "free"), "root": "ball"},
    "prismatic ends": {"seed": 3, "bodies": 7, "kinds": ("prismatic", "universal", "ball"), "springs": True},
}


def start(name: str):
    """(dynamics, q, v, tau) of a tree, or of one under constraints, on which q and v then are."""
    if name == "constraints":
        d = bound(3, 4).dynamics()
        q, v, tau = (x[0] for x in bound(3, 4).states(1, 1))
        return d, *d.project(q, v), tau
    d = mechanism(**TREES[name]).dynamics()
    q, v = (x[0] for x in mechanism(**TREES[name]).states(1, 2))
    return d, q, v, np.linspace(-1.0, 1.0, d.nv)


def flown(d, integrator, q, v, tau, count):
    """The compiled loop alone: no projection, no limits."""
    flight, q, v = Flight(d, integrator), q.copy(), v.copy()
    while count:
        count -= flight.advance(q, v, tau, H, count, 0.0, False)[0]
    return q, v


@pytest.mark.parametrize("name", [*TREES, "constraints"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_compiled_step_is_the_definitions_step(integrator, name):
    """At each of the states of a motion."""
    if name == "constraints" and not INTEGRATORS[integrator].constrained:
        pytest.skip("takes none")
    d, q, v, tau = start(name)
    for _ in range(60):
        expected = INTEGRATORS[integrator].definition(d, q, v, tau, H)
        q, v = flown(d, integrator, q, v, tau, 1)
        if integrator == "rk4":
            np.testing.assert_array_equal(q, expected[0])
            np.testing.assert_array_equal(v, expected[1])
        else:
            assert_close(q, expected[0], ROUNDING[integrator])
            assert_close(v, expected[1], ROUNDING[integrator])


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_long_compiled_run_is_the_definition_again_and_again(integrator, name):
    """Roundings of 300 steps, carried along by 0.6 s of a motion of a few radians per second."""
    d, q, v, tau = start(name)
    end = flown(d, integrator, q, v, tau, 300)
    for _ in range(300):
        q, v = INTEGRATORS[integrator].definition(d, q, v, tau, H)
    tolerance = 0.0 if integrator == "rk4" else 1e-11
    assert_close(end[0], q, tolerance)
    assert_close(end[1], v, tolerance)


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
        expected = INTEGRATORS[integrator].definition(d, q, v, tau, H)
        end = flown(d, integrator, q, v, tau, 1)
        assert_close(end[0], expected[0], ROUNDING[integrator])
        assert_close(end[1], expected[1], ROUNDING[integrator])
