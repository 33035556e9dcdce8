"""What a derivation is given, checked: every symbol must be known, every term must be of the right kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import leaves, rates, symbols_of
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import kind, number
from recursive_dyn.manifold.formula.symbol import Base, Symbol


def check_configuration(configuration: Any) -> tuple[Symbol, ...]:
    """The configuration variables; ModelError names one that cannot be."""
    variables = listed(configuration, "configuration")
    if not variables:
        raise ModelError("the configuration is empty: list the symbols that move, as configuration=(q, R)")
    for q in variables:
        if not isinstance(q, Symbol):
            raise ModelError(f"the configuration holds {q!r}, which is no symbol: declare it with unit_vectors('q')")
        if q.order or q.varied or q.constant or q.base.definition is not None:
            raise ModelError(f"'{q}' cannot be in the configuration: it is a constant, derivative or abbreviation")
        if len(q.shape) == 2 and not q.base.is_rotation:
            raise ModelError(f"'{q}' is a {kind(q)}; of matrices only rotations can be in the configuration")
    names = [q.base.name for q in variables]
    names += [s.base.name for q in variables for s in q.base.companions]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"two of the configuration's symbols are called '{name}': give them names of their own")
    return variables


def listed(given: Any, what: str) -> tuple[Any, ...]:
    """What is given as one formula, a sequence of them, or None, as a tuple."""
    if given is None:
        return ()
    if isinstance(given, Formula) or not isinstance(given, Iterable):
        return (given,)
    if isinstance(given, (str, set, frozenset)):
        raise ModelError(f"the {what} lists symbols in their order, as (q, R), not {given!r}")
    return tuple(given)


def check_prescribed(prescribed: Any, variables: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """Symbols whose motion is given, Omega of rotations too; ModelError names one that cannot be."""
    symbols = listed(prescribed, "prescribed motion")
    for s in symbols:
        if not isinstance(s, Symbol) or s.order or s.varied or s.constant or s.base.definition is not None:
            raise ModelError(f"{s!r} cannot be prescribed: list symbols that move, not their derivatives")
        if s.base in known_bases(variables):
            raise ModelError(f"'{s}' is prescribed and in the configuration: it can be one of them only")
    return tuple(dict.fromkeys((*symbols, *(s.velocity for s in symbols if s.base.is_rotation))))


def check_names(formulas: Iterable[Formula], symbols: Iterable[Symbol]) -> set[str]:
    """The names of all symbols; ModelError names two that differ and have one name."""
    found: dict[str, Base] = {}
    for s in (
        *(s for q in symbols for s in (q, *q.base.companions)),
        *(s for f in formulas for s in symbols_of(f, True)),
    ):
        if found.setdefault(s.base.name, s.base) != s.base:
            raise ModelError(f"two different symbols are called '{s.base.name}': give each a name of its own")
    return set(found)


def known_bases(variables: Sequence[Symbol]) -> set[Base]:
    """What moves: the variables and the angular velocities of rotations."""
    return {q.base for q in variables} | set(rates(variables))


def as_scalar(f: Any, what: str) -> Formula:
    """A scalar formula; numbers are taken."""
    f = number(f) or f
    if not isinstance(f, Formula) or f.shape:
        raise ModelError(f"the {what} must be a scalar formula, not {f!r}")
    return f


def check_lagrangian(lagrangian: Formula, variables: Sequence[Symbol], prescribed: Sequence[Symbol]) -> Formula:
    """The Lagrangian; ModelError for variations and unknown symbols in it."""
    if lagrangian.varied:
        raise ModelError(f"the Lagrangian {lagrangian} holds a variation; those belong in the virtual work")
    known = known_bases(variables) | {s.base for s in prescribed}
    for s in symbols_of(lagrangian, True):
        if not s.constant and s.base.definition is None and s.base not in known:
            raise ModelError(
                f"'{Symbol(s.base)}' in the Lagrangian is neither constant nor in the configuration: declare it"
                " constant, add it to the configuration, or list it as prescribed"
            )
    return lagrangian


def check_virtual_work(work: Formula, variables: Sequence[Symbol], prescribed: Sequence[Symbol] = ()) -> Formula:
    """The virtual work; ModelError names a variation of something that is not in the configuration."""
    known = {q.base for q in variables} | {q.virtual.base for q in variables}
    spins = rates(variables)
    given = {s.base for s in prescribed}
    for s in symbols_of(work):
        if s.varied and (s.order or s.base in spins):
            raise ModelError(f"the virtual work holds {s}; forces work on displacements, not on those of velocities")
        for inner in leaves(Symbol(s.base)) if s.varied else ():
            if inner.base not in given and (inner.order or inner.base in spins):
                raise ModelError(f"the virtual work holds {s}, of a velocity; forces work on displacements")
            if not inner.constant and inner.base not in given and inner.base not in known:
                raise ModelError(
                    f"the virtual work holds {s}, but its symbol is not in the configuration: add '{inner.base.name}'"
                )
    return work


def inputs_of(work: Formula, variables: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """Applied forces: symbols of the virtual work that depend on time and are not of the motion."""
    known = known_bases(variables) | {q.virtual.base for q in variables}
    found: dict[Symbol, None] = {}
    for s in symbols_of(work, True):
        if not s.constant and not s.varied and s.base.definition is None and s.base not in known:
            found[Symbol(s.base)] = None
    return tuple(found)
