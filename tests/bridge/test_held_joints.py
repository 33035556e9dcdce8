"""What Bullet's constraints hold for a twin, by what a joint does, and what they cannot, by name."""

import numpy as np
import pybullet
import pytest
import sympy as sp
from bullet_twins import simulation
from trees import assert_close

import recursive_dyn as rd
from bridge import ForceTwin
from scene import Body, Scene, joints


def test_a_joint_of_ones_own_that_is_a_hinge_is_held_as_one():
    """By what it does, not by its name: a rotation about an oblique axis beside the origin, by an angle's cube."""
    scene = Scene()
    q = sp.Symbol("q", real=True)
    turn = sp.eye(4)
    turn[:3, :3] = sp.rot_axis3(-(q + q**3 / 3))
    place = sp.Matrix([0.3, 0.1, 0.0])
    turn[:3, 3] = place - turn[:3, :3] * place
    body = Body("cam", mass=1.0, center_of_mass=(0.5, 0, 0.1), inertia=np.eye(3) * 0.05)
    scene.world.attach(body, joints.Joint(turn, q))
    d = scene.compile()
    with ForceTwin(scene, simulation(d, [0.3], [1.0], 1 / 960)) as twin:
        assert pybullet.getNumConstraints(twin.client) == 2
        twin.step([0.5], count=240)
        fine = simulation(d, [0.3], [1.0], 1 / 7680)
        fine.tau = [0.5]
        fine.step(1920)
        assert_close(twin.frames()[0], d.poses(fine.q), 5e-3)


def one(joint, **given):
    scene = Scene()
    arm = scene.world.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    arm.attach(Body("body", **{"mass": 1.0, "inertia": np.eye(3)} | given), joint, at=rd.pose((1, 0, 0)))
    return scene


s, u = sp.symbols("s u", real=True)
HELD = {
    "revolute": (joints.revolute("x"), 2),
    "prismatic": (joints.prismatic((1, 2, 3)), 1),
    "ball": (joints.ball(), 1),
    "angles": (joints.euler("xyz"), 1),
    "free": (joints.free(), 0),
    "fixed": (joints.fixed(), 0),
}
NOT_HELD = {
    "curve": (joints.curve([sp.cos(s), sp.sin(s), s / 5], s), "'body' with 'body.s' is none"),
    "universal": (joints.universal("x", "y"), "'body' with 'body.angle', 'body.angle_2' is none"),
    "cylindrical": (joints.cylindrical("x"), "'body' with .* is none that Bullet's constraints hold"),
    "screw": (joints.screw("x", 0.1), "'body' with .* is none"),
    "planar": (joints.planar("z"), "'body' with .* is none"),
    "follower": (joints.revolute("y").follow("arm", 2.0), "'arm' follows, or leads, coordinates of others"),
    "rotor": (joints.revolute("x", armature=0.1), "'body.angle' has a rotor's inertia"),
}


@pytest.mark.parametrize("name", HELD)
def test_balls_hinges_and_slides_are_held(name):
    joint, count = HELD[name]
    scene = one(joint)
    with ForceTwin(scene, rd.Simulation(scene.compile())) as twin:
        assert pybullet.getNumConstraints(twin.client) == 2 + count


@pytest.mark.parametrize("name", NOT_HELD)
def test_what_bullet_cannot_hold_is_named_and_led_all_the_same(name):
    joint, message = NOT_HELD[name]
    scene = one(joint)
    sim = rd.Simulation(scene.compile(), 1e-3)
    sim.q = sim.dynamics.integrate(sim.q, np.full(sim.dynamics.nv, 0.2), 1.0)
    with pytest.raises(rd.ModelError, match=message + ".*constrained=False"):
        ForceTwin(scene, sim)
    with ForceTwin(scene, sim, constrained=False) as twin:
        twin.step(count=20)
        sim.step(20)
        assert_close(twin.frames()[0], sim.dynamics.poses(sim.q), 1e-3)


def test_what_no_free_body_can_be_is_named():
    massless = Scene()
    frame = massless.world.attach(Body("frame"), joints.revolute("y"))
    frame.attach(Body("hand", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    point = one(joints.revolute("y"), inertia=np.zeros((3, 3)), center_of_mass=(1, 0, 0))
    for scene, name in ((massless, "frame"), (point, "body")):
        with pytest.raises(rd.ModelError, match=f"'{name}' with what is fixed to it has no mass of its own, or no in"):
            ForceTwin(scene, rd.Simulation(scene.compile()), constrained=False)
    tied = one(joints.revolute("y"))
    tied.constrain(tied["body"].q[0] - tied["arm"].q[0], name="tie")
    with pytest.raises(rd.ModelError, match=r"constraint 'tie' is between coordinates.*constrained=False"):
        ForceTwin(tied, rd.Simulation(tied.compile()))
