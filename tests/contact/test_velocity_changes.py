"""How velocities change by what touches: by the mass matrix, around pivots, with constraints, beside free bodies."""

import numpy as np
import pytest
from constraint_cases import bound
from test_responses import SHARED, SHORT, SMALL, any_mechanism, pushed, rubbing
from trees import TREES, assert_close, mechanism

import recursive_dyn as rd
from recursive_dyn.contact.contacts import FreeBodies
from recursive_dyn.recursion.momenta import impulse
from scene import Body, Scene, joints


def rubbed(name, rng, charts=True):
    """A mechanism, a simulation of it in motion, and what its detector will have seen."""
    found = mechanism(*TREES[name], charts=False) if name in TREES and not charts else any_mechanism(name)
    d = found.dynamics()
    sim = rd.Simulation(d, SHORT, "rk4")
    (sim.q,), (sim.v,) = found.states(1, 15)
    sim.detect, seen = rubbing(d, rng, 1 if name == "tree of 1" else 4)
    return d, sim, seen


@pytest.mark.parametrize("name", [*SMALL, *SHARED])
def test_velocities_change_by_the_mass_matrix(name):
    """M (v+ - v) = sum of J^T p; contacts of links with links, of links with the world."""
    d, sim, seen = rubbed(name, np.random.default_rng(6))
    sim.step()
    change = d.mass_matrix(seen["q"]) @ (sim.v - seen["v"])
    expected = pushed(d, seen["q"], seen["contacts"])
    assert np.abs(expected).max() > 1e-3
    assert_close(change, expected, 1e-6)


@pytest.mark.parametrize("name", [*SMALL, *SHARED])
def test_motors_do_what_they_say_and_say_what_they_should(name):
    """M (v+ - v) = y + sum of J^T p, with y = h kd (v* - v+) within its bounds, which half of the motors have."""
    rng = np.random.default_rng(7)
    d, sim, seen = rubbed(name, rng, charts=False)
    wanted, kd = sim.v + rng.normal(size=d.nv), 10.0 ** rng.uniform(-2, 2, d.nv) / SHORT
    most = np.where(rng.random(d.nv) < 0.5, np.inf, rng.uniform(0.0, 0.3, d.nv) / SHORT)
    for k, coordinate in enumerate(d.velocity_coordinates):
        sim.motors[coordinate] = rd.Motor(velocity=wanted[k], kd=kd[k], max_force=most[k])
    sim.step()
    told = np.array([sim.coordinate_impulses[f"motor of {coordinate}"] for coordinate in d.velocity_coordinates])
    change = d.mass_matrix(seen["q"]) @ (sim.v - seen["v"])
    assert_close(change, told + pushed(d, seen["q"], seen["contacts"]), 1e-6)
    assert_close(told, np.clip(SHORT * kd * (wanted - sim.v), -SHORT * most, SHORT * most), 1e-5)
    saturated = [done.saturated for done in sim.motor_forces.values()]
    assert np.abs(seen["contacts"].impulse).max() > 1e-4
    assert d.nv < 4 or (any(saturated) and not all(saturated))


@pytest.mark.parametrize("seed", range(3))
def test_impulses_pass_pivots_of_coordinates_that_they_do_not_reach(seed):
    """A gripper's fingers share a coordinate, which is eliminated at the hand: contacts of the hand, after theirs."""
    scene = Scene()
    node = scene.world
    for k, axis in enumerate("yzx"):
        arm = Body(f"arm{k}", mass=1.0 + k, center_of_mass=(0.1, 0, 0.2), inertia=np.diag([0.1, 0.2, 0.15]))
        node = node.attach(arm, joints.revolute(axis), at=rd.pose((0, 0, 0.4)))
    width = scene.coordinate("width")
    for side in (1, -1):
        finger = Body(f"finger{side}", mass=0.5 + 0.2 * side, center_of_mass=(0, 0, 0.1), inertia=np.eye(3) * 0.01)
        node.attach(finger, joints.prismatic("x").driven(side * width), at=rd.pose((0, 0.05 * side, 0.3)))
    d, rng = scene.compile(), np.random.default_rng(seed)
    sim = rd.Simulation(d, SHORT, "rk4")
    sim.q, sim.v = rng.normal(size=(2, d.nv))
    detect, seen = rubbing(d, rng, 8)
    sim.detect = detect
    sim.step()
    change = d.mass_matrix(seen["q"]) @ (sim.v - seen["v"])
    expected = pushed(d, seen["q"], seen["contacts"])
    assert np.abs(expected).max() > 1e-3
    assert_close(change, expected, 1e-6)


@pytest.mark.parametrize("seed", [1, 3])
def test_constraints_answer_contacts(seed):
    """M (v+ - v) - sum of J^T p is a combination of the constraints' rows, and the constraints hold afterwards."""
    found = bound(seed, 6)
    d = found.dynamics()
    q, v = d.project(found.home, np.random.default_rng(seed).normal(size=d.nv))
    sim = rd.Simulation(d, SHORT, "rk4")
    sim.q, sim.v = q, v
    sim.detect, seen = rubbing(d, np.random.default_rng(seed), 2)
    sim.step()
    change = d.mass_matrix(seen["q"]) @ (sim.v - seen["v"]) - pushed(d, seen["q"], seen["contacts"])
    C = d.constraint_jacobian(seen["q"])
    left = change - C.T @ np.linalg.lstsq(C.T, change, rcond=None)[0]
    assert np.abs(seen["contacts"].impulse).max() > 1e-3
    assert_close(left, np.zeros(d.nv), 1e-5, np.abs(change).max())
    assert_close(C @ sim.v, np.zeros(len(C)), 1e-6, 1.0)


def test_free_bodies_answer_with_their_mass_and_inertia():
    """Newton and Euler for each, with what the contacts gave; the sum of all momenta is kept."""
    rng = np.random.default_rng(8)
    found = mechanism(3, 3, root="revolute")
    d = found.dynamics()
    (q,), (v,) = found.states(1, 16)
    masses, inertias = rng.uniform(0.5, 3.0, 3), []
    for mass in masses:
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertias.append(mass * axes @ np.diag(rng.uniform(0.1, 0.2, 3)) @ axes.T)
    twist = rng.normal(size=(3, 6))
    centers = d.poses(q)[:, :3, 3] + rng.uniform(-0.2, 0.2, (3, 3))
    free = FreeBodies(centers, 1 / masses, np.linalg.inv(np.array(inertias)), twist.copy(), twist.copy())
    sim = rd.Simulation(d, SHORT, "rk4")
    sim.q, sim.v = q, v
    sim.detect, seen = rubbing(d, rng, 8, free)
    sim.step()
    contacts, bodies = seen["contacts"], len(d.bodies)
    assert (contacts.b >= bodies).sum() >= 3
    for k in range(3):
        own = contacts.b == bodies + k
        p, arms = contacts.impulse[own], contacts.point_b[own] - centers[k]
        turn = -(np.cross(arms, p) + contacts.moment[own]).sum(axis=0)
        expected = np.concatenate([np.linalg.solve(inertias[k], turn), -p.sum(axis=0) / masses[k]])
        assert_close(free.twist[k] - twist[k], expected, 1e-9, 1.0)
    change = d.mass_matrix(seen["q"]) @ (sim.v - seen["v"])
    assert_close(change, pushed(d, seen["q"], contacts), 1e-6)


def test_floating_trees_are_those_that_nothing_holds():
    """Their momentum is owed to them; a spring, a damper or any constraint keeps it from being known."""
    for settings, expected in (({}, [0]), ({"damping": 0.1}, []), ({"armature": 0.1}, [])):
        scene = Scene()
        base = scene.world.attach(Body("base", mass=1.0, inertia=np.eye(3)), joints.free(**settings))
        base.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
        assert impulse.floating(scene.model()).tolist() == expected
