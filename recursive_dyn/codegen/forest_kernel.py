"""A kernel of many equal systems at once: their own machine code in vector lanes, and tables of what is where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.cache import key_of, source_fingerprint
from recursive_dyn.codegen.drivers import padded
from recursive_dyn.codegen.forest_driver import ENTRY, FOREST, GROUP, SUMS, forest_module
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.runs import Runs, filled

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Lanes:
    """Equal systems: the machine code of one, ``jit.vector_width()`` of them at once.

    inputs: where the first inputs of each are among those of the whole; constants: its last inputs, ``in_lanes``.
    outputs: where its first outputs go in the whole; the others are sums over all systems.
    """

    kernel: Kernel
    inputs: Runs
    constants: Array
    outputs: Runs


@dataclass(frozen=True, eq=False)
class Whole:
    """What a kernel of many systems looks like from outside: segments (name, size), a state [q, v] if it steps one.

    units (k, 2): first and number of what in q together has length 1; cleared: how many outputs no system may write;
    total: the program of what is made of the sums, which are the last outputs, if it is not they themselves; loop: IR
    text of one more loop, written with ``forest_driver.SIZES``.
    """

    inputs: Sequence[tuple[str, int]]
    outputs: Sequence[tuple[str, int]]
    nq: int
    nv: int
    units: Array
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
        self._table = _tabled(self, whole, groups, places)
        self.native = _driver(whole.loop).holding(self._table, whole, groups)

    def memory(self) -> tuple[Array, Array, Array]:
        given, made, scratch = super().memory()
        scratch[:1].view(np.int64)[0] = address(self._table)
        return given, made, scratch


def in_lanes(values: Array) -> Array:
    """Rows (T, n) as blocks of lanes (b, n, width), the last one filled up with the last row."""
    systems, width = len(values), jit.vector_width()
    if systems % width:
        values = values[filled(systems, width)]
    blocks: Array = values.reshape(len(values) // width, width, values.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks)


def _tabled(kernel: Kernel, whole: Whole, groups: Sequence[Lanes], places: dict[str, int]) -> Array:
    """The table that a call reads: the entries of the forest, what these point to, then those of its groups."""
    inputs, outputs = [size for _, size in whole.inputs], [size for _, size in whole.outputs]
    numbers, firsts = [*inputs, *outputs], list[int]()
    for group in groups:
        for runs in (group.inputs, group.outputs):
            firsts.append(len(numbers))
            numbers += runs.table()
    head, rows = len(FOREST), len(FOREST) + len(numbers)
    table = np.empty(rows + len(GROUP) * len(groups), dtype=np.int64)
    base = address(table)
    at = [base + 8 * (head + first) for first in (0, len(inputs), *firsts)]
    for k, group in enumerate(groups):
        numbers += _row(group, at[2 + 2 * k], at[3 + 2 * k])
    total = whole.total
    made = total.output_size if total is not None else whole.sums
    entries = {
        "inputs": kernel.input_size, "outputs": kernel.output_size, "nq": whole.nq, "nv": whole.nv,
        "unit_count": len(whole.units), "unit_table": address(whole.units), "cleared": whole.cleared,
        "group_count": len(groups), "groups": base + 8 * rows, **places, "sum_count": whole.sums,
        "sum_place": kernel.output_size - made,
        "total": 0 if total is None else total.native.address(total.entry), "input_segments": len(inputs),
        "input_sizes": at[0], "output_segments": len(outputs), "output_sizes": at[1],
    }  # fmt: skip
    table[:] = [*[entries[name] for name in FOREST], *numbers]
    return table


def _row(group: Lanes, input_table: int, output_table: int) -> list[int]:
    """The entries of a group, of which the addresses of its runs are given."""
    kernel, outputs = group.kernel, group.outputs.size
    row = {
        "kernel": kernel.native.address(kernel.entry), "systems": group.inputs.systems,
        "input_runs": len(group.inputs.runs), "input_table": input_table,
        "output_runs": len(group.outputs.runs), "output_table": output_table,
        "sums": kernel.output_size - outputs, "first_sum": outputs, "constants": group.constants.shape[1],
        "first_constant": group.inputs.size, "constant_table": address(group.constants),
    }  # fmt: skip
    return [row[name] for name in GROUP]


def _room(width: int, sizes: Sequence[int]) -> int:
    """Doubles of lanes for the longest, and what an exchange may write beyond it."""
    return padded((max(sizes, default=0) + width) * width)


@cache
def _driver(loop: str) -> jit.Native:
    """The machine code that all forests share, with one more loop."""
    text = forest_module(jit.vector_width(), loop)
    key = key_of("forest", text, jit.environment(), source_fingerprint())
    return jit.native(key, lambda: jit.compile_modules([text]))
