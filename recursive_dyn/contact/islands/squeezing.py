"""Impulses that are given up: all, those that do nothing but press against each other, and those that are no better."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, accumulate, component
from recursive_dyn.contact.sweeps.mixing import write
from recursive_dyn.contact.tuning import CANCELLED


@compiled
def clear(it: Island) -> None:
    """No impulses."""
    for c in it.contacts:
        for i in range(6):
            it.P[c, i] = 0.0
    for s in it.scalars:
        it.Q[s] = 0.0
    accumulate(it)


@compiled
def squeezed(it: Island) -> bool:
    """Whether impulses do next to nothing but press against each other, as on a wedge: they would grow for ever, and
    are none where velocities drown in their rounding: no sweep changes them. Or whether they are not finite."""
    whole, net, G = 0.0, 0.0, it.rows.mobility
    for c in it.contacts:
        for i in range(it.rows.height[c]):
            k = component(it.rows.kind[c], i)
            whole += it.P[c, k] * it.P[c, k] * G[c, k * (k + 1) // 2 + k]
    for s in it.scalars:
        whole += it.Q[s] * it.Q[s] * it.lines.mobility[s]
    for slot in it.slots:
        net += it.y[slot] * it.y[slot]
    return not net >= CANCELLED * whole or not net < np.inf


@compiled
def better(it: Island, kept: Floats, change: float, found: float) -> float:
    """What the last sweep changed of the better impulses, which become the island's: its own, of which it changed
    ``found``, or those that are kept, of which it changed ``change``."""
    if found < change and not squeezed(it):
        return found
    write(it, kept)
    return change
