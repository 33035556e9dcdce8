"""A stretch of a program that does the same turn after turn (``repeating``), as a function with a loop: IR text."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.emitting.cuts import Cuts
from recursive_dyn.codegen.emitting.fusing import Fused
from recursive_dyn.codegen.emitting.ir_text import scalar_literal
from recursive_dyn.codegen.emitting.straight import FunctionText
from recursive_dyn.errors import ModelError


class LoopText(FunctionText):
    """One stretch of a program as a loop over its turns, of scalars.

    What a turn takes from the one before it is carried over; all else comes from memory, by pointers that move on.
    """

    def __init__(self, program: Fused, cuts: Cuts, part: int) -> None:
        super().__init__(program, cuts, part, 1)
        self._turns, self._arguments, self._rows = cuts.loops[part], program.arguments, cuts.loops[part].rows()
        self._pointers: dict[tuple[str, int], str] = {}  # by what they point into, and by how much they move on
        self._carried: dict[int, tuple[str, str]] = {}  # by place in a turn: its name, and that of what it begins by
        self._numbers: list[np.ndarray] = []  # constants (count,) that are others in each turn
        self._loaded: dict[tuple[int, ...], str] = {}
        self._entry: list[str] = []  # lines before the loop

    def text(self, name: str) -> str:
        cuts, program = self.cuts, self.program
        for place, row in enumerate(self._rows[0].tolist()):
            op, *numbers = program.statements[row]
            args = [self._argument(place, n) for n in range(len(numbers))]
            made = self.names[cuts.first + row] = self.operation(op, numbers, args)
            if place in cuts.kept[self.part]:
                first, second = (cuts.slots[cuts.first + k] for k in self._rows[:2, place].tolist())
                self._store("scratch", first, second - first, made)
            for first, step in cuts.told[self.part].get(place, []):
                self._store("out", first, step, made)
        return self._looped(name)

    def _store(self, base: str, index: int, step: int, made: str) -> None:
        self.lines.append(f"  store double {made}, ptr {self._at(base, index, step)}, align 8")

    def _argument(self, place: int, n: int) -> str:
        """The name of an argument of a turn's statement at ``place``."""
        own, program, begin = self._turns, self.program, self.cuts.first + self._turns.first
        values = self._arguments[self._rows[:, place], n]
        here, step = int(values[0]), int(values[1] - values[0])
        if program.input_size <= here < program.first_table:
            return self._number(values)
        if program.first_table <= here < self.cuts.first:
            return self.value(here)
        behind = own.count - 1 - (int(values[-1]) - begin) // own.period  # turns, if it is of the stretch itself
        if step == own.period and behind == 0:
            return self.names[here]
        if step == own.period and behind == 1:
            return self._from_before(here, (here - begin) % own.period)
        if (here, step) not in self._loaded:
            places = values if here < program.input_size else np.array([self.cuts.slots[k] for k in values.tolist()])
            at = self._evenly("in" if here < program.input_size else "scratch", places)
            self._loaded[here, step] = self.let(f"load double, ptr {at}, align 8")
        return self._loaded[here, step]

    def _evenly(self, base: str, places: np.ndarray) -> str:
        """The address of what is at these places, turn by turn."""
        step = int(places[1] - places[0])
        if (np.diff(places) != step).any():
            raise ModelError(
                "memory of a loop of a program is out of order, which it never should be: please report it"
            )
        return self._at(base, int(places[0]), step)

    def _from_before(self, here: int, place: int) -> str:
        """What the turn before made at ``place``; here: what the first one takes for it."""
        if place not in self._carried:
            self.lines, self._entry = self._entry, self.lines
            self._carried[place] = f"%carried.{place}", self.value(here)
            self.lines, self._entry = self._entry, self.lines
            del self.names[here]
        return self._carried[place][0]

    def _number(self, values: np.ndarray) -> str:
        """A constant, which may be another one in each turn; values: what it is there."""
        constants = np.array([self.program.constants[k - self.program.input_size] for k in values.tolist()])
        if len(np.unique(constants.view(np.int64))) == 1:
            return scalar_literal(float(constants[0]))
        key = tuple(values.tolist())
        if key not in self._loaded:
            self._loaded[key] = self.let(f"load double, ptr {self._at('numbers', len(self._numbers), 1)}, align 8")
            self._numbers.append(constants)
        return self._loaded[key]

    def _at(self, base: str, index: int, step: int) -> str:
        """An address that moves on by so many doubles a turn, of ``numbers`` by all of a turn's."""
        pointer = self._pointers.setdefault((base, step), f"%at.{len(self._pointers)}")
        return self.let(f"getelementptr double, ptr {pointer}, i64 {index}")

    def _looped(self, name: str) -> str:
        """The function, where ``lines`` are those of a turn."""
        first, head, onward = self.cuts.first, list[str](), list[str]()
        for (base, step), pointer in self._pointers.items():
            start, by = (f"@{name}.numbers", len(self._numbers)) if base == "numbers" else (f"%{base}", step)
            head.append(f"  {pointer} = phi ptr [ {start}, %entry ], [ {pointer}.next, %turn ]")
            onward.append(f"  {pointer}.next = getelementptr double, ptr {pointer}, i64 {by}")
        for place, (carried, begin) in self._carried.items():
            made = self.names[first + int(self._rows[0, place])]
            head.append(f"  {carried} = phi double [ {begin}, %entry ], [ {made}, %turn ]")
        turn, self.lines = self.lines, []
        for place in self.cuts.left[self.part]:
            slot = self.cuts.slots[first + int(self._rows[-1, place])]
            self.store("scratch", slot, self.names[first + int(self._rows[0, place])])
        return "\n".join([
            *self._table(name),
            f"define void @{name}(ptr noalias %in, ptr noalias %out, ptr noalias %scratch) nounwind {{",
            "entry:", *self._entry, "  br label %turn",
            "turn:", f"  %turns = phi i64 [ {self._turns.count}, %entry ], [ %turns.left, %turn ]", *head, *turn,
            *onward, "  %turns.left = sub i64 %turns, 1", "  %over = icmp eq i64 %turns.left, 0",
            "  br i1 %over, label %end, label %turn",
            "end:", *self.lines, "  ret void", "}",
        ])  # fmt: skip

    def _table(self, name: str) -> list[str]:
        """Constants of all turns."""
        if not self._numbers:
            return []
        each = [f"double {scalar_literal(x)}" for x in np.stack(self._numbers, axis=1).ravel().tolist()]
        return [f"@{name}.numbers = private unnamed_addr constant [{len(each)} x double] [{', '.join(each)}]"]
