"""What moves a joint's coordinates in their place: another body's coordinate, or functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.model.specification import Coupling
from scene.number_checks import as_floats
from scene.scalars import lowered


def coupling(leader: str, multiplier: float, offset: float, count: int) -> Coupling:
    """What a joint of ``count`` coordinates follows. ModelError names the leader."""
    if count != 1:
        raise ModelError(f"only a joint of one coordinate can follow '{leader}', this one has {count}")
    numbers = as_floats([multiplier, offset])
    if numbers.shape != (2,) or not np.isfinite(numbers).all() or numbers[0] == 0.0:
        raise ModelError(
            f"a joint that follows '{leader}' needs a finite multiplier other than 0 and a finite offset, both"
            " numbers; scene parameters go into driven(...)"
        )
    return Coupling(leader, *numbers.tolist())


def functions(expressions: tuple[Any, ...], names: Sequence[str], program: JointProgram) -> tuple[Scalar, ...]:
    """One scalar for each of a joint's coordinates, of these names. ModelError for what cannot drive it."""
    if len(expressions) == 1 and isinstance(expressions[0], (tuple, list)):  # body.q is a tuple
        expressions = tuple(expressions[0])
    if len(expressions) != len(names):
        raise ModelError(
            f"a driven joint needs one expression for each of its coordinates ({', '.join(names)}), not"
            f" {len(expressions)}"
        )
    if any(not f.space.flat for f in program.factors):
        raise ModelError("a ball or free joint has no coordinates that can be driven; use joints.euler or a Joint")
    return tuple(lowered(expressions, f"driven joint of ({', '.join(names)})"))
