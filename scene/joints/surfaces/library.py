"""A library of surfaces for joints: each knows its expressions, its tangent frame in closed form and a mesh to draw.

The frame has x along df/du and z along the outward normal (up for the plane and the paraboloid). It is written with
sines and cosines instead of normed derivatives, so that it exists at the poles and goes on smoothly beyond them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, cos, is_constant, reciprocal, sin, sqrt
from scene.joints.surfaces.surface import JOINED, ORDER, POLES, Pieces, Span, Surface, local_sizes
from scene.number_checks import positive
from scene.scalars import carried, lowered

Point = tuple[Scalar, Scalar, Scalar]

_OUTWARD = np.array([[0.0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # z of the frame along the local x
_TURN = Span(0.0, 2.0 * np.pi, JOINED)
_FLAT = np.pi / 2.0 - np.deg2rad(0.5)  # how far a disc falls
_LATITUDE = Span(-np.pi / 2.0, np.pi / 2.0, POLES)


def plane() -> Surface:
    """The xy-plane; u, v: x and y, m; the normal is z."""
    return _surface("plane", {}, _plane_point, _plane_pieces)


def _plane_point(u: Scalar, v: Scalar) -> Point:
    return u, v, 0.0


def _plane_pieces(u: Scalar, v: Scalar) -> Pieces:
    return [(_moved((u, v, 0.0)), 2)]


def sphere(radius: Any, poles: str = "z") -> Surface:
    """A sphere about the origin; u: longitude, v: latitude about the axis ``poles``, rad."""
    sizes = _sizes("sphere", radius=radius)
    return _surface("sphere", sizes, _sphere_point, _sphere_pieces, poles, _TURN, _LATITUDE, _sphere_pieces)


def _sphere_point(u: Scalar, v: Scalar, r: Scalar) -> Point:
    return r * cos(u) * cos(v), r * sin(u) * cos(v), r * sin(v)


def _sphere_pieces(u: Scalar, v: Scalar, r: Scalar) -> Pieces:
    return [(_about(2, cos(u), sin(u)), 1), (_tilt(cos(v), sin(v), r * cos(v), r * sin(v)), 1), (_OUTWARD, 0)]


def ellipsoid(a: Any, b: Any, c: Any, poles: str = "z") -> Surface:
    """An ellipsoid with the semiaxes a, b, c along x, y, z; u: eccentric longitude, v: latitude, rad."""
    sizes = _sizes("ellipsoid", a=a, b=b, c=c)
    _check_poles("ellipsoid", poles)
    first, second, _ = local_sizes(poles, sizes)
    pieces = _spheroid if _are_equal(first, second) else _triaxial
    return _surface("ellipsoid", sizes, _ellipsoid_point, pieces, poles, _TURN, _LATITUDE, _triaxial)


def _are_equal(a: Scalar, b: Scalar) -> bool:
    """Whether two sizes, each of a graph of its own, are the same expression."""
    first, second = carried([a, b], Graph())
    return bool(first == second) if is_constant(first) and is_constant(second) else first is second


def _ellipsoid_point(u: Scalar, v: Scalar, a: Scalar, b: Scalar, c: Scalar) -> Point:
    return a * cos(u) * cos(v), b * sin(u) * cos(v), c * sin(v)


def _spheroid(u: Scalar, v: Scalar, a: Scalar, _: Scalar, c: Scalar) -> Pieces:
    across, along = c * cos(v), a * sin(v)
    scale = reciprocal(sqrt(across * across + along * along))
    return [
        (_about(2, cos(u), sin(u)), 1),
        (_tilt(across * scale, along * scale, a * cos(v), c * sin(v)), 1),
        (_OUTWARD, 0),
    ]


def _triaxial(u: Scalar, v: Scalar, a: Scalar, b: Scalar, c: Scalar) -> Pieces:
    """The normal is (cos phi cos psi, sin phi cos psi, sin psi), and phi depends on u alone."""
    x, y = a * sin(u), b * cos(u)
    width = sqrt(x * x + y * y)
    turn = _about(2, y * reciprocal(width), x * reciprocal(width))
    across, along = c * width * cos(v), a * b * sin(v)
    scale = reciprocal(sqrt(across * across + along * along))
    G = turn @ _tilt(across * scale, along * scale, 0.0, 0.0)
    G[:3, 3] = a * cos(u) * cos(v), b * sin(u) * cos(v), c * sin(v)
    return [(G, 2), (_OUTWARD, 0)]


def torus(radius: Any, tube: Any, poles: str = "z") -> Surface:
    """A tube around a circle of ``radius`` > ``tube`` about the axis ``poles``; u: along it, v: around the tube."""
    sizes = _sizes("torus", radius=radius, tube=tube)
    R, r = sizes.values()
    if is_constant(R) and is_constant(r) and not r < R:
        raise ModelError(f"surfaces.torus: tube {r} must be less than radius {R}, so that it does not meet itself")
    return _surface("torus", sizes, _torus_point, _torus_pieces, poles, _TURN, _TURN)


def _torus_point(u: Scalar, v: Scalar, R: Scalar, r: Scalar) -> Point:
    return (R + r * cos(v)) * cos(u), (R + r * cos(v)) * sin(u), r * sin(v)


def _torus_pieces(u: Scalar, v: Scalar, R: Scalar, r: Scalar) -> Pieces:
    ring = _about(2, cos(u), sin(u), (R * cos(u), R * sin(u), 0.0))
    return [(ring, 1), (_tilt(cos(v), sin(v), r * cos(v), r * sin(v)), 1), (_OUTWARD, 0)]


def rim(radius: Any, poles: str = "z") -> Surface:
    """The edge of a thin disc about the axis ``poles``, touched on a line of normals at every point of it.

    u: along it, v: the normal there, from the disc's plane towards the axis, rad. On a plane the disc stands at v = 0
    and lies flat at v = +-pi/2, where all of it touches at once: joints have limits of v half a degree before, unless
    others are given, at which a disc that falls comes to lie.
    """
    sizes = _sizes("rim", radius=radius)
    return replace(_surface("rim", sizes, _rim_point, _rim_pieces, poles, _TURN, _LATITUDE), v_limits=(-_FLAT, _FLAT))


def _rim_point(u: Scalar, v: Scalar, R: Scalar) -> Point:
    return R * cos(u), R * sin(u), 0.0


def _rim_pieces(u: Scalar, v: Scalar, R: Scalar) -> Pieces:
    return _torus_pieces(u, v, R, 0.0)


def cylinder(radius: Any, poles: str = "z") -> Surface:
    """A round cylinder about the axis ``poles``, endless; u: angle around it, rad, v: distance along it, m."""
    return _surface("cylinder", _sizes("cylinder", radius=radius), _cylinder_point, _cylinder_pieces, poles, _TURN)


def _cylinder_point(u: Scalar, v: Scalar, r: Scalar) -> Point:
    return r * cos(u), r * sin(u), v


def _cylinder_pieces(u: Scalar, v: Scalar, r: Scalar) -> Pieces:
    around = _about(2, cos(u), sin(u), (r * cos(u), r * sin(u), 0.0))
    return [(around, 1), (_moved((0.0, 0.0, v)), 1), (_OUTWARD, 0)]


def paraboloid(a: Any, b: Any) -> Surface:
    """The bowl z = x^2 / (2 a) + y^2 / (2 b), a, b its radii of curvature at the bottom; u, v: x and y, m."""
    return _surface("paraboloid", _sizes("paraboloid", a=a, b=b), _paraboloid_point, _paraboloid_pieces)


def _paraboloid_point(u: Scalar, v: Scalar, a: Scalar, b: Scalar) -> Point:
    return u, v, u * u * reciprocal(a * 2.0) + v * v * reciprocal(b * 2.0)


def _paraboloid_pieces(u: Scalar, v: Scalar, a: Scalar, b: Scalar) -> Pieces:
    along, across = u * reciprocal(a), v * reciprocal(b)  # slopes
    width = sqrt(along * along + 1.0)
    length = sqrt(width * width + across * across)
    first = _about(1, reciprocal(width), -(along * reciprocal(width)))
    G = first @ _about(0, width * reciprocal(length), across * reciprocal(length))
    G[:3, 3] = u, v, (along * u + across * v) * 0.5
    return [(G, 2)]


def _surface(
    name: str,
    sizes: dict[str, Scalar],
    point: Callable[..., Point],
    pieces: Callable[..., Pieces],
    poles: str = "z",
    u_span: Span = Surface.u,
    v_span: Span = Surface.v,
    about_any: Callable[..., Pieces] | None = None,
) -> Surface:
    _check_poles(name, poles)
    graph = Graph()
    u, v = graph.inputs("q", 2)
    local = point(u, v, *(carried([x], graph)[0] for x in local_sizes(poles, sizes)))
    turned = carried([local[ORDER[poles].index(k)] for k in range(3)], Graph())
    return Surface(name, turned, ("u", "v"), sizes, pieces, poles, u_span, v_span, about_any)


def _sizes(name: str, **sizes: Any) -> dict[str, Scalar]:
    checked = {what: positive(f"surfaces.{name}", what, value) for what, value in sizes.items()}
    return {what: lowered([x], f"surfaces.{name}: {what}")[0] for what, x in checked.items()}


def _check_poles(name: str, poles: str) -> None:
    if not isinstance(poles, str) or poles not in ORDER:
        raise ModelError(f"surfaces.{name}: poles is the axis 'x', 'y' or 'z', not {poles!r}")


def _moved(p: Point) -> np.ndarray:
    G = array(np.eye(4))
    G[:3, 3] = p
    return G


def _about(k: int, c: Scalar, s: Scalar, p: Point = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Rotation about the coordinate axis k by the angle of cosine c and sine s, origin p."""
    G, i, j = _moved(p), (k + 1) % 3, (k + 2) % 3
    G[i, i], G[j, j], G[i, j], G[j, i] = c, c, -s, s
    return G


def _tilt(c: Scalar, s: Scalar, x: Scalar, z: Scalar) -> np.ndarray:
    """The local x raised towards z by the angle of cosine c and sine s, origin (x, 0, z)."""
    return _about(1, c, -s, (x, 0.0, z))
