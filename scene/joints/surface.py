"""Joints on surfaces: the tangent frame of f(u, v), and one surface on another (Guenter & Lee 2009, eq. 15)."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn import joint as core
from recursive_dyn.differentiate import directional_derivative
from recursive_dyn.expression import Graph, array
from recursive_dyn.spatial import cross, inverse_pose
from scene.joints.base import Joint
from scene.joints.curve import frame, read_point, unit


def _tangent_frame(graph: Graph, point: np.ndarray, u: int, v: int) -> np.ndarray:
    du = array(directional_derivative(list(point), {graph.input(("q", u)): 1.0}))
    dv = array(directional_derivative(list(point), {graph.input(("q", v)): 1.0}))
    x = unit(du, "surface: its first tangent")
    normal = unit(cross(x, dv), "surface: its normal")
    return frame(x, cross(normal, x), normal, point)


def surface(f: Any, coordinates: Any, **settings: Any) -> Joint:
    """A body gliding on the surface f(u, v): x along df/du, z along the normal df/du x df/dv.

    f: three SymPy expressions, m; coordinates: the symbols (u, v).
    """
    graph = Graph()
    u, v = coordinates
    point = read_point(f, [u, v], graph, f"surface of ({u}, {v})")
    G = _tangent_frame(graph, point, 0, 1)
    return Joint.from_program(core.build(graph, [(core.PLAIN, G, 2)]), [str(u), str(v)], settings)


def surface_on_surface(
    f1: Any, c1: Any, f2: Any, c2: Any, flip: bool = True, turn: float = 0.0, **settings: Any
) -> Joint:
    """The child's surface f2 touching the parent's f1, tangent frames aligned: S1 F S2^-1, four coordinates.

    flip: turn the child's normal over with diag(1, -1, -1, 1), so that two outward normals oppose each other; turn:
    angle about the common normal between the two u directions, rad: pi/2 interlocks rings.
    """
    graph = Graph()
    symbols = [*c1, *c2]
    first = read_point(f1, symbols, graph, f"surface of {tuple(map(str, c1))}")
    second = read_point(f2, symbols, graph, f"surface of {tuple(map(str, c2))}")
    between = np.eye(4)
    between[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    if flip:
        between = between @ np.diag([1.0, -1.0, -1.0, 1.0])
    second_frame = inverse_pose(_tangent_frame(graph, second, 2, 3))
    G = _tangent_frame(graph, first, 0, 1) @ array(between.round(15)) @ second_frame
    return Joint.from_program(core.build(graph, [(core.PLAIN, G, 4)]), [str(s) for s in symbols], settings)
