"""A library of surfaces for joints: each knows its expressions, its tangent frame in closed form and a mesh to draw.

The frame has x along df/du and z along the outward normal (up for the plane and the paraboloid). It is written with
sines and cosines instead of normed derivatives, so that it exists at the poles and goes on smoothly beyond them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, cos, evaluate, reciprocal, sin, sqrt
from scene.joints.base import SymbolReader
from scene.joints.curves.curve import read_point
from scene.number_checks import is_symbolic, positive

Pieces = list[tuple[np.ndarray, int]]  # poses (4, 4) whose product is the frame, and how many coordinates each takes
OPEN, JOINED, POLES = "open", "joined", "poles"

# local axis i of a surface lies along axis _ORDER[poles][i]
_ORDER = {"z": (0, 1, 2), "x": (1, 2, 0), "y": (2, 0, 1)}
_OUTWARD = np.array([[0.0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # z of the frame along the local x


@dataclass(frozen=True)
class Span:
    """What a mesh covers of one coordinate; ``ends`` are open, joined to each other, or each one point (a pole)."""

    low: float
    high: float
    ends: str = OPEN


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface f(u, v), m, that stands wherever the pair f, (u, v) does: ``f, (u, v) = surface``.

    name: for messages; f: three SymPy expressions; coordinates: their two symbols; pieces: its tangent frame in closed
    form over graph scalars (u, v, *sizes), or None for the normed derivatives; poles: the axis the local z lies along.
    """

    name: str
    f: tuple[Any, Any, Any]
    coordinates: tuple[Any, Any]
    sizes: tuple[Any, ...] = ()
    pieces: Callable[..., Pieces] | None = None
    poles: str = "z"
    u: Span = Span(-1.0, 1.0)
    v: Span = Span(-1.0, 1.0)

    def __iter__(self) -> Iterator[Any]:
        return iter((list(self.f), self.coordinates))

    @property
    def names(self) -> list[str]:
        """Names of the two coordinates."""
        return [getattr(symbol, "name", str(symbol)) for symbol in self.coordinates]

    def renamed(self, u: str, v: str) -> Surface:
        """The same surface over fresh symbols of these names."""
        import sympy as sp

        fresh = (fresh_symbol(u), fresh_symbol(v))
        table = dict(zip(self.coordinates, fresh, strict=True))
        x, y, z = (sp.sympify(e).xreplace(table) for e in self.f)
        return replace(self, f=(x, y, z), coordinates=fresh)

    def frame_pieces(self, graph: Graph, place: int) -> Pieces:
        """The closed-form frame over the inputs ("q", place), ("q", place + 1) and ("parameter", name)."""
        if self.pieces is None:
            raise ModelError(f"surfaces.{self.name} has no frame in closed form; use its derivatives")
        from recursive_dyn.graph.symbolic import from_sympy

        reader = SymbolReader(graph, ())
        sizes = [from_sympy(x, reader, self.name) if is_symbolic(x) else float(x) for x in self.sizes]
        pieces = self.pieces(graph.input(("q", place)), graph.input(("q", place + 1)), *sizes)
        return pieces if self.poles == "z" else [(_turned(self.poles), 0), *pieces]

    def mesh(
        self,
        nu: int = 48,
        nv: int = 24,
        u: tuple[float, float] | None = None,
        v: tuple[float, float] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (n, 3), m, and triangles (k, 3) seen from outside, closed where the surface is.

        nu, nv: points along each coordinate; u, v: another range than the whole surface, or than -1 ... 1 of an open
        one; parameters: values of the scene parameters in its sizes. Raises ModelError for what is missing or too few.
        """
        spans = [
            Span(float(given[0]), float(given[1])) if given is not None else own
            for given, own in ((u, self.u), (v, self.v))
        ]
        if min(nu, nv) < 3:
            raise ModelError(f"surfaces.{self.name}: a mesh needs nu and nv of 3 or more, not {nu} and {nv}")
        sides = [np.linspace(s.low, s.high, n, endpoint=s.ends != JOINED) for s, n in zip(spans, (nu, nv), strict=True)]
        ids = np.arange(nu * nv).reshape(nu, nv)
        if spans[1].ends == POLES:
            ids[:, 0], ids[:, -1] = ids[0, 0], ids[0, -1]
        if spans[0].ends == JOINED:
            ids = np.vstack([ids, ids[:1]])
        if spans[1].ends == JOINED:
            ids = np.hstack([ids, ids[:, :1]])
        a, b, c, d = ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]
        faces = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
        faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
        used, faces = np.unique(faces, return_inverse=True)
        grid_u, grid_v = np.meshgrid(*sides, indexing="ij")
        points = self._points(grid_u, grid_v, parameters or {})
        return points.reshape(-1, 3)[used], faces.reshape(-1, 3)

    def _points(self, u: np.ndarray, v: np.ndarray, parameters: Mapping[str, float]) -> np.ndarray:
        graph = Graph()
        point = read_point(self.f, self.coordinates, graph, f"surfaces.{self.name}")
        inputs = {("q", 0): u, ("q", 1): v} | {("parameter", n): float(x) for n, x in parameters.items()}
        try:
            return np.stack([np.broadcast_to(x, u.shape) for x in evaluate(list(point), inputs)], axis=-1)
        except KeyError as error:
            name = error.args[0][1]
            raise ModelError(
                f"surfaces.{self.name} depends on '{name}'; give its value, mesh(parameters={{'{name}': ...}})"
            ) from None


def fresh_symbol(name: str) -> Any:
    """A real SymPy symbol that equals no other, whatever their names."""
    import sympy as sp

    return sp.Dummy(name, real=True)


def plane() -> Surface:
    """The xy-plane; u, v: x and y, m; the normal is z."""
    return _surface("plane", (), lambda u, v: (u, v, 0), lambda u, v: [(_moved((u, v, 0.0)), 2)])


def sphere(radius: Any, poles: str = "z") -> Surface:
    """A sphere about the origin; u: longitude, v: latitude about the axis ``poles``, rad."""
    (r,) = _sizes("sphere", radius=radius)

    def point(u: Any, v: Any) -> tuple[Any, Any, Any]:
        s, c = _sympy_sin_cos()
        return r * c(u) * c(v), r * s(u) * c(v), r * s(v)

    def pieces(u: Scalar, v: Scalar, r: Scalar) -> Pieces:
        return [(_about(2, cos(u), sin(u)), 1), (_tilt(cos(v), sin(v), r * cos(v), r * sin(v)), 1), (_OUTWARD, 0)]

    return _surface("sphere", (r,), point, pieces, poles, _TURN, _LATITUDE)


def ellipsoid(a: Any, b: Any, c: Any, poles: str = "z") -> Surface:
    """An ellipsoid with the semiaxes a, b, c along x, y, z; u: eccentric longitude, v: latitude, rad."""
    given = _sizes("ellipsoid", a=a, b=b, c=c)
    semiaxes = tuple(given[k] for k in _order("ellipsoid", poles))

    def point(u: Any, v: Any) -> tuple[Any, Any, Any]:
        (a, b, c), (sn, cs) = semiaxes, _sympy_sin_cos()
        return a * cs(u) * cs(v), b * sn(u) * cs(v), c * sn(v)

    round_ = semiaxes[0] == semiaxes[1]
    return _surface("ellipsoid", semiaxes, point, _spheroid if round_ else _triaxial, poles, _TURN, _LATITUDE)


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
    R, r = _sizes("torus", radius=radius, tube=tube)
    if not is_symbolic(R) and not is_symbolic(r) and not r < R:
        raise ModelError(f"surfaces.torus: tube {r} must be less than radius {R}, so that it does not meet itself")

    def point(u: Any, v: Any) -> tuple[Any, Any, Any]:
        s, c = _sympy_sin_cos()
        return (R + r * c(v)) * c(u), (R + r * c(v)) * s(u), r * s(v)

    def pieces(u: Scalar, v: Scalar, R: Scalar, r: Scalar) -> Pieces:
        ring = _about(2, cos(u), sin(u), (R * cos(u), R * sin(u), 0.0))
        return [(ring, 1), (_tilt(cos(v), sin(v), r * cos(v), r * sin(v)), 1), (_OUTWARD, 0)]

    return _surface("torus", (R, r), point, pieces, poles, _TURN, _TURN)


def cylinder(radius: Any, poles: str = "z") -> Surface:
    """A round cylinder about the axis ``poles``, endless; u: angle around it, rad, v: distance along it, m."""
    (r,) = _sizes("cylinder", radius=radius)

    def point(u: Any, v: Any) -> tuple[Any, Any, Any]:
        s, c = _sympy_sin_cos()
        return r * c(u), r * s(u), v

    def pieces(u: Scalar, v: Scalar, r: Scalar) -> Pieces:
        around = _about(2, cos(u), sin(u), (r * cos(u), r * sin(u), 0.0))
        return [(around, 1), (_moved((0.0, 0.0, v)), 1), (_OUTWARD, 0)]

    return _surface("cylinder", (r,), point, pieces, poles, _TURN)


def paraboloid(a: Any, b: Any) -> Surface:
    """The bowl z = x^2 / (2 a) + y^2 / (2 b), a, b its radii of curvature at the bottom; u, v: x and y, m."""
    a, b = _sizes("paraboloid", a=a, b=b)

    def pieces(u: Scalar, v: Scalar, a: Scalar, b: Scalar) -> Pieces:
        along, across = u * reciprocal(a), v * reciprocal(b)  # slopes
        width = sqrt(along * along + 1.0)
        length = sqrt(width * width + across * across)
        first = _about(1, reciprocal(width), -(along * reciprocal(width)))
        G = first @ _about(0, width * reciprocal(length), across * reciprocal(length))
        G[:3, 3] = u, v, (along * u + across * v) * 0.5
        return [(G, 2)]

    return _surface("paraboloid", (a, b), lambda u, v: (u, v, u**2 / (2 * a) + v**2 / (2 * b)), pieces)


_TURN = Span(0.0, 2.0 * np.pi, JOINED)
_LATITUDE = Span(-np.pi / 2.0, np.pi / 2.0, POLES)


def _surface(
    name: str,
    sizes: tuple[Any, ...],
    point: Callable[[Any, Any], tuple[Any, Any, Any]],
    pieces: Callable[..., Pieces],
    poles: str = "z",
    u_span: Span = Surface.u,
    v_span: Span = Surface.v,
) -> Surface:
    import sympy as sp

    u, v = fresh_symbol("u"), fresh_symbol("v")
    local, order = point(u, v), _order(name, poles)
    x, y, z = (sp.sympify(local[order.index(k)]) for k in range(3))
    return Surface(name, (x, y, z), (u, v), sizes, pieces, poles, u_span, v_span)


def _sizes(name: str, **sizes: Any) -> tuple[Any, ...]:
    return tuple(positive(f"surfaces.{name}", what, value) for what, value in sizes.items())


def _order(name: str, poles: str) -> tuple[int, int, int]:
    if not isinstance(poles, str) or poles not in _ORDER:
        raise ModelError(f"surfaces.{name}: poles is the axis 'x', 'y' or 'z', not {poles!r}")
    return _ORDER[poles]


def _sympy_sin_cos() -> tuple[Any, Any]:
    import sympy as sp

    return sp.sin, sp.cos


def _turned(poles: str) -> np.ndarray:
    Q = np.zeros((4, 4))
    Q[[*_ORDER[poles], 3], range(4)] = 1.0
    return Q


def _moved(p: tuple[Scalar, Scalar, Scalar]) -> np.ndarray:
    G = array(np.eye(4))
    G[:3, 3] = p
    return G


def _about(k: int, c: Scalar, s: Scalar, p: tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Rotation about the coordinate axis k by the angle of cosine c and sine s, origin p."""
    G, i, j = _moved(p), (k + 1) % 3, (k + 2) % 3
    G[i, i], G[j, j], G[i, j], G[j, i] = c, c, -s, s
    return G


def _tilt(c: Scalar, s: Scalar, x: Scalar, z: Scalar) -> np.ndarray:
    """The local x raised towards z by the angle of cosine c and sine s, origin (x, 0, z)."""
    return _about(1, c, -s, (x, 0.0, z))
