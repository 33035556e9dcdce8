"""What motors lead into that nothing was known of: contacts are looked for where a flight ends, which motors leave.

A flight bears but a part of what motors give where something is pressed on: a spring may lift a foot off the ground
in it, by more than the gap up to which anything is found, and strong motors throw it on, or back, by their impulse at
the step's end. They would throw it into the ground. So where a solve with motors ends elsewhere than the flight, and
than where the step began, pairs are looked for there too, and where it began if anything pressed. Of those that are
new the points go back with their bodies to where the flight ended, and it is solved again. What gets too deep for that
goes there in several parts.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

INTO = -6  # of a stage of a step: it is to be looked for what the solve led into
BEGINS, AGAIN, FOUND = 0, 1, 2  # a solve of a step, with more that was found, or one in which nothing more was found
_FAR, _NEAR = 0.02, 2e-4  # m or rad, of a coordinate: up to which what is new, or was there, is no matter


@compiled
def leads_away(s: StepArrays, layout: Layout, contacts: ContactTable, earlier: ContactTable) -> bool:
    """Whether a solve led a coordinate of a tree with motors far away from where the flight ended, and from where the
    step began: less far, if what pressed on the tree in the last step was not found."""
    it, h, way = s.sources.motors, s.settings[0], s.impulses.changes.q
    if it.motors.size[0] == 0:
        return False
    least = np.full(layout.groups, np.inf)
    for k in range(it.motors.size[0]):
        least[layout.group[it.motors.slots[k]]] = _FAR
    pressed = False
    for k in range(len(s.v)):
        pressed = pressed or (s.kept.pressing[k] != 0.0 and least[layout.group[k]] < np.inf)
    lost = pressed and _any_lost(contacts, earlier)
    for k in range(len(s.v)):
        if lost and s.kept.pressing[k] != 0.0:
            least[layout.group[k]] = min(least[layout.group[k]], _NEAR)
    for k in range(len(s.v)):
        # of what the flight's velocity moved it by half was taken back
        start = 0.5 * h * (s.start_v[k] + s.v[k]) - 0.5 * s.lending.ways[k] / s.settings[1]
        if min(abs(way[k]), abs(start + way[k])) > least[layout.group[k]]:
            return True
    return False


@compiled
def _any_lost(contacts: ContactTable, earlier: ContactTable) -> bool:
    """Whether an earlier contact pressed that is of a pair which is not found now. Whose it was is not known after
    bytes of a snapshot. Pairs mostly come in the order that they had: each is looked for from the last one on."""
    n, at = contacts.size[0], 0
    for c in range(earlier.size[0]):
        P, ahead = earlier.impulses[c], 0
        if P[0] == 0.0 and P[1] == 0.0 and P[2] == 0.0:
            continue
        while ahead < n and contacts.keys[at] != earlier.keys[c]:
            at, ahead = (at + 1 if at + 1 < n else 0), ahead + 1
        if ahead == n:
            return True
    return False
