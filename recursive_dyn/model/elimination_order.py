"""The order in which M = L^T D L is eliminated, planned once from a model's shape and followed by every recursion.

Links are passed from the leaves to the root. At a link every column of its joint is crossed, one at a time, as if it
were a hinge of its own (Si & Guenter 2011, eq. 28). A coordinate that moves one joint only is eliminated at once; one
that several joints share travels inward as an open port and is eliminated at the lowest link that carries all of them,
or at the world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Crossing:
    """The column of S of the velocity ``slot`` is crossed."""

    slot: int


@dataclass(frozen=True)
class Elimination:
    """The row of the velocity ``slot`` is solved for its acceleration, while ``ports`` are open."""

    slot: int
    ports: tuple[int, ...]


@dataclass(frozen=True)
class EliminationOrder:
    """What happens at each link, then at the world; ``meeting``: where each slot is eliminated, -1 for the world."""

    links: tuple[tuple[Crossing | Elimination, ...], ...]
    world: tuple[Elimination, ...]
    meeting: tuple[int, ...]

    @property
    def events(self) -> tuple[tuple[Crossing | Elimination, ...], ...]:
        """The links' and the world's, one after the other."""
        return (*self.links, self.world)


def elimination_order(parents: Sequence[int], slots: Sequence[Sequence[int]], count: int) -> EliminationOrder:
    """The order for links, parents first: the parent of each (negative for the world), the slots of its joint's columns
    in their order, ``count`` slots in all."""
    users = Counter(slot for own in slots for slot in own)  # of a slot: how many links move with it
    meeting = [-1] * count
    events: list[list[Crossing | Elimination]] = [[] for _ in parents]
    open_ports: list[Counter[int]] = [Counter() for _ in parents]  # of a slot: how many of its users were passed
    world: Counter[int] = Counter()
    for i in reversed(range(len(parents))):
        ports = open_ports[i]
        for slot in [s for s in ports if ports[s] == users[s]]:
            meeting[slot] = i
            events[i].append(_eliminated(slot, ports))
        for slot in slots[i]:
            ports[slot] += 1
            events[i].append(Crossing(slot))
            if ports[slot] == users[slot]:
                meeting[slot] = i
                events[i].append(_eliminated(slot, ports))
        (world if parents[i] < 0 else open_ports[parents[i]]).update(ports)
    last = tuple(_eliminated(slot, world) for slot in sorted(world))
    return EliminationOrder(tuple(map(tuple, events)), last, tuple(meeting))


def _eliminated(slot: int, ports: Counter[int]) -> Elimination:
    del ports[slot]
    return Elimination(slot, tuple(ports))
