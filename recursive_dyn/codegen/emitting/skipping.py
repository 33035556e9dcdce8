"""What only the second sides of selects with one condition need, put together so that machine code may skip it.

A program computes both sides of every select. Of scalars, where a condition holds, the second sides need not be known:
if they are long, statements that nothing else needs stand in one piece, with a jump around them; within it there may
be such a piece of another condition. Results are the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from recursive_dyn.codegen.emitting.fusing import ARITY, CODES, Fused

_LONG = 500  # statements that are worth a jump
_SELECTS = 8  # of one condition, fewer of which are not looked at
_DEEP = 2  # conditions that are looked at, those with most selects


@dataclass(frozen=True)
class Skip:
    """The statements from ``first`` to ``end`` are not needed where the value ``condition`` is not 0."""

    condition: int
    first: int
    end: int


@dataclass(frozen=True)
class _Side:
    """Which statements (n,) only the second sides of selects with one condition need, and which need these selects."""

    condition: int
    selects: set[int]
    skipped: np.ndarray
    later: np.ndarray


def skipping(program: Fused) -> tuple[Fused, list[Skip]]:
    """The program in such an order, and what may be skipped of it, each within the one before."""
    sides, order = _sides(program), np.arange(len(program.codes))
    if not sides:
        return program, []
    rank = np.zeros(len(order), dtype=int)  # deeper ones are further from both ends
    for depth, side in enumerate(sides, 1):
        within = sides[depth - 2].skipped if depth > 1 else np.full(len(order), True)
        rank[within] = np.where(side.later[within], 2 * len(sides) - depth + 1, depth - 1)
        rank[side.skipped] = depth
    order = np.argsort(rank, kind="stable")
    first = program.first_statement
    number = np.arange(first + len(order))
    number[first + order] = first + np.arange(len(order))
    there = np.arange(program.arguments.shape[1]) < ARITY[program.codes[order], None]
    arguments = np.where(there, number[program.arguments[order]], 0)
    result = replace(program, codes=program.codes[order], arguments=arguments, results=number[program.results])
    skips = []
    for depth, side in enumerate(sides, 1):
        begin = int(np.count_nonzero(rank < depth))
        skips.append(Skip(int(number[side.condition]), begin, begin + int(np.count_nonzero(side.skipped))))
    return result, skips


def _sides(program: Fused) -> list[_Side]:
    """What is worth to be skipped, the longest first, each within the one before."""
    chosen = np.flatnonzero(program.codes == CODES["select"])
    found = list[_Side]()
    for condition, count in Counter(program.arguments[chosen, 0].tolist()).most_common(_DEEP):
        if count < _SELECTS or condition < program.first_statement:
            continue
        selects = set(chosen[program.arguments[chosen, 0] == condition].tolist())
        skipped, later = ~_needed(program, selects), _following(program, selects)
        if not (skipped & later).any() and np.count_nonzero(skipped) >= _LONG:
            found.append(_Side(condition, selects, skipped, later))
    found.sort(key=lambda side: -np.count_nonzero(side.skipped))
    for outer, inner in pairwise(found):
        if not outer.skipped[list(inner.selects)].all():
            return found[:1]
    return found


def _needed(program: Fused, selects: set[int]) -> np.ndarray:
    """Of every statement whether anything but second sides of these selects needs it (n,)."""
    first, arguments = program.first_statement, (program.arguments - program.first_statement).tolist()
    sizes = ARITY[program.codes].tolist()
    needed = bytearray(len(sizes))
    for k in program.results.tolist():
        if k >= first:
            needed[k - first] = 1
    for k in range(len(sizes) - 1, -1, -1):
        if needed[k]:
            for a in arguments[k][: 2 if k in selects else sizes[k]]:
                if a >= 0:
                    needed[a] = 1
    return np.frombuffer(needed, dtype=np.uint8) > 0


def _following(program: Fused, selects: set[int]) -> np.ndarray:
    """Of every statement whether it is one of these selects or depends on one (n,)."""
    arguments, sizes = (program.arguments - program.first_statement).tolist(), ARITY[program.codes].tolist()
    found = bytearray(len(sizes))
    for k, (own, size) in enumerate(zip(arguments, sizes, strict=True)):
        found[k] = k in selects or any(a >= 0 and found[a] for a in own[:size])
    return np.frombuffer(found, dtype=np.uint8) > 0
