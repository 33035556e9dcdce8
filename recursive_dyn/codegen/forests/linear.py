"""Whole numbers that are sums of multiples of symbols: what is computed with them once holds for all their values."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class Linear:
    """constant + sum of coefficient times symbol; added, and multiplied by whole numbers, as these are."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int, terms: dict[Hashable, int]) -> None:
        self.constant, self.terms = constant, terms

    def __add__(self, other: Any) -> Linear:
        if isinstance(other, Linear):
            terms = dict(self.terms)
            for name, factor in other.terms.items():
                terms[name] = terms.get(name, 0) + factor
            return Linear(self.constant + other.constant, terms)
        return Linear(self.constant + int(other), self.terms)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Linear:
        return Linear(self.constant * factor, {name: own * factor for name, own in self.terms.items()})

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Linear:
        return self + -1 * other

    def __repr__(self) -> str:
        return " + ".join([str(self.constant), *(f"{factor} {name}" for name, factor in self.terms.items())])


def symbol(name: Hashable) -> Any:
    """A number that is not known yet; it stands wherever whole numbers do that are only added and multiplied."""
    return Linear(0, {name: 1})
