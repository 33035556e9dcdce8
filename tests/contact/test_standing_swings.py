"""What swings on something that stands, rolls or is held on the ground keeps its energy, as if that were fixed."""

import itertools

import numpy as np
import pytest
from chart_cases import euler
from contact_scenes import energy, mirror

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

INTEGRATORS = ("rk4", "implicit_midpoint", "linearly_implicit_rk4")
ROUGH = rd.Material(1.0)
BLOCK = shapes.Box((0.6, 0.6, 0.2), material=ROUGH)


def standing(joint=None) -> tuple[Scene, Body]:
    """A block of 20 kg that lies on rough ground."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=ROUGH))
    base = Body("base", [BLOCK], mass=20.0)
    scene.world.attach(base, joint or joints.free(), at=rd.pose((0, 0, 0.1)))
    return scene, base


def bob(name: str = "bob") -> Body:
    return Body(name, mass=1.0, center_of_mass=(0, 0, -0.4), inertia=np.diag([0.01, 0.01, 0.002]))


def amplitude(shown, place: int, h: float) -> float:
    """Of a coordinate in the last of eight seconds and a half."""
    shown.step(round(7 / h))
    return max(abs(shown.sim.q[place]) for _ in range(round(1.5 / h)) if shown.step() is None)


@pytest.mark.parametrize("start", [0.5, 1.5])
@pytest.mark.parametrize("integrator, h", [*itertools.product(INTEGRATORS, (1 / 60, 1 / 240))])
def test_a_pendulum_on_a_block(integrator, h, start):
    """It came from 0.5 rad to 0.29 in 8 s at 1/60 s, to 0.44 at 1/240 s."""
    scene, base = standing()
    base.attach(bob(), joints.revolute("x"), at=rd.pose((0.1, 0, 1.0)))
    with mirror(scene, h, integrator) as shown:
        shown.sim.q[-1] = start
        assert amplitude(shown, -1, h) == pytest.approx(start, rel=16.0 * h * h * (1.0 + start))
        assert np.abs(shown.sim.q[:3]).max() < 1e-4


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize("held", ["stop", "friction", "motor", "charts"])
def test_a_pendulum_on_a_mast_that_is_held(held, floats):
    """By a stop, dry friction, a motor, or one of a joint of several charts, on a block that floats or on a slide: from
    0.6 to 0.32 rad at 1/60 s once."""
    h, settings = 1 / 60, {"stop": {"limits": (-1.0, 0.0)}, "friction": {"friction": 100.0}}
    scene, base = standing(None if floats else joints.prismatic("z"))
    mast = Body("mast", mass=2.0, center_of_mass=(0.01, 0, 0.3), inertia=0.02 * np.eye(3))
    joint = euler("xyz", "zxz") if held == "charts" else joints.revolute("y", **settings.get(held, {}))
    base.attach(mast, joint, at=rd.pose((0.2, 0, 0.2)))
    mast.attach(bob(), joints.revolute("x"), at=rd.pose((0.05, 0.1, 0.6)))
    with mirror(scene, h, "linearly_implicit_rk4") as shown:
        if held == "motor":
            shown.sim.motors["mast.angle"] = rd.Motor(position=0.0)
        if held == "charts":
            shown.sim.motors["mast"] = rd.Motor(position=(0.0, 0.0, 0.0), kp=1e6, kd=1e3)
        shown.sim.q[-1] = 0.6
        assert amplitude(shown, -1, h) == pytest.approx(0.6, rel=3e-3)
        assert abs(shown.sim.q[-2]) < 1e-3


@pytest.mark.parametrize("integrator, h", [*itertools.product(INTEGRATORS, (1 / 60, 1 / 240))])
@pytest.mark.parametrize("held", ["gear", "rod"])
def test_two_pendulums_that_constraints_hold_together(held, integrator, h):
    """On a block: from 0.6 to 0.30 rad in 8 s at 1/60 s once, to 0.50 at 1/240 s."""
    scene, base = standing()
    one, two = bob("one"), bob("two")
    for body, y in ((one, -0.2), (two, 0.2)):
        base.attach(body, joints.revolute("x"), at=rd.pose((0, y, 1.0)))
    if held == "gear":
        scene.gear(one.q[0], two.q[0], 1.5)
    else:
        scene.distance(one, two, 0.4, point_a=(0, 0, -0.4), point_b=(0, 0, -0.4))
    with mirror(scene, h, integrator) as shown:
        shown.sim.q[-2:] = 0.6, 0.4 if held == "gear" else 0.6
        assert amplitude(shown, -2, h) == pytest.approx(0.6, rel=16.0 * h * h)
        assert np.abs(shown.sim.q[:3]).max() < 1e-4


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_bob_on_a_ball_joint(h):
    """It goes round and up and down: of 27 J 0.95 went in 8 s at 1/60 s."""
    scene, base = standing()
    base.attach(bob(), joints.ball(), at=rd.pose((0, 0, 1.0)))
    with mirror(scene, h, "linearly_implicit_rk4") as shown:
        shown.sim.q[-4:] = np.sin(0.3), 0, 0, np.cos(0.3)
        shown.sim.v[-3:] = 0, 2.0, 0
        start = energy(shown.sim)
        shown.step(round(8 / h))
        assert energy(shown.sim) == pytest.approx(start, abs=40.0 * h * h + 3e-3)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_bob_goes_round_on_the_cone_of_its_ball_joint(h):
    """Pressed outwards: of 27.7 J 0.5 went in 3 s at 1/60 s, 0.33 at 1/240 s."""
    scene, base = standing()
    base.attach(bob(), joints.ball(limits=joints.TurnLimits(0.4)), at=rd.pose((0, 0, 1.0)))
    with mirror(scene, h, "linearly_implicit_rk4") as shown:
        sim = shown.sim
        sim.q[-4:] = np.sin(0.2), 0, 0, np.cos(0.2)
        sim.v[-3:] = sim.dynamics.poses(sim.q)[-1, :3, :3].T @ (0, 0, 8.0)
        start = energy(sim)
        shown.step(round(3 / h))
        assert energy(sim) == pytest.approx(start, abs=200.0 * h * h + 1e-3)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_pendulum_on_a_cart(h):
    """Four wheels roll at 2 m/s; the pendulum swings across: from 0.6 to 0.24 rad at 1/60 s once."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=ROUGH))
    chassis = Body("chassis", mass=5.0, inertia=np.diag([0.1, 0.2, 0.25]))
    scene.world.attach(chassis, joints.free(), at=rd.pose((0, 0, 0.2)))
    for i, (x, y) in enumerate(itertools.product((-0.4, 0.4), (-0.3, 0.3))):
        wheel = Body(f"wheel{i}", [shapes.Sphere(0.2, material=ROUGH)], mass=0.5)
        chassis.attach(wheel, joints.revolute("y"), at=rd.pose((x, y, 0)))
    chassis.attach(bob(), joints.revolute("x"), at=rd.pose((0, 0, 0.8)))
    with mirror(scene, h, "linearly_implicit_rk4") as shown:
        shown.sim.q[-1] = 0.6
        shown.sim.v[3], shown.sim.v[6:10] = 2.0, 10.0
        assert amplitude(shown, -1, h) == pytest.approx(0.6, rel=2e-3)
        assert shown.sim.v[3] == pytest.approx(2.0, abs=1e-5)


def _length(scene: Scene, body: str, point: np.ndarray) -> tuple[float, np.ndarray]:
    """How far from the origin of the base a point of a body is where a scene starts, and that point."""
    dynamics = scene.compile()
    at = dict(zip(dynamics.bodies, dynamics.poses(dynamics.neutral()), strict=True))
    return float(np.linalg.norm((at[body] @ [*point, 1.0])[:3] - at["base"][:3, 3])), point


@pytest.mark.parametrize("seed, rod", [*((seed, False) for seed in range(6)), (0, True), (1, True), (2, True)])
def test_any_tree_on_a_block_or_a_ball(seed, rod):
    """Random limbs on a block or a ball that stands, slides, rolls and rocks: nothing is won but of second order."""
    random = np.random.default_rng(seed)
    material, round_one = rd.Material(float(random.choice([0.0, 0.3, 1.0]))), bool(random.integers(2))
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=material))
    shape = shapes.Sphere(0.3, material=material) if round_one else shapes.Box((0.5, 0.5, 0.3), material=material)
    base = Body("base", [shape], mass=float(random.uniform(2, 10)))
    scene.world.attach(base, joints.free(), at=rd.pose((0, 0, 0.3 if round_one else 0.15)))
    bodies = [base]
    for i in range(random.integers(1, 5)):
        inertia, center = np.diag(random.uniform(0.01, 0.02, 3)), random.uniform(-0.25, 0.25, 3)
        limb = Body(f"limb{i}", mass=float(random.uniform(0.2, 1.5)), center_of_mass=center, inertia=inertia)
        joint = joints.ball() if random.random() < 0.4 else joints.revolute(str(random.choice(["x", "y", "z"])))
        place = np.add(random.uniform(-0.3, 0.3, 3), (0, 0, 0.2))
        bodies[random.integers(len(bodies))].attach(limb, joint, at=rd.pose(place))
        bodies.append(limb)
    if rod:
        scene.distance(bodies[-1], base, *_length(scene, bodies[-1].name, random.uniform(-0.3, 0.3, 3)))
    with mirror(scene, 1 / 240, "linearly_implicit_rk4") as shown:
        shown.sim.v[6:] = random.normal(size=len(shown.sim.v) - 6) * 2.0
        energies = [energy(shown.sim)]
        for _ in range(480):
            shown.step()
            energies.append(energy(shown.sim))
    rises = np.array(energies) - np.minimum.accumulate(energies)
    assert rises.max() < 2e-3 * energies[0]
