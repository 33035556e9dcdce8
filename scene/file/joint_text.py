"""A joint's expression graph as text and back: every shared value is one assigned line, so that files stay linear.

Lines are read in order and make the same nodes in the same order, so that a joint read back is the same program down to
its content hash. A line without "=" only names inputs, where they come into being before they are used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.expression import Expression, Graph, Scalar, array, combine, evaluate, is_constant, reachable
from recursive_dyn.joint import BALL, CONSTANT, FREE, PLAIN, Factor, JointProgram, build
from recursive_dyn.spatial import quaternion_rotation
from scene.file import expression_text
from scene.file.expression_text import ATOM, PRODUCT, SIGN, SUM, wrapped

KINDS = (CONSTANT, PLAIN, BALL, FREE)
_WIDTH = 90  # characters up to which operations are nested into one line
_INFIX = {"add": (" + ", SUM, PRODUCT), "sub": (" - ", SUM, PRODUCT), "mul": ("*", PRODUCT, SIGN)}
_ASSIGNMENT = re.compile(r"\s*(t[0-9]+)\s*=\s*(.*)", re.DOTALL)
_COORDINATE = re.compile(r"q([0-9]{1,4})")


def write(program: JointProgram) -> tuple[list[str], list[np.ndarray]]:
    """(lines, the transform (4, 4) of each factor, numbers and texts)."""
    outputs = [x for factor in program.factors for x in factor.transform.flat]
    writer = _Writer(outputs)
    texts = iter([writer.output(x) for x in outputs])
    transforms = [np.array([next(texts) for _ in range(16)], dtype=object).reshape(4, 4) for _ in program.factors]
    return writer.lines, transforms


def read(
    lines: Sequence[str], factors: Sequence[tuple[str, int, Sequence[Any]]], parameters: frozenset[str]
) -> JointProgram:
    """The joint of lines and factors (kind, number of plain coordinates, 16 entries row by row, numbers or texts).

    ModelError names the line or factor: a syntax that is not allowed, an unknown name, a coordinate of another factor,
    a ball or free factor whose transform is another.
    """
    reader = _Reader(parameters)
    for i, line in enumerate(lines):
        try:
            reader.line(line)
        except ModelError as error:
            raise ModelError(f"line {i + 1}: {error}") from None
    kinds = []
    for i, (kind, count, entries) in enumerate(factors):
        try:
            transform = array([reader.entry(x) for x in entries]).reshape(4, 4)
        except ModelError as error:
            raise ModelError(f"factor {i + 1}: {error}") from None
        kinds.append((kind, transform, count))
    program = build(reader.graph, kinds)
    for i, factor in enumerate(program.factors):
        _check_inputs(i + 1, factor)
        _check_manifold(i + 1, factor, parameters)
    return program


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
        return self.texts[x.index][0] if type(x) is Expression else float(x)

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
        if inputs:
            self.lines.append(", ".join(inputs))
            inputs.clear()

    def _operand(self, x: Scalar, needed: int) -> str:
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


class _Reader:
    """The algebra of graph scalars, with the names assigned so far."""

    def __init__(self, parameters: frozenset[str]) -> None:
        self.graph = Graph()
        self.parameters = parameters
        self.assigned: dict[str, Scalar] = {}

    def line(self, line: str) -> None:
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            for part in line.split(","):
                self._input(part)
            return
        name, text = match.groups()
        if name in self.assigned:
            raise ModelError(f"'{name}' is assigned already; use another name")
        self.assigned[name] = expression_text.evaluate(text, self)

    def _input(self, text: str) -> None:
        value = expression_text.evaluate(text, self)
        if is_constant(value) or value.op != "input":
            raise ModelError(f"{expression_text.quoted(text)} is no input; write an assignment such as t0 = sin(q0)")

    def entry(self, value: float | str) -> Scalar:
        return expression_text.evaluate(value, self) if isinstance(value, str) else value

    def number(self, value: int | float) -> Scalar:
        return float(value)

    def name(self, name: str) -> Scalar:
        if name in self.assigned:
            return self.assigned[name]
        match = _COORDINATE.fullmatch(name)
        if match is None:
            raise ModelError(
                f"unknown name '{name}'; coordinates are q0, q1, ..., other names are assigned on a line before,"
                " parameters stand in quotes"
            )
        return self.graph.input(("q", int(match[1])))

    def parameter(self, name: str) -> Scalar:
        if name not in self.parameters:
            raise ModelError(f"unknown parameter '{name}'; declare it among the scene's parameters")
        return self.graph.input(("parameter", name))

    def call(self, op: str, args: list[Scalar]) -> Scalar:
        if op == "divide":
            return self.call("mul", [args[0], combine("reciprocal", [args[1]])])
        value = combine(op, args)
        if type(value) is float and not np.isfinite(value):
            raise ModelError("a constant in it is not finite; correct its numbers")
        return value


def _check_inputs(number: int, factor: Factor) -> None:
    own = range(factor.first_q, factor.first_q + factor.nq)
    for node in reachable(factor.transform.flat):
        segment, name = node.args[0] if node.op == "input" else ("", 0)
        if segment == "q" and name not in own:
            has = f"q{own[0]} ... q{own[-1]}" if own else "none"
            raise ModelError(f"factor {number}: it uses q{name}, and its own coordinates are {has}; correct it")


def _check_manifold(number: int, factor: Factor, parameters: frozenset[str]) -> None:
    """A ball's or free body's velocity is defined by its transform being the standard one."""
    if factor.kind not in (BALL, FREE):
        return
    rng = np.random.default_rng(4)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, factor.nq)
        inputs = {("q", factor.first_q + i): x for i, x in enumerate(q)} | {("parameter", p): 1.0 for p in parameters}
        expected = np.eye(4)
        expected[:3, :3] = quaternion_rotation(q[-4:]).astype(float)
        expected[:3, 3] = q[:-4] if factor.kind == FREE else 0.0
        actual = np.array(evaluate(list(factor.transform.flat), inputs), dtype=float).reshape(4, 4)
        if not np.abs(actual - expected).max() < 1e-9:
            raise ModelError(
                f"factor {number}: its transform is not that of a {factor.kind} joint; copy it from a saved scene, or"
                " make the factor plain"
            )
