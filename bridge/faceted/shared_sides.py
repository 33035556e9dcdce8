"""Which triangles of a mesh share sides, seen from where their corners are."""

from __future__ import annotations

import numpy as np

BORDER = -1  # beyond a side that no other triangle has
_SAME = 1e-9  # of a mesh's extent, between corners that are one
_OPEN = 2000  # sides without another triangle, up to which it is looked for whether they lie on parts of others


def sides_shared(corners: np.ndarray) -> np.ndarray:
    """beside (t, 3): the triangle beyond each side of triangles (t, 3, 3), from each corner to the next, or BORDER.

    Of several the one that goes on most nearly in the triangle's plane. A side may end within another one: then each
    knows one on the other side.
    """
    beside = np.full((len(corners), 3), BORDER)
    if not len(corners):
        return beside
    points = corners.reshape(-1, 3)
    extent = float(np.ptp(points, axis=0).max())
    number = _numbered(np.rint((points - points[0]) / (_SAME * extent))).reshape(-1, 3)
    first, second = number.ravel(), np.roll(number, -1, axis=1).ravel()
    key = np.minimum(first, second) * len(points) + np.maximum(first, second)
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    many = np.diff(begins, append=len(order))
    pairs = order[begins[many == 2][:, None] + np.arange(2)]
    flat = beside.ravel()
    flat[pairs] = pairs[:, ::-1] // 3
    for begin, count in zip(begins[many > 2].tolist(), many[many > 2].tolist(), strict=True):
        own = order[begin : begin + count]
        inward = np.array([_inward(corners, side) for side in own])
        alike = inward @ inward.T + 3.0 * np.eye(count)
        flat[own] = own[alike.argmin(axis=1)] // 3
    alone = order[begins[many == 1]]
    if len(alone) <= _OPEN:
        _join(corners, alone, flat, _SAME * extent)
    return beside


def _numbered(points: np.ndarray) -> np.ndarray:
    """Numbers (n,) of points (n, 3), equal ones for equal points."""
    order = np.lexsort(points.T)
    other = (np.diff(points[order], axis=0) != 0.0).any(axis=1)
    number = np.empty(len(points), dtype=np.int64)
    number[order] = np.concatenate([[0], other.cumsum()])
    return number


def _inward(corners: np.ndarray, side: int) -> np.ndarray:
    """The unit vector from a side into its triangle."""
    own = np.roll(corners[side // 3], -(side % 3), axis=0)
    along = (own[1] - own[0]) / np.linalg.norm(own[1] - own[0])
    across = (own[2] - own[0]) - along * (along @ (own[2] - own[0]))
    return np.asarray(across / np.linalg.norm(across))


def _join(corners: np.ndarray, alone: np.ndarray, beside: np.ndarray, tolerance: float) -> None:
    """Note the triangles whose sides lie on each other without having the same ends."""
    start = corners.reshape(-1, 3)[alone]
    along = np.roll(corners, -1, axis=1).reshape(-1, 3)[alone] - start
    length = np.linalg.norm(along, axis=1)
    middles = start + 0.5 * along
    for k, side in enumerate(alone.tolist()):
        away = middles[k] - start
        share = np.einsum("si,si->s", away, along) / length**2
        off = np.linalg.norm(away - share[:, None] * along, axis=1)
        turned = np.linalg.norm(np.cross(along, along[k]), axis=1) / length / length[k]
        on = (off < tolerance) & (share >= 0.0) & (share <= 1.0) & (turned < 1e-6) & (alone // 3 != side // 3)
        if on.any():
            beside[side] = alone[np.argmax(on)] // 3
