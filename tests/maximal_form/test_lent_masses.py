"""Bodies without inertia of their own move in maximal coordinates by what neighbours lend them, exactly as they do in
joint coordinates."""

import numpy as np
import pytest
from formulations import EACH, rod, runs_beside
from trees import assert_close, random_body

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, rpy: tuple[float, ...] = (0.0, 0.0, 0.0)) -> np.ndarray:
    return rd.pose((x, y, z), rpy)


def energy(sim: rd.Simulation) -> float:
    return float(sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q))


def bead(name: str, mass: float = 1.0) -> Body:
    """A point mass at the end of a rod without any."""
    return Body(name, mass=mass, center_of_mass=(0.4, 0, 0), inertia=np.zeros((3, 3)))


def pendulum() -> Scene:
    """Three point masses on hinges behind each other, off all axes."""
    scene, node = Scene(), None
    for k in range(3):
        place = at(0.4) if node else at(0.1, 0.2, 0.3, (0.2, -0.1, 0.4))
        node = (node or scene.world).attach(bead(f"bead{k}", 1.0 + k), joints.revolute("y"), at=place)
    return scene


def crosses() -> Scene:
    """A universal joint of two hinges, a hinge and a slide, and a slide on the world, with nothing between each."""
    scene, rng = Scene(), np.random.default_rng(4)
    first = scene.world.attach(random_body(rng, "first"), joints.free())
    cross = first.attach(Body("cross"), joints.revolute("x"), at=at(0.4, 0.1, 0.2, (0.1, 0.2, 0.3)))
    second = cross.attach(random_body(rng, "second"), joints.revolute("y", damping=0.1))
    slide = second.attach(Body("slide"), joints.prismatic("z"), at=at(0, 0.3, 0))
    slide.attach(random_body(rng, "third"), joints.revolute("z", stiffness=2.0), at=at(0.1))
    cart = scene.world.attach(Body("cart"), joints.prismatic("x"), at=at(2.0))
    cart.attach(rod("bob"), joints.revolute("y"))
    return scene


def driven() -> Scene:
    """A crank of no mass in time, and a point mass whose place and weight are parameters."""
    scene = Scene()
    length, weight, t = scene.parameter("length", 0.3), scene.parameter("weight", 1.0), scene.time
    crank = scene.world.attach(Body("crank"), joints.revolute("y").driven(2 * t))
    arm = crank.attach(rod("arm"), joints.revolute("x"), at=at(0.4))
    tip = Body("tip", mass=weight, center_of_mass=(length, 0, 0), inertia=np.zeros((3, 3)))
    arm.attach(tip, joints.revolute("z"), at=at(0.5))
    return scene


@pytest.mark.parametrize("build", [pendulum, crosses, driven])
def test_they_accelerate_as_in_joint_coordinates(build) -> None:
    """And what is told of energies, momenta and the centre of mass is that of the bodies as they are."""
    scene, rng = build(), np.random.default_rng(1)
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    if "weight" in reduced.parameters:
        for name, value in (("weight", 1.3), ("length", 0.2)):
            reduced.parameters[name] = d.parameters[name] = value
    q, v = np.array([reduced.random(rng) for _ in range(3)]), rng.normal(size=(3, reduced.nv))
    if reduced.model.clock is not None:
        v[:, reduced.model.clock[1]] = 1.0
    Q, V = d.from_reduced(q, v)
    tau, external = rng.normal(size=v.shape), rng.normal(size=(3, len(d.bodies), 6))
    a = reduced.accelerations(q, v, reduced.forward_dynamics(q, v, tau, external))
    A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q), external)
    assert_close(d.accelerations(Q, V, A), a, 1e-10)
    for name in ("kinetic_energy", "momentum"):
        assert_close(getattr(d, name)(Q, V), getattr(reduced, name)(q, v), 1e-12)
    for name in ("potential_energy", "center_of_mass"):
        assert_close(getattr(d, name)(Q), getattr(reduced, name)(q), 1e-12)


@pytest.mark.parametrize("build", [pendulum, pytest.param(crosses, marks=pytest.mark.slow)])
@EACH
def test_they_move_as_in_joint_coordinates(build, method: str, integrator: str) -> None:
    """To the first order of the timestep."""
    _, _, off = runs_beside(build(), method, integrator)
    assert off[1] < 0.7 * off[0] < 0.02


def test_what_floats_keeps_the_momentum_of_what_it_was_lent() -> None:
    """To rounding; that of the bodies as they are differs by what they miss of their joints' rates, of first order."""
    scene, off = crosses(), []
    scene.gravity = (0.0, 0.0, 0.0)
    scene["cart"].detach()
    d = scene.compile("velocity_constraints")
    for rate in (240, 480):
        sim = rd.Simulation(d, 1 / rate)
        sim.q, sim.v = d.from_reduced(d.reduced.neutral(), np.random.default_rng(2).normal(size=d.reduced.nv))
        before, carried = d.momentum(sim.q, sim.v), lent_momentum(sim)
        assert_close(carried, before[3:], 1e-12)
        sim.step(rate // 4)
        assert_close(lent_momentum(sim), carried, 1e-11)
        off.append(np.abs(d.momentum(sim.q, sim.v) - before).max())
    assert off[1] < 0.6 * off[0] < 1e-3


def lent_momentum(sim: rd.Simulation) -> np.ndarray:
    """Linear momentum (3,) of the masses that bodies are moved by."""
    d, n = sim.dynamics, len(sim.dynamics.inertias)
    own = np.einsum("nij,nj->ni", d.inertias, sim.v[: 6 * n].reshape(n, 6))[:, 3:]
    return np.einsum("nij,nj->i", d.poses(sim.q)[:n, :3, :3], own)


def test_they_are_touched_as_in_joint_coordinates() -> None:
    """A hand that is a point mass in a ball, between two hinges, falls on the ground and stays there."""
    lowest = []
    for method in ("velocity_constraints", "recursive"):
        scene = Scene()
        scene.world.shapes.append(shapes.Plane())
        arm = scene.world.attach(rod("arm"), joints.revolute("y", damping=0.2), at=at(z=0.3))
        ball = Body("hand", [shapes.Sphere(0.05)], mass=0.1, inertia=np.zeros((3, 3)))
        hand = arm.attach(ball, joints.revolute("y", damping=0.1), at=at(0.5))
        hand.attach(rod("finger"), joints.revolute("x", damping=1.0))
        with PyBulletMirror(scene, rd.Simulation(scene.compile(method), 1 / 240), gui=False) as shown:
            energies = [energy(shown.sim)]
            for _ in range(300):
                shown.step()
                energies.append(energy(shown.sim))
            assert {"hand"} == {c.body_a for c in shown.contacts} and np.diff(energies).max() < 1e-3
            lowest.append(shown.sim.dynamics.center_of_mass(shown.sim.q))
    assert np.abs(lowest[0] - lowest[1]).max() < 3e-3  # of 0.3 m that it fell, at 1/240 s
