"""Joints on surfaces: the tangent frame of f(u, v), and one surface on another (Guenter & Lee 2009, eq. 15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, array, cos, sin
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.algebra import cross, inverse_pose
from recursive_dyn.spatial.spaces import Flat, Space
from scene.joints.base import Joint, as_floats
from scene.joints.curves.curve import frame as pose_of
from scene.joints.curves.curve import read_point, unit
from scene.joints.surfaces import Surface, fresh_symbol

Factors = list[tuple[Space, np.ndarray]]  # with the transform (4, 4) over a point of it


@dataclass(frozen=True, eq=False)
class Contact:
    """What a joint of two surfaces is made of: S1 Rz(spin + turn) F S2^-1, F = diag(1, -1, -1, 1) if ``flip``.

    ``f, (u, v) = contact.first``; the symbols are the joint's coordinates in order, then spin, if it is not None.
    """

    first: Surface
    second: Surface
    flip: bool
    turn: float
    spin: Any


def tangent_frame(graph: Graph, point: np.ndarray, u: int, v: int) -> np.ndarray:
    """The (4, 4) frame at ``point`` (3,) over the inputs ("q", u), ("q", v): x along d/du, z along d/du x d/dv."""
    du = array(directional_derivative(list(point), {graph.input(("q", u)): 1.0}))
    dv = array(directional_derivative(list(point), {graph.input(("q", v)): 1.0}))
    x = unit(du, "surface: its first tangent")
    normal = unit(cross(x, dv), "surface: its normal")
    return pose_of(x, cross(normal, x), normal, point)


def frame_factors(graph: Graph, surface: Surface, place: int) -> Factors:
    """The surface's tangent frame over the inputs ("q", place), ("q", place + 1), as factors of a joint."""
    if surface.pieces is not None:
        pieces = surface.frame_pieces(graph, place)
        return [(Flat(count), G) for G, count in pieces]
    point = _point(graph, surface, place)
    return [(Flat(2), tangent_frame(graph, point, place, place + 1))]


def _point(graph: Graph, surface: Surface, place: int) -> np.ndarray:
    others = range(place)  # they stand before this surface's symbols among the joint's coordinates
    label = f"surface of ({', '.join(surface.names)})"
    return read_point(surface.f, [*others, *surface.coordinates], graph, label)


def as_surface(f: Any, coordinates: Any) -> Surface:
    """A pair f, (u, v) as a surface; ModelError when it is none."""
    try:
        u, v = coordinates
        x, y, z = f
    except (TypeError, ValueError):
        raise ModelError(
            "a surface is three expressions x, y, z and its two symbols (u, v), or one of joints.surfaces"
        ) from None
    return Surface("surface", (x, y, z), (u, v))


def surface(f: Any, coordinates: Any = None, frame: str = "tangent", **settings: Any) -> Joint:
    """A body gliding on the surface f(u, v): x along df/du, z along the normal df/du x df/dv.

    f: three SymPy expressions, m; coordinates: the symbols (u, v); or f: one of ``joints.surfaces`` alone. frame:
    "tangent", or "translation" for a child that keeps the parent's axes.
    """
    graph = Graph()
    under = f.renamed("u", "v") if isinstance(f, Surface) else as_surface(f, coordinates)
    if frame == "tangent":
        factors = frame_factors(graph, under, 0)
    elif frame == "translation":
        x, y, z = array(np.eye(3))
        factors = [(Flat(2), pose_of(x, y, z, _point(graph, under, 0)))]
    else:
        raise ModelError(f"surface: frame is 'tangent' or 'translation', not {frame!r}")
    return Joint.from_program(core.build(graph, factors), under.names, settings)


def surface_on_surface(
    f1: Any,
    c1: Any,
    f2: Any = None,
    c2: Any = None,
    flip: bool = True,
    turn: float = 0.0,
    spin: bool = False,
    **settings: Any,
) -> Joint:
    """The child's surface touching the parent's, tangent frames aligned: S1 Rz(spin + turn) F S2^-1.

    Each surface is a pair f, (u, v) or one of ``joints.surfaces``: ``surface_on_surface(f1, c1, f2, c2)``,
    ``surface_on_surface(first, second)``. flip: F = diag(1, -1, -1, 1) turns the child's normal over, so that two
    outward normals oppose each other; without it the child touches from inside. turn: angle about the common normal
    between the two u directions, rad: pi/2 interlocks rings. spin: the fifth coordinate, added to ``turn``.
    """
    first, second = _pair((f1, c1, f2, c2))
    if as_floats(turn).shape != () or not np.isfinite(as_floats(turn)):
        raise ModelError(f"surface_on_surface: turn must be a finite angle, rad, not {turn!r}")
    contact = Contact(first, second, bool(flip), float(turn), fresh_symbol("spin") if spin else None)
    graph = Graph()
    back = [(space, inverse_pose(G)) for space, G in reversed(frame_factors(graph, second, 2))]
    moving = [i for i, (space, _) in enumerate(back) if space.dimension]
    before, after = back[: moving[0]], back[moving[-1] + 1 :]
    home = _product(back[moving[0] : moving[-1] + 1])
    angle = graph.input(("q", 4)) + contact.turn if spin else contact.turn
    between = _about_normal(angle) @ (np.diag([1.0, -1.0, -1.0, 1.0]) if flip else np.eye(4))
    between = between @ _product(before)
    factors: Factors = [(Flat(3), between @ home)] if spin else [(Flat(0), between), (Flat(2), home)]
    program = core.build(graph, [*frame_factors(graph, first, 0), *factors, *after])
    joint = Joint.from_program(program, [*first.names, *second.names, *(["spin"] if spin else [])], settings)
    joint.contact = contact
    return joint


def _pair(given: tuple[Any, ...]) -> tuple[Surface, Surface]:
    rest = list(given)
    found: list[Surface] = []
    for k in ("1", "2"):
        f = rest.pop(0)
        found.append(f.renamed(f"u{k}", f"v{k}") if isinstance(f, Surface) else as_surface(f, rest.pop(0)))
    if any(x is not None for x in rest):
        raise ModelError("surface_on_surface takes two surfaces; give flip, turn and spin by name")
    return found[0], found[1]


def _product(factors: Factors) -> np.ndarray:
    total = array(np.eye(4))
    for _, G in factors:
        total = total @ array(G)
    return total


def _about_normal(angle: Any) -> np.ndarray:
    G = array(np.eye(4))
    c, s = cos(angle), sin(angle)
    if isinstance(angle, float):
        c, s = round(c, 15), round(s, 15)  # a quarter turn is exact
    G[:2, :2] = [[c, -s], [s, c]]
    return G
