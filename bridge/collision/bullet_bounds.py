"""Boxes about all that Bullet may tell of as touching, and planes: what is nowhere near need not be looked at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bridge.bodies.mirrored_scene import MirroredScene
from bridge.collision.raw_points import BITS, LOW
from bridge.outsiders import WORLD
from bridge.planes.half_spaces import MARGIN
from bridge.planes.lowest_points import ELLIPSOID, POINTS, Supports
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.simulation.bounds import Bounds, apart_keys

_TOLD = 0.02  # of the smaller body's radius, and m about boxes: up to which Bullet tells of points


def bounds_of(scene: MirroredScene, ignored: np.ndarray, numbers: np.ndarray, others: bool) -> Bounds:
    """Those of a scene; who passes whom, and whose bodies these are, as ``Population`` has it; others: whether Bullet
    has more than the mirror's bodies."""
    bodies, planes, nb = scene.bodies, scene.planes.table(), len(scene.names)
    boxes = bodies.boxes.copy()
    if len(scene.planes):
        _take_in(planes.supports, boxes)  # what meets planes are shapes, not Bullet's bodies
    radius = np.linalg.norm(boxes[:, :3], axis=1) + 2.0 * np.linalg.norm(boxes[:, 3:], axis=1)
    gaps = _TOLD * np.maximum(radius, 1.0) + MARGIN
    gaps[~np.isfinite(bodies.reach[:, 0])] = -1.0
    number = {name: k for k, name in enumerate(scene.names)} if bodies.on_planes or scene.pairs else {}
    gaps[[number[name] for name in bodies.on_planes]] = np.inf  # Bullet's planes are no half spaces
    pairs, alone = np.stack([ignored >> BITS, numbers[ignored & LOW]], axis=1), [*map(number.get, _passing(scene))]
    world = np.array([(k, nb) for k in alone if k is not None], dtype=np.int64).reshape(-1, 2)
    origins, normals = planes.planes.origins, planes.planes.normals
    walls = bodies.walls(len(numbers))
    walls[[*bodies.planes]] = np.nan
    return Bounds(
        boxes, gaps, bodies.reach[:, 1].copy(), walls[walls[:, 3] >= 0.0], np.hstack([origins, normals]),
        apart_keys(np.concatenate([pairs[pairs[:, 1] != STATIC], world]), nb), np.array([others], dtype=np.int64),
    )  # fmt: skip


def _passing(scene: MirroredScene) -> Iterator[str]:
    """Names of bodies that pass all that stands still."""
    for both, pair in scene.pairs.items():
        if WORLD in both and pair.collide is False:
            yield from both - {WORLD}


def _take_in(supports: Supports, boxes: np.ndarray) -> None:
    """Let boxes (nb, 6) be about what lies on planes, too."""
    rows, size, axes = supports.rows, supports.sizes[:, :3], supports.axes
    if not len(rows):
        return
    ring = np.sqrt(np.maximum(1.0 - axes[:, :, 2] ** 2, 0.0)) * size[:, :1] + size[:, 1:2]
    longest = np.sqrt(np.square(axes * size[:, None, :]).sum(axis=2))
    kinds = rows[:, 2:3]
    half = np.where(kinds == POINTS, size[:, :1], np.where(kinds == ELLIPSOID, longest, ring))
    low, high = boxes[:, :3] - boxes[:, 3:], boxes[:, :3] + boxes[:, 3:]
    np.minimum.at(low, rows[:, 0], np.minimum.reduceat(supports.points, rows[:, 3]) - half)
    np.maximum.at(high, rows[:, 0], np.maximum.reduceat(supports.points, rows[:, 3]) + half)
    boxes[:, :3], boxes[:, 3:] = 0.5 * (low + high), 0.5 * (high - low)
