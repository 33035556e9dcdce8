"""A kernel of many equal systems at once: their own machine code in vector lanes, and tables of what is where."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.emitting.drivers import padded
from recursive_dyn.codegen.emitting.table_driver import linked
from recursive_dyn.codegen.forests.forest_driver import ENTRY, FOREST, GROUP, SUMS, forest_module
from recursive_dyn.codegen.forests.linear import Linear, symbol
from recursive_dyn.codegen.forests.runs import Runs, filled
from recursive_dyn.codegen.interpreting.interpreter import compile_interpreters
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.making import jit

Array = np.ndarray
TABLE = "table"  # the symbol of a kernel's table


class Lanes(NamedTuple):
    """Equal systems: the machine code of one, ``jit.vector_width()`` of them at once.

    inputs: where the first inputs of each are among those of the whole; constants: how many its last inputs are, at the
    address constant_table, ``in_lanes``. outputs: where its first outputs go in the whole; the others are sums over all
    systems.
    """

    kernel: Kernel
    inputs: Runs
    constants: int
    constant_table: int
    outputs: Runs


class Whole(NamedTuple):
    """What a kernel of many systems looks like from outside: segments (name, size), a state [q, v] if it steps one.

    unit_table: address of first and number (unit_count, 2) of what in q together has length 1; cleared: how many
    outputs no system may write; total: the program of what is made of the sums, which are the last outputs, if it is
    not they themselves; loop: IR text of one more loop, written with ``forest_driver.SIZES``.
    """

    inputs: Sequence[tuple[str, int]]
    outputs: Sequence[tuple[str, int]]
    nq: int
    nv: int
    unit_count: int
    unit_table: int
    cleared: int = 0
    sums: int = 0
    total: Kernel | None = None
    loop: str = ""

    @property
    def made(self) -> int:
        """How many outputs are made of sums."""
        return self.sums if self.total is None else self.total.output_size


class ForestKernel(Kernel):
    """Looks from outside as the kernel of one program of the whole does, whose results it gives but for rounding.

    kept: what holds all that lies at addresses.
    """

    def __init__(self, whole: Whole, groups: Sequence[Lanes], *kept: Any) -> None:
        places = scratch_places(whole, groups)
        self._be(whole.inputs, whole.outputs, places[-1])
        numbers, firsts = _numbers(whole, groups)
        table = np.empty(len(FOREST) + len(numbers) + len(GROUP) * len(groups), dtype=np.int64)
        table[:] = _entries(whole, groups, numbers, firsts, places, address(table))
        self._table, self.own_table = table, address(table)
        self.native = _driver(whole.loop).holding(table, whole, groups, kept)

    def _be(self, inputs: Sequence[tuple[str, int]], outputs: Sequence[tuple[str, int]], scratch: int) -> None:
        self.inputs, self.outputs, self.scratch = list(inputs), list(outputs), scratch
        self.width, self.entry = 1, ENTRY
        self.input_size = sum([size for _, size in inputs])
        self.output_size = sum([size for _, size in outputs])


class ForestPlan:
    """Kernels of a function of forests of the same kinds, made of the numbers in which such forests differ.

    whole, groups: with symbols in their places (``forests.linear``): symbols, and those that are a kernel's ``own``, of
    which TABLE, the address of its table, is the first. common, own: what to add to ``table`` for them; scratch: size.
    """

    def __init__(
        self, whole: Whole, groups: Sequence[Lanes], symbols: Sequence[Hashable], own: Sequence[Hashable]
    ) -> None:
        self.kept = whole, groups  # kernels whose addresses are among the entries
        places, (numbers, firsts) = scratch_places(whole, groups), _numbers(whole, groups)
        entries = _entries(whole, groups, numbers, firsts, places, symbol(TABLE))
        self.common, self.own, self.scratch = _Sums.of(entries, symbols), _Sums.of(entries, own), places[-1]
        known = [entry.constant if isinstance(entry, Linear) else entry for entry in entries]
        self.table, self.driver = np.array(known, dtype=np.int64), _driver(whole.loop)


class _Sums(NamedTuple):
    """Which entries of a table (k,) are sums of which symbols, by number (terms, k), with which factors (terms, k)."""

    rows: Array
    columns: Array
    factors: Array

    @classmethod
    def of(cls, entries: Sequence[Any], symbols: Sequence[Hashable]) -> _Sums:
        """The terms of some symbols."""
        column = {name: k for k, name in enumerate(symbols)}
        own = [entry.terms if isinstance(entry, Linear) else {} for entry in entries]
        terms = [[(column[name], by) for name, by in every.items() if by and name in column] for every in own]
        rows, most = [k for k, some in enumerate(terms) if some], max(map(len, terms), default=0)
        filled = [[terms[k][n] if n < len(terms[k]) else (0, 0) for k in rows] for n in range(most)]
        pairs = np.array(filled, dtype=np.int64).reshape(most, len(rows), 2)
        return cls(np.array(rows, dtype=np.int64), pairs[..., 0].copy(), pairs[..., 1].copy())

    def add(self, values: Array, table: Array) -> None:
        """Add them, for these values of the symbols."""
        terms = values.take(self.columns) * self.factors
        table[self.rows] += terms[0] if len(terms) == 1 else np.add.reduce(terms, axis=0)


class CommonKernel:
    """Kernels of a function of forests with the same trees in the same order: they differ in their own symbols.

    values: of the others; kept: what holds what lies at addresses among them.
    """

    def __init__(
        self, plan: ForestPlan, values: Array, inputs: Sequence[tuple[str, int]], outputs: Sequence[tuple[str, int]],
        *kept: Any,
    ) -> None:  # fmt: skip
        self._plan, self._table, self._kept = plan, plan.table.copy(), kept
        plan.common.add(values, self._table)
        self._first = object.__new__(ForestKernel)
        self._first._be(inputs, outputs, plan.scratch)

    def kernel(self, values: Array, *kept: Any) -> ForestKernel:
        """The kernel with these values (1 + K,) of its own symbols, of which the first is written: where constants of
        each kind are, which ``kept`` holds."""
        result, table = object.__new__(ForestKernel), self._table.copy()
        vars(result).update(vars(self._first))
        result._table, result.own_table = table, address(table)
        values[0] = result.own_table
        self._plan.own.add(values, table)
        result.native = self._plan.driver.holding(table, self, kept)
        return result


def in_lanes(values: Array) -> Array:
    """Rows (T, n) as blocks of lanes (b, n, width), the last one filled up with the last row."""
    systems, width = len(values), jit.vector_width()
    if systems % width:
        values = values[filled(systems, width)]
    blocks: Array = values.reshape(len(values) // width, width, values.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks)


def scratch_places(whole: Whole, groups: Sequence[Lanes]) -> tuple[int, int, int, int]:
    """Where inputs, outputs and scratch of the lanes are in a kernel's scratch, and its end."""
    width, lane_in = jit.vector_width(), SUMS + padded(whole.sums)
    lane_out = lane_in + _room(width, max([k.kernel.input_size for k in groups], default=0))
    scratch = lane_out + _room(width, max([k.kernel.output_size for k in groups], default=0))
    own = [k.kernel.scratch * width for k in groups] + ([whole.total.scratch] if whole.total else [])
    return lane_in, lane_out, scratch, scratch + max([1, *own])


def _numbers(whole: Whole, groups: Sequence[Lanes]) -> tuple[list[int], list[int]]:
    """What the entries of the forest and of its groups point to, and where what belongs to each begins: sizes of
    inputs, of outputs, then runs of inputs and outputs of each group."""
    numbers, firsts = [size for _, size in whole.inputs], [0, len(whole.inputs)]
    numbers += [size for _, size in whole.outputs]
    for group in groups:
        for runs in (group.inputs, group.outputs):
            firsts.append(len(numbers))
            numbers += runs.table()
    return numbers, firsts


def _entries(
    whole: Whole, groups: Sequence[Lanes], numbers: list[int], firsts: list[int], places: tuple[int, int, int, int],
    table: int,
) -> list[Any]:  # fmt: skip
    """The table at this address that a call reads: the entries of the forest, the numbers that these point to, then
    those of its groups."""
    head, total = len(FOREST), whole.total
    at = [table + 8 * (head + first) for first in firsts]
    rows = [entry for k, group in enumerate(groups) for entry in _row(group, at[2 + 2 * k], at[3 + 2 * k])]
    outputs = sum([size for _, size in whole.outputs])
    return [  # as FOREST has them
        sum([size for _, size in whole.inputs]), outputs, whole.nq, whole.nv, whole.unit_count, whole.unit_table,
        whole.cleared, len(groups), table + 8 * (head + len(numbers)), *places[:3], whole.sums, outputs - whole.made,
        0 if total is None else total.native.address(total.entry), len(whole.inputs), at[0], len(whole.outputs), at[1],
        *numbers, *rows,
    ]  # fmt: skip


def _row(group: Lanes, input_table: int, output_table: int) -> tuple[int, ...]:
    """The entries of a group, as GROUP has them, of which the addresses of its runs are given."""
    kernel, inputs, constants, constant_table, outputs = group
    size = outputs.size
    return (
        kernel.native.address(kernel.entry), kernel.own_table, inputs.systems, len(inputs.runs), input_table,
        len(outputs.runs), output_table, kernel.output_size - size, size, constants, inputs.size, constant_table,
    )  # fmt: skip


def _room(width: int, longest: int) -> int:
    """Doubles of lanes for the longest, and what an exchange may write beyond it."""
    return padded((longest + width) * width)


@cache
def _driver(loop: str) -> jit.Native:
    """The machine code that all forests share, with one more loop."""
    return linked(forest_module(jit.vector_width()), ENTRY, loop)


def compile_common() -> None:
    """Have in the cache what is the same for all programs and all forests."""
    _driver("")
    compile_interpreters(1, jit.vector_width())
