"""Wheels on bodies that hang elsewhere, by scene.roll with a radius: closed forms of discs, cones and carts."""

import numpy as np
import pytest
from chart_cases import energy
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints

G = 9.81


def test_a_free_disc_rolls_round_a_circle():
    """(C + m r^2) n W sin - A W^2 sin cos + m g r cos = 0 of lean, turn rate W and spin n about the axis."""
    mass, r, lean, W = 1.5, 0.3, 1.1, 0.9
    A, C, s, c = 0.25 * mass * r**2, 0.5 * mass * r**2, np.sin(lean), np.cos(lean)
    n = (A * W**2 * s * c - mass * G * r * c) / ((C + mass * r**2) * W * s)
    scene = Scene()
    scene.world.attach(Body("disc", mass=mass, inertia=np.diag([A, A, C])), joints.free())
    scene.roll("disc", radius=r)
    sim = rd.Simulation(scene.compile(), 1 / 240)
    d = sim.dynamics
    axis, center = np.array([0.0, -s, c]), np.array([0.0, 0.0, r * s])
    pose = rd.pose(center, (lean, 0, 0))
    twist = np.concatenate([[0, 0, W] + (n - W * c) * axis, [-n * r, 0, 0]])
    sim.place("disc", pose, twist)
    assert_close(d.velocities(sim.q, sim.v)[0], twist, 1e-9)
    start = energy(sim)
    sim.step(240)
    reach = -n * r / W
    assert_close(d.poses(sim.q)[0, :3, 3], [reach * np.sin(W), reach * (1 - np.cos(W)), r * s], 1e-5)
    assert_close(energy(sim), start, 1e-6, start)  # as place says it and as steps of 1/240 s keep it


def test_two_wheels_of_one_body_roll_as_the_cone_through_both():
    """The axis meets the plane in a point that stays where it is, and the body goes round it at a constant rate."""
    radii, places = (0.3, 0.2), (0.6, 0.4)  # along the axis from the tip
    scene = Scene()
    body = Body("cone", mass=2.0, center_of_mass=(0, 0, 0.5), inertia=np.diag([0.05, 0.05, 0.08]))
    scene.world.attach(body, joints.free())
    for k, (r, z) in enumerate(zip(radii, places, strict=True)):
        scene.roll(body, name=f"wheel {k}", radius=r, center=(0, 0, z))
    sim = rd.Simulation(scene.compile(), 1 / 240)
    d = sim.dynamics
    lean, w = np.pi / 2 - np.arctan(0.5), 3.0  # of the axis from upright; the plane's line of contact is -y
    R = rd.pose((0, 0, 0), (lean, 0, 0))[:3, :3]
    q = [0, 0, 0, np.sin(lean / 2), 0, 0, np.cos(lean / 2)]
    sim.q, sim.v = d.project(q, [*(R.T @ [0, -w, 0]), 0, 0, 0])
    assert_close(d.velocities(sim.q, sim.v)[0], [0, -w, 0, 0, 0, 0], 1e-10)
    start = energy(sim)
    sim.step(240)
    X, turned = d.poses(sim.q)[0], -w / np.tan(lean)
    assert_close(X[:3, 3], np.zeros(3), 1e-8, 1.0)
    assert_close(X[:3, 2], rd.pose((0, 0, 0), (0, 0, turned))[:3, :3] @ R[:, 2], 1e-6)
    assert_close(energy(sim), start, 1e-7, start)


@pytest.mark.parametrize("rates", [(5.0, 5.0), (4.0, 6.0)])
def test_a_cart_of_two_wheels_goes_straight_or_round_a_circle(rates):
    r, half, t = 0.1, 0.25, 2.0
    scene = Scene()
    cart = scene.world.attach(Body("cart", mass=3.0, inertia=0.1 * np.eye(3)), joints.planar(), at=rd.pose((0, 0, r)))
    for name, side in (("left", 1), ("right", -1)):
        wheel = Body(name, mass=0.5, inertia=np.diag([0.002, 0.003, 0.002]))
        cart.attach(wheel, joints.revolute("y"), at=rd.pose((0, side * half, 0)))
        scene.roll(wheel, radius=r, axis="y")
    sim = rd.Simulation(scene.compile(), 1 / 60)
    d = sim.dynamics
    left, right = rates
    speed, turn = r * (left + right) / 2, r * (right - left) / (2 * half)
    sim.q, sim.v = d.project(np.zeros(5), [speed, 0, turn, left, right])
    assert_close(sim.v, [speed, 0, turn, left, right], 1e-12)
    sim.step(round(60 * t))
    angle = turn * t
    place = [speed / turn * np.sin(angle), speed / turn * (1 - np.cos(angle))] if turn else [speed * t, 0.0]
    assert_close(d.poses(sim.q)[0, :2, 3], place, 1e-7)


def test_a_wheel_on_a_turning_table_goes_with_it():
    """Bound to the table's axis by an arm, it stands on the table and is carried round without rolling."""
    scene = Scene()
    table = scene.world.attach(Body("table", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    arm = scene.world.attach(Body("arm", mass=0.2, inertia=0.01 * np.eye(3)), joints.revolute("z"))
    wheel = arm.attach(
        Body("wheel", mass=0.5, inertia=np.diag([0.003, 0.002, 0.002])), joints.revolute("x"), at=rd.pose((0.4, 0, 0.1))
    )
    scene.roll(wheel, radius=0.1, axis="x", on=table)
    sim = rd.Simulation(scene.compile(), 1 / 60)
    d = sim.dynamics
    sim.q, sim.v = d.project(np.zeros(3), [1.0, 0.0, 2.0])
    assert_close(0.4 * (sim.v[1] - sim.v[0]), -0.1 * -sim.v[2] * -1.0, 1e-10)  # v = omega x r at the edge
    moment, start = d.momentum(sim.q, sim.v), energy(sim)
    sim.step(60)
    assert_close(d.momentum(sim.q, sim.v)[2], moment[2], 1e-8)
    assert_close(energy(sim), start, 1e-8)


def test_wheels_and_rims_come_back_from_their_files(tmp_path):
    scene = Scene()
    size = scene.parameter("size", 0.3)
    for k, surface in enumerate((joints.surfaces.rim(size), joints.surfaces.rim(0.2, poles="y"))):
        joint = joints.surface_on_surface(joints.surfaces.plane(), surface, spin=True)
        scene.roll(scene.world.attach(Body(f"coin {k}", mass=1.0, inertia=np.eye(3)), joint))
    scene.roll(
        scene.world.attach(Body("disc", mass=1.0, inertia=np.eye(3)), joints.free()), radius=size, axis=(0, 1, 2)
    )
    path = tmp_path / "scene.json"
    scene.save(path)
    assert Scene.load(path).model().key == scene.model().key


def test_what_is_no_wheel_is_refused_by_name():
    scene = Scene()
    body = scene.world.attach(Body("disc", mass=1.0, inertia=np.eye(3)), joints.free())
    for given, message in (
        ({"radius": 0.0}, "radius of a wheel is above 0"),
        ({"radius": 0.1, "axis": (0, 0, 0)}, "axis is 'x', 'y', 'z' or a vector"),
        ({"radius": 0.1, "normal": "up"}, "constraint 'rolling of disc'"),
        ({"radius": 0.1, "center": (0, 0)}, "constraint 'rolling of disc'"),
    ):
        with pytest.raises(rd.ModelError, match=message):
            scene.roll(body, **given)


@pytest.mark.parametrize("timestep", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
def test_a_wheel_that_falls_flat_is_told_by_the_name_of_its_rows(timestep):
    """Its lowest point would change sides: the step before is the last one."""
    lean, r = 0.5, 0.3
    scene = Scene()
    scene.world.attach(Body("coin", mass=1.5, inertia=np.diag([0.03, 0.03, 0.06])), joints.free())
    scene.roll("coin", name="edge of the coin", radius=r)
    sim = rd.Simulation(scene.compile(), timestep)
    q = [0, 0, r * np.sin(lean), np.sin(lean / 2), 0, 0, np.cos(lean / 2)]
    sim.q, sim.v = sim.dynamics.project(q, np.zeros(6))
    start = energy(sim)
    with pytest.raises(rd.StateError, match="edge of the coin"):
        sim.step(round(1.0 / timestep))
    assert_close(energy(sim), start, 1e-5, start)
