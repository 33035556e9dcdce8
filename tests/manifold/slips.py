"""Every formula that differs from a given one by one slip of the pen."""

from recursive_dyn.manifold.formula.nodes import Apply, Cross, Number, Power, Product, Sum, Transpose
from recursive_dyn.manifold.formula.operations import cross, multiply, power, total, transpose
from recursive_dyn.manifold.formula.symbol import Symbol


def slips(f, symbols):
    """(what was done, the formula with it): signs, lost terms, lost factors, other symbols, orders and transposes."""
    yield from _here(f, symbols)
    for i, child in enumerate(f.children):
        for what, other in slips(child, symbols):
            yield what, _rebuilt(f, i, other)


def _here(f, symbols):
    match f:
        case Symbol():
            for other in symbols:
                if other != f and _alike(f, other):
                    yield f"{other} for {f}", other
            if f.order and not f.constant:
                yield f"a derivative less of {f}", Symbol(f.base, f.order - 1)
        case Number(value):
            yield f"lost {f}", Number(value / value)
            yield f"twice {f}", Number(value * 2)
        case Sum(terms, shape):
            for i, term in enumerate(terms):
                rest = [*terms[:i], *terms[i + 1 :]]
                yield f"lost {term}", total(rest, shape)
                yield f"sign of {term}", total([*rest, -term], shape)
        case Product(factors):
            for i, factor in enumerate(factors[:-1]):
                yield f"lost {factor} of {f}", _product([*factors[:i], *factors[i + 1 :]])
        case Power(scalar, exponent):
            yield f"exponent of {f}", power(scalar, exponent - 1)
        case Cross(a, b):
            yield f"order of {f}", cross(b, a)
        case Apply(a, b) if a.shape[0] == a.shape[1]:
            yield f"lost {a} of {f}", b
            if transpose(a) != a:
                yield f"transpose of {a} in {f}", transpose(a) * b


def _alike(a, b):
    """Symbols that are mistaken for each other: of one shape and role."""
    kinds = [(s.shape, s.constant, s.base.space, s.base.symmetric, s.order) for s in (a, b)]
    return kinds[0] == kinds[1] and a.base.name[0] == b.base.name[0]


def _product(factors):
    result = factors[-1]
    for factor in reversed(factors[:-1]):
        result = multiply(factor, result)
    return result


def _rebuilt(f, i, child):
    children = [*f.children[:i], child, *f.children[i + 1 :]]
    match f:
        case Sum(_, shape):
            return total(children, shape)
        case Product():
            return _product(children)
        case Power(_, exponent):
            return power(child, exponent)
        case Cross():
            return cross(*children)
        case Apply():
            return multiply(*children)
        case Transpose():
            return transpose(child)
    raise AssertionError(f"a slip within {f!r}")
