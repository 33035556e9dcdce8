"""Bodies without inertia behind one another, to which neighbours can lend none, move as in joint coordinates."""

import numpy as np
import pytest
from formulations import rod, runs_beside
from test_joint_step import compared
from trees import assert_close, random_body

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

HERE = rd.pose((0.1, 0.2, 0.3), (0.1, 0.2, 0.3))


def gimbal(last: Body | None = None) -> Scene:
    """Two rings of nothing between a body that floats and one that turns in them."""
    scene, rng = Scene(), np.random.default_rng(3)
    node = scene.world.attach(random_body(rng, "base"), joints.free())
    for k, axis in enumerate("zy"):
        node = node.attach(Body(f"ring{k}"), joints.revolute(axis, damping=0.01), at=HERE)
    node.attach(last or random_body(rng, "end"), joints.revolute("x", stiffness=2.0, limits=(-1, 1)), at=HERE)
    return scene


def table() -> Scene:
    """Three slides of nothing at odd angles, on the world, which carry a body on a ball."""
    scene, node = Scene(), None
    for axis in "xyz":
        node = (node or scene.world).attach(Body(axis), joints.prismatic(axis, damping=0.1), at=HERE)
    node.attach(random_body(np.random.default_rng(3), "bob"), joints.ball(), at=HERE)
    return scene


def linkage() -> Scene:
    """Rings in a loop: what they carry is held at a point, and weighs what a parameter says."""
    scene, rng = Scene(), np.random.default_rng(3)
    weight, node = scene.parameter("R", 1.0), scene.world
    for k, axis in enumerate(((0, 0, 1), (0, 1, 0))):
        node = node.attach(Body(f"ring{k}"), joints.revolute(axis), at=HERE)
    end = Body("end", mass=weight, center_of_mass=(0.1, 0, 0), inertia=np.diag([0.02, 0.03, 0.04]))
    node = node.attach(end, joints.revolute("x"), at=HERE)
    bar = node.attach(random_body(rng, "bar"), joints.ball(), at=HERE)
    scene.constrain(bar.point((0, 0, 0.3))[2] - 0.9, name="held")
    return scene


@pytest.mark.parametrize("build", [gimbal, table, linkage])
def test_they_accelerate_as_in_joint_coordinates(build) -> None:
    """And energies, momenta and the centre of mass are those of the bodies as they are."""
    scene, rng = build(), np.random.default_rng(1)
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    if "R" in reduced.parameters:
        reduced.parameters["R"] = d.parameters["R"] = 1.3
    q, v = np.array([reduced.random(rng) for _ in range(3)]), rng.normal(size=(3, reduced.nv))
    if reduced.constraints:
        q, v = (np.array(x) for x in zip(*(reduced.project(*one) for one in zip(q, v, strict=True)), strict=True))
    Q, V = d.from_reduced(q, v)
    tau, external = rng.normal(size=v.shape), rng.normal(size=(3, len(d.bodies), 6))
    a = reduced.accelerations(q, v, reduced.forward_dynamics(q, v, tau, external))
    A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q), external)
    assert_close(d.accelerations(Q, V, A), a, 1e-11)
    assert_close(d.kinetic_energy(Q, V), reduced.kinetic_energy(q, v), 1e-12)
    assert_close(d.momentum(Q, V), reduced.momentum(q, v), 1e-12)
    assert_close(d.center_of_mass(Q), reduced.center_of_mass(q), 1e-12)


@pytest.mark.parametrize("build", [pytest.param(gimbal, marks=pytest.mark.slow), table])
def test_they_move_as_in_joint_coordinates(build) -> None:
    """To the first order of the timestep."""
    scene = build()
    reduced, rng = scene.compile(), np.random.default_rng(5)
    start = reduced.random(rng), rng.normal(size=reduced.nv)
    _, _, off = runs_beside(scene, "velocity_constraints", None, start=start)
    assert off[1] < 0.6 * off[0] < 2e-3


def test_what_floats_keeps_its_momentum() -> None:
    """To the first order of the timestep, as where all bodies have masses."""
    scene, off = gimbal(), []
    scene.gravity = (0.0, 0.0, 0.0)
    d = scene.compile("velocity_constraints")
    for rate in (240, 480):
        sim = rd.Simulation(d, 1 / rate)
        sim.q, sim.v = d.from_reduced(d.reduced.neutral(), np.random.default_rng(2).normal(size=d.reduced.nv))
        before = d.momentum(sim.q, sim.v)
        sim.step(rate)
        off.append(np.abs(d.momentum(sim.q, sim.v) - before).max())
    assert off[1] < 0.6 * off[0] < 2e-4


def test_steps_are_those_of_the_definition() -> None:
    for scene in (gimbal(), linkage()):
        scene.parameters.setdefault("R", 1.0)
        compared(scene, "velocity_constraints", "semi_implicit_euler", 1e-6)


def test_rotors_turn_them_too() -> None:
    """Where joints have rotors these resist as in joint coordinates."""
    scene, node = Scene(), None
    for k, axis in enumerate("zyx"):
        body = rod("end") if k == 2 else Body(f"ring{k}")
        node = (node or scene.world).attach(body, joints.revolute(axis, armature=0.01 + 0.02 * k), at=HERE)
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    q, v = np.array([0.3, -0.5, 0.2]), np.array([1.0, -2.0, 0.5])
    Q, V = d.from_reduced(q, v)
    A = d.forward_dynamics(Q, V)
    assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, reduced.forward_dynamics(q, v)), 1e-11)


def test_a_gimbal_goes_by_its_singular_position() -> None:
    """Where two of its axes are nearly one a ring has to whip round by half a turn: that gives no energy."""
    scene = Scene(gravity=(0, 0, 0))
    node = scene.world
    for k, axis in enumerate("zyx"):
        node = node.attach(rod("end") if k == 2 else Body(f"ring{k}"), joints.revolute(axis))
    d = scene.compile("velocity_constraints")
    sim = rd.Simulation(d, 1 / 240)
    sim.q, sim.v = d.from_reduced(np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.5, 0.2]))
    first = float(d.kinetic_energy(sim.q, sim.v))
    for _ in range(240):
        sim.step()
        assert float(d.kinetic_energy(sim.q, sim.v)) < 1.001 * first
    assert sim.joint_coordinates[1] > np.pi / 2
    assert np.abs(d.joint_errors(sim.q, near=sim.joint_coordinates)[0]).max() < 1e-5


def test_they_are_touched_as_in_joint_coordinates() -> None:
    """What hangs in a gimbal on the world falls on the ground and lies there."""
    ends = []
    for method in ("velocity_constraints", "recursive"):
        scene = Scene()
        scene.world.shapes.append(shapes.Plane())
        node = scene.world
        for k, axis in enumerate("zy"):
            damped = joints.revolute(axis, damping=0.1)
            node = node.attach(Body(f"ring{k}"), damped, at=rd.pose((0, 0, 0.3 * (k == 0))))
        bob = Body("bob", [shapes.Sphere(0.1, at=rd.pose((0.5, 0, 0)))], mass=1.0)
        node.attach(bob, joints.revolute("x", damping=0.1))
        sim = rd.Simulation(scene.compile(method), 1 / 240)
        with PyBulletMirror(scene, sim, gui=False) as shown:
            for _ in range(300):
                shown.step()
            assert {"bob"} == {c.body_a for c in shown.contacts}
            ends.append(sim.dynamics.center_of_mass(sim.q))
    assert np.abs(ends[0] - ends[1]).max() < 3e-3  # of 0.2 m that it fell, at 1/240 s


def test_what_springs_are_to_hold_is_refused_by_name() -> None:
    with pytest.raises(rd.ModelError, match=r"body 'ring0' .* springs cannot hold"):
        gimbal().compile("penalty")


def test_what_joints_put_nothing_upon_is_refused_by_name() -> None:
    """A ring that turns about the axis on which all lies that it carries."""
    scene, node = Scene(), None
    for k in range(2):
        node = (node or scene.world).attach(Body(f"ring{k}"), joints.revolute("zx"[k]))
    node.attach(Body("end", mass=1.0, center_of_mass=(0.3, 0, 0), inertia=np.zeros((3, 3))), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match=r"body '(ring1|end)' has no mass, or no moment of inertia, of its own"):
        scene.compile("velocity_constraints")
