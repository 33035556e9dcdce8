"""Collecting: an expression that is linear in variations becomes sum of variation . cofactor, by adjoints.

u . (xi x v) = xi . (v x u), w . (M u) = u . (M^T w): whatever is wrapped around a variation moves to the other side of
the dot product, one operation at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.nodes import Apply, Cross, Dot, Formula, Hat
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.atoms import apply_atoms, cross_atoms, transposed_atom
from recursive_dyn.manifold.normal.forms import Form, combine, formula, gathered, single, times
from recursive_dyn.manifold.normal.polynomial import Polynomial


def isolate(form: Form) -> dict[Symbol, Form]:
    """Cofactors by variation: form = sum of symbol . cofactor (times it, for scalars); ModelError if not linear."""
    return {symbol: cofactor for symbol, cofactor in gathered(_linear_terms(form)).items() if cofactor}


def _linear_terms(form: Form) -> Iterator[tuple[Symbol, Form]]:
    for (dots, _), p in form.items():
        hot = [d for d in dots if d.varied]
        cold = tuple(d for d in dots if not d.varied)
        if len(hot) > 1:
            raise _not_linear({(dots, None): p})
        for varied, coefficient in _parts(p).items():
            outer: Form = {(cold, None): coefficient}
            if hot and varied is None and isinstance(hot[0], Dot):
                symbol, cofactor = _swept(hot[0])
                yield symbol, times(outer, cofactor)
            elif not hot and varied is not None:
                yield varied, outer
            else:
                raise _not_linear({(dots, None): coefficient})


def _parts(p: Polynomial) -> dict[Symbol | None, Polynomial]:
    """The polynomial's terms by the scalar variation in them, which is divided out."""
    result: dict[Symbol | None, Polynomial] = {}
    for monomial, value in p.items():
        varied = [(s, e) for s, e in monomial if s.varied]
        if len(varied) > 1 or (varied and varied[0][1] != 1):
            raise _not_linear({((), None): {monomial: value}})
        symbol = varied[0][0] if varied else None
        rest = tuple(pair for pair in monomial if pair[0] is not symbol)
        result.setdefault(symbol, {})[rest] = value
    return result


def _swept(dot: Dot) -> tuple[Symbol, Form]:
    a, b = dot.left, dot.right
    if a.varied and b.varied:
        raise _not_linear({((dot,), None): {(): 1}})
    return _sweep(a, single(b)) if a.varied else _sweep(b, single(a))


def _sweep(atom: Formula, w: Form) -> tuple[Symbol, Form]:
    """(u, A) with atom . w = u . A, u the variation within the atom."""
    match atom:
        case Symbol():
            return atom, w
        case Cross(x, y) if x.varied and not y.varied:
            return _sweep(x, combine(single(y), w, cross_atoms))
        case Cross(x, y) if y.varied and not x.varied:
            return _sweep(y, combine(w, single(x), cross_atoms))
        case Apply(Hat(h), x) if h.varied and not x.varied:
            return _sweep(h, combine(single(x), w, cross_atoms))
        case Apply(m, x) if not m.varied:
            return _sweep(x, combine(transposed_atom(m), w, apply_atoms))
    raise _not_linear({((Dot(atom, atom),), None): {(): 1}})


def _not_linear(form: Form) -> ModelError:
    return ModelError(
        f"the term {formula(form, ())} is not linear in variations; virtual work is written with one variation in each"
        " term, as delta(q).dot(tau) or R.virtual.dot(M)"
    )
