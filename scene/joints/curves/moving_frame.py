"""The frame that a curve carries along, and the joint of a body on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, array
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.spaces import Flat
from scene.joints.curves.curve_coordinate import CLAMPED, CurveCoordinate
from scene.joints.curves.curve_path import CurvePath
from scene.joints.curves.parametric_curve import UPRIGHT, ParametricCurve, check_frame, check_samples, goes_on
from scene.joints.frames import frame, still, unit
from scene.joints.parametric_joint import Joint, Origin
from scene.number_checks import as_floats


@dataclass(frozen=True, eq=False)
class AlongCurve(Origin):
    """A joint along a curve between two ends, or a closed one."""

    wire: CurvePath = field(kw_only=True)

    @property
    def path(self) -> CurvePath:
        return self.wire


FRAMES = ("frenet", "up", "minimal", "translation")
_STRAIGHT = 'use frame="up" (z as near to up as can be), or frame="translation", which never turns'
_UPRIGHT = 'give another up=(x, y, z), or use frame="translation", which never turns'
OUTSIDE = ("clamp", "wrap", "extrapolate")


def carried_frame(
    kind: str, what: str, q: Expression, point: np.ndarray, up: np.ndarray, normal: np.ndarray | None
) -> np.ndarray:
    """The (4, 4) pose at a point (3,) over the input q; ``normal`` is the reference of a "minimal" frame."""
    if kind == "translation":
        return still(point)
    velocity = array(directional_derivative(list(point), {q: 1.0}))
    bend = array(directional_derivative(list(velocity), {q: 1.0})) if kind == "frenet" else velocity
    tangent = unit(velocity, f"{what}: its tangent")
    if kind == "frenet":
        binormal = unit(cross(tangent, bend), f"{what}: its curvature", _STRAIGHT)
        return frame(tangent, cross(binormal, tangent), binormal, point)
    if kind == "up":
        side = unit(cross(array(up), tangent), f"{what}: up across its tangent", _UPRIGHT)
        return frame(tangent, side, cross(tangent, side), point)
    assert normal is not None
    side = unit(normal - tangent * dot(normal, tangent), f"{what}: its normal")
    return frame(tangent, side, cross(tangent, side), point)


def check_choices(what: str, frame: Any, up: Any, outside: Any, closed: Any, arc_length: Any) -> None:
    """ModelError for an option that is none, and for options that do not go together."""
    if frame not in FRAMES:
        raise ModelError(f"{what}: unknown frame {frame!r}; use one of {', '.join(FRAMES)}")
    if outside is not None and outside not in OUTSIDE:
        raise ModelError(f"{what}: unknown outside {outside!r}; use one of {', '.join(OUTSIDE)}")
    for name, value in (("closed", closed), ("arc_length", arc_length)):
        if not isinstance(value, (bool, np.bool_)):
            raise ModelError(f"{what}: {name} is True or False, not {value!r}")
    if outside == "wrap" and not closed:
        raise ModelError(f'{what}: outside="wrap" is for closed curves; close it, or use "clamp" or "extrapolate"')
    if outside in ("clamp", "extrapolate") and closed:
        raise ModelError(f'{what}: a closed curve has no outside; leave outside="{outside}" out, or closed')
    if outside == "extrapolate" and frame == "frenet":
        raise ModelError(f'{what}: what goes straight on has no Frenet frame; use frame="minimal" or "up"')
    if up is not None and frame != "up":
        raise ModelError(f'{what}: up is for frame="up", not for "{frame}"')


def upward(what: str, up: Any, count: int | None = None) -> np.ndarray:
    """The direction (3,) of unit length, or a table (count, 3) of them, the longest of unit length.

    Equal ones are one. Raises ModelError.
    """
    given = UPRIGHT if up is None else as_floats(up)
    if given.shape != (3,) and (count is None or given.shape != (count, 3)):
        table = "" if count is None else f", or a table ({count}, 3) of them, one for each point"
        wrong = f"an array {given.shape}" if given.size else repr(up)
        raise ModelError(f"{what}: up is a direction of three numbers{table}; it is not {wrong}")
    rows = given.reshape(-1, 3)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1)
    directed = np.isfinite(lengths) & (lengths > 0.0)
    if not directed.all():
        i = int(np.argmin(directed))
        raise ModelError(
            f"{what}: up{f' of point {i}' if given.ndim == 2 else ''} is {rows[i].tolist()}; it needs three finite"
            " numbers, not all zero"
        )
    return rows[0] / lengths[0] if (rows == rows[0]).all() else rows / lengths.max()


def _ends(course: ParametricCurve, kind: str, outside: str | None) -> str:
    """What lies beyond the ends. A Frenet frame needs a bend: there the last piece goes on with its own."""
    if course.closed:
        return "wrap"
    if kind == "frenet":
        return "none"
    return "straight" if outside == "extrapolate" or not goes_on(course) else CLAMPED


def ride(course: ParametricCurve, name: str, origin: Origin, settings: Mapping[str, Any]) -> Joint:
    """The joint of a body on a curve, of an origin with arguments frame, outside and arc_length. Raises ModelError.

    Its ``path`` draws the wire.
    """
    kind, outside, arc_length = (origin.arguments[name] for name in ("frame", "outside", "arc_length"))
    check_samples(course, course.function is not None)
    check_frame(course, kind)
    track = CurveCoordinate(course, _ends(course, kind, outside), arc_length, kind)
    graph = Graph()
    q = graph.input(("q", 0))
    point = track.point(q)
    G = carried_frame(kind, course.what, q, point, track.up(q), track.normal(q) if kind == "minimal" else None)
    program = core.build(graph, [(Flat(1), G)])
    usual = {} if course.closed or outside == "extrapolate" else {"limits": track.domain}
    path = CurvePath(program.factors[0].transform, track.domain, track.length, course.closed)
    return Joint.made(AlongCurve(origin.constructor, origin.arguments, usual, wire=path), program, [name], settings)
