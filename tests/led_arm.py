"""An arm of two links below a table that time or a prescription leads, and its own equations."""

import numpy as np
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints

STEP = 1 / 240
SHAKEN, STROKE = 4 * np.pi, 0.2
JOINTS = ["a.angle", "b.angle"]
GOAL = np.array([0.5, -0.8])


def shaken(x):
    """A joint that time moves along x."""
    pose = sp.eye(4)
    pose[0, 3] = x
    return joints.Joint(pose, ())


def arm(form: str, axes: str = "yy", more=lambda scene, table, tip: None, motion=lambda t: STROKE * sp.sin(SHAKEN * t)):
    """A simulation of links below a table that moves along x, on hinges; places of these in v, and so in q."""
    scene = Scene()
    table = Body("table", mass=1, inertia=np.eye(3))
    x = motion(scene.time)
    table = scene.world.attach(table, shaken(x) if form == "time" else joints.prismatic("x"))
    link = {"mass": 1, "center_of_mass": (0, 0, -0.2), "inertia": 0.02 * np.eye(3)}
    node, names = table, [f"{name}.angle" for name, _ in zip("abc", axes, strict=False)]
    for k, axis in enumerate(axes):
        node = node.attach(Body("abc"[k], **link), joints.revolute(axis), at=rd.pose((0, 0, -0.4 if k else 0)))
    more(scene, table, node)
    run = rd.Simulation(scene.compile(), STEP)
    if form != "time":
        of_time = sp.lambdify(scene.time, x)
        run.prescribe("table.distance", x if form == "prescription" else lambda t: float(of_time(t)))
    return run, [run.dynamics.velocity_coordinates.index(name) for name in names]


def at_random(form: str):
    run, own = arm(form)
    run.q[own], run.v[own] = [0.2, 0.1], [0.3, -0.4]
    run.step(24)
    return run, own


def accelerations(q, v, base: float, tau):
    """Of the two joints below a base that accelerates along x, by Lagrange's equations of two rods."""
    A, B = q[0], q[0] + q[1]

    def down(angle):
        return np.array([-np.sin(angle), -np.cos(angle)])

    def ahead(angle):
        return np.array([-np.cos(angle), np.sin(angle)])

    first = np.column_stack([0.2 * ahead(A), np.zeros(2)])
    second = np.column_stack([0.4 * ahead(A) + 0.2 * ahead(B), 0.2 * ahead(B)])
    M = first.T @ first + second.T @ second + 0.02 * np.array([[2, 1], [1, 1]])
    rates, falls = (v[0] ** 2, (v[0] + v[1]) ** 2), np.array([-base, -9.81])
    pulls = first.T @ (falls + 0.2 * rates[0] * down(A))
    pulls += second.T @ (falls + 0.4 * rates[0] * down(A) + 0.2 * rates[1] * down(B))
    return np.linalg.solve(M, pulls + tau)


def target(run, own, other=np.nan):
    q = np.full(run.dynamics.nq, other)
    q[own] = GOAL
    return q
