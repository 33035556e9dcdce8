"""A spring presses a box on the ground with the force it has there, however stiff it is: N = m g + k (z - rest)."""

import numpy as np
import pytest
from contact_scenes import mirror, put

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

MASS, PULL = 2.0, 200.0  # kg, N


def pressed(scene: Scene, stiffness: float, h: float, place: int) -> tuple[float, float]:
    """Mean force on the ground in the last half of two seconds, and what it is to be; place: of the height in q."""
    steps = round(2 / h)
    with mirror(scene, h, "linearly_implicit_rk4") as shown:
        shown.step(steps // 2)
        forces = [sum(c.impulse[2] for c in shown.contacts) / h for _ in range(steps // 2) if shown.step() is None]
        assert shown.sim.report.unexplained_energy == 0.0
        height = float(shown.sim.q[place])
    assert abs(height) < 2.5e-5
    return float(np.mean(forces)), MASS * 9.81 + PULL + stiffness * height


@pytest.mark.parametrize("damping", [0.0, 20.0])
@pytest.mark.parametrize("stiffness", [500.0, 1e5, 1e6, 1e7])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_joints_spring(stiffness, damping, h):
    """A flight by the spring alone, undamped, leads into the ground and out again within a step: h sqrt(k / m) up to
    37."""
    scene = Scene()
    joint = joints.prismatic("z", stiffness=stiffness, rest=-PULL / stiffness, damping=damping)
    scene.world.attach(Body("box", [shapes.Box((0.3, 0.3, 0.3))], mass=MASS), joint, at=rd.pose((0, 0, 0.15)))
    found, wanted = pressed(scene, stiffness, h, 0)
    assert found == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("damping", [0.0, 200.0])
@pytest.mark.parametrize("stiffness", [5e3, 1e5, 1e6])
def test_a_spring_between_points(stiffness, damping):
    """It is 0.4 m long, and pulls the box down."""
    scene = Scene()
    box = put(scene, "box", shapes.Box((0.3, 0.3, 0.3)), rd.pose((0, 0, 0.15)), mass=MASS)
    scene.spring(box, scene.world, stiffness, damping, 0.4 - PULL / stiffness, point_b=(0, 0, -0.25))
    found, wanted = pressed(scene, stiffness, 1 / 60, 2)
    assert found == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("stiffness", [5e3, 1e5, 1e6])
def test_a_spring_that_rests_without_length(stiffness):
    """As stiff across its line as along it."""
    scene = Scene()
    box = put(scene, "box", shapes.Box((0.3, 0.3, 0.3)), rd.pose((0, 0, 0.15)), mass=MASS)
    scene.spring(box, scene.world, stiffness, point_b=(0, 0, 0.15 - PULL / stiffness))
    found, wanted = pressed(scene, stiffness, 1 / 60, 2)
    assert found == pytest.approx(wanted, rel=1e-3)


def aside(join, h):
    """Mean force on the ground in the last second of two, and what it is to be as the element pulls where the box lies,
    tilted a little, of what pulls aside with half of 200 N; join: hangs the element between the world and a box."""
    scene = Scene()
    box = put(scene, "box", shapes.Box((0.3, 0.3, 0.3)), rd.pose((0, 0, 0.15)), mass=MASS)
    join(scene, box)
    with mirror(scene, h, "linearly_implicit_rk4") as shown:
        shown.step(round(1 / h))
        forces = [sum(c.impulse[2] for c in shown.contacts) / h for _ in range(round(1 / h)) if shown.step() is None]
        assert np.abs(shown.sim.v).max() < 1e-6
        d, q, v = shown.sim.dynamics, shown.sim.q, shown.sim.v
        lifted = (d.poses(q)[0, :3, :3] @ d.passive_forces(q, v)[3:])[2]
    return float(np.mean(forces)), MASS * 9.81 - float(lifted)


@pytest.mark.parametrize(
    "damping, h",
    [
        (0.0, 1 / 60), (0.0, 1 / 240), (100.0, 1 / 240),
        pytest.param(100.0, 1 / 60, marks=pytest.mark.xfail(strict=True, reason="6 % are missing: it sticks aside, and"
                     " the damper's line is another one where a flight without the ground ends")),
    ],
)  # fmt: skip
def test_one_that_pulls_aside_too(damping, h):
    at = (1e-3, 0, 0.15 - PULL / 1e5)
    found, wanted = aside(lambda scene, box: scene.spring(box, scene.world, 1e5, damping, point_b=at), h)
    assert found == pytest.approx(wanted, rel=2e-3)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_a_bushing_that_pulls_aside_too(h):
    """Which gives way in six directions at once (1 to 10 % were missing while impulses saw but one)."""
    at = (1e-3, 0, 0.15 - PULL / 1e5)
    found, wanted = aside(lambda scene, box: scene.bushing(scene.world, box, 1e5, 1e3, 100.0, 1.0, at), h)
    assert found == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("trees", [1, 2])
@pytest.mark.parametrize("stiffness, damping", [(2e4, 300.0), (1e6, 1e3), (1e6, 0.0)])
def test_a_spring_between_two_bodies_carries_one_of_them(stiffness, damping, trees):
    """A chassis of 10 kg on a wheel of 1 kg that slides on it, or is a tree of its own."""
    scene = Scene()
    chassis = put(scene, "chassis", shapes.Box((0.2, 0.2, 0.1)), rd.pose((0, 0, 0.5)), 10.0, joints.prismatic("z"))
    wheel = Body("wheel", [shapes.Sphere(0.1)], mass=1.0)
    if trees == 1:
        chassis.attach(wheel, joints.prismatic("z"), at=rd.pose((0, 0, -0.4)))
    else:
        scene.world.attach(wheel, joints.prismatic("z"), at=rd.pose((0, 0, 0.1)))
    scene.spring(chassis, wheel, stiffness, damping, rest=0.4 + 98.1 / stiffness)
    with mirror(scene, 1 / 60, "linearly_implicit_rk4") as shown:
        shown.step(120)
        forces = [sum(c.impulse[2] for c in shown.contacts) * 60 for _ in range(60) if shown.step() is None]
        assert np.abs(shown.sim.v).max() < 3e-6  # each solve may leave 1e-6, with which an undamped spring swings
    np.testing.assert_allclose(forces, 11 * 9.81, rtol=1e-4)


@pytest.mark.parametrize("held", ["constraint", "prescribed"])
@pytest.mark.parametrize("stiffness", [5e3, 1e6])
def test_a_spring_presses_beside_constraints_and_prescribed_motion(stiffness, held):
    """A box of 2 kg that another of 1 kg is tied to, or beside one that moves as told."""
    scene = Scene()
    box = put(scene, "box", shapes.Box((0.3, 0.3, 0.3)), rd.pose((0, 0, 0.15)), MASS, joints.prismatic("z"))
    other = put(scene, "other", shapes.Box((0.3, 0.3, 0.3)), rd.pose((1, 0, 1.0)), 1.0, joints.prismatic("z"))
    scene.spring(box, scene.world, stiffness, 20.0, 0.4 - PULL / stiffness, point_b=(0, 0, -0.25))
    weight = 9.81 * MASS + PULL
    if held == "constraint":
        scene.constrain(other.point((0, 0, 0))[2] - box.point((0, 0, 0))[2] - 0.85, name="tie")
        weight += 9.81
    with mirror(scene, 1 / 60, "linearly_implicit_rk4") as shown:
        if held == "prescribed":
            shown.sim.prescribe("other.distance", lambda t: 0.2 * np.sin(t))
        shown.step(60)
        forces = [sum(c.impulse[2] for c in shown.contacts) * 60 for _ in range(60) if shown.step() is None]
        height = shown.sim.q[0]
    assert abs(height) < 2.5e-5
    np.testing.assert_allclose(forces, weight + stiffness * height, rtol=1e-4)


@pytest.mark.parametrize("stiffness, damping", [(300.0, 0.5), (1e4, 0.0), (1e4, 1.0)])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_legs_on_springs_of_balls_stand(stiffness, damping, h):
    """A trunk of 8 kg on four legs of 0.5 kg: it comes to rest with the force of its weight."""
    scene = Scene()
    trunk = put(scene, "trunk", shapes.Box((0.6, 0.4, 0.1)), rd.pose((0, 0, 0.4)), 8.0)
    for k, (x, y) in enumerate([(0.25, 0.18), (0.25, -0.18), (-0.25, 0.18), (-0.25, -0.18)]):
        leg = Body(f"leg {k}", [shapes.Capsule(0.03, 0.25, at=rd.pose((0, 0, -0.15)))], mass=0.5)
        trunk.attach(leg, joints.ball(stiffness=stiffness, damping=damping), at=rd.pose((x, y, 0)))
    with mirror(scene, h, "linearly_implicit_rk4") as shown:
        shown.step(round(4 / h))
        assert np.abs(shown.sim.v).max() < 1e-5
        assert sum(c.impulse[2] for c in shown.contacts) / h == pytest.approx(10.0 * 9.81, rel=1e-5)
