"""What a model was put together from, and what of that is where in the whole: plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

Array = np.ndarray
Part = TypeVar("Part")


class Numbers(NamedTuple):
    """Numbers in the whole, part after part; first (P + 1,): where each part's begin, and the end of the last."""

    all: Array
    first: Array

    def of(self, part: int) -> list[int]:
        """Those of one part, in its own order."""
        own: list[int] = self.all[self.first[part] : self.first[part + 1]].tolist()
        return own

    def of_several(self, parts: Array) -> Array:
        """Those of some parts (m,), one after the other."""
        if len(parts) == len(self.first) - 1 and (parts[:-1] < parts[1:]).all():
            return self.all
        return self.all[expanded(self.first[parts], self.first[parts + 1] - self.first[parts])]


def expanded(starts: Array, counts: Array) -> Array:
    """start, start + 1, ... as many as it counts, of all one after the other."""
    ends = counts.cumsum()
    if not len(ends):
        return ends
    return np.asarray((starts - ends + counts).repeat(counts) + np.arange(ends[-1]))


def altered(frozen: Part, **changes: Any) -> Part:
    """``dataclasses.replace`` for objects made by the thousand: nothing is checked, nothing computed anew.

    What was found of the one and kept in it is that of the other too, unless it is among the changes.
    """
    result = object.__new__(type(frozen))
    object.__setattr__(result, "__dict__", frozen.__dict__ | changes)
    return result


@dataclass(frozen=True, eq=False)
class ModelTree:
    """What hangs together, in a model: links and bodies, parents first, and what moves them; its content, of which
    ``structure`` is the hash."""

    links: tuple[int, ...]
    bodies: tuple[int, ...]
    slots: tuple[int, ...]
    places: tuple[int, ...]
    charts: tuple[int, ...]
    structure: str = ""
    numbers: Array = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def own(self) -> tuple[tuple[int, ...], ...]:
        """Links, bodies, slots, places."""
        return self.links, self.bodies, self.slots, self.places

    @cached_property
    def own_arrays(self) -> tuple[Array, ...]:
        """The same as arrays (1, n)."""
        return tuple([np.array([own], dtype=np.int64) for own in self.own])

    @cached_property
    def packed(self) -> bytes:
        """Its numbers, as they lie in memory."""
        return self.numbers.tobytes()


_NO_NUMBERS = Numbers(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64))


class PartFacts(NamedTuple):
    """What is asked of each part when a whole is put together; of some parts, tuples of all of that.

    sizes: as ``Model.packed_sizes``; structure, packed: of the one tree that it is, if it is one; bounded, charted:
    whether coordinates have limits or friction, and joints charts. No more than that: there are some of every body.
    """

    model: Any
    trees: Any
    count: Any
    sizes: Any
    structure: Any
    packed: Any
    bounded: Any
    charted: Any


NO_FACTS = PartFacts((), (), (), (), (), (), (), ())


@dataclass(frozen=True, eq=False)
class ModelParts(Generic[Part]):
    """Models that know nothing of each other, each of what hangs on one body of the world, the trees of each, and what
    their links, bodies, slots and places are in the whole. alone: each is one tree, and all of it comes before the next
    one. firsts (4, P + 1): where those of each of P parts begin, and the end, where they come one after the other.
    facts: of all."""

    models: tuple[Part, ...] = ()
    trees: Sequence[Sequence[ModelTree]] = ()
    links: Numbers = _NO_NUMBERS
    bodies: Numbers = _NO_NUMBERS
    slots: Numbers = _NO_NUMBERS
    places: Numbers = _NO_NUMBERS
    alone: bool = False
    firsts: Array = field(default_factory=lambda: np.zeros((4, 1), dtype=np.int64))
    facts: PartFacts = NO_FACTS

    def __len__(self) -> int:
        return len(self.models)
