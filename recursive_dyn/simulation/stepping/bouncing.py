"""Which trees bounce in a step: their springs answer the blow only as far as the step does not resolve them."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout, group_of
from recursive_dyn.contact.problem import FreeInertias
from recursive_dyn.simulation.stepping.step_arrays import StepArrays


@compiled
def note_bouncing(s: StepArrays, layout: Layout, contacts: ContactTable, free: FreeInertias, bouncing: Floats) -> None:
    """Write into bouncing (nv,) 1 for coordinates of trees that meet something fast which gives back, or touch what
    does and gives back too; else 0."""
    bouncing[:] = 0.0
    groups, links, n = np.zeros(1 + layout.groups), s.frames.links, contacts.size[0]  # the first one for what has none
    some, found = False, True
    for group in range(layout.groups):
        some = some or s.impulses.sprung[group] > 0
    while some and found:
        found = False
        for c in range(n):
            if contacts.frictions[c, 4] > 0.0 and contacts.gaps[c] <= 0.0:
                a, b = 1 + group_of(layout, links, contacts.a[c]), 1 + group_of(layout, links, contacts.b[c])
                if groups[a] + groups[b] > 0.0 or _meets(s, contacts, free, c):
                    found = found or (a > 0 and groups[a] == 0.0) or (b > 0 and groups[b] == 0.0)
                    groups[a] = groups[b] = 1.0
                    groups[0] = 0.0
    for k in range(len(bouncing)):
        bouncing[k] = groups[1 + layout.group[k]]


@compiled
def _meets(s: StepArrays, contacts: ContactTable, free: FreeInertias, c: int) -> bool:
    """Whether the sides of a contact are fast enough where they met to come off again, as ``targets.unilateral`` has
    it: what springs press on each other, or back at once, is not."""
    least, axis = s.settings[3], contacts.normals[c]
    end, start = 0.0, 0.0
    for side in range(2):
        body = contacts.a[c] if side == 0 else contacts.b[c]
        sign, p, k = 1.0 - 2.0 * side, contacts.points[c, side], body - len(s.frames.links)
        if k >= 0:
            at = free.centers[k]
            end += sign * _along(axis, free.twists[k], p[0] - at[0], p[1] - at[1], p[2] - at[2])
            start += sign * _along(axis, free.start_twists[k], p[0] - at[0], p[1] - at[1], p[2] - at[2])
        elif body >= 0:
            X, V = s.frames.poses[body], s.present.twists[6 * body : 6 * body + 6]
            end += sign * _along(axis, V, p[0] - X[0, 3], p[1] - X[1, 3], p[2] - X[2, 3])
            V = s.frames.start_twists[body]
            start += sign * _along(axis, V, p[0] - X[0, 3], p[1] - X[1, 3], p[2] - X[2, 3])
    gap, pull = contacts.gaps[c], (end - start) / s.settings[0]
    square = end * end - 2.0 * pull * gap
    if min(start, end) >= -least or square <= least * least:
        return False
    fast = np.sqrt(square)
    since = min(2.0 * gap / (end - fast), s.settings[0]) if end < fast else s.settings[0]
    return contacts.frictions[c, 4] * fast + 0.5 * pull * since > 0.0


@compiled
def _along(axis: Floats, V: Floats, x: float, y: float, z: float) -> float:
    """Velocity along an axis at (x, y, z) of what moves with the twist V."""
    return (
        axis[0] * (V[3] + V[1] * z - V[2] * y)
        + axis[1] * (V[4] + V[2] * x - V[0] * z)
        + axis[2] * (V[5] + V[0] * y - V[1] * x)
    )
