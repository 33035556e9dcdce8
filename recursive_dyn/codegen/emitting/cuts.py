"""Where the statements of a program are cut into functions, and what crosses from one to another."""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.codegen.emitting.fusing import Fused
from recursive_dyn.codegen.emitting.ir_text import load
from recursive_dyn.codegen.emitting.skipping import Skip
from recursive_dyn.graph.program import Program


class Cuts:
    """Where the statement list is cut, and the scratch slot of every value that crosses a cut; what may be skipped has
    parts of its own, each piece within the one before."""

    def __init__(self, program: Program | Fused, size: int, skips: Sequence[Skip] = ()) -> None:
        count = len(program.statements)
        self._skips, self.bounds = skips, [0]
        for end in sorted({count, *(place for skip in skips for place in (skip.first, skip.end))}):
            begin = self.bounds[-1]
            parts = max(1, -(-(end - begin) // size))
            each = -(-(end - begin) // parts)
            self.bounds += [min(begin + each * (k + 1), end) for k in range(parts)]
        self.parts = len(self.bounds) - 1
        self.first = program.first_statement
        own = [k for k in range(self.parts) for _ in range(self.bounds[k], self.bounds[k + 1])]
        self._parts = own
        self.slots: dict[int, int] = {}
        for skip in skips:
            self.slots[skip.condition] = len(self.slots)
        for here, (_, *args) in zip(own, program.statements, strict=True):
            for a in args:
                if a >= self.first and own[a - self.first] != here:
                    self.slots.setdefault(a, len(self.slots))

    def part_of(self, value: int) -> int:
        """The function that computes a value; results that are inputs or constants belong to the last."""
        return self._parts[value - self.first] if value >= self.first else self.parts - 1

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
