r"""Formulas in LaTeX: q \times \left( m l^{2} \ddot{q} + m g l e_{3} - \tau \right)."""

from __future__ import annotations

import re
import unicodedata

from recursive_dyn.manifold.formula.nodes import STYLES
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.writing.style import Style

_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi
psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
_GREEK = frozenset(_NAMES.split())
_ALIASES = {"lam": "lambda", "Om": "Omega", "om": "omega", "al": "alpha", "th": "theta"}
_LETTERS = "|".join(sorted((*_GREEK, *_ALIASES), key=len, reverse=True))
_DOTS = {1: r"\dot", 2: r"\ddot", 3: r"\dddot"}


def _symbol(s: Symbol) -> str:
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
    _symbol, r"\delta ", r" \cdot ", r" \times ", r"\frac{{{}}}{{{}}}", r"\left( {} \right)", "{}^{{{}}}", "{}^{{{}}}",
    "{}^{{T}}", r"\widehat{{{}}}", r"\left\| {} \right\|^{{{}}}", r"\int {} \, dt",
)  # fmt: skip
STYLES["latex"] = LATEX
