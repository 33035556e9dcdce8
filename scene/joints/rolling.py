"""Rolling without slip as reduced joints (Guenter & Lee 2009, figure 5c): the constraint is solved in the transform.

A wheel of radius r touches its track at c - r n, c its centre, n the track's normal towards it. No slip means that the
material there stands still: c-dot = omega z x (r n). All of them lie in the xy-plane and turn about z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, Scalar, array, cos, sin
from recursive_dyn.graph.traversal import evaluate, reachable
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.algebra import dot
from recursive_dyn.spatial.spaces import Flat
from scene.joints.elementary import revolute
from scene.joints.frames import unit
from scene.joints.parametric_joint import Joint, Origin
from scene.number_checks import is_symbolic, positive
from scene.scalars import carried, lowered

_SAMPLES = 32
_TOLERANCE = 1e-9


def wheel(radius: Any, track: Any, inside: bool = False, **settings: Any) -> Joint:
    """A wheel rolling on the outside (or ``inside``) of a circle of radius ``track`` about the origin, axis z.

    Coordinate ``angle``: of the line from the circle's centre to the wheel's, from x, rad. The wheel's centre is at
    d (cos q, sin q, 0) with d = track + radius and it turns by d/radius q; inside, d = track - radius and the wheel
    turns the other way, by -d/radius q. Radii, m, may be scene parameters. Raises ModelError for a radius that is not
    positive, or a wheel inside a track that is not wider.
    """
    radius, track = positive("joints.wheel", "radius", radius), positive("joints.wheel", "track", track)
    if inside and not is_symbolic(radius) and not is_symbolic(track) and not radius < track:
        raise ModelError(f"joints.wheel: radius {radius} must be less than track {track} to roll inside it")
    sizes = [_lowered("joints.wheel", size) for size in (radius, track)]
    graph = Graph()
    q, r, R = graph.input(("q", 0)), *(carried([size], graph)[0] for size in sizes)
    distance = R - r if inside else R + r
    angle = q * (distance / r)
    G = _about_z(-angle if inside else angle, distance * cos(q), distance * sin(q))
    origin = Origin("wheel", {"radius": sizes[0], "track": sizes[1], "inside": bool(inside)})
    return Joint.made(origin, core.build(graph, [(Flat(1), G)]), ["angle"], settings)


def rack(radius: Any, **settings: Any) -> Joint:
    """A wheel rolling along the x axis, on the side of +y: its centre is at (q, radius, 0), it turns by -q / radius.

    Coordinate ``distance``: m. The radius may be a scene parameter. Raises ModelError when it is not positive.
    """
    size = _lowered("joints.rack", positive("joints.rack", "radius", radius))
    graph = Graph()
    q, r = graph.input(("q", 0)), carried([size], graph)[0]
    G = _about_z(-(q / r), q, r)
    return Joint.made(Origin("rack", {"radius": size}), core.build(graph, [(Flat(1), G)]), ["distance"], settings)


def rolling(f: Any, q: Any, radius: Any, length: Any = None, right: bool = False, **settings: Any) -> Joint:
    """A wheel rolling along the plane curve f(q), to the left of its direction, or to the ``right``.

    f: two SymPy expressions x, y, m; q: their symbol; length: the curve's arc length from any point as an expression of
    q, m, or None when q itself is that. The wheel's axes are the curve's tangent and left normal, turned by -length /
    radius (right: + length / radius). Raises ModelError when ``length`` is not the arc length. Where the curve bends
    more sharply than the wheel it meets, the wheel touches it elsewhere too: that is not looked for.
    """
    what = f"rolling along the curve of {q}"
    size = _lowered(what, positive(what, "radius", radius))
    way = lowered([q if length is None else length], f"{what}: its length", [q])
    return rolling_along(lowered(_pair(f, what), what, [q]), str(q), size, way[0], bool(right), settings)


def rolling_along(f: np.ndarray, name: str, radius: Scalar, length: Scalar, right: bool, settings: Any) -> Joint:
    """The wheel on a plane curve f (2,) of the input ("q", 0), the coordinate ``name``, as :func:`rolling` says."""
    what = f"rolling along the curve of {name}"
    graph = Graph()
    point = array([*carried(f, graph), 0.0])
    covered, r = carried([length], graph)[0], carried([radius], graph)[0]
    along = {graph.input(("q", 0)): 1.0}
    velocity = array(directional_derivative(list(point), along))
    _check_length(velocity, directional_derivative([covered], along)[0], what)
    tangent = unit(velocity, f"{what}: its tangent")
    side = -1.0 if right else 1.0
    G = _about_z(-(covered / r) * side, 0.0, 0.0)
    moved = array(np.eye(4))
    moved[:2, :2] = [[tangent[0], -tangent[1]], [tangent[1], tangent[0]]]
    moved[:2, 3] = point[0] - tangent[1] * r * side, point[1] + tangent[0] * r * side
    origin = Origin("rolling", {"f": f, "name": name, "radius": radius, "length": length, "right": right})
    return Joint.made(origin, core.build(graph, [(Flat(1), moved @ G)]), [name], settings)


def gear(
    axis: Any, leader: Any, teeth: tuple[int, int], inside: bool = False, offset: float = 0.0, **settings: Any
) -> Joint:
    """A gear wheel that meshes with the wheel ``leader``: revolute(axis) with its angle tied to the leader's.

    leader: a body on a revolute joint about a parallel axis with the same parent, or its name; teeth: (the leader's,
    its own); inside: one of them is a ring gear, so that both turn the same way; offset: own angle at the leader's
    zero, rad. Raises ModelError for numbers of teeth that are not whole and positive, or equal ones inside.
    """
    try:
        first, second = (int(n) for n in teeth)
        whole = (first, second) == tuple(teeth) and min(first, second) > 0
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise ModelError(f"joints.gear: teeth are two whole positive numbers, (the leader's, its own), not {teeth!r}")
    if inside and first == second:
        raise ModelError(f"joints.gear: a wheel of {first} teeth does not turn inside a ring of as many")
    ratio = first / second
    name = getattr(leader, "name", leader)
    return revolute(axis, **settings).follow(name, ratio if inside else -ratio, offset)


def _lowered(what: str, value: Any) -> Scalar:
    return lowered([value], what)[0]


def _pair(f: Any, what: str) -> tuple[Any, Any]:
    try:
        x, y = f
    except (TypeError, ValueError):
        raise ModelError(f"{what}: a plane curve is two expressions x, y") from None
    return x, y


def _about_z(angle: Scalar, x: Scalar, y: Scalar) -> np.ndarray:
    G = array(np.eye(4))
    G[:2, :2] = [[cos(angle), -sin(angle)], [sin(angle), cos(angle)]]
    G[:2, 3] = x, y
    return G


def _check_length(velocity: np.ndarray, rate: Scalar, what: str) -> None:
    """Refuse a rate of the length (a scalar) that is not |velocity| at sampled points, where both are finite."""
    rng = np.random.default_rng(3)
    squares = [dot(velocity, velocity), rate]
    inputs = {n.args[0]: rng.uniform(0.1, 2.0, _SAMPLES) for n in reachable(squares) if n.op == "input"}
    points = rng.permutation(np.concatenate([np.linspace(-2.0, 2.0, _SAMPLES - 8), np.linspace(0.05, 0.95, 8)]))
    square, slope = np.broadcast_arrays(*evaluate(squares, {**inputs, ("q", 0): points}), points)[:2]
    known = np.isfinite(square) & np.isfinite(slope)
    speed = np.sqrt(square[known])
    wrong = np.abs(slope[known] - speed) > _TOLERANCE * (1.0 + speed)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ModelError(
            f"{what}: at {points[known][i]:.3g} its length grows by {slope[known][i]:.4g}, its point by {speed[i]:.4g};"
            " give length=, the arc length as an expression of the coordinate"
        )
