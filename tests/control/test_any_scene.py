"""Laws on scenes away from comfort: joints of one's own, balls, no damping, steps of a frame, goals that need force."""

from functools import cache

import numpy as np
import pytest
import sympy as sp
from trees import assert_close

import recursive_dyn as rd
from recursive_dyn import control
from scene import Body, Scene, joints

STEP = 1 / 60
ROD = {"mass": 1.0, "center_of_mass": (0, 0, 0.25), "inertia": np.diag([0.03, 0.03, 0.01])}
MADE = {
    "balls": lambda s: (joints.ball(), joints.ball()),
    "curve": lambda s: (joints.curve([s, sp.sin(s), sp.cos(s) / 2], s), joints.universal("x", "y")),
    "surface": lambda s: (joints.surface(joints.surfaces.ellipsoid(0.3, 0.25, 0.2)), joints.revolute("y")),
}


@cache
def dynamics(name):
    scene = Scene()
    root, tip = MADE[name](sp.Symbol("s", real=True))
    node = scene.world.attach(Body("root", **ROD), root)
    node.attach(Body("tip", **ROD), tip, at=rd.pose((0, 0, 0.5)))
    return scene.compile()


def laws(d, goal):
    place = d.poses(goal)[-1, :3, 3]
    weight = control.GravityCompensation(d)
    return {
        "stable PD": control.StablePD(d, goal, timestep=STEP, kp=1e7, kd=1e4) + weight,
        "soft stable PD": control.StablePD(d, goal, timestep=STEP, frequency=2.0) + weight,
        "computed torque": control.ComputedTorque(d, goal),
        "whole body": control.WholeBodyQP(d, [control.Posture(d, goal)]),
        "regulator": control.LQR(d, goal, timestep=STEP),
        "task": control.OperationalSpace(d, [control.Position("tip", place)]),
    }


@pytest.mark.parametrize("name", MADE)
def test_every_law_brings_it_to_its_goal_in_steps_of_a_frame(name):
    """Nothing is damped and gravity pulls; where balls and a stretched arm start is singular for the task."""
    d = dynamics(name)
    goal = d.integrate(d.neutral(), np.full(d.nv, 0.3), 1.0)
    for label, law in laws(d, goal).items():
        sim = rd.Simulation(d, STEP)
        sim.control = law
        sim.step(600)
        if label == "task":
            assert_close(sim.frames()[0][-1, :3, 3], d.poses(goal)[-1, :3, 3], 1e-6)
        else:
            assert np.abs(d.difference(sim.q, goal)).max() < 1e-6, label
        assert np.abs(sim.v).max() < 1e-6, label


@pytest.mark.parametrize("name", MADE)
def test_targets_out_of_reach_leave_what_is_nearest_and_tell_the_rest(name):
    """A place, a centre of mass and a look that no configuration meets, on any joints, from a singular one."""
    d = dynamics(name)
    aims = [control.Position("tip", (9, 9, 9)), control.CenterOfMass((0, 0, 1)), control.LookAt("tip", (1, 2, 3))]
    found = control.inverse_kinematics(d, aims, d.neutral())
    assert not found.converged and set(found.errors) == {"position of 'tip'", "centre of mass", "look of 'tip'"}
    total = sum(e @ e for e in found.errors.values())
    rng = np.random.default_rng(0)
    for _ in range(20):
        near = d.integrate(found.q, 0.05 * rng.normal(size=d.nv), 1.0)
        other = control.inverse_kinematics(d, aims, near, iterations=1, starts=1)
        assert sum(e @ e for e in other.errors.values()) > total * (1 - 1e-6)


def test_a_stable_pd_holds_what_forces_of_the_clock_shake():
    """Time is a coordinate that moves nothing. J a + 10 v + 100 q = -sin 5 t, long after the start."""
    scene = Scene(gravity=(0, 0, 0))
    arm = scene.world.attach(
        Body("arm", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=0.01 * np.eye(3)), joints.revolute("y")
    )
    scene.force(arm, force=(0, 0, sp.sin(5 * scene.time)), point=(1, 0, 0))
    dynamics = scene.compile()
    simulation = rd.Simulation(dynamics, 1 / 240)
    simulation.control = control.StablePD(dynamics, dynamics.neutral(), timestep=1 / 240, kp=100.0, kd=10.0)
    simulation.step(240)
    response = np.exp(5j) / (100.0 - 25.0 * (0.01 + 0.25) + 50.0j)
    assert simulation.q[0] == pytest.approx(-response.imag, rel=5e-3)
