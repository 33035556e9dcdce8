"""Straight-line programs: numbered statements in static single assignment form; verified, counted, hashed.

Value numbers: inputs first (segment by segment), then constants, then tables (tuples of constants, which only the
operation ``table`` takes, as its second argument), then one per statement.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, zip_longest
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Expression, Scalar, reachable

OPCODES = {op: code for code, op in enumerate(FUNCTIONS)}
_BINARY = frozenset(("add", "sub", "mul", "atan2", "pow", "min", "max", "less", "table"))
ARGUMENTS = {op: 3 if op == "select" else 2 if op in _BINARY else 1 for op in FUNCTIONS}
_SIZES = np.array([*ARGUMENTS.values()])
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


@dataclass(frozen=True, eq=False)
class Program:
    """``inputs`` and ``outputs`` are named segments (name, size); ``results`` are the value numbers of the outputs."""

    name: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    constants: tuple[float, ...]
    statements: list[Statement]
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
        sizes = np.fromiter(map(len, self.statements), np.int64, count) - 1
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


def schedule(name: str, inputs: Sequence[tuple[str, int]], outputs: Sequence[tuple[str, Sequence[Scalar]]]) -> Program:
    """The program that computes the output segments from input segments, nodes in creation order, dead ones dropped.

    The graph's inputs are named (segment name, position).
    """
    flat = [x for _, values in outputs for x in values]
    places = {(segment, i): None for segment, size in inputs for i in range(size)}
    place: dict[Any, int] = {name: k for k, name in enumerate(places)}
    nodes = reachable(flat)
    own = [node for node in nodes if node.op != "input"]
    given = [a for node in own for a in node.args if type(a) is not Expression]
    tables = dict.fromkeys(a for a in given if type(a) is tuple)
    constants = dict.fromkeys(float(a) for a in given if type(a) is not tuple)
    constants |= dict.fromkeys(float(x) for x in flat if type(x) is not Expression)
    number: dict[Any, int] = {}  # of nodes, constants and tables
    for node in nodes:
        if node.op == "input":
            if node.args[0] not in place:
                raise ModelError(f"program '{name}' depends on {node.args[0]}, which is not among its inputs")
            number[node] = place[node.args[0]]
    number |= zip(chain(constants, tables, own), count(len(place)))
    get = number.__getitem__
    statements = [(node.op, *map(get, node.args)) for node in own]
    program = Program(
        name,
        tuple(inputs),
        tuple((n, len(v)) for n, v in outputs),
        tuple(constants),
        statements,
        tuple(map(get, flat)),
        tuple(tables),
    )
    program.verify()
    return program


def content_hash(label: str, scalars: Iterable[Scalar]) -> str:
    """Hash of a label and of the exact content of scalars (numbers and expression graphs), for cache keys."""
    outputs = list(scalars)
    number: dict[int, int] = {}
    lines = [label]
    for node in reachable(outputs):
        number[node.index] = len(number)
        args = node.args if node.op == "input" else [_text(a, number) for a in node.args]
        lines.append(f"{node.op}{args}")
    lines.append(",".join(_text(x, number) for x in outputs))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
