r"""How formulas are written down, in text and LaTeX: brackets and signs, once for every style of printing.

q x (m l^2 q'' + m g l e3 - tau), q \times \left( m l^{2} \ddot{q} + m g l e_{3} - \tau \right).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.nodes import STYLES, Formula
from recursive_dyn.manifold.formula.operations import parted
from recursive_dyn.manifold.formula.symbol import Symbol

MOST_MARKS = 3  # derivatives of higher order carry a superscript instead of primes or dots
# How tightly a formula holds together: what binds less than its surroundings goes in brackets.
SUM, PRODUCT, PAIR, APPLIED, SCRIPTED, ATOM = range(6)


@dataclass(frozen=True)
class Style:
    """Writes formulas: templates of the marks, and how a symbol is written with those of derivative and variation."""

    symbol: Callable[[Symbol], str]
    variation: str = "δ"
    dot: str = "."
    cross: str = " x "
    fraction: str = "{}/{}"
    bracket: str = "({})"
    power: str = "{}^{}"
    inverse: str = "{}^({})"
    transposed: str = "{}^T"
    hat: str = "hat({})"
    norm: str = "|{}|^{}"
    integral: str = "∫ {} dt"

    def write(self, f: Formula) -> str:
        """A formula."""
        return self._write(f)[0]

    def _write(self, f: Formula) -> tuple[str, int]:
        match f:
            case Symbol():
                return self.symbol(f), ATOM if f.order <= MOST_MARKS else SCRIPTED
            case nodes.Sum(terms):
                return self._sum(terms), SUM if len(terms) > 1 else PRODUCT
            case nodes.Product() | nodes.Number():
                sign, text = self._signed(f)
                binding = ATOM if isinstance(f, nodes.Number) else PRODUCT
                return (text, binding) if sign > 0 else ("-" + text, SUM)
            case nodes.Power(nodes.Dot(a, b), exponent) if a == b:
                return self.norm.format(self._inside(a, SUM), 2 * exponent), SCRIPTED
            case nodes.Power(scalar, exponent):
                template = self.power if exponent > 0 else self.inverse
                return template.format(self._inside(scalar, ATOM), exponent), SCRIPTED
            case nodes.Dot(a, b) if a == b:
                return self.norm.format(self._inside(a, SUM), 2), SCRIPTED
            case nodes.Dot(a, b):
                return self._inside(a, SCRIPTED) + self.dot + self._inside(b, APPLIED), PAIR
            case nodes.Cross(a, b):
                return self._inside(a, APPLIED) + self.cross + self._inside(b, APPLIED), PAIR
            case nodes.Apply(a, b):
                return self._inside(a, APPLIED) + " " + self._inside(b, APPLIED), APPLIED
            case nodes.Hat(a):
                return self.hat.format(self.write(a)), ATOM
            case nodes.Transpose(a):
                return self.transposed.format(self._inside(a, ATOM)), SCRIPTED
        raise TypeError(f"{type(f).__name__} is no formula")

    def _number(self, value: Fraction) -> str:
        return str(value) if value.denominator == 1 else self.fraction.format(value.numerator, value.denominator)

    def _inside(self, f: Formula, least: int) -> str:
        """A formula in a place where it must bind at least so tightly."""
        text, binding = self._write(f)
        return text if binding >= least else self.bracket.format(text)

    def _sum(self, terms: tuple[Formula, ...]) -> str:
        if not terms:
            return "0"
        text = "".join((" + " if sign > 0 else " - ") + body for sign, body in map(self._signed, terms))
        return text[3:] if text.startswith(" +") else "-" + text[3:]

    def _signed(self, f: Formula) -> tuple[int, str]:
        """(sign, the formula without it)."""
        value, factors = parted(f)
        last = PAIR if isinstance(f, nodes.Product) else PRODUCT
        parts = [self._inside(x, APPLIED if i < len(factors) - 1 else last) for i, x in enumerate(factors)]
        if abs(value) != 1 or not factors:
            parts.insert(0, self._number(abs(Fraction(value))))
        return -1 if value < 0 else 1, " ".join(parts)

    def action(self, lagrangian: Formula, works: bool) -> str:
        """S as an integral."""
        text = f"S = {self.integral.format(self._inside(lagrangian, PRODUCT))}"
        return f"{text} + {self.integral.format('W')}" if works else text

    def varied(self, integrand: Formula) -> str:
        """The variation of S as an integral that is zero."""
        return f"{self.variation}S = {self.integral.format(self._inside(integrand, PRODUCT))} = 0"


def _text_symbol(s: Symbol) -> str:
    marks = "'" * s.order if s.order <= MOST_MARKS else f"^({s.order})"
    return ("δ" if s.is_variation else "") + s.base.name + marks


_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi
psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
_GREEK = frozenset(_NAMES.split())
_ALIASES = {"lam": "lambda", "Om": "Omega", "om": "omega", "al": "alpha", "th": "theta"}
_LETTERS = "|".join(sorted((*_GREEK, *_ALIASES), key=len, reverse=True))
_DOTS = {1: r"\dot", 2: r"\ddot", 3: r"\dddot"}


def _latex_symbol(s: Symbol) -> str:
    letter, subscript = _parts(s.base.name)
    mark = _DOTS.get(s.order)
    body = f"{mark}{{{letter}}}" if mark else letter
    if subscript:
        body += f"_{{{subscript}}}"
    if s.order and not mark:
        body += f"^{{({s.order})}}"
    return rf"\delta {body}" if s.is_variation else body


def _spelt(letter: str) -> str:
    """A Greek letter by its name, any other as it is."""
    known = re.fullmatch(r"GREEK (CAPITAL|SMALL) LETTER (\w+)", unicodedata.name(letter, ""))
    name = known[2].replace("LAMDA", "LAMBDA").lower() if known else letter
    return name.capitalize() if known and known[1] == "CAPITAL" else name


def _parts(name: str) -> tuple[str, str]:
    """(letter, subscript) of a name: tau1 is tau with 1, mQ m with Q, x_load x with load; Greek may be typed."""
    name = "".join(map(_spelt, name))
    match = re.fullmatch(rf"({_LETTERS})_?(\d*|[A-Z]\w*)", name) or re.fullmatch(r"([A-Za-z])_?(\d*|[A-Z]\w*)", name)
    if match is None:
        match = re.fullmatch(rf"({_LETTERS}|[A-Za-z])_(\w+)", name)
    if match is None:
        return rf"\mathit{{{name.replace('_', chr(92) + '_')}}}", ""
    letter, rest = match.groups()
    letter = _ALIASES.get(letter, letter)
    subscript = rest.replace("_", r"\ ")
    if subscript and not re.fullmatch(r"\d+|\w", subscript):
        subscript = rf"\mathrm{{{subscript}}}"
    return (f"\\{letter}" if letter in _GREEK else letter), subscript


LATEX = Style(
    _latex_symbol, r"\delta ", r" \cdot ", r" \times ", r"\frac{{{}}}{{{}}}", r"\left( {} \right)", "{}^{{{}}}",
    "{}^{{{}}}", "{}^{{T}}", r"\widehat{{{}}}", r"\left\| {} \right\|^{{{}}}", r"\int {} \, dt",
)  # fmt: skip
STYLES.update(text=Style(_text_symbol), latex=LATEX)
