"""A piece of a program as text of an LLVM function, statement by statement; values of others come through memory."""

from __future__ import annotations

from collections.abc import Callable

from recursive_dyn.codegen.emitting.cuts import Cuts
from recursive_dyn.codegen.emitting.fusing import Fused
from recursive_dyn.codegen.emitting.ir_text import attributes, scalar_literal
from recursive_dyn.graph.program import Program, Statement

Source = Program | Fused
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul"}
LIBRARY = ("tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "pow")


class FunctionText:
    """One cut of the program as a function over the values it computes, loads and hands on."""

    def __init__(self, program: Source, cuts: Cuts, part: int, width: int) -> None:
        self.program, self.cuts, self.part, self.width = program, cuts, part, width
        self.kind = "double" if width == 1 else f"<{width} x double>"
        self.suffix = "f64" if width == 1 else f"v{width}f64"
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.sincos: dict[str, str] = {}
        self.positions: dict[tuple[str, int], list[str]] = {}
        self.count = 0

    def text(self, name: str) -> str:
        program, cuts = self.program, self.cuts
        start, stop = cuts.bounds[self.part], cuts.bounds[self.part + 1]
        for index in range(start, stop):
            number = cuts.first + index
            self.names[number] = self.statement(program.statements[index])
            if number in cuts.slots:
                self.store("scratch", cuts.slots[number], self.names[number])
        for place, value in cuts.results.get(self.part, []):
            self.store("out", place, self.value(value))
        arguments = "ptr noalias %in, ptr noalias %out, ptr noalias %scratch"
        head = f"define void @{name}({arguments}) nounwind{attributes(self.width)}"
        return "\n".join([head + " {", *self.lines, "  ret void", "}"])

    def let(self, instruction: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def address(self, base: str, index: int) -> str:
        return self.let(f"getelementptr {self.kind}, ptr %{base}, i64 {index}")

    def store(self, base: str, index: int, value: str) -> None:
        self.lines.append(f"  store {self.kind} {value}, ptr {self.address(base, index)}, align 8")

    def value(self, number: int) -> str:
        """The name of a value in this function, loading it at its first use."""
        name = self.names.get(number)
        if name is not None:
            return name
        if number < self.program.input_size:
            name = self.let(f"load {self.kind}, ptr {self.address('in', number)}, align 8")
        elif number >= self.program.first_table and number < self.cuts.first:
            name = f"@rd.table.{number - self.program.first_table}"
        elif number < self.cuts.first:
            literal = scalar_literal(self.program.constants[number - self.program.input_size])
            name = literal if self.width == 1 else f"splat (double {literal})"
        else:
            name = self.let(f"load {self.kind}, ptr {self.address('scratch', self.cuts.slots[number])}, align 8")
        self.names[number] = name
        return name

    def statement(self, statement: Statement) -> str:
        """The name of what a statement of the program makes."""
        op, *numbers = statement
        return self.operation(op, numbers, [self.value(n) for n in numbers])

    def operation(self, op: str, numbers: list[int], args: list[str]) -> str:
        """The name of what an operation makes of arguments of these names; numbers: of the values that they are."""
        if op in _BINARY:
            return self.let(f"{_BINARY[op]} {self.kind} {args[0]}, {args[1]}")
        if op in ("sin", "cos"):
            return self.sine_or_cosine(op, args[0])
        if op in LIBRARY:
            return self.per_lane(op, args)
        if op == "table":
            return self.element(numbers, args)
        return _SPECIAL[op](self, args)

    def sine_or_cosine(self, op: str, argument: str) -> str:
        """The name of one of both, which are made together for all that want either."""
        pair = f"{{ {self.kind}, {self.kind} }}"
        if argument not in self.sincos:
            self.sincos[argument] = self.let(f"call {pair} @rd.sincos.v{self.width}({self.kind} {argument})")
        return self.let(f"extractvalue {pair} {self.sincos[argument]}, {0 if op == 'sin' else 1}")

    def element(self, numbers: list[int], args: list[str]) -> str:
        """An element of a table a lane; positions are shared by all tables of one size and index."""
        size = len(self.program.tables[numbers[1] - self.program.first_table])
        key = (args[0], size)
        if key not in self.positions:
            self.positions[key] = self.position(args[0], size)
        result = "poison"
        for lane, position in enumerate(self.positions[key]):
            address = self.let(f"getelementptr double, ptr {args[1]}, i32 {position}")
            one = self.let(f"load double, ptr {address}, align 8")
            if self.width == 1:
                return one
            result = self.let(f"insertelement {self.kind} {result}, double {one}, i32 {lane}")
        return result

    def position(self, index: str, size: int) -> list[str]:
        """The integer of each lane: a place in the table, or behind it for nan. No conversion is out of range."""
        whole = "i32" if self.width == 1 else f"<{self.width} x i32>"
        behind = f"{size}" if self.width == 1 else f"splat (i32 {size})"
        last, zero = self.constant(size - 1.0), self.constant(0.0)
        below = self.choose(self.compare("olt", index, last), index, last)
        inside = self.choose(self.compare("ogt", below, zero), below, zero)
        place = self.let(f"fptosi {self.kind} {inside} to {whole}")
        mask = "i1" if self.width == 1 else f"<{self.width} x i1>"
        unknown = self.compare("uno", index, index)
        place = self.let(f"select {mask} {unknown}, {whole} {behind}, {whole} {place}")
        if self.width == 1:
            return [place]
        return [self.let(f"extractelement {whole} {place}, i32 {lane}") for lane in range(self.width)]

    def per_lane(self, op: str, args: list[str]) -> str:
        """The name of what a library's function, which knows single numbers, makes of each lane."""
        if self.width == 1:
            return self.let(f"call double @{op}({', '.join(f'double {a}' for a in args)})")
        result = "poison"
        for lane in range(self.width):
            parts = [self.let(f"extractelement {self.kind} {a}, i32 {lane}") for a in args]
            one = self.let(f"call double @{op}({', '.join(f'double {p}' for p in parts)})")
            result = self.let(f"insertelement {self.kind} {result}, double {one}, i32 {lane}")
        return result

    def constant(self, value: float) -> str:
        return scalar_literal(value) if self.width == 1 else f"splat (double {scalar_literal(value)})"

    def negative(self, a: str) -> str:
        """The name of -a."""
        return self.let(f"fneg {self.kind} {a}")

    def compare(self, predicate: str, a: str, b: str) -> str:
        """The name of whether a and b compare so."""
        return self.let(f"fcmp {predicate} {self.kind} {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        """The name of a where the condition is met, of b elsewhere."""
        mask = "i1" if self.width == 1 else f"<{self.width} x i1>"
        return self.let(f"select {mask} {condition}, {self.kind} {a}, {self.kind} {b}")

    def intrinsic(self, name: str, *args: str) -> str:
        """The name of what one of LLVM's own functions makes of arguments of these names."""
        return self.let(f"call {self.kind} @llvm.{name}.{self.suffix}({', '.join(f'{self.kind} {a}' for a in args)})")


_SPECIAL: dict[str, Callable[[FunctionText, list[str]], str]] = {
    "fma": lambda f, a: f.intrinsic("fma", *a),
    "fms": lambda f, a: f.intrinsic("fma", a[0], a[1], f.negative(a[2])),
    "fnma": lambda f, a: f.intrinsic("fma", f.negative(a[0]), a[1], a[2]),
    "neg": lambda f, a: f.negative(a[0]),
    "reciprocal": lambda f, a: f.let(f"fdiv {f.kind} {f.constant(1.0)}, {a[0]}"),
    "sqrt": lambda f, a: f.intrinsic("sqrt", a[0]),
    "abs": lambda f, a: f.intrinsic("fabs", a[0]),
    "floor": lambda f, a: f.intrinsic("floor", a[0]),
    "min": lambda f, a: f.intrinsic("minimum", *a),
    "max": lambda f, a: f.intrinsic("maximum", *a),
    "less": lambda f, a: f.choose(f.compare("olt", a[0], a[1]), f.constant(1.0), f.constant(0.0)),
    "select": lambda f, a: f.choose(f.compare("une", a[0], f.constant(0.0)), a[1], a[2]),
}
