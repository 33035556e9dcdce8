"""Where the results of trees go in those of a whole forest.

Each function takes the whole model and all its kinds, and gives an array (T, n) a kind: places in the whole's outputs
of the n outputs of each of T trees. None: the function is not of trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from recursive_dyn.model.forest import Kind
from recursive_dyn.model.model import WORLD, BodyFrame, Model
from recursive_dyn.recursion import impulse

Array = np.ndarray
Rows = Callable[[Model, Sequence[Kind]], list[Array] | None]


def slots(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """A number a velocity coordinate."""
    return [kind.slots for kind in kinds]


def places(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """A number a configuration coordinate."""
    return [kind.places for kind in kinds]


def bodies(count: int) -> Rows:
    """``count`` numbers a body."""
    return lambda model, kinds: [_repeated(kind.bodies, count) for kind in kinds]


def slot_rows(count: int) -> Rows:
    """``count`` numbers a velocity coordinate."""
    return lambda model, kinds: [_repeated(kind.slots, count) for kind in kinds]


def state(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """q, v."""
    return [np.concatenate([kind.places, model.nq + kind.slots], axis=1) for kind in kinds]


def state_and_velocity(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """q, v, another v."""
    first = model.nq + model.nv
    rows = zip(state(model, kinds), kinds, strict=True)
    return [np.concatenate([own, first + kind.slots], axis=1) for own, kind in rows]


def matrix(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """A block on the diagonal."""
    return [(kind.slots[:, :, None] * model.nv + kind.slots[:, None, :]).reshape(len(kind), -1) for kind in kinds]


def nothing(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """Sums only."""
    return [np.zeros((len(kind), 0), dtype=np.int64) for kind in kinds]


def jointed_bodies(model: Model, kinds: Sequence[Kind]) -> list[Array] | None:
    """6 numbers a body, unless trees hang on one that does not move, which would get something from each."""
    return None if any(body.jointed for body in _on_still(model)) else bodies(6)(model, kinds)


def linked_bodies(model: Model, kinds: Sequence[Kind]) -> list[Array] | None:
    """6 numbers a body, unless anything hangs on one that does not move."""
    return None if any(_on_still(model)) else bodies(6)(model, kinds)


def _on_still(model: Model) -> Iterator[BodyFrame]:
    """What hangs on bodies that do not move."""
    return (b for b in model.bodies if b.parent != WORLD and model.bodies[b.parent].link == WORLD)


def pair_wrenches(model: Model, kinds: Sequence[Kind]) -> list[Array] | None:
    """6 numbers a body, then one a velocity coordinate."""
    wrenches, first = jointed_bodies(model, kinds), 6 * len(model.bodies)
    if wrenches is None:
        return None
    return [np.concatenate([own, first + kind.slots], axis=1) for own, kind in zip(wrenches, kinds, strict=True)]


def columns(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """6 numbers a column of every link's S."""
    counts = [[6 * len(link.slots) for link in kind.model.links] for kind in kinds]
    return [np.concatenate(parts, axis=1) for parts in _stretches(model, kinds, counts)[0]]


def charted(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """2 numbers a link whose joint has several charts."""
    counts = [[2 * (link.chart is not None) for link in kind.model.links] for kind in kinds]
    return [np.concatenate(parts, axis=1) for parts in _stretches(model, kinds, counts)[0]]


def impulse_factors(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """What belongs to every link, then to the world, then 3 numbers a link."""
    counts, world = [], []
    for kind in kinds:
        *links, root = [sum(map(impulse.event_size, events)) for events in kind.model.elimination.events]
        counts.append(links)
        world.append(root)
    parts, end = _stretches(model, kinds, counts)
    ends = []
    for kind, size in zip(kinds, world, strict=True):  # only one tree has any: all that share coordinates are one
        ends.append(np.tile(end + np.arange(size), (len(kind), 1)))
        end += size
    return [
        np.concatenate([*own, root, end + _repeated(kind.links, 3)], axis=1)
        for own, root, kind in zip(parts, ends, kinds, strict=True)
    ]


def floating(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """``impulse.FLOATING`` numbers a tree that floats, in the order of their first links."""
    if model.constraints:
        return nothing(model, kinds)
    firsts = [kind.links[:, impulse.floating(kind.model)] for kind in kinds]
    order = np.sort(np.concatenate([own.ravel() for own in firsts]))
    return [_repeated(np.searchsorted(order, own), impulse.FLOATING) for own in firsts]


def frames(model: Model, kinds: Sequence[Kind]) -> list[Array]:
    """16 numbers a body, then 6 numbers a body, then what ``floating`` has."""
    count = len(model.bodies)
    parts = zip(bodies(16)(model, kinds) or [], bodies(6)(model, kinds) or [], floating(model, kinds), strict=True)
    return [np.concatenate([poses, 16 * count + twists, 22 * count + own], axis=1) for poses, twists, own in parts]


def _repeated(numbers: Array, count: int) -> Array:
    """``count`` places of each of (T, n) numbers, (T, n count)."""
    return (numbers[:, :, None] * count + np.arange(count)).reshape(len(numbers), numbers.shape[1] * count)


def _stretches(model: Model, kinds: Sequence[Kind], counts: Sequence[Sequence[int]]) -> tuple[list[list[Array]], int]:
    """Places of ``counts`` numbers of each link of each kind, link after link in the whole; and their end."""
    sizes = np.zeros(len(model.links) + 1, dtype=np.int64)
    for kind, own in zip(kinds, counts, strict=True):
        sizes[1 + kind.links] = np.array(own, dtype=np.int64)
    starts = np.cumsum(sizes)
    empty = [np.zeros((len(kind), 0), dtype=np.int64) for kind in kinds]
    parts = [
        [none, *(starts[kind.links[:, j], None] + np.arange(count) for j, count in enumerate(own))]
        for kind, own, none in zip(kinds, counts, empty, strict=True)
    ]
    return parts, int(starts[-1])
