"""Steps that fail of a force element which they do not resolve name it, with a remedy."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.integrators.registry import INTEGRATORS
from recursive_dyn.simulation.flying.diagnosis import violent_element
from scene import Body, Scene, joints


def braked(rule: str, force) -> rd.Simulation:
    """1 kg that slides at 1 m/s against what its speed makes of it."""
    scene = Scene(gravity=(0, 0, 0))
    block = scene.world.attach(Body("block", mass=1.0, inertia=np.eye(3)), joints.prismatic("x"))
    scene.force(block.q[0], force(block.v[0]), name="brake")
    sim = rd.Simulation(scene.compile(), 1 / 240, rule)
    sim.v[0] = 1.0
    return sim


@pytest.mark.parametrize("rule", INTEGRATORS)
def test_a_damper_beyond_any_step_is_named(rule):
    sim = braked(rule, lambda v: -1e6 * v)
    with pytest.raises(rd.StateError, match=r"force element 'brake' gives or takes .* times .*damping="):
        sim.step(60)


@pytest.mark.parametrize("rule", ["implicit_midpoint", "variational_midpoint"])
def test_friction_by_a_sign_is_named_where_it_stops_a_rule(rule):
    sim = braked(rule, lambda v: -5.0 * sp.sign(v))
    with pytest.raises(rd.StateError, match=r"force element 'brake' .*friction=.*tanh"):
        sim.step(60)


@pytest.mark.parametrize("rule", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("loss", [300.0, 1e3])
def test_what_grows_by_little_a_step_is_told_before_it_is_beyond_all_speeds(rule, loss):
    """1 kg under a damper that the rule does not resolve at 1/60 s: it went on up to 1e71 m/s."""
    scene = Scene()
    body = Body("body", mass=1.0, inertia=np.eye(3))
    scene.world.attach(body, joints.prismatic("x"))
    scene.force(body.q[0], -loss * body.v[0], name="brake")
    sim = rd.Simulation(scene.compile(), 1 / 60, rule)
    sim.v[0] = 1.0
    with pytest.raises(rd.StateError, match=r"more energy than .* motion of coordinate 'body.distance'.*'brake'"):
        sim.step(2000)
    assert np.abs(sim.v).max() < 1e13


@pytest.mark.parametrize("h", [1 / 240, 1 / 4000])
def test_a_gas_spring_that_is_hit_to_its_end_is_named(h):
    scene = Scene(gravity=(0, 0, 0))
    body = Body("body", mass=5.0, inertia=np.eye(3))
    scene.world.attach(body, joints.prismatic("x"), at=rd.pose((0.5, 0, 0)))
    scene.gas_spring(scene.world, body, 60.0, 3.0, 0.5, 0.25, name="strut")
    sim = rd.Simulation(scene.compile(), h)
    sim.v[0] = -30.0
    with pytest.raises(rd.StateError, match="force element 'strut'"):
        sim.step(round(0.2 / h))


def test_what_a_joint_does_is_not_an_elements():
    """A soft spring beside a joint's own damper of 1e5 N s/m, which it was taken for."""
    scene = Scene(gravity=(0, 0, 0))
    body = Body("body", mass=1.0, inertia=np.eye(3))
    scene.world.attach(body, joints.prismatic("x", damping=1e5))
    scene.spring(scene.world, body, 1.0, rest=0.1)
    assert violent_element(scene.compile(), np.array([0.2]), np.array([1.0]), 1 / 60) is None
