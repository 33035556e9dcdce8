"""What a derivation is given, checked: every symbol must be known, every term must be of the right kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import leaves, rates, symbols_of
from recursive_dyn.manifold.formula.nodes import ZERO, Formula
from recursive_dyn.manifold.formula.operations import kind, number
from recursive_dyn.manifold.formula.symbol import Base, Symbol
from recursive_dyn.manifold.writing.terms import Roles


@dataclass(frozen=True)
class VariationalProblem:
    """L, the virtual work, the configuration, what moves in a way that is given, and constraints linear in velocity.

    multipliers, reaction: the constraints' multipliers, and the virtual work of their reactions.
    """

    lagrangian: Formula
    virtual_work: Formula
    configuration: tuple[Symbol, ...]
    prescribed: tuple[Symbol, ...] = ()
    constraints: tuple[Any, ...] = ()
    multipliers: tuple[Symbol, ...] = ()
    reaction: Formula = ZERO

    @cached_property
    def spinning(self) -> dict[Base, Symbol]:
        """Each rotation of the configuration by its Omega."""
        return rates(self.configuration)

    @cached_property
    def given(self) -> set[Base]:
        """What is prescribed."""
        return {s.base for s in self.prescribed}

    @cached_property
    def known(self) -> set[Base]:
        """What moves: the variables, the angular velocities of rotations, and what is prescribed."""
        return {q.base for q in self.configuration} | set(self.spinning) | self.given

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """Applied forces: symbols of the virtual work that depend on time and are not of the configuration's motion."""
        own = self.known - self.given
        free = (s for s in symbols_of(self.virtual_work, True) if not s.constant and not s.varied)
        return tuple(dict.fromkeys(Symbol(s.base) for s in free if s.base.definition is None and s.base not in own))

    @cached_property
    def ranks(self) -> dict[Base, int]:
        """Order of declaration of every symbol that is given."""
        given = (self.lagrangian, self.virtual_work, self.reaction, *self.configuration, *self.constraints)
        symbols = [s for f in given for s in symbols_of(f, True)]
        return {s.base: s.base.rank for s in (*symbols, *(c for q in self.configuration for c in q.base.companions))}

    def roles(self, variation: Symbol | None = None) -> Roles:
        """How the cofactor of a variation is to be written."""
        own = next((q for q in self.configuration if variation and q.virtual.base == variation.base), None)
        inputs = frozenset(s.base for s in (*self.inputs, *self.multipliers))
        return Roles(own, self.configuration, inputs, self.ranks)

    def check(self) -> set[str]:
        """The names of all symbols; ModelError says what is wrong with the problem, but for its constraints."""
        self._check_configuration()
        self._check_prescribed()
        formulas = (self.lagrangian, self.virtual_work, *(c for c in self.constraints if isinstance(c, Formula)))
        variables = (*self.configuration, *self.prescribed)
        companions = (s for q in variables for s in (q, *q.base.companions))
        found: dict[str, Base] = {}
        for s in (*companions, *(s for f in formulas for s in symbols_of(f, True))):
            if found.setdefault(s.base.name, s.base) != s.base:
                raise ModelError(f"two different symbols are called '{s.base.name}': give each a name of its own")
        self._check_lagrangian()
        self._check_virtual_work()
        return set(found)

    def _check_configuration(self) -> None:
        if not self.configuration:
            raise ModelError("the configuration is empty: list the symbols that move, as configuration=(q, R)")
        for q in self.configuration:
            if not isinstance(q, Symbol):
                raise ModelError(
                    f"the configuration holds {q!r}, which is no symbol: declare it with unit_vectors('q')"
                )
            if not _is_free(q):
                raise ModelError(f"'{q}' cannot be in the configuration: it is a constant, derivative or abbreviation")
            if len(q.shape) == 2 and not q.base.is_rotation:
                raise ModelError(f"'{q}' is a {kind(q)}; of matrices only rotations can be in the configuration")
        names = [s.base.name for q in self.configuration for s in (q, *q.base.companions)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ModelError(f"two of the configuration's symbols are called '{twice}': give them names of their own")

    def _check_prescribed(self) -> None:
        own = {q.base for q in self.configuration} | set(self.spinning)
        for s in self.prescribed:
            if not _is_free(s):
                raise ModelError(f"{s!r} cannot be prescribed: list symbols that move, not their derivatives")
            if s.base in own:
                raise ModelError(f"'{s}' is prescribed and in the configuration: it can be one of them only")

    def _check_lagrangian(self) -> None:
        if self.lagrangian.varied:
            raise ModelError(f"the Lagrangian {self.lagrangian} holds a variation; those belong in the virtual work")
        for s in symbols_of(self.lagrangian, True):
            if not s.constant and s.base.definition is None and s.base not in self.known:
                raise ModelError(
                    f"'{Symbol(s.base)}' in the Lagrangian is neither constant nor in the configuration: declare it"
                    " constant, add it to the configuration, or list it as prescribed"
                )

    def _check_virtual_work(self) -> None:
        """The virtual work; ModelError names a variation of something that is not in the configuration."""
        virtual = {q.virtual.base for q in self.configuration}
        for s in symbols_of(self.virtual_work):
            if s.varied and (s.order or s.base in self.spinning):
                raise ModelError(
                    f"the virtual work holds {s}; forces work on displacements, not on those of velocities"
                )
            for inner in leaves(Symbol(s.base)) if s.varied else ():
                if inner.base not in self.given and (inner.order or inner.base in self.spinning):
                    raise ModelError(f"the virtual work holds {s}, of a velocity; forces work on displacements")
                if not inner.constant and inner.base not in self.known | virtual:
                    raise ModelError(
                        f"the virtual work holds {s}, but its symbol is not in the configuration: add"
                        f" '{inner.base.name}'"
                    )


def _is_free(s: Any) -> bool:
    """Whether it is a symbol of what may move by itself."""
    return isinstance(s, Symbol) and not (s.order or s.varied or s.constant or s.base.definition is not None)


def listed(given: Any, what: str) -> tuple[Any, ...]:
    """What is given as one formula, a sequence of them, or None, as a tuple."""
    if given is None:
        return ()
    if isinstance(given, Formula) or not isinstance(given, Iterable):
        return (given,)
    if isinstance(given, (str, set, frozenset)):
        raise ModelError(f"the {what} lists symbols in their order, as (q, R), not {given!r}")
    return tuple(given)


def as_scalar(f: Any, what: str) -> Formula:
    """A scalar formula; numbers are taken."""
    f = number(f) or f
    if not isinstance(f, Formula) or f.shape:
        raise ModelError(f"the {what} must be a scalar formula, not {f!r}")
    return f
