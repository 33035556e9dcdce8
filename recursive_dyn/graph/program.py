"""Straight-line programs: numbered statements in static single assignment form; verified, counted, hashed.

Value numbers: inputs first (segment by segment), then constants, then tables (tuples of constants, which only the
operation ``table`` takes, as its second argument), then one per statement.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, overload

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.columns import FIRST, INPUT, NONE, OPCODES, Columns, columns_of
from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Expression, Graph, Scalar
from recursive_dyn.graph.listing import listing
from recursive_dyn.graph.traversal import by_graph, reachable

_BINARY = frozenset(("add", "sub", "mul", "atan2", "pow", "min", "max", "less", "table"))
ARGUMENTS = {op: 3 if op == "select" else 2 if op in _BINARY else 1 for op in FUNCTIONS}
_NAMES, _SIZES = [*FUNCTIONS], np.array([*ARGUMENTS.values()])
_TRIGONOMETRIC = frozenset(("sin", "cos", "tan", "asin", "acos", "atan", "atan2"))
Statement = tuple[Any, ...]  # (op, value number, ...)


@dataclass(frozen=True)
class OperationCount:
    """Arithmetic of a program: ``add`` counts + and -, ``div`` divisions, ``trig`` each sine, cosine, ... ; sign flips
    (``neg``) and everything else (``other``) are listed apart."""

    add: int
    mul: int
    div: int
    sqrt: int
    trig: int
    neg: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All floating-point operations; sign flips are free in fused arithmetic and are left out."""
        return self.add + self.mul + self.div + self.sqrt + self.trig + self.other


class StatementList(Sequence[Statement]):
    """StatementList by their columns, see ``Program.columns``, which make a tuple of each when it is asked for."""

    def __init__(self, codes: np.ndarray, arguments: np.ndarray) -> None:
        self.columns = codes, arguments

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> list[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | list[Statement]:
        return self._listed[index]

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._listed)

    @cached_property
    def _listed(self) -> list[Statement]:
        codes, arguments = self.columns
        sizes = _SIZES[codes].tolist()
        return [
            (_NAMES[code], *row[:size])
            for code, row, size in zip(codes.tolist(), arguments.tolist(), sizes, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Program:
    """``inputs`` and ``outputs`` are named segments (name, size); ``results`` are the value numbers of the outputs."""

    name: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    constants: tuple[float, ...]
    statements: Sequence[Statement]
    results: tuple[int, ...]
    tables: tuple[tuple[float, ...], ...] = ()

    @property
    def input_size(self) -> int:
        """Numbers of all input segments."""
        return sum(size for _, size in self.inputs)

    @property
    def output_size(self) -> int:
        """Numbers of all output segments."""
        return sum(size for _, size in self.outputs)

    @property
    def first_statement(self) -> int:
        """Value number of the first statement."""
        return self.first_table + len(self.tables)

    @property
    def first_table(self) -> int:
        """Value number of the first table."""
        return self.input_size + len(self.constants)

    @cached_property
    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the operations (n,), as OPCODES has them, and arguments (n, 3), -1 where there is none."""
        if isinstance(self.statements, StatementList):
            return self.statements.columns
        arguments = np.full((len(self.statements), 3), -1, dtype=np.int64)
        operations, *columns = zip_longest(*self.statements, fillvalue=-1) if self.statements else [()]
        for k, column in enumerate(columns[:3]):
            arguments[:, k] = column
        return np.array([OPCODES.get(op, -1) for op in operations], dtype=np.int64), arguments

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the whole content; the name and what the graph holds besides do not enter."""
        digest = hashlib.sha256(repr((self.inputs, self.outputs, *map(len, self.tables))).encode())
        for numbers in (self.constants, *self.tables):
            digest.update(struct.pack(f"{len(numbers)}d", *numbers))
        codes, arguments = self.columns
        for words in (codes, arguments, np.array(self.results, dtype=np.int64)):
            digest.update(words.astype(np.int32).tobytes())
        return digest.hexdigest()

    def operation_count(self) -> OperationCount:
        """Number of operations the program executes."""
        found = np.bincount(self.columns[0], minlength=len(OPCODES)).tolist()
        c = dict(zip(OPCODES, found, strict=True))
        trig = sum(c[op] for op in _TRIGONOMETRIC)
        listed = c["add"] + c["sub"] + c["mul"] + c["reciprocal"] + c["sqrt"] + c["neg"] + trig
        return OperationCount(
            c["add"] + c["sub"], c["mul"], c["reciprocal"], c["sqrt"], trig, c["neg"], len(self.statements) - listed
        )

    def verify(self) -> None:
        """Check operations, the number and order of their arguments, and results; ModelError names the statement."""
        first_table, first = self.first_table, self.first_statement
        (codes, arguments), count = self.columns, len(self.statements)
        given = isinstance(self.statements, StatementList)
        sizes = _SIZES[codes] if given else np.fromiter(map(len, self.statements), np.int64, count) - 1
        numbers = first + np.arange(count)[:, None]
        known = (arguments >= 0) & ((arguments < first_table) | ((arguments >= first) & (arguments < numbers)))
        known |= np.arange(3) >= sizes[:, None]
        plain = (codes >= 0) & (sizes == _SIZES[codes]) & (codes != OPCODES["table"])
        for k in (~(plain & known.all(axis=1))).nonzero()[0].tolist():
            self._check(first + k, self.statements[k])
        number, tables = first + count, range(first_table, first)
        if len(self.results) != self.output_size or any(not 0 <= r < number or r in tables for r in self.results):
            raise ModelError(f"program '{self.name}': its results do not match its outputs")

    def _check(self, number: int, statement: Statement) -> None:
        """ModelError that says what is wrong with a statement, if anything is."""
        op, *arguments = statement
        what, tables = f"program '{self.name}': statement {number}", range(self.first_table, self.first_statement)
        if op not in OPCODES:
            raise ModelError(f"{what} has unknown operation {op!r}")
        if len(arguments) != ARGUMENTS[op]:
            raise ModelError(f"{what}, {statement}, has a wrong number of arguments")
        if max(arguments) >= number or min(arguments) < 0:
            raise ModelError(f"{what} uses a value before it is computed")
        if [a in tables for a in arguments] != [op == "table" and i == 1 for i in range(len(arguments))]:
            raise ModelError(f"{what} needs a table, or a number in its place")


def _text(a: Scalar | tuple[float, ...], number: dict[int, int]) -> str:
    if type(a) is Expression:
        return f"%{number[a.index]}"
    return ",".join(x.hex() for x in a) if isinstance(a, tuple) else float(a).hex()


def schedule(
    name: str,
    inputs: Sequence[tuple[str, int]],
    outputs: Sequence[tuple[str, Sequence[Scalar]]],
    bound: Mapping[Expression, Scalar] | None = None,
) -> Program:
    """The program that computes the output segments from input segments, nodes in creation order, dead ones dropped.

    The graph's inputs are named (segment name, position). bound: inputs that stand for other scalars of the graph.
    """
    flat = [x for _, values in outputs for x in values]
    graph = next((x.graph for x in flat if type(x) is Expression), None) or Graph()
    listed = listing(graph, flat, bound or {})
    is_input = listed.codes == INPUT
    own, size = ~is_input, sum(n for _, n in inputs)
    codes, arguments = listed.codes[own], listed.arguments[own]
    numbers, tables, at = _values(columns_of(graph), arguments, listed.results, size)
    number = np.full(len(own) + 1, NONE)  # the last one's, and that of ``at``, is that of no argument
    needed = [graph.node(k).args[0] for k in listed.nodes[is_input].tolist()]
    number[:-1][is_input] = _inputs(name, inputs, needed)
    number[:-1][own] = size + len(numbers) + len(tables) + np.arange(len(codes))
    arguments, results = (
        np.maximum(number[np.maximum(k, NONE)], at[np.maximum(FIRST - k, NONE)]) for k in (arguments, listed.results)
    )
    segments = tuple((n, len(v)) for n, v in outputs)
    program = Program(
        name, tuple(inputs), segments, numbers, StatementList(codes, arguments), tuple(results.tolist()), tables
    )
    program.verify()
    return program


def _inputs(name: str, inputs: Sequence[tuple[str, int]], needed: Sequence[Any]) -> list[int]:
    """Value numbers of the inputs that a program needs. ModelError for one that is not among them."""
    place = {(segment, i): None for segment, size in inputs for i in range(size)}
    number = dict(zip(place, range(len(place)), strict=True))
    for wanted in needed:
        if wanted not in number:
            raise ModelError(f"program '{name}' depends on {wanted}, which is not among its inputs")
    return [number[wanted] for wanted in needed]


def _values(
    columns: Columns, arguments: np.ndarray, results: np.ndarray, first: int
) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...], np.ndarray]:
    """Numbers, and tables, as they come among arguments and results; value numbers of all that a graph is given, where
    these come behind so many others."""
    given, order = [*columns.given], np.concatenate([arguments.reshape(-1), results])
    found, where = np.unique(FIRST - order[order <= FIRST], return_index=True)
    found = found[np.argsort(where)]
    plain = [k for k in found.tolist() if type(given[k]) is not tuple]
    tables = [k for k in found.tolist() if type(given[k]) is tuple]
    at = np.full(len(given) + 1, NONE)
    at[[*plain, *tables]] = first + np.arange(len(found))
    return tuple(given[k] for k in plain), tuple(given[k] for k in tables), at


def content_hash(label: str, scalars: Iterable[Scalar]) -> str:
    """Hash of a label and of the exact content of scalars (numbers and expression graphs), for cache keys."""
    outputs = list(scalars)
    groups = by_graph(outputs)
    if len(groups) > 1:  # places of nodes say nothing from one graph to the other
        own = [f"{places} {content_hash('', [outputs[k] for k in places])}" for places in groups]
        plain = [float(x).hex() for x in outputs if type(x) is not Expression]
        return hashlib.sha256("\n".join([label, str(len(outputs)), *own, str(plain)]).encode()).hexdigest()
    number: dict[int, int] = {}
    lines = [label]
    for node in reachable(outputs):
        number[node.index] = len(number)
        args = node.args if node.op == "input" else [_text(a, number) for a in node.args]
        lines.append(f"{node.op}{args}")
    lines.append(",".join(_text(x, number) for x in outputs))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
