"""The layout of a model by its trees: that of one of a kind, at the places of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from recursive_dyn.contact.layout import Layout, of_one
from recursive_dyn.model.forest import Kind, kinds_of
from recursive_dyn.model.model import WORLD, Model, once

Array = np.ndarray
_Own = tuple[Kind, Layout]
of_tree = once(of_one)


def layout(model: Model) -> Layout:
    """The arrays of a model."""
    if not model.parts:
        return of_one(model)
    own = [(kind, of_tree(kind.model)) for kind in kinds_of(model)]
    links, nv = model.nl, model.nv
    parent = np.full(links, WORLD, dtype=np.int64)
    home = np.full(nv, links, dtype=np.int64)
    for kind, one in own:
        parent[kind.links] = _at(kind.links, one.parent)
        home[kind.slots] = _at(kind.links, np.where(one.home < len(one.parent), one.home, WORLD), links)
    first = _sums(np.append(_scattered(own, links, lambda one: np.diff(one.first)[:-1]), 0))
    events = [_within(kind.links, one.first[:-1], first) for kind, one in own]
    slot, kinds, sizes, ports = np.zeros((4, int(first[-1])), dtype=np.int64)
    for (kind, one), at in zip(own, events, strict=True):
        slot[at], kinds[at] = kind.slots[:, one.slot], one.kind
        sizes[at], ports[at] = np.diff(np.append(one.data, one.refs)), np.diff(one.port_first)
    data, port_first = _sums(sizes), _sums(ports)
    port = np.zeros(int(port_first[-1]), dtype=np.int64)
    for (kind, one), at in zip(own, events, strict=True):
        port[_within(at, one.port_first, port_first)] = kind.slots[:, one.port]
    group = _groups(own, nv)
    sizes_of_groups = np.bincount(group)
    link_groups = np.full(links, -1, dtype=np.int64)
    for kind, one in own:
        of_links = np.append(one.group_slots, 0)[np.where(one.link_groups < 0, -1, one.group_first[one.link_groups])]
        link_groups[kind.links] = np.where(one.link_groups < 0, -1, group[kind.slots[:, of_links]])
    return Layout(
        parent=parent,
        first=first,
        slot=slot,
        data=data[:-1],
        kind=kinds,
        port_first=port_first,
        port=port,
        refs=int(data[-1]),
        most=_scattered(own, links, lambda one: one.most),
        home=home,
        link_groups=link_groups,
        group=group,
        group_first=_sums(sizes_of_groups),
        group_slots=np.argsort(group, kind="stable"),
        groups=len(sizes_of_groups),
        nv=nv,
    )


def _at(numbers: Array, places: Array, none: int = WORLD) -> Array:
    """Of each tree (T, n), the numbers at places (k,) of its own, ``none`` where these are negative."""
    found: Array = np.where(places < 0, none, numbers[:, places] if numbers.shape[1] else none)
    return found


def _scattered(own: Sequence[_Own], links: int, counts: Callable[[Layout], Array]) -> Array:
    """Numbers (links,) from those of one tree's links (n,)."""
    result = np.zeros(links, dtype=np.int64)
    for kind, one in own:
        result[kind.links] = counts(one)
    return result


def _within(owners: Array, own_first: Array, first: Array) -> Array:
    """Places (T, m) of m entries that belong to owners (T, n): from own_first[j] on, in the whole from first[owner]."""
    owner = np.repeat(np.arange(len(own_first) - 1), np.diff(own_first))
    return np.asarray(first[owners[:, owner]] + (np.arange(len(owner)) - own_first[owner]))


def _sums(counts: Array) -> Array:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])


def _groups(own: Sequence[_Own], nv: int) -> Array:
    """Numbers (nv,) of the groups, in the order of their first slots."""
    found, count = np.zeros(nv, dtype=np.int64), 0
    for kind, one in own:
        found[kind.slots] = count + one.group + one.groups * np.arange(len(kind))[:, None]
        count += one.groups * len(kind)
    _, firsts, inverse = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[inverse]
