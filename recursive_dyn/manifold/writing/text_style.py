"""Formulas as plain text: q x (m l^2 q'' + m g l e3 - tau)."""

from __future__ import annotations

from fractions import Fraction

from recursive_dyn.manifold.formula.formula import Formula, provides
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.writing.style import MOST_MARKS, Style


class TextStyle(Style):
    """One line of text."""

    variation = "δ"

    def symbol(self, s: Symbol) -> str:
        marks = "'" * s.order if s.order <= MOST_MARKS else f"^({s.order})"
        return ("δ" if s.is_variation else "") + s.base.name + marks

    def number(self, value: Fraction) -> str:
        return str(value)

    def bracket(self, inside: str) -> str:
        return f"({inside})"

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{exponent}" if exponent > 0 else f"{base}^({exponent})"

    def transposed(self, matrix: str) -> str:
        return f"{matrix}^T"

    def hat(self, vector: str) -> str:
        return f"hat({vector})"

    def norm(self, vector: str, exponent: int) -> str:
        return f"|{vector}|^{exponent}"

    def integral(self, integrand: str) -> str:
        return f"∫ {integrand} dt"


TEXT = TextStyle()


@provides("text")
def text(f: Formula) -> str:
    """A formula as text."""
    return TEXT.write(f)
