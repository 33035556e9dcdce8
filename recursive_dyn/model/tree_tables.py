"""Whole numbers of all trees of a forest, tree after tree, made of those of one tree of each kind in one compiled call.

Where every tree is a part of its own (``forest.numbers_of``), a number of a link, a slot, or of whatever else is
counted tree by tree, is that within the tree, and how many of these all trees before it have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.graph.recent import Recent
from recursive_dyn.model.forest import kinds_of, numbers_of
from recursive_dyn.model.forest_numbers import BODIES, LINKS, PLACES, SLOTS
from recursive_dyn.model.model import Model

__all__ = ["BODIES", "COUNTED", "LINKS", "PLACES", "PLAIN", "SLOTS", "Tables", "TreeRows", "tree_tables"]

Array = np.ndarray
PLAIN, COUNTED = -1, 4  # what a number is: as it is; of what ``TreeRows.counts`` counts first, second, ...


class TreeRows(NamedTuple):
    """One tree's part of some tables: numbers within the tree, of which negative ones stay as they are, each with what
    it is of; counts: of what else is counted, how many the tree has."""

    columns: Sequence[tuple[Sequence[int] | Array, int | Sequence[int]]]
    counts: Sequence[int] = ()


class Tables(NamedTuple):
    """The tables of the whole forest, and how many there are of what its trees count."""

    columns: list[Array]
    totals: list[int]


class _Templates(NamedTuple):
    """TreeRows of several kinds: values and what they are of, column after column and kind after kind, where each
    begins; lengths (columns, kinds); counts (kinds, n)."""

    values: Array
    of: Array
    firsts: Array
    lengths: Array
    counts: Array


def tree_tables(model: Model, rows: Callable[[Model], TreeRows]) -> Tables | None:
    """Tables of a forest; rows: those of one tree, by its model. None where trees are no parts of their own."""
    numbers = numbers_of(model)
    if numbers is None:
        return None
    known = _templates(rows, [kind.model for kind in kinds_of(model)])
    kinds, more = numbers.kinds, known.counts.shape[1]
    before = np.zeros((COUNTED + more + 1, len(kinds) + 1), dtype=np.int64)  # the last row is that of plain numbers
    before[:COUNTED] = numbers.firsts
    if more:
        known.counts[kinds].cumsum(axis=0, out=before[COUNTED:-1, 1:].T)
    last = _LAST.pop(rows, None)  # whoever takes it is the only one to write behind it
    done = 0 if last is None or not last.leads_to(known, kinds) else len(last.kinds)
    fresh = _filled(known, kinds[done:], before[:, done:])
    buffers, used = (last.buffers, last.used) if last is not None and done else (fresh, [0] * len(fresh))
    ends = [end + len(own) for end, own in zip(used, fresh, strict=True)]
    if done:
        buffers = [_extended(*each) for each in zip(buffers, used, fresh, strict=True)]
    _LAST[rows] = _Grown(known, kinds, buffers, ends)
    return Tables([own[:end] for own, end in zip(buffers, ends, strict=True)], before[COUNTED:-1, -1].tolist())


class _Grown(NamedTuple):
    """The columns of a forest with trees of these kinds, in buffers with room behind what is used: those of a forest
    with more trees begin with them, and share their memory."""

    templates: _Templates
    kinds: Array
    buffers: list[Array]
    used: list[int]

    def leads_to(self, templates: _Templates, kinds: Array) -> bool:
        """Whether only trees behind these came, of kinds that there were."""
        return self.templates is templates and np.array_equal(self.kinds, kinds[: len(self.kinds)])


def _filled(known: _Templates, kinds: Array, before: Array) -> list[Array]:
    """Columns of some trees."""
    ends = (known.lengths @ np.bincount(kinds, minlength=len(known.counts))).cumsum().tolist()
    found = np.empty(ends[-1], dtype=np.int64)
    rows = np.ascontiguousarray(before).reshape(-1)
    _fill(known.values, known.of, known.firsts, len(known.counts), kinds, rows, found)
    return [found[first:end] for first, end in zip([0, *ends], ends, strict=False)]


def _extended(buffer: Array, used: int, fresh: Array) -> Array:
    """A buffer with more behind what is used of it: the same one if there is room."""
    end = used + len(fresh)
    if end > len(buffer):
        buffer, before = np.empty(end + end // 2, dtype=np.int64), buffer
        buffer[:used] = before[:used]
    buffer[used:end] = fresh
    return buffer


_KNOWN = Recent[_Templates](256)
_LAST: dict[Callable[[Model], TreeRows], _Grown] = {}  # of the forest that was asked for last


def _templates(rows: Callable[[Model], TreeRows], kinds: Sequence[Model]) -> _Templates:
    key = rows, *kinds
    return _KNOWN.of(key, lambda: _worked_out([rows(model) for model in kinds]))


def _worked_out(trees: Sequence[TreeRows]) -> _Templates:
    counts, values, of = np.array([tree.counts for tree in trees], dtype=np.int64), list[Array](), list[Array]()
    for column in zip(*[tree.columns for tree in trees], strict=True):
        for own, kind in column:
            values.append(np.array(own, dtype=np.int64).reshape(-1))
            of.append(np.zeros_like(values[-1]) + np.resize(np.array(kind, dtype=np.int64), len(values[-1])))
    lengths, kinds = np.array([len(own) for own in values]), np.concatenate(of)
    kinds[kinds == PLAIN] = COUNTED + counts.shape[1]
    firsts = np.append(0, lengths.cumsum())
    return _Templates(np.concatenate(values), kinds, firsts, lengths.reshape(-1, len(trees)), counts)


@compiled
def _fill(
    values: Integers, of: Integers, firsts: Integers, sorts: int, kinds: Integers, before: Integers, found: Integers
) -> None:  # fmt: skip
    """Numbers of all trees, column after column; sorts: how many kinds there are; before: rows of how many all trees
    before each have, and in all."""
    trees, at = len(kinds), 0
    columns = (len(firsts) - 1) // sorts
    for c in range(columns):
        for t in range(trees):
            place = c * sorts + kinds[t]
            for k in range(firsts[place], firsts[place + 1]):
                value = values[k]
                found[at] = value if value < 0 else value + before[of[k] * (trees + 1) + t]
                at += 1
