"""The seven steps from a Lagrangian to equations of motion (Bittner & Sreenath 2016, sections 2.2 and 3.4).

action, variation, substitute_constraints, collect, integrate_by_parts, collect, extract: each takes what the one before
returned, and what it returns prints as text and LaTeX. Names that abbreviate formulas (``define``) are varied as if
they were free; their variations are replaced once no derivative is left on any, which keeps equations compact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.derivation.action import Action, Collection, Step, Variation
from recursive_dyn.manifold.derivation.adjoint import isolate
from recursive_dyn.manifold.derivation.equations_of_motion import Equations
from recursive_dyn.manifold.derivation.nonholonomic import multiplier_work
from recursive_dyn.manifold.derivation.variational_problem import VariationalProblem, as_scalar, listed
from recursive_dyn.manifold.formula.calculus import delta, effective, in_displacements
from recursive_dyn.manifold.formula.calculus import replace as replaced
from recursive_dyn.manifold.formula.nodes import ZERO, Formula
from recursive_dyn.manifold.formula.operations import dot, zero
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Form, formula, gathered, negative
from recursive_dyn.manifold.normal.normal_form import form_rate, normal
from recursive_dyn.manifold.writing.equation import Equation


def action(
    lagrangian: Formula,
    virtual_work: Formula | None,
    configuration: Sequence[Symbol] | Symbol,
    constraints: Sequence[Formula] | Formula = (),
    prescribed: Sequence[Symbol] | Symbol = (),
) -> Action:
    """Step 1: check and put together what is given; see :func:`derive` for the arguments and errors."""
    moving = listed(prescribed, "prescribed motion")
    problem = VariationalProblem(
        as_scalar(lagrangian, "Lagrangian"), as_scalar(ZERO if virtual_work is None else virtual_work, "virtual work"),
        listed(configuration, "configuration"),
        (*moving, *(s.velocity for s in moving if isinstance(s, Symbol) and s.base.is_rotation)),
        listed(constraints, "constraints"),
    )  # fmt: skip
    taken = problem.check()
    turning = {q.virtual: effective(q) for q in problem.configuration}  # moments on q act at right angles to it
    work = replaced(problem.virtual_work, lambda s: turning.get(s, s))
    multipliers, reaction = multiplier_work(problem, taken)
    problem = replace(problem, virtual_work=work, multipliers=multipliers, reaction=reaction)
    return Action(problem, "action", problem.lagrangian)


def _expect(step: object, kinds: type | tuple[type, ...], function: str) -> None:
    if not isinstance(step, kinds):
        raise ModelError(
            f"{function} was given {type(step).__name__}: the steps are action, variation, substitute_constraints,"
            " collect, integrate_by_parts, collect, extract, each of what the one before returned"
        )


def variation(step: Action) -> Variation:
    """Step 2: delta S, by Leibniz's rule; the variation of a derivative is the derivative of the variation."""
    _expect(step, Action, "variation")
    problem = step.problem
    still = problem.given
    work = replaced(problem.virtual_work, lambda s: zero(s.shape) if s.is_variation and s.base in still else s)
    varied = delta(problem.lagrangian, problem.prescribed)
    return Variation(problem, "variation", varied + work + problem.reaction)


def substitute_constraints(step: Variation) -> Variation:
    """Step 3: delta q = xi x q on S^2; delta R = R hat(eta), delta Omega = eta' + Omega x eta on SO(3)."""
    _expect(step, Variation, "substitute_constraints")
    return Variation(step.problem, "constraint substitution", _on_manifold(step.formula, step.problem))


def _on_manifold(f: Formula, problem: VariationalProblem) -> Formula:
    return replaced(f, lambda s: in_displacements(s, problem.spinning))


def collect(step: Variation | Collection) -> Collection:
    """Steps 4 and 6: the cofactor of every variation, by moving what is around it across the dot product."""
    _expect(step, (Variation, Collection), "collect")
    problem = step.problem
    if isinstance(step, Variation):
        terms = isolate(normal(step.formula))
    else:
        terms = gathered(step.terms)
        if not step.has_derivatives:
            terms = _resolved(terms, problem)
    places = {q.virtual.base: i for i, q in enumerate(problem.configuration)}  # the highest derivatives come first
    order = sorted(terms, key=lambda s: (places.get(s.base, len(places)), -s.order, problem.ranks.get(s.base, 0)))
    return Collection(problem, "collection", tuple((s, terms[s]) for s in order if terms[s]))


def _resolved(terms: dict[Symbol, Form], problem: VariationalProblem) -> dict[Symbol, Form]:
    """Variations of abbreviations replaced by those of what they stand for."""
    while any(symbol.base.definition is not None for symbol in terms):
        terms = gathered(pair for term in terms.items() for pair in _defined(*term, problem))
        if any(symbol.order for symbol in terms):
            break
    return terms


def _defined(symbol: Symbol, form: Form, problem: VariationalProblem) -> Iterable[tuple[Symbol, Form]]:
    """The term of a variation; of an abbreviation's, those of what it stands for."""
    if symbol.base.definition is None or symbol.order:
        return [(symbol, form)]
    change = _on_manifold(delta(symbol.base.definition, problem.prescribed), problem)
    cofactor = formula(form, symbol.shape)
    return isolate(normal(dot(change, cofactor) if symbol.shape else change * cofactor)).items()


def integrate_by_parts(step: Collection) -> Collection:
    """Step 5: u' . A becomes - u . A', as variations vanish at both ends of the path."""
    _expect(step, Collection, "integrate_by_parts")
    terms: list[tuple[Symbol, Form]] = []
    for symbol, form in step.terms:
        for _ in range(symbol.order):
            form = negative(form_rate(form))
        terms.append((Symbol(symbol.base, 0, symbol.is_variation), form))
    return Collection(step.problem, "integration by parts", tuple(pair for pair in terms if pair[1]))


def extract(step: Collection, steps: Sequence[Step] = ()) -> Equations:
    """Step 7: the variations are free, so that each cofactor is zero: a row for each configuration variable."""
    _expect(step, Collection, "extract")
    problem = step.problem
    cofactors = dict(step.terms)
    if len(cofactors) < len(step.terms) or any(s.order or s.base.definition for s in cofactors):
        raise ModelError("the variations are not collected yet: integrate by parts and collect before extracting")
    cofactor = {q: negative(cofactors.get(q.virtual, {})) for q in problem.configuration}
    rows = tuple(Equation(q, form, problem.roles(q.virtual)) for q, form in cofactor.items())
    return Equations(
        rows, problem.configuration, problem.inputs, problem.lagrangian, problem.virtual_work, problem.constraints,
        problem.multipliers, tuple(steps),
    )  # fmt: skip


def derive(
    lagrangian: Formula,
    virtual_work: Formula | None = None,
    configuration: Sequence[Symbol] | Symbol = (),
    constraints: Sequence[Formula] | Formula = (),
    prescribed: Sequence[Symbol] | Symbol = (),
) -> Equations:
    """Equations of motion from L and the virtual work, by Hamilton's and d'Alembert's principles.

    lagrangian: a scalar formula of the configuration, its derivatives and constants; virtual_work: a scalar formula
    linear in variations, delta(q).dot(tau) + R.virtual.dot(M), or None; configuration: unit vectors, rotations, vectors
    and scalars that move; constraints: formulas linear in velocity that stay zero, which enter by multipliers
    (Lagrange-d'Alembert); prescribed: symbols that move in a way that is given.

    ModelError names a symbol that is neither constant, nor in the configuration, nor prescribed. The steps are kept in
    ``steps`` (Bittner & Sreenath 2016, section 3.4).
    """
    first = action(lagrangian, virtual_work, configuration, constraints, prescribed)
    varied = variation(first)
    substituted = substitute_constraints(varied)
    collected = collect(substituted)
    steps: list[Step] = [first, varied, substituted, collected]
    while True:
        parts = integrate_by_parts(collected)
        collected = collect(parts)
        steps += [parts, collected]
        if not collected.has_derivatives:
            return extract(collected, steps)
