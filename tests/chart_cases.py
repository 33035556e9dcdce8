"""Joints of several charts, bodies on them, and how their motion is followed."""

import numpy as np
import sympy as sp
from trees import random_body

import recursive_dyn as rd
from scene import Body, Scene, joints

ORDERS = {"rk4": 4, "implicit_midpoint": 2, "semi_implicit_euler": 1}
INERTIA = np.diag([0.1, 0.2, 0.25])
u, v, w = sp.symbols("u v w", real=True)


def sphere(poles, frame="tangent", radius=1.0):
    return joints.surface(joints.surfaces.sphere(radius, poles=poles), frame=frame)


def bead(*poles, frame="tangent"):
    """A bead on the unit sphere, translated only or with a spin, in charts whose poles lie on these axes."""
    parts = [sphere(p, frame) @ (joints.revolute("z") if frame == "tangent" else joints.fixed()) for p in poles]
    return joints.charts(*parts) if len(parts) > 1 else parts[0]


def euler(*orders):
    return joints.charts(*map(joints.euler, orders))


def single(joint, gravity=(0.0, 0.0, -9.81), inertia=INERTIA):
    scene = Scene(gravity=gravity)
    scene.world.attach(Body("body", mass=1.0, inertia=inertia), joint)
    return scene.compile()


def started(dynamics, velocity, timestep, integrator="rk4"):
    sim = rd.Simulation(dynamics, timestep, integrator)
    sim.v = velocity
    return sim


def energy(sim):
    return sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q)


def run_counting(sim, steps):
    """Number of switches in so many steps."""
    count, last = 0, sim.charts
    for _ in range(steps):
        sim.step()
        count, last = count + (sim.charts != last), sim.charts
    return count


def orders(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


def tumbling(joint, timestep, integrator="rk4"):
    """A body on which nothing acts; it turns about its middle axis, through the gimbal lock of "xyz" at 90 degrees."""
    sim = started(single(joint, gravity=(0, 0, 0)), np.zeros(3), timestep, integrator)
    sim.v = np.linalg.solve(sim.dynamics.jacobian(sim.q, "body")[:3], [0.01, 5.0, 0.02])
    return sim


def tangent_charts():
    """The unit sphere by normed derivatives, so that at a pole there is no frame: poles at v = 90 degrees and w = 0."""
    by_latitude = joints.surface([sp.cos(u) * sp.cos(v), sp.sin(u) * sp.cos(v), sp.sin(v)], (u, v))
    by_angle = joints.surface([sp.cos(w), sp.sin(w) * sp.cos(u), sp.sin(w) * sp.sin(u)], (w, u))
    return joints.charts(*(chart @ joints.revolute("z") for chart in (by_latitude, by_angle)))


def mechanism(first, second):
    """A hinge, then a bead with spin, then a ball of three angles, then a hinge."""
    rng = np.random.default_rng(11)
    scene = Scene(gravity=(0.7, -1.1, -9.6))
    node = scene.world
    for i, joint in enumerate([joints.revolute("y"), first, second, joints.revolute("x")]):
        node = node.attach(random_body(rng, f"b{i}"), joint, at=rd.pose((0.1, 0.2, -0.4), (0.3, 0.1, 0.5)))
    return scene
