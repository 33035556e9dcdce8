"""Curves of every kind with a body on them, and what their joints derive."""

import numpy as np
import sympy as sp
from curve_cases import ring

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.traversal import evaluate, substitute
from scene import Body, Scene, joints

WAVY = np.array([[0, 0, 0], [1, 0.6, 0.3], [2, -0.5, 0.2], [3, 0.7, -0.4], [4, 0, 0], [5, 0.4, 0.5]])
RING = ring(np.random.default_rng(3), 8)
BANKS = np.array([0, 0, 1]) + np.random.default_rng(5).uniform(-0.7, 0.7, (8, 3))  # upward directions, of any length
AXES = ("up", "minimal", "translation")
LEMNISCATE = np.array([[2, 0, 0], [1, 1, 0], [-1, -1, 0], [-2, 0, 0], [-1, 1, 0], [1, -1, 0]], dtype=float)
s = sp.Symbol("s", real=True)


def kinematics(joint, q):
    """S (n, 6) of a joint of one coordinate at q (n,)."""
    derived = joint.program.kinematics()
    values = evaluate(list(derived.subspace[:, 0]), {("q", 0): np.asarray(q, dtype=float)})
    return np.stack([np.broadcast_to(v, np.shape(q)) for v in values], axis=-1)


def levels(joint, q, order):
    """The transform (n, 4, 4) and its derivatives at q (n,)."""
    graph = Graph()
    x = graph.input(("q", 0))
    outputs = [substitute(list(joint.program.factors[0].transform.flat), {("q", 0): x})]
    for _ in range(order):
        outputs.append(directional_derivative(outputs[-1], {x: 1.0}))
    flat = evaluate([v for level in outputs for v in level], {("q", 0): np.asarray(q, dtype=float)})
    values = np.stack([np.broadcast_to(np.asarray(v, dtype=float), np.shape(q)) for v in flat], axis=-1)
    return values.reshape(*np.shape(q), order + 1, 4, 4)


def banked(count=8, **options):
    """On the ring or a part of it, with its own upward direction at each point."""
    return joints.bspline(RING[:count], up=BANKS[:count], **{"frame": "up", **options})


def dynamics(joint, **scene):
    made = Scene(**scene)
    made.world.attach(Body("bead", mass=0.7, center_of_mass=(0, 0, 0.05), inertia=np.diag([0.01, 0.02, 0.015])), joint)
    return made.compile()


# Frames

MADE = {
    "bspline": lambda **o: joints.bspline(WAVY, **o),
    "bspline through points": lambda **o: joints.bspline(WAVY, interpolate=True, **o),
    "ring": lambda **o: joints.bspline(RING, **{"closed": True, **o}),
    "bezier": lambda **o: joints.bezier(WAVY, **o),
    "cyclic": lambda **o: joints.bezier(RING, **{"closed": True, **o}),
    "symbolic": lambda **o: joints.curve([sp.sin(s), sp.sin(s) * sp.cos(s), s**2 / 9], s, domain=(-1, 2), **o),
    "symbolic ring": lambda **o: joints.curve(
        [sp.sin(s), sp.sin(s) * sp.cos(s), sp.cos(s) / 5], s, domain=(0, 2 * sp.pi), **{"closed": True, **o}
    ),
}
