"""Where the statements of a program are cut into functions, and what crosses from one to another."""

from __future__ import annotations

from recursive_dyn.codegen.emitting.fusing import Fused
from recursive_dyn.codegen.emitting.ir_text import load
from recursive_dyn.codegen.emitting.skipping import Skip
from recursive_dyn.graph.program import Program


class Cuts:
    """Where the statement list is cut, and the scratch slot of every value that crosses a cut; what may be skipped has
    parts of its own."""

    def __init__(self, program: Program | Fused, size: int, skip: Skip | None = None) -> None:
        count = len(program.statements)
        self._skip = skip
        self.bounds, self._skipped = [0], range(0)
        for end in (count,) if skip is None else (skip.first, skip.end, count):
            begin, before = self.bounds[-1], len(self.bounds) - 1
            parts = max(1, -(-(end - begin) // size))
            each = -(-(end - begin) // parts)
            self.bounds += [min(begin + each * (k + 1), end) for k in range(parts)]
            if skip is not None and end == skip.end:
                self._skipped = range(before, len(self.bounds) - 1)
        self.parts = len(self.bounds) - 1
        self.first = program.first_statement
        own = [k for k in range(self.parts) for _ in range(self.bounds[k], self.bounds[k + 1])]
        self._parts = own
        self.slots: dict[int, int] = {}
        if skip is not None:
            self.slots[skip.condition] = 0
        for here, (_, *args) in zip(own, program.statements, strict=True):
            for a in args:
                if a >= self.first and own[a - self.first] != here:
                    self.slots.setdefault(a, len(self.slots))

    def part_of(self, value: int) -> int:
        """The function that computes a value; results that are inputs or constants belong to the last."""
        return self._parts[value - self.first] if value >= self.first else self.parts - 1

    def calls(self, names: list[str]) -> list[str]:
        """IR that calls all parts, of these names, but what may be skipped where it may."""
        lines = [f"  call void @{name}(ptr %in, ptr %out, ptr %scratch)" for name in names]
        if self._skip is None:
            return lines
        begin, end = self._skipped.start, self._skipped.stop
        jump = [
            load("condition", "double", "%scratch", self.slots[self._skip.condition]),
            "  %holds = fcmp une double %condition, 0.0",
            "  br i1 %holds, label %after, label %others",
            "others:",
        ]
        return [*lines[:begin], *jump, *lines[begin:end], "  br label %after", "after:", *lines[end:]]
