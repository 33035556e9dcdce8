"""What has joints, flies free and hits things wins no energy by that, however long a step is and however few its parts.

Before, positions were moved by impulses that turned limbs by a radian, and M with them, and energy became what it
became: of these runs some with one part a step ended with 7000 times of what they began with, others with a StateError.
"""

from __future__ import annotations

import numpy as np
import pytest
from contact_scenes import at, energy, mirror, put, set_twist

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

DEFAULT, MIDPOINT = "linearly_implicit_rk4", "implicit_midpoint"
MOST = {DEFAULT: 4e-3, MIDPOINT: 1.5e-2}  # of the energy at the start, in a step: flights by the latter miss as much
SOLVES = ((1 / 30, 1), (1 / 30, 4), (1 / 30, 16), (1 / 60, 1), (1 / 60, 4), (1 / 60, 16))  # steps, parts of each
MATERIALS = ((0.0, 0.5), (0.5, 0.5), (0.9, 0.0), (1.0, 0.0), (0.9, 0.5), (1.0, 0.0))  # restitution, friction


def limb(name: str, material: rd.Material, mass: float) -> Body:
    return Body(name, [shapes.Capsule(0.03, 0.1, material=material, at=rd.pose((0, 0, 0.08)))], mass=mass)


def chain(scene: Scene, name: str, links: int, material: rd.Material, place: np.ndarray) -> None:
    """A box with so many capsules on ball joints, one after the other."""
    last = put(scene, name, shapes.Box((0.16, 0.12, 0.2), material=material), place, 1.5)
    for j in range(links):
        last = last.attach(limb(f"{name}l{j}", material, 0.2), joints.ball(), at=rd.pose((0, 0, 0.17 if j else 0.12)))


def doll(scene: Scene, name: str, material: rd.Material, place: np.ndarray) -> None:
    """A box with two arms and two legs, with stops and cones."""
    trunk = put(scene, name, shapes.Box((0.16, 0.12, 0.2), material=material), place, 1.5)
    cone = joints.TurnLimits(swing=1.0, twist=(-0.5, 0.5))
    for j in range(4):
        joint = joints.ball(limits=cone) if j % 2 else joints.revolute("y", limits=(-1.2, 0.3))
        side, end = 0.09 * (-1 if j % 2 == 0 else 1), 0.13 * (1 if j < 2 else -1)
        way = rd.pose((side, 0, end), rpy=(0 if j < 2 else np.pi, 0, 0))
        upper = trunk.attach(limb(f"{name}l{j}", material, 0.3), joint, at=way)
        hand = shapes.Sphere(0.04, material=material, at=rd.pose((0, 0, 0.08)))
        lower = Body(f"{name}f{j}", [hand], mass=0.15)
        upper.attach(lower, joints.revolute("y", limits=(-1.5, 0.0)), at=rd.pose((0, 0, 0.18)))


def two(kind: str, place: str, material: rd.Material, random: np.random.Generator) -> Scene:
    """Two of them in a room without gravity, or above the ground, or in free space."""
    scene = Scene(gravity=(0, 0, -9.81 if place == "ground" else 0))
    if place == "ground":
        scene.world.shapes.append(shapes.Plane(material=material))
    for i in range(6 if place == "room" else 0):
        way, size = 1.65 * (-1) ** i * np.eye(3)[i // 2], np.full(3, 3.8)
        size[i // 2] = 0.5
        scene.world.shapes.append(shapes.Box(tuple(size), at=at(*way), material=material))
    for k in range(2):
        x, z = 0.35 * (-1) ** k, 1.2 + 0.5 * k if place == "ground" else 0.0
        pose = at(x, 0.0, z, random.uniform(-1, 1, 3))
        if kind == "doll":
            doll(scene, f"t{k}", material, pose)
        else:
            chain(scene, f"t{k}", int(kind), material, pose)
    return scene


def throw(sim: rd.Simulation, random: np.random.Generator) -> None:
    """At each other, spinning."""
    for k in range(2):
        set_twist(sim, f"t{k}", 4.0 * random.normal(size=3), random.normal(size=3) - [3.0 * (-1) ** k, 0, 2])


@pytest.mark.parametrize("rule", MOST)
@pytest.mark.parametrize("place", ["room", "ground"])
@pytest.mark.parametrize("kind", ["2", "3", "6", pytest.param("doll", marks=pytest.mark.slow)])
def test_no_step_wins_energy(kind, place, rule):
    for (h, parts), (restitution, friction) in zip(SOLVES, MATERIALS, strict=True):
        random = np.random.default_rng(0)
        scene = two(kind, place, rd.Material(friction=friction, restitution=restitution), random)
        with mirror(scene, h, rule, ground=False) as shown:
            shown.sim.contact.substeps = parts
            throw(shown.sim, random)
            energies = [energy(shown.sim)]
            for _ in range(round(0.7 / h)):
                shown.step()
                energies.append(energy(shown.sim))
            told = shown.sim.report.unexplained_energy if rule == DEFAULT else 0.0
            rise = np.diff(energies).max() - told
            assert rise < MOST[rule] * energies[0], (h, parts, restitution, friction)
            assert max(energies) - told < (1.0 + 2 * MOST[rule]) * energies[0]


def test_momenta_in_free_space():
    """Chains that hit each other keep them, the one of spin as well as they part straight, though energy is taken."""
    random = np.random.default_rng(4)
    scene = two("3", "space", rd.Material(friction=0.5, restitution=0.5), random)
    with mirror(scene, 1 / 30, DEFAULT, ground=False) as shown:
        sim = shown.sim
        sim.contact.substeps = 1
        throw(sim, random)
        start, before = energy(sim), np.asarray(sim.dynamics.momentum(sim.q, sim.v))
        shown.step(30)
        assert energy(sim) < 0.7 * start  # they did
        after = np.asarray(sim.dynamics.momentum(sim.q, sim.v))
        np.testing.assert_allclose(after[3:], before[3:], atol=1e-12)
        np.testing.assert_allclose(after[:3], before[:3], atol=0.15)
