"""Constraints that joints cannot say: expressions that are zero, kept by Lagrange multipliers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, cos, sin, substitute
from recursive_dyn.joint import joint_program as core
from scene.body import Body
from scene.joints.surfaces.gliding import frame_factors
from scene.joints.surfaces.surface import Surface
from scene.scalars import lowered

REFUSE, DROP = "refuse", "drop"


@dataclass(frozen=True, eq=False)
class ConstraintGroup:
    """Named rows that are zero, over graph inputs ("parameter", name); ``redundant`` ones are refused or dropped."""

    name: str
    rows: tuple[Scalar, ...]
    redundant: str = REFUSE

    @property
    def row_names(self) -> list[str]:
        """The constraint's name, numbered where it has several rows."""
        return [self.name] if len(self.rows) == 1 else [f"{self.name}[{i}]" for i in range(len(self.rows))]


def constraint(name: str, expressions: Iterable[Any], redundant: str) -> ConstraintGroup:
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
    return ConstraintGroup(name, tuple(lowered(flat, f"constraint '{name}'")), redundant)


def rolling(body: Body, name: str, pivoting: bool) -> ConstraintGroup:
    """Rolling without slip of a body on its parent: the contact point moves over both surfaces by the same way.

    Guenter & Lee (2009), eq. 16: R1^T t1-dot = R2^T t2-dot, here in the frame of the contact, S1 Rz(spin) F = S2.
    pivoting=False adds that the body does not turn about the common normal. ModelError for a body on another joint.
    """
    contact = body.joint.contact if body.joint else None
    if contact is None:
        raise ModelError(
            f"constraint '{name}': body '{body.name}' rolls on its parent only if it hangs on joints.surface_on_surface"
        )
    graph = Graph()
    q, v = ([graph.input(("parameter", s.name)) for s in symbols] for symbols in (body.q, body.v))
    first, second = _twist(contact.first, q[:2], v[:2]), _twist(contact.second, q[2:4], v[2:4])
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
    return ConstraintGroup(name, tuple(rows))


def _twist(surface: Surface, q: list[Scalar], v: list[Scalar]) -> np.ndarray:
    """Twist (6,) of a surface's tangent frame as the contact point moves over it, in its own axes."""
    program = core.build(own := Graph(), frame_factors(own, surface, 0))
    S = program.kinematics().subspace
    inputs: dict[Any, Scalar] = {("q", i): x for i, x in enumerate(q)}
    inputs |= {("parameter", p): q[0].graph.input(("parameter", p)) for p in program.parameters}
    moved = array(substitute(list(S.flat), inputs)).reshape(6, 2)
    return moved @ array(v)
