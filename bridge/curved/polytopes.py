"""Convex polytopes by corners, edges and faces, as compiled loops read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from bridge.curved.manifold_points import Rows3

_FLAT = 1e-7  # sine of an angle between triangles up to which they are one face
_LEVEL = 1e-6  # share of the largest coordinate: how far corners of one face may be from a plane, as files round them


class Polytopes(NamedTuple):
    """Any number of polytopes, rows of each other's numbers counted through all of them.

    ranges (n, 6): the first and last of a polytope's corners, edges and faces; corners (v, 3), m; edges (e, 4): two
    corners, the two faces at them; normals (f, 3), offsets (f,): planes of faces, outwards; borders (f, 2): the first
    and last of a face's ``rim``; rim (r, 2): its corners, counterclockwise, each with the edge to the next one; balls
    (n, 4): the middle and the radius of a ball about each polytope.
    """

    ranges: Annotated[np.ndarray, int, 6]
    corners: Rows3
    edges: Annotated[np.ndarray, int, 4]
    normals: Rows3
    offsets: Annotated[np.ndarray, float]
    borders: Annotated[np.ndarray, int, 2]
    rim: Annotated[np.ndarray, int, 2]
    balls: Annotated[np.ndarray, float, 4]


class Polytope(NamedTuple):
    """One of them, in the same terms."""

    corners: np.ndarray
    edges: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray
    borders: np.ndarray
    rim: np.ndarray


def polytope_of(points: np.ndarray) -> Polytope | None:
    """The convex hull of points (n, 3), triangles in one plane as one face; None where they lie in a plane.

    What is flat but for how a file rounds its numbers is one face, too, or something that stands on it would stand on
    three of its corners.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    for level in (_LEVEL * float(np.abs(points).max()), 0.0):
        faces = _merged(hull, level)
        normals = np.array([hull.equations[own[0], :3] for own in faces])
        loops = [_loop(hull.simplices[own], points, normal) for own, normal in zip(faces, normals, strict=True)]
        made = _bounded(points, loops, normals)
        if made is not None:
            return made
    return None


def box_polytope(half: Sequence[float]) -> Polytope:
    """A box of these half extents (3,) about the origin."""
    signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    loops, normals = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            one, other = (axis + 1) % 3, (axis + 2) % 3
            around = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)][:: int(sign)]
            corners = [{axis: sign, one: x, other: y} for x, y in around]
            loops.append([int(sum((c[i] > 0.0) << (2 - i) for i in range(3))) for c in corners])
            normals.append(sign * np.eye(3)[axis])
    made = _bounded(signs * np.asarray(half), loops, np.array(normals))
    assert made is not None
    return made


def gathered_polytopes(own: Sequence[Polytope]) -> Polytopes:
    """All of them in common arrays."""
    empty = Polytope(
        np.zeros((0, 3)), np.zeros((0, 4), np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 2), np.int64),
        np.zeros((0, 2), np.int64),
    )  # fmt: skip
    ranges, parts, at = [], [empty], np.zeros(4, dtype=np.int64)  # corners, edges, faces, rims so far
    for each in own:
        c, e, f, r = at.tolist()
        ends = (c + len(each.corners), e + len(each.edges), f + len(each.normals), r + len(each.rim))
        ranges.append((c, ends[0], e, ends[1], f, ends[2]))
        shifted = each.edges + np.array((c, c, f, f)), each.rim + np.array((c, e))
        parts.append(each._replace(edges=shifted[0], borders=each.borders + r, rim=shifted[1]))
        at[:] = ends
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    balls = np.array([_ball(each.corners) for each in own]).reshape(-1, 4)
    corners, edges, normals, offsets, borders, rim = columns
    numbers = np.array(ranges, dtype=np.int64).reshape(-1, 6)
    return Polytopes(numbers, corners, edges, normals, offsets, borders, rim, balls)


def _ball(corners: np.ndarray) -> np.ndarray:
    """The middle of a box about corners, and how far they are from it."""
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    return np.append(middle, np.linalg.norm(corners - middle, axis=1).max())


def _bounded(points: np.ndarray, loops: Sequence[Sequence[int]], normals: np.ndarray) -> Polytope | None:
    """Of faces, each the points around it; None if they do not close."""
    if not all(loops):
        return None
    used = sorted({k for loop in loops for k in loop})
    number = {k: i for i, k in enumerate(used)}
    sides = [[*zip(loop, [*loop[1:], loop[0]], strict=True)] for loop in loops]
    edges = dict[tuple[int, int], list[int]]()
    for f, own in enumerate(sides):
        for a, b in own:
            edges.setdefault((min(a, b), max(a, b)), []).append(f)
    if any(len(own) != 2 for own in edges.values()):
        return None
    order = {pair: k for k, pair in enumerate(edges)}
    rim = [(number[a], order[min(a, b), max(a, b)]) for own in sides for a, b in own]
    ends = np.cumsum([0, *map(len, loops)])
    offsets = [max(float(normal @ points[k]) for k in loop) for normal, loop in zip(normals, loops, strict=True)]
    rows = [(number[a], number[b], *own) for (a, b), own in edges.items()]
    return Polytope(
        points[used], np.array(rows, dtype=np.int64), normals, np.array(offsets),
        np.stack([ends[:-1], ends[1:]], axis=1), np.array(rim, dtype=np.int64),
    )  # fmt: skip


def _merged(hull: Any, level: float) -> list[list[int]]:
    """Triangles of each face of scipy's hull, the largest of each first: nearer to that one's plane than ``level``, m,
    or even with a neighbour."""
    normals, neighbours, corners = hull.equations[:, :3], hull.neighbors, hull.points[hull.simplices]
    flat = (np.linalg.norm(normals[:, None] - normals[neighbours], axis=2) < _FLAT).tolist()
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    face, result = [-1] * len(normals), list[list[int]]()
    for first in np.argsort(-areas, kind="stable").tolist():
        if face[first] >= 0:
            continue
        own, face[first] = [first], len(result)
        away = np.abs(corners @ normals[first] + hull.equations[first, 3]).max(axis=1) if level else None
        for k in own:  # grows while it is gone through
            for other, even in zip(neighbours[k].tolist(), flat[k], strict=True):
                if face[other] < 0 and (even or (away is not None and away[other] < level)):
                    face[other] = len(result)
                    own.append(other)
        result.append(own)
    return result


def _loop(triangles: np.ndarray, points: np.ndarray, normal: np.ndarray) -> list[int]:
    """Corners of a convex face of triangles (n, 3) counterclockwise about its normal: along sides that one of them has;
    none where these are no ring."""
    sides = set[tuple[int, int]]()
    for a, b, c in triangles.tolist():
        for p, q in ((a, b), (b, c), (c, a)):
            sides ^= {(min(p, q), max(p, q))}
    beside = dict[int, list[int]]()
    for p, q in sides:
        beside.setdefault(p, []).append(q)
        beside.setdefault(q, []).append(p)
    if not sides or any(len(own) != 2 for own in beside.values()):
        return []
    ring = [min(beside)]
    ring.append(min(beside[ring[0]]))
    while len(ring) < len(sides):
        one, other = beside[ring[-1]]
        ring.append(other if one == ring[-2] else one)
    if len(set(ring)) < len(ring):
        return []
    x = points[ring] - points[ring[0]]
    turned = float(np.cross(x[1:-1], x[2:]).sum(axis=0) @ normal)
    return ring if turned > 0.0 else ring[::-1]
