"""Collecting: an expression that is linear in variations becomes sum of variation . cofactor, by adjoints.

u . (xi x v) = xi . (v x u), w . (M u) = u . (M^T w): whatever is wrapped around a variation moves to the other side of
the dot product, one operation at a time.
"""

from __future__ import annotations

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.nodes import Apply, Cross, Dot, Formula, Hat
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Form, add_to, combine, formula, single, times
from recursive_dyn.manifold.normal.normal_form import apply_atoms, cross_atoms, transposed_atom


def isolate(form: Form) -> dict[Symbol, Form]:
    """Cofactors by variation: form = sum of symbol . cofactor (times it, for scalars); ModelError if not linear."""
    result: dict[Symbol, Form] = {}
    for (factors, atom), coefficient in form.items():
        hot = [pair for pair in factors if pair[0].varied]
        swept = _sweep(hot[0][0], single(None)) if [exponent for _, exponent in hot] == [1] else None
        if swept is None:
            term = formula({(factors, atom): coefficient}, ())
            raise ModelError(
                f"the term {term} is not linear in variations; virtual work is written with one variation in each term,"
                " as delta(q).dot(tau) or R.virtual.dot(M)"
            )
        cold = tuple(pair for pair in factors if pair not in hot)
        add_to(result.setdefault(swept[0], {}), times({(cold, None): coefficient}, swept[1]))
    return {symbol: cofactor for symbol, cofactor in result.items() if cofactor}


def _sweep(f: Formula, w: Form) -> tuple[Symbol, Form] | None:
    """(u, A) with f . w = u . A (or products, of scalars), u the one variation in f; None where there are more."""
    match f:
        case Symbol():
            return f, w
        case Dot(x, y) if x.varied and not y.varied:
            return _sweep(x, single(y))
        case Dot(x, y) if y.varied and not x.varied:
            return _sweep(y, single(x))
        case Cross(x, y) if x.varied and not y.varied:
            return _sweep(x, combine(single(y), w, cross_atoms))
        case Cross(x, y) if y.varied and not x.varied:
            return _sweep(y, combine(w, single(x), cross_atoms))
        case Apply(Hat(h), x) if h.varied and not x.varied:
            return _sweep(h, combine(single(x), w, cross_atoms))
        case Apply(m, x) if not m.varied:
            return _sweep(x, combine(transposed_atom(m), w, apply_atoms))
    return None
