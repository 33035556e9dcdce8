"""Rings that hang in each other hold, and what lies in a ring rests: along a circle no place is nearest for long."""

import itertools
import math

import numpy as np
import pytest
from contact_scenes import energy, mirror, position, put, set_twist, twist

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

MAJOR, MINOR = 0.1, 0.015
AROUND = np.linspace(0.0, 2.0 * math.pi, 240, endpoint=False)
HERE = np.eye(4)
UPRIGHT, TURNED = (math.pi / 2, 0.0, 0.0), (math.pi / 2, 0.0, math.pi / 2)


def ring(material: rd.Material, at: np.ndarray = HERE) -> shapes.Torus:
    return shapes.Torus(MAJOR, MINOR, at=at, material=material)


def chain(masses, friction: float = 0.0) -> Scene:
    """Rings of these masses that hang in each other, the first one in one that is fixed 2 m above the ground."""
    scene, material = Scene(), rd.Material(friction=friction)
    scene.world.shapes.append(ring(material, rd.pose((0, 0, 2), rpy=UPRIGHT)))
    for k, mass in enumerate(masses):
        place = rd.pose((0, 0, 2 - 2 * (MAJOR - MINOR) * (k + 1)), rpy=TURNED if k % 2 == 0 else UPRIGHT)
        put(scene, f"ring {k}", ring(material), place, mass)
    return scene


def overlap(poses) -> float:
    """How deep the tubes of neighbours in a chain are in each other at most, m."""
    deepest = -math.inf
    for upper, lower in itertools.pairwise(poses):
        x = lower[:3, 3] + MAJOR * (np.cos(AROUND)[:, None] * lower[:3, 0] + np.sin(AROUND)[:, None] * lower[:3, 1])
        own = (x - upper[:3, 3]) @ upper[:3, :3]
        deepest = max(deepest, 2 * MINOR - np.hypot(np.hypot(own[:, 0], own[:, 1]) - MAJOR, own[:, 2]).min())
    return deepest


def deepest_overlap(shown, seconds: float) -> float:
    sim, fixed, deepest = shown.sim, rd.pose((0, 0, 2), rpy=UPRIGHT), 0.0
    for _ in range(round(seconds / sim.timestep)):
        shown.step()
        deepest = max(deepest, overlap([fixed, *sim.frames()[0]]))
    return deepest


@pytest.mark.slow
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize(("spin", "masses"), [(5.0, (0.3, 5.0)), (10.0, (0.3, 5.0)), (10.0, (0.3, 20.0))])
def test_hooked_rings_hold_what_turns_in_them(spin, masses, h):
    """0.3 kg between two rings that twist it, without friction: it was left by what pressed 35 mm beside."""
    with mirror(chain(masses), h, ground=False) as shown:
        set_twist(shown.sim, "ring 1", (0, 0, spin), (0.1, 0.05, 0))
        assert deepest_overlap(shown, 3.0) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_chain_of_rings_holds_its_load(h):
    with mirror(chain((0.3, 0.3, 0.3, 0.3, 20.0), friction=0.5), h, ground=False) as shown:
        rng = np.random.default_rng(0)
        for k in range(5):
            set_twist(shown.sim, f"ring {k}", (0, 0, rng.normal()), (0.2 * (k + 1), 0.08 * (k + 1), 0))
        assert deepest_overlap(shown, 4.0) < 2e-3


def test_a_ring_spins_on_in_another_without_friction():
    """About its own axis, which no contact has a moment about."""
    with mirror(chain((0.3,)), ground=False) as shown:
        set_twist(shown.sim, "ring 0", (20.0, 0, 0), (0, 0, 0))
        shown.step(240)
        assert twist(shown.sim)[0] == pytest.approx(20.0, rel=1e-9)


LAID = {
    "ball": (shapes.Sphere, (0.13,), 0.0),
    "capsule": (shapes.Capsule, (0.13, 0.1), 0.05),
    "ellipsoid": (shapes.Ellipsoid, ((0.13, 0.13, 0.13),), 0.0),
}


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize(("name", "friction"), [*((name, 0.5) for name in LAID), ("ball", 0.0), ("ellipsoid", 0.0)])
def test_what_is_laid_in_the_hole_of_a_ring_rests(name, friction, h):
    """2 kg; what pressed at its nearest place alone, on either side in turn, kept 8 mJ for ever at 1/60 s. (The capsule
    would fall over without friction.)"""
    (kind, sizes, above), material = LAID[name], rd.Material(friction=friction)
    scene = Scene()
    scene.world.shapes.append(shapes.Torus(0.12, 0.03, material=material))
    put(scene, "laid", kind(*sizes, material=material), rd.pose((0, 0, math.sqrt(0.16**2 - 0.12**2) + above)), 2.0)
    with mirror(scene, h, ground=False) as shown:
        start = position(shown.sim)
        for _ in range(round(2 / h)):
            shown.step()
            assert shown.sim.dynamics.kinetic_energy(shown.sim.q, shown.sim.v) < 1e-6
        np.testing.assert_allclose(position(shown.sim), start, atol=3e-5)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_ring_laid_on_a_ball_rests(h):
    scene, material = Scene(), rd.Material(friction=0.5)
    scene.world.shapes.append(shapes.Sphere(0.1, material=material))
    put(scene, "ring", shapes.Torus(0.06, 0.02, material=material), rd.pose((0, 0, math.sqrt(0.12**2 - 0.06**2))))
    with mirror(scene, h, ground=False) as shown:
        shown.step(round(3 / h))
        assert shown.sim.dynamics.kinetic_energy(shown.sim.q, shown.sim.v) < 1e-9


@pytest.mark.parametrize(("h", "within"), [(1 / 60, 0.05), (1 / 240, 0.01)])
@pytest.mark.parametrize(("major", "minor", "radius"), [(0.8, 0.2, 0.75), (0.5, 0.3, 0.35)])
def test_a_ball_rocks_on_in_a_ring(major, minor, radius, h, within):
    """Its centre of mass is 0.1 m below its middle; without friction it swings about that."""
    scene, material, low, released = Scene(), rd.Material(friction=0.0), 0.1, 0.4
    scene.world.shapes.append(shapes.Torus(major, minor, material=material))
    ball = shapes.Sphere(radius, at=rd.pose((0, 0, low)), material=material)
    body = Body("ball", [ball], mass=2.0, center_of_mass=(0, 0, 0), inertia=0.1 * np.eye(3))
    height = math.sqrt((radius + minor) ** 2 - major**2) - low * math.cos(released)
    place = rd.pose((-low * math.sin(released), 0, height), rpy=(0, released, 0))
    scene.world.attach(body, joints.free(), at=place)
    with mirror(scene, h, ground=False) as shown:
        before, tilts = energy(shown.sim), []
        shown.step(round(4.5 / h))
        for _ in range(round(1.5 / h)):
            shown.step()
            tilts.append(math.acos(min(1.0, shown.sim.frames()[0][0, 2, 2])))
        assert max(tilts) == pytest.approx(released, rel=within)
        assert energy(shown.sim) < before + 1e-9


@pytest.mark.parametrize(("major", "minor"), [(0.3, 0.1), (0.03, 0.01), (0.01, 0.003)])
def test_rings_roll_down_a_cap_as_on_paper(major, minor):
    """What is told beside the nearest place holds none back, however small they are: g sin(a) / (1 + I / (m r^2))."""
    slope, scene, material = math.radians(10.0), Scene(), rd.Material(friction=0.8)
    tilt, shape = rd.pose(rpy=(0, slope, 0)), shapes.Torus(major, minor, material=material)
    cap = shapes.Cylinder(20.0, 1.0, at=tilt @ rd.pose((0, 0, -0.5)), material=material)
    scene.world.shapes.append(cap)
    place = tilt @ rd.pose((-3.0, 0.013, major + minor), rpy=UPRIGHT)
    put(scene, "ring", shape, place, 2.0)
    own = shape.mass_properties(1.0)
    expected = 9.81 * math.sin(slope) / (1.0 + own.inertia[2, 2] / own.mass / (major + minor) ** 2)
    with mirror(scene, ground=False) as shown:
        shown.step(24)
        start = tilt[:3, 0] @ twist(shown.sim)[3:]
        shown.step(96)
        gained = (tilt[:3, 0] @ twist(shown.sim)[3:] - start) / 0.4
    assert gained == pytest.approx(expected, rel=1e-8)
