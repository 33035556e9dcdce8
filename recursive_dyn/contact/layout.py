"""The fixed part of an impulse solve: which link moves with which coordinates, as plain arrays for compiled loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.model.elimination_order import Crossing, Elimination
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion.impulse import event_size


class Layout(NamedTuple):
    """Events of a model's ``elimination`` order and the coordinates each link depends on.

    parent (nl,); first (nl + 2,): of a link's events, the world's last; slot, data (ne,): place of an event's numbers
    among the factors; column (ne,): a joint column or a pivot; port_first (ne + 1,), port: open ports of a pivot.
    refs: where the links' reference points start among the factors. group (nv,): coordinates that respond to each
    other, numbered from 0 to groups - 1.
    """

    parent: np.ndarray
    first: np.ndarray
    slot: np.ndarray
    data: np.ndarray
    column: np.ndarray
    port_first: np.ndarray
    port: np.ndarray
    refs: int
    group: np.ndarray
    groups: int
    nv: int


def layout(model: Model) -> Layout:
    """The arrays of a model."""
    events = model.elimination.events
    flat = [event for link in events for event in link]
    ports = [event.ports if isinstance(event, Elimination) else () for event in flat]
    sizes = [event_size(event) for event in flat]
    group = _groups(model)
    return Layout(
        parent=_integers([link.parent for link in model.links]),
        first=_starts([len(e) for e in events]),
        slot=_integers([e.slot for e in flat]),
        data=_starts(sizes)[:-1],
        column=np.array([isinstance(event, Crossing) for event in flat], dtype=np.bool_),
        port_first=_starts([len(p) for p in ports]),
        port=_integers([slot for p in ports for slot in p]),
        refs=sum(sizes),
        group=group,
        groups=int(group.max(initial=-1)) + 1,
        nv=model.nv,
    )


def _groups(model: Model) -> np.ndarray:
    """Slots of one tree, and of trees that shared coordinates or constraints tie together, carry the same number."""
    leader = list(range(model.nv))

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    for slots in _tied(model):
        for slot in slots[1:]:
            leader[find(slot)] = find(slots[0])
    found = [find(i) for i in range(model.nv)]
    order = {group: k for k, group in enumerate(dict.fromkeys(found))}
    return _integers([order[g] for g in found])


def _tied(model: Model) -> Iterator[Sequence[int]]:
    """Slots that respond to each other: link by link, those of its joint and one of its parent's; open ports."""
    nearest: list[tuple[int, ...]] = []  # a slot of each link or, where its joint has none, of one towards the world
    for link in model.links:
        slots = (*link.slots, *(nearest[link.parent] if link.parent != WORLD else ()))
        nearest.append(slots[:1])
        yield slots
    for events in model.elimination.events:
        for event in events:
            if isinstance(event, Elimination):
                yield event.slot, *event.ports
    if model.constraints:
        yield range(model.nv)


def body_links(model: Model) -> np.ndarray:
    """Link of every body, WORLD (-1) for one that does not move."""
    assert WORLD == -1
    return _integers([body.link for body in model.bodies])


def _integers(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.array(sizes, dtype=np.int64))])
