"""Which islands fall asleep at the end of a step: those all of whose trees rested for a while, and press on something.

Rest is a speed that solves leave where nothing moves, and no way that adds up. What turns back at the end of its way is
as slow for a moment only, what creeps gets on, what floats or hangs freely presses on nothing: none of these ever
sleeps.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable, copy_contacts
from recursive_dyn.contact.islands.islands import leader_of
from recursive_dyn.contact.tuning import RESTING_SPEED, RESTING_WAY
from recursive_dyn.simulation.kept.sleeping import Sleepers, Slept, is_asleep, move_contact, tree_of, wake


@compiled
def fell_asleep(
    it: Sleepers, known: Slept, contacts: ContactTable, twists: Floats, q: Floats, v: Floats, tau: Floats,
    drives: Integers, acting: Integers, parameters: Floats, h: float, step: float,
) -> bool:  # fmt: skip
    """Whether any tree did after a step, or part of one, of length h that ended with these contacts: it stands then.

    twists (6 nb,) of the bodies; drives, acting (nv,): 1 for slots with motors, or that are pushed.
    """
    trees = len(it.restless)
    stirred, ready = np.zeros(trees, dtype=np.bool_), False
    _stir(it, twists, tau, drives, acting, stirred)
    moving = it.moving_places[: it.counts[4]]
    for k in moving:
        if it.places[k] >= 0:
            if known.rested[it.places[k]] == 0.0:
                known.q[k] = q[k]  # where its rest begins, whatever was before: snapshots of what moves leave it out
            elif not abs(q[k] - known.q[k]) <= RESTING_WAY:
                stirred[it.places[k]] = True
    for tree in range(trees):
        if known.rested[tree] < 0.0:
            if stirred[tree]:
                wake(known, tree)
        elif stirred[tree] or it.restless[tree] != 0 or it.calm[0] == 0:
            known.rested[tree] = 0.0
        else:
            known.rested[tree] += h
            ready = ready or (h == step and known.rested[tree] >= it.after[0])  # impulses of parts would be too small
    known.parameters[:] = parameters
    known.step[0] = step
    fell = ready and _islands(it, known, contacts)
    for k in moving:
        if it.places[k] >= 0 and (stirred[it.places[k]] or (fell and known.rested[it.places[k]] < 0.0)):
            known.q[k] = q[k]
    if not fell:
        return False
    for k in range(len(v)):
        if is_asleep(known, it.slots[k]):
            v[k] = 0.0
    return True


@compiled
def _stir(it: Sleepers, twists: Floats, tau: Floats, drives: Integers, acting: Integers, stirred: Flags) -> None:
    """Mark trees that move or are driven."""
    for k in range(len(it.bodies)):
        if it.bodies[k] >= 0 and it.dormant[k] == 0:
            square = 0.0
            for i in range(6):
                square += twists[6 * k + i] * twists[6 * k + i]
            if not square <= RESTING_SPEED * RESTING_SPEED:
                stirred[it.bodies[k]] = True
    for k in range(len(tau)):
        if tau[k] != 0.0 or drives[k] != 0 or acting[k] != 0:
            stirred[it.slots[k]] = True


@compiled
def _islands(it: Sleepers, known: Slept, contacts: ContactTable) -> bool:
    """Let islands sleep of which every tree is ready to, and presses on something; whether there are any."""
    trees, found = len(it.restless), False
    leader, pressed, awake = np.empty(trees, dtype=np.int64), np.zeros(trees), np.zeros(trees, dtype=np.bool_)
    for tree in range(trees):
        leader[tree] = tree
    for c in range(contacts.size[0]):
        a, b, normal = tree_of(it, contacts.a[c]), tree_of(it, contacts.b[c]), 0.0
        for i in range(3):
            normal += contacts.impulses[c, i] * contacts.normals[c, i]
        if a >= 0 and b >= 0:
            one, other = leader_of(leader, a), leader_of(leader, b)
            leader[max(one, other)] = min(one, other)
        if a >= 0:
            pressed[a] = max(pressed[a], normal)
        if b >= 0:
            pressed[b] = max(pressed[b], normal)
    for tree in range(trees):
        if not (known.rested[tree] >= it.after[0] and pressed[tree] > 0.0):
            awake[leader_of(leader, tree)] = True
    for tree in range(trees):
        island = leader_of(leader, tree)
        if not awake[island]:
            known.rested[tree] = -1.0 - float(island)
            found = True
    return found


@compiled
def keep_contacts(it: Sleepers, known: Slept, contacts: ContactTable, kept: ContactTable, n: int) -> None:
    """Keep the first n contacts of a step behind those of what slept through it; those of what sleeps now come first.

    There is room for all of them.
    """
    row, before = 0, known.contacts[0]
    for c in range(before):
        if _sleeps(it, known, kept, c):
            if row != c:
                move_contact(kept, c, kept, row)
            row += 1
    if before == 0 and not _any_sleeps(it, known, contacts, n):
        known.contacts[0] = 0
        copy_contacts(contacts, kept, n)
        return
    for c in range(n):
        if _sleeps(it, known, contacts, c):
            move_contact(contacts, c, kept, row)
            row += 1
    known.contacts[0] = row
    for c in range(n):
        if not _sleeps(it, known, contacts, c):
            move_contact(contacts, c, kept, row)
            row += 1
    kept.size[0] = row


@compiled
def _sleeps(it: Sleepers, known: Slept, contacts: ContactTable, c: int) -> bool:
    """Whether a contact is one of what sleeps."""
    return is_asleep(known, tree_of(it, contacts.a[c])) or is_asleep(known, tree_of(it, contacts.b[c]))


@compiled
def _any_sleeps(it: Sleepers, known: Slept, contacts: ContactTable, n: int) -> bool:
    found = False
    for c in range(n):
        found = found or _sleeps(it, known, contacts, c)
    return found
