"""What collides of a scene in closed form: spheres, capsules and boxes as rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from bridge.curved.manifold_points import InWorld, Poses, Rows3, put_in_world
from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.contacts import STATIC
from scene import shapes

BOX, ROUND = 0, 1


class Solids(NamedTuple):
    """Shapes (n of them) of bodies, scenery with those of STATIC.

    bodies, kinds (n,); at (n, 4, 4): in the body's frame, scenery's in the world; sizes (n, 3): as in ``InWorld``;
    materials (n,): numbers; still (n,): whether nothing moves it.
    """

    bodies: Integers
    kinds: Integers
    at: Poses
    sizes: Rows3
    materials: Integers
    still: Flags


def knows(shape: shapes.Shape) -> bool:
    """Whether its contacts are found in closed form, if it has any."""
    return not shape.collision or isinstance(shape, (shapes.Box, shapes.Sphere, shapes.Capsule))


def solids_of(owned: Iterable[tuple[int, shapes.Shape]], materials: Sequence[int], still: Sequence[bool]) -> Solids:
    """Of shapes that collide, each with the number of its body; of their materials' numbers, and whether they move."""
    pairs = list(owned)
    sizes = [_size(shape) for _, shape in pairs]
    return Solids(
        np.array([body for body, _ in pairs], dtype=np.int64),
        np.array([BOX if isinstance(shape, shapes.Box) else ROUND for _, shape in pairs], dtype=np.int64),
        np.array([shape.at for _, shape in pairs], dtype=float).reshape(-1, 4, 4),
        np.array(sizes, dtype=float).reshape(-1, 3),
        np.array(materials, dtype=np.int64),
        np.array(still, dtype=bool),
    )


def room_of(solids: Solids) -> InWorld:
    """Room for where they are."""
    n = len(solids.bodies)
    return InWorld(np.zeros((n, 3)), np.zeros((n, 3, 3)), solids.sizes, np.zeros((n, 3)), np.zeros((n, 3)))


def reaches(solids: Solids, bodies: int) -> np.ndarray:
    """(nb, 3), m: of every body its inner radius, infinite without shapes, how far its surface moves by a turn of
    1 rad, how far it extends from its origin."""
    result = np.zeros((bodies, 3))
    result[:, 0] = np.inf
    for k, body in enumerate(solids.bodies.tolist()):
        if body != STATIC:
            size, far = solids.sizes[k], float(np.linalg.norm(solids.at[k, :3, 3]))
            ball = solids.kinds[k] == ROUND
            outer = far + (size[0] + size[1] if ball else float(np.linalg.norm(size)))
            result[body, 0] = min(result[body, 0], size[0] if ball else size.min())
            result[body, 2] = max(result[body, 2], outer)
            if not ball or size[1] or far:  # a ball that turns about its middle goes nowhere
                result[body, 1] = max(result[body, 1], outer)
    return result


def _size(shape: shapes.Shape) -> tuple[float, float, float]:
    match shape:
        case shapes.Box():
            x, y, z = (0.5 * float(s) for s in shape.size)
            return x, y, z
        case shapes.Capsule():
            return shape.radius, 0.5 * shape.length, 0.0
        case shapes.Sphere():
            return shape.radius, 0.0, 0.0
    raise AssertionError("solids are what knows() says")


@compiled
def place_solids(solids: Solids, poses: Poses, margin: float, placed: InWorld) -> None:
    """Where shapes are with bodies at ``poses`` (nb, 4, 4); the boxes about them are ``margin`` larger."""
    for k in range(len(solids.bodies)):
        size, center, axes = solids.sizes[k], placed.centers[k], placed.axes[k]
        put_in_world(solids.bodies[k], solids.at[k], poses, center, axes)
        for i in range(3):
            if solids.kinds[k] == BOX:
                reach = size[0] * abs(axes[0, i]) + size[1] * abs(axes[1, i]) + size[2] * abs(axes[2, i])
            else:
                reach = size[0] + size[1] * abs(axes[2, i])
            placed.low[k, i] = center[i] - reach - 0.5 * margin
            placed.high[k, i] = center[i] + reach + 0.5 * margin


@compiled
def overlap(low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> bool:
    """Whether two boxes along the world's axes meet."""
    return (
        low[0] <= other_high[0] and other_low[0] <= high[0]
        and low[1] <= other_high[1] and other_low[1] <= high[1]
        and low[2] <= other_high[2] and other_low[2] <= high[2]
    )  # fmt: skip
