"""A PD that cannot be stable in a simulation's timesteps says so, and what to take instead."""

import warnings

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn import control
from recursive_dyn.control.held_gains import asked_too_much
from scene import Body, Scene, joints


def chain(joint, count, gravity=(0, 0, -9.81)):
    scene = Scene(gravity=gravity)
    node = scene.world
    for k in range(count):
        body = Body(f"link {k}", mass=2.0, center_of_mass=(0, 0, 0.25), inertia=np.diag([0.05, 0.05, 0.01]))
        node = node.attach(body, joint(), at=rd.pose((0, 0, 0.5 if k else 0)))
    return scene


def test_default_gains_on_a_chain_of_balls_name_what_holds_it():
    """At a frame's step they ask for hundreds of times the chain's least inertia: explicitly they would blow up."""
    d, h = chain(joints.ball, 5).compile(), 1 / 60
    goal = d.integrate(d.neutral(), np.full(d.nv, 0.2), 1.0)
    sim = rd.Simulation(d, h)
    sim.control = control.PD(d, goal) + control.GravityCompensation(d)
    with pytest.raises(rd.StateError, match=r"0\.01667 s.*'link .*control\.StablePD\(dynamics, q, timestep=0\.01667\)"):
        sim.step()
    sim.control = control.StablePD(d, goal, timestep=h) + control.GravityCompensation(d)
    sim.step(240)
    assert np.abs(d.difference(sim.q, goal)).max() < 1e-6


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("ratio", [0.0, 0.4])
def test_the_bound_is_where_it_begins_to_grow(ratio, damping):
    """Springs and dampers in one ratio on four hinges: what is off by a millionth grows 1 % above it, not below."""
    d, h = chain(lambda: joints.revolute("y", damping=damping), 4, gravity=(0, 0, 0)).compile(), 0.01
    kp = np.array([3.0, 2.0, 2.0, 1.0])
    kd = ratio * h * kp
    share, _ = asked_too_much(d, d.neutral(), kp, kd, h)
    for factor in (0.99, 1.01):
        size = factor * 2.0 / share
        sim = rd.Simulation(d, h, "semi_implicit_euler")
        sim.q = np.full(4, 1e-6)
        sim.control = control.PD(d, d.neutral(), kp=size * kp, kd=size * kd)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sim.step()
        assert ["StablePD" in str(w.message) for w in said] == [True] * (factor > 1)
        grown = 0.0
        for _ in range(600):
            sim.step()
            grown = max(grown, np.abs(sim.q).max())
            if grown > 1e-3:
                break
        assert (grown > 1e-3) == (factor > 1), grown


def test_constraints_hold_what_gains_do_not():
    """A light link's hinge that is tied to a heavy one's: its inertia is that of both."""
    scene, h = chain(lambda: joints.revolute("y"), 2, gravity=(0, 0, 0)), 0.01
    light = scene["link 1"].attach(Body("light", mass=1e-3, inertia=np.eye(3) * 1e-6), joints.revolute("y"))
    free = scene.compile()
    gains = np.zeros(3), np.array([0.0, 0.0, 1.0])
    assert asked_too_much(free, free.neutral(), *gains, h)[0] > 2.0
    scene.constrain(light.q[0] - sp.Symbol(scene["link 1"].q[0].name, real=True), name="tie")
    tied = scene.compile()
    assert asked_too_much(tied, tied.neutral(), *gains, h)[0] < 2.0
