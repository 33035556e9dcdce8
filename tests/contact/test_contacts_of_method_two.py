"""Method II, whose accelerations are computed link by link, in contact and at limits."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.dynamics.model_functions import ModelFunctions
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints, shapes


@pytest.mark.parametrize("rule", [name for name in INTEGRATORS if name != "variational_midpoint"])
def test_a_ball_on_a_slide_comes_to_rest(rule):
    scene = Scene()
    ball = Body("ball", [shapes.Sphere(0.05)], mass=1.0)
    scene.world.attach(ball, joints.prismatic("z"), at=rd.pose((0, 0, 0.06)))
    scene.world.shapes.append(shapes.Plane())
    sim = rd.Simulation(scene.compile(method="method_two"), 1 / 60, rule)
    with PyBulletMirror(scene, sim, gui=False, renderer="tiny") as shown:
        shown.step(30)
        assert shown.sim.q[0] == pytest.approx(-0.01, abs=2e-5)
        assert sum(c.impulse[2] for c in shown.contacts) * 60 == pytest.approx(9.81, rel=1e-6)


@pytest.mark.parametrize("rule", [name for name in INTEGRATORS if name != "variational_midpoint"])
def test_a_pendulum_rests_on_its_stop(rule):
    scene = Scene()
    arm = Body("arm", mass=1.0, center_of_mass=(0.3, 0, 0), inertia=0.1 * np.eye(3))
    scene.world.attach(arm, joints.revolute("y", limits=(-0.3, 0.3)))
    sim = rd.Simulation(scene.compile(method="method_two"), 1 / 60, rule)
    sim.step(120)
    assert sim.q[0] == pytest.approx(0.3, abs=2e-5)
    torque = sim.coordinate_impulses["high limit of arm.angle"] * 60
    assert torque == pytest.approx(9.81 * 0.3 * np.cos(0.3), rel=1e-3)


def test_its_programs_are_its_own():
    """What it does not know, as the inertia that a spring moves, others' programs do."""
    scene = Scene()
    arm = Body("arm", mass=1.0, center_of_mass=(0.3, 0, 0), inertia=0.1 * np.eye(3))
    scene.world.attach(arm, joints.revolute("y", stiffness=100.0))
    model = scene.compile().model
    others = [ModelFunctions(model, method) for method in ("auto", "recursive", "lagrangian", "trace")]
    own = ModelFunctions(model, "method_two")
    for name in ("impulse_factors", "stage", "stage_energies"):
        assert own.key(name) not in {functions.key(name) for functions in others}
