"""Closed forms of planar loops, for joints that are driven by one coordinate: four-bar and slider-crank linkages.

Angles are in the plane of the linkage, measured from the line of the ground link (or of the slide) at the crank's
pivot; SymPy expressions of the crank's angle. A loop built with them is a tree: ``joint.driven(expression)``.
"""

from __future__ import annotations

import math
from typing import Any

from recursive_dyn.errors import ModelError
from scene.number_checks import entries, is_symbolic, positive


def four_bar(angle: Any, crank: Any, coupler: Any, rocker: Any, ground: Any, crossed: bool = False) -> tuple[Any, Any]:
    """(angle of the coupler, angle of the rocker) of a four-bar linkage whose crank stands at ``angle``.

    The crank turns about the origin, the rocker about (ground, 0); the coupler joins their ends. Lengths in m, numbers
    or scene parameters. crossed: the other way to close the loop. ModelError for lengths that never close, or that can
    fold flat: there the loop may go on in two ways. The crank of a linkage that is not of Grashof's kind cannot go all
    around: limit it to :func:`crank_range`.
    """
    import sympy as sp

    a, b, c, d = _lengths("four_bar", crank=crank, coupler=coupler, rocker=rocker, ground=ground)
    _refuse_text("four_bar", angle)
    _refuse_open("four_bar", a, b, c, d)
    if not crossed and _equal(a, c) and _equal(b, d):  # a parallelogram stays one
        return sp.Integer(0), sp.sympify(angle)
    _refuse_folding(a, b, c, d)
    x, y = a * sp.cos(angle) - d, a * sp.sin(angle)  # from the rocker's pivot to the crank's end
    square = x**2 + y**2
    inner = sp.acos((square + c**2 - b**2) / (2 * c * sp.sqrt(square)))
    rock = sp.atan2(y, x) + (inner if crossed else -inner)
    lean = sp.atan2(c * sp.sin(rock) - y, c * sp.cos(rock) - x)
    return lean, rock


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b) if is_symbolic(a) or is_symbolic(b) else math.isclose(a, b, rel_tol=1e-12)


def _refuse_folding(*lengths: Any) -> None:
    if any(map(is_symbolic, lengths)):
        return
    short, second, third, long = sorted(lengths)
    if math.isclose(short + long, second + third, rel_tol=1e-12):
        raise ModelError(
            f"four_bar: lengths {', '.join(map(str, lengths))} fold flat, and go on from there in two ways; change one"
            " a little, or close the loop with scene.constrain"
        )


def crank_range(crank: float, coupler: float, rocker: float, ground: float) -> tuple[float, float]:
    """(low, high) of the crank's angle, rad, between which the loop closes; (-inf, inf) where it always does."""
    lengths = _lengths("crank_range", crank=crank, coupler=coupler, rocker=rocker, ground=ground)
    if any(map(is_symbolic, lengths)):
        raise ModelError("crank_range: its lengths are numbers; take those of the parameters")
    a, b, c, d = (float(x) for x in lengths)
    _refuse_open("crank_range", a, b, c, d)
    near, far = (_cosine(a, d, reach) for reach in (abs(b - c), b + c))
    if near >= 1.0 and far <= -1.0:
        return -math.inf, math.inf
    low = math.acos(near) if near < 1.0 else -math.acos(max(far, -1.0))
    return low, math.acos(far) if far > -1.0 else 2.0 * math.pi - low


def _cosine(a: float, d: float, reach: float) -> float:
    """Cosine of the crank's angle at which its end is ``reach`` from the rocker's pivot."""
    return (a * a + d * d - reach * reach) / (2.0 * a * d)


def slider_crank(angle: Any, crank: Any, rod: Any, offset: Any = 0.0) -> tuple[Any, Any]:
    """(angle of the rod, distance of the slider along x) of a crank at ``angle`` about the origin.

    The slider runs along the line y = offset, m. ModelError for a rod that is too short for the crank to go around.
    """
    import sympy as sp

    r, l = _lengths("slider_crank", crank=crank, rod=rod)
    _refuse_text("slider_crank", angle)
    offset = entries("slider_crank", "offset", offset, ()).item()
    if not is_symbolic(offset) and not math.isfinite(offset):
        raise ModelError(f"slider_crank: offset must be finite, not {offset}")
    if not any(map(is_symbolic, (r, l, offset))) and l <= r + abs(float(offset)):
        raise ModelError(
            f"slider_crank: a rod of {l} m does not reach the slide all around (crank {r}, offset {offset}); lengthen"
            " it"
        )
    rise = offset - r * sp.sin(angle)
    return sp.asin(rise / l), r * sp.cos(angle) + sp.sqrt(l**2 - rise**2)


def _lengths(what: str, **values: Any) -> list[Any]:
    return [positive(what, f"the {name}", value) for name, value in values.items()]


def _refuse_text(what: str, angle: Any) -> None:
    if isinstance(angle, str):  # SymPy would execute it
        raise ModelError(f"{what}: the crank's angle is a SymPy expression or a number, not the text {angle!r:.60}")


def _refuse_open(what: str, *lengths: Any) -> None:
    if any(map(is_symbolic, lengths)):
        return
    longest = max(lengths)
    if longest >= sum(lengths) - longest:
        raise ModelError(
            f"{what}: lengths {', '.join(map(str, lengths))} never close: the longest must be shorter than the others"
            " together"
        )
