"""Shapes that are not in their body's own frame: Bullet's compounds, of which it tells nothing before they overlap."""

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes


def over_a_box(body: Body, joint, at: np.ndarray) -> Scene:
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((20, 20, 1), at=rd.pose((0, 0, -0.5))))
    scene.world.attach(body, joint, at=at)
    return scene


SOLID = trimesh.creation.icosphere(subdivisions=1, radius=0.05)
MADE = (
    lambda at, **given: shapes.Sphere(0.05, at=at, **given),
    lambda at, **given: shapes.Capsule(0.05, 0.2, at=at, **given),
    lambda at, **given: shapes.Cylinder(0.05, 0.2, at=at, **given),
)


def lowest(q: float) -> float:
    """How far down the hull of a foot reaches below its middle, on an arm at that angle."""
    return float((np.sin(q) * SOLID.vertices[:, 0] - np.cos(q) * SOLID.vertices[:, 2]).max())


@pytest.mark.parametrize("offset", [0.0, 0.4])
@pytest.mark.parametrize("make", MADE)
def test_a_gap_is_told_wherever_a_shape_is_in_its_body(make, offset):
    lying = rd.pose((offset, 0, 0), rpy=(0, np.pi / 2, 0))
    body = Body("body", [make(lying)], mass=1.0, inertia=np.eye(3))
    scene = over_a_box(body, joints.free(), rd.pose((0, 0, 0.0503)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step()
        assert [contact.distance for contact in sim.contacts] == pytest.approx([3e-4] * len(sim.contacts), abs=1e-9)
        assert len(sim.contacts) > 0


@pytest.mark.parametrize("gap", [3e-4, 1e-3])
def test_a_gap_under_a_convex_mesh_is_told_in_its_margin(gap):
    """Bullet's own, about hulls wherever they are in their body: they need no skin."""
    body = Body("body", [shapes.Mesh(SOLID, at=rd.pose((0.4, 0, 0)))], mass=1.0, inertia=np.eye(3))
    scene = over_a_box(body, joints.free(), rd.pose((0, 0, gap - SOLID.vertices[:, 2].min())))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step()
        assert [contact.distance for contact in sim.contacts] == pytest.approx([gap] * len(sim.contacts), abs=1e-6)
        assert len(sim.contacts) > 0


@pytest.mark.parametrize("e", [1.0, 0.5])
@pytest.mark.parametrize("make", MADE)
def test_it_bounces_from_where_it_touches(make, e):
    """A gap that is known is none to bounce off: heights fall by e^2, from half the slop deep."""
    material = rd.Material(0.0, restitution=e)
    shape = make(rd.pose((0.4, 0, 0), rpy=(0, np.pi / 2, 0)), material=material)
    body = Body("body", [shape], mass=1.0, center_of_mass=(0.4, 0, 0), inertia=0.01 * np.eye(3))
    scene = over_a_box(body, joints.prismatic("z"), rd.pose((0, 0, 0.55)))
    scene.gravity = (0, 0, -9.81)
    scene.pair("body", "world", material=material)
    sim = rd.Simulation(scene.compile(), 1 / 60)
    low, tops, before = sim.contact.slop / 2 + 0.5, [], 0.0
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        for _ in range(90):
            mirror.step()
            if before > 0.0 >= sim.v[0]:
                tops.append(sim.q[0] + low + sim.v[0] ** 2 / 19.62)
            before = sim.v[0]
    assert tops[:2] == pytest.approx([low * e**2, low * e**4][: len(tops)], rel=1e-6)


@pytest.mark.parametrize("speed", [1.0, 5.0])
@pytest.mark.parametrize("hull", [False, True], ids=["ball", "hull"])
def test_a_motor_does_not_push_a_foot_into_the_ground(speed, hull):
    """As far as it turns in a step, 3 to 13 mm, every other step, where nothing was known of the gap that was left."""
    at = rd.pose((0.4, 0, 0))
    foot = shapes.Mesh(SOLID, at=at) if hull else shapes.Sphere(0.05, at=at)
    arm = Body("arm", [foot], mass=2.0, center_of_mass=(0.2, 0, 0), inertia=0.03 * np.eye(3))
    scene = over_a_box(arm, joints.revolute("y", stiffness=20.0), rd.pose((0, 0, 0.3)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        sim.motors["arm.angle"] = rd.Motor(velocity=speed)
        for _ in range(72):
            mirror.step()
            reach = lowest(sim.q[0]) if hull else 0.05
            assert 0.3 - 0.4 * np.sin(sim.q[0]) - reach > -1e-3
        assert np.abs(sim.v).max() < 1e-3
