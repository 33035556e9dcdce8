"""What only the second sides of selects with one condition need, put together so that machine code may skip it.

A program computes both sides of every select. Of scalars, where a condition holds, the second sides need not be known:
if they are long, statements that nothing else needs stand in one piece, with a jump around them. Results are the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from recursive_dyn.codegen.emitting.fusing import ARITY, CODES, Fused

_LONG = 500  # statements that are worth a jump
_SELECTS = 8  # of one condition, fewer of which are not looked at


@dataclass(frozen=True)
class Skip:
    """The statements from ``first`` to ``end`` are not needed where the value ``condition`` is not 0."""

    condition: int
    first: int
    end: int


def skipping(program: Fused) -> tuple[Fused, Skip | None]:
    """The program in such an order, and what may be skipped of it."""
    chosen = np.flatnonzero(program.codes == CODES["select"])
    conditions = Counter(program.arguments[chosen, 0].tolist()).most_common(1)
    if not conditions or conditions[0][1] < _SELECTS or conditions[0][0] < program.first_statement:
        return program, None
    condition = conditions[0][0]
    selects = set(chosen[program.arguments[chosen, 0] == condition].tolist())
    needed, later = _needed(program, selects), _following(program, selects)
    if (~needed & later).any() or np.count_nonzero(~needed) < _LONG:
        return program, None
    order = np.concatenate([np.flatnonzero(part) for part in (needed & ~later, ~needed, later)])
    first, skipped = program.first_statement, int(np.count_nonzero(~needed))
    number = np.arange(first + len(order))
    number[first + order] = first + np.arange(len(order))
    begin = int(np.count_nonzero(needed & ~later))
    there = np.arange(program.arguments.shape[1]) < ARITY[program.codes[order], None]
    arguments = np.where(there, number[program.arguments[order]], 0)
    result = replace(program, codes=program.codes[order], arguments=arguments, results=number[program.results])
    return result, Skip(int(number[condition]), begin, begin + skipped)


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
