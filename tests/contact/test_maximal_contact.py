"""Contacts, limits and dry friction in maximal coordinates: impulses travel through joints, and all comes to rest."""

import numpy as np
import pytest
from contact_scenes import at, energy
from impulse_problems import at_once, contacts, held_problem, problem, rows
from test_articulated import limb
from trees import random_body

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.contact.contacts import Contacts, FreeBodies
from recursive_dyn.contact.layout import body_links
from recursive_dyn.contact.problem import GeneralizedRows, ImpulseProblem
from recursive_dyn.contact.solve import solve
from scene import Body, Scene, joints, shapes

METHODS = [("velocity_constraints", "semi_implicit_euler", 0.01), ("penalty", "implicit_euler", 0.02)]
EXACT = 1e-9  # m/s


def fallen(method: str, integrator: str, steps: int):
    """A trunk with an arm of two parts, dropped on the ground."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    form = shapes.Box((0.5, 0.25, 0.15), material=rd.Material(friction=0.8))
    trunk = scene.world.attach(Body("trunk", [form], mass=6.0), joints.free(), at=at(z=0.4, rpy=(0.3, 0.2, 0)))
    arm = trunk.attach(limb("arm", friction=0.8), joints.ball(), at=at(0.33, 0.2))
    arm.attach(limb("hand", friction=0.8), joints.revolute("y", limits=(-1.0, 0.2)), at=at(0.35))
    d = scene.compile(method)
    worst, most = 0.0, 0.0
    with PyBulletMirror(scene, rd.Simulation(d, 1 / 120, integrator), gui=False) as shown:
        start = energy(shown.sim)
        for _ in range(steps):
            shown.step()
            worst = max(worst, np.abs(getattr(d, "joint_errors", lambda q: (np.zeros(1),))(shown.sim.q)[0]).max())
            most = max(most, energy(shown.sim) - start)
        touching = {(c.body_a, c.body_b) for c in shown.contacts}
    return shown.sim, worst, most, touching


@pytest.mark.slow
@pytest.mark.parametrize("method, integrator, missed", METHODS)
def test_a_body_with_an_arm_falls_and_rests_as_in_joint_coordinates(method, integrator, missed):
    sim, worst, most, touching = fallen(method, integrator, 150)
    reduced, _, _, as_reduced = fallen("auto", "semi_implicit_euler", 150)
    assert worst < missed and most < 0.05
    assert np.abs(sim.dynamics.velocities(sim.q, sim.v)).max() < 0.05
    low = [s.dynamics.center_of_mass(s.q)[2] for s in (sim, reduced)]
    assert abs(low[0] - low[1]) < 2e-3 and {a for a, _ in touching} == {a for a, _ in as_reduced}


@pytest.mark.parametrize("method", ["velocity_constraints", "penalty"])
def test_limits_and_dry_friction_act_on_the_coordinates_of_joints(method):
    scene = Scene()
    rod = {"mass": 1.0, "center_of_mass": (0.25, 0, 0), "inertia": np.diag([0.01, 0.03, 0.03])}
    scene.world.attach(Body("stopped", **rod), joints.revolute("y", limits=(-1.0, 0.5)))
    scene.world.attach(Body("rubbing", **rod), joints.revolute("y", friction=3.0), at=at(y=1.0))
    d = scene.compile(method)
    sim = rd.Simulation(d, 1 / 120)
    sim.step(60)
    (stopped, rubbing), (speed, slow) = d.to_reduced(sim.q, sim.v)
    loose = 1e-3 if method == "velocity_constraints" else 0.1  # explicit springs ring on, about axes too
    assert abs(stopped - 0.5) < loose and abs(speed) < 10 * loose
    assert abs(rubbing) < loose and abs(slow) < 10 * loose


def one_contact(d: rd.Dynamics, q: np.ndarray, normal: np.ndarray, friction: float = 0.0) -> Contacts:
    """Of the second body with the first, half way between them."""
    points, none = d.poses(q)[:2, :3, 3].mean(axis=0, keepdims=True), np.zeros((1, 5))
    none[0, :2] = friction
    return Contacts(
        np.array([1]), np.array([0]), points, points, normal[None], np.full(1, -1e-4), none, np.zeros(1, int)
    )


def no_rows() -> GeneralizedRows:
    return rows(np.random.default_rng(0), 1, 0, 0, 0)


def hinged(axis: np.ndarray) -> Scene:
    """Two bodies, one of which floats, on a hinge."""
    scene, rng = Scene(gravity=(0, 0, 0)), np.random.default_rng(5)
    first = scene.world.attach(random_body(rng, "first"), joints.free())
    first.attach(random_body(rng, "second"), joints.revolute(axis), at=at(0.4, 0.1, 0.2))
    return scene


def straying(d: rd.Dynamics, state: tuple[np.ndarray, np.ndarray], found: Contacts, seed: int) -> np.ndarray:
    """Twists (nv,) that joints do not allow, and nothing else."""
    q, v = state
    return held_problem(d, (q, v + 1e-2 * np.random.default_rng(seed).normal(size=d.nv)), found).astray.copy()


def exactly(given: ImpulseProblem) -> ImpulseProblem:
    """The same, solved until a sweep changes next to nothing."""
    return given._replace(options=given.options._replace(tolerance=EXACT))


def approach(d: rd.Dynamics, q: np.ndarray, v: np.ndarray, found: Contacts) -> np.ndarray:
    """Velocity (n,) of each A from its B."""
    X, V = (np.append(x, np.zeros_like(x[:1]), axis=0) for x in (d.poses(q), d.velocities(q, v)))
    a, b = (
        V[k, 3:] + np.cross(V[k, :3], p - X[k, :3, 3]) for k, p in ((found.a, found.point_a), (found.b, found.point_b))
    )
    return ((a - b - found.drift) * found.normal).sum(axis=1)


@pytest.mark.parametrize("friction", [0.0, 0.7])
@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0])
def test_a_contact_that_a_joint_blocks_stops_what_the_joint_lets_it_stop(tilt, friction):
    """Along a hinge's axis nothing can give way, and next to it hardly anything. Bodies that whirl have velocities that
    the hinge does not allow: these no contact answers, and without friction they move as in joint coordinates."""
    d, rng = (
        hinged(np.array([0.0, np.sin(tilt), np.cos(tilt)])).compile("velocity_constraints"),
        np.random.default_rng(2),
    )
    state = d.reduced.neutral(), rng.normal(size=d.reduced.nv)
    q, twists = d.from_reduced(*state)
    for sign in (-1.0, 1.0):
        found = one_contact(d, q, np.array([0.0, 0.0, sign]), friction)
        astray = straying(d, (q, twists), found, 3)
        assert np.abs(astray).max() > 1e-3 and (tilt > 0.1 or approach(d, q, astray * -sign, found)[0] != 0.0)
        given = held_problem(d, (q, twists + astray), found)
        solve(given)
        after = twists + given.changes.v
        assert approach(d, q, after, found)[0] > -2e-6
        assert d.kinetic_energy(q, after + astray) <= d.kinetic_energy(q, twists + astray) + 1e-9
        want = problem(d.reduced, state, found, no_rows(), iterations=200)
        solve(at_once(want, d.reduced, state))
        if friction == 0.0 and tilt >= 1e-2:  # velocities are met to 1e-6 m/s, and the hinge turns 5 / tilt times those
            assert np.abs(d.to_reduced(q, given.changes.v)[1] - want.changes.v).max() < 1e-5 / tilt


@pytest.mark.parametrize("root", [pytest.param(joints.free, marks=pytest.mark.slow), joints.ball])
def test_impulses_bring_no_energy_in_where_bodies_move_across_joints(root):
    """Random contacts all over a tree: kinetic energy afterwards is at most what it was, to the tolerance, and bodies
    move across joints as they did. Without friction velocities change as they do in joint coordinates."""
    rng = np.random.default_rng(8)
    scene, solved = Scene(gravity=(0, 0, 0)), 0
    nodes = [scene.world.attach(random_body(rng, "root"), root())]
    kinds = joints.revolute((1, 2, 0)), joints.ball(), joints.fixed(), joints.prismatic("z"), joints.universal("x", "y")
    for k, joint in enumerate((*kinds, joints.revolute("z"))):
        body = random_body(rng, f"b{k}")
        nodes.append(nodes[int(rng.integers(len(nodes)))].attach(body, joint, at=at(0.3, 0.1 * k, -0.2)))
    d = scene.compile("velocity_constraints")
    places = d.reduced.neutral()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rates = rng.normal(size=d.reduced.nv)
        q, v = d.from_reduced(places, rates)
        found = contacts(rng, d.poses(q), d.velocities(q, v), body_links(d.model), 6, FreeBodies.none())
        found.drift[:], smooth = 0.0, seed % 2 == 0
        found.friction[:] *= not smooth
        v = v + straying(d, (q, v), found, seed)
        given = exactly(held_problem(d, (q, v), found))
        facts = solve(given)
        size = np.abs(given.contacts.impulses[:6]).sum() + np.abs(given.changes.row_impulses).sum()
        change = d.kinetic_energy(q, v + given.changes.v) - d.kinetic_energy(q, v)
        assert change <= 1e-8 * size + 1e-12, f"seed {seed}"
        if facts.residual <= EXACT:  # of some frictions no solution is found, in joint coordinates either
            assert np.abs(d.joint_errors(q, given.changes.v)[1]).max() < 1e-7, f"seed {seed}"
            solved += change < -0.1
        if smooth:
            want = exactly(problem(d.reduced, (places, rates), found, no_rows(), iterations=200))
            solve(at_once(want, d.reduced, (places, rates)))
            assert np.abs(d.to_reduced(q, given.changes.v)[1] - want.changes.v).max() < 1e-5, f"seed {seed}"
    assert solved > 10
