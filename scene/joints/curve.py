"""Joints along a curve: the travelling Frenet frame of Guenter & Lee (2009), section 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn import joint as core
from recursive_dyn.differentiate import directional_derivative
from recursive_dyn.errors import ModelError
from recursive_dyn.expression import Graph, array, is_constant, reciprocal, sqrt
from recursive_dyn.spatial import cross, dot
from scene.joints.base import Joint, SymbolReader


def read_point(f: Any, symbols: Sequence[Any], graph: Graph, what: str) -> np.ndarray:
    """Three SymPy expressions as graph scalars (3,)."""
    from recursive_dyn.symbolic import from_sympy

    entries = list(f)
    if len(entries) != 3:
        raise ModelError(f"{what} needs three expressions x, y, z, not {len(entries)}")
    reader = SymbolReader(graph, symbols)
    return array([from_sympy(e, reader, what) for e in entries])


def unit(v: np.ndarray, what: str) -> np.ndarray:
    """v / |v|; ModelError beginning with ``what`` where v is zero everywhere."""
    square = dot(v, v)
    if is_constant(square) and square == 0.0:
        raise ModelError(f"{what} vanishes everywhere, so that there is no frame; use another curve, surface or joint")
    return v * reciprocal(sqrt(square))


def frame(x: np.ndarray, y: np.ndarray, z: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """The (4, 4) pose with these axes and origin."""
    G = array(np.eye(4))
    for column, v in enumerate((x, y, z, origin)):
        G[:3, column] = v
    return G


def curve(f: Any, q: Any, **settings: Any) -> Joint:
    """A bead on the space curve f(q), carried by the curve's Frenet frame.

    f: three SymPy expressions, m; q: its symbol. x is the tangent f', z the binormal f' x f'' normed, y = z x x.
    Where f' and f'' are parallel (straight pieces, inflections) the frame does not exist.
    """
    graph = Graph()
    point = read_point(f, [q], graph, f"curve of {q}")
    along = {graph.input(("q", 0)): 1.0}
    velocity = array(directional_derivative(list(point), along))
    bend = array(directional_derivative(list(velocity), along))
    tangent = unit(velocity, f"curve of {q}: its tangent")
    binormal = unit(cross(tangent, bend), f"curve of {q}: its curvature")
    G = frame(tangent, cross(binormal, tangent), binormal, point)
    return Joint.from_program(core.build(graph, [(core.PLAIN, G, 1)]), [str(q)], settings)
