"""What of a simulation goes on when its scene was edited: state, forces, impulses and momenta, by names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.forest_numbers import BODIES, LINKS, PLACES, SLOTS
from recursive_dyn.model.model import Model
from recursive_dyn.model.model_parts import ModelParts, Numbers
from recursive_dyn.model.splice import Splice
from recursive_dyn.recursion.momenta import impulse

Names = Sequence[str]
GONE = -2  # the number of what is there no more; -1 is the world's


class Shift(NamedTuple):
    """Numbers below ``first`` are what they were, those from ``end`` on begin at ``start`` now, those between went."""

    first: int
    end: int
    start: int

    def numbers(self, count: int) -> np.ndarray:
        """The number now of each of so many, GONE for what went."""
        found = np.arange(count)
        if self.end < count:
            found[self.end :] += self.start - self.end
        found[self.first : self.end] = GONE
        return found

    def moved(self, values: np.ndarray, result: np.ndarray) -> np.ndarray:
        """``result`` with the values of what there still is."""
        result[: self.first], result[self.start :] = values[: self.first], values[self.end :]
        return result


@dataclass(frozen=True, eq=False)
class Edit:
    """From old dynamics to new ones: of everything that was numbered its number now, GONE where there is none.

    bodies (nb,), places (nq,), slots (nv,): of the old; names: of all bodies now. links (nl,): of the old, of what did
    not change at all. shifts: those of links, bodies, slots and places where what stayed did not change at all and
    kept its order, with nothing new in between but in one place.
    """

    old: Dynamics
    new: Dynamics
    bodies: np.ndarray
    places: np.ndarray
    slots: np.ndarray
    names: tuple[str, ...]
    links: np.ndarray
    shifts: Sequence[Shift] = ()

    @classmethod
    def between(cls, old: Dynamics, new: Dynamics) -> Edit:
        """What has the same name is the same."""
        before, after = old.model.parts, new.model.parts
        splice = Splice.between(before.models, after.models)
        if before.alone and after.alone and not (splice.gone and splice.came):
            shifts = _shifted(before, after, splice)
            counts = zip(shifts, before.firsts[:, -1].tolist(), strict=True)
            links, bodies, slots, places = (shift.numbers(own) for shift, own in counts)
            return cls(old, new, bodies, places, slots, new.bodies, links, shifts)
        kept = _kept_parts(before.models, after.models, splice)

        def numbered(
            was: Numbers, now: Numbers, counts: tuple[int, int], names: Callable[[Dynamics], Names]
        ) -> np.ndarray:
            result, lost, found = _renumbered(was, now, kept, *counts)
            if lost and found:
                at, known = {names(new)[k]: k for k in found}, names(old)
                result[lost] = [at.get(known[k], GONE) for k in lost]
            return result

        return cls(
            old,
            new,
            numbered(before.bodies, after.bodies, (old.model.nb, new.model.nb), lambda d: d.bodies),
            numbered(before.places, after.places, (old.nq, new.nq), lambda d: d.coordinates),
            numbered(before.slots, after.slots, (old.nv, new.nv), lambda d: d.velocity_coordinates),
            new.bodies,
            _renumbered(before.links, after.links, kept, old.model.nl, new.model.nl)[0],
        )

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """q (nq,) with what is new as it is at first."""
        return self._moved(PLACES, q, self.places, self.new.neutral())

    def velocity(self, v: np.ndarray) -> np.ndarray:
        """v, or forces, (nv,) with zeros for what is new."""
        return self.of_slots(v, np.zeros(self.new.nv))

    def of_slots(self, values: np.ndarray, result: np.ndarray) -> np.ndarray:
        """``result`` (nv, ...) with the values of slots that there still are."""
        return self._moved(SLOTS, values, self.slots, result)

    def of_bodies(self, values: np.ndarray, result: np.ndarray) -> np.ndarray:
        """The same of bodies (nb, ...)."""
        return self._moved(BODIES, values, self.bodies, result)

    def _moved(self, sort: int, values: np.ndarray, to: np.ndarray, result: np.ndarray) -> np.ndarray:
        return self.shifts[sort].moved(values, result) if self.shifts else moved(values, to, result)

    def parameters(self) -> None:
        """Give the new dynamics the values of the old one's parameters, charts in force included."""
        before, after = self.old.parameters, self.new.parameters
        for name in after:
            if name in before:
                after[name] = before[name]

    def owners(self, a: np.ndarray) -> np.ndarray:
        """Numbers of bodies in contacts, those of another world behind the scene's."""
        known, shift = len(self.bodies), len(self.names) - len(self.bodies)
        result = np.where(a >= known, a + shift, a)
        own = ((a >= 0) & (a < known)).nonzero()[0]
        result[own] = self.bodies[a[own]]
        return result

    @cached_property
    def trees(self) -> np.ndarray:
        """Of the floating trees that there were (k,) the numbers now, GONE for those that changed."""
        before, after = impulse.floating(self.old.model), impulse.floating(self.new.model)
        if self._of_trees is not None:
            return self._of_trees.numbers(len(before))
        return find(after, self.links[before])

    @cached_property
    def _of_trees(self) -> Shift | None:
        """That of floating trees, whose first links rise, where there are shifts."""
        if not self.shifts:
            return None
        before, after = impulse.floating(self.old.model), impulse.floating(self.new.model)
        first, end, start = self.shifts[LINKS]
        return Shift(int(before.searchsorted(first)), int(before.searchsorted(end)), int(after.searchsorted(start)))

    def of_trees(self, values: np.ndarray, result: np.ndarray) -> np.ndarray:
        """The same of floating trees (k, ...)."""
        return moved(values, self.trees, result) if self._of_trees is None else self._of_trees.moved(values, result)

    @property
    def measures(self) -> bool:
        """Whether there are floating trees that were not, or were others, before: of these momentum is measured."""
        before, after = len(impulse.floating(self.old.model)), len(impulse.floating(self.new.model))
        if self._of_trees is not None:
            return before - (self._of_trees.end - self._of_trees.first) < after
        return int((self.trees >= 0).sum()) < after


def numbers(before: Sequence[str], after: Sequence[str]) -> np.ndarray:
    """The number now of each name, GONE for none."""
    if before == after:
        return np.arange(len(before))
    at = {name: k for k, name in enumerate(after)}
    return np.array([at.get(name, GONE) for name in before], dtype=np.int64)


def moved(values: np.ndarray, to: np.ndarray, result: np.ndarray) -> np.ndarray:
    """``result`` with the values whose number now is known."""
    known = to >= 0
    if known.all():
        result[to] = values
    else:
        result[to[known]] = values[known]
    return result


def find(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where the wanted ones (n,) are among rising values, GONE where they are not."""
    at = np.searchsorted(values, wanted)
    there = at < len(values)
    there[there] = values[at[there]] == wanted[there]
    return np.where(there, at, GONE)


def _kept_parts(before: Sequence[Model], after: Sequence[Model], splice: Splice) -> np.ndarray:
    """Numbers before and after (m, 2) of the parts that stayed what they are."""
    if splice.gone and splice.came:
        number = dict(zip(after, count()))
        now = np.fromiter(map(number.get, before, repeat(GONE)), np.int64, len(before))
        stay = (now >= 0).nonzero()[0]
        return np.array([stay, now[stay]]).T
    stay = np.arange(len(before) - splice.gone)
    stay[splice.first :] += splice.gone
    now = np.arange(len(stay))
    now[splice.first :] += splice.came
    return np.array([stay, now]).T


def _shifted(before: ModelParts[Model], after: ModelParts[Model], splice: Splice) -> list[Shift]:
    """Of links, bodies, slots and places, where parts come one after the other and only came, or only went."""
    firsts, ends = before.firsts[:, splice.first].tolist(), before.firsts[:, splice.end].tolist()
    starts = after.firsts[:, splice.first + splice.came].tolist()
    return [Shift(*shift) for shift in zip(firsts, ends, starts, strict=True)]


def _renumbered(
    before: Numbers, after: Numbers, kept: np.ndarray, old: int, new: int
) -> tuple[np.ndarray, list[int], list[int]]:
    """The number now (old,) of everything in kept parts, GONE of the rest; what else was, and what else is there."""
    was, now = before.of_several(kept[:, 0]), after.of_several(kept[:, 1])
    result = np.full(old, GONE)
    result[was] = now
    if len(was) == old or len(now) == new:  # only came, or only went: no names to look up
        return result, [], []
    rest = np.ones(new, dtype=bool)
    rest[now] = False
    return result, (result == GONE).nonzero()[0].tolist(), rest.nonzero()[0].tolist()
