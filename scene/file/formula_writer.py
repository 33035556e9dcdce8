"""Graph scalars as formulas of a scene file: every shared value is one assigned line, so files stay linear.

Lines are read in order and make the same nodes in the same order, so that what is read back is the same graph down to
its content hash. A line without "=" only names inputs, where they come into being before they are used. Tables of
numbers stand beside the lines and are named v0, v1, ... in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Expression, Graph, Scalar
from recursive_dyn.graph.traversal import reachable
from scene.file.document import number
from scene.file.formula_reader import MAX_COORDINATES, FormulaReader
from scene.scalars import carried

SUM, PRODUCT, SIGN, ATOM = range(4)  # how tightly a text binds: a operand of a product needs more than SUM, and so on
_WIDTH = 90  # characters up to which operations are nested into one line
_INFIX = {"add": (" + ", SUM, PRODUCT), "sub": (" - ", SUM, PRODUCT), "mul": ("*", PRODUCT, SIGN)}


def write(what: str, values: Any) -> Any:
    """Formulas in nested lists of the shape of ``values``, or {"value": such lists, "lines": ..., "tables": ...}.

    ModelError begins with ``what``.
    """
    source = np.asarray(values, dtype=object)
    written = beside("value", what, list(carried(source.flat, Graph())))
    entries = np.array(written["value"], dtype=object).reshape(source.shape).tolist()
    return entries if len(written) == 1 else {**written, "value": entries}


def beside(name: str, what: str, outputs: Sequence[Scalar]) -> dict[str, Any]:
    """Formulas (n,) of scalars of one graph in the field ``name``, with the lines and tables they need beside it."""
    writer = _Writer(outputs)
    entries = [writer.output(what, x) for x in outputs]
    tables = [list(values) for values in writer.tables]
    lines = [] if writer.assigned == 0 and _read_alike(entries, tables, outputs) else writer.lines
    return {**{key: value for key, value in (("lines", lines), ("tables", tables)) if value}, name: entries}


def _read_alike(entries: Sequence[float | str], tables: list[list[float]], outputs: Sequence[Scalar]) -> bool:
    """Whether entries are read as the outputs' nodes in the same order without lines that name inputs before."""
    reader = FormulaReader(lambda name: None, tables, MAX_COORDINATES)
    return _nodes([reader.entry("an entry", x) for x in entries]) == _nodes(outputs)


def _nodes(outputs: Sequence[Scalar]) -> list[Any]:
    nodes = reachable(outputs)
    place = {n.index: i for i, n in enumerate(nodes)}
    return [(n.op, *(("node", place[a.index]) if type(a) is Expression else a for a in n.args)) for n in nodes]


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
        self.waits: set[int] = set()  # their indices
        self.tables: dict[tuple[float, ...], str] = {}
        self.assigned = 0
        nodes = reachable(outputs)
        self.uses = uses = Counter(x.index for x in outputs if type(x) is Expression)
        uses.update(a.index for n in nodes if n.op != "input" for a in n.args if type(a) is Expression)
        for node in nodes:
            if node.op == "input":
                self.texts[node.index] = (_input_name(node), ATOM)
                self._wait(node)
                continue
            self._take(node.args)
            self.texts[node.index] = self._operation(node)
            self._wait(node)
            if uses[node.index] > 1 or len(self.texts[node.index][0]) > _WIDTH:
                self._give_lines(len(self.waiting))
        self._take_all(outputs)

    def output(self, what: str, x: Scalar) -> float | str:
        return self.texts[x.index][0] if type(x) is Expression else number(what, x)

    def _wait(self, node: Expression) -> None:
        self.waiting.append(node)
        self.waits.add(node.index)

    def _served(self, start: int, stop: int) -> None:
        """Those that wait at these places need to no longer."""
        self.waits.difference_update(n.index for n in self.waiting[start:stop])
        del self.waiting[start:stop]

    def _waiting_of(self, args: Sequence[Scalar]) -> list[Expression]:
        """Those of the arguments that wait, in the order in which their text is read."""
        found = {a.index: a for a in args if type(a) is Expression and a.index in self.waits}
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
        self._served(len(self.waiting) - len(wanted), len(self.waiting))

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
        self._served(0, count)

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
            return _wrapped(*self.texts[x.index], needed)
        return _wrapped(repr(x), SIGN if repr(x).startswith("-") else ATOM, needed)

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


def _wrapped(text: str, binding: int, needed: int) -> str:
    """The text, in parentheses when it binds less tightly than needed."""
    return text if binding >= needed else f"({text})"


def _input_name(node: Expression) -> str:
    segment, name = node.args[0]
    return f"q{name}" if segment == "q" else repr(name)
