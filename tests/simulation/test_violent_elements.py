"""Steps that fail of a force element which they do not resolve name it, with a remedy."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.integrators.registry import INTEGRATORS
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
