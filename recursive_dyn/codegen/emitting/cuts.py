"""Where the statements of a program are cut into functions, and what crosses from one to another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.codegen.emitting.fusing import ARITY, Fused
from recursive_dyn.codegen.emitting.ir_text import load
from recursive_dyn.codegen.emitting.repeating import Stretch, stretches
from recursive_dyn.codegen.emitting.skipping import Skip
from recursive_dyn.graph.program import Program


class Cuts:
    """Where the statement list is cut, and the scratch slot of every value that crosses a cut; what may be skipped has
    parts of its own, each piece within the one before, and so has what is done again and again (``repeating``).

    loops: the stretch that a part is, by its number. From one turn of a stretch to the next slots move on evenly:
    ``kept`` tells for each of them which of its statements have a slot in every turn, ``left`` which in the last alone,
    ``told`` which are results, the first place of each and by how much that moves on. results: place and value number
    of all others, by the part that stores them; those that are inputs, constants or made by loops the last one.
    """

    def __init__(self, program: Program | Fused, size: int, skips: Sequence[Skip] = (), roll: bool = False) -> None:
        self._program, self._skips, self.first = program, skips, program.first_statement
        count = len(program.statements)
        edges = sorted({0, count, *(place for skip in skips for place in (skip.first, skip.end))})
        found, self._home = list[Stretch](), np.full(count, -1)
        if roll and isinstance(program, Fused):
            found, self._home = stretches(program, edges)
        self.bounds, self.loops = _bounds(edges, found, size)
        self.parts = len(self.bounds) - 1
        own = np.repeat(np.arange(self.parts), np.diff(self.bounds))
        self._places: dict[int, list[int]] = {}
        for place, value in enumerate(program.results):
            self._places.setdefault(value, []).append(place)
        self.kept, self.left = dict[int, list[int]](), dict[int, list[int]]()
        self.told = {part: self._even_results(stretch) for part, stretch in self.loops.items()}
        self.results = self._other_results(own.tolist())
        self.slots: dict[int, int] = {}
        self.scratch = 0
        self._place(own, found)

    def _even_results(self, stretch: Stretch) -> dict[int, list[tuple[int, int]]]:
        """Of each statement of a turn, if results are what all turns make there, their places: first, and step."""
        places, found = self._places, dict[int, list[tuple[int, int]]]()
        for place, values in enumerate((self.first + stretch.rows()).T.tolist()):
            if places.keys() >= {values[0], values[-1]}:
                own = [places.get(value, []) for value in values]
                steps = np.diff(np.array(own), axis=0) if len({*map(len, own)}) == 1 else np.arange(2)[:, None]
                if (steps == steps[0]).all():
                    found[place] = list(zip(own[0], steps[0].tolist(), strict=True))
        return found

    def _other_results(self, own: list[int]) -> dict[int, list[tuple[int, int]]]:
        """Results that loops do not store as they go."""
        found: dict[int, list[tuple[int, int]]] = {}
        for place, value in enumerate(self._program.results):
            part = own[value - self.first] if value >= self.first else self.parts - 1
            loop = self.loops.get(part)
            if loop is not None and (value - self.first - loop.first) % loop.period in self.told[part]:
                continue
            found.setdefault(self.parts - 1 if loop is not None else part, []).append((place, value))
        return found

    def _place(self, own: np.ndarray, found: Sequence[Stretch]) -> None:
        """Slots of all values that are used in other parts, or two turns later and more."""
        crossing = self._crossing(own)
        homes = self._home[crossing]
        part_of = {self.loops[part].first: part for part in self.loops}
        for value in crossing[homes < 0].tolist():
            self._slot(value)
        for k, stretch in enumerate(found):
            values = crossing[homes == k]
            turns, places = np.divmod(values - stretch.first, stretch.period)
            kept, times = np.unique(places, return_counts=True)
            last = {int(p) for p, t in zip(places, turns, strict=True) if t == stretch.count - 1}
            outside = {int(p) for p, t in zip(places, turns, strict=True) if not 0 <= t < stretch.count}
            once = {int(p) for p, n in zip(kept, times, strict=True) if n == 1 and int(p) in last | outside}
            for value, place in zip(values.tolist(), places.tolist(), strict=True):
                if place in once:
                    self._slot(value)
            part = part_of[stretch.first]
            self.left[part] = sorted(once & last)
            self.kept[part] = every = [p for p in kept.tolist() if p not in once]
            self._block(stretch, every, values, turns)

    def _block(self, stretch: Stretch, kept: list[int], values: np.ndarray, turns: np.ndarray) -> None:
        """Slots of what is kept of every turn, turn after turn."""
        if not kept:
            return
        at = {place: n for n, place in enumerate(kept)}
        first, last = min(0, int(turns.min())), max(stretch.count - 1, int(turns.max()))
        made = stretch.rows()[:, kept].ravel()
        for value in {*made.tolist(), *values.tolist()}:
            turn, place = divmod(value - stretch.first, stretch.period)
            if place in at:
                self.slots[self.first + value] = self.scratch + (turn - first) * len(kept) + at[place]
        self.scratch += (last + 1 - first) * len(kept)

    def _slot(self, statement: int) -> None:
        self.slots[self.first + statement] = self.scratch
        self.scratch += 1

    def _crossing(self, own: np.ndarray) -> np.ndarray:
        """Statements whose values are needed elsewhere, in their order."""
        program, first, turn = self._program, self.first, np.zeros(len(own), dtype=np.int64)
        for stretch in self.loops.values():
            turn[stretch.first : stretch.end] = np.arange(stretch.period * stretch.count) // stretch.period
        if isinstance(program, Fused):
            there = (np.arange(3) < ARITY[program.codes][:, None]) & (program.arguments >= first)
            here, arguments = np.nonzero(there)[0], program.arguments[there] - first
        else:
            pairs = [(k, a - first) for k, (_, *args) in enumerate(program.statements) for a in args if a >= first]
            here, arguments = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        far = (own[here] != own[arguments]) | (turn[here] - turn[arguments] > 1)
        results = [value - first for _, value in self.results.get(self.parts - 1, []) if value >= first]
        looped = [k for k in results if own[k] in self.loops]
        asked = [skip.condition - first for skip in self._skips]
        return np.unique(np.concatenate([arguments[far], np.array(looped + asked, dtype=np.int64)]))

    def calls(self, names: list[str]) -> list[str]:
        """IR that calls all parts, of these names, but what may be skipped where it may."""
        lines, open_skips = list[str](), list[int]()
        for k, begin in enumerate(self.bounds):
            while open_skips and begin == self._skips[open_skips[-1]].end:
                after = f"after.{open_skips.pop()}"
                lines += [f"  br label %{after}", f"{after}:"]
            for n, skip in enumerate(self._skips):
                if begin == skip.first:
                    open_skips.append(n)
                    lines += self._jump(n, skip)
            if k < self.parts:
                lines.append(f"  call void @{names[k]}(ptr %in, ptr %out, ptr %scratch)")
        return lines

    def _jump(self, n: int, skip: Skip) -> list[str]:
        """IR that goes to after.n where the condition holds."""
        return [
            load(f"condition.{n}", "double", "%scratch", self.slots[skip.condition]),
            f"  %holds.{n} = fcmp une double %condition.{n}, 0.0",
            f"  br i1 %holds.{n}, label %after.{n}, label %others.{n}",
            f"others.{n}:",
        ]


def _bounds(edges: Sequence[int], found: Sequence[Stretch], size: int) -> tuple[list[int], dict[int, Stretch]]:
    """Where parts begin and, last, all ends; which of them are loops. The last part is none: it stores what loops made
    of results."""
    bounds, loops, begins = [0], dict[int, Stretch](), {own.first: own for own in found}
    for end in sorted({*edges, *(place for own in found for place in (own.first, own.end))} - {0}):
        begin = bounds[-1]
        if begin in begins:
            loops[len(bounds) - 1] = begins[begin]
            bounds.append(end)
            continue
        parts = max(1, -(-(end - begin) // size))
        each = -(-(end - begin) // parts)
        bounds += [min(begin + each * (k + 1), end) for k in range(parts)]
    if len(bounds) - 2 in loops:
        bounds.append(bounds[-1])
    return (bounds if len(bounds) > 1 else [0, 0]), loops
