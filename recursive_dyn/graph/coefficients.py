"""Coefficients of unknowns in expressions that are linear in them, Guenter & Lee (2009), algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression, Scalar, select
from recursive_dyn.graph.traversal import reachable


@dataclass(frozen=True, eq=False)
class LinearForm:
    """sum of coefficients[j] * unknown j, plus ``rest``; unknowns that are not named do not occur."""

    coefficients: dict[int, Scalar]
    rest: Scalar

    def scaled(self, factor: Scalar) -> LinearForm:
        """The form times a scalar without unknowns."""
        return LinearForm({j: c * factor for j, c in self.coefficients.items()}, self.rest * factor)

    def plus(self, other: LinearForm) -> LinearForm:
        """The sum of two forms."""
        total = dict(self.coefficients)
        for j, c in other.coefficients.items():
            total[j] = total[j] + c if j in total else c
        return LinearForm(total, self.rest + other.rest)

    def chosen(self, condition: Scalar, other: LinearForm) -> LinearForm:
        """This form where the condition holds, else the other one."""
        named = [*self.coefficients, *(j for j in other.coefficients if j not in self.coefficients)]
        pairs = {j: (self.coefficients.get(j, 0.0), other.coefficients.get(j, 0.0)) for j in named}
        return LinearForm({j: select(condition, *pair) for j, pair in pairs.items()},
                          select(condition, self.rest, other.rest))  # fmt: skip


def linear_forms(outputs: Sequence[Scalar], unknowns: Sequence[Expression]) -> list[LinearForm]:
    """Each output as a linear form of the unknowns, which are inputs; one sweep over the nodes below all outputs.

    ModelError where an output is not linear in them as it is written.
    """
    found = {u.index: LinearForm({j: 1.0}, 0.0) for j, u in enumerate(unknowns)}

    def form(a: Scalar) -> LinearForm:
        known = found.get(a.index) if type(a) is Expression else None
        return known or LinearForm({}, a)

    for node in reachable(outputs):
        if node.index not in found and any(type(a) is Expression and a.index in found for a in node.args):
            found[node.index] = _combined(node, [form(a) for a in node.args])
    return [form(o) for o in outputs]


def _combined(node: Expression, forms: Sequence[LinearForm]) -> LinearForm:
    if node.op == "add":
        return forms[0].plus(forms[1])
    if node.op == "sub":
        return forms[0].plus(forms[1].scaled(-1.0))
    if node.op == "neg":
        return forms[0].scaled(-1.0)
    with_unknowns = [bool(f.coefficients) for f in forms]
    if node.op == "mul" and not all(with_unknowns):
        own, other = forms if with_unknowns[0] else forms[::-1]
        return own.scaled(other.rest)
    if node.op == "select" and not with_unknowns[0]:
        return forms[1].chosen(forms[0].rest, forms[2])
    raise ModelError(f"'{node.op}' of unknowns is not linear in them, so that they have no coefficients")
