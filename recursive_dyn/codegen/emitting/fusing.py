"""Products and sums of a program as multiply-adds that round once, chosen here and nowhere else.

Compilers that may fuse do so as their effort and their instructions let them, and each choice rounds in its own way.
Where the program says which ones are fused, all that runs it gives the same bits: vectors and scalars, the interpreter
(``interpreting.interpreter``) and machine code of any effort.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recursive_dyn.graph.columns import OPCODES
from recursive_dyn.graph.program import ARGUMENTS, Program, Statement

OPERATIONS = (*OPCODES, "fma", "fms", "fnma")  # the last ones: a b + c, a b - c, c - a b, rounded once
CODES = {name: code for code, name in enumerate(OPERATIONS)}
ARITY = np.array([ARGUMENTS.get(name, 3) for name in OPERATIONS])


@dataclass(frozen=True, eq=False)
class Fused:
    """A program of OPERATIONS; ``hash`` and all that is not said here are those of the program that it was.

    codes (n,), arguments (n, 3): of the statements, zeros behind the last argument; results: value numbers.
    """

    hash: str
    input_size: int
    constants: tuple[float, ...]
    tables: tuple[tuple[float, ...], ...]
    codes: np.ndarray
    arguments: np.ndarray
    results: np.ndarray

    @property
    def first_table(self) -> int:
        """Value number of the first table."""
        return self.input_size + len(self.constants)

    @property
    def first_statement(self) -> int:
        """Value number of the first statement."""
        return self.first_table + len(self.tables)

    @cached_property
    def statements(self) -> list[Statement]:
        """(operation, value number, ...)"""
        sizes = ARITY[self.codes].tolist()
        rows = zip(self.codes.tolist(), self.arguments.tolist(), sizes, strict=True)
        return [(OPERATIONS[code], *row[:size]) for code, row, size in rows]


def fused(program: Program) -> Fused:
    """The program with every product that only one sum or difference takes fused into it, the left one of two."""
    first = program.first_statement
    # 0 where there is no argument: it takes nothing from value 0, which is no product but where nothing is put in
    codes, arguments = program.columns[0], np.maximum(program.columns[1], 0)
    results = np.array(program.results, dtype=np.int64)
    uses = np.bincount(np.concatenate([arguments.reshape(-1), results]), minlength=first + len(codes))
    single = np.zeros(first + len(codes), dtype=bool)
    single[first:] = (codes == CODES["mul"]) & (uses[first:] == 1)
    sums = (codes == CODES["add"]) | (codes == CODES["sub"])
    left = sums & single[arguments[:, 0]]
    right = sums & ~left & single[arguments[:, 1]]
    minus, kept = codes == CODES["sub"], np.ones(len(codes), dtype=bool)
    made, given = codes.copy(), arguments.copy()
    for here, product, other, less in ((left, 0, 1, "fms"), (right, 1, 0, "fnma")):
        at = arguments[here, product] - first
        made[here] = np.where(minus[here], CODES[less], CODES["fma"])
        given[here, :2], given[here, 2] = arguments[at, :2], arguments[here, other]
        kept[at] = False
    number = np.arange(first + len(codes))
    number[first:] = first + np.cumsum(kept) - 1
    return Fused(
        program.hash, program.input_size, program.constants, program.tables, made[kept], number[given[kept]],
        number[results],
    )  # fmt: skip
