"""What impulses that ended early throw about lets go: nothing gets faster by far than it was, or would be without them.

Energy does not say so: what a heavy body loses as it sinks by a hair throws a light one away, as do impulses of the
last step of which those on one side of a light body are gone, steps of Newton's method that were not the last, and
stages of impacts that ended at anything. Contacts that are too fast carry nothing then, as if they were open for one,
and sweeps go on from there; without impulses nothing is too fast, so a share of all is not, at last. Where impulses had
to shrink as they brought energy in, sweeps begin anew, from none and without bounces, if that takes more energy away.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island, accumulate, along_three
from recursive_dyn.contact.islands.passivity import Lent, gain, shrink, tame
from recursive_dyn.contact.islands.squeezing import clear
from recursive_dyn.contact.rows.lasting import length
from recursive_dyn.contact.sweeps.mixing import read, unknowns, write
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import ANEW, FAILED, FASTER, LETTINGS, LOOSE


@compiled
def let_go(it: Island, none: Lent, share: float, change: float) -> tuple[bool, float]:
    """Let go what impulses that ended early throw about; (whether they are others now, by how much laws are missed,
    m/s, which was ``change``: by no more than all moves by, as they ask for no more).

    none (n, 3): zeros, for ``tame``, which left so large a share of them.
    """
    if change <= FAILED or _is_driven(it):
        return False, change
    most, fast = FASTER * _freely(it), _fastest(it, 1.0)
    if share == 1.0 and fast <= most:
        return False, max(min(change, 2.0 * fast), FAILED)
    targets = it.targets[:].copy()
    for c in it.contacts:
        it.targets[c] = min(targets[c], 0.0)
    others = share < 1.0 and _found_anew(it, none)
    if _fastest(it, 1.0) > most:
        _loosened(it, none, most)
    elif not others:
        it.targets[:] = targets
        return False, max(min(change, 2.0 * fast), FAILED)
    return True, max(min(change, 2.0 * most), FAILED)


@compiled
def _found_anew(it: Island, none: Lent) -> bool:
    """Whether sweeps from no impulses take more energy away than the island's, whose place they take then."""
    kept, taken = np.empty(unknowns(it)), gain(it, none)[0]
    read(it, kept)
    clear(it)
    for _ in range(ANEW):
        sweep(it, 0.0)
    tame(it, none)
    if gain(it, none)[0] < taken:
        return True
    write(it, kept)
    return False


@compiled
def _loosened(it: Island, none: Lent, most: float) -> None:
    """What is too fast carries nothing, as often as sweeps make anything so; then a share of all."""
    for _ in range(LETTINGS):
        _loosen(it, most)
        sweep(it, 0.0)
        if _fastest(it, 1.0) <= most:
            break
    tame(it, none)
    share = 1.0
    while _fastest(it, share) > most and share > 0.0:
        share = 0.5 * share if share > LOOSE else 0.0
    if share < 1.0:
        shrink(it, share)


@compiled
def _loosen(it: Island, most: float) -> None:
    """Contacts that are too fast carry nothing, nor do those that are by what others then carry."""
    some = True
    while some:
        some = False
        for c in it.contacts:
            if it.P[c, 0] > 0.0 and _speed(it, c, 1.0) > most:
                some = True
                for i in range(6):
                    it.P[c, i] = 0.0
        accumulate(it)


@compiled
def _is_driven(it: Island) -> bool:
    """Whether a motor makes an island as fast as it likes."""
    driven = 0
    for s in it.scalars:
        driven += it.lines.low[s] != 0.0 and it.lines.target[s] != 0.0
    return driven > 0


@compiled
def _freely(it: Island) -> float:
    """How fast, m/s, contacts are as the step begins, or without impulses, or by what laws may be missed by."""
    most, rows = FAILED, it.rows
    for c in it.contacts:
        u = rows.speed[c]
        most = max(most, length(u[0], u[1], u[2]), abs(rows.before[c]))
    return most


@compiled
def _fastest(it: Island, share: float) -> float:
    """How fast contacts are by a share of the impulses."""
    most = 0.0
    for c in it.contacts:
        most = max(most, _speed(it, c, share))
    return most


@compiled
def _speed(it: Island, c: int, share: float) -> float:
    """How fast a contact is by a share of the impulses."""
    u = it.rows.speed[c]
    v0, v1, v2 = along_three(it.rows, c, 0.0, 0.0, 0.0, it.y)
    return length(u[0] + share * v0, u[1] + share * v1, u[2] + share * v2)
