"""C99 of a program through SymPy's C printer; c_export.py writes that of a whole model, for use without Python.

Every value has a symbol of its own, so nothing is nested, nothing is rearranged by SymPy, and every name in the code is
generated. A long program is cut into functions that hand values on through an array, because C compilers take time
superlinear in a function's size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import sympy as sp
from sympy.codegen.ast import (
    Assignment,
    Declaration,
    FunctionPrototype,
    Pointer,
    Variable,
    real,
    value_const,
)
from sympy.codegen.cnodes import void
from sympy.printing.c import C99CodePrinter

from recursive_dyn.graph.program import ARGUMENTS, Program

STATEMENTS_PER_FUNCTION = 2000

_IN, _OUT, _SCRATCH = sp.Symbol("in"), sp.Symbol("out"), sp.Symbol("s")
_TABLE = """static double table(double i, const double *values, int last) {
   return i < last ? values[i > 0 ? (int)i : 0] : i >= last ? values[last] : i;
}
"""
_ONE, _ZERO = sp.Float(1.0), sp.Float(0.0)


def _apply(function: Any) -> Callable[..., Any]:
    return lambda *args: function(*args, evaluate=False)


def _negative(a: Any) -> Any:
    return sp.Mul(-1, a, evaluate=False)


def _choose(condition: Any, a: Any, b: Any) -> Any:
    return sp.Piecewise((a, condition), (b, True), evaluate=False)


_EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "add": _apply(sp.Add),
    "sub": lambda a, b: sp.Add(a, _negative(b), evaluate=False),
    "mul": _apply(sp.Mul),
    "neg": _negative,
    "reciprocal": lambda a: sp.Pow(a, -1, evaluate=False),
    "sqrt": lambda a: sp.Pow(a, sp.S.Half, evaluate=False),
    "pow": _apply(sp.Pow),
    "less": lambda a, b: _choose(sp.Lt(a, b, evaluate=False), _ONE, _ZERO),
    "select": lambda c, a, b: _choose(sp.Ne(c, _ZERO, evaluate=False), a, b),
    "abs": _apply(sp.Abs),
    "min": _apply(sp.Min),
    "max": _apply(sp.Max),
    "floor": _apply(sp.floor),
    "table": lambda i, values: sp.Function("table")(i, values),  # and its last index
    **{
        name: _apply(getattr(sp, name))
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log")
    },
}


class _Printer(C99CodePrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's C99 printer with operands left in order and decimals that read back as the very same double."""

    def __init__(self) -> None:
        super().__init__({"order": "none", "user_functions": {"table": "table"}})

    def _print_Float(self, number: Any) -> str:
        return repr(float(number))

    def _print_Piecewise(self, choice: Any) -> str:
        (a, condition), (b, _) = choice.args
        return f"({self._print(condition)}) ? {self._print(a)} : {self._print(b)}"


def c_source(program: Program, name: str, statements_per_function: int = STATEMENTS_PER_FUNCTION) -> str:
    """A self-contained C99 translation unit that defines ``void name(const double *in, double *out)``.

    in and out hold the program's segments one after the other and must not overlap. ``name`` is a C identifier.
    """
    count = len(program.statements)
    parts = max(1, -(-count // statements_per_function))
    size = -(-count // parts)
    cuts = [(k * size, min((k + 1) * size, count)) for k in range(parts)]
    printer = _Printer()
    head = prototype(name)
    lines = [
        f"/* in: {layout(program.inputs)}; out: {layout(program.outputs)} */",
        "#include <math.h>",
        "",
        *_tables(program),
    ]
    if parts == 1:
        whole = _Part(program, 0, count, {})
        return "\n".join([*lines, f"{head};", "", _function(head, whole, (_IN, _OUT))])
    slots = _crossing(program, size)
    for k, (start, stop) in enumerate(cuts):
        part_head = printer.doprint(_prototype(f"{name}_{k}", (_IN, _OUT, _SCRATCH)))
        part = _Part(program, start, stop, slots)
        lines += [_function(f"static {part_head}", part, (_IN, _OUT, _SCRATCH)), ""]
    calls = [f"   {name}_{k}(in, out, s);" for k in range(parts)]
    body = [f"   double s[{max(1, len(slots))}];", *calls]
    return "\n".join([*lines, f"{head};", "", f"{head} {{", *body, "}", ""])


def _tables(program: Program) -> list[str]:
    lines = [
        f"static const double c{number}[{len(values)}] = {{{', '.join(map(repr, values))}}};"
        for number, values in enumerate(program.tables, program.first_table)
    ]
    return [*lines, "", _TABLE] if lines else []


def _prototype(name: str, arrays: Sequence[Any]) -> Any:
    return FunctionPrototype(
        void, name, [Pointer(a, type=real, attrs={value_const} if a is _IN else set()) for a in arrays]
    )


def prototype(name: str) -> str:
    """The C declaration of a function from in to out, without its semicolon."""
    return str(_Printer().doprint(_prototype(name, (_IN, _OUT))))


def layout(segments: Sequence[tuple[str, int]]) -> str:
    """Names and sizes of segments, for comments."""
    return ", ".join(f"{name}[{size}]" for name, size in segments if size) or "nothing"


def _crossing(program: Program, size: int) -> dict[int, int]:
    """Slot in the handed-on array of every value that another function than its own uses."""
    first = program.first_statement
    slots: dict[int, int] = {}
    for index, (_, *args) in enumerate(program.statements):
        for a in args:
            if a >= first and (a - first) // size != index // size:
                slots.setdefault(a, len(slots))
    return slots


class _Part:
    """The statements ``start`` to ``stop`` of a program as lines of declarations and assignments."""

    def __init__(self, program: Program, start: int, stop: int, slots: dict[int, int]) -> None:
        self.program = program
        self.slots = slots
        self.code: list[str] = []
        self.names: dict[int, str] = {}
        self.arrays: set[Any] = set()
        first, last = program.first_statement, stop == len(program.statements)
        for number, (op, *args) in enumerate(program.statements[start:stop], first + start):
            name = self.declare(number, "t", _form(op).format(*[self.value(a) for a in args]))
            if number in slots:
                self.store(_SCRATCH, slots[number], name)
        for place, number in enumerate(program.results):
            if first + start <= number < first + stop or (last and number < first):
                self.store(_OUT, place, self.value(number))

    def declare(self, number: int, letter: str, value: str) -> str:
        name = self.names[number] = f"{letter}{number}"
        self.code.append(_declaration().format(name, value))
        return name

    def store(self, array: Any, place: int, value: str) -> None:
        self.arrays.add(array)
        self.code.append(_assignment().format(f"{array}[{place}]", value))

    def load(self, array: Any, place: int) -> str:
        self.arrays.add(array)
        return f"{array}[{place}]"

    def value(self, number: int) -> str:
        """The name of a value, declared at its first use in this function; of a table, with its last index."""
        if number in self.names:
            return self.names[number]
        program = self.program
        if number < program.input_size:
            return self.declare(number, "x", self.load(_IN, number))
        if program.first_table <= number < program.first_statement:
            last = len(program.tables[number - program.first_table]) - 1
            self.names[number] = f"c{number}, {last}"
            return self.names[number]
        if number < program.first_statement:
            return self.declare(number, "c", repr(program.constants[number - program.input_size]))
        return self.declare(number, "t", self.load(_SCRATCH, self.slots[number]))


_ARGUMENTS = sp.symbols("argument:4")


@cache
def _form(op: str) -> str:
    """An operation as SymPy prints it, with fields in its arguments' places."""
    return _fields(_EXPRESSIONS[op](*_ARGUMENTS[: ARGUMENTS[op]]))


@cache
def _declaration() -> str:
    """How a value is named, with fields for the name and the value."""
    name, value = _ARGUMENTS[:2]
    return _fields(Declaration(Variable(name, type=real, value=value, attrs={value_const})), end=";")


@cache
def _assignment() -> str:
    return _fields(Assignment(*_ARGUMENTS[:2]))


def _fields(node: Any, end: str = "") -> str:
    text = _Printer().doprint(node)
    return re.sub(r"argument(\d)", r"{\1}", text.replace("{", "{{").replace("}", "}}")) + end


def _function(head: str, part: _Part, arrays: Sequence[Any]) -> str:
    unused = [f"   (void){a};" for a in arrays if a not in part.arrays]
    return "\n".join([f"{head} {{", *unused, *(f"   {line}" for line in part.code), "}", ""])
