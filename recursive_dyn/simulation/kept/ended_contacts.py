"""What contacts gave in all parts of a step: also those that were over before the last one, which are kept apart."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.problem import earlier_of
from recursive_dyn.contact.rows.warm_start import matched
from recursive_dyn.simulation.kept.sleeping import move_contact


@compiled
def felt_so_far(
    contacts: ContactTable, earlier: ContactTable, ended: ContactTable, n: int, part: int, slept: int
) -> None:
    """Of the first n contacts what was felt until the end of this part of a step, where ``earlier`` were before; those
    of these that gave anything and are no more get ``ended``, which has room for them.

    slept: so many of the earlier ones, the first, are of what sleeps: they say what they do in a whole step.
    """
    contacts.felt[:n] = contacts.impulses[:n]
    if part == 0:
        ended.size[0] = 0
        return
    found, gone = matched(contacts, earlier_of(earlier), n), np.full(earlier.size[0], True)
    for c in range(n):
        if found[c] >= slept:
            contacts.felt[c] += earlier.felt[found[c]]
            gone[found[c]] = False
    for i in range(slept, earlier.size[0]):
        felt = earlier.felt[i]
        if gone[i] and (felt[0] != 0.0 or felt[1] != 0.0 or felt[2] != 0.0):
            move_contact(earlier, i, ended, ended.size[0])
            ended.size[0] += 1
