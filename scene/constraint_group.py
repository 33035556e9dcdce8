"""Constraints that joints cannot say: expressions that are zero, kept by Lagrange multipliers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, cos, less, select, sin
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.joint import charted_program
from recursive_dyn.joint import joint_program as core
from recursive_dyn.joint.charted_program import chart_name, in_force
from scene.body import Body
from scene.joints.surfaces import pole_charts
from scene.joints.surfaces.gliding import charted_factors, frame_factors
from scene.joints.surfaces.surface_contact import SurfaceContact
from scene.number_checks import as_floats
from scene.scalars import lowered

REFUSE, DROP = "refuse", "drop"


@dataclass(frozen=True, eq=False)
class ConstraintGroup:
    """Named rows that are zero, over graph inputs ("parameter", name); ``redundant`` ones are refused or dropped.
    strength: the norm of multipliers above which it breaks."""

    name: str
    rows: tuple[Scalar, ...]
    redundant: str = REFUSE
    strength: float = np.inf

    @property
    def row_names(self) -> list[str]:
        """The constraint's name, numbered where it has several rows."""
        return [self.name] if len(self.rows) == 1 else [f"{self.name}[{i}]" for i in range(len(self.rows))]


def strength_of(name: str, force: Any) -> float:
    """What a constraint bears, a number above 0; ModelError names the constraint."""
    size = float(as_floats(force)) if as_floats(force).shape == () else np.nan
    if not size > 0.0:
        raise ModelError(f"constraint '{name}' breaks at a force above 0, or never at infinity, not {size:g}")
    return size


def constraint(name: str, expressions: Iterable[Any], redundant: str, breaks_at: Any = np.inf) -> ConstraintGroup:
    """The constraint of SymPy expressions, vectors of them flattened. ModelError names what is wrong."""
    import sympy

    if not isinstance(name, str) or not name:
        raise ModelError(f"a constraint's name is a text that is not empty, not {name!r}")
    if redundant not in (REFUSE, DROP):
        raise ModelError(f"constraint '{name}': redundant is '{REFUSE}' or '{DROP}', not {redundant!r}")
    flat: list[Any] = []
    for e in expressions:
        e = e.flat if isinstance(e, np.ndarray) else e
        flat += list(e) if isinstance(e, (sympy.MatrixBase, list, tuple, np.flatiter)) else [e]
    if not flat:
        raise ModelError(f"constraint '{name}' has no expressions")
    for e in flat:
        if isinstance(e, sympy.core.relational.Relational) or e in (sympy.true, sympy.false):
            raise ModelError(
                f"constraint '{name}': write left - right, which is to be zero, not an equation or inequality; limits"
                " of coordinates belong to joints"
            )
    return ConstraintGroup(name, tuple(lowered(flat, f"constraint '{name}'")), redundant, strength_of(name, breaks_at))


def rolling(body: Body, name: str, pivoting: bool, breaks_at: Any = np.inf) -> ConstraintGroup:
    """Rolling without slip of a body on its parent: the contact point moves over both surfaces by the same way.

    Guenter & Lee (2009), eq. 16: R1^T t1-dot = R2^T t2-dot, here in the frame of the contact, S1 Rz(spin) F = S2.
    pivoting=False adds that the body does not turn about the common normal. Of a joint of several charts there are rows
    in each, of which the chart in force selects. ModelError for a body on another joint.
    """
    parts = () if body.joint is None else body.joint.charts or (body.joint,)
    of_one_formula = body.joint is not None and len(parts) > 1 and body.joint.contact is not None
    contacts = [part.contact for part in parts[: 1 if of_one_formula else None] if part.contact is not None]
    if not contacts or (len(contacts) < len(parts) and not of_one_formula):
        raise ModelError(
            f"constraint '{name}': body '{body.name}' rolls on its parent only if it hangs on"
            " joints.surface_on_surface; on any other joint a wheel of its does, scene.roll(body, radius=...), but no"
            " point that glides on a surface"
        )
    graph = Graph()
    q, v = ([graph.input(("parameter", s.name)) for s in symbols] for symbols in (body.q, body.v))
    chart = graph.input(("parameter", chart_name(body.name)))
    rows = [_rolling_rows(contact, q, v, pivoting, chart if of_one_formula else None) for contact in contacts]
    chosen = in_force(chart, rows)
    if len(parts) > 1:
        chosen = _in_every_chart(chart, chosen)
    return ConstraintGroup(name, tuple(chosen), strength=strength_of(name, breaks_at))


def _in_every_chart(chart: Scalar, rows: np.ndarray) -> np.ndarray:
    """Rows that say that they serve in all charts, though those of a sphere are the same in each."""
    return array([select(less(chart, 0.5), row, row) for row in rows])


def pivoting_rate(contact: SurfaceContact, q: list[Scalar], v: list[Scalar], chart: Scalar) -> Scalar:
    """How fast a body turns on its parent about the common normal of their surfaces, in any of the joint's charts."""
    return _in_every_chart(chart, _rolling_rows(contact, q, v, False, chart))[2]


def _rolling_rows(
    contact: SurfaceContact, q: list[Scalar], v: list[Scalar], pivoting: bool, chart: Scalar | None
) -> np.ndarray:
    """What is zero (2,), or (3,) without pivoting, of two surfaces at coordinates and rates of a body's joint."""
    frames = _frames(contact, chart)
    first, second = (_twist(frame, q[k : k + 2], v[k : k + 2]) for frame, k in zip(frames, (0, 2), strict=True))
    angle = q[4] + contact.turn if contact.spins else contact.turn
    side = -1.0 if contact.flip else 1.0
    c, s = cos(angle), sin(angle)
    rows = [
        first[3] - (c * second[3] - s * second[4] * side),
        first[4] - (s * second[3] + c * second[4] * side),
    ]
    if not pivoting:
        spin = v[4] if contact.spins else 0.0
        rows.append(first[2] + spin - second[2] * side)
    return array(rows)


def _frames(contact: SurfaceContact, chart: Scalar | None) -> list[tuple[core.JointProgram, dict[Any, Scalar]]]:
    """Both surfaces' tangent frames, but for turns that are fixed in a chart, and the sizes in force that they take."""
    sides = ((contact.first, "first"), (contact.second, "second"))
    if chart is None:
        return [(core.build(own := Graph(), frame_factors(own, s, 0)), {}) for s, _ in sides]
    first, second = (pole_charts.turns(s, back=False) for s, _ in sides)
    numbers = charted_program.sides(chart, len(first.poses), len(second.poses))
    sizes = charted_program.sizes_in_force(chart.graph, *numbers, first, second)
    return [(core.build(own := Graph(), charted_factors(own, s, 0, side)), sizes) for s, side in sides]


def _twist(frame: tuple[core.JointProgram, dict[Any, Scalar]], q: list[Scalar], v: list[Scalar]) -> np.ndarray:
    """Twist (6,) of a surface's tangent frame as the contact point moves over it, in its own axes."""
    program, inputs = frame
    S = program.kinematics().subspace
    inputs = inputs | {("q", i): x for i, x in enumerate(q)}
    inputs |= {("parameter", p): q[0].graph.input(("parameter", p)) for p in program.parameters}
    moved = array(substitute(list(S.flat), inputs)).reshape(6, 2)
    return moved @ array(v)
