"""The fixed part of an impulse solve: which link moves with which coordinates, as plain arrays for compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion import impulse


class Layout(NamedTuple):
    """Events of ``impulse.structure`` and the coordinates each link depends on.

    parent (nl,); first (nl + 2,): of a link's events, the world's last; slot, data (ne,): place of an event's numbers
    among the factors; column (ne,): a joint column or a pivot; port_first (ne + 1,), port: open ports of a pivot.
    support_first (nl + 1,), support: slots that an impulse on a link reaches, rising. refs: where the links' reference
    points start among the factors. group (nv,): coordinates that respond to each other, numbered from 0.
    """

    parent: np.ndarray
    first: np.ndarray
    slot: np.ndarray
    data: np.ndarray
    column: np.ndarray
    port_first: np.ndarray
    port: np.ndarray
    support_first: np.ndarray
    support: np.ndarray
    refs: int
    group: np.ndarray
    nv: int


def layout(model: Model) -> Layout:
    """The arrays of a model."""
    events = impulse.structure(model)
    flat = [event for link in events for event in link]
    sizes = [6 if e.ports is None else 7 + len(e.ports) for e in flat]
    supports = [_support(model, events, i) for i in range(len(model.links))]
    return Layout(
        parent=_integers([link.parent for link in model.links]),
        first=_starts([len(e) for e in events]),
        slot=_integers([e.slot for e in flat]),
        data=_starts(sizes)[:-1],
        column=np.array([e.ports is None for e in flat], dtype=np.bool_),
        port_first=_starts([len(e.ports or ()) for e in flat]),
        port=_integers([p for e in flat for p in e.ports or ()]),
        support_first=_starts([len(s) for s in supports]),
        support=_integers([slot for s in supports for slot in s]),
        refs=sum(sizes),
        group=_groups(model, supports),
        nv=model.nv,
    )


def _support(model: Model, events: list[list[impulse.Event]], link: int) -> list[int]:
    reached: set[int] = set()
    for i in (*model.ancestors[link], -1):
        for event in events[i]:
            if event.ports is None:
                reached.add(event.slot)
            elif event.slot in reached:
                reached.update(event.ports)
    return sorted(reached)


def _groups(model: Model, supports: list[list[int]]) -> np.ndarray:
    """Slots of one tree, and of trees that shared coordinates or constraints tie together, carry the same number."""
    leader = list(range(model.nv))

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    sets = [*supports, *([list(range(model.nv))] if model.constraints else [])]
    for slots in sets:
        for slot in slots[1:]:
            leader[find(slot)] = find(slots[0])
    found = [find(i) for i in range(model.nv)]
    order = {group: k for k, group in enumerate(dict.fromkeys(found))}
    return _integers([order[g] for g in found])


def body_links(model: Model) -> np.ndarray:
    """Link of every body, WORLD (-1) for one that does not move."""
    assert WORLD == -1
    return _integers([body.link for body in model.bodies])


def _integers(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.array(sizes, dtype=np.int64))])
