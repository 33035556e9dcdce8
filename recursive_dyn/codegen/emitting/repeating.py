"""Stretches of a program that do the same again and again, link after link of a long chain: what code may loop over.

A stretch has ``count`` turns of ``period`` statements each. Turn by turn these do the same operations, and each of
their arguments is the same number, an input so many places further on, a value of the same turn or of the one before,
one from before the stretch, or that of a turn of a stretch so many turns further on. Statements are in the order in
which recursions made them, which is such that nearly all of a long chain of like joints belongs to some stretch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import gcd

import numpy as np

from recursive_dyn.codegen.emitting.fusing import ARITY, Fused

_FEWEST = 6  # turns that are worth a loop
_SHORT = 32  # statements of all turns, fewer of which are not
_LONGEST = 1500  # statements of a turn: it is one function
_WINDOW = 16  # statements by which a turn is known again
_NEXT = (1, 2, 3, 4, 6, 9, 12)  # the next occurrences of one that are looked at
_PERIODS = 128  # periods that are tried
_NEAR = 8  # turns before and behind a stretch
_NONE = -1


@dataclass(frozen=True)
class Stretch:
    """Statements from ``first`` on: ``count`` turns of ``period``."""

    first: int
    period: int
    count: int

    @property
    def end(self) -> int:
        """The statement behind the last one."""
        return self.first + self.period * self.count

    @property
    def middle(self) -> int:
        """The statement in its middle."""
        return self.first + self.period * self.count // 2

    @property
    def reach(self) -> int:
        """Statements from there to the furthest that may belong to it as far as memory goes."""
        return self.period * (self.count // 2 + _NEAR)

    def rows(self) -> np.ndarray:
        """Statements (count, period)."""
        return self.first + np.arange(self.period * self.count).reshape(self.count, self.period)


def stretches(program: Fused, bounds: Sequence[int]) -> tuple[list[Stretch], np.ndarray]:
    """Those of a program, in their order, and for each statement (n,) which of them it belongs to as far as memory
    goes: the one that it is in, or, as some argument goes on evenly to it from there, one near by; -1 for none. No
    stretch goes over one of the bounds, which begin with 0 and end with all. None at all where most would stay as it
    is: loops of few turns cost what they save."""
    found, home = _chosen(program, bounds), np.full(len(program.codes), _NONE)
    while sum(own.period * own.count for own in found) * 2 >= len(home):
        kept, home = _agreeing(program, found)
        if kept == found:
            return found, home
        found = kept
    return [], np.full(len(home), _NONE)


def _chosen(program: Fused, bounds: Sequence[int]) -> list[Stretch]:
    """The longest first, and of what they leave the longest again; what repeats after a period does after two, too."""
    waiting = [(4 * period - (end - first), first, end, period) for first, end, period in _alike(program, bounds)]
    heapify(waiting)
    taken = np.zeros(len(program.codes), dtype=bool)
    found: list[Stretch] = []
    while waiting:
        _, first, end, period = heappop(waiting)
        there = taken[first:end]
        if there.any():
            for a, b in _runs(~there):
                if _worth(period, (b - a) // period):
                    heappush(waiting, (4 * period - (b - a), first + a, first + b, period))
            continue
        found.append(Stretch(first, period, (end - first) // period))
        taken[first : found[-1].end] = True
    return sorted(found, key=lambda own: own.first)


def _worth(period: int, count: int) -> bool:
    return count >= _FEWEST and period * count >= _SHORT


def _alike(program: Fused, bounds: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(first, end, period) of statements that do what those a period later do, by arguments that move on evenly."""
    first, codes, size = program.first_statement, program.codes, len(program.codes)
    there = np.arange(3) < ARITY[codes][:, None]
    arguments = np.where(there, program.arguments, 0)
    number = there & (arguments >= program.input_size) & (arguments < program.first_table)
    table = there & (arguments >= program.first_table) & (arguments < first)
    kind = np.where(number, 3, np.where(table, 2, arguments >= first))
    region = np.searchsorted(bounds, np.arange(size), side="right")
    for period in _periods(codes):
        if 2 * period >= size:
            continue
        moved = np.where(number[period:], 0, arguments[period:] - arguments[:-period])
        same = (codes[period:] == codes[:-period]) & (kind[period:] == kind[:-period]).all(axis=1)
        same &= ((moved == 0) | ~table[period:]).all(axis=1) & (region[period:] == region[:-period])
        even = same[period:] & same[:-period] & (moved[period:] == moved[:-period]).all(axis=1)
        for a, b in _runs(even, max(_FEWEST * period, _SHORT) - 2 * period):
            yield a, b + 2 * period, period


def _periods(codes: np.ndarray) -> list[int]:
    """Distances, at which operations are most often the same again."""
    if len(codes) < 2 * _WINDOW:
        return []
    marks, last = np.zeros(len(codes) - _WINDOW + 1, dtype=np.uint64), len(codes) - _WINDOW + 1
    for k in range(_WINDOW):
        marks = marks * np.uint64(0x9E3779B97F4A7C15) + codes[k : k + last].astype(np.uint64) + np.uint64(1)
    order = np.argsort(marks, kind="stable")
    apart = [(order[n:] - order[:-n])[marks[order[n:]] == marks[order[:-n]]] for n in _NEXT if n < len(order)]
    counts = np.bincount(np.concatenate(apart), minlength=1)[: _LONGEST + 1]
    counts[0] = 0
    best = np.argsort(-counts, kind="stable")[:_PERIODS]
    return [int(p) for p in best if counts[p] >= max(p, _WINDOW)]  # a sixth at least of what a stretch has


def _runs(flags: np.ndarray, least: int = 1) -> list[tuple[int, int]]:
    """(first, end) of stretches that are true, of so many and more."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))).reshape(-1, 2)
    return [(a, b) for a, b in edges[edges[:, 1] - edges[:, 0] >= least].tolist()]


def _agreeing(program: Fused, found: Sequence[Stretch]) -> tuple[list[Stretch], np.ndarray]:
    """What is left of these where all arguments are of stretches that agree with them, and where statements are."""
    home = np.full(len(program.codes), _NONE)
    for k, own in enumerate(found):
        home[own.first : own.end] = k
    result: list[Stretch] = []
    for k, own in enumerate(found):
        times, good = _agreement(program, found, home, k)
        if times > 1:
            own, good = Stretch(own.first, own.period * times, own.count // times), np.full(own.count // times, True)
        if not good.any() or own.period > _LONGEST:
            continue
        a, b = max(_runs(good), key=lambda run: run[1] - run[0])
        if _worth(own.period, b - a):
            result.append(Stretch(own.first + a * own.period, own.period, b - a))
    return result, home


def _agreement(program: Fused, found: Sequence[Stretch], home: np.ndarray, k: int) -> tuple[int, np.ndarray]:
    """(how many turns are to be one for all of its arguments to agree, which turns do (count,)); what is near other
    stretches is theirs from here on."""
    own = found[k]
    rows = own.rows()
    arguments = program.arguments[rows] - program.first_statement  # (count, period, 3)
    there = (np.arange(3) < ARITY[program.codes[rows[0]]][:, None]) & (arguments[0] >= 0)
    times, good = 1, np.full(own.count, True)
    for j, n in np.argwhere(there):
        a = arguments[:, j, n]
        step = int(a[1] - a[0])
        if step == own.period and a[-1] >= own.first + (own.count - 2) * own.period:
            continue
        if step == 0:
            good &= a < own.first
            continue
        other = int(home[a[own.count // 2]])
        if other == _NONE:
            return 1, np.full(own.count, False)
        if step % found[other].period:
            times = _together(times, found[other].period // gcd(step, found[other].period))
            continue
        near = (home[a] == _NONE) & (np.abs(a - found[other].middle) <= found[other].reach)
        home[a[near]] = other
        good &= home[a] == other
    return times, good


def _together(one: int, other: int) -> int:
    """The least multiple of both, as far as that may be one turn."""
    return min(one * other // gcd(one, other), _LONGEST)
