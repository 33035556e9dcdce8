"""What Bullet's bodies stand for where contacts are found on the true surfaces: rows of shapes by Bullet's id."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from bridge.bodies.bullet_groups import OTHERS, seekers
from bridge.bodies.convex_decomposition import hulls, is_grouped
from bridge.bodies.seekers import Seekers, seekers_among
from bridge.curved.curved_pairs import POINTS
from bridge.curved.distances import BOX, CYLINDER, ELLIPSOID, FACETS, HULL, ROUND, TORUS
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import Polytope, Polytopes, box_polytope, gathered_polytopes, polytope_of
from bridge.faceted.facets import Facets, Triangulation, gathered_facets, grid_surface, mesh_surface
from bridge.planes.row_table import RowKind, RowTable, packed
from bridge.planes.supports import corners
from recursive_dyn.codegen.compiled import Flags, Integers
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.model.splice import Splice
from scene import shapes

UNKNOWN, FLAT, CURVED = 0, 1, 2  # sorts of bodies of Bullet's: of two boxes alone it tells the points
NOBODY = -1
_INT = np.int64
_ROWS = (
    RowKind(_INT, (4,)), RowKind(_INT), RowKind(_INT), RowKind(_INT), RowKind(float, (4, 4)), RowKind(float, (3,))
)  # fmt: skip
_CURVED = (shapes.Sphere, shapes.Capsule, shapes.Cylinder, shapes.Ellipsoid, shapes.Torus)
_FACES = 500  # of a mesh that is looked at face by face
_ON = 1e-6  # share of a mesh's size: how far from its hull it may be, as files round it


_KNOWN = WeakKeyDictionary[shapes.Mesh, dict[bool, Sequence[Polytope] | None]]()
_SURFACES = WeakKeyDictionary[shapes.Shape, Triangulation]()


class TrueShapes(NamedTuple):
    """Shapes (m of them) by Bullet's ids (n of them).

    sorts (n,); leaders (n,): the first id of those that stand for the same shapes; firsts, lasts (n,): their rows;
    bodies (m,): the scene's number, or STATIC; kinds, hulls (m,): as ``curved_pairs`` has them, hulls also numbers of
    ``facets``; at (m, 4, 4): in the body's frame, scenery's in the world; shells (m,): whether something may be inside,
    as of scenery's convex meshes; placed, found: room for shapes, and for points of two of them; seekers: those whose
    neighbours are found without Bullet.
    """

    sorts: Integers
    leaders: Integers
    firsts: Integers
    lasts: Integers
    bodies: Integers
    kinds: Integers
    hulls: Integers
    at: Annotated[np.ndarray, float, 4, 4]
    shells: Flags
    solids: Polytopes
    facets: Facets
    placed: InWorld
    found: Found
    seekers: Seekers


@dataclass(frozen=True, eq=False)
class Group:
    """Bullet's ids that together stand for shapes; a body of the scene by name, or "" for scenery."""

    ids: tuple[int, ...]
    name: str
    shapes: tuple[shapes.Shape, ...]

    @cached_property
    def begins_true(self) -> bool:
        """Whether the first of them is curved, or may be a convex mesh or a surface of triangles."""
        first = self.shapes[0]
        return is_curved(first) or isinstance(first, (shapes.HeightField, shapes.Mesh))

    @cached_property
    def sort(self) -> int:
        """Whether all of them are curved, or flat: boxes, convex meshes, or a surface of triangles."""
        if all(is_curved(shape) for shape in self.shapes):
            return CURVED
        flat = all(type(shape) is shapes.Box for shape in self.shapes) or self.polytopes or self.surface
        return FLAT if flat else UNKNOWN

    @cached_property
    def is_sought(self) -> bool:
        """Whether Bullet is not asked which ellipsoids are near: where all contacts with them are on true surfaces."""
        return _is_plain(self.shapes) or self.surface is not None

    @cached_property
    def surface(self) -> Triangulation | None:
        """Triangles of scenery that is no convex mesh, if that is what it is."""
        shape = self.shapes[0]
        if self.name or self.polytopes or not isinstance(shape, (shapes.HeightField, shapes.Mesh)):
            return None
        if shape not in _SURFACES:
            _SURFACES[shape] = _surface_of(shape)
        return _SURFACES[shape]

    @cached_property
    def polytopes(self) -> tuple[Sequence[Polytope], ...]:
        """Of each of its meshes, if that is what it consists of and all are known as convex ones."""
        found = list[Sequence[Polytope]]()
        for shape in self.shapes:
            parts = known_parts(shape, bool(self.name)) if type(shape) is shapes.Mesh else None
            if parts is None:
                return ()
            found.append(parts)
        return tuple(found)


def known_parts(shape: shapes.Mesh, moves: bool) -> Sequence[Polytope] | None:
    """``convex_parts``, kept as long as the shape is."""
    own = _KNOWN.setdefault(shape, {})
    if moves not in own:
        own[moves] = convex_parts(shape, moves)
    return own[moves]


def convex_parts(shape: shapes.Mesh, moves: bool) -> list[Polytope] | None:
    """What Bullet has of a mesh: its hull or its parts where it moves, all of it if it is convex where it does not."""
    if is_grouped(shape):
        return None
    if moves:
        parts = hulls(shape)
        points = [corners(shape) * np.asarray(shape.scale)] if parts is None else [own for own, _ in parts.parts]
    else:
        mesh = shapes.to_trimesh(shape)
        if not (mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0.0):
            return None
        points = [np.asarray(mesh.vertices)]
    found = [polytope_of(own) for own in points]
    if any(own is None or len(own.normals) > _FACES for own in found):
        return None
    known = [own for own in found if own is not None]
    return known if moves or _is_convex(mesh, known[0]) else None


def _surface_of(shape: shapes.HeightField | shapes.Mesh) -> Triangulation:
    """All of a height field's or a mesh's triangles, in its own frame."""
    if isinstance(shape, shapes.HeightField):
        return grid_surface(shape.heights, shape.spacing)
    return mesh_surface(np.array(shapes.to_trimesh(shape).triangles, dtype=float))


def _is_convex(mesh: Any, hull: Polytope) -> bool:
    """Whether all of a mesh is on its hull."""
    size = float(np.ptp(mesh.vertices, axis=0).max())
    inside = (mesh.vertices @ hull.normals.T - hull.offsets).max(axis=1).min()
    return bool(inside > -_ON * size and abs(mesh.convex_hull.volume - mesh.volume) < _ON * size**3)


def is_curved(shape: shapes.Shape | None) -> bool:
    """Whether a shape's own surface is curved, and contacts are found on it."""
    return type(shape) in _CURVED


def _is_plain(own: Sequence[shapes.Shape]) -> bool:
    """Whether shapes have surfaces that are known without any work."""
    return bool(own) and all(is_curved(shape) or type(shape) is shapes.Box for shape in own)


def filter_of(own: Sequence[shapes.Shape], group: int) -> tuple[int, int]:
    """Bullet's collision group and mask of what stands for such shapes of a body, in a mirror of this group.

    An ellipsoid is a hull of many corners in Bullet, of which it takes its time to find the nearest. Where points are
    found on true surfaces anyway, Bullet need not say either that there are any.
    """
    if not _is_plain(own):
        return group, OTHERS
    if any(type(shape) is shapes.Ellipsoid for shape in own):
        return seekers(group), OTHERS & ~group & ~seekers(group)
    return group, OTHERS & ~seekers(group)


class TrueShapesTable:
    """``table``, of the groups that were told last."""

    def __init__(self) -> None:
        self._rows = RowTable(_ROWS)  # of groups
        self._told = list[Group]()  # last, of which those that are not unknown have rows, as long as some begin true
        self._true = 0  # how many begin so
        self._numbers = dict[Hashable, int]()  # of polytopes
        self._polytopes = list[Polytope]()
        self._solids = gathered_polytopes(())
        self._surfaces = dict[Group, Triangulation]()  # of groups that have rows, in their order
        self._facets: Facets | None = None  # all of these
        self.tell((), np.zeros(0, dtype=np.int64))

    def tell(self, groups: Iterable[Group], numbers: np.ndarray) -> None:
        """Groups of Bullet's ids (n,), and which of the scene's bodies each is, or STATIC."""
        size = len(numbers)
        self._follow([*groups])
        heads, ids, kinds, known, at, sizes = self._rows.arrays
        if len(self._polytopes) > len(self._solids.ranges):
            self._solids = gathered_polytopes(self._polytopes)
        if self._facets is None:
            self._facets = gathered_facets([*self._surfaces.values()])
        if self._surfaces:
            known = known.copy()
            known[kinds == FACETS] = np.arange(len(self._surfaces))
        sorts, leaders, firsts, lasts = np.zeros((4, size), dtype=np.int64)
        leaders[:] = NOBODY
        sort, leader, many, each = heads.T
        ends = each.cumsum()
        one_by_one = len(ids) == len(heads)  # each has one at least
        for table, values in ((sorts, sort), (leaders, leader), (firsts, ends - each), (lasts, ends)):
            table[ids] = values if one_by_one else values.repeat(many)
        bodies = numbers[leader].repeat(each)
        m, shells = len(bodies), (kinds == HULL) & (bodies == STATIC)
        placed = InWorld(np.empty((m, 3)), np.empty((m, 3, 3)), sizes, np.zeros((0, 3)), np.zeros((0, 3)))
        found, solids = Found(np.empty((POINTS, 7)), np.zeros(1, dtype=np.int64)), self._solids
        surfaces = [*self._surfaces.values()]
        near = seekers_among(kinds, sizes, bodies, leader.repeat(each), surfaces)
        self.table = TrueShapes(
            sorts, leaders, firsts, lasts, bodies, kinds, known, at, shells, solids, self._facets, placed, found, near
        )

    def _follow(self, groups: list[Group]) -> None:
        told, self._told, known = self._told, groups, self._true
        splice = Splice.between(told, groups)
        gone, came = told[splice.first : splice.end], groups[splice.first : splice.first + splice.came]
        self._true += sum(group.begins_true for group in came) - sum(group.begins_true for group in gone)
        if not known or not self._true:  # there were no rows, or are none any more
            gone, came, self._rows = [], groups if self._true else [], RowTable(_ROWS)
            if self._surfaces:
                self._surfaces, self._facets = {}, None
        for group in gone:
            if group.sort != UNKNOWN:
                self._rows.remove(group)
                if self._surfaces.pop(group, None):
                    self._facets = None
        for group in came:
            if group.sort != UNKNOWN:
                self._rows.add(group, packed(self._content(group), _ROWS))
                if group.sort == FLAT and group.surface:
                    self._surfaces[group], self._facets = group.surface, None

    def _content(self, group: Group) -> Sequence[np.ndarray]:
        """Sort, leader, how many ids and rows; ids; kinds, polytopes, poses and sizes, a row each."""
        rows = self._mesh_rows(group) if group.polytopes else self._shape_rows(group)
        return np.array([group.sort, group.ids[0], len(group.ids), len(rows[0])]), np.array(group.ids), *rows

    def _shape_rows(self, group: Group) -> Sequence[np.ndarray]:
        kinds, sizes = zip(*(kind_and_size(shape) for shape in group.shapes), strict=True)
        known = [self._number(size) if kind == BOX else NOBODY for kind, size in zip(kinds, sizes, strict=True)]
        at = np.array([shape.at for shape in group.shapes], dtype=float)
        return np.array(kinds, dtype=np.int64), np.array(known, dtype=np.int64), at, np.array(sizes, dtype=float)

    def _mesh_rows(self, group: Group) -> Sequence[np.ndarray]:
        """Meshes are as they lie in the body's frame."""
        first, at = len(self._polytopes), list[np.ndarray]()
        for shape, parts in zip(group.shapes, group.polytopes, strict=True):
            at += [shape.at] * len(parts)
            self._polytopes += parts
        n = len(at)
        return np.full(n, HULL), np.arange(first, first + n), np.array(at, dtype=float), np.zeros((n, 3))

    def _number(self, half: tuple[float, float, float]) -> int:
        if half not in self._numbers:
            self._numbers[half] = len(self._polytopes)
            self._polytopes.append(box_polytope(half))
        return self._numbers[half]


def nothing_true(size: int) -> TrueShapes:
    """Nothing is known of ids below ``size``."""
    made = TrueShapesTable()
    made.tell((), np.full(size, STATIC))
    return made.table


def kind_and_size(shape: shapes.Shape) -> tuple[int, tuple[float, float, float]]:
    """Kind and sizes of a shape, as ``curved_pairs`` has them."""
    match shape:
        case shapes.Box():
            x, y, z = (0.5 * float(s) for s in shape.size)
            return BOX, (x, y, z)
        case shapes.Sphere():
            return ROUND, (shape.radius, 0.0, 0.0)
        case shapes.Capsule():
            return ROUND, (shape.radius, 0.5 * shape.length, 0.0)
        case shapes.Cylinder():
            return CYLINDER, (shape.radius, 0.5 * shape.length, 0.0)
        case shapes.Torus():
            return TORUS, (shape.major, shape.minor, 0.0)
        case shapes.Ellipsoid():
            x, y, z = (float(r) for r in shape.radii)
            return ELLIPSOID, (x, y, z)
        case shapes.HeightField() | shapes.Mesh():
            return FACETS, (0.0, 0.0, 0.0)
    raise AssertionError("groups are of known shapes")
