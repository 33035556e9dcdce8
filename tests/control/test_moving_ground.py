"""Feet on what moves: led by time or by prescriptions, or freely. Places there are kept, and what carries bears it."""

import numpy as np
import pytest
import sympy as sp
from trees import mechanism

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn import control
from recursive_dyn.control.footholds import Footholds
from scene import Body, Scene, joints, shapes

STEP, HEIGHT = 1 / 240, 0.55
TREE = mechanism(9, 9, kinds=("ball", "revolute", "universal"), root="free")


def walker(table_joint, led=None):
    """(scene, simulation): a trunk on two legs of three joints on a table, with flat feet; led: its motion in time."""
    scene, rough = Scene(), rd.Material(friction=0.7)
    top = shapes.Box((4, 4, 0.2), at=rd.pose((0, 0, -0.1)), material=rough)
    scene.world.attach(Body("table", [top], mass=20.0, inertia=np.eye(3)), table_joint(scene.time))
    trunk = Body("trunk", mass=10.0, inertia=0.3 * np.eye(3))
    trunk = scene.world.attach(trunk, joints.free(), at=rd.pose((0, 0, HEIGHT)))
    for name, x in (("front", 0.3), ("back", -0.3)):
        turning = joints.revolute("y", armature=0.05) @ joints.revolute("x", armature=0.05)
        sole = shapes.Box((0.1, 0.2, 0.05), at=rd.pose((0, 0, 0.025 - HEIGHT)), material=rough)
        foot = Body(name, [sole], mass=1.0, center_of_mass=(0, 0, -0.1), inertia=0.02 * np.eye(3))
        trunk.attach(foot, joints.prismatic("z", armature=0.5) @ turning, at=rd.pose((x, 0, 0)))
    simulation = rd.Simulation(scene.compile(), STEP)
    if led is not None:
        simulation.prescribe(f"table.{led[0]}", led[1](scene.time))
    return scene, simulation


def balance(dynamics, pose, on="table", **settings):
    corners = [(x, y, -HEIGHT) for x in (-0.05, 0.05) for y in (-0.1, 0.1)]
    feet = [control.Foothold(name, at, friction=0.6, on=on) for name in ("front", "back") for at in corners]
    tasks = [control.Pose("trunk", pose), control.Posture(dynamics, weight=0.01)]
    return control.WholeBodyQP(dynamics, tasks, feet, **settings)


def seen(dynamics, q, foothold):
    """Where its point is in the axes of what carries it."""
    poses = dict(zip(dynamics.bodies, dynamics.poses(q), strict=True))
    place = poses[foothold.body] @ [*foothold.point, 1.0]
    return (np.linalg.inv(poses[foothold.on]) @ place)[:3]


@pytest.mark.parametrize("seed", range(4))
def test_points_are_seen_from_what_carries_them(seed):
    """Rates and second rates of places in the carrier's axes, by differences, on random trees at random states."""
    rng, d = np.random.default_rng(seed), TREE.dynamics()
    q, v = (x[0] for x in TREE.states(1, seed))
    names = rng.choice(d.bodies, (4, 2))
    feet = [control.Foothold(a, rng.normal(size=3), rng.normal(size=3), on=b) for a, b in names if a != b]
    own = Footholds(d)
    own.assign(feet)
    a, h = rng.normal(size=d.nv), 1e-4
    now = own.look(q, v)
    rates, second = now.velocity.reshape(-1, 3), (now.J @ a + now.drift).reshape(-1, 3)
    poses = dict(zip(d.bodies, d.poses(q), strict=True))
    for k, foothold in enumerate(feet):
        before, here, after = (seen(d, d.integrate(q, v * t + a * t**2 / 2, 1.0), foothold) for t in (-h, 0.0, h))
        R = poses[foothold.on][:3, :3]
        scale = 1.0 + np.abs(second).max()
        np.testing.assert_allclose(R.T @ rates[k], (after - before) / (2 * h), atol=1e-6 * scale)
        np.testing.assert_allclose(R.T @ second[k], (after - 2 * here + before) / h**2, atol=1e-5 * scale)
        normal = np.array(foothold.normal) / np.linalg.norm(foothold.normal)
        np.testing.assert_allclose(now.axes[k] @ R @ normal, [1, 0, 0], atol=1e-12)


def test_what_carries_bears_the_opposite():
    """A cart that rolls freely: plans are motions under their torques and pairs of forces; its momentum stays."""
    _, simulation = walker(lambda t: joints.prismatic("x"))
    d, rng = simulation.dynamics, np.random.default_rng(1)
    drives = d.velocity_coordinates[7:]
    law = balance(d, rd.pose((0.1, 0, HEIGHT)), actuated=drives)
    q, v = d.integrate(simulation.q, 0.05 * rng.normal(size=d.nv), 1.0), 0.2 * rng.normal(size=d.nv)
    law(q, v, 0.0)
    plan = law.plan
    pushes, X = np.zeros(d.nv), dict(zip(d.bodies, d.poses(q), strict=True))
    for foothold, force in zip(law.footholds, plan.forces, strict=True):
        there = np.linalg.inv(X["table"]) @ X[foothold.body] @ [*foothold.point, 1.0]
        pushes += d.jacobian(q, foothold.body, foothold.point)[3:].T @ force
        pushes -= d.jacobian(q, "table", there[:3])[3:].T @ force
    moved = d.forward_dynamics(q, v, plan.tau + d.passive_forces(q, v) + pushes)
    np.testing.assert_allclose(moved, plan.a, atol=1e-6 * np.abs(plan.a).max())
    h = 1e-5
    after, before = (d.momentum(d.integrate(q, v * t + plan.a * t**2 / 2, 1.0), v + plan.a * t) for t in (h, -h))
    assert abs((after - before)[3]) / (2 * h) < 1e-5 * np.abs(plan.forces).sum()
    assert abs(plan.a[0]) > 0.1


def slid(t):
    return 0.05 * (1 - sp.cos(6 * t))


def by_time(t):
    pose = sp.eye(4)
    pose[0, 3] = slid(t)
    return joints.Joint(pose, ())


@pytest.mark.slow
@pytest.mark.parametrize("form", ["time", "prescription"])
def test_feet_keep_their_places_on_a_table_that_is_shaken(form):
    """At 1.8 m/s^2 sideways, within friction: the trunk is where the table has it, where it was 78 mm off."""
    led = None if form == "time" else ("distance", slid)
    scene, simulation = walker(by_time if form == "time" else lambda t: joints.prismatic("x"), led)
    law = balance(simulation.dynamics, lambda t: rd.pose((0.05 * (1 - np.cos(6 * t)), 0, HEIGHT)))
    simulation.control, off = law, []
    with PyBulletMirror(scene, simulation, ground=False) as mirror:
        for _ in range(120):
            mirror.step()
            assert law.feasible
            poses = dict(zip(simulation.dynamics.bodies, simulation.dynamics.poses(simulation.q), strict=True))
            off += [poses[name][0, 3] - poses["table"][0, 3] - x for name, x in (("trunk", 0.0), ("front", 0.3))]
        found = control.touching(simulation)
    assert np.abs(off).max() < 2e-5
    assert len(found) > 4 and {foothold.on for foothold in found} == {"table"}


def turning(t):
    lean, spin = 0.1 * (1 - sp.cos(4 * t)), 0.25 * (1 - sp.cos(5 * t))
    return sp.diag(sp.rot_axis1(-lean) * sp.rot_axis3(-spin), 1)


@pytest.mark.slow
def test_feet_keep_their_places_on_a_table_that_turns_and_tilts():
    """0.5 rad to and fro about z, 0.1 rad about x, by normals that turn with it."""
    scene, simulation = walker(lambda t: joints.Joint(turning(t), ()))
    d = simulation.dynamics

    def pose(t):
        return np.array(turning(t), dtype=float) @ rd.pose((0, 0, HEIGHT))

    simulation.control, worst = balance(d, pose), 0.0
    feet = simulation.control.footholds
    start = [seen(d, simulation.q, foothold) for foothold in feet]
    with PyBulletMirror(scene, simulation, ground=False) as mirror:
        for _ in range(240):
            mirror.step()
            now = [seen(d, simulation.q, foothold) for foothold in feet]
            worst = max(worst, np.abs(np.subtract(now, start)).max())
        for foothold in control.touching(simulation):
            np.testing.assert_allclose(foothold.normal, [0, 0, 1], atol=1e-6)
    assert worst < 2e-4


def test_nothing_stands_on_itself_or_on_nobody():
    d = TREE.dynamics()
    own = Footholds(d)
    name = d.bodies[0]
    with pytest.raises(rd.ModelError, match="is on itself"):
        own.assign([control.Foothold(name, on=name)])
    with pytest.raises(rd.ModelError, match="ghost"):
        own.assign([control.Foothold(name, on="ghost")])
    assert own.given == ()
