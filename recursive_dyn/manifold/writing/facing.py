"""Dot products as a person would write them: the variation first, (xi x q) . tau, or else what moves, q . e3."""

from __future__ import annotations

from recursive_dyn.manifold.formula.formula import Apply, Cross, Dot, Formula, Symbol, Transpose
from recursive_dyn.manifold.formula.operations import transpose
from recursive_dyn.manifold.writing.roles import Roles


def facing(dot: Formula, roles: Roles) -> tuple[int, Formula]:
    """(sign, the dot product written otherwise)."""
    if not isinstance(dot, Dot):
        return 1, dot
    a, b = dot.left, dot.right
    if b.varied:
        a, b = b, a
    if not a.varied:
        return 1, _resting(a, b)
    while isinstance(a, Apply) and a.right.varied:
        b = Apply(transpose(a.left), b)
        a = a.right
    if not isinstance(a, Cross):
        return 1, Dot(a, b)
    return _triple(a, b, roles)


def _resting(a: Formula, b: Formula) -> Dot:
    if isinstance(b, Apply) and isinstance(b.left, Transpose) and not isinstance(b.right, Apply):
        a, b = b.right, Apply(b.left.of, a)
    elif _is_constant(a) and not _is_constant(b):
        a, b = b, a
    return Dot(a, b)


def _is_constant(f: Formula) -> bool:
    return f.constant if isinstance(f, Symbol) else all(_is_constant(c) for c in f.children)


def _triple(a: Cross, b: Formula, roles: Roles) -> tuple[int, Formula]:
    """(xi x q) . b and (Omega x eta) . b where the variation's own variable occurs, else what is simple first."""
    sign = 1
    u, v = a.left, a.right
    if v.varied:
        u, v, sign = v, u, -1
    owner = roles.owner(u)
    partner = None if owner is None else owner.base.rate or owner
    if v != partner and (b == partner or (isinstance(b, Symbol) and not isinstance(v, Symbol))):
        v, b, sign = b, v, -sign
    if partner is not None and partner != owner and v == partner:
        return -sign, Dot(Cross(v, u), b)
    return sign, Dot(Cross(u, v), b)
