"""Forces in the joints of closed loops: Newton's and Euler's balance of every body, contacts included."""

import numpy as np
import pytest
import sympy as sp
from constraint_cases import bound
from contact_scenes import mirror, put

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

G, H = 9.81, 1 / 240
MASS, LENGTH = 2.0, 1.0
INERTIA = np.diag([0.2, 0.22, 0.05])
CENTERS = {"left": (0.05, 0, 0.5), "coupler": (0.4, 0, -0.03), "right": (0, 0, 0.6)}


def four_bar(symmetric=False, plate=None, **settings) -> Scene:
    """Two cranks of 1 m beside each other, a coupler on the left one, the pin at its end made by constraints."""
    scene = Scene()
    centers = {"left": (0, 0, 0.5), "coupler": (0.5, 0, 0), "right": (0, 0, 0.5)} if symmetric else CENTERS
    made = {name: Body(name, mass=MASS, center_of_mass=c, inertia=INERTIA) for name, c in centers.items()}
    if plate is not None:
        made["coupler"].shapes.append(plate)
    left = scene.world.attach(made["left"], joints.revolute("y", **settings))
    coupler = left.attach(made["coupler"], joints.revolute("y"), at=rd.pose((0, 0, LENGTH)))
    right = scene.world.attach(made["right"], joints.revolute("y"), at=rd.pose((LENGTH, 0, 0)))
    gap = coupler.point((LENGTH, 0, 0)) - right.point((0, 0, LENGTH))
    scene.constrain(sp.Matrix([gap[0], gap[2]]), name="pin")
    return scene


def simulated(scene, angle, rate=0.0, h=H, integrator="rk4") -> rd.Simulation:
    """The parallelogram at an angle, with a force sensor in every joint."""
    sim = rd.Simulation(scene.compile(), h, integrator)
    sim.q, sim.v = [angle, -angle, angle], [rate, -rate, rate]
    for name in CENTERS:
        sim.sensors.force(name, name)
    return sim


def in_world(sim, name):
    """(X, [moment about the body's origin; force]) of a reading, world axes."""
    X = sim.frames()[0][sim.dynamics.model.body_index(name)]
    return X, np.concatenate([X[:3, :3] @ sim.sensors[name][:3], X[:3, :3] @ sim.sensors[name][3:]])


def about(point, X, wrench):
    """The same wrench's moment about another point."""
    return wrench[:3] + np.cross(X[:3, 3] - point, wrench[3:])


def momenta(sim):
    """Of each body: its linear momentum, and its angular one about its centre of mass."""
    X, V = sim.frames()
    told = {}
    for k, name in enumerate(CENTERS):
        R, arm = X[k, :3, :3], X[k, :3, :3] @ CENTERS[name]
        told[name] = np.concatenate(
            [R @ INERTIA @ R.T @ V[k, :3], MASS * (V[k, 3:] + np.cross(V[k, :3], arm)), X[k, :3, 3] + arm]
        )
    return told


def test_every_body_of_a_moving_loop_keeps_newtons_and_eulers_balance():
    """Rates of momenta by differences in time; the pin is never asked: it drops out, or has no moment about itself."""
    sim = simulated(four_bar(damping=0.3, stiffness=4.0), 0.7, -1.5, h=1e-3)
    sim.tau = [3.0, -2.0, 1.5]
    sim.step(40)
    before = momenta(sim)
    sim.step()
    read = {name: in_world(sim, name) for name in CENTERS}
    now = momenta(sim)
    sim.step()
    after = momenta(sim)
    needs = {}  # of each body: moment about its centre, force, and that centre; gravity's part taken off
    for name in CENTERS:
        rate = (after[name][:6] - before[name][:6]) / (2 * sim.timestep)
        needs[name] = (rate[:3], [*rate[3:5], rate[5] + MASS * G], now[name][6:])

    def missing(point, joint_signs, bodies):
        moment, force = np.zeros(3), np.zeros(3)
        for joint, sign in joint_signs.items():
            X, wrench = read[joint]
            moment, force = moment + sign * about(point, X, wrench), force + sign * wrench[3:]
        for body in bodies:
            spin, push, center = needs[body]
            moment, force = moment - spin - np.cross(center - point, push), force - push
        return moment, force

    X, _ = read["coupler"]
    pin = X[:3, 3] + X[:3, :3] @ [LENGTH, 0, 0]
    scale = np.abs(read["left"][1]).max()
    for signs, bodies in (({"left": 1, "coupler": -1}, ["left"]), ({"coupler": 1, "right": 1}, ["coupler", "right"])):
        moment, force = missing(pin, signs, bodies)
        np.testing.assert_allclose(np.concatenate([moment, force]), 0.0, atol=1e-5 * scale)
    for body in ("coupler", "right"):
        np.testing.assert_allclose(missing(pin, {body: 1}, [body])[0], 0.0, atol=1e-5 * scale)


@pytest.mark.parametrize("hold", ["motor", "friction", "limit", "tau"])
def test_a_parallelogram_that_is_held_carries_its_weight(hold):
    """At rest, by virtual work: 2 m g l sin(angle) in the joint that is held; cranks carry 1.5 and the coupler 0.5."""
    angle = 0.4
    settings = {"friction": {"friction": 90.0}, "limit": {"limits": (-1.0, angle)}}.get(hold, {})
    sim = simulated(four_bar(symmetric=True, **settings), angle, integrator="semi_implicit_euler")
    if hold == "motor":
        sim.motors["left.angle"] = rd.Motor(position=angle)
    if hold == "tau":
        sim.tau = [-2 * MASS * G * LENGTH * np.sin(angle), 0, 0]
    sim.step(1 if hold == "tau" else 480)
    moment = 2 * MASS * G * LENGTH * np.sin(sim.q[0])  # a motor sags a little
    left, coupler, right = (in_world(sim, name)[1] for name in ("left", "coupler", "right"))
    np.testing.assert_allclose([left[1], coupler[1], right[1]], [-moment, 0, 0], atol=2e-3)
    np.testing.assert_allclose([left[5], coupler[5], right[5]], np.array([1.5, 0.5, 1.5]) * MASS * G, atol=2e-3)
    np.testing.assert_allclose(left[3] + right[3], 0.0, atol=2e-3)


def test_a_box_on_the_coupler_is_felt_in_every_joint():
    """The level coupler of upright cranks: force balance by who carries what, with the box three quarters along."""
    plate = shapes.Box((2.0, 0.6, 0.1), at=rd.pose((0.5, 0, 0)))
    scene, load = four_bar(symmetric=True, plate=plate), 3.0
    put(scene, "box", shapes.Box((0.2, 0.2, 0.2)), rd.pose((0.75, 0.05, LENGTH + 0.15)), mass=load)
    with mirror(scene, H, "semi_implicit_euler", ground=False) as shown:
        sim = shown.sim
        sim.motors["left.angle"] = rd.Motor(position=0.0, kp=1e6)
        for name in CENTERS:
            sim.sensors.force(name, name)
        for _ in range(240):
            shown.step()
        left, coupler, right = (sim.sensors[name] for name in ("left", "coupler", "right"))
        bars, box = MASS * G, load * G
        np.testing.assert_allclose(
            [left[5], coupler[5], right[5]],
            [1.5 * bars + 0.25 * box, 0.5 * bars + 0.25 * box, 1.5 * bars + 0.75 * box],
            atol=2e-2,
        )
        np.testing.assert_allclose([left[1], coupler[1], right[1]], 0.0, atol=2e-2)
        np.testing.assert_allclose(left[0], 0.05 * box, atol=2e-2)  # out of the plane the left cranks' hinges hold all


@pytest.mark.parametrize("seed", [3, 7])
def test_what_nothing_but_constraints_touches_is_carried_as_they_say(seed):
    """Every sort of constraint on a random tree: S^T of a reading is tau less what acts on coordinates directly."""
    m = bound(seed, 5)
    d = m.dynamics()
    sim = rd.Simulation(d, 1e-3)
    q, v = d.project(m.home, np.full(d.nv, 0.1))
    sim.q, sim.v, sim.tau = q, v, np.linspace(-1, 1, d.nv)
    read = []
    for name in d.bodies:
        sim.sensors.force(name, name)
        read.append(in_world(sim, name)[1])
    tau = sim.tau + d.passive_forces(q, v)
    on_bodies = d.constraint_wrenches(q, v, tau)
    direct = d.constraint_forces(q, v, tau) - d.call("external_forces", q, on_bodies.reshape(-1))
    a = d.forward_dynamics(q, v, tau)
    power = 0.0
    for k, name in enumerate(d.bodies):  # a joint's wrench works by how its child moves against its parent
        J = d.jacobian(q, name)
        parent = d.model.bodies[k].parent
        base = np.zeros_like(J)
        if parent >= 0:
            base = d.jacobian(q, d.bodies[parent])
            arm = d.poses(q)[k, :3, 3] - d.poses(q)[parent, :3, 3]
            base = np.vstack([base[:3], base[3:] + np.cross(base[:3].T, arm).T])
        power = power + (J - base).T @ read[k]
    armature = np.array([c.armature for c in d.model.coordinates])
    np.testing.assert_allclose(power, tau + direct - armature * a, atol=1e-9 * np.abs(read).max())
