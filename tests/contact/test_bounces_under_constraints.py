"""Bounces of what constraints hold together: energies, momenta, and what is given back."""

from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp
from contact_scenes import G, energy

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

RULES = ("linearly_implicit_rk4", "rk4", "implicit_midpoint", "variational_midpoint")
H = 1 / 60
Start = Callable[[rd.Simulation], None]


def material(restitution: float = 1.0) -> rd.Material:
    return rd.Material(friction=0.0, restitution=restitution)


def shown(scene: Scene, start: Start, h: float, rule: str = RULES[0]) -> tuple[rd.Simulation, PyBulletMirror]:
    """However slow, what meets bounces."""
    sim = rd.Simulation(scene.compile(), h, rule)
    start(sim)
    sim.contact.restitution_threshold = 0.0
    return sim, PyBulletMirror(scene, sim, gui=False, ground=False)


def crank() -> tuple[Scene, Start]:
    """A slider that its crank and rod drive against a wall, by their weight."""
    scene = Scene()
    scene.world.shapes.append(shapes.Box((0.2, 2, 2), at=rd.pose((0.85, 0, 0)), material=material()))
    arm = Body("arm", mass=1.0, center_of_mass=(0.15, 0, 0), inertia=0.01 * np.eye(3))
    rod = Body("rod", mass=0.7, center_of_mass=(0.25, 0, 0), inertia=0.02 * np.eye(3))
    slider = Body("slider", [shapes.Sphere(0.1, material=material())], mass=0.5)
    scene.world.attach(arm, joints.revolute("y"))
    arm.attach(rod, joints.revolute("y"), at=rd.pose((0.3, 0, 0)))
    scene.world.attach(slider, joints.prismatic("x"))
    scene.pin(rod, slider, (0.5, 0, 0))

    def start(sim: rd.Simulation) -> None:
        lean = np.arcsin(-0.6 * np.sin(2.7))
        sim.q[:] = 2.7, lean - 2.7, 0.3 * np.cos(2.7) + 0.5 * np.cos(lean)

    return scene, start


def four_bar() -> tuple[Scene, Start]:
    """On the world, with a foot on its coupler, over the floor."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=material()))
    foot = shapes.Sphere(0.08, at=rd.pose((0.35, 0, -0.35)), material=material())
    one = Body("one", mass=0.6, center_of_mass=(0.2, 0, 0), inertia=0.01 * np.eye(3))
    middle = Body("middle", [foot], mass=1.0, center_of_mass=(0.25, 0, -0.1), inertia=0.03 * np.eye(3))
    other = Body("other", mass=0.6, center_of_mass=(0.25, 0, 0), inertia=0.01 * np.eye(3))
    scene.world.attach(one, joints.revolute("y"), at=rd.pose((0, 0, 0.7)))
    one.attach(middle, joints.revolute("y"), at=rd.pose((0.4, 0, 0)))
    scene.world.attach(other, joints.revolute("y"), at=rd.pose((0.6, 0, 0.7)))
    scene.pin(middle, other, (0.5, 0, 0), (0.5, 0, 0))

    def start(sim: rd.Simulation) -> None:
        elbow = 0.4 * np.array([np.cos(1.0), np.sin(1.0)])
        reach = np.array([0.6, 0.0]) - elbow
        across = np.array([-reach[1], reach[0]]) / np.hypot(*reach)
        far = elbow + 0.5 * reach + np.sqrt(0.25 - 0.25 * reach @ reach) * across
        lean = -np.arctan2(*(far - elbow)[::-1])
        sim.q[:] = -1.0, lean + 1.0, -np.arctan2(far[1], far[0] - 0.6)

    return scene, start


def afloat(kind: str, seed: int) -> tuple[Scene, Start]:
    """Bodies over the floor, tied by pins, welds or distances, thrown."""
    random, scene, count = np.random.default_rng(seed), Scene(), {"doll": 5}.get(kind, 2)
    scene.world.shapes.append(shapes.Plane(material=material()))
    trunk = Body("trunk", [shapes.Box((0.4, 0.3, 0.2), material=material())], mass=1.5)
    scene.world.attach(trunk, joints.free(), at=rd.pose((0, 0, 1.5)))
    bodies = [trunk]
    for k in range(count - 1):
        x, y = 0.2 - 0.4 * (k & 1), 0.15 - 0.15 * (k & 2)
        limb = Body(f"limb{k}", [shapes.Capsule(0.06, 0.3, material=material())], mass=0.7)
        scene.world.attach(limb, joints.free(), at=rd.pose((x, y, 1.25)))
        bodies.append(limb)
        if kind == "weld":
            scene.weld(trunk, limb, rd.pose((x, y, -0.25)))
        elif kind == "rod":
            scene.distance(trunk, limb, float(np.sqrt(0.125)), point_b=(0, 0, 0))
        else:
            scene.pin(trunk, limb, (x, y, 0), (0, 0, 0.25))
    scene.let_pass(bodies)
    v = random.normal(size=6 * count)

    def start(sim: rd.Simulation) -> None:
        sim.v[:] = v

    return scene, start


SCENES: dict[str, Callable[[int], tuple[Scene, Start]]] = {
    "crank": lambda seed: crank(),
    "four-bar": lambda seed: four_bar(),
    "pin": lambda seed: afloat("pin", seed),
    "weld": lambda seed: afloat("weld", seed),
    "rod": lambda seed: afloat("rod", seed),
    "doll": lambda seed: afloat("doll", seed),
}


def lost_in_bounces(name: str, rule: str, h: float, seconds: float, seed: int = 0) -> tuple[float, int]:
    """(share of energy that came or went in steps in which something bounced, how many there were)."""
    scene, start = SCENES[name](seed)
    sim, mirror = shown(scene, start, h, rule)
    total, bounces = 0.0, 0
    with mirror:
        mirror.step()
        first = before = energy(sim)
        for _ in range(round(seconds / h)):
            mirror.step()
            now = energy(sim)
            if len(sim.contacts) and np.abs(sim.contacts.impulse).max() > 0.0:
                total, bounces = total + abs(now - before), bounces + 1
            before = now
    return total / max(abs(first), 1.0), bounces


@pytest.mark.parametrize("rule", RULES[1:])
def test_a_crank_at_a_wall_keeps_its_energy(rule):
    """From 0.02 to 0.05 % were lost in every bounce."""
    lost, bounces = lost_in_bounces("crank", rule, H, 10.0)
    assert bounces > 8
    assert lost < 2e-4


@pytest.mark.parametrize("name", ["four-bar", "pin"])
def test_bounces_keep_their_energy(name):
    lost, bounces = lost_in_bounces(name, RULES[0], 1 / 240, 2.0)
    assert bounces > 0
    assert lost < 2e-5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "pin", "weld", "rod", "doll"])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("seed", range(2))
def test_all_bounces_keep_their_energy(name, h, seed):
    lost, bounces = lost_in_bounces(name, RULES[0], h, 6.0, seed)
    assert bounces > 0
    assert lost < 1e-4


def centred_cradle() -> Scene:
    """Newton's: five balls that move on circles about 1 m above them, and have their origins in their centres."""
    scene, t = Scene(), sp.Symbol("t", real=True)
    c, s = sp.cos(t), sp.sin(t)
    circle = sp.Matrix([[c, 0, s, -s], [0, 1, 0, 0], [-s, 0, c, -c], [0, 0, 0, 1]])
    for k in range(5):
        ball = Body(f"b{k}", [shapes.Sphere(0.1, material=material())], mass=1.0, inertia=0.004 * np.eye(3))
        scene.world.attach(ball, joints.Joint(circle, [t]), at=rd.pose((0.2 * k, 0, 2)))
    return scene


def swung(h: float, seconds: float) -> np.ndarray:
    """Energies of a cradle between free bodies, as a share of that of its first ball: of velocities half a step before
    and half a step after positions."""
    scene = centred_cradle()
    sim = rd.Simulation(scene.compile("velocity_constraints"), h)
    sim.place("b0", rd.pose((-np.sin(0.5), 0, 2 - np.cos(0.5)), (0, 0.5, 0)), velocity=np.zeros(6))
    sim.contact.restitution_threshold = 0.0
    d, energies, kinetic, calm = sim.dynamics, [], [], []
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        for _ in range(round(seconds / h)):
            mirror.step()
            kinetic.append(float(d.kinetic_energy(sim.q, sim.v)))
            energies.append(float(d.potential_energy(sim.q)))
            calm.append(not (len(sim.contacts) and np.abs(sim.contacts.impulse).max() > 0.0))
    T, U, still = np.array(kinetic), np.array(energies), np.array(calm)
    E = (U[:-1] + 0.5 * (T[:-1] + T[1:]))[still[:-1] & still[1:]]
    return (E - E[3]) / (G * (1 - np.cos(0.5)))


def test_a_cradle_between_free_bodies_keeps_its_energy():
    """It won 4 % in 10 s: velocities across the joints were those of another place."""
    assert np.abs(swung(H, 10.0)).max() < 3e-3


def test_what_whirls_on_joints_between_free_bodies_keeps_its_momentum():
    """Along a smooth floor: what bounces were longer by lay along axes that had turned, and gave 0.07 N s."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=material()))
    trunk = Body("trunk", [shapes.Box((0.4, 0.3, 0.2), material=material())], mass=1.5)
    limbs = [Body(f"limb{k}", [shapes.Capsule(0.06, 0.3, material=material())], mass=0.7) for k in range(2)]
    scene.world.attach(trunk, joints.free(), at=rd.pose((0, 0, 0.8)))
    for k, limb in enumerate(limbs):
        trunk.attach(limb, joints.ball(), at=rd.pose((0.2 - 0.4 * k, 0, -0.25)))
    scene.let_pass([trunk, *limbs])
    sim = rd.Simulation(scene.compile("velocity_constraints"), H)
    sim.place("trunk", velocity=np.array([8.0, -5.0, 2.0, 1.0, 0.5, -4.0]))
    sim.contact.restitution_threshold, struck = 0.0, 0
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step()
        before = sim.dynamics.momentum(sim.q, sim.v)
        for _ in range(80):
            mirror.step()
            struck += bool(len(sim.contacts)) and np.abs(sim.contacts.impulse).max() > 0.0
        after = sim.dynamics.momentum(sim.q, sim.v)
    assert struck
    np.testing.assert_allclose(after[3:5], before[3:5], atol=1e-10)


def thrown(kind: str, restitution: float, aside: float) -> tuple[Scene, Start]:
    """Two pairs of bodies that are tied together, on their way to each other, without gravity."""
    scene = Scene(gravity=(0, 0, 0))
    for i, x in enumerate((-0.6, 0.6)):
        out = -0.5 + i
        near = Body(f"near{i}", [shapes.Sphere(0.2, material=material(restitution))], mass=1.0)
        far = Body(f"far{i}", [shapes.Sphere(0.1, material=material(restitution))], mass=0.7)
        scene.world.attach(near, joints.free(), at=rd.pose((x, i * aside, 0)))
        scene.world.attach(far, joints.free(), at=rd.pose((x + out, i * aside, 0)))
        if kind == "weld":
            scene.weld(near, far, rd.pose((out, 0, 0)))
        else:
            scene.pin(near, far, (0.5 * out, 0, 0), (-0.5 * out, 0, 0))

    def start(sim: rd.Simulation) -> None:
        sim.v[3::6] = 1.0, 1.0, -1.0, -1.0

    return scene, start


@pytest.mark.parametrize("kind", ["pin", "weld"])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_pairs_that_meet_aside_keep_their_momentum(kind, h):
    """Turning as they come: impulses that move positions along axes that turn took up to 1e-3 N s."""
    scene, start = thrown(kind, 1.0, 0.15)
    sim, mirror = shown(scene, start, h, "variational_midpoint")
    sim.v[:3], sim.v[12:15] = (0.5, 2.0, 1.5), (1.0, -1.5, 2.0)
    struck = False
    with mirror:
        mirror.step()  # which brings velocities onto constraints
        before = sim.dynamics.momentum(sim.q, sim.v)
        while not struck:
            mirror.step()
            struck = bool(len(sim.contacts)) and np.abs(sim.contacts.impulse).max() > 0.0
        after = sim.dynamics.momentum(sim.q, sim.v)
    np.testing.assert_allclose(after[3:], before[3:], atol=1e-8)


@pytest.mark.parametrize("kind", ["pin", "weld"])
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_pairs_that_meet_give_back_what_they_are_to(kind, restitution):
    """Head on, along the line on which each lies, as one body would."""
    scene, start = thrown(kind, restitution, 0.0)
    sim, mirror = shown(scene, start, H)
    with mirror:
        mirror.step(60)
    np.testing.assert_allclose(sim.v[3::6], restitution * np.array([-1.0, -1.0, 1.0, 1.0]), atol=1e-9)
