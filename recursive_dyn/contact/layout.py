"""The fixed part of an impulse solve: which link moves with which coordinates, as plain arrays for compiled loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.model.elimination_order import Crossing, Elimination
from recursive_dyn.model.forest import blocks_of
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion.momenta.impulse import event_size

CROSSING, ELIMINATION, HINGE = 0, 1, 2


class Layout(NamedTuple):
    """Events of a model's ``elimination`` order and the coordinates (nv of them) each link depends on.

    parent (nl,); first (nl + 2,): of a link's events, the world's last; slot, data (ne,): coordinate of an event, place
    of its numbers among the factors; kind (ne,): CROSSING of a joint column, ELIMINATION of a coordinate, or HINGE,
    both at once and no port open; port_first (ne + 1,), port: open ports of an elimination. refs: where the links'
    reference points start among the factors. most (nl,): coordinates that an impulse on a link reaches, at most.
    home (nv,): link at which a coordinate is eliminated, nl at the world. link_groups (nl,): the group of what a link
    moves with, -1 for nothing; group (nv,): coordinates that respond to each other, numbered from 0 to groups - 1;
    group_first (groups + 1,), group_slots: of each.
    """

    parent: Integers
    first: Integers
    slot: Integers
    data: Integers
    kind: Integers
    port_first: Integers
    port: Integers
    refs: int
    most: Integers
    home: Integers
    link_groups: Integers
    group: Integers
    group_first: Integers
    group_slots: Integers
    groups: int
    nv: int


@compiled
def group_of(layout: Layout, links: Integers, body: int) -> int:
    """The group of coordinates that a body moves with, by links (nb,) of bodies; -1 for what does not move, or none."""
    if body < 0 or body >= len(links) or links[body] < 0:
        return -1
    return int(layout.link_groups[links[body]])


def of_one(model: Model) -> Layout:
    """The arrays of a model, event by event; see ``forest_layout.layout``."""
    links = [list(_events(events)) for events in model.elimination.events]
    flat = [event for events in links for event in events]
    sizes = [sum(event_size(part) for part in event) for event in flat]
    last = [event[-1] for event in flat]
    ports = [event.ports if isinstance(event, Elimination) else () for event in last]
    nearest, group = _nearest(model), _groups(model)
    members = [np.flatnonzero(group == k).tolist() for k in range(int(group.max(initial=-1)) + 1)]
    return Layout(
        parent=_integers([link.parent for link in model.links]),
        first=_starts([len(events) for events in links]),
        slot=_integers([event.slot for event in last]),
        data=_starts(sizes)[:-1],
        kind=_integers([HINGE if len(e) == 2 else int(isinstance(e[0], Elimination)) for e in flat]),
        port_first=_starts([len(p) for p in ports]),
        port=_integers([slot for p in ports for slot in p]),
        refs=sum(sizes),
        most=_integers(_most(model)),
        home=_integers([len(model.links) if link == WORLD else link for link in model.elimination.meeting]),
        link_groups=_integers([int(group[s[0]]) if s else -1 for s in nearest]),
        group=group,
        group_first=_starts([len(m) for m in members]),
        group_slots=_integers([slot for m in members for slot in m]),
        groups=len(members),
        nv=model.nv,
    )


def _events(events: Sequence[Crossing | Elimination]) -> Iterator[tuple[Crossing | Elimination, ...]]:
    """Events one by one; a column that is eliminated as soon as it is crossed, while no port is open, as a pair."""
    k = 0
    while k < len(events):
        own, after = events[k], events[k + 1] if k + 1 < len(events) else None
        hinge = isinstance(own, Crossing) and isinstance(after, Elimination) and own.slot == after.slot
        count = 2 if hinge and isinstance(after, Elimination) and not after.ports else 1
        yield tuple(events[k : k + count])
        k += count


def _most(model: Model) -> list[int]:
    """How many coordinates an impulse on each link, or on those eliminated there, reaches at most: these, and columns
    and open ports on its way to the world."""
    events = model.elimination.events
    own = [sum(1 if isinstance(e, Crossing) else len(e.ports) for e in at) for at in events]
    found: list[int] = []
    for i, link in enumerate(model.links):
        found.append(own[i] + (own[-1] if link.parent == WORLD else found[link.parent]))
    return [most + sum(isinstance(e, Elimination) for e in at) for most, at in zip(found, events, strict=False)]


def _nearest(model: Model) -> list[tuple[int, ...]]:
    """A slot of each link or, where its joint has none, of one towards the world."""
    found: list[tuple[int, ...]] = []
    for link in model.links:
        found.append((link.slots or (found[link.parent] if link.parent != WORLD else ()))[:1])
    return found


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
    nearest = _nearest(model)
    for link in model.links:
        yield *link.slots, *(nearest[link.parent] if link.parent != WORLD else ())
    for events in model.elimination.events:
        for event in events:
            if isinstance(event, Elimination):
                yield event.slot, *event.ports
    if model.constraints:
        yield range(model.nv)


def body_links(model: Model) -> np.ndarray:
    """Link of every body, WORLD (-1) for one that does not move."""
    assert WORLD == -1
    found = np.full(model.nb, WORLD)
    for kind in blocks_of(model):
        own = _integers([body.link for body in kind.model.bodies])
        moving = own != WORLD
        found[kind.bodies[:, moving]] = kind.links[:, own[moving]]
    return found


def _integers(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.array(sizes, dtype=np.int64))])
