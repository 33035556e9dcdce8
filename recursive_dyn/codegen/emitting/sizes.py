"""Sizes in loops of steps: literals where they are known when code is made, names where they are read when it runs.

A name %x of an operand comes with %x.bytes, eight times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Operand = int | str


def in_bytes(size: Operand) -> Operand:
    """The bytes of ``size`` doubles."""
    return 8 * size if isinstance(size, int) else f"{size}.bytes"


@dataclass(frozen=True)
class Sizes:
    """Of a kernel that steps a state [q, v]: its inputs and outputs, nq, nv, their sum; in q there are numbers that
    together have length 1: ``unit_count`` pairs (first, how many) of i64 at ``unit_table``.

    first: IR that makes the names, at the beginning of a function; text: IR of the module that they need. asked:
    whether the loop asks for forces before it evaluates any.
    """

    inputs: Operand
    outputs: Operand
    nq: Operand
    nv: Operand
    state: Operand
    unit_count: Operand
    unit_table: str
    first: str = ""
    text: str = ""
    asked: bool = False


def known_sizes(inputs: int, outputs: int, nq: int, nv: int, units: Sequence[tuple[int, int]]) -> Sizes:
    """Literals; units: (first, end) in q."""
    numbers = ", ".join(f"i64 {first}, i64 {end - first}" for first, end in units)
    text = f"@rd.units = private unnamed_addr constant [{2 * len(units)} x i64] [{numbers}]\n"
    return Sizes(inputs, outputs, nq, nv, nq + nv, len(units), "@rd.units", text=text)


@dataclass(frozen=True, eq=False)
class Stepping:
    """A loop of steps around a kernel whose state is [q, v]: its IR text, from the kernel's entry and sizes.

    units: (first, end) in q of what together has length 1.
    """

    loop: Callable[[str, Sizes], str]
    nq: int
    nv: int
    units: Sequence[tuple[int, int]]

    def __call__(self, entry: str, inputs: int, outputs: int) -> str:
        """The text for a kernel of so many inputs and outputs."""
        return self.loop(entry, known_sizes(inputs, outputs, self.nq, self.nv, self.units))
