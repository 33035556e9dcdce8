"""Scalars of an expression graph as text and back: every shared value is one assigned line, so files stay linear.

Lines are read in order and make the same nodes in the same order, so that what is read back is the same graph down to
its content hash. A line without "=" only names inputs, where they come into being before they are used. Tables of
numbers stand beside the lines and are named v0, v1, ... in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression, Graph, Scalar, combine, is_constant, reachable
from scene.file import expression_text
from scene.file.expression_text import ATOM, PRODUCT, SIGN, SUM, wrapped

_WIDTH = 90  # characters up to which operations are nested into one line
_INFIX = {"add": (" + ", SUM, PRODUCT), "sub": (" - ", SUM, PRODUCT), "mul": ("*", PRODUCT, SIGN)}
_ASSIGNMENT = re.compile(r"\s*(t[0-9]+)\s*=\s*(.*)", re.DOTALL)
_COORDINATE = re.compile(r"q([0-9]{1,4})")
_TABLE = re.compile(r"v([0-9]{1,6})")


@dataclass(frozen=True)
class GraphText:
    """Lines, the numbers or texts of the scalars themselves, and the tables that the lines use."""

    lines: list[str]
    entries: list[float | str]
    tables: list[list[float]]


def write(outputs: Sequence[Scalar]) -> GraphText:
    """The text of scalars over the inputs ("q", i) and ("parameter", name) of one graph. Raises ModelError."""
    writer = _Writer(outputs)
    entries = [writer.output(x) for x in outputs]
    return GraphText(writer.lines, entries, [list(values) for values in writer.tables])


class _Writer:
    """Nodes in creation order as lines.

    A value used once is nested into its user's text if reading that text makes the nodes in the same order: ``waiting``
    holds the nodes without a line yet, in order, and a user may take over those at its end only. An input needs no line
    of its own unless reading would meet it out of order.
    """

    def __init__(self, outputs: Sequence[Scalar]) -> None:
        self.lines: list[str] = []
        self.texts: dict[int, tuple[str, int]] = {}  # node: its text, how tightly it binds
        self.waiting: list[Expression] = []
        self.tables: dict[tuple[float, ...], str] = {}
        self.assigned = 0
        nodes = reachable(outputs)
        self.uses = uses = Counter(x.index for x in outputs if type(x) is Expression)
        uses.update(a.index for n in nodes if n.op != "input" for a in n.args if type(a) is Expression)
        for node in nodes:
            if node.op == "input":
                self.texts[node.index] = (_input_name(node), ATOM)
                self.waiting.append(node)
                continue
            self._take(node.args)
            self.texts[node.index] = self._operation(node)
            self.waiting.append(node)
            if uses[node.index] > 1 or len(self.texts[node.index][0]) > _WIDTH:
                self._give_lines(len(self.waiting))
        self._take_all(outputs)

    def output(self, x: Scalar) -> float | str:
        if type(x) is Expression:
            return self.texts[x.index][0]
        if not np.isfinite(x):
            raise ModelError(f"a number in it is {x}; every number must be finite")
        return float(x)

    def _waiting_of(self, args: Sequence[Scalar]) -> list[Expression]:
        """Those of the arguments that wait, in the order in which their text is read."""
        waiting = {n.index for n in self.waiting}
        found = {a.index: a for a in args if type(a) is Expression and a.index in waiting}
        return list(found.values())

    def _take(self, args: Sequence[Scalar]) -> None:
        """Let the text of these arguments' user stand for them, else give every waiting node its line."""
        wanted = self._waiting_of(args)
        start = len(self.waiting) - len(wanted)
        # Other texts that are read before the user's may name an input too: nothing older may be waiting then.
        shared = [n for n in wanted if n.op == "input" and self.uses[n.index] > 1]
        if self.waiting[start:] != wanted or (shared and len(wanted) > 1):
            self._give_lines(len(self.waiting))
            return
        if shared:
            self._give_lines(start)
        del self.waiting[len(self.waiting) - len(wanted) :]

    def _take_all(self, outputs: Sequence[Scalar]) -> None:
        """Let the outputs' texts stand for every waiting node, else give each its line."""
        if self._waiting_of(outputs) != self.waiting:
            self._give_lines(len(self.waiting))

    def _give_lines(self, count: int) -> None:
        """Lines for the oldest waiting nodes."""
        named: list[str] = []
        for node in self.waiting[:count]:
            text = self.texts[node.index][0]
            if node.op == "input":
                named.append(text)
                continue
            self._name(named)
            self.lines.append(f"t{self.assigned} = {text}")
            self.texts[node.index] = (f"t{self.assigned}", ATOM)
            self.assigned += 1
        self._name(named)
        del self.waiting[:count]

    def _name(self, inputs: list[str]) -> None:
        """Lines that name these inputs in their order, as many on each as fit."""
        line = ""
        for text in inputs:
            if line and len(line) + len(text) > _WIDTH:
                self.lines.append(line)
                line = ""
            line += f", {text}" if line else text
        self.lines += [line] if line else []
        inputs.clear()

    def _operand(self, x: Scalar | tuple[float, ...], needed: int) -> str:
        if type(x) is tuple:
            return self.tables.setdefault(x, f"v{len(self.tables)}")
        if type(x) is Expression:
            return wrapped(*self.texts[x.index], needed)
        return wrapped(repr(x), SIGN if repr(x).startswith("-") else ATOM, needed)

    def _operation(self, node: Expression) -> tuple[str, int]:
        args = node.args
        if node.op == "add" and type(args[1]) is float and args[1] < 0.0:
            return f"{self._operand(args[0], SUM)} - {-args[1]!r}", SUM
        if node.op == "mul" and type(args[1]) is float:
            args = (args[1], args[0])
        if node.op in _INFIX:
            symbol, left, right = _INFIX[node.op]
            return f"{self._operand(args[0], left)}{symbol}{self._operand(args[1], right)}", left
        if node.op == "neg":
            return f"-{self._operand(args[0], ATOM)}", SIGN
        if node.op == "reciprocal":
            return f"1.0/{self._operand(args[0], SIGN)}", PRODUCT
        return f"{node.op}({', '.join(self._operand(a, SUM) for a in args)})", ATOM


def _input_name(node: Expression) -> str:
    segment, name = node.args[0]
    return f"q{name}" if segment == "q" else repr(name)


class Reader:
    """The algebra of graph scalars, with the names assigned so far.

    ``check`` raises ModelError for a name in quotes that is not known; ``coordinates``: whether q0, q1, ... are.
    """

    def __init__(
        self, check: Callable[[str], None], tables: Sequence[Sequence[float]] = (), coordinates: bool = True
    ) -> None:
        self.graph = Graph()
        self._check = check
        self._tables = [tuple(values) for values in tables]
        self._coordinates = coordinates
        self._assigned: dict[str, Scalar] = {}

    def lines(self, lines: Sequence[str]) -> None:
        """Read lines in order. ModelError names the line: a syntax that is not allowed, an unknown name."""
        for i, line in enumerate(lines):
            try:
                self._line(line)
            except ModelError as error:
                raise ModelError(f"line {i + 1}: {error}") from None

    def entry(self, value: float | str) -> Scalar:
        """The scalar of a number or text. Raises ModelError."""
        return self._scalar(value) if isinstance(value, str) else value

    def _line(self, line: str) -> None:
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            for value in expression_text.evaluate_all(line, self):
                if is_constant(value) or value.op != "input":
                    raise ModelError(
                        f"{expression_text.quoted(line)} is no input; write an assignment such as t0 = sin(q0)"
                    )
            return
        name, text = match.groups()
        if name in self._assigned:
            raise ModelError(f"'{name}' is assigned already; use another name")
        self._assigned[name] = self._scalar(text)

    def _scalar(self, text: str) -> Scalar:
        value = expression_text.evaluate(text, self)
        if type(value) is tuple:
            raise ModelError(f"{expression_text.quoted(text)} is a table, not a number; write table(i, {text.strip()})")
        return value

    def number(self, value: int | float) -> Scalar:
        return float(value)

    def name(self, name: str) -> Scalar | tuple[float, ...]:
        if name in self._assigned:
            return self._assigned[name]
        match = _TABLE.fullmatch(name)
        if match is not None and int(match[1]) < len(self._tables):
            return self._tables[int(match[1])]
        match = _COORDINATE.fullmatch(name)
        if match is None or not self._coordinates:
            own = "coordinates are q0, q1, ..., other names are" if self._coordinates else "names are"
            raise ModelError(
                f"unknown name '{name}'; {own} assigned on a line before, tables are v0, v1, ..., parameters and"
                " coordinates of the scene stand in quotes"
            )
        return self.graph.input(("q", int(match[1])))

    def parameter(self, name: str) -> Scalar:
        self._check(name)
        return self.graph.input(("parameter", name))

    def call(self, op: str, args: list[Any]) -> Scalar:
        if [type(a) is tuple for a in args] != [op == "table" and i == 1 for i in range(len(args))]:
            raise ModelError(
                f"'{op}' is given a table for a number, or none; only table(i, v0) takes one, as its second"
            )
        if op == "divide":
            return self.call("mul", [args[0], combine("reciprocal", [args[1]])])
        value = combine(op, args)
        if type(value) is float and not np.isfinite(value):
            raise ModelError("a constant in it is not finite; correct its numbers")
        return value
