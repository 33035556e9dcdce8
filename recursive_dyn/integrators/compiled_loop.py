"""The loop of steps that was compiled with a kernel, and the buffers it works in."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.drivers import CODE_BITS
from recursive_dyn.codegen.kernel import Kernel

_HEAD = 8  # doubles before the states in the loop's own memory; the first is the length of a step


class CompiledLoop:
    """``inputs``: the kernel's input segments by name, which hold the state; ``output``: what it last gave.

    state: how many numbers are integrated; arguments: how many more than the count of steps ``run`` takes, integers or
    addresses.
    """

    def __init__(self, kernel: Kernel, state: int, arguments: int) -> None:
        self._input = kernel.buffer(kernel.input_size)
        output, scratch = kernel.buffer(kernel.output_size), kernel.buffer(kernel.scratch)
        self._work = kernel.buffer(_HEAD + 2 * state)
        self.inputs: dict[str, np.ndarray] = {}
        start = 0
        for name, size in kernel.inputs:
            self.inputs[name] = self._input[start : start + size]
            start += size
        self.output = output[: kernel.output_size]
        self._buffers = [self._input, output, scratch, self._work]
        self._addresses = [buffer.ctypes.data for buffer in self._buffers]
        self._run = jit.function(kernel.native, f"{kernel.entry}_run", 5 + arguments, hold_gil=False)

    def run(self, h: float, count: int, *arguments: int) -> tuple[int, int]:
        """At most ``count`` steps of length h from the state in ``inputs``; (steps done, code of ``drivers``)."""
        self._work[0] = h
        told = self._run(*self._addresses, count, *arguments)
        return told >> CODE_BITS, told & ((1 << CODE_BITS) - 1)
