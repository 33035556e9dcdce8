"""A kernel of many equal systems at once: their own machine code in vector lanes, and tables of what is where."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.cache import key_of, source_fingerprint
from recursive_dyn.codegen.drivers import padded
from recursive_dyn.codegen.forest_driver import ENTRY, FOREST, GROUP, SUMS, forest_module
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.runs import Runs, filled

Array = np.ndarray


class Lanes(NamedTuple):
    """Equal systems: the machine code of one, ``jit.vector_width()`` of them at once.

    inputs: where the first inputs of each are among those of the whole; constants: its last inputs, ``in_lanes``.
    outputs: where its first outputs go in the whole; the others are sums over all systems.
    """

    kernel: Kernel
    inputs: Runs
    constants: Array
    outputs: Runs


class Whole(NamedTuple):
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
        lane_out = SUMS + padded(whole.sums) + _room(width, max([k.kernel.input_size for k in groups], default=0))
        scratch = lane_out + _room(width, max([k.kernel.output_size for k in groups], default=0))
        own = [k.kernel.scratch * width for k in groups] + ([whole.total.scratch] if whole.total else [])
        self.scratch = scratch + max([1, *own])
        self._table = _tabled(self, whole, groups, (SUMS + padded(whole.sums), lane_out, scratch))
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


def _tabled(kernel: Kernel, whole: Whole, groups: Sequence[Lanes], places: tuple[int, int, int]) -> Array:
    """The table that a call reads: the entries of the forest, what these point to, then those of its groups.

    places: of inputs, outputs and scratch of the lanes.
    """
    inputs, outputs = [size for _, size in whole.inputs], [size for _, size in whole.outputs]
    numbers, firsts = [*inputs, *outputs], list[int]()
    for group in groups:
        for runs in (group.inputs, group.outputs):
            firsts.append(len(numbers))
            numbers += runs.table()
    head, rows = len(FOREST), len(FOREST) + len(numbers)
    table = np.empty(rows + len(GROUP) * len(groups), dtype=np.int64)
    base, total, units = address(table), whole.total, whole.units
    at = [base + 8 * (head + first) for first in (0, len(inputs), *firsts)]
    for k, group in enumerate(groups):
        numbers += _row(group, at[2 + 2 * k], at[3 + 2 * k])
    made = total.output_size if total is not None else whole.sums
    table[:] = [  # as FOREST has them
        kernel.input_size, kernel.output_size, whole.nq, whole.nv, len(units), address(units), whole.cleared,
        len(groups), base + 8 * rows, *places, whole.sums, kernel.output_size - made,
        0 if total is None else total.native.address(total.entry), len(inputs), at[0], len(outputs), at[1], *numbers,
    ]  # fmt: skip
    return table


def _row(group: Lanes, input_table: int, output_table: int) -> tuple[int, ...]:
    """The entries of a group, as GROUP has them, of which the addresses of its runs are given."""
    kernel, inputs, constants, outputs = group
    size = outputs.size
    return (
        kernel.native.address(kernel.entry), inputs.systems, len(inputs.runs), input_table, len(outputs.runs),
        output_table, kernel.output_size - size, size, constants.shape[1], inputs.size, address(constants),
    )  # fmt: skip


def _room(width: int, longest: int) -> int:
    """Doubles of lanes for the longest, and what an exchange may write beyond it."""
    return padded((longest + width) * width)


@cache
def _driver(loop: str) -> jit.Native:
    """The machine code that all forests share, with one more loop."""
    text = forest_module(jit.vector_width(), loop)
    key = key_of("forest", text, jit.environment(), source_fingerprint())
    return jit.native(key, lambda: jit.compile_modules([text]))
