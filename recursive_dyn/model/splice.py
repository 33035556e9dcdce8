"""What came and went in a row of things of which most stayed, as where a scene of many bodies is edited."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count
from operator import is_not
from typing import Any, NamedTuple


class Splice(NamedTuple):
    """From one row to another: behind the first ``first`` things ``gone`` of them went, and ``came`` others came."""

    first: int
    gone: int
    came: int

    @classmethod
    def between(cls, before: Sequence[Any], after: Sequence[Any]) -> Splice:
        """What happened to the one, so that it is the other; the same is what is the same object, or equal where others
        only came, or went, at the end."""
        short = min(len(before), len(after))
        if before[:short] == after[:short]:
            return cls(short, len(before) - short, len(after) - short)
        first = _alike(before, after, short)
        last = _alike(
            before[: first - 1 if first else None : -1], after[: first - 1 if first else None : -1], short - first
        )
        return cls(first, len(before) - first - last, len(after) - first - last)

    @property
    def end(self) -> int:
        """Behind what went, in the row before."""
        return self.first + self.gone


def _alike(a: Sequence[Any], b: Sequence[Any], most: int) -> int:
    """How many at the beginning are the same objects, of at most so many."""
    return next(compress(count(), map(is_not, a, b)), most)
