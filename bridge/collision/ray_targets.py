"""What rays meet in closed form: shapes of the scene's bodies and of its scenery, and what is left to Bullet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.bodies.true_shapes import kind_and_size, known_parts
from bridge.curved.distances import BOX, HULL
from bridge.curved.manifold_points import Axes, Poses, Rows3, dot, put_in_world
from bridge.curved.polytopes import Polytope, Polytopes, box_polytope, gathered_polytopes
from bridge.curved.ray_entries import HALF_SPACE, NEVER, entry
from bridge.planes.half_spaces import facing
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.contact.contacts import STATIC
from scene import shapes

_ROUNDING = 1e-9  # of squares of lengths
_CLOSED = (
    shapes.Box, shapes.Sphere, shapes.Capsule, shapes.Cylinder, shapes.Ellipsoid, shapes.Torus, shapes.Plane
)  # fmt: skip


class Targets(NamedTuple):
    """Shapes (m of them): bodies (m,), the scene's number, or STATIC; kinds (m,) as of ``ray_entries``; solids (m,), of
    ``polytopes``; sizes (m, 3); at (m, 4, 4), in the body's frame, scenery's in the world; reaches (m,), m, how far
    each extends from its origin, infinite of planes. centers (m, 3), axes (m, 3, 3), by rows: room for where they are.
    """

    bodies: Integers
    kinds: Integers
    solids: Integers
    sizes: Rows3
    at: Poses
    reaches: Floats
    polytopes: Polytopes
    centers: Rows3
    axes: Axes


class RayTargets:
    """``targets``, of all groups of Bullet's ids whose shapes have closed forms, and ``known``, these ids; ``others``:
    whether there is anything else of the scene's. names: of the bodies by number."""

    def __init__(self, bodies: MirroredBodies) -> None:
        self.names, self.known, self.others = [*bodies.of], set[int](), False
        self._rows, self._polytopes = list[_Row](), list[Polytope]()
        self._room: tuple[RaysMet, Sequence[np.ndarray], Bound] | None = None
        numbers = {name: k for k, name in enumerate(self.names)}
        for group in bodies.groups:
            parts = [_parts(shape, bool(group.name)) for shape in group.shapes]
            if None in parts:
                self.others = True
                continue
            self.known.update(group.ids)
            for shape, own in zip(group.shapes, parts, strict=True):
                self._add(shape, own or (), numbers[group.name] if group.name else STATIC)
        self.targets = self._gathered()

    def _add(self, shape: shapes.Shape, parts: Sequence[Polytope], number: int) -> None:
        for part in parts:
            far = float(np.linalg.norm(part.corners, axis=1).max())
            self._polytopes.append(part)
            self._rows.append(_Row(number, HULL, len(self._polytopes) - 1, (0.0, 0.0, 0.0), shape.at, far))
        if isinstance(shape, shapes.Plane):
            at = shape.at @ facing(np.asarray(shape.normal))
            self._rows.append(_Row(number, HALF_SPACE, 0, (0.0, 0.0, 0.0), at, math.inf))
        elif not parts:
            kind, size = kind_and_size(shape)
            self._polytopes += [box_polytope(size)] if kind == BOX else []
            self._rows.append(_Row(number, kind, len(self._polytopes) - 1, size, shape.at, _reach(shape, size)))

    def _gathered(self) -> Targets:
        bodies, kinds, solids, sizes, at, reaches = zip(*self._rows, strict=True) if self._rows else ((),) * 6
        m = len(bodies)
        return Targets(
            np.array(bodies, dtype=np.int64), np.array(kinds, dtype=np.int64), np.array(solids, dtype=np.int64),
            np.array(sizes, dtype=float).reshape(-1, 3), np.array(at, dtype=float).reshape(-1, 4, 4),
            np.array(reaches, dtype=float), gathered_polytopes(self._polytopes), np.zeros((m, 3)), np.zeros((m, 3, 3)),
        )  # fmt: skip

    def cast(self, poses: np.ndarray, starts: np.ndarray, ways: np.ndarray) -> RaysMet:
        """Where rays from starts (n, 3) along ways (n, 3) meet what is known, with bodies at ``poses`` (nb, 4, 4). The
        next call with as many writes over it."""
        n = len(starts)
        if self._room is None or len(self._room[0].fractions) != n:  # bound once for those who ask as much each step
            met = RaysMet(np.zeros(n), np.zeros((n, 3)), np.zeros(n, dtype=np.int64))
            own = np.zeros((len(self.names), 4, 4)), np.zeros((n, 3)), np.zeros((n, 3))
            self._room = met, own, cast.bind(self.targets, *own, *met)
        met, given, bound = self._room
        for room, values in zip(given, (poses, starts, ways), strict=True):
            room[:] = values
        bound()
        return met


class _Row(NamedTuple):
    """One of ``Targets``."""

    body: int
    kind: int
    solid: int
    size: tuple[float, float, float]
    at: np.ndarray
    reach: float


class RaysMet(NamedTuple):
    """Of n rays: fractions (n,) of their way, above 1 of those that meet nothing; normals (n, 3); bodies (n,)."""

    fractions: np.ndarray
    normals: np.ndarray
    bodies: np.ndarray


def _parts(shape: shapes.Shape, moves: bool) -> Sequence[Polytope] | None:
    """Convex parts of a mesh, none of another shape that has a closed form; None of what has none."""
    if type(shape) is shapes.Mesh:
        return known_parts(shape, moves)
    return () if type(shape) in _CLOSED else None


def _reach(shape: shapes.Shape, size: Sequence[float]) -> float:
    match shape:
        case shapes.Box() | shapes.Cylinder():
            return float(np.linalg.norm(size))
        case shapes.Ellipsoid():
            return max(size)
    return sum(size)  # of radius and half length, or of a torus' two radii


class SceneRays:
    """Rays among all that is known of a scene's bodies in Bullet, at the poses that ``poses`` tells."""

    def __init__(self, bodies: MirroredBodies, poses: Callable[[], np.ndarray]) -> None:
        self._bodies, self._poses, self._version = bodies, poses, -1

    @property
    def among(self) -> RayTargets:
        """What there is to meet now."""
        if self._version != self._bodies.version:
            self._targets, self._version = RayTargets(self._bodies), self._bodies.version
        return self._targets

    def cast(self, starts: np.ndarray, ways: np.ndarray) -> RaysMet:
        """Where rays from starts (n, 3) along ways (n, 3) meet it first."""
        return self.among.cast(self._poses(), starts, ways)


@compiled
def cast(
    targets: Targets, poses: Poses, starts: Rows3, ways: Rows3, fractions: Floats, normals: Rows3, bodies: Integers
) -> None:
    """The first entries of rays; ``fractions`` are beyond the end where there is none."""
    x, u, n, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    place(targets, poses)
    for k in range(len(starts)):
        start, way, best, of = starts[k], ways[k], NEVER, -1
        square = dot(way, way)
        for m in range(len(targets.bodies)):
            center, reach = targets.centers[m], targets.reaches[m]
            for i in range(3):
                w[i] = center[i] - start[i]
            if reach < math.inf:
                along = dot(w, way) / square
                away = dot(w, w) - along * along * square - reach * reach * (1.0 + _ROUNDING)
                before = max(0.0, along - best)  # it may be met only behind what was
                if away > _ROUNDING * dot(w, w) or before * before * square > reach * reach:
                    continue
            axes = targets.axes[m]
            for i in range(3):
                x[i], u[i] = -dot(axes[i], w), dot(axes[i], way)
            t = entry(targets.kinds[m], targets.sizes[m], targets.polytopes, targets.solids[m], x, u, n)
            if t <= 1.0 and t < best:
                best, of = t, m
                for i in range(3):
                    normals[k, i] = axes[0, i] * n[0] + axes[1, i] * n[1] + axes[2, i] * n[2]
        fractions[k], bodies[k] = best, targets.bodies[of] if of >= 0 else STATIC


@compiled
def place(targets: Targets, poses: Poses) -> None:
    """Where the shapes are with bodies at ``poses``."""
    for m in range(len(targets.bodies)):
        put_in_world(targets.bodies[m], targets.at[m], poses, targets.centers[m], targets.axes[m])
