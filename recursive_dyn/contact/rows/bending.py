"""What rests by semi-implicit Euler, whose velocities lie half a step before positions: where the step ends it has the
velocity that keeps to the surface half a step before."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import bend, dot, row
from recursive_dyn.contact.tuning import ALONG


@compiled
def bent(
    problem: ImpulseProblem, rows: ContactRows, same: Integers, targets: Floats
) -> Annotated[np.ndarray, float, 3]:
    """Let what rests move, at the end of a step, as it must where the middle of the step keeps to the surface; what
    rows are slower by for it (n, 3), or none.

    So it is where velocities of the end move positions: they are those of the middle.
    """
    share, count = problem.options.position_share - 0.5, len(same)
    bends = np.zeros((count if share > 0.0 else 0, 3))
    for c in range(len(bends)):
        if same[c] >= 0 and targets[c] == 0.0 and not _meets_elsewhere(problem, c, count):
            b = bend(problem, c, same[c])
            for i in range(3):
                bends[c, i] = dot(row(rows.axes[c, i]), b)
                rows.speed[c, i] -= bends[c, i]
    return bends


@compiled
def _meets_elsewhere(problem: ImpulseProblem, c: int, count: int) -> bool:
    """Whether the bodies of one of so many contacts touch along other normals, too: by friction these hold them at rest
    against each other, which asks for one velocity of them all."""
    contacts, other = problem.contacts, False
    for step in (-1, 1):
        k = c + step
        while 0 <= k < count and contacts.a[k] == contacts.a[c] and contacts.b[k] == contacts.b[c]:
            other = other or dot(row(contacts.normals[k]), row(contacts.normals[c])) < ALONG
            k += step
    return other
