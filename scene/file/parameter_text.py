"""Masses and placements that depend on scene parameters: SymPy expressions as text, and back term by term.

An expression read back is unevaluated and lowers by the very same operations as the one that was written. SymPy is
imported when the first parameter is met.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import evaluate_number
from scene.file import expression_text
from scene.file.expression_text import ATOM, MAX_INTEGER, MAX_LENGTH, PRODUCT, SIGN, SUM, wrapped
from scene.number_checks import is_symbolic

_ADVICE = "write it with + - * /, powers, sqrt, sin, cos, tan, their inverses, exp, log, Abs, Min and Max"
_SYMPY_NAMES = {name: name for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")}
_SYMPY_NAMES |= {"exp": "exp", "log": "log", "abs": "Abs", "min": "Min", "max": "Max", "floor": "floor"}
_NAMES = {sympy_name: name for name, sympy_name in _SYMPY_NAMES.items()}
_ARITHMETIC = ("add", "sub", "mul", "neg", "divide", "reciprocal", "sqrt", "pow")
_MANY = ("min", "max")  # SymPy's take any number of arguments, which it sorts
_NUMBERS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "divide": lambda a, b: Fraction(a) / Fraction(b) if _is_exact(a) and _is_exact(b) else a / b,
}


def write(value: Any, letters: Mapping[Any, str] | None = None) -> float | str:
    """A number, or the text of a SymPy expression: symbols in quotes, but for those that have ``letters``.

    ModelError for a function that has no text.
    """
    if is_symbolic(value):
        return _Writer(letters or {}).write(value)[0]
    return _value(value) if hasattr(value, "evalf") else float(value)


def read(text: str, known: Callable[[str], None], symbols: Mapping[str, Any] | None = None) -> Any:
    """The number or SymPy expression that a text stands for; ``symbols`` by their letters.

    Raises ModelError, as ``known`` does for a name in quotes that is unknown.
    """
    value = expression_text.evaluate(text, _Reader(known, symbols or {}))
    return value if is_symbolic(value) else float(value)


def check(text: str, known: Callable[[str], None], letters: str = "") -> None:
    """Raise ModelError for what :func:`read` would refuse, without SymPy."""
    expression_text.evaluate(text, _Checker(known, dict.fromkeys(letters, _SYMBOL)))


class _Writer:
    """Texts with how tightly they bind; equal parts are written once and kept, since a SymPy tree may share them."""

    def __init__(self, letters: Mapping[Any, str]) -> None:
        self.memory: dict[Any, tuple[str, int]] = {symbol: (letter, ATOM) for symbol, letter in letters.items()}

    def write(self, e: Any) -> tuple[str, int]:
        if e not in self.memory:
            text, binding = self._write(e)
            if len(text) > MAX_LENGTH:
                raise ModelError(f"an expression of parameters is longer than {MAX_LENGTH} characters; simplify it")
            self.memory[e] = (text, binding)
        return self.memory[e]

    def _write(self, e: Any) -> tuple[str, int]:
        if e.is_Symbol:
            return repr(e.name), ATOM
        if e.is_number:
            return _number(e)
        if e.is_Add:
            return self._sum(e.args), SUM
        if e.is_Mul:
            return self._product(e.args), PRODUCT
        if e.is_Pow:
            return self._power(e)
        name = _NAMES.get(e.func.__name__)
        if name is None:
            raise ModelError(f"the function {e.func.__name__} in {e} cannot be written to a file; {_ADVICE}")
        args = [self.write(a)[0] for a in e.args]
        if name in _MANY and not _is_decimal(e):
            raise ModelError(f"{e} cannot be written to a file: write the constants in it as decimal numbers")
        while name in _MANY and len(args) > 2:
            args[:2] = [f"{name}({args[0]}, {args[1]})"]
        return f"{name}({', '.join(args)})", ATOM

    def _sum(self, terms: Any) -> str:
        (text, _), rest = self._start(terms, operator.add)
        for term in rest:
            part = wrapped(*self.write(term), PRODUCT)
            pair = term.is_Mul and len(self._start(term.args, operator.mul)[1]) == 1
            text += f" - {part[1:]}" if pair and part.startswith("-") else f" + {part}"
        return text

    def _product(self, factors: Any) -> str:
        start, rest = self._start(factors, operator.mul)
        text = wrapped(*start, PRODUCT)
        if text == "-1":
            text = f"-{wrapped(*self.write(rest[0]), PRODUCT if _is_inverse(rest[0]) else ATOM)}"
            rest = rest[1:]
        for factor in rest:
            if _is_inverse(factor):
                text += f"/{wrapped(*self.write(factor.base), SIGN)}"
            else:
                text += f"*{wrapped(*self.write(factor), SIGN)}"
        return text

    def _start(self, args: Any, op: Callable[[float, float], float]) -> tuple[tuple[str, int], Any]:
        """The text of the first argument, or of the numbers at the front as one number, and the remaining arguments."""
        numbers = list(itertools.takewhile(lambda e: e.is_number, args))
        if len(numbers) < 2:
            return self.write(args[0]), args[1:]
        return _decimal(functools.reduce(op, map(_value, numbers))), args[len(numbers) :]

    def _power(self, e: Any) -> tuple[str, int]:
        if _is_inverse(e):
            return f"1/{wrapped(*self.write(e.base), SIGN)}", PRODUCT
        if e.exp.is_Rational and not e.exp.is_Integer and e.exp * 2 == 1:
            return f"sqrt({self.write(e.base)[0]})", ATOM
        return f"pow({self.write(e.base)[0]}, {self.write(e.exp)[0]})", ATOM


def _is_inverse(e: Any) -> bool:
    return bool(e.is_Pow and e.exp.is_Integer and e.exp == -1 and not e.is_number)


def _is_decimal(e: Any) -> bool:
    """Whether no constant, such as sqrt(2), is replaced by its value in the text: SymPy sorts it differently then."""
    return bool(e.is_Number or (not e.is_number and all(map(_is_decimal, e.args))))


def _number(e: Any) -> tuple[str, int]:
    if e.is_Rational and max(abs(e.p), e.q) <= MAX_INTEGER:
        binding = ATOM if e.q == 1 else PRODUCT
        return str(e), min(binding, SIGN) if e.p < 0 else binding
    return _decimal(_value(e))


def _value(e: Any) -> float:
    value = complex(e.evalf(17))
    if value.imag != 0.0 or not math.isfinite(value.real):
        raise ModelError(f"the constant {e} is not a finite real number; correct it")
    return value.real + 0.0  # SymPy knows no negative zero


def _decimal(value: float) -> tuple[str, int]:
    return repr(value), SIGN if value < 0.0 else ATOM


def _is_exact(value: Any) -> bool:
    return isinstance(value, (int, Fraction))


class _Algebra:
    """Numbers (int, Fraction, float) among themselves; what becomes of symbols is for the subclasses to say."""

    def __init__(self, known: Callable[[str], None], symbols: Mapping[str, Any]) -> None:
        self.known, self.symbols = known, symbols

    def number(self, value: int | float) -> Any:
        return value

    def name(self, name: str) -> Any:
        if name not in self.symbols:
            raise ModelError(f"unknown name '{name}'; parameters stand in quotes, as '{name}' here")
        return self.symbols[name]

    def parameter(self, name: str) -> Any:
        self.known(name)
        return self.symbol(name)

    def call(self, op: str, args: list[Any]) -> Any:
        if op == "table":
            raise ModelError("the function 'table' is not allowed on parameters")
        if not any(map(is_symbolic, args)):
            return self._calculated(op, args)
        if op not in _SYMPY_NAMES and op not in _ARITHMETIC:
            raise ModelError(
                f"the function '{op}' is not allowed on parameters; use pow, sqrt, {', '.join(_SYMPY_NAMES)}"
            )
        if op == "divide" and not is_symbolic(args[1]):
            return self.call("mul", [args[0], self._calculated("divide", [1, args[1]])])
        return self.combined(op, args)

    def symbol(self, name: str) -> Any:
        raise NotImplementedError

    def combined(self, op: str, args: list[Any]) -> Any:
        raise NotImplementedError

    def _calculated(self, op: str, args: list[Any]) -> Any:
        """Numbers among themselves: fractions stay exact, since powers of them mean other operations."""
        try:
            value = _NUMBERS[op](*args) if op in _NUMBERS else evaluate_number(op, *map(float, args))
            finite = math.isfinite(value)
        except (ArithmeticError, ValueError):
            finite = False
        if not finite:
            raise ModelError("a constant in it is not finite; correct its numbers")
        return value


class _Symbol:
    """Stands for every symbol and every expression of symbols, where SymPy is not wanted."""

    free_symbols = True


_SYMBOL = _Symbol()


class _Checker(_Algebra):
    """Says what is wrong, and nothing else."""

    def symbol(self, name: str) -> Any:
        return _SYMBOL

    def combined(self, op: str, args: list[Any]) -> Any:
        return _SYMBOL


class _Reader(_Algebra):
    """Unevaluated SymPy expressions."""

    def symbol(self, name: str) -> Any:
        import sympy as sp

        return sp.Symbol(name, real=True)

    def combined(self, op: str, args: list[Any]) -> Any:
        import sympy as sp

        args = [_to_sympy(sp, a) for a in args]
        match op:
            case "add":
                return _chain(sp.Add, *args)
            case "sub":
                return _chain(sp.Add, args[0], _negative(sp, args[1]))
            case "mul":
                return _chain(sp.Mul, *args)
            case "neg":
                return sp.Mul(sp.Integer(-1), *args, evaluate=False)
            case "divide":
                inverse = sp.Pow(args[1], sp.Integer(-1), evaluate=False)
                return inverse if args[0] == 1 else _chain(sp.Mul, args[0], inverse)
            case "reciprocal":
                return sp.Pow(args[0], sp.Integer(-1), evaluate=False)
            case "sqrt":
                return sp.Pow(args[0], sp.Rational(1, 2), evaluate=False)
            case "pow":
                return sp.Pow(*args, evaluate=False)
        function = getattr(sp, _SYMPY_NAMES[op])
        return _chain(function, *args) if op in _MANY else function(*args, evaluate=False)


def _to_sympy(sp: Any, value: Any) -> Any:
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.Integer(value) if isinstance(value, int) else sp.Float(value) if isinstance(value, float) else value


def _chain(operation: Any, first: Any, second: Any) -> Any:
    """a + b + c as one sum, not a sum in a sum: it is written and read from left to right."""
    return operation(*(first.args if isinstance(first, operation) else (first,)), second, evaluate=False)


def _negative(sp: Any, e: Any) -> Any:
    """What "- e" adds to a sum; a number in front of a product takes the sign, as the writer has it."""
    if e.is_Number:
        return -e
    if e.is_Mul and e.args[0].is_Number:
        return sp.Mul(-e.args[0], *e.args[1:], evaluate=False)
    return sp.Mul(sp.Integer(-1), e, evaluate=False)
