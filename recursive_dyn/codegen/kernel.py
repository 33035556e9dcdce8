"""A program ready to be called: buffers, machine code and the two ways in, one scene or a batch of them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from recursive_dyn.codegen.addresses import address, aligned
from recursive_dyn.codegen.emitting import drivers, llvm
from recursive_dyn.codegen.emitting.fusing import fused
from recursive_dyn.codegen.emitting.program_code import ProgramCode
from recursive_dyn.codegen.emitting.sizes import Stepping
from recursive_dyn.codegen.interpreting.interpreter import Interpreted, interpretable
from recursive_dyn.codegen.making import cache, jit, optimizing
from recursive_dyn.codegen.threads import cores, pool
from recursive_dyn.graph.program import Program

Driver = Callable[[str, int, int], str]  # (entry, inputs, outputs) -> IR text of a loop around the kernel

_BLOCK_PER_THREAD = 512  # rows below which another thread does not pay


class NotFinite(Exception):
    """A call met a number that is not finite; ``stage`` is "input" or "output", ``row`` the batch's first bad block."""

    def __init__(self, stage: str, row: int) -> None:
        super().__init__(stage)
        self.stage, self.row = stage, row


class Kernel:
    """Machine code of one program at one vector width.

    key: cache key of everything the program depends on; build: makes the program when the cache has no entry;
    progress: told the share compiled so far; driver: of one more loop around the scalar kernel. soon: where the cache
    has no entry, a program that is long, or in a hurry, is interpreted until machine code comes from another process,
    with the same results bit for bit; if its width is more than 1 it has no batches until then. batch_code: what has
    the driver of batches, and the name it goes by, if that is not ``native`` and ``entry``.
    """

    batches = True  # whether there is a driver of batches
    batch_code: tuple[jit.Native, str] | None = None
    own_table = 0  # the address that its scratch begins with, or 0: who makes a scratch otherwise than ``memory`` does
    _table: np.ndarray | None = None  # writes it

    def __init__(
        self,
        key: str,
        build: Callable[[], Program],
        width: int,
        progress: Callable[[float], None] | None = None,
        driver: Driver | None = None,
        soon: bool = False,
    ) -> None:
        self.width = width
        index = cache.key_of("index", key, width, jit.environment(), cache.source_fingerprint())
        name = cache.load(index)
        native = jit.cached(name.decode()) if name else None
        if native is None:
            program = build()
            sizes = program.input_size, program.output_size
            loop = driver(llvm.entry_name(program, width), *sizes) if driver is not None and width == 1 else ""
            entry = cache.key_of("object", program.hash, width, loop, jit.environment(), cache.source_fingerprint())
            native = jit.cached(entry)
            if native is None:
                source = fused(program) if jit.fuses() else program
                code = ProgramCode(source, width, program.inputs, program.outputs, loop, program.operation_count())
                later = soon and not optimizing.is_worth_waiting_for(len(program.statements))
                native = self._interpreted(code, driver, entry, index) if later else None
                native = native or jit.load(cache.stored(entry, code.packed(progress)))
            if not self.own_table:
                cache.store(index, entry.encode())
        self.native, facts = native, native.facts
        self.inputs: list[tuple[str, int]] = [(n, s) for n, s in facts["inputs"]]
        self.outputs: list[tuple[str, int]] = [(n, s) for n, s in facts["outputs"]]
        self.entry: str = facts["entry"]
        self.scratch: int = facts["scratch"]
        self.input_size = sum(s for _, s in self.inputs)
        self.output_size = sum(s for _, s in self.outputs)

    def _interpreted(self, code: ProgramCode, driver: Driver | None, entry: str, index: str) -> jit.Native | None:
        """What runs until machine code comes, for which the other process is asked, and which the cache finds under
        ``index`` too; None where it has to be waited for."""
        stepping = driver if code.loop else None
        if not isinstance(stepping, Stepping | None) or not interpretable(code.source):
            return None
        made = Interpreted(code, stepping)

        def take(native: jit.Native) -> None:
            made.replace(native)
            self.batch_code, self.batches = (native, code.entry), True

        optimizing.add(optimizing.Wish(entry, lambda: code, take, index))
        self._table, self.own_table, self.batches = made.table, address(made.table), code.width == 1
        return made.native

    def buffer(self, elements: int) -> np.ndarray:
        """Zeroed working memory for ``elements`` elements of this width, aligned to 64 bytes."""
        return aligned(drivers.padded(max(elements, 1) * self.width))

    def memory(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Input, output and scratch, new: what every call of the machine code works in. Only this makes a scratch.

        All are zeros. Outputs are written before they are read, but the check of them reads what is left of their last
        register too; a scratch begins with what was not asked for and is not known yet.
        """
        padded, width = drivers.padded, self.width
        made = padded((self.input_size or 1) * width)
        scratch = made + padded((self.output_size or 1) * width)
        raw = aligned(scratch + padded((self.scratch or 1) * width))
        raw[scratch : scratch + 1].view(np.int64)[0] = self.own_table
        return raw[:made], raw[made:scratch], raw[scratch:]


class SingleCall:
    """One scene at a time: inputs are copied into fixed buffers, so that a call costs well under a microsecond.

    ``large``: set when a result is beyond ``drivers.MODERATE``; whoever looks at it sets it back.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.large = False
        self._in, self._out, self._scratch = kernel.memory()
        self.segments: list[np.ndarray] = []
        start = 0
        for _, size in kernel.inputs:
            self.segments.append(self._in[start : start + size])
            start += size
        self.result = self._out[: kernel.output_size]
        call = jit.function(kernel.native, f"{kernel.entry}_call", 3, hold_gil=True)
        self._run = partial(call, *(ctypes.c_void_p(address(b)) for b in (self._in, self._out, self._scratch)))

    def __call__(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        """Output vector (output_size,), a copy; raises NotFinite."""
        for segment, argument in zip(self.segments, arguments, strict=False):  # parameters, the last, may be none
            segment[:] = argument
        code = self._run()
        if code:
            if code != drivers.LARGE:
                raise NotFinite("input" if code == drivers.BAD_INPUT else "output", 0)
            self.large = True
        return self.result.copy()


class BatchCall:
    """Many scenes: rows of every segment, in vectors of the kernel's width, on several threads when there are many."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        native, entry = kernel.batch_code or (kernel.native, kernel.entry)
        self._call = jit.function(native, f"{entry}_batch", 8, hold_gil=False)
        self._local = threading.local()

    def __call__(
        self,
        arguments: Sequence[np.ndarray],
        count: int,
        threads: int | None = None,
        into: Sequence[np.ndarray] | None = None,
    ) -> Sequence[np.ndarray]:
        """Output segments (count, size), ``into`` if given, for input segments (count, size) or (1, size), all of them
        C-contiguous float64."""
        kernel = self.kernel
        results = [np.empty((count, size)) for _, size in kernel.outputs] if into is None else into
        sources = (ctypes.c_void_p * len(arguments))(*map(address, arguments))
        strides = (ctypes.c_int64 * len(arguments))(*(0 if a.shape[0] == 1 else a.shape[1] for a in arguments))
        targets = (ctypes.c_void_p * len(results))(*map(address, results))

        def run(first: int, rows: int) -> int:
            return self._call(sources, strides, targets, first, rows, *self._work())

        share = _threads(count, threads)
        if share == 1:
            codes = [run(0, count)]
        else:
            step = -(-count // share // kernel.width) * kernel.width
            starts = range(0, count, step)
            codes = list(pool().map(run, starts, (min(step, count - s) for s in starts)))
        for code in codes:
            if code:
                raise NotFinite("input" if code & 1 else "output", (code - 1) // 2)
        return results

    def _work(self) -> list[int]:
        """Addresses of this thread's working memory."""
        if not hasattr(self._local, "buffers"):
            self._local.buffers = self.kernel.memory()
        return [*map(address, self._local.buffers)]


def _threads(count: int, chosen: int | None) -> int:
    if chosen is not None:
        return max(1, min(chosen, count))
    return max(1, min(cores(), count // _BLOCK_PER_THREAD))
