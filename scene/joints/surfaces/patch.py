"""Joints on patches of control points: tensor-product Bezier and B-spline surfaces with the tangent frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, Scalar, array, table
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.spaces import Flat
from scene.joints.curves.piecewise import Cells
from scene.joints.curves.spline import (
    Pieces,
    bezier_pieces,
    bspline_pieces,
    check_degree,
    check_turning,
    control_points,
    refuse_repeated,
)
from scene.joints.frames import still, tangent_frame
from scene.joints.parametric_joint import Joint, Origin
from scene.joints.surfaces.patch_shape import PatchShape

_FLAT = 1e-4  # |df/du x df/dv| by the product of the mean sizes: what counts as vanishing
_NOISE = 1e-14
_SAMPLES = 12  # a piece and direction
_BLOCK = 4096  # samples at a time: every node of the expressions holds as many numbers
_MOST_POINTS = 32  # a side of a Bezier patch: its coefficients grow with their fourth power


@dataclass(frozen=True, eq=False)
class OnPatch(Origin):
    """A joint on a patch."""

    shape: PatchShape = field(kw_only=True)

    @property
    def patch(self) -> PatchShape:
        return self.shape


def bezier_surface(
    points: Any, frame: str = "tangent", outside: str | None = None, names: Sequence[str] = ("u", "v"), **settings: Any
) -> Joint:
    """A body gliding on the tensor-product Bezier patch of control points (m, n, 3), m, over [0, 1] x [0, 1].

    u runs along the first index. frame: "tangent" has x along df/du and z along the normal df/du x df/dv, "translation"
    keeps the parent's axes. outside: "clamp" (the default) gives the coordinates limits at the edges, unless there are
    limits, "extrapolate" lets them go on over the polynomial. ``joint.patch`` samples the patch. Raises ModelError,
    which starts with the patch and its coordinates.
    """
    what = _label("bezier_surface", points, names)
    given = control_points(what, points, ("m", "n", "3"))
    if min(given.shape[:2]) < 2:
        raise ModelError(f"{what}: it needs 2 x 2 points at least, not {given.shape[0]} x {given.shape[1]}; add points")
    if max(given.shape[:2]) > _MOST_POINTS:
        raise ModelError(
            f"{what}: a Bezier patch has at most {_MOST_POINTS} points a side; use bspline_surface for more"
        )
    makers = (bezier_pieces, bezier_pieces)
    origin = Origin("bezier_surface", {"points": given, "frame": frame, "outside": outside, "names": tuple(names)})
    return _patch(what, makers, (False, False), origin, settings)


def bspline_surface(
    points: Any,
    degree: Any = (3, 3),
    closed: Any = (False, False),
    frame: str = "tangent",
    outside: str | None = None,
    names: Sequence[str] = ("u", "v"),
    **settings: Any,
) -> Joint:
    """A body gliding on the uniform tensor-product B-spline of control points (m, n, 3), m: cubics are C2.

    degree and closed: for (u, v), or one for both; u runs along the first index, and either counts pieces. A closed
    direction begins again at its end. Else as :func:`bezier_surface`.
    """
    what = _label("bspline_surface", points, names)
    given = control_points(what, points, ("m", "n", "3"))
    degrees, rings = _pair(what, "degree", degree), _pair(what, "closed", closed)
    makers, kept = [], []
    for axis in range(2):
        if not isinstance(rings[axis], (bool, np.bool_)):
            raise ModelError(f"{what}: closed is True or False for either direction, not {closed!r}")
        checked = check_degree(f"{what}, along {names[axis]}", degrees[axis], given.shape[axis], rings[axis])
        pieces = given.shape[axis] - (0 if rings[axis] else checked)
        check_turning(f"{what}, along {names[axis]}", checked, pieces, frame)
        makers.append(_bspline_maker(checked, rings[axis]))
        kept.append(checked)
    both = (bool(rings[0]), bool(rings[1]))
    shape = {"points": given, "degree": tuple(kept), "closed": both}
    origin = Origin("bspline_surface", {**shape, "frame": frame, "outside": outside, "names": tuple(names)})
    return _patch(what, makers, both, origin, settings)


def _bspline_maker(degree: int, closed: bool) -> Callable[[np.ndarray], Pieces]:
    return lambda points: bspline_pieces(points, degree, closed)


def _pair(what: str, name: str, value: Any) -> tuple[Any, Any]:
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise ModelError(f"{what}: {name} needs one value for either direction, not {value!r}")
    return pair


def _label(kind: str, points: Any, names: Sequence[str]) -> str:
    if isinstance(names, str) or len(names) != 2:
        raise ModelError(f"{kind}: names are those of two coordinates, not {names!r}")
    shape = np.shape(points) if isinstance(points, (np.ndarray, list, tuple)) else ()
    return f"{kind} of {' x '.join(map(str, shape[:2])) or 'no'} points over ({names[0]}, {names[1]})"


def _patch(
    what: str,
    makers: Sequence[Callable[[np.ndarray], Pieces]],
    closed: tuple[bool, bool],
    origin: Origin,
    settings: dict[str, Any],
) -> Joint:
    points, names = origin.arguments["points"], origin.arguments["names"]
    kind, outside = origin.arguments["frame"], origin.arguments["outside"]
    if kind not in ("tangent", "translation"):
        raise ModelError(f"{what}: unknown frame {kind!r}; use tangent or translation")
    if outside not in (None, "clamp", "extrapolate"):
        raise ModelError(f"{what}: unknown outside {outside!r}; use clamp or extrapolate, closed directions wrap")
    for axis in range(2):
        for row in np.moveaxis(points, axis, 1):
            refuse_repeated(f"{what}, along {names[axis]}", row, closed[axis])
    cells, coefficients = _tensor(points, makers, closed)
    graph = Graph()
    point = _point(cells, coefficients, graph.inputs("q", 2))
    _refuse_flat(what, graph, point, cells)
    G = tangent_frame(graph, point, 0, 1) if kind == "tangent" else still(point)
    domain = tuple((float(c.borders[0]), float(c.borders[-1])) for c in cells)
    program = core.build(graph, [(Flat(2), G)])
    limits = [(-np.inf, np.inf) if ring else ends for ring, ends in zip(closed, domain, strict=True)]
    usual = {} if outside == "extrapolate" or all(closed) else {"limits": limits}
    shape = PatchShape(program.factors[0].transform, domain, closed)
    return Joint.made(OnPatch(origin.constructor, origin.arguments, usual, shape=shape), program, names, settings)


def _tensor(
    points: np.ndarray, makers: Sequence[Callable[[np.ndarray], Pieces]], closed: tuple[bool, bool]
) -> tuple[tuple[Cells, Cells], np.ndarray]:
    """Cells of u and v, and coefficients (cells of u, of v, powers of u, of v, 3): the curve's pieces, twice."""
    rows, columns = points.shape[:2]
    first = makers[0](points.reshape(rows, -1))
    count, order = first.coefficients.shape[:2]
    between = first.coefficients.reshape(count, order, columns, 3)
    second = makers[1](np.moveaxis(between, 2, 0).reshape(columns, -1))
    shape = (*second.coefficients.shape[:2], count, order, 3)
    coefficients = second.coefficients.reshape(shape).transpose(2, 0, 3, 1, 4)
    ends = ["wrap" if ring else "none" for ring in closed]
    return (Cells(first.borders, ends[0]), Cells(second.borders, ends[1])), coefficients


def _point(cells: tuple[Cells, Cells], coefficients: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Position (3,): the cell of the patch is found once, from u's and v's, for every coefficient."""
    (i, x), (j, y) = (c.locate(s) for c, s in zip(cells, q, strict=True))
    rows, columns, powers_u, powers_v = coefficients.shape[:4]
    place = _clipped(i, rows, columns) + _clipped(j, columns, 1)
    reach = [float(np.diff(c.borders).max()) for c in cells]
    sizes = reach[0] ** np.arange(powers_u)[:, None] * reach[1] ** np.arange(powers_v)
    noise = _NOISE * float(np.abs(coefficients * sizes[:, :, None]).max())

    def term(a: int, b: int, k: int) -> Scalar:
        values = coefficients[:, :, a, b, k].ravel()
        if np.ptp(values) * sizes[a, b] <= noise:
            middle = float(values.mean())
            return middle if abs(middle) * sizes[a, b] > noise else 0.0
        return table(place, values)

    total = array(np.zeros(3))
    for a in reversed(range(powers_u)):
        inner = array(np.zeros(3))
        for b in reversed(range(powers_v)):
            inner = inner * y + array([term(a, b, k) for k in range(3)])
        total = total * x + inner
    return total


def _clipped(number: Scalar, count: int, step: int) -> Scalar:
    return table(number, np.arange(count) * float(step)) if count > 1 else 0.0


def _refuse_flat(what: str, graph: Graph, point: np.ndarray, cells: tuple[Cells, Cells]) -> None:
    """ModelError where the tangents of u and v do not span a plane."""
    slopes = [directional_derivative(list(point), {graph.input(("q", i)): 1.0}) for i in range(2)]
    axes = [
        np.unique((c.borders[:-1, None] + np.diff(c.borders)[:, None] * np.linspace(0, 1, _SAMPLES + 1)).ravel())
        for c in cells
    ]
    u, v = (x.ravel() for x in np.meshgrid(*axes, indexing="ij"))
    both = np.empty((len(u), 6))
    for start in range(0, len(u), _BLOCK):
        part = slice(start, start + _BLOCK)
        values = evaluate([*slopes[0], *slopes[1]], {("q", 0): u[part], ("q", 1): v[part]})
        for k, x in enumerate(values):
            both[part, k] = x
    du, dv = both[:, :3], both[:, 3:]
    size = float(np.linalg.norm(du, axis=1).mean() * np.linalg.norm(dv, axis=1).mean())
    area = np.linalg.norm(np.cross(du, dv), axis=1)
    worst = int(np.argmin(area))
    if not area[worst] > _FLAT * size:
        raise ModelError(
            f"{what}: it has no tangent plane near u = {u[worst]:.4g}, v = {v[worst]:.4g}; move the points there apart"
        )
