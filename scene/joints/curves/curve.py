"""Joints along a curve: written as expressions, or given by control points.

The travelling Frenet frame is that of Guenter & Lee (2009), section 5; the other frames survive where it has no
curvature to go by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, cos, sin
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.spaces import Flat
from scene.joints.curves.moving_frame import carried_frame, check_choices, ride, upward
from scene.joints.curves.parametric_curve import ParametricCurve
from scene.joints.curves.spline import (
    MAX_ARC,
    bezier_pieces,
    bspline_pieces,
    check_degree,
    check_turning,
    control_points,
    cyclic_harmonics,
    interpolating_pieces,
    refuse_repeated,
)
from scene.joints.parametric_joint import Joint, Origin
from scene.number_checks import as_floats
from scene.scalars import carried, lowered, names_of


def curve(
    f: Any,
    q: Any,
    frame: str = "frenet",
    up: Any = None,
    domain: Any = None,
    closed: bool = False,
    outside: str | None = None,
    arc_length: bool = False,
    **settings: Any,
) -> Joint:
    """A body on the space curve f(q), carried by a frame of the curve.

    f: three SymPy expressions, m; q: its symbol. frame: "frenet" has x along the tangent f', z along the binormal
    f' x f'' (where the two are parallel it does not exist), "up" has x along the tangent and z as near to ``up`` (3,)
    as can be, "minimal" has x along the tangent and turns about it as little as can be, "translation" keeps the
    parent's axes.

    domain: (start, end) of q, which "minimal", closed, outside and arc_length need; f may then hold no parameters.
    closed: f begins again at the end. arc_length: the joint's coordinate is metres from the start. outside: beyond the
    ends of an open curve, "clamp" gives the coordinate limits there, unless there are limits, "extrapolate" lets it go
    on, with a bend that dies away, then straight; a closed one wraps. Raises ModelError.
    """
    what = f"curve of {q}"
    if not getattr(q, "is_Symbol", False):
        raise ModelError(f"{what}: its coordinate is the SymPy symbol that stands in f, not {q!r}")
    entries = list(f)
    if len(entries) != 3:
        raise ModelError(f"{what} needs three expressions x, y, z, not {len(entries)}")
    options = {"frame": frame, "up": up, "domain": domain, "closed": closed, "outside": outside}
    return along(lowered(entries, what, [q]), str(q), {**options, "arc_length": arc_length}, settings)


def along(f: np.ndarray, name: str, options: Mapping[str, Any], settings: Mapping[str, Any]) -> Joint:
    """The joint along a curve of scalars (3,) over ("q", 0), the coordinate ``name``; options: those of :func:`curve`.

    Raises ModelError.
    """
    what = f"curve of {name}"
    frame, up, outside, closed = (options[key] for key in ("frame", "up", "outside", "closed"))
    domain, arc_length = options["domain"], options["arc_length"]
    check_choices(what, frame, up, outside, closed, arc_length)
    direction = upward(what, up)
    given = {**options, "up": None if up is None else as_floats(up)}
    graph = Graph()
    if domain is None:
        if closed or arc_length or outside is not None or frame == "minimal":
            asked = "closed" if closed else "arc_length" if arc_length else "outside" if outside else 'frame="minimal"'
            raise ModelError(f"{what}: {asked} needs the domain (start, end) of {name}; give domain")
        G = carried_frame(frame, what, graph.input(("q", 0)), carried(f, graph), direction, None)
        origin = Origin("curve", {"f": f, "name": name, **given})
        return Joint.made(origin, core.build(graph, [(Flat(1), G)]), [name], settings)
    start, stop = _domain(what, domain)
    if names_of(f):
        raise ModelError(f"{what}: with a domain it is sampled, and may hold no parameter; put numbers for them")

    def function(t: Scalar) -> np.ndarray:
        return array(substitute(list(f), {("q", 0): t}))

    course = ParametricCurve(what, start, stop, closed, function=function, up=direction)
    return ride(course, name, Origin("curve", {"f": f, "name": name, **given, "domain": (start, stop)}), settings)


def _domain(what: str, domain: Any) -> tuple[float, float]:
    ends = as_floats(domain)
    if ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise ModelError(f"{what}: its domain is (start, end), finite, start below end; not {domain!r}")
    return float(ends[0]), float(ends[1])


def bspline(
    points: Any,
    degree: int = 3,
    closed: bool = False,
    interpolate: bool = False,
    arc_length: bool = False,
    frame: str = "minimal",
    up: Any = None,
    outside: str | None = None,
    name: str = "s",
    **settings: Any,
) -> Joint:
    """A body on a uniform B-spline of control points (n, 3), m, C^(degree - 1).

    An open one runs from the first to the last point, a closed one near all of them; interpolate: through the points
    (odd degrees). The coordinate ``name`` counts pieces, or metres with arc_length. Degree 2 is for
    frame="translation"; frames that turn want 3, "frenet" 4. frame, up, outside: as for :func:`curve`; up may also be a
    table (n, 3) of a direction for each point, whose spline of the same kind is up: banking. ``joint.path`` samples the
    curve. Raises ModelError, which starts with the curve and its coordinate.
    """
    what = _label("bspline", points, name)
    check_choices(what, frame, up, outside, closed, arc_length)
    given = control_points(what, points)
    directions = upward(what, up, len(given))
    degree = check_degree(what, degree, len(given), closed)
    refuse_repeated(what, given, closed)
    if interpolate and degree % 2 == 0:
        raise ModelError(f"{what}: a spline through points has an odd degree, not {degree}; use 3 or 5")
    made = interpolating_pieces if interpolate else bspline_pieces
    pieces = made(given, degree, closed)
    check_turning(what, degree, len(pieces.coefficients), frame)
    banking = directions if directions.ndim == 1 else made(directions, degree, closed)
    course = ParametricCurve(what, 0.0, float(pieces.borders[-1]), closed, pieces, up=banking)
    options = {"closed": bool(closed), "interpolate": bool(interpolate), "arc_length": bool(arc_length)}
    banks = None if up is None else as_floats(up)
    arguments = {"points": given, "degree": degree, **options, "frame": frame, "up": banks, "outside": outside}
    return ride(course, name, Origin("bspline", {**arguments, "name": name}), settings)


def bezier(
    points: Any,
    closed: bool = False,
    arc_length: bool = False,
    frame: str = "minimal",
    up: Any = None,
    outside: str | None = None,
    name: str = "s",
    **settings: Any,
) -> Joint:
    """A body on the Bezier arc of control points (n, 3), m, with its coordinate ``name`` from 0 to 1.

    closed: the closed, infinitely smooth curve of the cyclic basis of Roth, Juhasz, Schicho & Hoffmann (2009), with
    the coordinate from 0 to 2 pi. Else as :func:`bspline`.
    """
    what = _label("bezier", points, name)
    check_choices(what, frame, up, outside, closed, arc_length)
    direction = upward(what, up)
    given = control_points(what, points)
    least = 3 if closed else 2
    if len(given) < least:
        raise ModelError(f"{what}: it needs {least} points at least, there are {len(given)}; add points")
    if len(given) > MAX_ARC:
        raise ModelError(f"{what}: a Bezier arc has at most {MAX_ARC} points; use bspline for more")
    refuse_repeated(what, given, closed)
    if closed:
        course = ParametricCurve(what, 0.0, 2.0 * np.pi, True, function=_cyclic(given), up=direction)
    else:
        course = ParametricCurve(what, 0.0, 1.0, False, bezier_pieces(given), up=direction)
    arguments = {"points": given, "closed": bool(closed), "arc_length": bool(arc_length), "frame": frame}
    ways = {"up": None if up is None else as_floats(up), "outside": outside, "name": name}
    return ride(course, name, Origin("bezier", {**arguments, **ways}), settings)


def _cyclic(points: np.ndarray) -> Any:
    """The closed curve of control points as a function on the graph, a trigonometric polynomial."""
    mean, cosines, sines = cyclic_harmonics(points)

    def function(t: Scalar) -> np.ndarray:
        total = array(mean)
        for j in range(len(cosines)):
            c, s = cos(t * float(j + 1)), sin(t * float(j + 1))
            total = total + array([c * float(a) + s * float(b) for a, b in zip(cosines[j], sines[j], strict=True)])
        return array(total)

    return function


def _label(kind: str, points: Any, name: str) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(f"{kind}: the name of its coordinate is an identifier, such as s, not {name!r}")
    try:
        count = f"{len(points)} points"
    except TypeError:
        count = "points"
    return f"{kind} of {count} over {name}"
