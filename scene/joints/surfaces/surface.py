"""A surface f(u, v): its point and tangent frame over the graph, a mesh of it to draw, and its SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.traversal import evaluate
from scene.scalars import carried, in_sympy, lowered

Pieces = list[tuple[np.ndarray, int]]  # poses (4, 4) whose product is the frame, and how many coordinates each takes
OPEN, JOINED, POLES = "open", "joined", "poles"

# local axis i of a surface lies along axis ORDER[poles][i]
ORDER = {"z": (0, 1, 2), "x": (1, 2, 0), "y": (2, 0, 1)}


@dataclass(frozen=True)
class Span:
    """What a mesh covers of one coordinate; ``ends`` are open, joined to each other, or each one point (a pole)."""

    low: float
    high: float
    ends: str = OPEN


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface f(u, v), m, that stands wherever the pair f, (u, v) does: ``f, (u, v) = surface``.

    name: for messages; point: f as scalars (3,) over ("q", 0), ("q", 1) and parameters; names: of u and v; sizes: the
    arguments of its function in joints.surfaces by name, empty for one of a person's own; pieces: its tangent frame in
    closed form over graph scalars (u, v, *sizes along the local axes), or None for the normed derivatives; poles: the
    axis the local z lies along; u, v: what a mesh covers; about_any: of a surface with poles, pieces in the one formula
    that serves wherever the poles are; v_limits: those of v that joints have, None for none.
    """

    name: str
    point: np.ndarray
    names: tuple[str, str]
    sizes: Mapping[str, Scalar] = field(default_factory=dict)
    pieces: Callable[..., Pieces] | None = None
    poles: str = "z"
    u: Span = Span(-1.0, 1.0)
    v: Span = Span(-1.0, 1.0)
    about_any: Callable[..., Pieces] | None = None
    v_limits: tuple[float, float] | None = None

    @classmethod
    def of(cls, name: str, f: Any, coordinates: Any, u: Span = u, v: Span = v) -> Surface:
        """The surface of three SymPy expressions in two symbols. Raises ModelError."""
        names = [getattr(symbol, "name", str(symbol)) for symbol in coordinates]
        label = f"surface of ({', '.join(names)})"
        entries = list(f)
        if len(entries) != 3 or len(names) != 2:
            raise ModelError(f"{label} needs three expressions x, y, z and two symbols, not {len(entries)}")
        return cls(name, lowered(entries, label, tuple(coordinates)), (names[0], names[1]), u=u, v=v)

    def __iter__(self) -> Iterator[Any]:
        return iter((list(self.f), self.coordinates))

    @cached_property
    def coordinates(self) -> tuple[Any, Any]:
        """The SymPy symbols of u and v."""
        return fresh_symbol(self.names[0]), fresh_symbol(self.names[1])

    @cached_property
    def f(self) -> tuple[Any, Any, Any]:
        """The three SymPy expressions x, y, z in the two coordinates."""
        x, y, z = in_sympy(self.point, self.coordinates)
        return x, y, z

    def renamed(self, u: str, v: str) -> Surface:
        """The same surface over coordinates of these names."""
        return replace(self, names=(u, v))

    def frame_pieces(self, graph: Graph, place: int) -> Pieces:
        """The closed-form frame over the inputs ("q", place), ("q", place + 1) and ("parameter", name)."""
        if self.pieces is None:
            raise ModelError(f"surfaces.{self.name} has no frame in closed form; use its derivatives")
        sizes = [carried([x], graph)[0] for x in local_sizes(self.poles, self.sizes)]
        pieces = self.pieces(graph.input(("q", place)), graph.input(("q", place + 1)), *sizes)
        return pieces if self.poles == "z" else [(turned(self.poles), 0), *pieces]

    def point_over(self, graph: Graph, place: int) -> np.ndarray:
        """The point (3,) over the inputs ("q", place), ("q", place + 1) and ("parameter", name) of a graph."""
        return carried(self.point, graph, {("q", i): graph.input(("q", place + i)) for i in range(2)})

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
        inputs = {("q", 0): u, ("q", 1): v} | {("parameter", n): float(x) for n, x in parameters.items()}
        try:
            return np.stack([np.broadcast_to(x, u.shape) for x in evaluate(list(self.point), inputs)], axis=-1)
        except KeyError as error:
            name = error.args[0][1]
            raise ModelError(
                f"surfaces.{self.name} depends on '{name}'; give its value, mesh(parameters={{'{name}': ...}})"
            ) from None


def fresh_symbol(name: str) -> Any:
    """A real SymPy symbol that equals no other, whatever their names."""
    import sympy as sp

    return sp.Dummy(name, real=True)


def local_sizes(poles: str, sizes: Mapping[str, Scalar]) -> list[Scalar]:
    """A surface's sizes in the order of its local axes: those of an ellipsoid are along x, y and z."""
    values = list(sizes.values())
    return [values[k] for k in ORDER[poles]] if len(values) == 3 else values


def turned(poles: str) -> np.ndarray:
    """The pose (4, 4) of a surface's local axes."""
    Q = np.zeros((4, 4))
    Q[[*ORDER[poles], 3], range(4)] = 1.0
    return array(Q)
