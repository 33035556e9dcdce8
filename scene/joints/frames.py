"""Frames of scalars: unit vectors, poses of given axes, the tangent frame of a surface."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, array, is_constant, reciprocal, sqrt
from recursive_dyn.spatial.algebra import cross, dot


def unit(v: np.ndarray, what: str, instead: str = "use another curve, surface or joint") -> np.ndarray:
    """v / |v|; ModelError beginning with ``what`` where v is zero everywhere; instead: what to do then."""
    square = dot(v, v)
    if is_constant(square) and square == 0.0:
        raise ModelError(f"{what} vanishes everywhere, so that there is no frame; {instead}")
    return v * reciprocal(sqrt(square))


def frame(x: np.ndarray, y: np.ndarray, z: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """The (4, 4) pose with these axes and origin."""
    G = array(np.eye(4))
    for column, v in enumerate((x, y, z, origin)):
        G[:3, column] = v
    return G


def still(point: np.ndarray) -> np.ndarray:
    """The (4, 4) pose at a point (3,) that never turns."""
    x, y, z = array(np.eye(3))
    return frame(x, y, z, point)


def tangent_frame(graph: Graph, point: np.ndarray, u: int, v: int) -> np.ndarray:
    """The (4, 4) frame at ``point`` (3,) over the inputs ("q", u), ("q", v): x along d/du, z along d/du x d/dv."""
    du = array(directional_derivative(list(point), {graph.input(("q", u)): 1.0}))
    dv = array(directional_derivative(list(point), {graph.input(("q", v)): 1.0}))
    x = unit(du, "surface: its first tangent")
    normal = unit(cross(x, dv), "surface: its normal")
    return frame(x, cross(normal, x), normal, point)
