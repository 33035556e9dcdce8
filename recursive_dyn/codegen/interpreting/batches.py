"""Programs run for a few batches and no more, by the compiled interpreter, as machine code of them would not pay."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from recursive_dyn.codegen.addresses import address, aligned
from recursive_dyn.codegen.emitting.drivers import PAD
from recursive_dyn.codegen.emitting.fusing import fused
from recursive_dyn.codegen.emitting.program_code import ProgramCode
from recursive_dyn.codegen.interpreting.interpreter import ENTRY, Interpreted, interpretable
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.reference import run
from recursive_dyn.graph.program import Program


class BatchProgram:
    """``reference.run`` of one program, for as many states at once as a register holds. What is not finite is given as
    it is, in the rows where it is; sums of products round once."""

    def __init__(self, program: Program) -> None:
        self._program, self._width, source = program, jit.vector_width(), fused(program)
        self._made: Interpreted | None = None
        if not interpretable(source):  # tables, which the interpreter has not
            return
        code = ProgramCode(source, self._width, program.inputs, program.outputs, "", program.operation_count())
        made = self._made = Interpreted(code, None)
        self._values = aligned(PAD + made.native.facts["scratch"] * self._width)
        self._values[:1].view(np.int64)[0] = address(made.table)
        self._call = jit.function(made.native, ENTRY, 3, hold_gil=True)

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Output segments (..., size) for input segments (..., size); the leading axes are one batch."""
        if self._made is None:
            return run(self._program, inputs)
        given = [(np.asarray(inputs[name], dtype=float), size) for name, size in self._program.inputs if size]
        lead = np.broadcast_shapes(*(segment.shape[:-1] for segment, _ in given))
        rows = np.empty((*lead, sum(size for _, size in given)))
        start = 0
        for segment, size in given:
            rows[..., start : start + size] = segment
            start += size
        count = int(np.prod(lead))
        results, start, found = self._computed(rows.reshape(count, start)), 0, dict[str, np.ndarray]()
        for name, size in self._program.outputs:
            found[name] = results[:, start : start + size].reshape(*lead, size)
            start += size
        return found

    def _computed(self, rows: np.ndarray) -> np.ndarray:
        """Outputs (n, k) for inputs (n, m), a register full at a time, of which the last may repeat its last row."""
        width, (count, size) = self._width, rows.shape
        blocks = -(-count // width)
        padded = rows[np.minimum(np.arange(blocks * width), count - 1)].reshape(blocks, width, size)
        put_in = np.ascontiguousarray(np.swapaxes(padded, 1, 2))
        results = np.empty((blocks, len(self._program.results), width))
        for ins, outs in zip(put_in, results, strict=True):
            self._call(*(ctypes.c_void_p(address(b)) for b in (ins, outs, self._values)))
        return np.swapaxes(results, 1, 2).reshape(blocks * width, results.shape[1])[:count]
