"""Constraints that every engine has ready: welds, pins, distances and gears, written as rows between bodies."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, less, maximum, reciprocal, select, sqrt
from recursive_dyn.spatial.algebra import dot
from scene import force_elements
from scene.body import Body, World
from scene.constraint_group import DROP, ConstraintGroup, strength_of
from scene.content import SceneContent
from scene.force_elements import Point, rotation, scalars
from scene.joints.elementary import unit_axis
from scene.number_checks import rigid_pose

_ORIGIN = (0.0, 0.0, 0.0)
_HALF_TURN = 1e-9  # of 2 + 2 cos: within 3e-5 rad of it a turn has no axis to rounding


class ReadyConstraints(SceneContent):
    """The methods of a scene that add ready constraints; each returns the group of rows, which ``constraints.remove``
    takes out again.

    Rows that repeat others, as three of a hinge that closes a plane loop, are left out, and bear nothing. breaks_at:
    the force above which it breaks, see ``constrain``: of a pin and a distance in N; of a weld, and of a pin with an
    axis, the norm of that and of their moments in N m. ModelError names the constraint.
    """

    def weld(
        self, a: Body | World | str, b: Body | World | str, pose_a: Any = None, pose_b: Any = None,
        name: str | None = None, breaks_at: Any = np.inf,
    ) -> ConstraintGroup:  # fmt: skip
        """Hold a frame of b, at pose_b (4, 4) in it, to a frame of a, at pose_a."""

        def rows(graph: Graph, what: str) -> list[Scalar]:
            self._apart(what, a, b)
            (A, p), (B, r) = (self._frame(graph, what, *x) for x in ((a, pose_a), (b, pose_b)))
            R = A.T @ B
            turn = array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
            return [*(A.T @ (r - p)), *_unwound(turn, 1.0 + R[0, 0] + R[1, 1] + R[2, 2])]

        return self._ready("weld", name, rows, breaks_at)

    def pin(
        self, a: Body | World | str, b: Body | World | str, point_a: Any = _ORIGIN, point_b: Any = _ORIGIN,
        axis: Any = None, name: str | None = None, breaks_at: Any = np.inf,
    ) -> ConstraintGroup:  # fmt: skip
        """Hold a point of b to a point of a; with an ``axis`` ("x", "y", "z" or a vector), of both frames, as a hinge
        about it."""

        def rows(graph: Graph, what: str) -> list[Scalar]:
            self._apart(what, a, b)
            first, second = (self._place(what, *x) for x in ((a, point_a), (b, point_b)))
            A, B = rotation(graph, first.body), rotation(graph, second.body)
            found = list(A.T @ (second.position(graph) - first.position(graph)))
            if axis is not None:
                along, across = _triad(what, axis)
                seen = A.T @ (B @ array(along))
                found += _unwound(array([dot(array(x), seen) for x in across]), 2.0 + 2.0 * dot(array(along), seen))
            return found

        return self._ready("pin", name, rows, breaks_at)

    def distance(
        self, a: Body | World | str, b: Body | World | str, length: Any, point_a: Any = _ORIGIN, point_b: Any = _ORIGIN,
        name: str | None = None, breaks_at: Any = np.inf,
    ) -> ConstraintGroup:  # fmt: skip
        """Keep two points of bodies at a distance, m, a number above 0 or of parameters: a rod without mass."""

        def rows(graph: Graph, what: str) -> list[Scalar]:
            self._apart(what, a, b)
            (wanted,) = scalars(what, graph, length)
            if isinstance(wanted, float) and not wanted > 0.0:
                raise ModelError(f"{what}: a distance is above 0, not {length!r}; a pin keeps two points together")
            d = self._place(what, b, point_b).position(graph) - self._place(what, a, point_a).position(graph)
            return [sqrt(dot(d, d)) - wanted]

        return self._ready("distance", name, rows, breaks_at)

    def gear(
        self, driven: Any, driver: Any, ratio: Any, offset: Any = 0.0, name: str | None = None,
        breaks_at: Any = np.inf,
    ) -> ConstraintGroup:  # fmt: skip
        """Keep driven = ratio driver + offset, two coordinates (``wheel.q[0]``, ``scene.coordinate``)."""

        def rows(graph: Graph, what: str) -> list[Scalar]:
            x, y, r, c = scalars(what, graph, driven, driver, ratio, offset)
            return [x - r * y - c]

        return self._ready("gear", name, rows, breaks_at)

    def _ready(self, kind: str, name: str | None, rows: Any, breaks_at: Any) -> ConstraintGroup:
        name = numbered(kind, {group.name for group in self.constraints}) if name is None else name
        strength = strength_of(name, breaks_at)
        group = ConstraintGroup(name, tuple(rows(Graph(), f"constraint '{name}'")), DROP, strength)
        return self.add_constraint(group)

    def _place(self, what: str, node: Any, place: Any) -> Point:
        known = self._named(what, node)
        return force_elements.point(what, None if known == self.world.name else self[known], place)

    def _frame(self, graph: Graph, what: str, node: Any, pose: Any) -> tuple[np.ndarray, np.ndarray]:
        """(rotation (3, 3), position (3,)) of a frame of a body in the world."""
        X = np.eye(4) if pose is None else rigid_pose(what, "a pose", pose)
        origin = self._place(what, node, X[:3, 3])
        return rotation(graph, origin.body) @ array(X[:3, :3]), origin.position(graph)


def numbered(kind: str, known: Collection[str]) -> str:
    """The first of "kind 1", "kind 2", ... that is no name yet."""
    return next(name for k in count(1) if (name := f"{kind} {k}") not in known)


def _unwound(sines: np.ndarray, cosines: Scalar) -> list[Scalar]:
    """What vanishes at a turn of nothing alone, from sines of it, which vanish at half a turn too, and 2 + 2 cos of it,
    or twice that of half of it squared: as sines where they are small, and growing with the turn up to its half. There
    it is far from nothing."""
    half = sqrt(maximum(cosines, _HALF_TURN)) * 0.5
    rows = [x * reciprocal(half) for x in sines]
    rows[0] = select(less(cosines, _HALF_TURN), 4.0, rows[0])
    return rows


def _triad(what: str, axis: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """A unit vector along the axis, and two across."""
    try:
        along = unit_axis(axis)
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
    first = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    first /= np.linalg.norm(first)
    return along, [first, np.cross(along, first)]
