"""Joints over a step in machine code: what the definition in arrays says, for any joint, and wherever joints go."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.maximal.joint_action import JointAction
from recursive_dyn.maximal.joint_step import JointStep
from scene import Body, Scene, joints

u = sp.Symbol("u", real=True)
MADE = {
    "hinges with dampers, springs and rotors": lambda: [
        joints.revolute("y", damping=0.3),
        joints.prismatic((1, 1, 0), stiffness=20.0, rest=0.2, armature=0.3),
        joints.revolute("y", stiffness=3.0, damping=0.1),
        joints.revolute("z"),
    ],
    "of several axes": lambda: [joints.ball(), joints.universal("x", "y"), joints.planar(), joints.euler("xyz")],
    "along a curve, and free": lambda: [
        joints.curve([sp.cos(u), sp.sin(2 * u), u / 5], u, damping=0.2),
        joints.free(),
        joints.revolute("x"),
    ],
}


def scene_of(made: list[joints.Joint], long: float | sp.Symbol = 0.4) -> Scene:
    """A chain of these joints, and a second body on each."""
    scene = Scene()
    node: Body | object = scene.world
    R = scene.parameter("R", long)
    inertia = np.diag([0.01, 0.02, 0.025]) + 0.002
    for i, joint in enumerate(made):
        body = Body(f"link{i}", mass=1.0 + i, center_of_mass=(0.2, 0, 0.1), inertia=inertia)
        node = node.attach(body, joint, at=rd.pose(xyz=(R, 0.1, 0), rpy=(0.1, 0.2, 0.3)))
        node.attach(Body(f"leaf{i}", mass=0.5, inertia=inertia), joints.revolute("z"), at=rd.pose((0, 0.2, 0)))
    return scene


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if k else ()) for k, name in enumerate(MADE)]
)
def test_forces_are_those_of_the_definition(name: str) -> None:
    """Along a fast motion at 1/60 s, with joints that have come apart, and a parameter that jumps."""
    dynamics = scene_of(MADE[name]()).compile("velocity_constraints")
    rng, h = np.random.default_rng(2), 1 / 60
    simulation = rd.Simulation(dynamics, h)
    simulation.q, simulation.v = dynamics.from_reduced(
        dynamics.reduced.neutral() + 0.3, 3 * rng.normal(size=dynamics.reduced.nv)
    )
    definition, step = JointAction(dynamics, False), JointStep(dynamics, False)
    for k in range(12):
        q = simulation.q.reshape(-1, 7) + 1e-4 * rng.normal(size=(len(dynamics.joints), 7))
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
        if k == 6:
            dynamics.parameters["R"] = 0.41
        tau = rng.normal(size=dynamics.nv)
        want = definition.over_step(q.ravel(), simulation.v, tau, h)
        found = step.over_step(q.ravel(), simulation.v, tau, h)
        assert np.abs(found - want).max() < 1e-6 * np.abs(want).max()
        assert np.abs(step.coordinates - definition.coordinates).max() < 1e-6
        simulation.step()


def test_joints_that_jump_are_found_again() -> None:
    """A hinge that another state has half a turn away, and one whose velocity says nothing of where it goes."""
    dynamics = scene_of([joints.revolute("y"), joints.universal("x", "y")]).compile("velocity_constraints")
    definition, step, rng = JointAction(dynamics, False), JointStep(dynamics, False), np.random.default_rng(0)
    for _ in range(6):
        q, v = dynamics.from_reduced(dynamics.reduced.random(rng), rng.normal(size=dynamics.reduced.nv))
        want, found = (of.over_step(q, v, np.zeros(dynamics.nv), 1 / 240) for of in (definition, step))
        assert np.abs(found - want).max() < 1e-6 * np.abs(want).max()


def test_bodies_of_joint_coordinates_are_where_the_recursion_has_them() -> None:
    """Poses and twists carried outward, one state or many, beside the recursion's."""
    made = [joint for name in MADE for joint in MADE[name]()]
    dynamics = scene_of(made).compile("velocity_constraints")
    reduced, rng = dynamics.reduced, np.random.default_rng(1)
    q, v = np.array([reduced.random(rng) for _ in range(3)]), rng.normal(size=(3, reduced.nv))
    places, twists = dynamics.from_reduced(q, v)
    X, V = dynamics.poses(places), dynamics.velocities(places, twists)
    assert np.abs(X - reduced.poses(q)).max() < 1e-12
    assert np.abs(V - reduced.velocities(q, v)).max() < 1e-11
    assert np.array_equal(dynamics.from_reduced(q[1], v[1])[0], places[1])


def test_a_long_chain_keeps_its_energy_and_its_joints() -> None:
    """Links let go level fall nearly freely, and lose the share of energy that the rule takes in free fall."""
    scene, n = Scene(), 300
    node: Body | object = scene.world
    for i in range(n):
        body = Body(f"link{i}", mass=1.0, center_of_mass=(0.2, 0, 0), inertia=np.diag([0.001, 0.02, 0.02]))
        node = node.attach(body, joints.revolute("yz"[i % 2]), at=rd.pose((0.4 if i else 0.0, 0, 0)))
    dynamics = scene.compile("velocity_constraints")
    simulation = rd.Simulation(dynamics, 1 / 240)
    first = dynamics.potential_energy(simulation.q)
    simulation.step(48)
    C, _ = dynamics.joint_errors(simulation.q, simulation.v)
    energy = dynamics.kinetic_energy(simulation.q, simulation.v) + dynamics.potential_energy(simulation.q)
    fallen = first - dynamics.potential_energy(simulation.q)
    assert np.abs(C).max() < 1e-3
    assert fallen > 100.0 and -1.1 / 49 * fallen < energy - first < 0.0
