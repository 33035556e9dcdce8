"""A program ready to be called: buffers, machine code and the two ways in, one scene or a batch of them."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache, partial

import numpy as np

from recursive_dyn.codegen import cache, drivers, jit, llvm
from recursive_dyn.codegen.addresses import address, aligned
from recursive_dyn.graph.program import Program

_BLOCK_PER_THREAD = 512  # rows below which another thread does not pay


class NotFinite(Exception):
    """A call met a number that is not finite; ``stage`` is "input" or "output", ``row`` the batch's first bad block."""

    def __init__(self, stage: str, row: int) -> None:
        super().__init__(stage)
        self.stage, self.row = stage, row


class Kernel:
    """Machine code of one program at one vector width.

    key: cache key of everything the program depends on; build: makes the program when the cache has no entry;
    progress: told the share compiled so far; driver: makes IR text of one more loop around the scalar kernel, from the
    kernel's name and the program.
    """

    def __init__(
        self,
        key: str,
        build: Callable[[], Program],
        width: int,
        progress: Callable[[float], None] | None = None,
        driver: Callable[[str, Program], str] | None = None,
    ) -> None:
        index = cache.key_of("index", key, width, jit.environment(), cache.source_fingerprint())
        name = cache.load(index)
        native = jit.cached(name.decode()) if name else None
        if native is None:
            program = build()
            loop = driver(llvm.entry_name(program, width), program) if driver is not None and width == 1 else ""
            entry = cache.key_of("object", program.hash, width, loop, jit.environment(), cache.source_fingerprint())
            native = jit.cached(entry) or _compile(program, width, entry, progress, loop)
            cache.store(index, entry.encode())
        self.native = native
        self.width = width
        facts = native.facts
        self.inputs: list[tuple[str, int]] = [(n, s) for n, s in facts["inputs"]]
        self.outputs: list[tuple[str, int]] = [(n, s) for n, s in facts["outputs"]]
        self.entry: str = facts["entry"]
        self.scratch: int = facts["scratch"]
        self.input_size = sum(s for _, s in self.inputs)
        self.output_size = sum(s for _, s in self.outputs)

    def buffer(self, elements: int) -> np.ndarray:
        """Zeroed working memory for ``elements`` elements of this width, aligned to 64 bytes."""
        return aligned(drivers.padded(max(elements, 1) * self.width))

    def memory(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Input, output and scratch, new: what every call of the machine code works in. Only this makes a scratch."""
        made, scratch, end = self._ends
        raw = aligned(end)
        return raw[:made], raw[made:scratch], raw[scratch:]

    @cached_property
    def _ends(self) -> tuple[int, int, int]:
        """Where output and scratch begin behind the input, and the end, in doubles."""
        made = drivers.padded(max(self.input_size, 1) * self.width)
        scratch = made + drivers.padded(max(self.output_size, 1) * self.width)
        return made, scratch, scratch + drivers.padded(max(self.scratch, 1) * self.width)


def _compile(
    program: Program,
    width: int,
    entry: str,
    progress: Callable[[float], None] | None,
    loop: str,
) -> jit.Native:
    emission = llvm.emit(program, width)
    sizes_in, sizes_out = [s for _, s in program.inputs], [s for _, s in program.outputs]
    bodies = [drivers.batch_driver(emission.entry, sizes_in, sizes_out, width)]
    if width == 1:
        bodies += [drivers.call_driver(emission.entry, program.input_size, program.output_size), loop]
    objects = jit.compile_modules([*emission.modules, drivers.module(emission.entry, *bodies)], progress)
    facts = {
        "inputs": program.inputs,
        "outputs": program.outputs,
        "entry": emission.entry,
        "scratch": emission.scratch,
        "program": program.hash,
        "count": program.operation_count().__dict__,
    }
    cache.store(entry, jit.pack(objects, facts))
    return jit.load_objects(objects, facts)


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
        self._call = jit.function(kernel.native, f"{kernel.entry}_batch", 8, hold_gil=False)
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
            codes = list(_pool().map(run, starts, (min(step, count - s) for s in starts)))
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
    return max(1, min(_cores(), count // _BLOCK_PER_THREAD))


@lru_cache(maxsize=1)
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="recursive-dyn")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads
