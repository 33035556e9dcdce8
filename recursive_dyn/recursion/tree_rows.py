"""Where the results of trees go in those of a whole forest.

Each function takes the whole model and all its kinds, and gives ``Runs`` a kind: places in the whole's outputs of the n
outputs of each of T trees. None: the function is not of trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from recursive_dyn.codegen.forests.runs import Runs
from recursive_dyn.model.ball_limits import turning_size
from recursive_dyn.model.forest import Kind
from recursive_dyn.model.forest_numbers import PlannedForest
from recursive_dyn.model.model import WORLD, BodyFrame, Model
from recursive_dyn.recursion.momenta import impulse

Rows = Callable[[Model, Sequence[Kind]], list[Runs] | None]


def slots(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """A number a velocity coordinate."""
    return [kind.slot_runs for kind in kinds]


def places(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """A number a configuration coordinate."""
    return [kind.place_runs for kind in kinds]


def bodies(count: int) -> Rows:
    """``count`` numbers a body."""
    return lambda model, kinds: [kind.body_runs.each(count) for kind in kinds]


def slot_rows(count: int) -> Rows:
    """``count`` numbers a velocity coordinate."""
    return lambda model, kinds: [kind.slot_runs.each(count) for kind in kinds]


def state(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """q, v."""
    return [Runs.joined([kind.place_runs, kind.slot_runs.after(model.nq)]) for kind in kinds]


def state_and_twists(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """q, v, then 6 numbers a body."""
    first = model.nq + model.nv
    return [
        Runs.joined([own, kind.body_runs.each(6).after(first)])
        for own, kind in zip(state(model, kinds), kinds, strict=True)
    ]


def state_and_velocity(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """q, v, another v."""
    first = model.nq + model.nv
    return [
        Runs.joined([own, kind.slot_runs.after(first)]) for own, kind in zip(state(model, kinds), kinds, strict=True)
    ]


def state_velocity_and_two(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """q, v, another v, then 2 numbers a tree that moves."""
    states, first = state_and_velocity(model, kinds), model.nq + 2 * model.nv
    return [Runs.joined([own, two.after(first)]) for own, two in zip(states, _a_tree(2, model, kinds), strict=True)]


def four_a_tree(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """4 numbers a tree that moves."""
    return _a_tree(4, model, kinds)


def five_a_tree(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """5 numbers a tree that moves."""
    return _a_tree(5, model, kinds)


def _a_tree(count: int, model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """``count`` numbers a tree that moves, in the order of their first links."""
    if isinstance(model, PlannedForest):
        return model.stretches([count if kind.model.nv else 0 for kind in kinds])[0]
    moving = [kind.links[:, 0] for kind in kinds if kind.model.nv]
    order = np.sort(np.concatenate(moving)) if moving else np.zeros(0, dtype=np.int64)
    return [
        Runs.of(np.searchsorted(order, kind.links[:, :1])).each(count) if kind.model.nv else kind.nothing()
        for kind in kinds
    ]


def matrix(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """A block on the diagonal."""
    return [
        Runs.joined([kind.nothing(), *[Runs.of(row[:, None] * model.nv + kind.slots) for row in kind.slots.T]])
        for kind in kinds
    ]


def momentum_columns(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """6 rows of a number a velocity coordinate."""
    return [Runs.joined([kind.slot_runs.after(row * model.nv) for row in range(6)]) for kind in kinds]


def nothing(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """Sums only."""
    return [kind.nothing() for kind in kinds]


def jointed_bodies(model: Model, kinds: Sequence[Kind]) -> list[Runs] | None:
    """6 numbers a body, unless trees hang on one that does not move, which would get something from each."""
    return None if any(body.jointed for body in _on_still(model)) else bodies(6)(model, kinds)


def linked_bodies(model: Model, kinds: Sequence[Kind]) -> list[Runs] | None:
    """6 numbers a body, unless anything hangs on one that does not move."""
    return None if any(_on_still(model)) else bodies(6)(model, kinds)


def _on_still(model: Model) -> Iterator[BodyFrame]:
    """What hangs on bodies that do not move."""
    return (b for b in model.bodies if b.parent != WORLD and model.bodies[b.parent].link == WORLD)


def pair_wrenches(model: Model, kinds: Sequence[Kind]) -> list[Runs] | None:
    """6 numbers a body, then one a velocity coordinate."""
    wrenches, first = jointed_bodies(model, kinds), 6 * model.nb
    if wrenches is None:
        return None
    return [Runs.joined([own, kind.slot_runs.after(first)]) for own, kind in zip(wrenches, kinds, strict=True)]


def columns(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """6 numbers a column of every link's S."""
    return _stretches(model, kinds, [[6 * len(link.slots) for link in kind.model.links] for kind in kinds])[0]


def charted(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """2 numbers a link whose joint has several charts."""
    return _stretches(model, kinds, [[2 * (link.chart is not None) for link in kind.model.links] for kind in kinds])[0]


def chart_motion(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """A pose in 7 numbers, and 6 a coordinate, of every link whose joint has several charts."""
    return _stretches(model, kinds, [[turning_size(link) for link in kind.model.links] for kind in kinds])[0]


def impulse_factors(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """What belongs to every link, then to the world, then 3 numbers a link."""
    counts, world = [], []
    for kind in kinds:
        *own, root = impulse.event_sizes(kind.model)
        counts.append(own)
        world.append(root)
    parts, end = _stretches(model, kinds, counts)
    found, points = [], end + sum(world)
    for kind, links, size in zip(kinds, parts, world, strict=True):
        # only one tree has any of the world's: all that share coordinates are one
        of_world = kind.shared(end, size)
        found.append(Runs.joined([links, of_world, kind.link_runs.each(3).after(points)]))
        end += size
    return found


def floating(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """``impulse.FLOATING`` numbers a tree that floats, in the order of their first links."""
    if model.constraints:
        return nothing(model, kinds)
    if isinstance(model, PlannedForest):
        each = [len(impulse.floating(kind.model)) for kind in kinds]
        return [runs.each(impulse.FLOATING) for runs in model.stretches(each)[0]]
    order, firsts = impulse.floating(model), [kind.links[:, impulse.floating(kind.model)] for kind in kinds]
    return [Runs.of(np.searchsorted(order, own)).each(impulse.FLOATING) for own in firsts]


def frames(model: Model, kinds: Sequence[Kind]) -> list[Runs]:
    """16 numbers a body, then 6 numbers a body, then what ``floating`` has."""
    count, found = model.nb, []
    for kind, own in zip(kinds, floating(model, kinds), strict=True):
        bodies = kind.body_runs
        found.append(Runs.joined([bodies.each(16), bodies.each(6).after(16 * count), own.after(22 * count)]))
    return found


def _stretches(model: Model, kinds: Sequence[Kind], counts: Sequence[Sequence[int]]) -> tuple[list[Runs], int]:
    """Places of ``counts`` numbers of each link of each kind, link after link in the whole; and their end."""
    if isinstance(model, PlannedForest):
        return model.stretches([sum(own) for own in counts])
    sizes = np.zeros(model.nl + 1, dtype=np.int64)
    for kind, own in zip(kinds, counts, strict=True):
        sizes[1 + kind.links] = own
    starts = np.cumsum(sizes)
    return [Runs.stretches(starts[kind.links], own) for kind, own in zip(kinds, counts, strict=True)], int(starts[-1])


PLANNED = (
    nothing, slots, places, state, state_and_twists, state_and_velocity, state_velocity_and_two, four_a_tree,
    five_a_tree, impulse_factors, frames,
)  # fmt: skip  # these take a ``PlannedForest`` and its kinds as they take a model's
