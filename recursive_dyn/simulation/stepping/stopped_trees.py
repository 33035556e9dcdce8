"""What flew beyond a limit, and is led back to it, wins no energy by that.

A solve makes velocities where the flight ended, then positions are moved, and M is another one there: at limits beside
a place where M is singular, as a coin's that falls flat, by any factor. Velocities of such a tree become slower then,
all by one share, which keeps to all rows that hold it.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.rows.responses import whitened
from recursive_dyn.contact.tuning import LED_BACK
from recursive_dyn.simulation.stepping.step_arrays import StepArrays
from recursive_dyn.simulation.stepping.tree_energies import factored


@compiled
def led_back(s: StepArrays, layout: Layout, energies: Floats) -> bool:
    """Write kinetic energies (groups,), J, that trees have as the solve leaves them which flew beyond a limit, NaN for
    others; whether there are any."""
    rows, slop, some = s.rows, s.settings[4], False
    energies[:] = np.nan
    for i in range(s.counts[1]):
        if rows.stops[i] and rows.gaps[i] < -slop:
            energies[layout.group[rows.slots[rows.first[i]]]], some = 0.0, True
    if some:
        v = np.empty(len(s.v))
        for k in range(len(v)):
            v[k] = s.v[k] + s.impulses.changes.v[k]
        _add_kinetic(s, layout, v, energies)
    return some


@compiled
def keep_slow(s: StepArrays, layout: Layout, energies: Floats) -> bool:
    """Let trees be no faster, where positions were moved to, than these energies say; whether all is finite."""
    now, finite = energies.copy(), True
    for group in range(len(now)):
        now[group] *= 0.0
    _add_kinetic(s, layout, s.v, now)
    for group in range(len(now)):
        if np.isnan(energies[group]):
            continue
        finite = finite and np.isfinite(now[group])
        if now[group] > (1.0 + LED_BACK) * energies[group]:
            share = np.sqrt(energies[group] / now[group])
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                s.v[layout.group_slots[j]] *= share
    return finite


@compiled
def _add_kinetic(s: StepArrays, layout: Layout, v: Floats, energies: Floats) -> None:
    """Add kinetic energies of trees at velocities v, where the state is; NaN where something is prescribed, which has
    the energy that it takes."""
    root, y = np.full(len(v), 1.0), np.zeros(len(v))
    factored(s, layout, root)
    whitened(layout, s.impulses.factors.outputs, root, v, y)
    for group in range(len(energies)):
        for j in range(layout.group_first[group], layout.group_first[group + 1]):
            slot = layout.group_slots[j]
            energies[group] += 0.5 * y[slot] ** 2 if root[slot] > 0.0 else np.nan
