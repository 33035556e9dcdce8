"""What is lifted where nothing turns is owed by what turns.

What rocks on a plate pushes it into the floor, and both are lifted out of it again: the floor's contacts, which rest,
or the stop of a lift, bring that in, and no correction of theirs could give it back. So it is added to the debts of
those contacts of the island whose corrections do work, each as much of it as its correction does.
"""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.islands.islands import Partition, member
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.judging import lifted
from recursive_dyn.contact.rows.lasting import UNKNOWN
from recursive_dyn.contact.rows.scalar_rows import directed
from recursive_dyn.contact.tuning import LITTLE


@compiled
def owe_lifts(
    problem: ImpulseProblem, whole: Island, these: Partition, found: Integers, same: Integers, powers: Floats,
    bounces: Floats, pushes: Floats,
) -> None:  # fmt: skip
    """Add to the debts of contacts, which are judged.

    found, same (n,): earlier contacts nearest to these, and those that these go on; powers (n,): what corrections do,
    J; of contacts and scalar rows (n + m,): bounces, height to which each jumps, or NaN, and pushes, impulses times s
    by which positions were moved besides.
    """
    n, debts = len(same), problem.contacts.debts
    for k in range(these.total[0]):
        it, total, turning, most = member(whole, these, k), 0.0, 0.0, 0.0
        for c in it.contacts:
            most = max(most, abs(powers[c]))
        if most == 0.0:
            continue
        for c in it.contacts:
            if found[c] >= 0 and same[c] < 0 and not bounces[c] > 0.0:
                total -= lifted(problem, c, pushes[c])
            elif abs(powers[c]) <= LITTLE * most:
                total += debts[c] if debts[c] > 0.0 else min(-lifted(problem, c, pushes[c]), 0.0)
                debts[c] = 0.0
            elif problem.contacts.levels[c] != UNKNOWN:
                turning += abs(powers[c])
        for s in it.scalars:
            if pushes[n + s] != 0.0:
                fall = directed(problem.rows, s, problem.v) - directed(problem.rows, s, problem.start_v)
                total -= pushes[n + s] * fall / problem.options.h
        for c in it.contacts:
            if problem.contacts.levels[c] != UNKNOWN and abs(powers[c]) > LITTLE * most:
                debts[c] += total * abs(powers[c]) / turning
