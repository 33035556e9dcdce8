"""What machine code of a program is made from, complete, so that it may be made in another process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from recursive_dyn.codegen.emitting import drivers, llvm
from recursive_dyn.codegen.emitting.straight import Source
from recursive_dyn.codegen.making import jit
from recursive_dyn.graph.program import OperationCount


@dataclass(frozen=True, eq=False)
class ProgramCode:
    """A program at a width, and the loop around it, IR text, or "".

    inputs, outputs: segments (name, size); count: of its operations, to be told.
    """

    source: Source
    width: int
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    loop: str
    count: OperationCount

    @property
    def entry(self) -> str:
        """The kernel's name."""
        return llvm.entry_name(self.source, self.width)

    def facts(self, entry: str, scratch: int) -> dict[str, Any]:
        """What is kept with machine code of it, under the name ``entry``, that needs so much scratch."""
        return {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "entry": entry,
            "scratch": scratch,
            "program": self.source.hash,
            "count": asdict(self.count),
        }

    def packed(self, progress: Callable[[float], None] | None = None) -> bytes:
        """Its machine code with its drivers, as a cache entry; progress: told the share compiled."""
        emission = llvm.emit(self.source, self.width)
        sizes_in, sizes_out = [s for _, s in self.inputs], [s for _, s in self.outputs]
        bodies = [drivers.batch_driver(emission.entry, sizes_in, sizes_out, self.width)]
        if self.width == 1:
            bodies += [drivers.call_driver(emission.entry, sum(sizes_in), sum(sizes_out)), self.loop]
        objects = jit.compile_modules([*emission.modules, drivers.module(emission.entry, *bodies)], progress)
        return jit.pack(objects, self.facts(emission.entry, emission.scratch))
