"""Limits, motors, dry friction and constraints in the same solve as contacts."""

import numpy as np
import pytest
import sympy as sp
from contact_scenes import INTEGRATORS, G, at, energy, mirror

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts
from scene import Body, Scene, joints, shapes

H = 1 / 240


def slider(axis: str = "x", mass: float = 2.0, gravity=(0, 0, -G), **settings) -> Scene:
    scene = Scene(gravity=gravity)
    scene.world.attach(Body("block", mass=mass, inertia=np.eye(3)), joints.prismatic(axis, **settings))
    return scene


def pendulum(**settings) -> Scene:
    scene = Scene()
    rod = Body("rod", mass=1.5, center_of_mass=(0, 0, -0.4), inertia=np.eye(3) * 0.08)
    scene.world.attach(rod, joints.revolute("y", **settings))
    return scene


def running(scene: Scene, integrator: str, h: float = H) -> rd.Simulation:
    """With contacts looked for, so that limits are rows of a solve."""
    sim = rd.Simulation(scene.compile(), h, integrator)
    sim.detect = lambda sim: Contacts.none()
    return sim


# Limits


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_pendulum_stays_within_its_stop(integrator):
    """It swings onto the stop, stops dead, swings back; energy never grows, and nothing passes the stop."""
    sim = running(pendulum(limits=(-1.2, 0.3)), integrator)
    sim.q, most, angles, rates = [-1.0], np.inf, [], []
    drift = 0.02 * 1.5 * G * 0.4 if integrator == "semi_implicit_euler" else 1e-4  # its own, within a swing
    for _ in range(960):
        sim.step()
        angles.append(sim.q[0])
        rates.append(sim.v[0])
        now = energy(sim)
        assert now <= most + drift
        most = min(most, now)
    assert max(angles) < 0.3 + 1e-9 and min(angles) > -1.0 - 1e-2
    hit = int(np.argmax(np.array(angles) > 0.3 - 1e-9))
    assert hit > 10 and rates[hit - 1] > 1.0
    assert abs(rates[hit]) < 0.06, "a stop gives nothing back"
    # from rest at the stop it swings to the mirrored angle
    assert min(angles[hit:]) == pytest.approx(-0.3, abs=0.01)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_what_falls_onto_its_stop_lies_there(side, integrator):
    """After sqrt(2 d / g), at the limit itself."""
    scene = slider("z", gravity=(0, 0, -side * G), limits=(-0.5, 0.5))
    sim = running(scene, integrator)
    steps = int(np.sqrt(2 * 0.5 / G) / H)
    sim.step(steps - 1)
    assert abs(sim.v[0]) == pytest.approx(G * (steps - 1) * H, rel=1e-9)
    sim.step(4)
    for _ in range(100):
        sim.step()
        assert side * sim.q[0] == pytest.approx(-0.5, abs=3e-5)
        assert sim.v[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_motor_alone_makes_limits_hold(integrator):
    """Without a detector; rk4 by itself knows no limits."""
    sim = rd.Simulation(slider(limits=(-1.0, 0.2)).compile(), H, integrator)
    (name,) = sim.dynamics.velocity_coordinates
    sim.motors[name] = rd.Motor(velocity=1.0, max_force=30.0)
    sim.step(200)
    assert sim.q[0] == pytest.approx(0.2, abs=3e-5)
    assert sim.v[0] == pytest.approx(0.0, abs=1e-9)
    sim.motors[name] = rd.Motor(velocity=-1.0, max_force=30.0)
    sim.step(24)
    assert sim.q[0] == pytest.approx(0.2 - 0.1 + 0.5 / 15.0, abs=5e-3), "and let it go again"


def test_a_stop_between_two_bodies_keeps_momentum():
    """A carriage on a free rail hits its stop: both go on with the common velocity."""
    scene = Scene(gravity=(0, 0, 0))
    rail = scene.world.attach(Body("rail", mass=3.0, inertia=np.eye(3)), joints.prismatic("x"))
    rail.attach(Body("carriage", mass=1.0, inertia=np.eye(3)), joints.prismatic("x", limits=(-0.3, 0.3)))
    sim = running(scene, "rk4")
    sim.v = [0.0, 2.0]
    sim.step(60)
    np.testing.assert_allclose(sim.v, [0.5, 0.0], atol=1e-9)
    assert sim.q[1] == pytest.approx(0.3, abs=1e-6)


# Dry friction of joints


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_dry_friction_slows_and_stops(integrator):
    """F / m, until v = 0 after m v^2 / (2 F), and there it stays."""
    mass, F, v = 2.0, 3.0, 1.0
    sim = rd.Simulation(slider(mass=mass, friction=F).compile(), H, integrator)
    sim.v[0] = v
    for k in range(1, 240):
        sim.step()
        assert sim.v[0] == pytest.approx(max(0.0, v - F / mass * k * H), abs=1e-9)
    first_order = v * H / 2 if integrator == "semi_implicit_euler" else 0.0
    assert sim.q[0] == pytest.approx(mass * v**2 / (2 * F) - first_order, abs=2e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_dry_friction_holds_below_its_bound_and_not_above(integrator):
    for push, a in ((2.9, 0.0), (-2.9, 0.0), (4.0, 0.5), (-4.0, -0.5)):
        sim = rd.Simulation(slider(friction=3.0).compile(), H, integrator)
        sim.tau[0] = push
        sim.step(120)
        assert sim.v[0] == pytest.approx(a * 120 * H, abs=1e-9)
        assert a or sim.q[0] == pytest.approx(0.0, abs=2e-4)


def test_dry_friction_of_a_hinge_holds_a_pendulum_at_an_angle():
    """As long as m g l sin(q) stays below it."""
    sim = rd.Simulation(pendulum(friction=1.5 * G * 0.4 * np.sin(0.5)).compile(), H, "rk4")
    sim.q = [0.45]
    sim.step(240)
    np.testing.assert_allclose([sim.q[0], sim.v[0]], [0.45, 0.0], atol=1e-6)
    sim.q = [0.55]
    sim.step(240)
    assert sim.q[0] < 0.54


# Constraints


@pytest.mark.parametrize("e", [0.0, 1.0])
@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
def test_a_weight_on_a_rod_hits_a_wall_as_a_pendulum_does(integrator, e):
    """The same bob, hinged, or held by a constraint: the same path through bounces at a wall."""
    length, material = 0.8, rd.Material(0.0, restitution=e)
    hinge, rod = Scene(), Scene()
    for scene in (hinge, rod):
        scene.world.shapes.append(shapes.Box((0.2, 1, 4), at=at(0.3), material=material))
    ball = {"mass": 1.4, "inertia": np.zeros((3, 3))}
    hung = Body(
        "bob", [shapes.Sphere(0.1, at=at(z=-length), material=material)], center_of_mass=(0, 0, -length), **ball
    )
    hinge.world.attach(hung, joints.revolute("y"))
    bob = Body("bob", [shapes.Sphere(0.1, material=material)], center_of_mass=(0, 0, 0), **ball)
    rod.world.attach(bob, joints.prismatic("x") @ joints.prismatic("z"))
    rod.constrain(sp.sqrt(bob.position.dot(bob.position)) - length, name="rod")
    with mirror(hinge, 1e-3, integrator, ground=False) as one, mirror(rod, 1e-3, integrator, ground=False) as two:
        one.sim.q = [0.7]
        two.sim.q = [-length * np.sin(0.7), -length * np.cos(0.7)]
        hits = 0
        for _ in range(24):
            one.step(50)
            two.step(50)
            q = one.sim.q[0]
            np.testing.assert_allclose(two.sim.q, [-length * np.sin(q), -length * np.cos(q)], atol=2e-3)
            assert abs(np.linalg.norm(two.sim.q) - length) < 1e-9
            hits += any(event.kind != "end" for event in one.sim.contact_events)
        assert hits


def four_bar() -> Scene:
    """Crank, coupler and rocker in the xz-plane over the ground, closed by a pin; a ball hangs on the coupler."""
    crank, coupler, rocker, ground = 0.4, 1.1, 0.9, 1.2
    scene = Scene()
    bars = [
        Body(name, mass=m, center_of_mass=(size / 2, 0, 0), inertia=np.eye(3) * 0.04 * m)
        for name, m, size in (("crank", 1.0, crank), ("coupler", 1.5, coupler), ("rocker", 0.8, rocker))
    ]
    bars[1].shapes.append(shapes.Sphere(0.45, at=at(0.5), material=rd.Material(0.5, restitution=0.3)))
    first = scene.world.attach(bars[0], joints.revolute("-y"), at=at(z=0.3))
    second = first.attach(bars[1], joints.revolute("-y"), at=at(crank))
    third = scene.world.attach(bars[2], joints.revolute("-y"), at=at(ground, 0, 0.3))
    loop = second.point((coupler, 0, 0)) - third.point((rocker, 0, 0))
    scene.constrain(loop[0], loop[2], name="pin")
    return scene


def closed(sim: rd.Simulation) -> None:
    guess = np.array([2.0, -1.2, 1.6])
    sim.q = sim.dynamics.project(guess)[0]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_loop_stays_closed_while_it_hits_the_ground(integrator):
    with mirror(four_bar(), H, integrator) as shown:
        sim = shown.sim
        closed(sim)
        most, touched = energy(sim), 0
        slack = 1.0 if integrator == "semi_implicit_euler" else 1e-2
        for _ in range(480):
            shown.step()
            touched += bool(np.any(sim.contacts.impulse))
            position, speed = sim.dynamics.constraint_errors(sim.q, sim.v)
            assert np.abs(position).max() < 1e-9 and np.abs(speed).max() < 1e-8
            assert energy(sim) < most + slack
            assert sim.solution.penetration < 1e-3
        assert touched > 10


def test_a_motor_turns_a_loop_against_the_ground_no_further_than_it_can():
    with mirror(four_bar(), H, "implicit_midpoint") as shown:
        sim = shown.sim
        closed(sim)
        name = next(c for c in sim.dynamics.velocity_coordinates if c.startswith("crank"))
        sim.motors[name] = rd.Motor(velocity=2.0, max_force=200.0)
        rates = []
        for _ in range(480):
            shown.step()
            rates.append(sim.v[sim.dynamics.velocity_coordinates.index(name)])
            assert np.abs(sim.dynamics.constraint_errors(sim.q, sim.v)[0]).max() < 1e-9
            assert sim.solution.penetration < 1e-3
        assert max(rates) < 2.0 + 1e-2
        assert np.median(rates) == pytest.approx(2.0, abs=1e-2) or abs(rates[-1]) < 1e-2
