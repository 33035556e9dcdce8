"""Closed loops and other constraints of a scene in maximal coordinates: rows on bodies, beside those of joints."""

import numpy as np
import pytest
from constraint_cases import bound
from formulations import runs_beside
from test_joint_step import compared
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


def geared() -> Scene:
    """Five rods of two chains, their angles, heights and turns bound in rows on three to five bodies, and in time."""
    scene = Scene()
    for side, count in (("a", 3), ("b", 2)):
        node = None
        for k in range(count):
            rod = Body(f"{side}{k}", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
            place = rd.pose((0.5, 0, 0) if node else (0, 0.3 if side == "b" else 0, 0))
            joint = joints.ball() if side == "b" and k else joints.revolute("y", damping=0.1)
            node = (node or scene.world).attach(rod, joint, at=place)
    a, b = [scene[f"a{k}"] for k in range(3)], [scene[f"b{k}"] for k in range(2)]
    scene.constrain(a[1].q[0] - 0.5 * a[0].q[0] + b[0].q[0], name="gears")
    scene.constrain(a[2].position[2] + b[0].position[2] * a[1].rotation[0, 0] - b[1].position[2], name="heights")
    scene.constrain(b[1].v[2] - 0.3 * a[2].v[0] + a[1].spin[1] * b[0].rotation[0, 0] - scene.time, name="turns")
    return scene


def begun(scene, seed=None):
    """A state in joint coordinates that meets the constraints."""
    d, rng = scene.compile(), np.random.default_rng(seed)
    return d.project(d.neutral(), np.zeros(d.nv) if seed is None else np.append(rng.normal(size=d.nv - 1), 1.0))


def test_rows_on_many_bodies_are_those_of_joint_coordinates():
    scene, rng = geared(), np.random.default_rng(3)
    q, v = (np.array(x) for x in zip(*(begun(scene, k) for k in range(2)), strict=True))
    same_accelerations(scene, q, v, rng.normal(size=v.shape))


@pytest.mark.parametrize("method, integrator", [*STEPS, ("penalty", "semi_implicit_euler")])
def test_bodies_bound_by_rows_on_many_move_as_in_joint_coordinates(method, integrator):
    """To the first order of the timestep; snapshots and definitions of steps are those of any row."""
    scene = geared()
    exact, sims, off = runs_beside(scene, method, integrator, start=begun(scene))
    most = 0.02 if integrator == "semi_implicit_euler" else 1e-3
    assert all(np.abs(sim.dynamics.constraint_errors(sim.q)[0]).max() < most for sim in sims)
    missed = [np.abs(sim.multipliers - exact.multipliers).max() for sim in sims]
    assert off[1] < 0.7 * off[0] < 0.02
    assert missed[1] < 0.7 * missed[0] or integrator == "semi_implicit_euler"  # explicit springs ring
    assert missed[1] < 0.2 * np.abs(exact.multipliers).max() and len(exact.multipliers) == 3


@pytest.mark.parametrize("method, integrator", [*STEPS, ("penalty", "semi_implicit_euler")])
def test_steps_of_rows_on_many_bodies_are_those_of_the_definition(method, integrator):
    scene = geared()
    scene.parameter("R", 0.4)
    compared(scene, method, integrator, 1e-6)


def test_what_pushes_one_body_of_a_row_on_many_travels_to_all():
    """A differential: the sum of three angles is 0, and one stops at its limit in the solve of impulses."""
    found = []
    for method in ("velocity_constraints", "recursive"):
        scene, rods = Scene(), []
        for k in range(3):
            rod = Body(f"rod{k}", mass=1.0 + k, center_of_mass=(0.25, 0, 0), inertia=np.diag([0.01, 0.03, 0.03]))
            joint = joints.revolute("y", limits=(-0.05, 0.05) if k == 2 else None)
            rods.append(scene.world.attach(rod, joint, at=rd.pose((0, k, 0))))
        scene.constrain(sum(rod.q[0] for rod in rods), name="differential")
        sim = rd.Simulation(scene.compile(method), 1 / 1000, "semi_implicit_euler")
        sim.step(200)
        d = sim.dynamics
        q, v = d.to_reduced(sim.q, sim.v) if method != "recursive" else (sim.q, sim.v)
        assert abs(q.sum()) < 1e-6 and abs(v.sum()) < 1e-4 and q[2] < 0.0501
        found.append(q)
    assert abs(found[0][2] - 0.05) < 1e-4 and np.abs(found[0] - found[1]).max() < 3e-3
