"""The layout of a model by its trees: that of one of a kind, at the places of all of them."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.contact.layout import Layout, body_links, of_one
from recursive_dyn.model.forest import Kind, kinds_of, once_alike
from recursive_dyn.model.model import WORLD, Model, once
from recursive_dyn.model.tree_tables import BODIES, COUNTED, LINKS, PLACES, PLAIN, SLOTS, TreeRows, tree_tables
from recursive_dyn.recursion.momenta import impulse

Array = np.ndarray


class _Rows(NamedTuple):
    """Which owner each of m rows has, and the how many-th of its owner's it is; both (m,)."""

    owner: Array
    number: Array

    @classmethod
    def of(cls, first: Array) -> _Rows:
        """Of owners of which each one's rows begin at first (n + 1,)."""
        owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
        return cls(owner, np.arange(len(owner)) - first[owner])

    def at(self, owners: Array, first: Array) -> Array:
        """Their places (T, m), of owners (T, n) of which each one's begin at ``first``."""
        places: Array = first[owners[:, self.owner]] + self.number
        return places


class _Tree(NamedTuple):
    """The layout of one tree, and what follows from it.

    events, ports: by links, and by events; counts: of events a link, of numbers and of ports an event (2, ne); home: as
    in Layout, WORLD for none; nearest: of links, a slot of what it moves with, -1 for none; firsts: slot of each group.
    """

    one: Layout
    events: _Rows
    ports: _Rows
    counts: Array
    sizes: Array
    home: Array
    nearest: Array
    firsts: Array


@once
def _tree(model: Model) -> _Tree:
    one = of_one(model)
    firsts, n = one.group_slots[one.group_first[:-1]], len(one.parent)
    return _Tree(
        one, _Rows.of(one.first[:-1]), _Rows.of(one.port_first), np.diff(one.first)[:-1],
        np.stack([np.diff(np.append(one.data, one.refs)), np.diff(one.port_first)]),
        np.where(one.home < n, one.home, WORLD), np.append(firsts, -1)[one.link_groups], firsts,
    )  # fmt: skip


def layout(model: Model) -> Layout:
    """The arrays of a model."""
    if not model.parts:
        return of_one(model)
    known = tree_arrays(model)
    return known.layout if known is not None else _of_kinds(model)


def links_of_bodies(model: Model) -> Array:
    """See ``layout.body_links``."""
    known = tree_arrays(model)
    return body_links(model) if known is None else known.body_links


class TreeArrays(NamedTuple):
    """All arrays of whole numbers that steps of a forest read, where each of its trees is a part of its own.

    body_links (nb,): see ``layout.body_links``; turning (k, 2): first slot and number of slots of what turns freely.
    Of the m floating trees (``impulse.floating``): floating (nb,), the number of the one that a body is of, -1 for
    none; bases (m,), the body whose frame is that of its first link; base_slots (m, 6), of that link.
    """

    layout: Layout
    body_links: Array
    turning: Array
    floating: Array
    bases: Array
    base_slots: Array
    base_places: Array
    links: Array


@once_alike
def tree_arrays(model: Model) -> TreeArrays | None:
    """Those of a forest."""
    tables = tree_tables(model, _rows)
    if tables is None:
        return None
    (
        parent, first, slot, data, kind, port_first, port, most, home, link_groups, group, group_first, group_slots,
        body_links, turning, floating, bases, base_slots, base_places, links,
    ) = tables.columns  # fmt: skip
    events, refs, ports, groups, _ = tables.totals
    if (away := home == WORLD).any():
        home = np.where(away, model.nl, home)  # in memory of its own: tables of more trees begin with the others
    found = Layout(
        parent, np.append(first, (events, events)), slot, data, kind, np.append(port_first, ports), port, refs, most,
        home, link_groups, group, np.append(group_first, model.nv), group_slots, groups, model.nv,
    )  # fmt: skip
    of_links = base_slots.reshape(-1, 6), base_places.reshape(-1, 7), links
    return TreeArrays(found, body_links, turning.reshape(-1, 2), floating, bases, *of_links)


_EVENTS, _DATA, _PORTS, _GROUPS, _FLOATING = range(COUNTED, COUNTED + 5)  # what is counted tree by tree


def _rows(model: Model) -> TreeRows:
    """What ``tree_arrays`` are of in one tree: its links' own events, as none has anything of the world's."""
    one, turning = of_one(model), [(slot, factor.nv) for _, factor, _, slot in model.owners]
    home = np.where(one.home < model.nl, one.home, WORLD)
    floats = impulse.floating(model).tolist()
    roots, number = impulse.roots(model), {first: k for k, first in enumerate(floats)}
    floating = [-1 if body.link == WORLD else number.get(roots[body.link], -1) for body in model.bodies]
    bases = [next(k for k, body in enumerate(model.bodies) if body.link == first) for first in floats]
    columns: list[tuple[Any, Any]] = [
        (one.parent, LINKS), (one.first[:-2], _EVENTS), (one.slot, SLOTS), (one.data, _DATA), (one.kind, PLAIN),
        (one.port_first[:-1], _PORTS), (one.port, SLOTS), (one.most, PLAIN), (home, LINKS), (one.link_groups, _GROUPS),
        (one.group, _GROUPS), (one.group_first[:-1], SLOTS), (one.group_slots, SLOTS),
        ([body.link for body in model.bodies], LINKS), (turning, [SLOTS, PLAIN]), (floating, _FLOATING),
        (bases, BODIES), ([model.links[first].slots for first in floats], SLOTS),
        ([model.links[first].places[:7] for first in floats], PLACES),
        ([roots.count(first) for first in floats], PLAIN),
    ]  # fmt: skip
    return TreeRows(columns, (len(one.slot), one.refs, len(one.port), one.groups, len(floats)))


def _of_kinds(model: Model) -> Layout:
    """The same where trees have parts of each other between theirs."""
    own = [(kind, _tree(kind.model)) for kind in kinds_of(model)]
    links, nv = model.nl, model.nv
    parent, most, link_groups, counts = np.empty((4, links), dtype=np.int64)
    home, group = np.empty((2, nv), dtype=np.int64)
    groups = _number(own, group)
    for kind, tree in own:
        parent[kind.links], most[kind.links] = _at(kind.links, tree.one.parent), tree.one.most
        counts[kind.links] = tree.counts
        home[kind.slots] = _at(kind.links, tree.home, links)
        link_groups[kind.links] = _at(group[kind.slots], tree.nearest)
    first = _sums(counts, 1)
    slot, kinds, sizes, ports = np.zeros((4, int(first[-1])), dtype=np.int64)
    events = [tree.events.at(kind.links, first) for kind, tree in own]
    for (kind, tree), at in zip(own, events, strict=True):
        slot[at], kinds[at] = kind.slots[:, tree.one.slot], tree.one.kind
        sizes[at], ports[at] = tree.sizes
    data, port_first = _sums(sizes), _sums(ports)
    port = np.zeros(int(port_first[-1]), dtype=np.int64)
    for (kind, tree), at in zip(own, events, strict=True):
        if len(tree.one.port):
            port[tree.ports.at(at, port_first)] = kind.slots[:, tree.one.port]
    return Layout(
        parent=parent,
        first=first,
        slot=slot,
        data=data[:-1],
        kind=kinds,
        port_first=port_first,
        port=port,
        refs=int(data[-1]),
        most=most,
        home=home,
        link_groups=link_groups,
        group=group,
        group_first=_sums(np.bincount(group, minlength=groups)),
        group_slots=group.argsort(kind="stable"),
        groups=groups,
        nv=nv,
    )


def _at(numbers: Array, places: Array, none: int = WORLD) -> Array:
    """Of each tree (T, n), the numbers at places (k,) of its own, ``none`` where these are negative."""
    found: Array = np.where(places < 0, none, numbers[:, places] if numbers.shape[1] else none)
    return found


def _sums(counts: Array, more: int = 0) -> Array:
    """Where things begin of which there are so many, the end of all, and that once more for others of which there are
    none."""
    found = np.zeros(len(counts) + 1 + more, dtype=np.int64)
    counts.cumsum(out=found[1 : len(counts) + 1])
    found[len(counts) + 1 :] = found[len(counts)]
    return found


def _number(own: list[tuple[Kind, _Tree]], group: Array) -> int:
    """Number the groups in the order of their first slots, into ``group`` (nv,), and say how many there are."""
    firsts = np.concatenate([np.zeros(0, dtype=np.int64), *[kind.slots[:, tree.firsts].ravel() for kind, tree in own]])
    number, done = np.empty_like(firsts), 0
    number[firsts.argsort()] = np.arange(len(firsts))
    for kind, tree in own:
        shape = len(kind), tree.one.groups
        group[kind.slots] = number[done : done + prod(shape)].reshape(shape)[:, tree.one.group]
        done += prod(shape)
    return len(firsts)
