"""What is known of contacts once their impulses are: whether they press smoothly, and what energy they brought in.

That is their debt, by which the next correction (``turning``) is smaller, or larger.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import (
    LASTING,
    UNKNOWN,
    Three,
    closing,
    dot,
    fallen,
    floats,
    known_of,
    length,
    row,
    tree_of,
    turned,
)  # fmt: skip
from recursive_dyn.contact.rows.turning import correction, power
from recursive_dyn.contact.tuning import CREDIT, SLIDING, SMOOTH, SMOOTH_GLIDING


@compiled
def _begun(problem: ImpulseProblem) -> Annotated[np.ndarray, float, 6]:
    """Twists (k, 6) of bodies that impulses are to have met, so that with those of the end they do the work that they
    and moving positions do together: of the start, turned against how the flight turned them by as much more as
    positions follow impulses for more than half of the step."""
    lone, ahead = problem.lone, 2.0 * problem.options.position_share - 1.0
    begun = lone.start.copy()
    for k in problem.moving.lone:
        for i in range(3):
            begun[k, i] -= ahead * (lone.flown[k, i] - lone.start[k, i])
    return begun


@compiled
def judged(
    problem: ImpulseProblem,
    found: Integers,
    same: Integers,
    shares: Floats,
    bounces: Floats,
    pushes: Floats,
    twists: Annotated[np.ndarray, float, 6],
) -> None:
    """Levels and debts of contacts, whose impulses are known: what the next step starts from.

    found, same (n,): earlier contacts nearest to these, and those that these go on; bounces (n,): height to which each
    jumps, or NaN; pushes (n,): impulses times s by which positions were moved besides; twists (k, 6) at the end.
    """
    contacts, w, begun = problem.contacts, np.zeros(9), _begun(problem)
    for c in range(len(same)):
        P, i = row(contacts.impulses[c]), found[c]
        pressed = dot(P, row(contacts.normals[c])) > 0.0
        if contacts.levels[c] == UNKNOWN or not pressed or bounces[c] > 0.0:
            contacts.levels[c], contacts.debts[c] = UNKNOWN, 0.0
            continue
        share = SMOOTH_GLIDING if contacts.gliding[c] != 0 else SMOOTH
        if i >= 0 and _smooth(P, row(problem.earlier.impulses[i]), share):
            contacts.levels[c] = LASTING
        if same[c] < 0:
            continue
        i = same[c]
        if np.isnan(shares[c]):
            contacts.debts[c] = problem.earlier.debts[i]
            continue
        free, end = (
            closing(problem, begun, c, contacts.arms, c),
            closing(problem, twists, c, contacts.arms, c),
        )
        start = turned(problem, c, i, closing(problem, problem.lone.start, c, problem.earlier.arms, i))
        work = 0.5 * (dot(P, free) + dot(P, end)) - lifted(problem, c, pushes[c])
        if shares[c] != 0.0:
            correction(problem, c, i, True, w)
            work += shares[c] * power(problem, c, w, begun, twists)
        rubbed = 0.5 * (_rubbed(problem, c, P, start) + _rubbed(problem, c, P, end))
        goes_on = contacts.levels[c] == LASTING and known_of(problem.earlier, i) == LASTING
        turn = abs(dot(P, free) - dot(P, start)) if goes_on or contacts.gliding[c] != 0 else 0.0
        owed = problem.earlier.debts[i]
        contacts.debts[c] = max(owed + work - rubbed, min(owed, -CREDIT * turn))


@compiled
def _smooth(a: Three, b: Three, share: float) -> bool:
    """Whether two impulses differ by no more than a share of the smaller one."""
    least = min(length(a[0], a[1], a[2]), length(b[0], b[1], b[2]))
    return length(a[0] - b[0], a[1] - b[1], a[2] - b[2]) <= share * least


@compiled
def _rubbed(problem: ImpulseProblem, c: int, P: Three, u: Three) -> float:
    """Work of friction, at most 0, where a contact slides with u and there can be no more of it."""
    n = row(problem.contacts.normals[c])
    normal, bound = dot(P, n), problem.contacts.frictions[c, 1]
    if dot(P, P) - normal * normal < (1.0 - SLIDING) * (bound * normal) ** 2:
        return 0.0
    return min(dot(P, u) - normal * dot(u, n), 0.0)


@compiled
def lifted(problem: ImpulseProblem, c: int, pushed: float) -> float:
    """Minus the energy by which a contact's push of positions lifted its bodies."""
    n, total = row(problem.contacts.normals[c]), 0.0
    for side in range(2):
        k = tree_of(problem, c, side)
        if floats(problem, k):
            total += (1.0 - 2.0 * side) * pushed * dot(n, row(problem.lone.gravity))
        elif k >= 0:
            total += (1.0 - 2.0 * side) * pushed * dot(n, fallen(problem, k)) / problem.options.h
    return total
