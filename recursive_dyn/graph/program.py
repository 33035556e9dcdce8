"""Straight-line programs: numbered statements in static single assignment form; verified, counted, hashed.

Value numbers: inputs first (segment by segment), then constants, then tables (tuples of constants, which only the
operation ``table`` takes, as its second argument), then one per statement.
"""

from __future__ import annotations

import hashlib
import struct
from array import array as typed_array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Expression, Scalar, reachable

OPCODES = {op: code for code, op in enumerate(FUNCTIONS)}
_BINARY = frozenset(("add", "sub", "mul", "atan2", "pow", "min", "max", "less", "table"))
ARGUMENTS = {op: 3 if op == "select" else 2 if op in _BINARY else 1 for op in FUNCTIONS}
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
    def hash(self) -> str:
        """SHA-256 of the whole content; the name and what the graph holds besides do not enter."""
        digest = hashlib.sha256(repr((self.inputs, self.outputs, *map(len, self.tables))).encode())
        for numbers in (self.constants, *self.tables):
            digest.update(struct.pack(f"{len(numbers)}d", *numbers))
        codes = typed_array("i")
        for statement in self.statements:
            codes.append(OPCODES[statement[0]])
            codes.extend(statement[1:])
        codes.extend(self.results)
        digest.update(codes.tobytes())
        return digest.hexdigest()

    def operation_count(self) -> OperationCount:
        """Number of operations the program executes."""
        c = Counter(statement[0] for statement in self.statements)
        trig = sum(c[op] for op in _TRIGONOMETRIC)
        listed = c["add"] + c["sub"] + c["mul"] + c["reciprocal"] + c["sqrt"] + c["neg"] + trig
        return OperationCount(
            c["add"] + c["sub"], c["mul"], c["reciprocal"], c["sqrt"], trig, c["neg"], len(self.statements) - listed
        )

    def verify(self) -> None:
        """Check operations, the number and order of their arguments, and results; ModelError names the statement."""
        first_table, first = self.first_table, self.first_statement
        for number, statement in enumerate(self.statements, first):
            if ARGUMENTS.get(statement[0]) != len(statement) - 1 or statement[0] == "table":
                self._check(number, statement)
                continue
            for a in statement[1:]:
                if not (0 <= a < first_table or first <= a < number):
                    self._check(number, statement)
        number, tables = first + len(self.statements), range(first_table, first)
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
    place: dict[Any, int] = {}
    for segment, size in inputs:
        for i in range(size):
            place[segment, i] = len(place)
    nodes = reachable(flat)
    constants: dict[float, int] = {}
    tables: dict[tuple[float, ...], int] = {}
    first_constant = len(place)

    def constant(value: float) -> int:
        return constants.setdefault(float(value), first_constant + len(constants))

    for node in nodes:
        if node.op != "input":
            for a in node.args:
                if type(a) is tuple:
                    tables.setdefault(a, len(tables))
                elif type(a) is not Expression:
                    constant(a)
    for x in flat:
        if type(x) is not Expression:
            constant(x)
    number: dict[int, int] = {}
    statements: list[Statement] = []
    first_table = first_constant + len(constants)
    following = first_table + len(tables)

    def other(a: Any) -> int:
        return first_table + tables[a] if type(a) is tuple else constants[a]

    for node in nodes:
        if node.op == "input":
            if node.args[0] not in place:
                raise ModelError(f"program '{name}' depends on {node.args[0]}, which is not among its inputs")
            number[node.index] = place[node.args[0]]
            continue
        statements.append((node.op, *[number[a.index] if type(a) is Expression else other(a) for a in node.args]))
        number[node.index] = following
        following += 1
    results = tuple(number[x.index] if type(x) is Expression else constants[float(x)] for x in flat)
    program = Program(
        name,
        tuple(inputs),
        tuple((n, len(v)) for n, v in outputs),
        tuple(constants),
        statements,
        results,
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
