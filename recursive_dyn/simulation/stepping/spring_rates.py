"""How fast trees swing on the springs of their joints, and whether a step resolves that."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.layout import Layout
from recursive_dyn.recursion.spring_answers import RINGING
from recursive_dyn.simulation.stepping.impulses import forced
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

RESOLVED = RINGING**2  # h^2 K (M^-1)_ii of springs up to which halves of a step do as the whole one does


@compiled
def know_rates(s: StepArrays, layout: Layout) -> None:
    """Write the rates of springs, K (M^-1)_ii at most, where the first step that asks for them begins."""
    it, nv, known = s.impulses, len(s.v), True
    for k in range(nv):
        known = known and (it.elasticity[k] == 0.0 or not np.isnan(it.rates[layout.group[k]]))
    if known:
        return
    rates, tau, rest = np.zeros(layout.groups), np.zeros(nv), it.rest[:nv]
    finite = forced(it, s.q, rest, tau, s.parameters)
    free = it.accelerations.outputs.copy()
    for k in range(nv):
        if it.elasticity[k] > 0.0:
            tau[k] = it.elasticity[k]
            finite = forced(it, s.q, rest, tau, s.parameters) and finite
            rates[layout.group[k]] = max(rates[layout.group[k]], it.accelerations.outputs[k] - free[k])
            tau[k] = 0.0
    for group in range(layout.groups):
        if np.isnan(it.rates[group]):
            it.rates[group] = rates[group] if finite else np.inf
