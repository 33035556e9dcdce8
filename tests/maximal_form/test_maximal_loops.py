"""Closed loops and other constraints of a scene in maximal coordinates: rows on two bodies, beside those of joints."""

import numpy as np
import pytest
from constraint_cases import bound
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints

STEPS = [("velocity_constraints", "semi_implicit_euler"), ("penalty", "implicit_euler")]


def four_bar(driven: bool = False) -> Scene:
    """Three rods and the ground, closed by a pin."""
    scene = Scene()
    rods = [
        Body(name, mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
        for name in ("crank", "rod", "rocker")
    ]
    crank = scene.world.attach(rods[0], joints.revolute("y", damping=0.1))
    rod = crank.attach(rods[1], joints.revolute("y"), at=rd.pose(xyz=(0.5, 0, 0)))
    rocker = scene.world.attach(rods[2], joints.revolute("y"), at=rd.pose(xyz=(0.7, 0, 0)))
    gap = rod.point((0.5, 0, 0)) - rocker.point((0.5, 0, 0))
    scene.constrain(gap[0], gap[2], name="pin")
    if driven:
        scene.constrain(crank.v[0] - 1.5, name="drive")
    return scene


def same_accelerations(scene, q, v, tau):
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    Q, V = d.from_reduced(q, v)
    phi, psi = d.constraint_errors(Q, V)
    scale = 1.0 + np.abs(v).max()
    assert np.abs(phi).max() < 1e-9 and np.abs(psi).max() < 1e-8 * scale
    a = reduced.accelerations(q, v, reduced.forward_dynamics(q, v, tau))
    found = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q))
    assert_close(d.accelerations(Q, V, found), a, 1e-9)


@pytest.mark.parametrize("driven", [False, True])
def test_bodies_of_a_four_bar_accelerate_as_in_joint_coordinates(driven):
    scene = four_bar(driven)
    d, rng = scene.compile(), np.random.default_rng(1)
    states = [d.project(d.neutral(), rng.normal(size=d.nv)) for _ in range(2)]
    q, v = (np.array(x) for x in zip(*states, strict=True))
    same_accelerations(scene, q, v, rng.normal(size=v.shape))


def test_rows_of_every_sort_on_two_bodies_are_those_of_joint_coordinates():
    case = bound(1, 3, ("revolute", "prismatic", "screw", "universal", "planar", "ball", "free"))
    rng, d = np.random.default_rng(2), case.dynamics()
    q, v = d.project(case.home, rng.normal(size=d.nv))
    same_accelerations(case.scene, q, v, rng.normal(size=d.nv))


@pytest.mark.parametrize("method, integrator", STEPS)
def test_a_four_bar_moves_as_in_joint_coordinates(method, integrator):
    scene = four_bar()
    exact = rd.Simulation(scene.compile(), 1 / 1000)
    exact.step(200)
    d = scene.compile(method)
    off = []
    for rate in (120, 240):
        motion = rd.Simulation(d, 1 / rate, integrator)
        motion.step(rate // 5)
        off.append(np.abs(d.poses(motion.q) - exact.dynamics.poses(exact.q)).max())
        assert np.abs(d.constraint_errors(motion.q)[0]).max() < 2e-3
    assert off[1] < 0.7 * off[0] and off[1] < 0.01


def test_rows_on_three_bodies_are_refused_by_name():
    scene = four_bar()
    scene.constrain(scene["crank"].position[2] + scene["rod"].position[2] - scene["rocker"].position[2], name="sum")
    with pytest.raises(rd.ModelError, match="'sum' is on 3 bodies"):
        scene.compile("velocity_constraints")
