"""Mechanisms of many joints that fall, collide and lie: energy, depth, momentum, pairs that do not meet, materials."""

import numpy as np
import pytest
import sympy as sp
from contact_scenes import INTEGRATORS, G, at, energy, mirror, position, put, set_twist, twist

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

H = 1 / 240


def limb(name: str, length: float = 0.3, **material) -> Body:
    form = shapes.Capsule(0.06, length, at=at(length / 2, rpy=(0, np.pi / 2, 0)), material=rd.Material(**material))
    return Body(name, [form], mass=1.0)


def doll(height: float = 0.8, **material) -> Scene:
    """A trunk with four limbs of two parts on ball joints, hinges and universal joints, all off the straight."""
    scene = Scene()
    form = shapes.Box((0.5, 0.25, 0.15), material=rd.Material(**material))
    trunk = scene.world.attach(Body("trunk", [form], mass=6.0), joints.free(), at=at(z=height, rpy=(0.4, 0.3, 0.2)))
    upper = (joints.ball(), joints.universal(), joints.revolute("y"), joints.euler("zyx"))
    for k, joint in enumerate(upper):
        x, y = 0.25 * (-1) ** k, 0.17 * (-1) ** (k // 2)
        turn = np.arctan2(y, x)
        first = trunk.attach(limb(f"upper{k}", **material), joint, at=at(1.3 * x, 1.3 * y, 0, (0, 0, turn)))
        first.attach(limb(f"lower{k}", **material), joints.revolute("y", limits=(-2.0, 0.2)), at=at(0.35))
    return scene


@pytest.mark.parametrize("mu", [0.0, 0.8])
@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
def test_a_doll_falls_and_lies(mu, integrator):
    """Energy never grows, nothing is deeper than 2 mm at the end of a step, and at last it moves slowly."""
    with mirror(doll(friction=mu, restitution=0.3), H, integrator) as shown:
        sim = shown.sim
        weight = sum(body.mass for body in shown.scene.bodies) * G
        energies, depths = [energy(sim)], []
        for _ in range(480):
            shown.step()
            energies.append(energy(sim))
            depths.append(sim.solution.penetration)
        growth = np.diff(energies).max()
        assert growth < weight * 1e-3, "as if lifted by a millimetre: O(h) of a limb's bounce"
        assert max(energies) < energies[0] + weight * 1e-4
        assert max(depths) < 2e-3
        assert sim.frames()[0][:, 2, 3].min() > 0.0
        if mu:
            assert np.abs(sim.frames()[1][:, 3:]).max() < 1.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_bodies_that_collide_keep_their_momenta(e, integrator):
    """Two tumbling bars of two links each meet aslant: linear momentum to rounding, angular momentum to O(h)."""
    material = {"friction": 0.5, "restitution": e}
    scene = Scene(gravity=(0, 0, 0))
    for k in range(2):
        first = scene.world.attach(
            limb(f"a{k}", **material), joints.free(), at=at(0.0, 0.6 * k, 0.05 * k, (0, 0, 0.3 * k))
        )
        first.attach(limb(f"b{k}", **material), joints.revolute("z"), at=at(0.45))
    with mirror(scene, H, integrator, ground=False) as shown:
        sim = shown.sim
        for k in range(2):
            set_twist(sim, f"a{k}", (0.2, 0.1, 1.5), (0.0, 1.0 - 2.0 * k, 0.0))
        before, touched = sim.dynamics.momentum(sim.q, sim.v), 0
        for _ in range(200):
            shown.step()
            touched += bool(np.any(sim.contacts.impulse))
        after = sim.dynamics.momentum(sim.q, sim.v)
        assert touched
        linear = (
            slice(3, 6) if np.abs(before[3:] - after[3:]).max() < np.abs(before[:3] - after[:3]).max() else slice(0, 3)
        )
        np.testing.assert_allclose(after[linear], before[linear], atol=1e-10)
        np.testing.assert_allclose(after, before, atol=0.04)


def test_bodies_of_a_pair_that_is_switched_off_pass_through_each_other():
    scene = Scene(gravity=(0, 0, 0))
    for k in range(3):
        put(scene, f"ball{k}", shapes.Sphere(0.1), at(0.5 * k))
    scene.pair("ball0", "ball1", collide=False)
    with mirror(scene, ground=False) as shown:
        set_twist(shown.sim, "ball0", velocity=(2.0, 0, 0))
        shown.step(120)
        assert twist(shown.sim, 1)[3] == 0.0, "passed through"
        assert twist(shown.sim, 2)[3] == pytest.approx(1.0), "met"
        shown.pair("ball0", "ball1")
        shown.sim.q, shown.sim.v = shown.sim.dynamics.neutral(), np.zeros(18)
        set_twist(shown.sim, "ball0", velocity=(2.0, 0, 0))
        shown.step(80)
        assert twist(shown.sim, 1)[3] == pytest.approx(1.0), "switched on again"


def test_a_pair_may_have_a_material_of_its_own():
    """Ice between the block and the ground whatever both are made of; another one from now on."""
    scene = Scene()
    put(scene, "block", shapes.Box((0.3, 0.3, 0.1), material=rd.Material(1.0)), at(z=0.05))
    scene.pair("block", "world", material=rd.Material(0.0))
    with mirror(scene) as shown:
        set_twist(shown.sim, "block", velocity=(1.0, 0, 0))
        shown.step(60)
        assert twist(shown.sim)[3] == pytest.approx(1.0, abs=1e-9)
        shown.pair("block", "world", material=rd.Material(0.2))
        shown.step(60)
        assert twist(shown.sim)[3] == pytest.approx(1.0 - 0.2 * G * 60 * H, abs=1e-5)


def test_frictions_combine_by_their_geometric_mean_and_restitutions_by_their_maximum():
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=rd.Material(0.8, restitution=0.1)))
    put(scene, "block", shapes.Box((0.3, 0.3, 0.1), material=rd.Material(0.2)), at(z=0.05))
    put(scene, "ball", shapes.Sphere(0.1, material=rd.Material(0.0, restitution=0.7)), at(2.0, 0.0, 0.104))
    with mirror(scene) as shown:
        set_twist(shown.sim, "block", velocity=(2.0, 0, 0))
        set_twist(shown.sim, "ball", velocity=(0, 0, -2.0))
        shown.step(2)
        assert twist(shown.sim, 1)[5] == pytest.approx(1.4, abs=2 * G * H)
        shown.step(58)
        assert twist(shown.sim, 0)[3] == pytest.approx(2.0 - 0.4 * G * 60 * H, abs=1e-5)


def test_parts_of_one_body_have_their_own_materials():
    """A sledge with a rubber and an ice end stands on the one or on the other."""
    ends = [shapes.Box((0.2, 0.2, 0.1), at=at(z=z), material=rd.Material(mu)) for z, mu in ((-0.2, 0.0), (0.2, 0.25))]
    scene = Scene()
    for name, turn in (("ice", 0.0), ("rubber", np.pi)):
        sledge = Body(name, list(ends), mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3) * 0.02)
        scene.world.attach(sledge, joints.free(), at=at(0.0, float(len(name)), 0.25, (turn, 0.0, 0.0)))
    scene.world.shapes.append(shapes.Plane(material=rd.Material(0.36)))
    with mirror(scene) as shown:
        for name in ("ice", "rubber"):
            set_twist(shown.sim, name, velocity=(1.0, 0, 0))
        shown.step(40)
        assert twist(shown.sim, "ice")[3] == pytest.approx(1.0, abs=1e-9)
        assert twist(shown.sim, "rubber")[3] == pytest.approx(1.0 - 0.3 * G * 40 * H, abs=1e-4)


def test_a_parameter_that_changes_changes_the_answer():
    """A ball of parametric mass strikes one of 1 kg: twice, with different masses."""
    scene = Scene(gravity=(0, 0, 0))
    m = scene.parameter("m", 1.0)
    material = rd.Material(0.0, restitution=1.0)
    striker = Body("striker", [shapes.Sphere(0.1, material=material)], mass=m, center_of_mass=(0, 0, 0),
                   inertia=np.eye(3) * sp.Rational(4, 1000) * m)  # fmt: skip
    scene.world.attach(striker, joints.prismatic("x"), at=at(-0.3))
    scene.world.attach(Body("ball", [shapes.Sphere(0.1, material=material)], mass=1.0), joints.prismatic("x"))
    with mirror(scene, ground=False) as shown:
        for mass in (1.0, 3.0):
            shown.sim.parameters["m"] = mass
            shown.sim.q, shown.sim.v = [0.0, 0.0], [1.0, 0.0]
            shown.step(60)
            np.testing.assert_allclose(shown.sim.v, [(mass - 1) / (mass + 1), 2 * mass / (mass + 1)], atol=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_joint_of_several_charts_touches_as_one_of_one_chart(integrator):
    """A body on Euler angles that change their chart rolls on the ground as one on quaternions does."""
    ends = []
    slides = joints.prismatic("x") @ joints.prismatic("y") @ joints.prismatic("z")
    for joint in (slides @ joints.ball(), slides @ joints.charts(joints.euler("zyx"), joints.euler("zxy"))):
        scene = Scene()
        scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joint, at=at(z=0.1))
        with mirror(scene, 1 / 1000, integrator) as shown:
            set_twist(shown.sim, "ball", (0.0, 10.0, 3.0), (1.0, 0.3, 0.0))
            shown.step(400)
            ends.append((position(shown.sim), twist(shown.sim)))
    error = 0.1 if integrator == "semi_implicit_euler" else 2e-3  # of its Euler angles: h w^2 t
    for one, two in zip(*ends, strict=True):
        np.testing.assert_allclose(one, two, atol=error)
