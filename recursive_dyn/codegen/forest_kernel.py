"""A kernel of many equal systems at once: their own machine code in vector lanes, and tables of what is where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.cache import key_of, source_fingerprint, store
from recursive_dyn.codegen.drivers import padded
from recursive_dyn.codegen.forest_driver import ENTRY, FOREST, GROUP, SUMS, forest_module
from recursive_dyn.codegen.kernel import Kernel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Lanes:
    """``systems`` (T,) equal systems: the machine code of one, ``jit.vector_width()`` of them at once.

    inputs (T, n): where the first n inputs of each are among those of the whole; constants (T, m): its last m inputs.
    outputs (T, k): where its first k outputs go in the whole; the others are sums over all systems.
    """

    kernel: Kernel
    inputs: Array
    constants: Array
    outputs: Array


@dataclass(frozen=True, eq=False)
class Whole:
    """What a kernel of many systems looks like from outside: segments (name, size), a state [q, v] if it steps one.

    units: (first, end) in q of what together has length 1; cleared: how many outputs no system may write; total: the
    program of what is made of the sums, which are the last outputs, if it is not they themselves; loop: IR text of one
    more loop, written with ``forest_driver.SIZES``.
    """

    inputs: Sequence[tuple[str, int]]
    outputs: Sequence[tuple[str, int]]
    nq: int
    nv: int
    units: Sequence[tuple[int, int]]
    cleared: int = 0
    sums: int = 0
    total: Kernel | None = None
    loop: str = ""


class ForestKernel(Kernel):
    """Looks from outside as the kernel of one program of the whole does, whose results it gives but for rounding."""

    def __init__(self, whole: Whole, groups: Sequence[Lanes]) -> None:
        self.inputs, self.outputs = list(whole.inputs), list(whole.outputs)
        self.width, self.entry = 1, ENTRY
        self.input_size = sum(size for _, size in self.inputs)
        self.output_size = sum(size for _, size in self.outputs)
        width = jit.vector_width()
        kernels = [group.kernel for group in groups]
        places = {"lane_in": SUMS + padded(whole.sums)}
        places["lane_out"] = places["lane_in"] + _room(width, [k.input_size for k in kernels])
        places["lane_scratch"] = places["lane_out"] + _room(width, [k.output_size for k in kernels])
        own = [k.scratch * width for k in kernels] + ([whole.total.scratch] if whole.total else [])
        self.scratch = places["lane_scratch"] + max([1, *own])
        self._tables: list[Array] = []
        rows = [self._group(group, width) for group in groups]
        self._table = self._whole(whole, rows, places)
        driver = _driver(whole.loop)
        alive = (driver.files, self._tables, [k.native for k in kernels], whole.total)
        self.native = jit.Native({}, driver.engine, alive)

    def memory(self) -> tuple[Array, Array, Array]:
        given, made, scratch = super().memory()
        scratch[:1].view(np.int64)[0] = address(self._table)
        return given, made, scratch

    def _kept(self, table: Array) -> int:
        """Address of a table that lives as long as the machine code."""
        own = np.ascontiguousarray(table)
        self._tables.append(own)
        return address(own)

    def _group(self, group: Lanes, width: int) -> list[int]:
        kernel, systems = group.kernel, len(group.inputs)
        sums = kernel.output_size - group.outputs.shape[1]
        row = {
            "kernel": kernel.native.address(kernel.entry), "systems": systems, "sums": sums,
            "first_sum": kernel.output_size - sums, "constants": group.constants.shape[1],
            "first_constant": group.inputs.shape[1],
            "constant_table": self._kept(_blocks(group.constants, width).transpose(0, 2, 1)),
        }  # fmt: skip
        for name, index in (("input", group.inputs), ("output", group.outputs)):
            firsts, lengths = _runs(index)
            starts = _blocks(index[:, firsts], width).transpose(0, 2, 1)
            row[f"{name}_runs"] = len(firsts)
            row[f"{name}_table"] = self._kept(np.stack([firsts, lengths], axis=1))
            row[f"{name}_starts"] = self._kept(starts)
        return [row[name] for name in GROUP]

    def _whole(self, whole: Whole, rows: list[list[int]], places: dict[str, int]) -> Array:
        units = np.array([(first, end - first) for first, end in whole.units], dtype=np.int64)
        total = whole.total
        made = total.output_size if total is not None else whole.sums
        entries = {
            "inputs": self.input_size, "outputs": self.output_size, "nq": whole.nq, "nv": whole.nv,
            "unit_count": len(units), "unit_table": self._kept(units), "cleared": whole.cleared,
            "group_count": len(rows), "groups": self._kept(np.array(rows, dtype=np.int64)), **places,
            "sum_count": whole.sums, "sum_place": self.output_size - made,
            "total": 0 if total is None else total.native.address(total.entry),
        }  # fmt: skip
        for name, segments in (("input", self.inputs), ("output", self.outputs)):
            entries[f"{name}_segments"] = len(segments)
            entries[f"{name}_sizes"] = self._kept(np.array([size for _, size in segments], dtype=np.int64))
        table = np.array([entries[name] for name in FOREST], dtype=np.int64)
        self._tables.append(table)
        return table


def _room(width: int, sizes: Sequence[int]) -> int:
    """Doubles of lanes for the longest, and what an exchange may write beyond it."""
    return padded((max(sizes, default=0) + width) * width)


def _runs(index: Array) -> tuple[Array, Array]:
    """(first column, length) of the stretches of columns whose positions (T, n) follow each other in every row."""
    count = index.shape[1]
    breaks = np.flatnonzero((np.diff(index, axis=1) != 1).any(axis=0)) + 1
    firsts = np.concatenate([np.zeros(min(count, 1), dtype=np.int64), breaks]).astype(np.int64)
    return firsts, np.diff(np.append(firsts, count)).astype(np.int64)


def _blocks(values: Array, width: int) -> Array:
    """Rows (T, n) as blocks (b, width, n), the last one filled up with the last row."""
    count = -(-len(values) // width)
    last = np.minimum(np.arange(count * width), len(values) - 1)
    return values[last].reshape(count, width, values.shape[1])


@cache
def _driver(loop: str) -> jit.Native:
    """The machine code that all forests share, with one more loop."""
    text = forest_module(jit.vector_width(), loop)
    key = key_of("forest", text, jit.environment(), source_fingerprint())
    native = jit.cached(key)
    if native is None:
        objects = jit.compile_modules([text])
        store(key, jit.pack(objects, {}))
        native = jit.load_objects(objects, {})
    return native
